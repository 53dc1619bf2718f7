#!/usr/bin/env bash
# neardup_into_calls and neardup_into_clean: calls on one server and over three servers that run, wait and are done, what calls left
# whose log is gone, here and on servers; other roles, and plants. On Citus: citus.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/shards.sh"
shards_start 3

q -c 'CREATE TABLE base (id bigint PRIMARY KEY, body text)'
shard docs 'id bigint, body text' id
q <<'SQL'
INSERT INTO base SELECT n, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 300) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, body || ' and ' || id FROM base WHERE id % 3 = 0;
INSERT INTO docs TABLE base;
SQL
runs() { q -c "SELECT node, pairs, owner = current_user, status, step, name, rows > 0, parts, started <= noted, tables, bytes > 0 FROM neardup_into_calls()${1:+ WHERE $1}" 2>&1; }
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
expect 'a call that runs' '|public.here|t|running' "$(q -c "SELECT node, pairs, owner = current_user, status FROM neardup_into_calls() WHERE pairs = 'public.here'")"
expect_error 'a call that runs is not cleaned' 55006 'a session is making public.here' "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE pairs = 'public.here'"
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
wait $calling || true
q -c 'DROP EVENT TRIGGER slow' -c 'DROP FUNCTION slow()'

# What it left goes, and its log; what another call left stays.
expect 'a call here is cleaned' 6 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE pairs = 'public.here'")"
expect 'and again' 0 "$(q -c "SELECT neardup_into_clean('0123456789ab')")"
expect 'the other one is there' 4 "$(runs | wc -l)"
# Another role's tables of the same name on a server are left alone.
token=$(q -c "SELECT run FROM neardup_into_calls() WHERE pairs = 'public.there' AND node IS NULL")
far 2 -c 'CREATE ROLE other' -c 'CREATE SCHEMA odd AUTHORIZATION other' -c "SET ROLE other; CREATE TABLE odd.neardup_${token}_sets (n int)"
expect 'a call on servers is cleaned' 17 "$(q -c "SELECT neardup_into_clean('$token')")"
expect "another role's table on a server" 1 "$(far 2 -At -c 'SELECT count(*) FROM pg_class WHERE relname ~ '"'^neardup_[0-9a-f]{12}_'")"
far 2 -c 'SET client_min_messages = warning' -c 'DROP SCHEMA odd CASCADE'
expect 'nothing is left' '' "$(runs)"
left_behind 'cleaned'
# A log that was dropped. No server is asked that no log of the caller names.
stop candidates "'docs', 0.8, 'there', id_column => 'id'"
q -c 'DROP TABLE there_log'
expect 'tables without a log' '|||left over' "$(q -c 'SELECT node, pairs, step, status FROM neardup_into_calls()')"
expect 'these are cleaned' 4 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_calls()")"
expect 'nothing is known any more' '' "$(runs)"
for n in 1 2 3; do far $n -c 'SET client_min_messages = warning' -c "DO \$\$ BEGIN EXECUTE (SELECT format('DROP SCHEMA %I CASCADE', nspname) FROM pg_namespace WHERE nspname ~ '^neardup_into_[0-9]+$'); END \$\$"; done

