#!/usr/bin/env bash
# What happens to calls of near_duplicates_into over three servers: crashes, cancels, other sessions, roles without rights,
# plants, names and settings of all kinds, equal documents in great numbers. After each the next call gives the pairs, and no
# working table is left. What a call gives is in scale_out.sh.
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
INSERT INTO base SELECT 2000 + id, body FROM base WHERE id < 50;
INSERT INTO docs TABLE base;
SQL
into="near_duplicates_into('docs', 0.8, 'found', id_column => 'id', text_column => 'body'"

# same NAME [THRESHOLD]: found has the pairs of base; then it is dropped.
same() {
    expect "$1: pairs" 0 "$(q -c "SELECT count(*) FROM found FULL JOIN near_duplicates('base', ${2:-0.8}, id_column => 'id', text_column => 'body')
            USING (left_id, right_id) WHERE found.similarity IS DISTINCT FROM near_duplicates.similarity" -c 'DROP TABLE found' 2>&1)"
}
# each q|far N QUERY: runs the statements that a query gives.
each() {
    local statements
    statements=$("${@:1:$#-1}" -c "${!#}")
    "${@:1:$#-1}" <<<"$statements"
}
# again NAME PATTERN [ARGUMENTS]: the call, whose messages match the pattern (Perl's), and its pairs.
again() {
    local seen
    seen=$(q -c "CALL $into${3:-})" 2>&1) || true
    expect "$1: what is done" t "$(grep -qzP "$2" <<<"$seen" && echo t || echo "$seen")"
    same "$1"
}
# dead STEP: a call that is killed when it has done this step, if it does not end before.
dead() {
    local step=$1 log=found_log until pid
    q -c "CALL $into)" >/dev/null 2>&1 &
    until=$((SECONDS + 60))
    while [[ $(q -c "SELECT COALESCE((SELECT max(step) FROM $log), -1)" 2>/dev/null || echo -1) -lt $step ]] && jobs -r | grep -q . && ((SECONDS < until)); do :; done
    pid=$(q -c "SELECT pid FROM pg_stat_activity WHERE query ~ '^CALL near_duplicates_into' AND pid <> pg_backend_pid()")
    if [[ -n $pid ]]; then backend_killed "$pid"; fi
    wait || true
}

# kill -9 of the backend here, which takes all of the server down, behind each step: the next call ends what it began.
expected_in_log='terminated by signal 9'
for step in 0 1 2 3 4 5 6; do
    dead $step
    q -c 'DROP TABLE IF EXISTS found' 2>/dev/null
    again "killed behind step $step" 'pairs in public.found'
    left_behind "killed behind step $step"
done

# A server that crashes keeps the rows of working tables. A call of other arguments begins
# anew, and so does one that says so.
stopped=$(cat <<'SQL'
CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_routes$') THEN
        RAISE 'stopped';
    END IF;
END $$;
CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at();
SQL
)
# stop: a call that ends where it makes its fourth table.
stop() {
    q -c "$stopped"
    expect_error "$1: a call that is stopped" P0001 'stopped' "CALL $into)"
    q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()'
}
stop 'the same call'
again 'the same call' '(?s)goes on with the documents as they were read at .*step 4, routes(?!.*step 1,)'
stop 'reading anew'
again 'reading anew' '(?s)begins anew.*step 1, sets' ', resume => false'
stop 'a day later'
q -c "UPDATE found_log SET started = started - interval '2 days' WHERE step = 1"
again 'a day later' '(?s)begins anew, .* more than a day ago; resume => true.*step 1, sets'
stop 'a day later, but so'
q -c "UPDATE found_log SET started = started - interval '2 days' WHERE step = 1"
again 'a day later, but so' '(?s)goes on with(?!.*step 1,)' ', resume => true'
stop 'another call'
again 'another call' 'step 1, sets' ', parts => 7'
stop 'a server that was killed'
as_server "${bindir:?}/pg_ctl" -D "${workers[0]}/data" -w stop -m immediate >/dev/null
server=${workers[0]} server_up
again 'a server that was killed' '(?s)goes on with(?!.*(lost rows|step [1-3],)).*step 4, routes'
stop 'a working table that is gone'
each far 1 "SELECT format('DROP TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_.*_members$'"
again 'a working table that is gone' '(?s)lost rows(?!.*step 1,).*step 2, members'
stop 'a log that cannot be read'
q -c 'UPDATE found_log SET about = NULL'
again 'a log that cannot be read' 'step 1, sets'
q -c 'DROP TABLE found_log'
for n in 1 2 3; do each far $n "SELECT format('DROP TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r'"; done
each q "SELECT format('DROP TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND NOT relispartition"
server=${workers[3]}

