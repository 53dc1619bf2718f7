#!/usr/bin/env bash
# near_duplicates_into of an ordinary table in parts: the pairs of near_duplicates; kills, crashes, cancels and other sessions in
# the middle of it, of which each costs one part at most; what others plant in its tables.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
q -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION neardup'
q <<'SQL'
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
INSERT INTO docs SELECT n * 3 - 1000, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 600) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO docs SELECT 5000 + id, body || ' and ' || id FROM docs WHERE id % 2 = 0;
INSERT INTO docs SELECT 20000 + id, body FROM docs WHERE id < 0;
INSERT INTO docs VALUES (90000, NULL), (90001, ''), (90002, '…');
CREATE TABLE named (name text PRIMARY KEY, body text);
INSERT INTO named SELECT 'f' || id, body FROM docs;
CREATE VIEW shown AS SELECT id, body FROM docs;
CREATE TABLE nothing (id int PRIMARY KEY, body text);
CREATE TABLE one (id int PRIMARY KEY, body text);
INSERT INTO one VALUES (7, 'a text on its own');
CREATE TABLE equal (id smallint PRIMARY KEY, body text);
INSERT INTO equal SELECT n, 'This page was not found on this server' FROM generate_series(1, 300) n;
CREATE TABLE whole (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE whole_1 PARTITION OF whole FOR VALUES FROM (MINVALUE) TO (0);
CREATE TABLE whole_2 PARTITION OF whole FOR VALUES FROM (0) TO (MAXVALUE);
INSERT INTO whole SELECT * FROM docs;
SQL
quiet=(-c 'SET client_min_messages = error')
ids="id_column => 'id', text_column => 'body'"

left_behind() {
    expect "$1: no working table is left" '' "$(q -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"
}
# differ TABLE THRESHOLD ARGUMENTS PARTS: whether pairs and clusters are those of near_duplicates.
differ() {
    q "${quiet[@]}" -c "CALL near_duplicates_into('$1', $2, 'found', $3, parts => $4, clusters => 'grouped')" \
        -c "CREATE TABLE expected AS SELECT * FROM near_duplicates('$1', $2, NULL::$([[ $1 == named ]] && echo text || echo bigint), $3)" \
        -c 'SELECT count(*) FROM found f FULL JOIN expected e USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM e.similarity' \
        -c "SELECT count(*) FROM (SELECT cluster_id, id, size, representative FROM grouped EXCEPT SELECT cluster_id, id, size, representative
            FROM near_duplicate_clusters('$1', $2, NULL::$([[ $1 == named ]] && echo text || echo bigint), $3)) d" \
        -c 'DROP TABLE found, grouped, expected' -c 'DROP TABLE IF EXISTS found_log' 2>&1
}
same=$'0\n0'
for method in jaccard cosine dice overlap containment; do
    expect "$method" "$same" "$(differ docs 0.7 "$ids, method => '$method'" 4)"
done
minhash="method => 'minhash', options => '{\"hand_over\": false}'"
expect 'minhash' "$same" "$(differ docs 0.7 "$ids, $minhash" 5)"
expect 'one part' "$same" "$(differ docs 0.8 "$ids" 1)"
expect 'many parts' "$same" "$(differ docs 0.5 "$ids" 70)"
expect 'shingles' "$same" "$(differ docs 0.5 "$ids, shingle => 2" 3)"
expect 'characters' "$same" "$(differ docs 0.7 "$ids, tokenizer => 'chars'" 3)"
expect 'no repeats' "$same" "$(differ docs 0.7 "$ids, multiset => false" 3)"
expect 'names as ids' "$same" "$(differ named 0.7 "id_column => 'name', text_column => 'body'" 4)"
expect 'a view' "$same" "$(differ shown 0.7 "$ids" 4)"
expect 'a partitioned table' "$same" "$(differ whole 0.7 "$ids" 4)"
expect 'nothing' "$same" "$(differ nothing 0.7 "$ids" 4)"
expect 'one document' "$same" "$(differ one 0.7 "$ids" 4)"
expect 'equal documents' "$same" "$(differ equal 0.7 "$ids" 4)"
expect 'little memory' "$same" "$(PGOPTIONS='-c neardup.memory=1MB -c work_mem=64kB' differ docs 0.3 "$ids" 2)"
left_behind 'answers'
for method in edit tlcs runs simhash shingling combined imatch spotsigs exact_text title repeatability exact_code; do
    case $method in
    edit | runs) threshold=0.6 ;;
    *) threshold=NULL ;;
    esac
    expect "$method" "$same" "$(differ docs $threshold "$ids, method => '$method'" 3)"
