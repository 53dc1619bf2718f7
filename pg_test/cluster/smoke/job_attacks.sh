#!/usr/bin/env bash
# Jobs under attack by ordinary roles: tables that change hands, tables that are swapped, planted functions, locks, books
# that were written by hand. Nobody gains a right, nobody's table is touched, and no write of a user fails.
# shellcheck disable=SC2154 # server, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'autovacuum = off'

q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN;
CREATE ROLE carol LOGIN;
CREATE ROLE watcher LOGIN IN ROLE pg_monitor;
CREATE SCHEMA alices AUTHORIZATION alice;
GRANT USAGE ON SCHEMA alices TO PUBLIC;
-- As whom planted code ran. What it tries succeeds for a superuser only.
CREATE TABLE seen (who name DEFAULT current_user, what text);
GRANT INSERT, SELECT ON seen TO PUBLIC;
CREATE FUNCTION note(what text) RETURNS void LANGUAGE sql AS 'INSERT INTO public.seen (what) VALUES (what)';
GRANT CREATE ON SCHEMA public TO bob;
-- A table with a job, of whoever runs it.
CREATE FUNCTION new_docs(docs text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %s (id int PRIMARY KEY, body text)', docs);
    EXECUTE format('INSERT INTO %s VALUES (1, ''one two three four''), (2, ''one two three four five''), (3, ''something else'')', docs);
    PERFORM public.neardup_watch(docs::regclass, 0.8);
END
$$;
-- What a job has that a join has not, and the other way round.
CREATE FUNCTION wrong(docs regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT SELECT * FROM near_duplicates(%2$L, 0.8)) UNION ALL (SELECT * FROM near_duplicates(%2$L, 0.8) EXCEPT TABLE %1$s)) d',
        (SELECT pairs FROM neardup_all_jobs j WHERE j.docs = wrong.docs), docs) INTO wrong;
    RETURN wrong;
END
$$;
SQL

# as ROLE SQL…: each statement in a transaction of its own.
as() {
    local role=$1 statements=()
    shift
    for sql in "$@"; do statements+=(-c "$sql"); done
    q -U "$role" "${statements[@]}"
}
# expect_as NAME EXPECTED ROLE SQL…: what comes of it, errors and notices included.
expect_as() {
    local seen
    seen=$(as "${@:3}" 2>&1 | grep . || true)
    expect "$1" "$2" "$seen"
}
# expect_refused NAME SQLSTATE PATTERN ROLE SQL
expect_refused() { expect_error "$1" "$2" "$3" "$5" -U "$4"; }

# --- Tables that change hands ---

# Whoever makes somebody else run this wins.
as alice "CREATE FUNCTION alices.spy() RETURNS trigger LANGUAGE plpgsql AS \$\$
    BEGIN
        PERFORM public.note(TG_TABLE_NAME);
        BEGIN EXECUTE 'ALTER ROLE alice SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
        RETURN NEW;
    END\$\$" "SELECT new_docs('alices.docs')" "CALL neardup_refresh('alices.docs')" >/dev/null
for table in neardup pairs clusters neardup_lists; do
    as alice "CREATE TRIGGER spy BEFORE INSERT OR UPDATE OR DELETE ON alices.docs_$table FOR EACH ROW EXECUTE FUNCTION alices.spy()" \
        "CREATE TRIGGER spies AFTER INSERT OR UPDATE OR DELETE ON alices.docs_$table FOR EACH STATEMENT EXECUTE FUNCTION alices.spy()"
done
q -c 'GRANT SELECT, INSERT, UPDATE, DELETE ON alices.docs TO carol, watcher' -c 'GRANT carol TO watcher'
for owner in postgres carol; do
    q -c "ALTER TABLE alices.docs OWNER TO $owner" -c 'DELETE FROM seen'
    for role in postgres carol watcher alice; do
        if [[ $role == alice ]]; then q -c 'GRANT ALL ON alices.docs TO alice'; fi
        expect_as "docs are $owner's now, and $role writes" '' $role "INSERT INTO alices.docs VALUES (10, 'one two three four')" \
            "UPDATE alices.docs SET body = 'one two three' WHERE id = 10" "DELETE FROM alices.docs WHERE id = 10"
    done
    expect_refused "a refresh of $owner's docs with alice's tables" 55000 \
        "alices\.docs_neardup of the job of alices\.docs belongs to alice, and alices\.docs to $owner.*ALTER TABLE alices\.docs_neardup OWNER TO $owner;|HINT" \
        postgres "CALL neardup_refresh('alices.docs')"
    if [[ $owner == carol ]]; then
        expect_refused 'also as carol' 55000 'ALTER TABLE alices.docs_neardup OWNER TO carol' carol "CALL neardup_refresh('alices.docs')"
        expect_refused 'and as a member of pg_monitor' 55000 'OWNER TO carol' watcher "CALL neardup_refresh('alices.docs')"
        expect_refused 'and no longer as alice' 42501 'must be owner of alices\.docs' alice "CALL neardup_refresh('alices.docs')"
    fi
    expect_sql "nobody else ran alice's code under $owner" '' "SELECT DISTINCT who FROM seen WHERE who <> 'alice'"