# A server that is gone for good: an old call's tables there are told of, and the new one, without it, goes on.
stop 'a server that is gone'
as_server "${bindir:?}/pg_ctl" -D "${workers[2]}/data" -w stop -m immediate >/dev/null
expect_error 'a server that is gone' 08001 'server "3" is not reached' "CALL $into)"
q -c 'DROP FOREIGN TABLE docs_3'
q -c "CREATE TABLE docs_3 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 2)"
seen=$(q -c "CALL $into, parts => 5)" 2>&1) || true
expect 'what is left of it' t "$(grep -q 'may be left on server "3"' <<<"$seen" && echo t || echo "$seen")"
expect 'and the others go on' t "$(grep -q 'pairs in public.found' <<<"$seen" && echo t || echo "$seen")"
q -c 'DROP TABLE found, docs_3'
server=${workers[2]} server_up
q -c "CREATE FOREIGN TABLE docs_3 PARTITION OF docs FOR VALUES WITH (MODULUS 3, REMAINDER 2) SERVER \"3\" OPTIONS (table_name 'docs', batch_size '1000')"
each far 3 "SELECT format('DROP TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r'"
server=${workers[3]}

# Inside a transaction nothing is touched.
stop 'inside a transaction'
before=$(q -c 'SELECT count(*), max(step) FROM found_log')
expect_error 'inside a transaction' 2D000 'cannot run inside a transaction' "BEGIN; CALL $into, parts => 9)"
expect 'inside a transaction nothing is touched' "$before" "$(q -c 'SELECT count(*), max(step) FROM found_log')"
again 'after a transaction' 'goes on with'

# A second session: an error, and the first one ends.
fifo=$server/fifo
mkfifo "$fifo"
chmod 666 "$fifo"
q -c 'CREATE TABLE held (n int)' -c "$(cat <<'SQL'
CREATE FUNCTION hold() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_ranks$') THEN
        LOCK TABLE public.held;
    END IF;
END $$;
CREATE EVENT TRIGGER hold ON ddl_command_end EXECUTE FUNCTION hold();
SQL
)"
# holding: a session that keeps a call at its third step, until let_go.
holding() {
    q <"$fifo" >/dev/null &
    holder=$!
    exec 3>"$fifo"
    echo 'BEGIN; LOCK TABLE held;' >&3
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE relation = 'held'::regclass AND granted") == 1 ]]; do :; done
    q -c "CALL $into)" >"$server/first" 2>&1 &
    first=$!
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE relation = 'held'::regclass AND NOT granted") == 1 ]]; do :; done
}
let_go() {
    echo 'COMMIT;' >&3
    exec 3>&-
    wait $holder
    wait $first || true
}
holding
expect_error 'a second session' 55006 'another session is making' "CALL $into)"
expect_error 'a second session with other arguments' 55006 'another session is making' "CALL $into, parts => 9)"
let_go
same 'the first session'
left_behind 'two sessions'

