#!/usr/bin/env bash
# try.sh [FILE…]: from nothing to the first near duplicates with Python 3.11 or newer alone: no compiler, no PostgreSQL. FILE is
# what `neardup dedup` reads; without one, the licence texts of the machine's packages are compared.
#
# Packages come from target/packages where `make wheel` has made them, else from the Python package index. All stays in
# target/try, which may be deleted.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"
if ! makes_environments python3; then
    echo 'try.sh needs Python 3.11 or newer with venv; on Debian: apt-get install python3-venv' >&2
    exit 1
fi
place=${CARGO_TARGET_DIR:-$project/target}/try
python=$place/venv/bin/python
mkdir -p "$place"
packages=('neardup[command,server]')
wheels=("${CARGO_TARGET_DIR:-$project/target}"/packages/neardup_server-*.whl)
if [[ -e ${wheels[0]} ]]; then packages=("${wheels[0]}" "$project/clients/python[command,server]"); fi
install() { python3 -m venv "$place/venv" && "$python" -m pip --disable-pip-version-check --no-input install -q "${packages[@]}"; }
if ! "$python" -c 'import neardup_server, psycopg' 2>/dev/null; then step 'pip install' install; fi
if (($# == 0)); then
    "$python" - "$place/licences.jsonl" <<'PYTHON'
import json, sys
from pathlib import Path

files = [*Path("/usr/share/doc").glob("*/copyright"), *Path("/usr/share/common-licenses").glob("*")]
with open(sys.argv[1], "w", encoding="utf-8") as out:
    for file in sorted(file for file in files if file.is_file() and not file.is_symlink()):
        out.write(json.dumps({"file": str(file), "text": file.read_text("utf-8", "replace")}) + "\n")
PYTHON
    set -- "$place/licences.jsonl"
fi
rm -f "$place/kept.jsonl" "$place/removed.jsonl"
"$python" -m neardup dedup "$@" "$place/kept.jsonl" --removed "$place/removed.jsonl"
"$python" - "$place/removed.jsonl" <<'PYTHON'
import itertools, json, sys

for line in itertools.islice(open(sys.argv[1], encoding="utf-8"), 5):
    row = json.loads(line)
    print(f"row {row['row']} is like row {row['kept_id']}, which is kept: {row['similarity']:.3f} ({row.get('file', '')})")
PYTHON
echo "The rows that are kept are in $place/kept.jsonl; the others, each with the row that it is similar to, in $place/removed.jsonl."