done
# The statement that mends it, until nothing is in the way but alice's triggers: these never run as somebody else.
mended=0
while ((mended < 8)); do
    seen=$(q -c "CALL neardup_refresh('alices.docs')" 2>&1) || true
    mend=$(sed -n 's/.*one owner: \(ALTER TABLE .*;\)$/\1/p' <<<"$seen")
    if [[ -z $mend ]]; then break; fi
    q -c "$mend"
    mended=$((mended + 1))
done
expect "every table of the job was named" 4 "$mended"
expect_sql "and nobody ran alice's triggers when they were carol's tables" '' "SELECT DISTINCT who FROM seen WHERE who <> 'alice'"
expect_refused 'but they are named' 55000 'spies?.*(not|of alice)|of alice' carol "CALL neardup_refresh('alices.docs')"
for table in neardup pairs clusters neardup_lists; do
    q -c "DROP TRIGGER spy ON alices.docs_$table" -c "DROP TRIGGER spies ON alices.docs_$table"
done
q -c 'GRANT ALL ON SCHEMA alices TO carol'
expect_as 'mended, it goes on, with what was written meanwhile' $'done\n0' postgres \
    "INSERT INTO alices.docs VALUES (11, 'one two three four five six')" "CALL neardup_refresh('alices.docs')" "SELECT wrong('alices.docs')"

# What a table keeps when it changes hands may be code that stands in no trigger: a domain, a default that has a function of the
# server run a text, a check, an index over a domain, the condition of a trigger.
as alice "CREATE FUNCTION alices.evil(text) RETURNS bool LANGUAGE plpgsql AS \$\$ BEGIN PERFORM public.note(\$1); RETURN true; END \$\$" \
    "CREATE DOMAIN alices.evil_domain AS text DEFAULT 'x' CHECK (alices.evil('domain'))" \
    "CREATE DOMAIN alices.evil_number AS int8 CHECK (alices.evil('number'))" >/dev/null
planted=0
for table in neardup pairs clusters neardup_lists; do
    case $table in pairs) column=left_id ;; clusters) column=cluster_id ;; neardup) column=id ;; *) column=segment ;; esac
    for plant in "ADD COLUMN more alices.evil_domain" "ADD COLUMN more xml DEFAULT query_to_xml('SELECT alices.evil(''xml'')', false, false, '')" \
        "ADD COLUMN more text GENERATED ALWAYS AS ('x') STORED" "ADD CHECK (alices.evil('check')) NOT VALID" "ADD COLUMN more int" \
        "INDEX ON TABLE_ (($column::alices.evil_number))" "TRIGGER t AFTER INSERT ON TABLE_ FOR EACH ROW WHEN (query_to_xml('SELECT alices.evil(''when'')', false, false, '') IS NULL) EXECUTE FUNCTION suppress_redundant_updates_trigger()"; do
        planted=$((planted + 1))
        docs=alices.handed$planted
        as alice "SELECT new_docs('$docs')" "CALL neardup_refresh('$docs')" >/dev/null
        case $plant in
            ADD*) as alice "ALTER TABLE ${docs}_$table $plant" ;;
            *) as alice "CREATE ${plant//TABLE_/${docs}_$table}" ;;
        esac
        for of in '' _neardup _pairs _clusters _neardup_lists; do q -c "ALTER TABLE $docs$of OWNER TO carol"; done
        q -c 'DELETE FROM seen'
        as carol "INSERT INTO $docs VALUES (20, 'one two three four')" >/dev/null
        if [[ $plant == 'ADD COLUMN more int' && $table =~ pairs|clusters ]]; then
            expect_as "handed over: $table with a further column" 'done' carol "CALL neardup_refresh('$docs')"
        else
            expect_refused "handed over: $table $plant" 55000 'is not as the job of .* made it' carol "CALL neardup_refresh('$docs')"
        fi
        expect_sql "and nothing of it ran: $table $plant" '' "SELECT who, what FROM seen"
        q -c "SET client_min_messages = error" -c "SELECT neardup_unwatch('$docs')" -c "DROP TABLE $docs" >/dev/null
    done
done