# A cancel is heard at once, and while a server waits for a lock.
holding
q -c "SELECT pg_cancel_backend(pid) FROM pg_locks WHERE relation = 'held'::regclass AND NOT granted" >/dev/null
wait $first || true
expect 'a cancel' 1 "$(grep -c 'canceling statement due to user request' "$server/first")"
echo 'COMMIT;' >&3
exec 3>&-
wait $holder
q -c 'DROP EVENT TRIGGER hold' -c 'DROP FUNCTION hold()'
far 2 <"$fifo" >/dev/null &
holder=$!
exec 3>"$fifo"
far 2 -c "SELECT format('BEGIN; LOCK TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_.*_sets$'" >&3
until [[ $(far 2 -c "SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE relname ~ '^neardup_.*_sets$' AND granted") == 1 ]]; do :; done
q -c "CALL $into, parts => 9)" >"$server/first" 2>&1 &
first=$!
until [[ $(far 2 -c "SELECT count(*) FROM pg_stat_activity WHERE query ~ 'DROP TABLE IF EXISTS' AND pid <> pg_backend_pid()") -gt 0 ]]; do :; done
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query ~ '^CALL near_duplicates_into'" >/dev/null
wait $first || true
expect 'a cancel while a server waits' 1 "$(grep -c 'canceling statement due to user request' "$server/first")"
echo 'COMMIT;' >&3
exec 3>&-
wait $holder
again 'after cancels' 'pairs in'
left_behind 'cancels'

# Errors that are the user's leave nothing.
q -c "INSERT INTO docs VALUES (1, 'the id of another document')"
expect_error 'an id twice' 23505 'id 1 stands in more than one row' "CALL $into)"
left_behind 'an id twice'
q -c "DELETE FROM docs WHERE body = 'the id of another document'"
expect_error 'too many pairs' 54000 'more than max_pairs = 20 pairs' "CALL $into, max_pairs => 20)"
left_behind 'too many pairs'
expect_error 'too many pairs by an option' 54000 'more than max_pairs = 1 pairs' "CALL $into, options => '{\"max_pairs\": 1}')"
expect_error 'too many pairs here' 54000 'more than max_pairs = 1 pairs' \
    "CALL near_duplicates_into('base', 0.8, 'found', text_column => 'body', options => '{\"max_pairs\": 1}')"
expect 'no log either' '' "$(q -c "SELECT to_regclass('found_log')")"
expect_error 'a table that is there' 42P07 'relation public.base already exists' "CALL near_duplicates_into('docs', 0.8, 'base', id_column => 'id')"
expect_error 'clusters that are there' 42P07 'relation public.base already exists' "CALL $into, clusters => 'base')"
expect_error 'clusters as the log' 42P07 'cannot be the table of clusters' "CALL $into, clusters => 'found_log')"
expect_error 'clusters as the pairs' 42P07 'cannot be the table of clusters' "CALL $into, clusters => 'found')"
expect_error 'no name' 22004 'pairs must not be NULL' "CALL near_duplicates_into('base', 0.8)"
expect_error 'no table' 22004 'docs must not be NULL' "CALL near_duplicates_into(NULL, 0.8, 'found')"
expect_error 'three names' 42602 'not the name of a table' "CALL near_duplicates_into('base', 0.8, 'a.b.c')"
expect_error 'no such schema' 3F000 'does not exist' "CALL near_duplicates_into('base', 0.8, 'nowhere.found')"
expect_error 'too few parts' 22023 'parts must be between' "CALL $into, parts => 2)"
q -c 'CREATE TABLE found_log (n int)'
expect_error 'a log that is none' 42P07 'is no log of a call of this role' "CALL $into)"
q -c 'DROP TABLE found_log'
far 3 -c "UPDATE pg_extension SET extversion = '0.1.0' WHERE extname = 'neardup'"
expect_error 'another version' 55000 'server "3" has neardup 0.1.0' "CALL $into)"
far 3 -c "UPDATE pg_extension SET extversion = (SELECT library FROM neardup_version()) WHERE extname = 'neardup'"
versions='OUT library text, OUT sql text, OUT text_rules int, OUT hashes int, OUT sketch_format int, OUT index_format int, OUT lists_format int, OUT unicode text, OUT instructions text'
far 3 -c "CREATE OR REPLACE FUNCTION neardup_version($versions) STABLE LANGUAGE sql AS \$\$ SELECT '0.1.9', NULL, 0, 0, 0, 0, 0, NULL, NULL \$\$"
expect_error 'another library' 55000 'server "3" has the library of neardup 0.1.9' "CALL $into)"
far 3 -c "CREATE OR REPLACE FUNCTION neardup_version($versions) STABLE PARALLEL SAFE LANGUAGE c AS '\$libdir/neardup', 'neardup_version'"
left_behind 'errors'