done
left_behind 'methods'
q <<'SQL'
CREATE TABLE tenants AS SELECT id, body, CASE WHEN id % 11 = 0 THEN NULL WHEN id % 3 = 0 THEN 1 ELSE id::int % 40 END AS tenant,
    '2020-01-01'::date + id::int % 3 AS source, (id % 7)::numeric(4, 2) AS price FROM docs;
ALTER TABLE tenants ADD PRIMARY KEY (id);
SQL
for limits in "within => 'tenant'" "across => 'source'" "within => 'tenant', across => 'source'" "within => 'price'"; do
    expect "sets $limits" "$same" "$(PGOPTIONS='-c datestyle=german' differ tenants 0.6 "$ids, $limits" 3)"
    expect "minhash $limits" "$same" "$(differ tenants 0.6 "$ids, $minhash, $limits" 3)"
    expect "edit $limits" "$same" "$(differ tenants 0.6 "$ids, method => 'edit', $limits" 3)"
    expect "combined $limits" "$same" "$(differ tenants NULL "$ids, method => 'combined', $limits" 3)"
    expect "imatch $limits" "$same" "$(differ tenants NULL "$ids, method => 'imatch', $limits" 3)"
done
why() { q -c "CALL near_duplicates_into('tenants', $1, 'found', $ids, $2, parts => 3)" -c 'DROP TABLE found' -c 'DROP TABLE IF EXISTS found_log' 2>&1 | grep -o 'made in one: .*' || echo parts; }
expect 'groups in parts' parts "$(why 0.6 "within => 'tenant'")"
expect 'groups whose words count' 'made in one: the frequent words are those of a group' "$(why NULL "method => 'imatch', within => 'tenant'")"
expect 'groups of numbers' 'made in one: equal groups or sources may be written in different ways' "$(why 0.6 "within => 'price'")"
left_behind 'groups'
runs="method => 'runs', options => '{\"max_documents\": 20, \"min_run\": 4}'"
seen=$(q -c "CALL near_duplicates_into('docs', 0.5, 'found', $ids, $runs, parts => 4)" 2>&1)
expect 'a method that is made in one' 1 "$(grep -c 'is not made in parts, so it is made in one: the method with these arguments depends' <<<"$seen")"
expect 'its pairs' 0 "$(q -c "SELECT count(*) FROM found f FULL JOIN near_duplicates('docs', 0.5, $ids, $runs) p USING (left_id, right_id)
    WHERE f.similarity IS DISTINCT FROM p.similarity" -c 'DROP TABLE found')"

# What is asked for wrongly.
into="near_duplicates_into('docs', 0.6, 'found', $ids, parts => 6"
expect_error 'no parts' 22023 'parts must be between 1 and 256 on one server, not 0' "CALL near_duplicates_into('docs', 0.6, 'found', $ids, parts => 0)"
expect_error 'too many parts' 22023 'on one server, not 257' "CALL near_duplicates_into('docs', 0.6, 'found', $ids, parts => 257)"
expect_error 'a snapshot of long ago' 55000 'must see what other sessions commit' "CALL $into)" \
    -c "SET default_transaction_isolation = 'repeatable read'"
expect_error 'too many pairs' 54000 'more than max_pairs = 20 pairs' "CALL $into, max_pairs => 20)"
q -c 'CREATE TABLE twice (id int, body text)' -c "INSERT INTO twice VALUES (1, 'a b c'), (1, 'd e f')"
expect_error 'an id twice' 23505 'id 1 stands in more than one row' "CALL near_duplicates_into('twice', 0.6, 'found', $ids, parts => 2)"
q -c 'UPDATE twice SET id = NULL'
expect_error 'no id' 22004 'has NULL as its id' "CALL near_duplicates_into('twice', 0.6, 'found', $ids, parts => 2)"
left_behind 'errors'
expect 'no log either' '' "$(q -c "SELECT to_regclass('found_log')")"

