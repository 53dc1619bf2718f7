#!/usr/bin/env bash
# Runs tests/pg_regress with PostgreSQL's own pg_regress: every sql file's output must be the expected one. (cargo pgrx
# regress passes over a file without expected output, and does not run as root.)
# regress.sh [quick | slow | --accept]: quick leaves out what takes 15 seconds by scripts/durations, slow is that; with --accept
# the outputs seen become the expected ones. ONLY=name or a pattern of the shell: these.
set -euo pipefail
source "$(dirname "$0")/common.sh"

# In as many servers as there are processors, each test in a database of its own, what takes longest first (scripts/durations,
# of seconds).
source "$project/scripts/server.sh"
place=$(private_dir)
mapfile -t tests < <(cd "$project/tests/pg_regress/sql" && ls -- ${ONLY:-*}.sql | sed 's/\.sql$//' |
    awk -v which="${1:-}" 'NR == FNR { sub(/^regress\//, "", $2); seconds[$2] = $1; next }
        (seconds[$1] < 15 ? which == "slow" : which == "quick") { next } { print seconds[$1] + 0 "\t" $1 }' "$project/scripts/durations" - |
    sort -k 1,1rn -k 2 | cut -f 2)
pg_regress=$(dirname "$("$PG_CONFIG" --pgxs)")/../test/regress/pg_regress
servers=$(nproc)
if ((servers > ${#tests[@]})); then servers=${#tests[@]}; fi
stop_all() {
    for ((server = 0; server < servers; server++)); do server_down "$place/$server"; done
    rm -rf "$place"
}
trap stop_all EXIT
# A cluster of no locale, which the servers copy.
as_server "$bindir/initdb" -D "$place/new" -U postgres -A trust -N --encoding=UTF8 --no-locale >/dev/null
export NEARDUP_CLUSTER=$place/new

# share NUMBER: the tests of one server.
share() {
    local out=$place/$1 name n status=0
    # A copy that the server's user can read and write.
    cp -r "$project/tests/pg_regress" "$out"
    mkdir -p "$out/expected"
    if [[ $EUID -eq 0 ]]; then chown -R "$server_user" "$out"; fi
    server_in "$out"
    for ((n = $1; n < ${#tests[@]}; n += servers)); do
        name=${tests[n]}
        # Where pg_regress finds no expected file it gives up; an empty one makes a difference to show.
        if [[ ! -e $out/expected/$name.out ]]; then as_server touch "$out/expected/$name.out"; fi
        # RUST_BACKTRACE must not be seen in any error.
        if as_server env RUST_BACKTRACE=1 PGUSER=postgres "$pg_regress" --bindir="$bindir" --inputdir="$out" --outputdir="$out" --host="$out" --port=5432 \
            --user=postgres --dbname="regression_$name" --load-extension=neardup "$name" >"$out/said" 2>&1; then
            grep -E '^(ok|test) ' "$out/said" || true
        else
            status=1
            grep -E '^(not ok|test) ' "$out/said" || cat "$out/said"
            if [[ $accept != t ]]; then cat "$out/regression.diffs" || true; fi
        fi
    done
    if [[ $accept == t ]]; then
        mkdir -p "$project/tests/pg_regress/expected"
        cp "$out"/results/*.out "$project/tests/pg_regress/expected/"
        return
    fi
    return "$status"
}

accept=$([[ ${1:-} == --accept ]] && echo t || echo f)
shares=()
for ((server = 0; server < servers; server++)); do
    share "$server" &
    shares+=($!)
done
status=0
for share in "${shares[@]}"; do wait "$share" || status=$?; done
echo "# ${#tests[@]} tests"
exit "$status"
