#!/usr/bin/env bash
# Who may see what: privileges and row-level security are the caller's, and the extension needs no superuser.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE ROLE reader;
CREATE ROLE nobody;
CREATE ROLE maker LOGIN;
CREATE DATABASE made OWNER maker;
CREATE DATABASE apart;
CREATE EXTENSION neardup;
CREATE TABLE docs(id int PRIMARY KEY, owner text, body text);
INSERT INTO docs VALUES
    (1, 'reader', 'the quick brown fox jumps over the lazy dog'),
    (2, 'reader', 'the quick brown fox jumps over the lazy cat'),
    (3, 'other', 'the quick brown fox jumps over the lazy dog'),
    (4, 'other', NULL),
    (5, 'other', '');
CREATE TABLE hidden(id int PRIMARY KEY, body text);
INSERT INTO hidden SELECT id, body FROM docs;
CREATE VIEW shown AS SELECT id, body FROM hidden WHERE id < 3;
GRANT SELECT ON docs, shown TO reader;
SQL
as="SET ROLE"
pairs="SELECT string_agg(left_id || '-' || right_id, ' ' ORDER BY left_id, right_id) FROM near_duplicates"

for call in "near_duplicates('docs', 0.8)" "suggest('docs', text_column => 'body')" "suggest_pairs('docs', text_column => 'body')" "nearest('docs', 2, text_column => 'body')" "near_duplicates_between('docs', 'shown', 0.8, id_column => 'id', text_column => 'body')"; do
    expect_error "no SELECT, no documents: $call" 42501 'permission denied' "$as nobody; SELECT * FROM $call"
done
expect_error 'a table behind a view' 42501 'permission denied' "$as reader; SELECT * FROM near_duplicates('hidden', 0.8)"
expect_error 'one of two tables' 42501 'permission denied' \
    "$as reader; SELECT * FROM near_duplicates_between('docs', 'hidden', 0.8, text_column => 'body')"
expect_sql 'a view that the role may read' '1-2' "$as reader; $pairs('shown', 0.7, id_column => 'id')"
q -c 'REVOKE SELECT ON docs FROM reader' -c 'GRANT SELECT (id, body) ON docs TO reader'
expect_sql 'privileges on the two columns suffice' '1-2 1-3 2-3' "$as reader; $pairs('docs', 0.7, text_column => 'body')"
q -c 'GRANT SELECT ON docs TO reader'

q -c 'ALTER TABLE docs ENABLE ROW LEVEL SECURITY' \
    -c 'CREATE POLICY own ON docs TO reader USING (owner = current_user)'
expect_sql 'rows hidden by row-level security make no pair' '1-2' "$as reader; $pairs('docs', 0.7, text_column => 'body')"
expect_sql 'and do not count' $'1-2\n2|0|0|1' "$as reader; $pairs('docs', 0.7, text_column => 'body');
    SELECT documents, skipped_null, skipped_empty, pairs FROM near_duplicates_stats()"
expect_sql 'the superuser sees them' $'1-2 1-3 2-3\n5|1|1|3' "$pairs('docs', 0.7, text_column => 'body');
    SELECT documents, skipped_null, skipped_empty, pairs FROM near_duplicates_stats()"
expect_sql 'suggestions are of the rows that the role sees' '2 texts|1' "$as reader;
    SELECT substring(reason, '^.{7}'), pairs FROM suggest('docs', text_column => 'body') LIMIT 1"
expect_sql 'the nearest of a row are rows that the role sees' '1-2 2-1' "$as reader;
    SELECT string_agg(id || '-' || nearest_id, ' ' ORDER BY id, rank) FROM nearest('docs', 5, text_column => 'body')"
expect_sql 'nor are others proposed to be labelled' '1|2|the quick brown fox jumps over the lazy dog|the quick brown fox jumps over the lazy cat' "$as reader;
    SELECT left_id, right_id, text_a, text_b FROM suggest_pairs('docs', text_column => 'body')"
q -c 'CREATE TABLE answers(left_id int, right_id int, duplicate boolean)' -c 'INSERT INTO answers VALUES (1, 2, true), (1, 3, false)'
expect_error 'labels that the role may not read' 42501 'permission denied' "$as reader; SELECT * FROM suggest('docs', text_column => 'body', labels => 'answers')"
q -c 'GRANT SELECT ON answers TO reader'
expect_sql 'an answer to a pair with a hidden row does not count' '1 answer, of w' "$as reader; SET client_min_messages = error;
    SELECT substring(reason, '^.{14}') FROM suggest('docs', text_column => 'body', labels => 'answers') LIMIT 1"
