#!/usr/bin/env bash
# Joins by <@ near(...) as one batch, of rows that another transaction changes while they are locked: the server checks a
# changed row again, with one row of each side. What is returned, changed and deleted is what it is by loops, for each kind of
# join in both orientations.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'jit = off'

q <<'SQL'
CREATE EXTENSION neardup;
CREATE PROCEDURE reset() LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS docs, others, third;
    CREATE TABLE docs(id int, body text, note text, kind int);
    INSERT INTO docs VALUES (1, 'one two three four five', '', 1), (2, 'alpha beta gamma delta', '', 2), (3, 'red crane at the quay', '', 3), (4, NULL, '', 4),
        (5, 'nothing is like this', '', 5);
    CREATE TABLE others(id int, body text, kind int);
    INSERT INTO others VALUES (11, 'five four three two one', 1), (13, 'at the quay red crane', 3), (14, NULL, 4), (15, 'never seen', 7);
    CREATE TABLE third(id int, said text);
    INSERT INTO third SELECT id, '' FROM docs UNION ALL SELECT id, '' FROM others;
END $$;
SET client_min_messages = warning;
CALL reset();
SQL

# What a session may see: its statement begins while another transaction has changed a row and not yet committed.
# seen SETTINGS CHANGE QUERY: the output of the query, and the tables after it.
seen() {
    q -c 'SET client_min_messages = warning' -c 'CALL reset()'
    mkfifo "$server/orders"
    q <"$server/orders" >"$server/changed" 2>&1 &
    local changing=$! querying status=0
    exec 7>"$server/orders"
    rm "$server/orders"
    echo "BEGIN; $2; SELECT pg_advisory_lock(1);" >&7
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted") == 1 ]] || ! kill -0 $changing 2>/dev/null; do sleep 0.02; done
    PGAPPNAME=waits q -c "$1" -c "$3" >"$server/seen" 2>&1 &
    querying=$!
    until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'waits' AND wait_event_type = 'Lock'") == 1 ]] || ! kill -0 $querying 2>/dev/null; do sleep 0.02; done
    if ! kill -0 $querying 2>/dev/null; then echo 'did not wait'; fi
    echo 'COMMIT;' >&7
    exec 7>&-
    wait $changing || status=$?
    wait $querying || status=$?
    sort "$server/seen"
    q -c "SELECT 'docs', id, note FROM docs ORDER BY id" -c "SELECT 'third', id, said FROM third ORDER BY id"
    if ((status)); then echo "status $status"; fi
}

batch='SET enable_nestloop = off; SET enable_hashjoin = off; SET enable_mergejoin = off'
loops='SET neardup.enable_near_join = off'

# same NAME CHANGE QUERY [EXPECTED]: the batch join is what the plan has, and gives what loops give.
same() {
    local plan one other
    plan=$(q -c "$batch" -c "EXPLAIN $3")
    expect "$1: a batch" 1 "$(grep -c NearJoin <<<"$plan")"
    one=$(seen "$batch" "$2" "$3")
    other=$(seen "$loops" "$2" "$3")
    expect "$1: $2" "$other" "$one"
    if (($# > 3)); then expect "$1: $2: what is seen" "$4" "$(grep -vE '^(docs|third)' <<<"$one")"; fi
}

changes=(
    "UPDATE docs SET note = 'changed' WHERE id = 1"
    "UPDATE docs SET body = 'not near any more' WHERE id = 1"
    "UPDATE docs SET body = body || ' ' WHERE id IN (1, 2, 3)"
    "UPDATE docs SET body = 'one two three four five', note = 'now near' WHERE id IN (2, 5)"
    "UPDATE docs SET body = NULL WHERE id <= 3"
    "UPDATE docs SET kind = kind + 1, note = 'kind' WHERE id IN (1, 2)"
    "DELETE FROM docs WHERE id <= 2"
)
near=("d.body <@ near(o.body, 0.8)" "o.body <@ near(d.body, 0.8) AND d.kind = o.kind")
for change in "${changes[@]}"; do
    for on in "${near[@]}"; do
        same inner "$change" "SELECT d.id, d.note, o.id FROM docs d JOIN others o ON $on FOR UPDATE OF d"
        same left "$change" "SELECT d.id, d.note, o.id FROM docs d LEFT JOIN others o ON $on FOR UPDATE OF d"
        same 'left with a filter' "$change" "SELECT d.id, d.note, o.id FROM docs d LEFT JOIN others o ON $on WHERE o.id IS NULL OR d.note = '' FOR UPDATE OF d"
        same exists "$change" "SELECT d.id, d.note FROM docs d WHERE EXISTS (SELECT FROM others o WHERE $on) FOR UPDATE"
        same 'not exists' "$change" "SELECT d.id, d.note FROM docs d WHERE NOT EXISTS (SELECT FROM others o WHERE $on) FOR UPDATE"
        same 'UPDATE' "$change" "UPDATE docs d SET note = d.note || ' and found' WHERE EXISTS (SELECT FROM others o WHERE $on)"
        same 'DELETE' "$change" "DELETE FROM docs d WHERE NOT EXISTS (SELECT FROM others o WHERE $on)"
    done
done
same 'a row that is no match any more' "${changes[1]}" "SELECT d.id, o.id FROM docs d LEFT JOIN others o ON ${near[0]} FOR UPDATE OF d" $'1|\n2|\n3|13\n4|\n5|'
same 'a row that is no match any more' "${changes[1]}" "SELECT d.id FROM docs d WHERE EXISTS (SELECT FROM others o WHERE ${near[0]}) FOR UPDATE" 3
# The table that is changed is not one of the join: its rows are checked again with the rows of the join, also those of NULL.
for kind in LEFT FULL; do
    same "UPDATE ... FROM a $kind JOIN" "UPDATE third SET said = 'changed'" \
        "UPDATE third t SET said = t.said || ' ' || coalesce(d.id, 0) || coalesce(o.id, 0) FROM docs d $kind JOIN others o ON ${near[1]} WHERE t.id = coalesce(d.id, o.id)"
done
finish
