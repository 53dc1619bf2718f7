#!/usr/bin/env bash
# Roles that want near_duplicates_into to run their functions as its caller, here and on the servers: owners of schemas that
# put relations in place of working tables, tables that changed hands, logs that name connections. Each attack ends in a clear
# error or without effect, and no planted function is called: a table notes each call.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/shards.sh"
shards_start 2

for n in 1 2 3; do
    plant=(q)
    if [[ $n != 3 ]]; then plant=(far "$n"); fi
    "${plant[@]}" <<'SQL'
SET client_min_messages = warning;
CREATE ROLE mallory LOGIN;
CREATE SCHEMA theirs AUTHORIZATION mallory;
GRANT ALL ON SCHEMA theirs TO PUBLIC;
CREATE TABLE public.seen (who name DEFAULT current_user, what text);
GRANT ALL ON public.seen TO PUBLIC;
CREATE FUNCTION theirs.evil(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.seen(what) VALUES ($1); RETURN true; END $$;
CREATE FUNCTION theirs.evil_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM theirs.evil('trigger'); RETURN NEW; END $$;
ALTER FUNCTION theirs.evil(text) OWNER TO mallory;
ALTER FUNCTION theirs.evil_trigger() OWNER TO mallory;
SQL
done
# unseen NAME: nobody but mallory ran a planted function, on any of them.
unseen() {
    expect "$1: no planted function is called" '' "$(q -c "SELECT who, what FROM seen WHERE who <> 'mallory'"
        for n in 1 2; do far "$n" -c "SELECT who, what FROM seen WHERE who <> 'mallory'"; done)"
}

q -c 'CREATE TABLE base (id bigint PRIMARY KEY, body text, tenant int, source text)'
shard docs 'id bigint, body text, tenant int, source text' id
q <<'SQL'
INSERT INTO base SELECT n, string_agg('w' || (n + w) % 50, ' ' ORDER BY w), n / 30, 'source ' || n % 2 FROM generate_series(1, 200) n, generate_series(1, 12) w GROUP BY n;
INSERT INTO docs TABLE base;
SQL
into="near_duplicates_into('docs', 0.8, 'theirs.found', id_column => 'id', text_column => 'body', within => 'tenant', across => 'source'"
# stop: a call that ends where it makes its fourth working table.
stop() {
    q <<'SQL'
CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity LIKE '%\_routes') THEN RAISE 'stopped'; END IF;
END $$;
CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at();
SQL
    expect_error 'a call that is stopped' P0001 'stopped' "CALL $into)"
    q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()'
}
# working NAME: the working table of this name here.
working() { q -c "SELECT oid::regclass FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_$1\$'"; }
# same NAME: a call gives the pairs, and leaves nothing.
same() {
    expect "$1: a call after it" 0 "$(q -c 'SET client_min_messages = warning' -c "CALL $into)" -c "SELECT count(*) FROM theirs.found f
        FULL JOIN near_duplicates('base', 0.8, text_column => 'body', within => 'tenant', across => 'source') p USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM p.similarity" -c 'DROP TABLE theirs.found, theirs.found_log' 2>&1)"
    left_behind "$1"
}

# sweep: drops the working tables of a call whose log is gone.
sweep() {
    local n
    for n in 1 2; do far "$n" -At -c "SELECT format('DROP TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r'" | far "$n"; done
    q -At -c "SELECT format('DROP TABLE %s;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND NOT relispartition" | q
}

# --- The owner of the schema ---

