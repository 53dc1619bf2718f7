#!/usr/bin/env bash
# Ordinary roles attack: each attempt ends in its clear error, or in what is right, and the server goes on. Neither a crash
# nor an internal error (XX000) is in its log.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'restart_after_crash = on'

q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE mallory LOGIN;
CREATE ROLE victim LOGIN;
CREATE SCHEMA mallory AUTHORIZATION mallory;
CREATE SCHEMA victim AUTHORIZATION victim;
SQL
as_mallory=(-U mallory -v ON_ERROR_STOP=1)

# expect_code NAME SQLSTATE SQL: mallory's statement ends in that error, and has a hint if it is one of ours.
expect_code() { expect_error "$1" "$2" "${4:-.}" "$3" "${as_mallory[@]}"; }

# --- Results of SQL are read as the types that were checked ---

for call in clusters_of_pairs cluster_stats cluster_links; do
    # A text that closes our parenthesis: once a float's bits became a pointer, or a pointer an id.
    for id in 5e-320::float8 7.5::numeric "'x'::text" 1::int; do
        for typed in ', NULL::numeric' ', NULL::text' ', NULL::bigint' ''; do
            expect_code "$call: $id out of its parenthesis$typed" 42601 "SELECT * FROM $call(\$\$SELECT 1,2,0.5) AS p(left_id,right_id,similarity) \
                UNION ALL SELECT $id, $id, 0.5::float8 FROM (SELECT 1,2,3\$\$$typed)" 'syntax error at or near "\)"'
        done
    done
    expect_code "$call: two statements" 42601 "SELECT * FROM $call('SELECT 1,2,0.5; DROP TABLE x')" 'has 2 statements'
    expect_code "$call: no statement" 42601 "SELECT * FROM $call('-- nothing')" 'query is empty'
    expect_code "$call: no SELECT" 42601 "SELECT * FROM $call('CREATE TABLE mallory.x()')" 'not a SELECT'
    expect_code "$call: a SELECT that makes a table" 42601 "SELECT * FROM $call('SELECT 1 AS a,2 AS b,0.5 AS c INTO mallory.x')" 'not a SELECT'
    expect_code "$call: a comment that is not closed" 42601 "SELECT * FROM $call('SELECT 1,2,0.5 /* ')" 'unterminated'
    expect_code "$call: a string that is not closed" 42601 "SELECT * FROM $call('SELECT 1,2,0.5 FROM (SELECT ''')" 'unterminated'
    expect_code "$call: rows to be locked" 0A000 "SELECT * FROM $call('SELECT 1 AS a,2,0.5 FROM pg_catalog.pg_class FOR UPDATE')" 'not allowed'
    expect_sql "$call: what ends a query" 1 "SELECT DISTINCT cluster_id FROM $call('/* ; */ SELECT 1,2,0.5 -- ) ;
; -- )')" "${as_mallory[@]}"
done
expect_code 'ids of a pseudo-type' 42883 "SELECT * FROM clusters_of_pairs('SELECT 1,2,0.5', NULL::record)" 'cannot be an id'
expect_sql 'a column that is named like an operator of a planted type' '1' "
    SET search_path = mallory, pg_catalog;
    CREATE TYPE int8 AS (x text); CREATE TYPE float8 AS (x text);
    CREATE TABLE planted(id int PRIMARY KEY, body text);
    INSERT INTO planted VALUES (1, 'a b c'), (2, 'a b c');
    SELECT count(*) FROM public.near_duplicates('planted', 0.5);
    DROP TYPE int8, float8; DROP TABLE planted" "${as_mallory[@]}"

