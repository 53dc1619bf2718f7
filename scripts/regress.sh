#!/usr/bin/env bash
# Runs tests/pg_regress with PostgreSQL's own pg_regress: every sql file's output must be the expected one. (cargo pgrx
# regress passes over a file without expected output, and does not run as root.) With --accept the outputs seen become
# the expected ones.
set -euo pipefail
source "$(dirname "$0")/common.sh"

out=$(private_dir)
trap 'rm -rf "$out"' EXIT
# A copy that the server's user can read and write.
cp -r "$project/tests/pg_regress/." "$out"
mkdir -p "$out/expected"
tests=()
for file in "$out"/sql/${ONLY:-*}.sql; do
    name=$(basename "$file" .sql)
    tests+=("$name")
    # Where pg_regress finds no expected file it gives up; an empty one makes a difference to show.
    touch "$out/expected/$name.out"
done
if [[ $EUID -eq 0 ]]; then chown -R "$server_user" "$out"; fi

pg_regress=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress
status=0
# RUST_BACKTRACE must not be seen in any error; below TMPDIR, which may not be the server's to enter, goes the socket.
as_server env RUST_BACKTRACE=1 TMPDIR="$(dirname "$out")" "$pg_regress" --bindir="$("$PG_CONFIG" --bindir)" --inputdir="$out" --outputdir="$out" \
    --temp-instance="$out/instance" --encoding=UTF8 --no-locale --load-extension=neardup "${tests[@]}" || status=$?
if [[ ${1:-} == --accept ]]; then
    mkdir -p "$project/tests/pg_regress/expected"
    cp "$out"/results/*.out "$project/tests/pg_regress/expected/"
elif [[ $status -ne 0 ]]; then
    cat "$out/regression.diffs" || cat "$out"/log/*.log
    exit "$status"
fi