# A finished call keeps its log.
q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('docs', 0.8, 'there', id_column => 'id')"
expect 'a finished call' 0 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_calls()")"
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
CREATE TABLE planted.a_log (step int UNIQUE, name text, rows bigint, started timestamptz, finished timestamptz, about jsonb);
INSERT INTO planted.a_log VALUES (0, 'arguments', 0, now(), now(), '{"token": "not one", "pairs": 7}'), (NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE planted.b_log (LIKE planted.a_log INCLUDING INDEXES);
INSERT INTO planted.b_log VALUES (0, 'arguments', NULL, '-infinity', NULL, '{"token": "00000000000b", "lock": "x", "pairs": "x.y"}');
CREATE TABLE planted.c_log (LIKE planted.a_log INCLUDING INDEXES);
INSERT INTO planted.c_log VALUES (0, 'arguments', 0, now(), now(), '{"token": "00000000000c"}');
ALTER TABLE planted.c_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY evil ON planted.c_log USING (planted.evil(1) = 1);
CREATE VIEW planted.d_log AS SELECT planted.evil(1) AS step, 'x'::text AS name, 1::bigint AS rows, now() AS started, now() AS finished, '{}'::jsonb AS about;
CREATE TABLE planted."neardup_00000000000b_parts" (step bigint, part planted.number, rows bigint);
CREATE TABLE planted."neardup_00000000000b_sets" (n int);
SQL
expect 'plants' "|planter|waiting|0||2" "$(q -c "SELECT node, owner, status, step, parts, tables FROM neardup_into_calls() WHERE owner = 'planter'" 2>&1)"
expect 'logs of others' '||left over' "$(q -U reader -c "SELECT node, pairs, status FROM neardup_into_calls() WHERE owner = 'planter'" 2>&1)"
expect_error 'tables of others' 42501 'must be owner of table|permission denied for schema planted' "SELECT neardup_into_clean('00000000000b')" -U reader
expect 'their owner' 3 "$(q -U planter -c "SELECT neardup_into_clean('00000000000b')" 2>&1)"

# A log that a role forged: it has the token of a call of another role that is running, and comes first.
q -c 'CREATE ROLE victim LOGIN' -c 'CREATE SCHEMA theirs AUTHORIZATION victim' -c 'GRANT SELECT ON base TO victim' -c 'GRANT ALL ON SCHEMA theirs TO planter' \
    -c 'SET ROLE planter' -c 'CREATE TABLE planted.e_log (step int PRIMARY KEY, name text, rows bigint, started timestamptz, finished timestamptz, about jsonb)'
q -c 'CREATE FUNCTION slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ '"'_candidates\$'"') THEN PERFORM pg_sleep(120); END IF; END $$' \
    -c "CREATE EVENT TRIGGER slow ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION slow()"
q -U victim -c "CALL near_duplicates_into('base', 0.8, 'theirs.found', parts => 4)" >/dev/null 2>&1 &
calling=$!
until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 1 ]]; do sleep 0.1; done
token=$(q -c "SELECT substr(relname, 9, 12) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_sets$' AND relnamespace = 'theirs'::regnamespace")
forge() { q -U planter -c "INSERT INTO $1 VALUES (0, 'arguments', 0, now(), now(), '{\"token\": \"$token\", \"pairs\": \"planted.gone\", \"update\": \"0.2.0\"}'), (1, 'result', 0, now(), now(), NULL)"; }
forge planted.e_log
expect 'a superuser sees both' 'planter|left over|0
victim|running|5' "$(q -c "SELECT owner, status, tables FROM neardup_into_calls() WHERE run = '$token' ORDER BY 1")"
expect 'and drops the forged log alone' 1 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE status = 'left over' AND run = '$token'" 2>/dev/null)"
expect 'the call that runs keeps its tables' 5 "$(q -c "SELECT count(*) FROM pg_class WHERE relname ~ '^neardup_${token}_' AND relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'theirs'::regnamespace")"
expect_error 'and is not cleaned' 55006 'a session is making theirs.found' "SELECT neardup_into_clean('$token')"
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'" >/dev/null
wait $calling || true
q -c 'DROP EVENT TRIGGER slow' -c 'DROP FUNCTION slow()'
expect 'it is cleaned when it does not run' t "$(q -c "SELECT neardup_into_clean('$token') > 4")"

# A server that accepts connections and says nothing. Only a role's own calls connect to it, and they end when they are told to.
python3 - "$server/silent" <<'PYTHON' &
import socket, sys, time
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(50)
open(sys.argv[1], "w").write(str(listening.getsockname()[1]))
time.sleep(600)
PYTHON
silent=$!
until [[ -s $server/silent ]]; do sleep 0.1; done
q <<SQL
SET client_min_messages = warning;
CREATE SERVER silent FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '$(<"$server/silent")', dbname 'x', extensions 'neardup');
CREATE USER MAPPING FOR PUBLIC SERVER silent OPTIONS (user 'x', password 'y');
GRANT USAGE ON FOREIGN SERVER silent TO PUBLIC;
CREATE TABLE quiet (id bigint NOT NULL, body text) PARTITION BY HASH (id);
CREATE FOREIGN TABLE quiet_1 PARTITION OF quiet FOR VALUES WITH (MODULUS 1, REMAINDER 0) SERVER silent;
SQL
expect 'a role that has no calls there does not connect to it' 0 "$(timeout 60 psql -XqAt -U reader -c "SELECT count(*) FROM neardup_into_calls() WHERE node = 'silent'" 2>&1)"
# within ENDS SQL: it ends by itself, with this error; the limit only keeps a defect from keeping the test.
within() { expect "silent: $2" "$1" "$(PGOPTIONS='-c statement_timeout=1s' timeout 60 psql -XqAt -v VERBOSITY=sqlstate -c "$2" 2>&1 | grep -aoE 'ERROR:  [0-9A-Z]{5}' | head -n 1 || true)"; }
q -c 'CREATE TABLE silent_log (step int PRIMARY KEY, name text, rows bigint, started timestamptz, finished timestamptz, about jsonb)' \
    -c "INSERT INTO silent_log VALUES (0, 'arguments', 0, now(), now(), '{\"token\": \"0123456789ab\", \"pairs\": \"public.silent\", \"servers\": [{\"name\": \"silent\", \"schema\": \"public\"}]}')"
