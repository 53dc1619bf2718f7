#!/usr/bin/env bash
# No function asks for more memory than the reserve of the allocator holds in a way that cannot fail: a server for tests notes each such
# request, whether memory is short or not. And with too little memory for the backend, a call ends with the error
# 53200, and the session goes on. Every function is called: one without a call in pg_test/cancel/calls.sql fails the test.
# shellcheck disable=SC2154 # project and server_user, of common.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/expect.sh"
source "$project/pg_test/cancel/calls.sh"
export NEARDUP_TEST_ALLOCATIONS=1
server_start "max_parallel_workers_per_gather = 0
autovacuum = off
jit = off
neardup.threads = 2"

make_calls 100
q -f "$project/pg_test/cancel/long_arguments.sql" >/dev/null

# session CONDITION TIMEOUT: the calls for which a condition on the table "made" holds, each with its number before it. What they make is undone.
session() {
    printf "SET client_min_messages = error;\nSET statement_timeout = '%s';\n" "$2"
    while IFS=$'\t' read -r no call; do
        case $call in
            CALL*) printf '\\echo call %s\n%s;\n' "$no" "$call" ;;
            *) printf '\\echo call %s\nBEGIN;\n%s;\nROLLBACK;\n' "$no" "$call" ;;
        esac
    done < <(q -F $'\t' -c "SELECT no, call FROM made WHERE $1 ORDER BY no")
    printf '\\echo end\n'
}

# judge NAME: runs the script of a session; each call ends well, by its timeout, for want of memory, or as it may.
judge() {
    local line no='' bad=''
    psql -X -qAt -o /dev/null -v VERBOSITY=sqlstate -f "$server/script" >"$server/said" 2>&1 || true
    expect "$1: the session goes on to its end" end "$(tail -n 1 "$server/said")"
    while IFS= read -r line; do
        case $line in
            'call '*) no=${line#call } ;;
            *ERROR:*57014 | *ERROR:*53200 | *ERROR:*25P02) ;;
            *ERROR:*) echo "$no ${line##* }" ;;
        esac
    done <"$server/said" >"$server/failed"
    bad=$(q <<SQL
CREATE TEMP TABLE failed(no int, state text);
\\copy failed from '$server/failed' with (delimiter ' ')
SELECT state, call FROM failed JOIN made USING (no) WHERE fails <> '*' AND state <> fails OR state = 'XX000'
SQL
    )
    expect "$1: no other errors" '' "$bad"
}

session true 300ms >"$server/script"
judge 'with enough memory'

# limit PID MB: a script that limits the memory of a process to what it has and some more, as its own user may.
cat >"$server/limit" <<'SH'
limit=$(($(awk '/VmSize/ {print $2}' "/proc/$1/status") * 1024 + ($2 << 20)))
prlimit --pid "$1" --as="$limit:$limit"
SH
unset NEARDUP_TEST_ALLOCATIONS
server_down "$server"
server_up
as_postgres=''
if [[ $EUID -eq 0 ]]; then as_postgres="runuser -u $server_user --"; fi
ran_out=0
# With a few MB more the server's own small requests fail in the middle of a call.
for room in 1 4 16; do
    {
        echo "SELECT cardinality(words('this loads the library'));"
        printf 'SELECT pg_backend_pid() AS pid \\gset\n\\setenv PID :pid\n'
        echo "\! $as_postgres sh '$server/limit' \$PID $room"
        session "call ~ 'big|vals' AND call !~ 'generate_series|CREATE INDEX'" 100ms
    } >"$server/script"
    judge "in $room MB"
    here=$(grep -c 'ERROR: *53200' "$server/said" || true)
    echo "in $room MB: $here calls ran out of memory"
    ran_out=$((ran_out + here))
done
expect 'memory ran out at times' t "$([[ $ran_out -gt 50 ]] && echo t || echo f)"
finish
