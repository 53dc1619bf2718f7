#!/usr/bin/env bash
# No function asks for more memory than the reserve of the allocator holds in a way that cannot fail: a server for tests notes each such
# request. And with too little memory for the backend, which root can arrange, each function ends with the error 53200 or as usual,
# and the server goes on. Every function is called: one without a call in pg_test/cancel/calls.sql fails the test.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/expect.sh"
source "$project/pg_test/cancel/calls.sh"
export NEARDUP_TEST_ALLOCATIONS=1
server_start "max_parallel_workers_per_gather = 0
autovacuum = off
jit = off
neardup.threads = 2"

make_calls 100
q -f "$project/pg_test/cancel/long_arguments.sql" >/dev/null
expect_sql 'each function with an argument that may be long has it long' '' "SELECT 1 WHERE (SELECT count(*) FROM made) < 700"

# statements …: the calls, one after the other, each with its number; what they make is undone.
statements() {
    while IFS=$'\t' read -r no call; do
        printf '\\echo %s\n' "$no"
        if [[ $call == CALL* ]]; then
            printf '%s;\n' "$call"
        else
            printf 'BEGIN; %s; ROLLBACK;\n' "$call"
        fi
    done < <(q -F $'\t' -c "SELECT no, call FROM made ${1:-} ORDER BY no")
}
{ echo "SET statement_timeout = '300ms';"; statements; } >"$server/script"
psql -X -qAt -v VERBOSITY=sqlstate -f "$server/script" >"$server/said" 2>&1 || true