# A view in place of a table that the call does not find when it locks the others, for one of which it has to wait.
stop
sets=$(working sets) members=$(working members)
q -U mallory -c "DROP TABLE $sets"
fifo=$server/fifo
mkfifo "$fifo"
chmod 666 "$fifo"
q -U mallory <"$fifo" >/dev/null &
holder=$!
exec 3>"$fifo"
echo "BEGIN; DROP TABLE $members;" >&3
until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted AND relation = (SELECT oid FROM pg_class WHERE relname = '${members#*.}')") -gt 0 ]]; do :; done
q -v VERBOSITY=verbose -c "CALL $into)" >"$server/first" 2>&1 &
first=$!
until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation IS NOT NULL") -gt 0 ]]; do :; done
q -U mallory -c "CREATE VIEW $sets AS SELECT n, n AS r, id FROM (VALUES (1::bigint, 1::bigint)) v(n, id) WHERE theirs.evil('view')" -c "GRANT ALL ON $sets TO PUBLIC" \
    -c "CREATE VIEW ${sets}_1 AS SELECT 1" -c "CREATE VIEW ${sets}_2 AS SELECT 1"
echo 'ROLLBACK;' >&3
exec 3>&-
wait $holder
wait $first || true
expect 'a view that is planted behind the check' t "$(grep -q '55000: .* has the name of a working table, and is none of this role' "$server/first" && echo t || cat "$server/first")"
unseen 'a view'
q -U mallory -c "DROP VIEW $sets, ${sets}_1, ${sets}_2"
same 'a view'

# A table with a trigger, which is there before.
stop
members=$(working members)
q -U mallory -c "DROP TABLE $members" -c "CREATE TABLE $members (n bigint, r bigint, id bigint)" -c "GRANT ALL ON $members TO PUBLIC" \
    -c "CREATE TRIGGER t BEFORE INSERT ON $members FOR EACH ROW EXECUTE FUNCTION theirs.evil_trigger()"
expect_error 'a table of mallory' 55000 'is none of this role' "CALL $into)"
unseen 'a table'
q -U mallory -c "DROP TABLE $members"
same 'a table'

# --- Tables that changed hands ---

# hands NAME TABLE SQL: what is done to a working table or the log ends the call.
hands() {
    stop
    local table
    if [[ $2 == log ]]; then table=theirs.found_log; else table=$(working "$2"); fi
    # What is planted may run where it is planted.
    q -c "${3//TABLE_/$table}" -c 'TRUNCATE seen'
    expect_error "$1" "${4:-55000}" "${5:-is not as near_duplicates_into made it}" "CALL $into)"
    unseen "$1"
    q -c 'SET client_min_messages = warning' -c "DROP TABLE $table CASCADE"
    if [[ $2 == log ]]; then sweep; fi
    same "$1"
}
q -U mallory -c "CREATE DOMAIN theirs.evil_domain AS text DEFAULT 'x' CHECK (theirs.evil('domain'))" \
    -c "CREATE DOMAIN theirs.evil_number AS int8 CHECK (theirs.evil('domain of numbers'))"
evil_xml="xml DEFAULT query_to_xml('SELECT theirs.evil(''xml'')', false, false, '')"
for table in ranks sets; do
    hands "$table with a domain" $table 'ALTER TABLE TABLE_ ADD COLUMN more theirs.evil_domain'
done
hands 'ranks with a default' ranks "ALTER TABLE TABLE_ ADD COLUMN more text; ALTER TABLE TABLE_ ALTER more SET DEFAULT query_to_xml('SELECT 1', false, false, '')::text"
hands 'ranks with a check' ranks "ALTER TABLE TABLE_ ADD CHECK (ranks IS NOT NULL) NOT VALID"
hands 'ranks with a trigger' ranks 'CREATE TRIGGER t BEFORE INSERT ON TABLE_ FOR EACH ROW EXECUTE FUNCTION theirs.evil_trigger()' 55000 'it has the trigger t, which runs a function of mallory'
hands 'ranks with a rule' ranks 'CREATE RULE r AS ON INSERT TO TABLE_ DO ALSO SELECT 1'
hands 'ranks with a policy' ranks 'ALTER TABLE TABLE_ ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY'
hands 'ranks with an heir' ranks 'CREATE TABLE theirs.heir () INHERITS (TABLE_); ALTER TABLE theirs.heir OWNER TO mallory'
hands 'a log with a domain' log 'ALTER TABLE TABLE_ ADD COLUMN more theirs.evil_domain' 42P07 'is no log of a call of this role'
hands 'a log with a default' log "ALTER TABLE TABLE_ ADD COLUMN more $evil_xml" 42P07 'is no log of a call of this role'
hands 'a log with an index' log "CREATE INDEX ON TABLE_ ((name::theirs.evil_domain))" 42P07 'is no log of a call of this role'