# A server that is down: of the class of connections, so that a script tries again.
PGHOST=${workers[2]} server_down "${workers[2]}"
expect_error 'a server that is down' 08001 'server "3" is not reached: ' "CALL $into)"
(server=${workers[2]} && server_up)
left_behind 'a server that was down'

# A result that is there stays, with its log. A call that is made again, by a script that did not hear of the end, accepts it.
q -c "CALL $into)" 2>/dev/null
expect_error 'a second result' 42P07 'relation public.found already exists' "CALL $into)"
expect_error 'and how to accept it' 42P07 'The same call made it: resume => true accepts it' "CALL $into)"
expect_error 'the result of another call' 42P07 'relation public.found already exists' \
    "CALL near_duplicates_into('docs', 0.7, 'found', id_column => 'id', resume => true)"
expect 'the same call again' "NOTICE:  near_duplicates_into: $(q -c 'SELECT count(*) FROM found') pairs in public.found" "$(q -c "CALL $into, resume => true)" 2>&1)"
expect_error 'clusters that the call did not make' 42P07 'relation public.found already exists' "CALL $into, clusters => 'found_clusters', resume => true)"
expect_error 'a table that is none of clusters' 55000 'not as near_duplicates_into made it' "CALL $into, clusters => 'base', resume => true)"
expect 'its log' result "$(q -c 'SELECT name FROM found_log ORDER BY step DESC LIMIT 1')"
same 'the first result'

# Settings of the caller change nothing: 2/3 is not 0.666666666666667.
expect 'extra_float_digits' 0 "$(q -c 'SET client_min_messages = warning' -c 'SET extra_float_digits = 0' -c "SET DateStyle = 'SQL, DMY'" \
    -c 'SET standard_conforming_strings = off' -c "CALL near_duplicates_into('docs', 2.0/3, 'found', id_column => 'id')" \
    -c "SELECT count(*) FROM found FULL JOIN near_duplicates('base', 2.0/3) p USING (left_id, right_id) WHERE found.similarity IS DISTINCT FROM p.similarity" \
    -c 'DROP TABLE found')"

# Names of 63 bytes, and such as need quotes.
for name in "$(printf '漢%.0s' {1..21})" "$(printf 'x%.0s' {1..63})" '"O''Neil ""s"'; do
    seen=$(q -v name="$name" <<'SQL' 2>&1
SET client_min_messages = warning;
CALL near_duplicates_into('docs', 0.8, :'name', id_column => 'id');
SELECT count(*) FROM pg_class WHERE relname ~ '^(漢|x|O).*_log$' AND relkind = 'r';
SELECT format('DROP TABLE %s', oid::regclass) FROM pg_class WHERE relname ~ '^(漢|x|O)' AND relkind = 'r' \gexec
SQL
)
    expect "a log for $name" 1 "$seen"
done

