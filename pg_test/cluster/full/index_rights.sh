#!/usr/bin/env bash
# signature_index_check, _stats and _merge look at indexes that others own: what code the owner has put into them runs as
# the owner, and everything that is no index to look at is one clear error.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'deadlock_timeout = 200ms'

q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE owner LOGIN;
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE ROLE nobody LOGIN;
CREATE SCHEMA his AUTHORIZATION owner;
GRANT USAGE ON SCHEMA his TO PUBLIC;
SQL
q -U owner <<'SQL'
SET search_path = his, public;
CREATE TABLE docs(id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'text number ' || i || ' of these few texts' FROM generate_series(1, 20) i;
CREATE FUNCTION same(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN body; END';
CREATE FUNCTION wanted(body text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
CREATE INDEX by_expression ON docs USING signature (minhash(same(body)));
CREATE INDEX by_predicate ON docs USING signature (body) WHERE wanted(body);
CREATE INDEX by_runs ON docs USING signature (same(body) text_runs_ops) WHERE wanted(body);
CREATE INDEX by_grams ON docs USING signature (same(body) text_gram_ops) WHERE wanted(body);
-- Only now the functions show what they are.
CREATE TABLE seen(who name, path text);
GRANT INSERT ON seen TO PUBLIC;
CREATE FUNCTION attack() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO his.seen SELECT current_user, current_setting('search_path');
    PERFORM set_config('work_mem', '123kB', false);
    BEGIN
        ALTER ROLE owner SUPERUSER;
    EXCEPTION WHEN insufficient_privilege THEN
    END;
    BEGIN
        EXECUTE 'RESET ROLE';
        ALTER ROLE owner SUPERUSER;
    EXCEPTION WHEN insufficient_privilege THEN
    END;
    BEGIN
        CREATE TEMP TABLE trap(x int);
    EXCEPTION WHEN insufficient_privilege THEN
    END;
END $$;
CREATE OR REPLACE FUNCTION same(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM his.attack(); RETURN body; END';
CREATE OR REPLACE FUNCTION wanted(body text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS 'BEGIN PERFORM his.attack(); RETURN true; END';
SQL
for role in postgres watcher owner; do
    for index in by_expression by_predicate by_runs by_grams; do
        if [[ $role == owner ]]; then
            expect_sql "what the owner looks at with $index runs without the owner's session" $'\n4MB\n0\nf' "
                SELECT signature_index_check('his.$index', true); SHOW work_mem;
                SELECT count(*) FROM pg_class WHERE relname = 'trap'; SELECT rolsuper FROM pg_roles WHERE rolname = 'owner'" -U $role
        else
            expect_error "$role runs no code of the owner to look at $index" 42501 'runs his\.(same|wanted)\(text\) of owner' "SELECT signature_index_check('his.$index', true)" -U $role
            expect_sql 'nothing of it' 0 'SELECT count(*) FROM his.seen'
        fi
        for function in stats merge; do
            expect_sql "$function of $index by $role" 1 "SELECT count(*) FROM signature_index_$function('his.$index')" -U $role
        done
    done
done
expect_sql 'as the owner, with nothing else in the search path' 'owner|pg_catalog, pg_temp' 'SELECT DISTINCT who, path FROM his.seen'
expect_sql 'who called is again who it was' 'watcher' "SELECT FROM signature_index_check('his.by_predicate'); SELECT current_user" -U watcher
q -U owner -c "CREATE OR REPLACE FUNCTION his.same(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RAISE SQLSTATE ''ND001'' USING MESSAGE = ''not today, größer ''''%'''''', HINT = ''tomorrow''; END'"
expect_error 'an expression that raises an error' ND001 "not today, größer '%'" "SELECT signature_index_check('his.by_expression', true)" -U owner
expect_error 'its hint' ND001 'HINT:  tomorrow' "SELECT signature_index_check('his.by_expression', true)" -U owner
expect_error 'and where it was' ND001 'CONTEXT:  PL/pgSQL function his.same\(text\) line 1' "SELECT signature_index_check('his.by_expression', true)" -U owner
expect_sql 'without the table no code runs' '' "SELECT signature_index_check('his.by_expression')"

# Who has no right to an index waits for nobody, and keeps nobody waiting.
q -U owner -c 'BEGIN; LOCK TABLE his.docs; LOCK TABLE his.seen; SELECT pg_sleep(4); COMMIT' >/dev/null &
locker=$!
for _ in $(seq 100); do
    [[ $(q -c "SELECT count(*) FROM pg_locks WHERE relation = 'his.seen'::regclass AND granted") == 1 ]] && break
    sleep 0.05
done
for function in stats check merge; do
    expect_error "no right to $function" 42501 'permission denied for index by_predicate' \
        "SET lock_timeout = '2s'; SELECT signature_index_$function('his.by_predicate')" -U nobody
done
wait "$locker"

# What there is nothing to look at.
q <<'SQL'
CREATE TABLE plain(id int PRIMARY KEY, body text);
CREATE VIEW seen AS SELECT * FROM plain;
CREATE TABLE parted(id int, body text) PARTITION BY RANGE (id);
CREATE INDEX parted_body ON parted USING signature (body);
CREATE TABLE double(body text);
INSERT INTO double VALUES ('the same'), ('the same');
CREATE TABLE "odd ""%s"" table"(body text);
CREATE INDEX "odd ""%s""
index" ON "odd ""%s"" table" USING signature (body);
SQL
for function in stats check merge; do
    call() { echo "SELECT * FROM signature_index_$function($1)"; }
    for oid in 0 4294967295; do
        expect_error "$function of no relation" 42P01 "relation with OID $oid does not exist" "$(call "$oid::oid")"
    done
    expect_error "$function of a type" 42P01 'relation with OID 25 does not exist' "$(call "'text'::regtype::oid")"
    for relation in plain seen plain_pkey parted parted_body pg_class pg_class_oid_index; do
        expect_error "$function of $relation" 42809 "\"$relation\" is no index of access method signature" "$(call "'$relation'")"
    done
    expect_error "$function of another database's word for it" 42P01 'does not exist' "$(call "'nothing'")"
    expect_sql "$function of an index with an odd name" 1 "SELECT count(*) FROM signature_index_$function('\"odd \"\"%s\"\"
index\"')"
done

# Of another session.
mkfifo "$server/held"
q <"$server/held" >/dev/null &
session=$!
exec {held}>"$server/held"
echo "CREATE TEMP TABLE own(body text); CREATE INDEX own_body ON own USING signature (body);" >&"$held"
for _ in $(seq 100); do
    own=$(q -c "SELECT oid FROM pg_class WHERE relname = 'own_body'")
    [[ -n $own ]] && break
    sleep 0.05
done
for function in stats check merge; do
    expect_error "$function of a temporary index of another session" 0A000 'temporary indexes of other sessions' \
        "SELECT * FROM signature_index_$function($own::oid)"
done
exec {held}>&-
wait "$session"
expect_sql 'of the session itself' 0 "CREATE TEMP TABLE own(body text); CREATE INDEX own_body ON own USING signature (body);
    SELECT rows FROM signature_index_stats('own_body'); SELECT signature_index_check('own_body', true)"

# What CREATE INDEX CONCURRENTLY left behind.
q -c "CREATE FUNCTION fails(body text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 1 / 0; END'"
q -c 'CREATE INDEX CONCURRENTLY "left%behind" ON double USING signature (fails(body))' >/dev/null 2>&1 || true
for function in stats check merge; do
    expect_error "$function of an index that is not valid" 55000 'REINDEX INDEX "left%behind"' "SELECT * FROM signature_index_$function('\"left%behind\"')"
done

# A transaction older than the index sees versions of rows that this need not have.
q <<'SQL'
CREATE TABLE hot(id int PRIMARY KEY, body text) WITH (fillfactor = 10);
INSERT INTO hot SELECT i, 'text of row ' || i FROM generate_series(1, 20) i;
SQL
mkfifo "$server/old"
q <"$server/old" >"$server/old.out" 2>&1 &
session=$!
exec {held}>"$server/old"
echo "SELECT 1; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM hot;" >&"$held"
for _ in $(seq 100); do
    grep -q 20 "$server/old.out" && break
    sleep 0.05
done
q -c "UPDATE hot SET body = 'another text of row ' || id" -c 'CREATE INDEX hot_body ON hot USING signature (body)'
expect_sql 'the old transaction kept old versions' t "SELECT indcheckxmin FROM pg_index WHERE indexrelid = 'hot_body'::regclass"
cat >&"$held" <<'SQL'
\set ON_ERROR_STOP 0
\set VERBOSITY verbose
SELECT signature_index_check('hot_body', true);
ROLLBACK;
SELECT signature_index_check('hot_body', true);
SQL
exec {held}>&-
wait "$session" || true
expect 'too new for an old snapshot' 1 "$(grep -c '40001: index "hot_body" is too new' "$server/old.out")"
expect 'with a hint' 1 "$(grep -c 'HINT:  .*READ COMMITTED' "$server/old.out")"
expect 'and good for a new one' '' "$(tail -n 1 "$server/old.out")"

# The table is locked before the index: who drops the index meanwhile is no deadlock.
q -c 'BEGIN; LOCK TABLE hot; SELECT pg_sleep(1); DROP INDEX hot_body; COMMIT' >/dev/null &
dropper=$!
for _ in $(seq 100); do
    [[ $(q -c "SELECT count(*) FROM pg_locks WHERE relation = 'hot'::regclass AND mode = 'AccessExclusiveLock' AND granted") == 1 ]] && break
    sleep 0.05
done
expect_error 'dropped meanwhile' 42P01 'does not exist' "SELECT signature_index_check(oid, true) FROM pg_class WHERE relname = 'hot_body'"
wait "$dropper"
expect 'no deadlock' '' "$(grep -n 'deadlock detected' "$server/log" | head -n 3)"
finish