# Unwatch always works, whoever owns what.
for case in carol:carol alice:alice postgres:postgres carol:postgres; do
    owner=${case%:*} caller=${case#*:}
    q -c 'SET client_min_messages = error' -c 'DROP SCHEMA IF EXISTS u CASCADE' -c 'CREATE SCHEMA u' -c 'GRANT ALL ON SCHEMA u TO PUBLIC'
    as alice "SELECT new_docs('u.docs')" "CALL neardup_refresh('u.docs')" >/dev/null
    q -c "ALTER TABLE u.docs OWNER TO $owner"
    left=
    if [[ $case == carol:carol ]]; then
        left="NOTICE:  left as they are, since they are not the caller's or not of this job: u.docs_pairs, u.docs_clusters, u.docs_neardup, u.docs_neardup_lists"
    fi
    expect_as "unwatch of $owner's docs with alice's tables, by $caller" "$left" "$caller" "SELECT neardup_unwatch('u.docs')"
    expect_sql "the tables after $case" "$([[ -z $left ]] && echo 0 || echo 4)" "SELECT count(*) FROM pg_class WHERE relname ~ '^docs_' AND relkind = 'r' AND relnamespace = 'u'::regnamespace"
    expect_sql "no trigger and no job after $case" '0|0' "SELECT (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'u.docs'::regclass), (SELECT count(*) FROM neardup_all_jobs WHERE docs = 'u.docs'::regclass)"
done
q -c 'SET client_min_messages = error' -c 'DROP SCHEMA u CASCADE'
as alice "SELECT new_docs('alices.kept')" "CALL neardup_refresh('alices.kept')" >/dev/null
q -c 'ALTER TABLE alices.kept OWNER TO carol'
expect_refused 'the owner of before may not' 42501 'must be owner of alices\.kept' alice "SELECT neardup_unwatch('alices.kept')"
expect_as 'results that are kept stay whose they are' "NOTICE:  left as they are, since they are not the caller's or not of this job: alices.kept_neardup, alices.kept_neardup_lists" \
    carol "SELECT neardup_unwatch('alices.kept', keep_results => true)"
expect_sql 'also when the table goes' 'alice|1' "DROP TABLE alices.kept; SELECT relowner::regrole, (SELECT count(*) FROM alices.kept_pairs) FROM pg_class WHERE oid = 'alices.kept_pairs'::regclass"

# What the owner lets an index of the job's table compute runs as nobody for whoever writes, who says where things are found. From
# 17 on CREATE INDEX has a path of its own, on which there is no helper.
as alice "SELECT new_docs('alices.indexed')" "CALL neardup_refresh('alices.indexed')" 'GRANT INSERT ON alices.indexed TO bob' \
    'CREATE FUNCTION alices.helper() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$' \
    'CREATE FUNCTION alices.waits(change int2) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM helper(); RETURN change IS NOT NULL; EXCEPTION WHEN undefined_function THEN RETURN change IS NOT NULL; END $$' \
    'DROP INDEX alices.indexed_neardup_change_id_idx' 'SET search_path = alices, public' \
    'CREATE INDEX ON alices.indexed_neardup (change, id) WHERE alices.waits(change)' >/dev/null
q -c 'DELETE FROM seen' -c 'CREATE SCHEMA bobs AUTHORIZATION bob' -c 'GRANT USAGE ON SCHEMA bobs TO PUBLIC'
expect_as 'a planted helper under the path of who writes' '' bob \
    "CREATE FUNCTION bobs.helper() RETURNS int LANGUAGE sql AS \$\$ SELECT public.note('bob: helper'); SELECT 1 \$\$" \
    'SET search_path = bobs, public' "INSERT INTO alices.indexed VALUES (20, 'one two three four')"
expect_sql 'is run by nobody' '' 'SELECT who, what FROM seen'
as alice 'DROP INDEX alices.indexed_neardup_change_id_idx' 'CREATE INDEX ON alices.indexed_neardup (change, id) WHERE change IS NOT NULL'
expect_as 'and what was written is found' $'done\n0' postgres "CALL neardup_refresh('alices.indexed')" "SELECT wrong('alices.indexed')"

# --- Tables that are swapped ---

# mallory owns the schema, alice her tables in it.
q <<'SQL'
CREATE ROLE mallory LOGIN;
CREATE SCHEMA shared AUTHORIZATION mallory;
GRANT CREATE ON SCHEMA public TO mallory;
GRANT ALL ON SCHEMA shared TO alice;
GRANT mallory TO postgres;
SET ROLE mallory;
CREATE FUNCTION shared.spy() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.note('mallory: ' || TG_TABLE_NAME); RETURN NEW; END $$;
-- The tables of a job of docs in a schema, with triggers.
CREATE FUNCTION public.plant(schema text, only_pairs bool DEFAULT false) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    part text;
BEGIN
    FOREACH part IN ARRAY CASE WHEN only_pairs THEN '{pairs}' ELSE '{pairs,clusters,neardup,neardup_lists,docs}'::text[] END LOOP
        EXECUTE format('CREATE TABLE %1$I.%2$I (%3$s); GRANT ALL ON %1$I.%2$I TO PUBLIC; CREATE TRIGGER spy AFTER INSERT OR UPDATE OR DELETE ON %1$I.%2$I EXECUTE FUNCTION %4$s()',
            schema, CASE part WHEN 'docs' THEN '' ELSE 'docs_' END || part, CASE part
                WHEN 'pairs' THEN 'left_id int NOT NULL, right_id int NOT NULL, similarity float8 NOT NULL, PRIMARY KEY (left_id, right_id)'
                WHEN 'clusters' THEN 'cluster_id int NOT NULL, id int NOT NULL, representative bool NOT NULL, PRIMARY KEY (id, cluster_id)'
                WHEN 'neardup' THEN 'id int NOT NULL, hash uuid, change int2'
                WHEN 'docs' THEN 'id int PRIMARY KEY, body text'
                ELSE 'kind "char" NOT NULL, segment int8 NOT NULL, part int4 NOT NULL, documents int4, data bytea, ids text[]' END,
            (SELECT p.oid::regproc FROM pg_proc p WHERE p.proname = 'spy' AND p.proowner = 'mallory'::regrole));
    END LOOP;
END
$$;
RESET ROLE;
GRANT CREATE ON DATABASE postgres TO mallory;
GRANT ALL ON SCHEMA shared TO PUBLIC;
SQL
q -c 'DELETE FROM seen'
as alice "SELECT new_docs('shared.docs')" "CALL neardup_refresh('shared.docs')" >/dev/null
as mallory 'DROP TABLE shared.docs_pairs' "SELECT plant('shared', true)" >/dev/null
for role in alice postgres; do
    expect_as "a swapped table: $role writes" '' $role "INSERT INTO shared.docs VALUES (20, 'one two three four')" 'DELETE FROM shared.docs WHERE id = 20'
    expect_refused "a swapped table: $role refreshes" 42P01 'tables of the job of shared\.docs are gone: pairs.*|HINT:  Begin anew' $role "CALL neardup_refresh('shared.docs')"
done
as alice "SELECT neardup_unwatch('shared.docs')" >/dev/null
expect_refused 'what mallory put there is in the way of a new job' 42P07 'docs_pairs.* already exists' alice "SELECT neardup_watch('shared.docs', 0.8)"
as mallory 'DROP TABLE shared.docs_pairs'

# In the middle of a refresh. It waits in a trigger of alice's own, as long as there is a row in stop.
as alice "SELECT neardup_watch('shared.docs', 0.8)" 'CREATE TABLE alices.stop (x int)' "CREATE FUNCTION alices.stop_and_wait() RETURNS trigger LANGUAGE plpgsql AS \$\$
    BEGIN WHILE EXISTS (SELECT FROM alices.stop) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END\$\$" >/dev/null
stop_at() { as alice "CREATE TRIGGER stop_and_wait AFTER INSERT OR DELETE ON $1 EXECUTE FUNCTION alices.stop_and_wait()"; }
begin_refresh() { # ROLE DOCS [BATCH_ROWS]
    as alice 'INSERT INTO alices.stop VALUES (1)'
    psql -X -U "$1" -qAt -v VERBOSITY=verbose -c "CALL neardup_refresh('$2', batch_rows => ${3:-1000})" >"$server/first" 2>&1 &
    client=$!
    until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'CALL neardup_refresh%'") == 1 ]]; do :; done
}
go_on() {
    as alice 'DELETE FROM alices.stop'
    wait "$client" || true
}
for part in pairs neardup; do
    stop_at "shared.docs_$part"
    for role in alice postgres; do
        as alice "UPDATE shared.docs SET body = body || ' more'"
        begin_refresh $role shared.docs
        as mallory 'ALTER SCHEMA shared RENAME TO away' 'CREATE SCHEMA shared' "SELECT plant('shared')" 'GRANT ALL ON SCHEMA shared TO PUBLIC' >/dev/null
        go_on
        expect "the schema of $role's refresh is another one in the middle, at $part" 55000 "$(sed -n 's/^ERROR:  \([0-9A-Z]*\):.*/\1/p' "$server/first")"
        as mallory 'DROP SCHEMA shared CASCADE' 'ALTER SCHEMA away RENAME TO shared' 2>/dev/null
        expect_as "and as it was: $role's next refresh" $'done\n0' postgres "CALL neardup_refresh('shared.docs')" "SELECT wrong('shared.docs')"
    done
    as alice "DROP TRIGGER stop_and_wait ON shared.docs_$part"
done
expect_sql "nobody ran mallory's code" '' "SELECT DISTINCT who, what FROM seen WHERE what LIKE 'mallory%'"
# While the schema goes to and fro writers find their way.
cat >"$server/renames.sql" <<'SQL'
ALTER SCHEMA shared RENAME TO away; ALTER SCHEMA away RENAME TO shared;
SQL
for _ in {1..400}; do cat "$server/renames.sql"; done | psql -X -q -U mallory >/dev/null 2>&1 &
renames=$!
for n in {1..400}; do
    echo "INSERT INTO docs VALUES ($((n + 1000)), 'one two three four $n'); UPDATE docs SET body = body || ' and' WHERE id = $((n + 1000));"
done | PGOPTIONS='-c search_path=shared,away' psql -X -q -U alice >"$server/writer" 2>&1
wait "$renames"
expect 'writers while a schema is renamed: no error of ours' '' "$(grep -vE 'relation "docs" does not exist|^LINE|^ *\^|^(INSERT|UPDATE) ' "$server/writer" | head -n 5)"
expect_as 'and no row is lost' $'done\n0' postgres "CALL neardup_refresh('shared.docs')" "SELECT wrong('shared.docs')"

# --- Planted functions, operators and tables ---

# In the extension's schema, and in front of pg_catalog: what binds better than ours would be run by everybody.
q -c 'DELETE FROM seen' -c 'GRANT CREATE ON SCHEMA public TO alice'
{
    signature() { # NAME ARGUMENTS RESULT
        local value=NULL
        if [[ $3 == SETOF* ]]; then value=''; fi
        echo "CREATE FUNCTION public.$1($2) RETURNS $3 LANGUAGE plpgsql AS \$\$BEGIN PERFORM public.note('planted $1'); RETURN $value; END\$\$;"
    }
    signature near_duplicates 'regclass, float8, int8' 'bool'
    signature near_duplicates 'regclass, numeric' 'bool'
    signature near_duplicate_clusters 'regclass, numeric' 'bool'
    signature clusters_of_pairs 'varchar, int8' 'bool'
    signature clusters_of_pairs 'text, regtype' 'bool'
    signature neardup_job_hash varchar uuid
    signature neardup_job_hash anyelement uuid
    signature neardup_rows varchar 'SETOF record'
    signature neardup_rows anyelement 'SETOF record'
    signature neardup_rows 'VARIADIC text[]' 'SETOF record'
    signature neardup_refresh_step 'regclass, timestamptz, int8' text
    signature neardup_refresh_step 'oid, timestamptz, int4' text
    # What could be meant as well, if the type of the last argument of ours were not only ours to declare functions with.
    signature neardup_refresh_step 'regclass, timestamptz, int4, int4 DEFAULT 0' text
    signature neardup_refresh_step 'regclass, timestamptz, int4, anyenum, int4 DEFAULT 0' text
    signature neardup_job_hash 'text, int4 DEFAULT 0' uuid
    signature neardup_job_hash 'text, anyenum, int4 DEFAULT 0' uuid
    signature neardup_rows 'text, int4 DEFAULT 0' 'SETOF record'
    signature neardup_rows 'text, anyenum, int4 DEFAULT 0' 'SETOF record'
    signature neardup_watch 'regclass, numeric' bool
    signature format 'text, name' text
    signature format 'text, VARIADIC name[]' text
    signature concat 'text, text, text' text
    signature concat 'text, text' text
    signature concat_ws 'text, text, oid, text, text' text
    signature jsonb_build_object 'text, text' jsonb
    signature unnest 'int4[]' bool
    signature unnest 'int8[]' bool
    signature array_agg int4 'int4[]'
    signature encode 'bytea, text' text
    signature sha256 bytea bytea
    signature now '' timestamptz
    signature clock_timestamp '' timestamptz
    signature quote_nullable text text
    signature pg_has_role 'oid, text' bool
    n=0
    for operator in '||' '=' '<>' '<' '<=' '+' '*' '-'; do
        for types in 'text text' 'int4 int4' 'int8 int8' 'int4 int8' 'int2 int4' 'oid oid' 'regclass regclass' 'regclass oid' 'name name' 'name text' 'text name' '"char" "char"' 'uuid uuid' 'bool bool' 'timestamptz timestamptz'; do
            read -r left right <<<"$types"
            n=$((n + 1))
            signature "planted$n" "$left, $right" "$([[ $operator == '||' ]] && echo text || echo bool)"
            echo "CREATE OPERATOR public.$operator (LEFTARG = $left, RIGHTARG = $right, FUNCTION = public.planted$n);"
        done
    done
    for table in pg_class pg_trigger pg_proc pg_depend pg_inherits pg_extension pg_namespace pg_subscription_rel; do
        echo "CREATE VIEW public.$table AS SELECT * FROM pg_catalog.$table WHERE public.note('planted $table') IS NULL;"
    done
} >"$server/plants.sql"
q -U bob -f "$server/plants.sql" >"$server/planted" 2>&1 || true
expect 'bob can plant' '' "$(cat "$server/planted")"
expect_refused 'but no function that a call of ours could mean as well' 42501 'permission denied for type neardup_internal' bob \
    'CREATE FUNCTION public.neardup_refresh_step(regclass, timestamptz, int4, neardup_internal, int4 DEFAULT 0) RETURNS text LANGUAGE sql RETURN NULL'
for path in 'public, pg_catalog' '"$user", public'; do
    for role in alice postgres; do
        # psql's own statements have to name things in full where these are planted.
        q -U $role >"$server/planted" 2>&1 <<SQL || true
SET search_path = pg_catalog;
CREATE TABLE alices.target (id int PRIMARY KEY, body text);
INSERT INTO alices.target VALUES (1, 'one two three four'), (2, 'one two three four five'), (3, 'something else');
CREATE TEMP TABLE pg_class (relname text);
CREATE TEMP TABLE pg_trigger (x int);
CREATE TEMP TABLE neardup_all_jobs (docs regclass, pairs regclass, clusters regclass, state regclass, lists regclass, settings jsonb, seen text);
CREATE TEMP TABLE neardup_unnoted (docs oid);
CREATE TEMP TABLE target_neardup (id int, hash uuid, change int2);
SET search_path = $path;
SELECT public.neardup_watch('alices.target'::pg_catalog.regclass, 0.8::pg_catalog.float8);
INSERT INTO alices.target SELECT i, 'more of them ' OPERATOR(pg_catalog.||) i::pg_catalog.text FROM pg_catalog.generate_series(10, 40) i;
CALL public.neardup_refresh('alices.target'::pg_catalog.regclass, batch_rows => 7);
UPDATE alices.target SET body = 'one two three four' WHERE id OPERATOR(pg_catalog.=) 3;
DELETE FROM alices.target WHERE id OPERATOR(pg_catalog.=) 2;
CALL public.neardup_refresh('alices.target'::pg_catalog.regclass);
TABLE alices.target_pairs;
SELECT pairs FROM public.neardup_jobs WHERE docs OPERATOR(pg_catalog.=) 'alices.target'::pg_catalog.regclass;
SELECT public.neardup_unwatch('alices.target'::pg_catalog.regclass);
SQL
        expect "$role's job among planted things, search_path $path" $'done\ndone\n1|3|1\nalices.target_pairs' "$(grep . "$server/planted")"
        expect_sql "none of which ran for $role with $path" '' 'SELECT DISTINCT who, what FROM public.seen'
        q -c 'DROP TABLE IF EXISTS alices.target'
    done
done
q -c 'DROP OWNED BY bob'

# --- Locks and transactions ---

as alice "SELECT new_docs('alices.locked')" >/dev/null
number=$(q -c "SELECT 'alices.locked'::regclass::oid")
# Every lock that an outsider can take which may stand for the job.
coproc outsider { psql -X -qAt -U bob; }
outsider_client=$outsider_PID
{
    for lock in "1852073328, $number" "$number, 1852073328" "0, $number" "$number, 0" "$number" "hashtext('neardup')" "hashtext('neardup'), $number" "hashtext('neardup_refresh'), $number"; do
        echo "SELECT pg_advisory_lock($lock) IS NULL;"
    done
    echo "BEGIN; SELECT count(*) > 0 FROM neardup_jobs; LOCK TABLE neardup_jobs IN ACCESS SHARE MODE; SELECT 'locked';"
} >&"${outsider[1]}"
while read -r line <&"${outsider[0]}"; do if [[ $line == locked ]]; then break; fi; done
expect_as 'no outsider holds the lock of a job' $'done\n0' alice "CALL neardup_refresh('alices.locked')" 'RESET ALL' "SELECT count(*) FROM alices.locked_neardup WHERE change IS NOT NULL"
for mode in 'ACCESS SHARE' 'ROW EXCLUSIVE' 'ACCESS EXCLUSIVE'; do
    for table in neardup_all_jobs neardup_all_history neardup_unnoted; do
        expect_refused "nobody locks $table in $mode mode" 42501 'permission denied' bob "BEGIN; LOCK TABLE $table IN $mode MODE"
    done
done
echo '\q' >&"${outsider[1]}"
wait "$outsider_client" 2>/dev/null || true

# A refresh within a block that can fail, then one of another session, while the first session lives on.
q -c "CREATE TABLE alices.compared (id int PRIMARY KEY, body text); ALTER TABLE alices.compared OWNER TO alice"
as alice "SELECT neardup_watch('alices.compared', 0.8, detect => 'compare')" >/dev/null
seen=$(
    q -U alice 2>&1 <<SQL
INSERT INTO alices.compared VALUES (1, 'one two three'), (2, 'one two three');
DO \$\$ DECLARE s text; BEGIN BEGIN CALL neardup_refresh('alices.compared', s); EXCEPTION WHEN OTHERS THEN RAISE WARNING '%: %', SQLSTATE, left(SQLERRM, 31); END; END \$\$;
SELECT count(*) FROM alices.compared_neardup;
\\! psql -X -qAt -U alice -c "CALL neardup_refresh('alices.compared')"
TABLE alices.compared_pairs;
INSERT INTO alices.compared VALUES (3, 'one two three');
DO \$\$ DECLARE s text; BEGIN BEGIN CALL neardup_refresh('alices.compared', s); EXCEPTION WHEN OTHERS THEN NULL; END; END \$\$;
CALL neardup_refresh('alices.compared');
SELECT count(*) FROM alices.compared_pairs;
INSERT INTO alices.compared VALUES (4, 'one two three');
\\! psql -X -qAt -U alice -c "CALL neardup_refresh('alices.compared')"
SELECT count(*) FROM alices.compared_pairs;
SQL
)
expect 'a refresh that may fail does nothing, and is in nobody'\''s way' \
    $'WARNING:  2D000: invalid transaction termination\n0\ndone\n1|2|1\ndone\n3\ndone\n6' "$seen"
hint='HINT:  Call it by itself, with autocommit on.*CALL neardup_refresh\(.alices\.compared.\);'
for begin in 'BEGIN' 'BEGIN; SAVEPOINT one' 'BEGIN ISOLATION LEVEL SERIALIZABLE'; do
    expect_refused "not after $begin" 2D000 'invalid transaction termination: ' alice "$begin; CALL neardup_refresh('alices.compared')"
    expect_refused "with a hint after $begin" 2D000 "$hint" alice "$begin; CALL neardup_refresh('alices.compared')"
done
as alice "CREATE FUNCTION alices.wrapped() RETURNS text LANGUAGE plpgsql AS \$\$DECLARE s text; BEGIN CALL neardup_refresh('alices.compared', s); RETURN s; END\$\$"
expect_refused 'nor in a function' 2D000 "$hint" alice 'SELECT alices.wrapped()'
expect_refused 'nor twice in one message' 2D000 "$hint" alice "SELECT 1; CALL neardup_refresh('alices.compared')"
expect_as 'in a DO that can commit it works' '' alice "DO \$\$DECLARE s text; BEGIN CALL neardup_refresh('alices.compared', s); CALL neardup_refresh('alices.locked', s); END\$\$"
expect_as 'also where transactions are serializable by default' $'done\n0' alice "ALTER ROLE alice SET default_transaction_isolation = 'serializable'" \
    "CALL neardup_refresh('alices.compared')" "SELECT count(*) FROM alices.compared_neardup WHERE change IS NOT NULL"
q -c 'ALTER ROLE alice RESET ALL'

# The step by hand: as refused as the whole in the wrong place, and it leaves no lock behind.
for call in "'alices.compared', now(), 1" "'alices.compared', '-infinity', 2147483647"; do
    expect_refused "a step by hand: $call" 2D000 "$hint" alice "SELECT neardup_internal.neardup_refresh_step($call)"
done
expect_refused 'of too few rows' 22023 'batch_rows must be at least 1, not -5' alice "SELECT neardup_internal.neardup_refresh_step('alices.compared', now(), -5)"
for call in "NULL, now(), 1" "'alices.compared', NULL, 1" "'alices.compared', now(), NULL"; do
    expect_refused "a step of nothing: $call" 22004 'must not be NULL' alice "SELECT neardup_internal.neardup_refresh_step($call)"
done
expect_refused "of somebody else's" 42501 'must be owner' bob "SELECT neardup_internal.neardup_refresh_step('alices.compared', now(), 1)"
expect_refused 'of no relation' 42P01 'does not exist' alice 'SELECT neardup_internal.neardup_refresh_step(4000000000::oid::regclass, now(), 1)'
expect_refused 'of an index' 42809 'is not a table' alice "SELECT neardup_internal.neardup_refresh_step('alices.compared_pkey', now(), 1)"
expect_refused 'the trigger by hand' 39P01 'is a trigger of neardup_watch' alice 'SELECT neardup_internal.neardup_changed()'
expect_sql 'no lock is left' 0 "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND classid = 'neardup_all_jobs'::regclass"

# --- Who sees what ---

q -c 'CREATE SCHEMA carols AUTHORIZATION carol' -c 'CREATE ROLE dave LOGIN IN ROLE carol'
as carol "SELECT new_docs('carols.docs')" "CALL neardup_refresh('carols.docs')" >/dev/null
q -c 'DROP TABLE alices.docs'
for role in carol dave; do
    expect_as "$role sees carol's jobs" $'carols.docs|carols.docs_pairs\ncarols.docs|done|3' $role 'SELECT docs, pairs FROM neardup_jobs' 'SELECT docs, status, rows FROM neardup_history'
done
expect_as 'bob sees none' $'0\n0' bob 'SELECT count(*) FROM neardup_jobs' 'SELECT count(*) FROM neardup_history'
q -c 'CREATE SCHEMA bobs AUTHORIZATION bob'
as bob "CREATE FUNCTION bobs.leak(anyelement) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS \$\$BEGIN RAISE NOTICE 'leaked %', \$1; RETURN true; END\$\$"
expect_as 'nor does a cheap function in his query' '' bob 'SELECT * FROM neardup_jobs WHERE bobs.leak(docs) AND bobs.leak(settings)' 'SELECT * FROM neardup_history WHERE bobs.leak(docs)'
for table in neardup_all_jobs neardup_all_history neardup_unnoted; do
    expect_refused "$table is not for bob" 42501 'permission denied' bob "TABLE $table"
    for write in "DELETE FROM $table" "INSERT INTO $table (docs) VALUES (1)" "TRUNCATE $table" "CREATE TRIGGER t AFTER INSERT ON $table EXECUTE FUNCTION bobs.leak()"; do
        expect_refused "bob: $write" 42501 '(permission denied|must be owner)' bob "$write"
    done
done
for view in neardup_jobs neardup_history; do
    expect_refused "no writing through $view" 42501 'permission denied' carol "DELETE FROM $view"
done

# --- Tables that are dropped ---

as alice "SELECT new_docs('alices.gone')" "CALL neardup_refresh('alices.gone')" >/dev/null
expect_as 'a dropped table takes its job along' '0' alice 'DROP TABLE alices.gone' "SELECT count(*) FROM pg_class WHERE relname ~ '^gone_'"
# Somebody holds every row of the books.
coproc holder { q; }
holder_client=$holder_PID
echo "BEGIN; SELECT count(*) FROM (SELECT FROM neardup_all_jobs FOR UPDATE) j; SELECT count(*) FROM (SELECT FROM neardup_all_history FOR UPDATE) r; SELECT 'held';" >&"${holder[1]}"
while read -r line <&"${holder[0]}"; do if [[ $line == held ]]; then break; fi; done
short='-c lock_timeout=2s'
PGOPTIONS=$short expect_as 'a new table of the name is watched, and others are written' '' alice "SELECT new_docs('alices.gone')" \
    "INSERT INTO alices.locked VALUES (50, 'one two three four')" "UPDATE alices.locked SET body = body || ' x'" "DELETE FROM alices.locked WHERE id = 50" \
    "INSERT INTO alices.gone VALUES (50, 'one two three four')" 'TRUNCATE alices.compared'
PGOPTIONS=$short expect_as 'and refreshed' 'done' alice "CALL neardup_refresh('alices.gone')"
PGOPTIONS=$short expect_as 'where its own row is held a refresh is skipped' 'skipped' alice "CALL neardup_refresh('alices.locked')"
echo 'ROLLBACK; \q' >&"${holder[1]}"
wait "$holder_client" 2>/dev/null || true
expect_as 'nothing of the dropped one is left' $'done\n0' postgres "CALL neardup_refresh('alices.locked')" \
    'SELECT count(*) FROM neardup_all_jobs j WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = j.docs)'
# Dropped in other ways.
q -c 'CREATE SCHEMA passing AUTHORIZATION alice'
as alice "SELECT new_docs('passing.docs')" "CALL neardup_refresh('passing.docs')" >/dev/null
expect_as 'with its schema' '' alice 'SET client_min_messages = error; DROP SCHEMA passing CASCADE'
q -c 'CREATE SCHEMA passing' -c 'CREATE ROLE eve LOGIN' -c 'GRANT ALL ON SCHEMA passing TO eve'
as eve "SELECT new_docs('passing.docs')" "CALL neardup_refresh('passing.docs')" >/dev/null
expect_as 'with its owner' '' postgres 'DROP OWNED BY eve' 'DROP ROLE eve'
as alice 'DROP TABLE alices.gone_clusters'
expect_refused 'a job table by itself' 42P01 'tables of the job of alices\.gone are gone: clusters' alice "CALL neardup_refresh('alices.gone')"
expect_as 'and begun anew' $'done' alice "SELECT neardup_unwatch('alices.gone')" "SELECT neardup_watch('alices.gone', 0.8)" "CALL neardup_refresh('alices.gone')"
as alice "SELECT neardup_unwatch('alices.gone')" >/dev/null
for _ in 1 2; do
    psql -X -qAt -U alice -v VERBOSITY=sqlstate -c 'BEGIN' -c "SELECT neardup_watch('alices.gone', 0.8)" -c 'SELECT pg_sleep(0.3)' -c COMMIT &
done >"$server/twice" 2>&1
wait
expect 'two at a time: one is told that it is watched' 'ERROR:  42710' "$(grep -m 1 ERROR "$server/twice")"

# Groups and sources of types whose casts and checks are code of the owner: it runs as the owner only, in refreshes by anybody.
as alice "CREATE TYPE alices.kind AS ENUM ('a', 'b')" "CREATE FUNCTION alices.shown(alices.kind) RETURNS text LANGUAGE plpgsql AS \$\$
    BEGIN
        PERFORM public.note('cast');
        BEGIN EXECUTE 'ALTER ROLE alice SUPERUSER'; EXCEPTION WHEN OTHERS THEN NULL; END;
        RETURN CASE \$1 WHEN 'a' THEN 'a' ELSE 'b' END;
    END\$\$" 'CREATE CAST (alices.kind AS text) WITH FUNCTION alices.shown(alices.kind)' \
    "CREATE DOMAIN alices.tenant AS numeric CHECK (alices.evil('tenant'))" \
    'CREATE TABLE alices.grouped (id int PRIMARY KEY, body text, tenant alices.tenant, kind alices.kind)' \
    "INSERT INTO alices.grouped SELECT i, 'one two three four', (ARRAY[1, 1.0, 2, NULL])[i % 4 + 1], (ARRAY['a', 'b', NULL]::alices.kind[])[i % 3 + 1] FROM generate_series(1, 40) i" \
    "SELECT neardup_watch('alices.grouped', 0.8, within => 'tenant', across => 'kind')" 'GRANT ALL ON alices.grouped TO carol' >/dev/null
grouped="SELECT count(*) FROM alices.grouped_pairs p FULL JOIN (SELECT l.id AS left_id, r.id AS right_id FROM alices.grouped l, alices.grouped r
    WHERE l.id < r.id AND l.tenant = r.tenant AND l.kind <> r.kind) e USING (left_id, right_id) WHERE p.left_id IS NULL OR e.left_id IS NULL OR p.similarity <> 1"