within 'ERROR:  57014' 'SELECT count(*) FROM neardup_into_calls()'
within 'ERROR:  57014' "SELECT neardup_into_clean('0123456789ab')"
within 'ERROR:  57014' "CALL near_duplicates_into('quiet', 0.8, 'silenced', id_column => 'id')"
within 'ERROR:  57014' "SELECT count(*) FROM near_duplicates_plan('quiet', 0.8, id_column => 'id', by_node => true)"
expect 'without a limit of its own, the list says who was silent' 1 "$(timeout 60 psql -XqAt -c 'SELECT count(*) FROM neardup_into_calls()' 2>&1 | grep -c 'NOTICE:  neardup_into_calls: server "silent" did not say what it has: server "silent" is not reached: it has not taken the connection within')"
kill $silent
q -c 'DROP TABLE silent_log, quiet' -c 'SET client_min_messages = warning' -c 'DROP SERVER silent CASCADE'

# A server that answers anything: what it says is an error that names it, and not a defect of ours.
python3 - "$server/liar" <<'PYTHON' &
import socket, struct, sys
def message(kind, body): return kind + struct.pack("!i", len(body) + 4) + body
ready = message(b"Z", b"I")
row = message(b"T", struct.pack("!h", 1) + b"x\0" + struct.pack("!ihihih", 0, 0, 25, -1, -1, 0)) + message(b"D", struct.pack("!hi", 1, 4) + b"{[]}")
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(5)
open(sys.argv[1], "w").write(str(listening.getsockname()[1]))
while True:
    one, _ = listening.accept()
    while True:
        began = one.recv(65536)
        if struct.unpack("!i", began[4:8])[0] not in (80877103, 80877104): break
        one.sendall(b"N")
    one.sendall(message(b"R", struct.pack("!i", 0)) + ready)
    if one.recv(65536): one.sendall(row + message(b"C", b"SELECT 1\0") + ready)
    one.recv(1)
    one.close()
PYTHON
liar=$!
until [[ -s $server/liar ]]; do sleep 0.1; done
q <<SQL
SET client_min_messages = warning;
CREATE SERVER liar FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '$(<"$server/liar")', dbname 'x', extensions 'neardup');
CREATE USER MAPPING FOR PUBLIC SERVER liar OPTIONS (user 'x', password 'y');
CREATE TABLE liar_log (step int PRIMARY KEY, name text, rows bigint, started timestamptz, finished timestamptz, about jsonb);
INSERT INTO liar_log VALUES (0, 'arguments', 0, now(), now(), '{"token": "0123456789ab", "pairs": "public.liar", "servers": [{"name": "liar", "schema": "public"}]}');
SQL
expect_error 'an answer that is no JSON' 08P01 'server "liar" answered what neardup does not ask for' 'SELECT * FROM neardup_into_calls()'
expect_error 'and for the clean-up' 08P01 'server "liar" answered what neardup does not ask for' "SELECT neardup_into_clean('0123456789ab')"
kill $liar
q -c 'DROP TABLE liar_log' -c 'SET client_min_messages = warning' -c 'DROP SERVER liar CASCADE'

# A server that does not answer.
stop candidates "'docs', 0.8, 'another', id_column => 'id'"
q -c 'ALTER SERVER "2" OPTIONS (SET port '"'1'"')'
expect 'a server that is down' 1 "$(q -c 'SELECT count(*) FROM neardup_into_calls()' 2>&1 | grep -c 'NOTICE:  neardup_into_calls: server "2" did not say what it has: server "2" is not reached: ')"
finish
