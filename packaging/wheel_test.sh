#!/usr/bin/env bash
# wheel_test.sh [WHEEL]: installs the wheel neardup_server (by default it is made) and the client into a new virtual environment,
# and runs one line with nothing else in the path: no compiler, no PostgreSQL. Then it uninstalls both, without a trace.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
if ! makes_environments python3; then
    echo 'skipped: no Python 3.11 or newer with venv'
    exit 77
fi
wheel=$(realpath "${1:-$("$project/packaging/wheel.sh")}")
(cd "$(dirname "$wheel")" && sha256sum --quiet -c neardup_server.sha256)

# The server's user has to be able to read it.
place=$(private_dir)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
python3 -m venv "$place/venv"
pip=("$place/venv/bin/python" -m pip --disable-pip-version-check --no-input)
mkdir "$place/client"
cp -r "$project/clients/python"/{LICENSE,README.md,pyproject.toml,src} "$place/client"
# The wheel first: the client asks for it by its version.
step 'pip install (1 min)' "${pip[@]}" install -q -c "$project/clients/python/constraints.txt" "$wheel" "$place/client[command,server]"

failures=0
expect() {
    if [[ $3 != "$2" ]]; then
        printf 'FAILED: %s\n    expected: %s\n    seen:     %s\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}
alone() { env -i -C "$place" PATH="$place/venv/bin" LC_ALL=C.UTF-8 "$@" 2>&1; }
printf '{"id": %d, "text": "%s"}\n' 1 'The library is closed on public holidays.' 2 'THE LIBRARY is closed, on public holidays' 3 'Soak the beans.' >"$place/in.jsonl"
expect 'one line' '3 rows: 2 kept, 1 removed' "$(alone neardup dedup in.jsonl out.jsonl --keep first | sed -n 's/, in [0-9.]* s$//p')"
expect 'what it kept' '1 3' "$(grep -oE '"id": [0-9]+' "$place/out.jsonl" | grep -oE '[0-9]+' | xargs)"
expect 'where it ran' "$(alone python -c 'import neardup_server; print(neardup_server.VERSION)'): has neardup" \
    "$(alone neardup where | sed -nE 's/^(PostgreSQL [0-9.]+), [^:]*pginstall[^:]*: (has neardup)$/\1: \2/p' | head -n 1)"
"${pip[@]}" uninstall -q -y neardup neardup-server
expect 'no trace' '' "$(find "$place/venv" -iname '*neardup*')"
((failures == 0)) || exit 1
echo "${wheel##*/}: installed, used and uninstalled in a new environment"