# A role that may read the documents, but make no tables here; and one that has no way to the servers.
q <<'SQL'
CREATE ROLE reader LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader;
CREATE SCHEMA work AUTHORIZATION reader;
SQL
expect_error 'no right to make tables' 42501 'permission denied for schema public' "CALL $into)" -U reader
seen=$(q -U reader -c "CALL near_duplicates_into('docs', 0.8, 'work.found', id_column => 'id')" 2>&1) || true
expect 'no user mapping' t "$(grep -q 'no user mapping of this role for server "1"' <<<"$seen" && echo t || echo "$seen")"
expect 'nothing is made' '' "$(q -c "SELECT relname FROM pg_class WHERE relnamespace = 'work'::regnamespace")"
expect_sql 'a table of its own' '' "CALL near_duplicates_into('base', 0.8, 'work.found', text_column => 'body', clusters => 'work.grouped')" -U reader -c 'SET client_min_messages = warning'
expect 'belongs to it' reader "$(q -c "SELECT DISTINCT relowner::regrole FROM pg_class WHERE relname IN ('found', 'grouped')")"
q -c 'DROP TABLE work.found, work.grouped'

# Better matches in the schema of the extension, here and on servers, are not called; nor are triggers of tables that changed
# hands.
for n in 1 2 3 4; do
    plant=(q)
    if [[ $n != 4 ]]; then plant=(far "$n"); fi
    "${plant[@]}" <<'SQL'
CREATE FUNCTION clusters_of_pairs(text, bigint, int, text, float8[]) RETURNS TABLE(cluster_id bigint, id bigint) LANGUAGE plpgsql AS $$BEGIN RAISE 'planted'; END$$;
CREATE FUNCTION near_duplicates(regclass, float8, bigint, jsonb, text, text, text, text, int, bool, bigint, text) RETURNS TABLE(left_id bigint, right_id bigint)
    LANGUAGE plpgsql AS $$BEGIN RAISE 'planted'; END$$;
SQL
done
again 'planted functions' 'pairs in' ", clusters => 'grouped'"
q -c 'DROP TABLE grouped'
expect_sql 'planted functions here' '' "CALL near_duplicates_into('base', 0.8, 'found', text_column => 'body', clusters => 'grouped')" -c 'SET client_min_messages = warning'
q -c 'DROP TABLE found, grouped'
stop 'a log that changed hands'
q <<'SQL'
CREATE ROLE other;
CREATE FUNCTION other_trigger() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'planted'; END$$;
ALTER FUNCTION other_trigger() OWNER TO other;
CREATE TRIGGER planted BEFORE INSERT ON found_log FOR EACH ROW EXECUTE FUNCTION other_trigger();
SQL
expect_error 'a log that changed hands' 42P07 'found_log already exists, and is no log of a call of this role' "CALL $into)"
q -c 'DROP TRIGGER planted ON found_log'
each q "SELECT format('ALTER TABLE %s OWNER TO other;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_.*_members$'"
expect_error 'a working table that changed hands' 55000 'is none of this role' "CALL $into)"
each q "SELECT format('ALTER TABLE %s OWNER TO postgres;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_.*_members$'"
again 'after that' 'goes on with'
left_behind 'attacks'

# Equal pages, of which there are more pairs than an array has room for: the parts see one of them.
q -c 'TRUNCATE docs' -c "INSERT INTO docs SELECT n, 'This page was not found on this server' FROM generate_series(1, 11586) n" \
    -c "INSERT INTO docs SELECT 20000 + n, 'This page was not found on that server' FROM generate_series(1, 20) n"
expect_error 'equal pages that are too many' 54000 'more than max_pairs = 60000000' "CALL $into, max_pairs => 60000000)"
left_behind 'equal pages'
q -c 'DELETE FROM docs WHERE id > 1000 AND id < 20000'
expect 'equal pages' "$((1000 * 999 / 2 + 20 * 19 / 2 + 20000))" "$(q -c 'SET client_min_messages = warning' \
    -c "CALL near_duplicates_into('docs', 0.7, 'found', id_column => 'id')" -c 'SELECT count(*) FROM found' -c 'DROP TABLE found')"
expect 'candidates of equal pages' 1 "$(q -c "SELECT rows FROM found_log WHERE name = 'candidates'")"
finish