# right NAME: found has the pairs; then it is dropped.
right() {
    expect "$1: pairs" 0 "$(q -c "SELECT count(*) FROM found f FULL JOIN near_duplicates('docs', 0.6, $ids) p USING (left_id, right_id)
        WHERE f.similarity IS DISTINCT FROM p.similarity" -c 'DROP TABLE found, found_log' 2>&1)"
    left_behind "$1"
}
# notes: what is noted as done of each step, with the transaction that did it.
notes() {
    local table
    table=$(q -c "SELECT oid::regclass FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_parts$'")
    if [[ -n $table ]]; then q -c "SELECT step, part, rows, xmin FROM $table ORDER BY 1, 2"; fi
}
# parts FILE…: how many parts were done in these calls.
parts() { cat "$@" | grep -c ': part [0-9]* of [0-9]*, ' || true; }

# kill -9 of a backend, which takes all of the server down, at ten places by chance; every second time the whole server is stopped
# at once. What was committed is not done again: its notes are those of the same transactions.
expected_in_log='terminated by signal 9'
calls=()
before=''
for n in {1..10}; do
    call=$server/call_$n
    touch "$call"
    calls+=("$call")
    q -c "CALL $into, pause => '20ms')" >"$call" 2>&1 &
    caller=$!
    ahead=$((1 + RANDOM % 3))
    while (($(parts "$call") < ahead)) && kill -0 $caller 2>/dev/null; do :; done
    if ((n % 2)); then
        pid=$(q -c "SELECT pid FROM pg_stat_activity WHERE query ~ 'CALL near_duplicates_into' AND pid <> pg_backend_pid()" 2>/dev/null || true)
        if [[ -n $pid ]]; then backend_killed "$pid"; fi
        wait $caller || true
    else
        as_server "${bindir:?}/pg_ctl" -D "$server/data" -w stop -m immediate >/dev/null
        wait $caller || true
        server_up
    fi
    if [[ -n $(q -c "SELECT to_regclass('found')") ]]; then break; fi
    after=$(notes)
    expect "kill $n: what is done is not done again" '' "$(comm -23 <(sort <<<"$before") <(sort <<<"$after"))"
    before=$after
done
# A call that had made its table may have been killed before it dropped the others; then this one does so.
ended='pairs in public.found'
if [[ -n $(q -c "SELECT to_regclass('found')") ]]; then ended='relation public.found already exists'; fi
q -c "CALL $into)" >"$server/last" 2>&1 || true
expect 'after the kills' 1 "$(grep -c "$ended" "$server/last")"
total=$(q -c "SELECT jsonb_array_length(about->'ranges') + 1 + 2 + 3 * 6 FROM found_log WHERE step = 0")
did=$(parts "${calls[@]}" "$server/last")
expect "each kill costs one part at most ($did of $total after $n kills)" t "$( ((did <= total + n)) && echo t)"
expect 'the documents were read in several parts' t "$(q -c "SELECT jsonb_array_length(about->'ranges') > 2 FROM found_log WHERE step = 0")"
right 'kills'