# --- A log that names a connection ---

stop
q -c "UPDATE theirs.found_log SET about = replace(about::text, '\"name\": \"1\"', '\"name\": \"host=${workers[0]} dbname=documents user=postgres application_name=planted\"')::jsonb WHERE step = 0"
expect_error 'a server that is a connection string' 42704 'server ".*application_name=planted" does not exist' "CALL $into)"
expect 'it was not connected to' 0 "$(grep -c 'application_name=planted' "${workers[0]}/log" || true)"
q -c 'DROP TABLE theirs.found_log'
sweep

# --- The owner of a schema on the servers ---

# A role there that owns nothing but its working tables; the documents are in a schema of mallory's.
for n in 1 2; do
    far "$n" -c 'CREATE ROLE app LOGIN' -c 'ALTER TABLE docs SET SCHEMA theirs' -c 'GRANT ALL ON theirs.docs TO app' -c 'GRANT USAGE ON SCHEMA theirs TO app'
    q -c "ALTER USER MAPPING FOR CURRENT_USER SERVER \"$n\" OPTIONS (SET user 'app')" -c "ALTER FOREIGN TABLE docs_$n OPTIONS (ADD schema_name 'theirs')"
done
app=$(far 1 -c "SELECT oid FROM pg_roles WHERE rolname = 'app'")
expect_error 'a role that may make no schema' 42501 "role app has no schema for working tables on server \"1\".*CREATE SCHEMA neardup_into_$app AUTHORIZATION app;|HINT" "CALL $into)"
q -c 'DROP TABLE IF EXISTS theirs.found_log' 2>/dev/null
for n in 1 2; do
    app=$(far $n -c "SELECT oid FROM pg_roles WHERE rolname = 'app'")
    far $n -c "CREATE SCHEMA neardup_into_$app AUTHORIZATION mallory" -c "GRANT ALL ON SCHEMA neardup_into_$app TO PUBLIC"
done
expect_error 'a schema of another role' 42501 "is not role app's alone" "CALL $into)"
for n in 1 2; do
    app=$(far $n -c "SELECT oid FROM pg_roles WHERE rolname = 'app'")
    far $n -c "ALTER SCHEMA neardup_into_$app OWNER TO app"
done
expect_error 'a schema in which others make tables' 42501 "is not role app's alone" "CALL $into)"
for n in 1 2; do
    app=$(far $n -c "SELECT oid FROM pg_roles WHERE rolname = 'app'")
    far $n -c "REVOKE ALL ON SCHEMA neardup_into_$app FROM PUBLIC"
done
same 'a schema of its own'
expect 'no working table is made beside the documents' '0' "$(cat "${workers[0]}/log" "${workers[1]}/log" | grep -c 'CREATE TABLE theirs' || true)"
unseen servers

# The schema of the extension is renamed, and another one of its name has a domain in place of a type.
for n in 1 2; do
    far $n -c "ALTER SCHEMA public RENAME TO elsewhere" -c 'CREATE SCHEMA public AUTHORIZATION mallory' -c 'GRANT ALL ON SCHEMA public TO PUBLIC' \
        -c "SET ROLE mallory" -c "CREATE DOMAIN public.text_ball AS bytea"
done
expect_error 'another schema of the name of the extension' 55000 'has neardup .* in schema elsewhere' "CALL $into)"
finish