q -c 'DELETE FROM seen'
expect_as 'groups of a domain, sources of an enum' $'done\n0' postgres "CALL neardup_refresh('alices.grouped')" "$grouped"
as alice "UPDATE alices.grouped SET tenant = 2, kind = 'b' WHERE id IN (3, 8)" "UPDATE alices.grouped SET kind = NULL WHERE id = 5"
expect_as 'rows that change theirs' $'done\n0' postgres "CALL neardup_refresh('alices.grouped')" "$grouped"
as alice "SELECT neardup_unwatch('alices.grouped')" "SELECT neardup_watch('alices.grouped', 0.8, within => 'tenant', across => 'kind', detect => 'compare')" \
    "UPDATE alices.grouped SET tenant = 1 WHERE id IN (3, 8)" >/dev/null
expect_as 'by comparison' $'done\n0' postgres "CALL neardup_refresh('alices.grouped')" "$grouped"
expect_sql 'its code ran as alice' alice 'SELECT DISTINCT who FROM seen'
as alice "SELECT neardup_unwatch('alices.grouped')" 'ALTER TABLE alices.grouped ADD j json' >/dev/null
expect_refused 'groups without an order' 42883 'type json, which has no default ordering, so its values cannot be groups' alice "SELECT neardup_watch('alices.grouped', 0.8, within => 'j')"
as alice "SELECT neardup_watch('alices.grouped', 0.8, within => 'tenant')" 'ALTER TABLE alices.grouped DROP tenant' >/dev/null
expect_refused 'a column that is gone' 55000 'it had id, body, tenant' postgres "CALL neardup_refresh('alices.grouped')"

finish