# Several sessions: one is held in a part, by a policy; the other does all other parts, and waits for it.
q <<'SQL'
CREATE ROLE app LOGIN;
CREATE ROLE mallory LOGIN;
CREATE SCHEMA work;
GRANT ALL ON SCHEMA work TO app, mallory;
GRANT SELECT ON docs TO app, mallory;
CREATE FUNCTION held(id bigint) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    -- Not while the ranges of ids are found.
    IF id = 200 AND EXISTS (SELECT FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_parts$') THEN
        PERFORM pg_advisory_xact_lock_shared(1);
    END IF;
    RETURN true;
END $$;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY held ON docs USING (public.held(id));
SQL
mkfifo "$server/fifo"
chmod 666 "$server/fifo"
until_sql() { until [[ $(q -c "$1") == t ]]; do :; done; }
hold() {
    q <"$server/fifo" >/dev/null &
    holder=$!
    exec 3>"$server/fifo"
    echo 'SELECT pg_advisory_lock(1);' >&3
    until_sql "SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND granted"
}
let_go() {
    echo 'SELECT pg_advisory_unlock(1);' >&3
    exec 3>&-
    wait $holder
}
theirs="CALL near_duplicates_into('docs', 0.6, 'work.found', $ids, parts => 6"
# start N: a session that makes the call.
start() {
    q -U app -c "$theirs)" >"$server/session_$1" 2>&1 &
    sessions+=($!)
}
q <<'SQL'
-- How many parts of the first step are done; one more note says that it is open.
CREATE FUNCTION done() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    noted regclass := (SELECT oid FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_parts$');
    number bigint := -1;
BEGIN
    IF noted IS NOT NULL THEN
        EXECUTE format('SELECT count(*) FROM %s WHERE step = 1 AND part >= 0', noted) INTO number;
    END IF;
    RETURN number;
END $$;
SQL
is_done='SELECT done() = 5'
waits="SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'app' AND wait_event_type = 'Lock' AND wait_event <> 'advisory'"
held="SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
for count in 2 3; do
    sessions=()
    hold
    for n in $(seq "$count"); do start "$n"; done
    until_sql "$held"
    until_sql "$is_done"
    until_sql "${waits/= 1/= $((count - 1))}"
    expect "$count sessions: the view of what runs" t "$(q -c "SELECT count(*) = $count FROM neardup_activity WHERE phase ~ '^sets, (part [0-9] of 6, [0-9] done|waits for other sessions)$'")"
    expect_error "$count sessions, and another call" 55006 'another session is making work.found' "$theirs, max_pairs => 100000, resume => false)" -U app
    expect_error "$count sessions, and another role" 42P07 'is no log of a call of this role' "$theirs)" -U mallory
    expect_error "$count sessions, and a call in one" 55006 'another session is making work.found' "${theirs/, parts => 6/})" -U app
    let_go
    for session in "${sessions[@]}"; do wait "$session" || true; done
    expect "$count sessions: how they end" "$count" "$(cat "$server"/session_[1-$count] | grep -c 'pairs in work.found')"
    expect "$count sessions: each part is done once" 27 "$(parts "$server"/session_[1-$count])"
    expect "$count sessions: pairs" 0 "$(q -c "SELECT count(*) FROM work.found f FULL JOIN near_duplicates('docs', 0.6, $ids) p USING (left_id, right_id)
        WHERE f.similarity IS DISTINCT FROM p.similarity" -c 'DROP TABLE work.found, work.found_log')"
    left_behind "$count sessions"
done

# A session that is cancelled in its part: the other one does it. A time limit does the same.
sessions=()
hold
start 1
until_sql "$held"
start 2
until_sql "$is_done"
q -c "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted" >/dev/null
wait "${sessions[0]}" || true
until_sql "$held"
let_go
wait "${sessions[1]}" || true
expect 'a cancel' 1 "$(cat "$server"/session_[12] | grep -c 'canceling statement due to user request')"
expect 'a cancel: the other session ends it' 1 "$(cat "$server"/session_[12] | grep -c 'pairs in work.found')"
expect 'a cancel: each part is done once' 27 "$(parts "$server"/session_[12])"
q -c 'DROP TABLE work.found, work.found_log'
hold
expect_error 'a time limit' 57014 'statement timeout' "$theirs)" -U app -c "SET statement_timeout = '3s'"
let_go
seen=$(q -U app -c "$theirs)" 2>&1)
expect 'after a time limit it goes on' t "$(grep -q 'goes on with the documents as they were read' <<<"$seen" && echo t || echo "$seen")"
q -c 'DROP TABLE work.found, work.found_log'
# The table that a step was filling is gone in the middle of it.
sessions=()
hold
start 1
until_sql "$held"
q -c "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted" >/dev/null
wait "${sessions[0]}" || true
let_go
expect 'a table in the middle of a step: parts that are done' t "$(q -c 'SELECT done() > 0')"
q -c "SELECT format('DROP TABLE %s', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_sets$'" | q
start 1
wait "${sessions[1]}" || true
expect 'a table in the middle of a step: all parts are done again' 27 "$(parts "$server/session_1")"
expect 'a table in the middle of a step: pairs' 0 "$(q -c "SELECT count(*) FROM work.found f FULL JOIN near_duplicates('docs', 0.6, $ids) p USING (left_id, right_id)
    WHERE f.similarity IS DISTINCT FROM p.similarity" -c 'DROP TABLE work.found, work.found_log')"
q -U app -c "$theirs, pause => '1h')" >"$server/session_1" 2>&1 &
session=$!
until_sql "SELECT count(*) = 1 FROM pg_stat_activity WHERE usename = 'app' AND wait_event = 'PgSleep'"
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
wait $session || true
expect 'a cancel in a pause' 1 "$(grep -c 'canceling statement due to user request' "$server/session_1")"
q -U app "${quiet[@]}" -c "$theirs)" -c 'DROP TABLE work.found, work.found_log'
left_behind 'cancels'

# A call that ends for a reason of its own, in one session: the other one says that it ended.
sessions=()
theirs="$theirs, max_pairs => 20"
hold
start 1
until_sql "$held"
start 2
until_sql "$is_done"
until_sql "$waits"
let_go
for session in "${sessions[@]}"; do wait "$session" || true; done
expect 'too many pairs: the reason' 1 "$(cat "$server"/session_[12] | grep -c 'more than max_pairs = 20 pairs')"
expect 'too many pairs: the other session' 1 "$(cat "$server"/session_[12] | grep -c 'another session has ended the call that makes work.found')"
left_behind 'too many pairs'
q -c 'ALTER TABLE docs DISABLE ROW LEVEL SECURITY'

# What others plant in working tables is not run, and a part that is gone is made anew.
stop() {
    q <<'SQL'
CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_candidates$') THEN
        RAISE 'stopped';
    END IF;
END $$;
CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at();
SQL
    expect_error "$1: a call that is stopped" P0001 'stopped' "CALL $into)"
    q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()'
    part=$(q -c "SELECT oid::regclass FROM pg_class WHERE relname ~ '^neardup_.*_$2$'")
}
stop 'plants' routes_2
q -c "CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN RAISE 'planted'; END\$\$" -c 'ALTER FUNCTION evil() OWNER TO mallory'
q -c "CREATE TRIGGER evil BEFORE INSERT ON $part FOR EACH ROW EXECUTE FUNCTION evil()"
expect_error 'a trigger' 55000 'it has the trigger evil, which runs a function of mallory' "CALL $into)"
q -c "DROP TRIGGER evil ON $part" -c "ALTER TABLE $part OWNER TO mallory"
expect_error 'another owner' 55000 'is none of this role' "CALL $into)"
q -c "ALTER TABLE $part OWNER TO postgres" -c "CREATE INDEX planted ON $part ((lower(part::text)))"
expect_error 'an index' 55000 'is not as near_duplicates_into made it' "CALL $into)"
q -c 'DROP INDEX planted' -c "ALTER TABLE $part ADD CHECK (part > -5)"
expect_error 'a check' 55000 'is not as near_duplicates_into made it' "CALL $into)"
q -c "DROP TABLE $part"
seen=$(q -c "CALL $into)" 2>&1) || true
expect 'a part that is gone' t "$(grep -qzP '(?s)lost rows.*step 4, routes: part 1 of 6(?!.*step 1, sets)' <<<"$seen" && echo t || echo "$seen")"
right 'a part that is gone'
# A log that cannot be read, such as with ranges that are none, is begun anew; its tables are then its owner's to drop.
stop 'ranges that are none' sets_1
q -c "UPDATE found_log SET about = about || '{\"ranges\": [\"1; DROP TABLE docs\"]}' WHERE step = 0"
q "${quiet[@]}" -c "CALL $into)"
q <<'SQL'
SELECT format('DROP TABLE %s', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind IN ('r', 'p') AND NOT relispartition \gexec
SQL
right 'ranges that are none'
finish
