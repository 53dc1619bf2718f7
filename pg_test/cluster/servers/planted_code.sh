#!/usr/bin/env bash
# Each kind of object that can carry code is planted on each table that neardup reads or writes, by a role that then loses the
# table; whoever calls neardup after that runs none of it. The tables are those that are there, the kinds are counted against the
# catalogues that refer to relations: a new table is tried without being named here, and a new kind makes this fail.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start $'autovacuum = off\nwal_level = logical'

q <<'SQL'
SET client_min_messages = warning;
CREATE ROLE att LOGIN;
CREATE ROLE vic LOGIN;
CREATE ROLE app LOGIN;
CREATE ROLE boss LOGIN IN ROLE att;
CREATE ROLE mon LOGIN IN ROLE pg_monitor;
CREATE SCHEMA tools;
CREATE EXTENSION neardup SCHEMA tools;
GRANT USAGE ON SCHEMA tools TO PUBLIC;
CREATE SCHEMA att AUTHORIZATION att;
GRANT USAGE ON SCHEMA att TO PUBLIC;
-- Written whenever planted code runs, by whomever.
CREATE TABLE public.pwn (who name DEFAULT current_user, via text);
GRANT INSERT, SELECT ON public.pwn TO PUBLIC;
SET ROLE att;
CREATE FUNCTION att.vol(via text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.pwn (via) VALUES (via); RETURN true; END $$;
CREATE FUNCTION att.imm(via text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM att.vol(via); RETURN true; END $$;
CREATE FUNCTION att.trg() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM att.vol('trigger'); RETURN NEW; END $$;
CREATE DOMAIN att.dom AS text DEFAULT 'x' CHECK (att.vol('domain'));
CREATE TYPE att.comp AS (a att.dom);
CREATE TYPE att.en AS ENUM ('a');
CREATE FUNCTION att.diff(int4, int4) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM att.vol('range'); RETURN 1; END $$;
CREATE TYPE att.rng AS RANGE (subtype = int4, subtype_diff = att.diff);
CREATE TABLE att.pk (id int PRIMARY KEY CHECK (att.vol('key')));
CREATE FUNCTION att.cmp(int4, int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM att.vol('class'); RETURN btint4cmp($1, $2); END $$;
RESET ROLE;
-- Classes are made by superuser alone, with functions of anybody.
CREATE OPERATOR CLASS att.evil_ops FOR TYPE int4 USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 att.cmp(int4, int4);
SQL

# The kinds: a name, what plants it on the table @T of the schema @H, with its first column @C or the first of type int4, @N, and what
# takes it away. Those of S are planted by a superuser.
kinds() {
    cat <<'KINDS'
index_predicate|CREATE INDEX planted ON @T (@C) WHERE att.imm('index predicate')|DROP INDEX IF EXISTS @H.planted
index_expression|CREATE INDEX planted ON @T ((CASE WHEN att.imm('index expression') THEN 1 ELSE 2 END))|DROP INDEX IF EXISTS @H.planted
index_class|CREATE INDEX planted ON @T (@N att.evil_ops)|DROP INDEX IF EXISTS @H.planted
exclusion|ALTER TABLE @T ADD CONSTRAINT planted EXCLUDE USING btree (@C WITH =) WHERE (att.imm('exclusion'))|ALTER TABLE @T DROP CONSTRAINT IF EXISTS planted
statistics|CREATE STATISTICS att.planted ON (CASE WHEN att.imm('statistics') THEN 1 ELSE 2 END), (@C IS NULL) FROM @T|DROP STATISTICS IF EXISTS att.planted
check|ALTER TABLE @T ADD CONSTRAINT planted CHECK (att.vol('check')) NOT VALID|ALTER TABLE @T DROP CONSTRAINT IF EXISTS planted
default|ALTER TABLE @T ADD COLUMN planted bool; ALTER TABLE @T ALTER planted SET DEFAULT att.vol('default')|ALTER TABLE @T DROP COLUMN IF EXISTS planted
generated|ALTER TABLE @T ADD COLUMN planted bool GENERATED ALWAYS AS (att.imm('generated')) STORED|ALTER TABLE @T DROP COLUMN IF EXISTS planted
domain|ALTER TABLE @T ADD COLUMN planted att.dom|ALTER TABLE @T DROP COLUMN IF EXISTS planted
composite|ALTER TABLE @T ADD COLUMN planted att.comp|ALTER TABLE @T DROP COLUMN IF EXISTS planted
enum|ALTER TABLE @T ADD COLUMN planted att.en|ALTER TABLE @T DROP COLUMN IF EXISTS planted
range|ALTER TABLE @T ADD COLUMN planted att.rng|ALTER TABLE @T DROP COLUMN IF EXISTS planted
foreign_key|ALTER TABLE @T ADD COLUMN planted int REFERENCES att.pk|ALTER TABLE @T DROP COLUMN IF EXISTS planted
trigger|CREATE TRIGGER planted BEFORE INSERT OR UPDATE OR DELETE ON @T FOR EACH ROW EXECUTE FUNCTION att.trg()|DROP TRIGGER IF EXISTS planted ON @T
trigger_condition|CREATE TRIGGER planted BEFORE INSERT OR UPDATE ON @T FOR EACH ROW WHEN (att.vol('trigger condition')) EXECUTE FUNCTION suppress_redundant_updates_trigger()|DROP TRIGGER IF EXISTS planted ON @T
constraint_trigger|CREATE CONSTRAINT TRIGGER planted AFTER INSERT OR UPDATE OR DELETE ON @T DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION att.trg()|DROP TRIGGER IF EXISTS planted ON @T
rule|CREATE RULE planted AS ON INSERT TO @T DO ALSO SELECT att.vol('rule')|DROP RULE IF EXISTS planted ON @T
policy|CREATE POLICY planted ON @T USING (att.vol('policy')); ALTER TABLE @T ENABLE ROW LEVEL SECURITY; ALTER TABLE @T FORCE ROW LEVEL SECURITY|ALTER TABLE @T DISABLE ROW LEVEL SECURITY; ALTER TABLE @T NO FORCE ROW LEVEL SECURITY; DROP POLICY IF EXISTS planted ON @T
child|CREATE TABLE att.planted (CHECK (att.vol('child'))) INHERITS (@T); CREATE INDEX ON att.planted (@C) WHERE att.imm('index of a child')|DROP TABLE IF EXISTS att.planted
parent|CREATE TABLE att.planted (LIKE @T); ALTER TABLE @T INHERIT att.planted; CREATE TRIGGER planted AFTER INSERT ON att.planted FOR EACH STATEMENT EXECUTE FUNCTION att.trg()|ALTER TABLE @T NO INHERIT att.planted; DROP TABLE IF EXISTS att.planted
partition|CREATE TABLE att.planted (LIKE @T) PARTITION BY LIST (@C); ALTER TABLE att.planted ATTACH PARTITION @T DEFAULT; CREATE TRIGGER planted AFTER INSERT ON att.planted FOR EACH ROW EXECUTE FUNCTION att.trg()|ALTER TABLE att.planted DETACH PARTITION @T; DROP TABLE IF EXISTS att.planted
publication|S CREATE PUBLICATION planted FOR TABLE @T WHERE (@C IS NOT NULL)|DROP PUBLICATION IF EXISTS planted
KINDS
}

# try NAME TABLES CALLS: plants each kind on each of the tables that the query TABLES returns (as schema.name), and makes the
# calls, a script of psql; NEW is their owner meanwhile. Reports the tables and the kinds of which code ran, and counts plants.
try() {
    local name=$1 tables calls=$3 new=$4 script=$server/try.sql
    tables=$(q -F'|' -c "$2")
    : >"$script"
    local table schema column number kind plant undo as
    while IFS='|' read -r table schema column number; do
        while IFS='|' read -r kind plant undo; do
            as=att
            if [[ $plant == 'S '* ]]; then as=postgres plant=${plant#S }; fi
            # What does not go with a table is no plant of it.
            for word in plant undo; do
                local -n text=$word
                text=${text//@T/$table} text=${text//@C/$column} text=${text//@N/$number} text=${text//@H/$schema}
            done
            if [[ $kind == index_class && -z $number ]]; then continue; fi
            cat <<SQL
RESET SESSION AUTHORIZATION;
SELECT format('ALTER TABLE %s OWNER TO att', t) FROM given(att_tables()) t \gexec
SET SESSION AUTHORIZATION $as;
BEGIN;
$plant;
COMMIT;
RESET SESSION AUTHORIZATION;
SELECT format('ALTER TABLE %s OWNER TO $new', t) FROM given(att_tables()) t \gexec
INSERT INTO planted SELECT '$name', '$table', '$kind' WHERE is_planted();
TRUNCATE public.pwn;
$calls
RESET SESSION AUTHORIZATION;
INSERT INTO ran SELECT DISTINCT '$name', '$table', '$kind', who, via FROM public.pwn;
$undo;
SQL
        done < <(kinds)
    done <<<"$tables" >>"$script"
    psql -X -qAt -v VERBOSITY=terse -f "$script" >"$server/try.log" 2>&1 || true
    expect "$name: no planted code ran" '' "$(q -c "SELECT * FROM ran WHERE call = '$name'")"
    expect "$name: each kind was planted on a table" "$(kinds | wc -l)" "$(q -c "SELECT count(DISTINCT kind) FROM planted WHERE call = '$name'")"
    expect "$name: each table was planted on" '' "$(comm -3 <(cut -d'|' -f1 <<<"$tables" | sort) <(q -c "SELECT DISTINCT of FROM planted WHERE call = '$name'" | sort))"
}
q <<'SQL'
CREATE TABLE public.planted (call text, of text, kind text);
CREATE TABLE public.ran (call text, of text, kind text, who name, via text);
CREATE FUNCTION public.given(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT t FROM unnest($1) t WHERE to_regclass(t) IS NOT NULL';
-- Whether there is something of the name.
CREATE FUNCTION public.is_planted() RETURNS bool LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM pg_class WHERE relname = 'planted' AND relnamespace <> 'public'::regnamespace)
        OR EXISTS (SELECT FROM pg_constraint WHERE conname = 'planted') OR EXISTS (SELECT FROM pg_statistic_ext WHERE stxname = 'planted')
        OR EXISTS (SELECT FROM pg_attribute WHERE attname = 'planted' AND NOT attisdropped) OR EXISTS (SELECT FROM pg_trigger WHERE tgname = 'planted')
        OR EXISTS (SELECT FROM pg_rewrite WHERE rulename = 'planted') OR EXISTS (SELECT FROM pg_policy WHERE polname = 'planted')
        OR EXISTS (SELECT FROM pg_publication WHERE pubname = 'planted') $$;
SQL
# described CONDITION: the tables c for which it holds, each with its schema, its first column, and one of type int4 if there is any.
described() {
    echo "SELECT c.oid::regclass, n.nspname, (SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum LIMIT 1),
        (SELECT quote_ident(a.attname) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND a.atttypid = 'int4'::regtype ORDER BY a.attnum LIMIT 1)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'f') AND $1"
}

# --- The tables of a job ---

q -U att <<'SQL'
CREATE TABLE att.docs (id int PRIMARY KEY, body text);
INSERT INTO att.docs SELECT i, 'the quick brown fox number ' || (i / 2) || ' jumps over the lazy dog again and again' FROM generate_series(1, 20) i;
GRANT SELECT, INSERT, DELETE ON att.docs TO app;
SELECT tools.neardup_watch('att.docs', 0.8);
CALL tools.neardup_refresh('att.docs');
SQL
q -c "CREATE FUNCTION att_tables() RETURNS text[] LANGUAGE sql AS 'SELECT array_agg(c.oid::regclass::text) FROM pg_class c WHERE relnamespace = ''att''::regnamespace AND relname ~ ''^docs'' AND relkind = ''r'''"
calls="SET SESSION AUTHORIZATION app;
INSERT INTO att.docs VALUES (1001, 'the quick brown fox number 1 jumps over the lazy dog again and again');
SET SESSION AUTHORIZATION vic;
CALL tools.neardup_refresh('att.docs');
RESET SESSION AUTHORIZATION;
CALL tools.neardup_refresh('att.docs');
SET SESSION AUTHORIZATION app;
DELETE FROM att.docs WHERE id = 1001;
SET SESSION AUTHORIZATION vic;
CALL tools.neardup_refresh('att.docs');
SELECT count(*) FROM tools.neardup_jobs;
BEGIN; SELECT tools.neardup_unwatch('att.docs'); ROLLBACK;"
try 'a job' "$(described "c.relnamespace = 'att'::regnamespace AND c.relname ~ '^docs_'")" "$calls" vic
expect 'the job works once nothing is planted' 'done' "$(q -c "CALL tools.neardup_refresh('att.docs')")"
expect 'with the right pairs' 0 "$(q -c "SELECT count(*) FROM att.docs_pairs FULL JOIN tools.near_duplicates('att.docs', 0.8) p USING (left_id, right_id) WHERE docs_pairs.similarity IS DISTINCT FROM p.similarity")"

# --- The tables of the extension, which a superuser gave away for a while ---

calls="SET SESSION AUTHORIZATION app;
INSERT INTO att.docs VALUES (1001, 'the quick brown fox number 1 jumps over the lazy dog again and again');
DELETE FROM att.docs WHERE id = 1001;
RESET SESSION AUTHORIZATION;
CALL tools.neardup_refresh('att.docs');
BEGIN; SELECT tools.neardup_unwatch('att.docs'); ROLLBACK;
BEGIN; CREATE TABLE watched (id int PRIMARY KEY, body text); SELECT tools.neardup_watch('watched', 0.8); ROLLBACK;"
q -c "CREATE OR REPLACE FUNCTION att_tables() RETURNS text[] LANGUAGE sql AS 'SELECT array_agg(c.oid::regclass::text) FROM pg_class c WHERE relnamespace = ''tools''::regnamespace AND relkind = ''r'''" -c 'GRANT CREATE ON SCHEMA tools TO att'
try 'the registry' "$(described "c.relnamespace = 'tools'::regnamespace")" "$calls" postgres
q -c 'REVOKE CREATE ON SCHEMA tools FROM att'

# --- The log and the working tables of a call ---

q <<'SQL'
CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity LIKE '%\_candidates') THEN RAISE 'stopped'; END IF;
END $$;
CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at();
GRANT SELECT ON att.docs TO PUBLIC;
GRANT ALL ON SCHEMA att TO PUBLIC;
CREATE OR REPLACE FUNCTION att_tables() RETURNS text[] LANGUAGE sql AS $$ SELECT array_agg(c.oid::regclass::text) FROM pg_class c
    WHERE relnamespace = 'att'::regnamespace AND relname ~ '^(neardup_|found)' AND relkind IN ('r', 'p') $$;
SQL
for how in 'parts => 2' 'parts => 2, incremental => true'; do
    into="CALL tools.near_duplicates_into('att.docs', 0.8, 'att.found', $how)"
    expect_error "$how: a call that is stopped" P0001 stopped "$into" -U att
    calls="SET SESSION AUTHORIZATION vic;
$into;
RESET SESSION AUTHORIZATION;
SELECT count(*) FROM tools.neardup_into_calls();
BEGIN; SELECT tools.neardup_into_clean(run) FROM tools.neardup_into_calls(); ROLLBACK;
SET SESSION AUTHORIZATION boss;
SELECT count(*) FROM tools.neardup_into_calls();
SET SESSION AUTHORIZATION mon;
SELECT count(*) FROM tools.neardup_into_calls();
SET SESSION AUTHORIZATION vic;
SELECT count(*) FROM tools.neardup_into_calls();
BEGIN; SELECT tools.neardup_into_clean(run) FROM tools.neardup_into_calls(); ROLLBACK;"
    for new in vic att; do
        # A superuser, and a member of the role, look at what is still the role's.
        if [[ $new == att ]]; then calls=${calls//SET SESSION AUTHORIZATION vic;*$into;/}; calls=${calls%SET SESSION AUTHORIZATION vic;*}; fi
        try "into, $how, for $new" "$(described "c.relnamespace = 'att'::regnamespace AND c.relname ~ '^(neardup_|found)' AND NOT c.relispartition")" "$calls" "$new"
    done
    q -c "SET ROLE postgres" -c "SELECT tools.neardup_into_clean(run) FROM tools.neardup_into_calls()" >/dev/null
    expect "$how: nothing is left" '' "$(q -c "SELECT relname FROM pg_class WHERE relnamespace = 'att'::regnamespace AND relname ~ '^(neardup_[0-9a-f]|found)'")"
done
q -c 'DROP EVENT TRIGGER stop_at'

# A result that is brought up to date.
into="CALL tools.near_duplicates_into('att.docs', 0.8, 'att.found', clusters => 'att.found_clusters', incremental => true)"
q -U att -c "$into" 2>/dev/null
q -c "GRANT ALL ON att.docs TO PUBLIC"
try 'a result' "$(described "c.relnamespace = 'att'::regnamespace AND c.relname ~ '^(neardup_|found)' AND NOT c.relispartition")" \
    "SET SESSION AUTHORIZATION vic; $into; RESET SESSION AUTHORIZATION; SELECT count(*) FROM tools.neardup_into_calls();" vic

# --- Indexes that users name ---

q -U att <<'SQL'
CREATE TABLE att.d (id int PRIMARY KEY, body text);
INSERT INTO att.d SELECT i, 'the quick brown fox number ' || (i / 2) FROM generate_series(1, 60) i;
CREATE INDEX plain ON att.d USING signature (body);
CREATE INDEX filtered ON att.d USING signature (body) WHERE att.imm('predicate');
CREATE INDEX computed ON att.d USING signature ((CASE WHEN att.imm('expression') THEN body ELSE '' END));
CREATE STATISTICS att.st ON (att.imm('statistics') AND id > 3), (body) FROM att.d;
SQL
for owner in att vic; do
    q -c "ALTER TABLE att.d OWNER TO $owner" -c 'TRUNCATE pwn'
    for role in mon postgres vic; do
        for index in plain filtered computed; do
            for call in "count(*) FROM tools.signature_index_stats('att.$index')" "tools.signature_index_check('att.$index')" \
                "tools.signature_index_check('att.$index', true)" "tools.signature_index_merge('att.$index')"; do
                q -U $role -c "SELECT $call" >/dev/null 2>&1 || true
            done
        done
    done
    expect "an index of $owner's table: no planted code ran" '' "$(q -c 'TABLE pwn')"
done
expect_error 'and the error says whose' 42501 'runs att\.imm\(text\) of att' "SELECT tools.signature_index_check('att.filtered', true)"
q -c 'ALTER TABLE att.d OWNER TO att'
expect 'its owner may' '' "$(q -U att -c "SELECT tools.signature_index_check('att.filtered', true)")"
expect 'a plain index may be checked by all who look after it' '' "$(q -U mon -c "SELECT tools.signature_index_check('att.plain', true)")"
# The values of a column are for those who may read it.
q -U att -c 'CREATE TABLE att.v (id int PRIMARY KEY, k bigint[])' -c "INSERT INTO att.v SELECT i, '{42}' FROM generate_series(1, 9) i" -c 'CREATE INDEX of_values ON att.v USING signature (k)'
shown="SELECT frequent_signatures, frequent_rows FROM tools.signature_index_stats('att.of_values')"
expect 'statistics for a role that may not read the column' '|{9}' "$(q -U mon -c "$shown")"
expect 'and for one that may' '{42}|{9}' "$(q -c 'GRANT SELECT (k) ON att.v TO mon' && q -U mon -c "$shown")"

# --- Types ---

# The owner of the extension, an ordinary role, adds a type of a name that is ours: it is none of ours.
q -c 'CREATE ROLE own LOGIN' -c 'CREATE DATABASE own OWNER own'
expect 'an enum that is called as a sketch is read as text' '1|2|1' "$(q -d own -U own <<'SQL'
CREATE SCHEMA s1;
CREATE EXTENSION neardup SCHEMA s1;
CREATE SCHEMA s9;
CREATE TYPE s9.minhash_sketch AS ENUM ('a', 'b');
ALTER EXTENSION neardup ADD TYPE s9.minhash_sketch;
CREATE TABLE s9.d (id int PRIMARY KEY, body s9.minhash_sketch);
INSERT INTO s9.d VALUES (1, 'a'), (2, 'a'), (3, 'b');
SELECT * FROM s1.near_duplicates('s9.d', 0.8, text_column => 'body', method => 'minhash');
SQL
)"

# --- The catalogues ---

expect 'each catalogue that refers to relations is one of those that are tried, or carries no code' '' "$(q <<'SQL'
SELECT fktable FROM pg_get_catalog_foreign_keys() WHERE pktable = 'pg_class'::regclass
EXCEPT SELECT unnest('{pg_attrdef, pg_attribute, pg_class, pg_constraint, pg_foreign_table, pg_index, pg_inherits, pg_partitioned_table, pg_policy,
    pg_publication_rel, pg_rewrite, pg_statistic, pg_statistic_ext, pg_trigger, pg_type}'::regclass[])
EXCEPT SELECT unnest('{pg_sequence, pg_subscription_rel, pg_depend, pg_description, pg_extension, pg_init_privs, pg_seclabel, pg_shdepend, pg_shdescription, pg_shseclabel}'::regclass[])
SQL
)"
finish
