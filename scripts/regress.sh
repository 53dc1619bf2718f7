#!/usr/bin/env bash
# Runs tests/pg_regress with PostgreSQL's own pg_regress: every sql file's output must be the expected one. (cargo pgrx
# regress passes over a file without expected output, and does not run as root.) With --accept the outputs seen become
# the expected ones.
set -euo pipefail
source "$(dirname "$0")/common.sh"

# In as many servers as there are processors, what takes longest first (scripts/durations, of seconds).
place=$(private_dir)
trap 'rm -rf "$place"' EXIT
mapfile -t tests < <(cd "$project/tests/pg_regress/sql" && ls -- ${ONLY:-*}.sql | sed 's/\.sql$//' |
    awk 'NR == FNR { sub(/^regress\//, "", $2); seconds[$2] = $1; next } { print seconds[$1] + 0 "\t" $1 }' "$project/scripts/durations" - | sort -k 1,1rn -k 2 | cut -f 2)
pg_regress=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress

# share NUMBER: the tests of one server.
share() {
    local out=$place/$1 name n names=() status=0
    # A copy that the server's user can read and write.
    cp -r "$project/tests/pg_regress" "$out"
    mkdir -p "$out/expected"
    for ((n = $1; n < ${#tests[@]}; n += servers)); do names+=("${tests[n]}"); done
    # Where pg_regress finds no expected file it gives up; an empty one makes a difference to show.
    for name in "${names[@]}"; do touch "$out/expected/$name.out"; done
    if [[ $EUID -eq 0 ]]; then chown -R "$server_user" "$out"; fi
    # RUST_BACKTRACE must not be seen in any error; below TMPDIR, which may not be the server's to enter, goes the socket.
    as_server env RUST_BACKTRACE=1 TMPDIR="$(dirname "$place")" "$pg_regress" --bindir="$("$PG_CONFIG" --bindir)" --inputdir="$out" --outputdir="$out" \
        --temp-instance="$out/instance" --encoding=UTF8 --no-locale --load-extension=neardup "${names[@]}" >"$out/said" 2>&1 || status=$?
    cat "$out/said"
    if [[ $accept == t ]]; then
        mkdir -p "$project/tests/pg_regress/expected"
        cp "$out"/results/*.out "$project/tests/pg_regress/expected/"
    elif [[ $status -ne 0 ]]; then
        cat "$out/regression.diffs" || cat "$out"/log/*.log
        return "$status"
    fi
}

accept=$([[ ${1:-} == --accept ]] && echo t || echo f)
servers=$(nproc)
if ((servers > ${#tests[@]})); then servers=${#tests[@]}; fi
shares=()
for ((server = 0; server < servers; server++)); do
    share "$server" &
    shares+=($!)
done
status=0
for share in "${shares[@]}"; do wait "$share" || status=$?; done
exit "$status"
