#!/usr/bin/env bash
# neardup_into_runs and neardup_into_clean: calls on one server and over three servers that run, wait and are done, what calls left
# whose log is gone, here and on servers; other roles, and plants. On Citus: citus.sh.
set -euo pipefail
source "$(dirname "$0")/../../scripts/expect.sh"
source "$(dirname "$0")/../../scripts/shards.sh"
shards_start 3

q -c 'CREATE TABLE base (id bigint PRIMARY KEY, body text)'
shard docs 'id bigint, body text' id
q <<'SQL'
INSERT INTO base SELECT n, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 300) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, body || ' and ' || id FROM base WHERE id % 3 = 0;
INSERT INTO docs TABLE base;
SQL
runs() { q -c "SELECT node, pairs, owner = current_user, status, step, name, rows > 0, parts, started <= noted, tables, bytes > 0 FROM neardup_into_runs()${1:+ WHERE $1}" 2>&1; }
expect 'nothing yet' '' "$(runs)"
q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('base', 0.8, 'here', parts => 4)" -c "CALL near_duplicates_into('docs', 0.8, 'there', id_column => 'id')"
expect 'calls that are done' "|public.here|t|done|7|result|t||t|0|f
|public.there|t|done|7|result|t||t|0|f" "$(runs)"

# stop TABLE CALL: a call that ends before it makes a table.
stop() {
    q -c "CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
        BEGIN
            IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_$1\$') THEN RAISE 'stopped'; END IF;
        END \$\$" -c 'CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at()'
    expect_error "stopped before $1" P0001 stopped "CALL near_duplicates_into($2)"
    q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()'
}
q -c 'DROP TABLE here, there'
stop candidates "'base', 0.8, 'here', parts => 4"
stop candidates "'docs', 0.8, 'there', id_column => 'id'"
expect 'calls that wait' '|public.here|t|waiting|4|routes|t|0|t|5|t
|public.there|t|waiting|4|routes|t||t|4|t' "$(runs 'node IS NULL')"
expect 'their tables on servers' "1|public.there|t|waiting|||||| 4 |t
2|public.there|t|waiting|||||| 4 |t
3|public.there|t|waiting|||||| 4 |t" "$(runs 'node IS NOT NULL' | sed 's/|\([0-9]*\)|\(.\)$/| \1 |\2/')"

# A call that is running is left alone.
q -c 'BEGIN' -c 'LOCK TABLE base IN ACCESS EXCLUSIVE MODE' -c 'SELECT pg_sleep(120)' >/dev/null 2>&1 &
sleeping=$!
until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 1 ]]; do sleep 0.1; done
q -c "CALL near_duplicates_into('base', 0.9, 'other', parts => 4)" >/dev/null 2>&1 &
calling=$!
until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ '^CALL'") == 1 ]]; do sleep 0.1; done
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' OR query ~ '^CALL'" >/dev/null
wait $sleeping || true
wait $calling || true
q -c 'CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(120); END $$' \
    -c "CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slow()"
q -c "CALL near_duplicates_into('base', 0.8, 'here', parts => 4)" >/dev/null 2>&1 &
calling=$!
until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 1 ]]; do sleep 0.1; done
expect 'a call that runs' '|public.here|t|running' "$(q -c "SELECT node, pairs, owner = current_user, status FROM neardup_into_runs() WHERE pairs = 'public.here'")"
expect_error 'a call that runs is not cleaned' 55006 'a session is making public.here' "SELECT neardup_into_clean(run) FROM neardup_into_runs() WHERE pairs = 'public.here'"
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
wait $calling || true
q -c 'DROP EVENT TRIGGER slow' -c 'DROP FUNCTION slow()'

