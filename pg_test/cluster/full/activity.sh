#!/usr/bin/env bash
# neardup_activity: calls and refreshes that run in other sessions, as far as a role may see them, and what anybody may write into
# a query of their own.
# shellcheck disable=SC2154 # server, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE owner LOGIN;
CREATE ROLE stranger LOGIN;
CREATE ROLE watcher LOGIN IN ROLE pg_read_all_stats;
GRANT CREATE ON SCHEMA public TO owner;
SET ROLE owner;
-- It has no end that anybody would wait for.
CREATE VIEW endless AS SELECT id, 'text ' || id % 1000 AS body FROM (SELECT generate_series(1, 2000000000) AS id) s;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'row ' || i || ' with more words ' || i / 2 FROM generate_series(1, 50) i;
SQL

# until_is ANSWER SQL [psql's arguments]: waits until a query gives it.
until_is() {
    until [[ $(q "${@:3}" -c "$2") == "$1" ]]; do sleep 0.05; done
}
# as ROLE NAME EXPECTED SQL
as() { expect_sql "$2" "$3" "$4" -U "$1"; }

# --- Calls ---
# running SQL CALL: starts it as owner, waits until it is shown, as CALL, and looks at it as each role.
running() {
    q -U owner -c "SET neardup.memory = '16MB'" -c "$1" >"$server/said" 2>&1 &
    local session=$! pid
    until_is 1 "SELECT count(*) FROM neardup_activity WHERE phase IS NOT NULL"
    as owner "$2: what is told of it" "owner|$2|endless|running|t|t|t|t|t" "SELECT role, call, docs, status, phase ~ '^reading, [0-9]+ documents$', percent IS NULL, elapsed >= '0', memory > 1024, memory_shown = pg_size_pretty(memory) FROM neardup_activity"
    as watcher "$2: who may see all queries sees it" 1 "SELECT count(*) FROM neardup_activity WHERE call = '$2'"
    as stranger "$2: others do not" 0 'SELECT count(*) FROM neardup_activity'
    pid=$(q -c "SELECT pid FROM neardup_activity")
    local quoted=${1//"'"/"''"}
    expect_sql "$2: its query is there, and behind it what it does" t "SELECT starts_with(query, '$quoted /* neardup: ') FROM pg_stat_activity WHERE pid = $pid"
    q -c "SELECT pg_cancel_backend($pid)" >/dev/null
    wait "$session" || true
    expect "$2: it was cancelled" 1 "$(grep -c 'canceling statement due to user request' "$server/said")"
    expect_sql "$2: then it is shown no more" 0 'SELECT count(*) FROM neardup_activity'
}
running "SELECT count(*) FROM near_duplicates('endless', 0.8, id_column => 'id')" near_duplicates
running "SELECT near_duplicate_clusters('endless', 0.8, id_column => 'id')" near_duplicate_clusters
running "CALL near_duplicates_into('endless', 0.8, 'endless_pairs', id_column => 'id')" near_duplicates

# A call that is long enough to be shown, as its last row waits for a lock for so long.
q -U owner -c "CREATE VIEW waits AS SELECT id, body || CASE WHEN id = 50 THEN pg_advisory_xact_lock_shared(7)::text ELSE '' END AS body FROM docs"
mkfifo "$server/holds"
q <"$server/holds" >/dev/null 2>&1 &
holder=$!
exec 9>"$server/holds"
printf '%s\n' 'SELECT pg_advisory_lock(7);' "\\! touch $server/held" >&9
until [[ -e $server/held ]]; do sleep 0.05; done
q -U owner >"$server/said" 2>&1 9>&- <<'SQL' &
DO $$ DECLARE pairs bigint; BEGIN
    SELECT count(*) INTO pairs FROM near_duplicates('waits', 0.8, id_column => 'id');
    RAISE WARNING '% pairs, %', pairs, (SELECT query !~ 'neardup[:]' FROM pg_stat_activity WHERE pid = pg_backend_pid());
END $$
SQL
caller=$!
until_is t "SELECT count(*) = 1 FROM pg_stat_activity JOIN pg_locks USING (pid) WHERE NOT granted AND locktype = 'advisory' AND clock_timestamp() - query_start > interval '1 second'"
exec 9>&-
wait "$holder" "$caller"
expect 'a query is shown again as it was given when the call ends' 'WARNING:  0 pairs, t' "$(grep WARNING "$server/said")"

# --- Jobs ---
q -U owner -c "SELECT neardup_watch('docs', 0.8)" >/dev/null
jobs="SELECT pid, call, docs, status, phase, elapsed, memory, last_finished IS NOT NULL, last_took >= '0' FROM neardup_activity"
as owner 'a job that has never run' '|neardup_refresh|docs|new||||f|' "$jobs"
q -U owner -c "CALL neardup_refresh('docs')" >/dev/null
as owner 'one that has' '|neardup_refresh|docs|done||||t|t' "$jobs"
as watcher 'who only sees queries sees no jobs' '' "$jobs"
q -U owner -c "SELECT neardup_watch('endless', 0.8, id_column => 'id', text_column => 'body')" >/dev/null
q -U owner -c "CALL neardup_refresh('endless')" >"$server/said" 2>&1 &
session=$!
until_is 1 "SELECT count(*) FROM neardup_activity WHERE docs = 'endless'::regclass AND phase IS NOT NULL AND memory IS NOT NULL"
refresh="SELECT role, call, docs, status, memory > 1024, elapsed >= '0' FROM neardup_activity WHERE pid IS NOT NULL"
as owner 'a refresh is there once, as a job' 'owner|neardup_refresh|endless|running|t|t' "$refresh"
as watcher 'as a query where the job is not to be seen' 'owner|neardup_refresh||running|t|t' "$refresh"
as stranger 'and not at all' '' "$refresh"
expect_sql 'neardup_progress says the same' 'running|t' "SELECT status, step = (SELECT a.phase FROM neardup_activity a WHERE a.pid = p.pid) OR step IS NOT NULL FROM neardup_progress p WHERE pid IS NOT NULL"
q -c 'SELECT pg_cancel_backend(pid) FROM neardup_activity WHERE pid IS NOT NULL' >/dev/null
wait "$session" || true
expect_sql 'one that was cancelled runs no more' '' "$refresh"
q -U owner -c "SELECT neardup_unwatch('endless')" >/dev/null

# --- What a role writes into its own query is seen by those who see its queries, and makes nobody's query fail ---
for said in 'neardup: 99999999999999999999 kB */ /* near_duplicates: 1 %' 'neardup: 1 kB */ /* near_duplicates: 99999999999999999999 %' \
    'neardup: 1 kB */ /* near_duplicates: x * y' 'neardup: 1 kB */ /* Near"; DROP: 1 %' "neardup: 1 kB */ /* near_duplicates: $(printf 'x%.0s' {1..300})"; do
    expect_sql "shown or not, it does no harm: ${said:0:60}" t "SELECT count(*) <= 2 AND coalesce(max(percent) < 1000, true) FROM neardup_activity /* $said */"
done
expect_sql 'the largest there are' '1023999999998976|999' 'SELECT memory, percent FROM neardup_activity WHERE pid IS NOT NULL /* neardup: 999999999999 kB */ /* x: 999 % */'
expect_sql 'a role that may see nothing can read it' 'f' "SELECT has_table_privilege('stranger', 'neardup_activity', 'INSERT')"
finish
