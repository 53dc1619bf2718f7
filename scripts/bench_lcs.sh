#!/usr/bin/env bash
# The longest common subsequence of pairs of 10 KB texts beside rapidfuzz (PyPI) on the same pairs, and what filtered
# sketches save. Prints Markdown; figures of one run are in benches/README.md.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

pairs=$(mktemp -d)
trap 'rm -rf "$pairs"' EXIT
printf '### neardup\n\n'
cargo bench --quiet -p neardup-benches --bench lcs -- "$pairs"
kept=${CARGO_TARGET_DIR:-$project/target}/bench
python=$kept/venv/bin/python
if [[ ! -x $python ]] || ! "$python" -c 'import rapidfuzz' 2>/dev/null; then
    if ! { python3 -m venv "$kept/venv" && timeout 120 "$kept/venv/bin/pip" install -q rapidfuzz; } >&2; then
        printf '\nSkipped: rapidfuzz (not to be had from PyPI).\n'
        exit
    fi
fi
printf '\n### rapidfuzz %s, one thread\n\n' "$("$python" -c 'import rapidfuzz; print(rapidfuzz.__version__)')"
"$python" benches/peers/rapidfuzz_lcs.py "$pairs"