expect_sql 'what another role did is not told' $'3\n0' "
    SELECT count(*) FROM near_duplicates('docs', 0.7, text_column => 'body');
    $as reader; SELECT count(*) FROM near_duplicates_stats() WHERE documents > 0"
expect_sql 'a function of its owner reads as its owner' '3' "
    CREATE FUNCTION pairs_of_all() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public AS
        \$\$ SELECT count(*) FROM near_duplicates('docs', 0.7, text_column => 'body') \$\$;
    $as reader; SELECT pairs_of_all()"

# Trusted: who may create in a database may create the extension in it.
expect_sql 'no superuser needed' '0.8' "CREATE EXTENSION neardup; SELECT jaccard('a b c d', 'a b c d e')" -U maker -d made

# In a schema of its own that is not in the search path, beside other extensions with operators and functions on texts
# and arrays.
q -d apart <<'SQL'
CREATE EXTENSION pg_trgm;
CREATE EXTENSION intarray;
CREATE EXTENSION fuzzystrmatch;
CREATE SCHEMA elsewhere;
CREATE EXTENSION neardup SCHEMA elsewhere;
CREATE SCHEMA mine;
CREATE TABLE mine.docs(id int PRIMARY KEY, body text);
INSERT INTO mine.docs VALUES (1, 'one two three four'), (2, 'one two three four five');
-- What is first in the search path must not be taken for ours or the server's.
CREATE FUNCTION mine.words(text) RETURNS text[] LANGUAGE sql AS 'SELECT NULL::text[]';
CREATE FUNCTION mine.liar(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR mine.= (LEFTARG = int, RIGHTARG = int, FUNCTION = mine.liar);
CREATE OPERATOR mine.< (LEFTARG = int, RIGHTARG = int, FUNCTION = mine.liar);
CREATE TYPE mine.text AS (x int);
SQL
for path in pg_catalog mine "''" 'mine, pg_catalog'; do
    expect_sql "search_path $path" $'1|2|0.8\n1|2|0.8\n{a,b}\n0.8' "SET search_path = $path;
        SELECT * FROM elsewhere.near_duplicates('mine.docs', 0.8);
        SELECT * FROM elsewhere.near_duplicates_between('mine.docs', 'mine.docs', 0.8) WHERE left_id OPERATOR(pg_catalog.<) right_id;
        SELECT elsewhere.words('A b');
        SELECT elsewhere.jaccard('a b c d', 'a b c d e')" -d apart
done
expect_sql 'moved to another schema' '1|2|0.8' "CREATE SCHEMA moved; ALTER EXTENSION neardup SET SCHEMA moved;
    SELECT * FROM moved.near_duplicates('mine.docs', 0.8)" -d apart
expect_sql 'internal functions are in their schema again' neardup_internal "SELECT n.nspname
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE proname = 'text_ball_in'" -d apart
expect_sql 'not into its own schema' 'ERROR:  cannot move extension "neardup" into schema "neardup_internal" because the extension contains the schema' \
    'ALTER EXTENSION neardup SET SCHEMA neardup_internal' -d apart
q -d apart -c 'GRANT CREATE ON DATABASE apart TO maker'
expect_error 'a role that may not move it' 42501 'must be owner of extension neardup' 'CREATE SCHEMA theirs; ALTER EXTENSION neardup SET SCHEMA theirs' -d apart -U maker
# The server asks for the ownership of each object: those of a trusted extension belong to the superuser.
expect_error 'its owner, who is no superuser, may not move it' 42501 'must be owner of function' \
    'CREATE SCHEMA theirs; ALTER EXTENSION neardup SET SCHEMA theirs' -d made -U maker
expect_sql 'a superuser may' '0.8' "CREATE SCHEMA theirs; ALTER EXTENSION neardup SET SCHEMA theirs; SELECT theirs.jaccard('a b c d', 'a b c d e')" -d made
expect_sql 'dropped without a trace' 0 "DROP EXTENSION neardup;
    SELECT count(*) FROM pg_proc WHERE pronamespace = 'moved'::regnamespace" -d apart
finish