# A domain of groups is read as what it is based on, and its check does not run.
expect_sql 'groups of a planted domain' '1|0' "
    SET search_path = mallory, pg_catalog;
    CREATE TABLE ran(who name); GRANT INSERT ON ran TO PUBLIC;
    CREATE FUNCTION planted_check(numeric) RETURNS bool LANGUAGE plpgsql AS 'BEGIN INSERT INTO mallory.ran VALUES (current_user); RETURN true; END';
    CREATE DOMAIN planted_domain AS numeric CHECK (mallory.planted_check(VALUE));
    CREATE TABLE planted(id int PRIMARY KEY, body text, tenant planted_domain, source planted_domain);
    INSERT INTO planted VALUES (1, 'a b c', 1, 1), (2, 'a b c', 1.0, 2), (3, 'a b c', 1.00, 1.0), (4, 'a b c', 2, 3), (5, 'a b c', NULL, 3);
    DELETE FROM ran;
    SELECT count(*) - 1, (SELECT count(*) FROM ran) FROM public.near_duplicates('planted', 0.5, within => 'tenant', across => 'source');
    DROP TABLE planted, ran; DROP DOMAIN planted_domain; DROP FUNCTION planted_check" "${as_mallory[@]}"

# The functions that statements of refreshes call: any role may call them, with anything.
q -U victim <<'SQL'
SET search_path = victim, public;
SET client_min_messages = error;
CREATE TABLE docs(id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'a b c d e f g ' || i / 2 FROM generate_series(1, 3000) i;
SELECT neardup_watch('docs', 0.8);
CALL neardup_refresh('docs');
SQL
for rows in "neardup_internal.neardup_rows('SELECT 1', NULL) AS f(a bigint)" "neardup_internal.neardup_rows(NULL) AS f(a bigint, b bigint, c float8)" \
    "neardup_internal.neardup_rows((SELECT 'SELECT 1, 2, 0.5')) AS f(a text)"; do
    expect_code "rows for nobody: $rows" 0A000 "SELECT * FROM $rows" 'statements of neardup only'
done
expect_code 'rows in a list of columns' 0A000 'SELECT neardup_internal.neardup_rows(NULL)' 'statements of neardup only'
expect_code 'rows with an argument of somebody else' 42501 "CREATE FUNCTION mallory.f(neardup_internal) RETURNS int LANGUAGE sql AS 'SELECT 1'" 'permission denied for type'

# Whoever owns a job can write anything into its tables: lists that are damaged are made anew.
refresh_after() {
    q -U victim <<SQL 2>&1
SET search_path = victim, public;
SET client_min_messages = error;
SELECT FROM neardup_unwatch('docs');
SELECT FROM neardup_watch('docs', 0.8);
CALL neardup_refresh('docs');
$1;
UPDATE docs SET body = body || ' x' WHERE id IN ($2, $2 + 1, 2000);
CALL neardup_refresh('docs');
SELECT count(*) FROM ((TABLE docs_pairs EXCEPT SELECT * FROM near_duplicates('docs', 0.8)) UNION ALL
    (SELECT * FROM near_duplicates('docs', 0.8) EXCEPT TABLE docs_pairs)) d;
SQL
}
n=0
while IFS= read -r damage; do
    n=$((n + 2))
    expect "a refresh after: $damage" $'done\ndone\n0' "$(refresh_after "$damage" $n)"
done <<'SQL'
UPDATE docs_neardup_lists SET ids[7] = NULL WHERE kind = 'i'
UPDATE docs_neardup_lists SET ids = NULL WHERE kind = 'i'
UPDATE docs_neardup_lists SET ids = '{}' WHERE kind = 'i'
UPDATE docs_neardup_lists SET ids = '{{1,2},{3,4}}' WHERE kind = 'i'
UPDATE docs_neardup_lists SET ids = array_fill('x'::text, ARRAY[1024]) WHERE kind = 'i'
UPDATE docs_neardup_lists SET ids = array_fill('{";\'::text, ARRAY[1024]) WHERE kind = 'i'
UPDATE docs_neardup_lists SET ids = array_fill('1'::text, ARRAY[1025]) WHERE kind = 'i'
UPDATE docs_neardup_lists SET part = part + 2147483600 WHERE kind = 'i'
DELETE FROM docs_neardup_lists WHERE kind = 'i'
UPDATE docs_neardup_lists SET data = NULL WHERE kind = 'l'
UPDATE docs_neardup_lists SET data = '\xffffffffffffffffffffffffff' WHERE kind = 'l'
UPDATE docs_neardup_lists SET data = '\x0000ffffffff0f' || data WHERE kind = 'l'
UPDATE docs_neardup_lists SET data = '\x05faffffffffffffffff0100' WHERE kind = 'l'
UPDATE docs_neardup_lists SET data = NULL WHERE kind = 'd'
UPDATE docs_neardup_lists SET data = substr(data, 2) WHERE kind = 'd'
UPDATE docs_neardup_lists SET data = decode(repeat('ff', length(data)), 'hex') WHERE kind = 'd'
UPDATE docs_neardup_lists SET data = decode(repeat('00', length(data)), 'hex') WHERE kind = 'd'
UPDATE docs_neardup_lists SET data = data || data WHERE kind = 'd'
UPDATE docs_neardup_lists SET part = -part WHERE kind = 'd'
DELETE FROM docs_neardup_lists WHERE kind = 'd'
UPDATE docs_neardup_lists SET data = NULL WHERE kind = 'o'
UPDATE docs_neardup_lists SET data = '\x02' WHERE kind = 'o'
UPDATE docs_neardup_lists SET data = '\x0203' || substr(data, 3) WHERE kind = 'o'
UPDATE docs_neardup_lists SET data = '\x0201' || substr(data, 3) WHERE kind = 'o'
UPDATE docs_neardup_lists SET data = '' WHERE kind = 'o'
UPDATE docs_neardup_lists SET documents = 2147483647 WHERE kind = 's'
UPDATE docs_neardup_lists SET documents = -1 WHERE kind = 's'
UPDATE docs_neardup_lists SET documents = NULL WHERE kind = 's'
UPDATE docs_neardup_lists SET part = 0 WHERE kind = 's'
UPDATE docs_neardup_lists SET part = 3 WHERE kind = 's'
UPDATE docs_neardup_lists SET part = -8 WHERE kind = 's'
UPDATE docs_neardup_lists SET part = 1 << 30 WHERE kind = 's'
DELETE FROM docs_neardup_lists WHERE kind = 'o'
DELETE FROM docs_neardup_lists
INSERT INTO docs_neardup_lists SELECT 's', n, 1, n, NULL, NULL FROM generate_series(100, 140) n
SQL
# What says something else, but could be true, may lead to another result or an error, no further.
while IFS= read -r damage; do
    n=$((n + 2))
    seen=$(refresh_after "$damage" $n) || true
    expect "a refresh after: $damage" t "$([[ $seen =~ ^done.(done.)?([0-9]+$|ERROR: ) ]] && echo t || echo "$seen")"
done <<'SQL'
UPDATE docs_neardup_lists SET data = substr(data, 1, 9) WHERE kind = 'l'
DELETE FROM docs_neardup_lists WHERE kind = 'l'
UPDATE docs_neardup_lists SET segment = 9223372036854775807 WHERE kind = 's'
UPDATE docs_neardup_lists SET segment = -9223372036854775808
INSERT INTO docs_neardup_lists SELECT kind, segment + 100, part, documents, data, ids FROM docs_neardup_lists WHERE kind IN ('s', 'l')
ALTER TABLE docs_neardup_lists DROP CONSTRAINT docs_neardup_lists_pkey; INSERT INTO docs_neardup_lists TABLE docs_neardup_lists
ALTER TABLE docs_neardup_lists ALTER ids TYPE text USING ids::text
ALTER TABLE docs_neardup_lists ALTER data TYPE text USING data::text
ALTER TABLE docs_neardup_lists ALTER segment TYPE text USING segment::text
ALTER TABLE docs_neardup ALTER id TYPE numeric
ALTER TABLE docs_neardup ADD more int
ALTER TABLE docs_pairs ALTER similarity TYPE text USING similarity::text
ALTER TABLE docs_pairs ALTER left_id TYPE text USING left_id::text
ALTER TABLE docs_clusters ALTER cluster_id TYPE text USING cluster_id::text
SQL

# --- Groups are told apart by the equality of the column's type, whatever else is called = ---

q -U mallory >/dev/null <<'SQL'
SET search_path = mallory, pg_catalog, public;
SET client_min_messages = error;
CREATE FUNCTION planted(int, int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
CREATE FUNCTION planted(text, text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
CREATE FUNCTION hashint4extended(int, bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'planted'; END $$;
CREATE OPERATOR = (LEFTARG = int, RIGHTARG = int, FUNCTION = planted, COMMUTATOR = OPERATOR(mallory.=));
CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = planted);
CREATE FUNCTION seldom(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN
    IF current_user <> 'mallory' THEN RAISE 'planted'; END IF;
    RETURN true;
END $$;
CREATE DOMAIN tenant AS int CHECK (seldom(value));
CREATE TABLE grouped(id int PRIMARY KEY, tenant tenant, lang text, body text);
INSERT INTO grouped VALUES (1, 1, 'a', 'a b c'), (2, 1, 'a', 'a b c'), (3, 2, 'b', 'a b c'), (4, NULL, NULL, 'a b c');
CREATE INDEX grouped_body ON grouped USING signature (tenant, lang text_group_ops, body);
CREATE FUNCTION plan_of(query text) RETURNS json LANGUAGE plpgsql AS $$ DECLARE plan json; BEGIN EXECUTE 'EXPLAIN (COSTS off, FORMAT json) ' || query INTO plan; RETURN plan; END $$;
GRANT USAGE ON SCHEMA mallory TO victim;
GRANT SELECT ON grouped TO victim;
SQL
planted=(-c 'SET search_path = mallory, pg_catalog, public' -c 'SET enable_seqscan = off')
for role in mallory victim; do
    for within in tenant lang; do
        expect_sql "$role: within $within" '1|2' "SELECT left_id, right_id FROM public.near_duplicates('mallory.grouped', 0.5, within => '$within', id_column => 'id')" -U "$role" "${planted[@]}"
    done
    expect_sql "$role: across" 0 "SELECT count(*) FROM public.near_duplicates('mallory.grouped', 0.5, within => 'tenant', across => 'lang')" -U "$role" "${planted[@]}"
    expect_sql "$role: a search by index" '1,2' "SELECT string_agg(id::pg_catalog.text, ',' ORDER BY id) FROM grouped WHERE tenant OPERATOR(pg_catalog.=) 1 AND lang OPERATOR(pg_catalog.=) 'a' AND body <@ near('a b c', 0.9)" -U "$role" "${planted[@]}"
    expect_sql "$role: another = is no condition of the index" f "SELECT plan::pg_catalog.text LIKE '%Index Cond%tenant%' FROM plan_of(\$\$SELECT FROM mallory.grouped WHERE tenant = 1 AND lang = 'a' AND body <@ near('a b c', 0.9)\$\$) plan" -U "$role" "${planted[@]}"
done
expect_code 'another = in a constraint' 42809 "SET search_path = mallory, pg_catalog, public; ALTER TABLE grouped ADD EXCLUDE USING signature (tenant WITH =, near(body, 0.9) WITH &&)" 'not a member of operator family'
expect_code 'a class of their own' 42501 "CREATE OPERATOR CLASS mallory.planted FOR TYPE int USING signature AS OPERATOR 1 mallory.= (int, int), FUNCTION 3 mallory.hashint4extended(int, bigint)" 'must be superuser'
# What is equal by its collation is one group, however it is written, where the server has such collations.
if q -U mallory -c "CREATE COLLATION mallory.no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)" 2>/dev/null; then
    q -U mallory >/dev/null <<'SQL'
UPDATE mallory.grouped SET lang = upper(lang) WHERE id = 2;
ALTER TABLE mallory.grouped ALTER lang TYPE text COLLATE mallory.no_case;
SQL
    for condition in "lang = 'A'" "lang = 'a'"; do
        expect_sql "equal by a collation: $condition" '1,2' "SELECT string_agg(id::text, ',' ORDER BY id) FROM mallory.grouped WHERE tenant = 1 AND $condition AND body <@ near('a b c', 0.9)" -c 'SET enable_seqscan = off'
    done
    expect_sql 'by another collation, the index is of no use' 2 "SELECT id FROM mallory.grouped WHERE tenant = 1 AND lang = 'A' COLLATE \"C\" AND body <@ near('a b c', 0.9)" -c 'SET enable_seqscan = off'
    q -c "SELECT signature_index_check('mallory.grouped_body', true)" >/dev/null
fi

finish