# What it left goes, and its log; what another call left stays.
expect 'a call here is cleaned' 6 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_runs() WHERE pairs = 'public.here'")"
expect 'and again' 0 "$(q -c "SELECT neardup_into_clean('0123456789ab')")"
expect 'the other one is there' 4 "$(runs | wc -l)"
# A log that was dropped.
q -c 'DROP TABLE there_log'
expect 'tables without a log' '|||left over' "$(q -c 'SELECT node, pairs, step, status FROM neardup_into_runs() WHERE node IS NULL')"
expect 'the same on servers' 3 "$(runs "node IS NOT NULL AND status = 'left over'" | wc -l)"
expect 'these are cleaned' 16 "$(q -c "SELECT neardup_into_clean(run) FROM (SELECT DISTINCT run FROM neardup_into_runs()) r")"
expect 'nothing is left' '' "$(runs)"
left_behind 'cleaned'
# Tables that only a server has.
far 2 -c "CREATE SCHEMA odd" -c 'CREATE TABLE odd."neardup_00000000000a_sets" (n int)' -c 'INSERT INTO odd."neardup_00000000000a_sets" VALUES (1)'
expect 'a table of a server' '2||t|left over' "$(q -c 'SELECT node, pairs, owner = current_user, status FROM neardup_into_runs()')"
expect 'is dropped' 1 "$(q -c "SELECT neardup_into_clean('00000000000a')")"
expect 'and gone' '' "$(runs)"

# A finished call keeps its log.
q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('docs', 0.8, 'there', id_column => 'id')"
expect 'a finished call' 0 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_runs()")"
expect 'is still known' '|public.there|t|done|7|result|t||t|0|f' "$(runs)"
expect_error 'no such run' 22023 'run must be twelve hexadecimal digits, not "x"' "SELECT neardup_into_clean('x')"
expect_error 'NULL' 22004 'run must not be NULL' 'SELECT neardup_into_clean(NULL)'

# Other roles: their logs are read by members alone; nothing of theirs runs.
q <<'SQL'
CREATE ROLE planter LOGIN;
CREATE ROLE reader LOGIN;
CREATE SCHEMA planted AUTHORIZATION planter;
SET ROLE planter;
CREATE FUNCTION planted.evil(int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted code runs'; END $$;
CREATE DOMAIN planted.number AS int8;
CREATE TABLE planted.a_log (step int, name text, rows bigint, started timestamptz, finished timestamptz, about jsonb);
INSERT INTO planted.a_log VALUES (0, 'arguments', 0, now(), now(), '{"token": "not one", "pairs": 7}'), (NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE planted.b_log (LIKE planted.a_log);
INSERT INTO planted.b_log VALUES (0, 'arguments', NULL, '-infinity', NULL, '{"token": "00000000000b", "lock": "x", "pairs": "x.y"}');
CREATE TABLE planted.c_log (LIKE planted.a_log);
INSERT INTO planted.c_log VALUES (0, 'arguments', 0, now(), now(), '{"token": "00000000000c"}');
ALTER TABLE planted.c_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY evil ON planted.c_log USING (planted.evil(1) = 1);
CREATE VIEW planted.d_log AS SELECT planted.evil(1) AS step, 'x'::text AS name, 1::bigint AS rows, now() AS started, now() AS finished, '{}'::jsonb AS about;
CREATE TABLE planted."neardup_00000000000b_parts" (step bigint, part planted.number, rows bigint);
CREATE TABLE planted."neardup_00000000000b_sets" (n int);
SQL
expect 'plants' "|planter|waiting|0||2" "$(q -c "SELECT node, owner, status, step, parts, tables FROM neardup_into_runs() WHERE owner = 'planter'" 2>&1)"
expect 'logs of others' '||left over' "$(q -U reader -c "SELECT node, pairs, status FROM neardup_into_runs() WHERE owner = 'planter'" 2>&1)"
expect_error 'tables of others' 42501 'must be owner of table|permission denied for schema planted' "SELECT neardup_into_clean('00000000000b')" -U reader
expect 'their owner' 3 "$(q -U planter -c "SELECT neardup_into_clean('00000000000b')" 2>&1)"

# A server that does not answer.
q -c 'ALTER SERVER "2" OPTIONS (SET port '"'1'"')'
expect 'a server that is down' 1 "$(q -c 'SELECT count(*) FROM neardup_into_runs()' 2>&1 | grep -c 'NOTICE:  neardup_into_runs: server "2" did not say what it has: server "2" is not reached: ')"
finish
