#!/usr/bin/env bash
# The Python client: its tests, in a virtual environment of their own, against private servers, which the client starts
# itself. Packages come from the package index of Python, of the versions of clients/python/constraints.txt; where there
# is no Python 3.11, no venv or no index this is skipped.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/common.sh"

skip() {
    echo "skipped: $1"
    exit 77
}
python=
for name in python3 python3.13 python3.12 python3.11; do
    if makes_environments "$name"; then
        python=$name
        break
    fi
done
[[ -n $python ]] || skip 'no Python 3.11 or newer with venv'

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$python" -m venv "$place/venv" || skip "$python makes no virtual environment"
pip=("$place/venv/bin/python" -m pip --disable-pip-version-check --no-input)
client=$project/clients/python
# One small package tells whether there is an index; after that whatever fails is a failure.
"${pip[@]}" download -q --retries 2 --timeout 60 --no-deps -c "$client/constraints.txt" -d "$place/download" flit_core || skip 'no package index'

# A copy is built, so that nothing is left in the source; what is tested is what is installed.
mkdir "$place/neardup"
cp -r "$client"/{LICENSE,README.md,pyproject.toml,src,tests} "$place/neardup"
step 'pip install (1 min)' "${pip[@]}" install -q --no-compile -c "$client/constraints.txt" "$place/neardup[test]"
rm -r "$place/neardup/src"
export NEARDUP_PROJECT=$project
unset PYTHONPATH PGHOST PGHOSTADDR PGPORT PGUSER PGDATABASE PGSERVICE PGOPTIONS
step 'first visits with files' env PATH="$place/venv/bin:$PATH" "$project/pg_test/cluster/full/visits.sh" sh
# Some at a time, since they also wait; each worker has a server of its own.
workers=$(nproc)
step 'tests (2 min)' env -C "$place/neardup" "$place/venv/bin/python" -m pytest -n $((workers < 2 ? 2 : workers > 4 ? 4 : workers)) --dist worksteal
