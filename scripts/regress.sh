#!/usr/bin/env bash
# Runs tests/pg_regress with PostgreSQL's own pg_regress: every sql file's output must be the expected one. (cargo pgrx
# regress passes over a file without expected output, and does not run as root.)
set -euo pipefail
source "$(dirname "$0")/common.sh"

out=$(private_dir)
trap 'rm -rf "$out"' EXIT
# A copy that the server's user can read and write.
cp -r "$project/tests/pg_regress/sql" "$project/tests/pg_regress/expected" "$out/"
if [[ $EUID -eq 0 ]]; then chown -R "$server_user" "$out"; fi
tests=()
for file in "$out"/sql/*.sql; do
    file=${file##*/}
    tests+=("${file%.sql}")
done

pg_regress=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress
# RUST_BACKTRACE would add a DETAIL to every error.
if ! as_server env -u RUST_BACKTRACE "$pg_regress" --bindir="$("$PG_CONFIG" --bindir)" --inputdir="$out" --outputdir="$out" \
    --temp-instance="$out/instance" --encoding=UTF8 --no-locale --load-extension=neardup "${tests[@]}"; then
    cat "$out/regression.diffs" 2>/dev/null || cat "$out"/log/*.log
    exit 1
fi
