-- Every bad argument is one error with its SQLSTATE, the value, what is allowed, and a hint with a call that works.
SET client_min_messages = warning;
CREATE SCHEMA errors_test;
SET search_path = errors_test, public;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'the quick brown fox jumps'), (2, 'the quick brown fox jumps over'), (3, '');
CREATE TABLE uuids (key uuid, n int, title text, body text, tokens text[]);
INSERT INTO uuids SELECT md5(id::text)::uuid, id, 'title', body, words(body) FROM docs;
CREATE TABLE "it's" ("the 'id'" text, "a \ text" text, other text);
CREATE SEQUENCE a_sequence;
CREATE TYPE a_composite AS (id int, body text);
CREATE TABLE parted (id int, body text) PARTITION BY HASH (id);
CREATE INDEX parted_index ON parted (id);
-- What hints call relations where none was given.
CREATE TABLE "left" (LIKE docs INCLUDING ALL);
CREATE TABLE "right" (LIKE docs INCLUDING ALL);
-- Makes a call and, if it fails, that of its hint.
CREATE FUNCTION seen(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    example text;
    seen text;
BEGIN
    EXECUTE 'SELECT count(*) FROM ' || call;
    RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    seen := format(E'%s: %s\n    %s', SQLSTATE, SQLERRM, hint);
    example := substring(hint from '(SELECT \* FROM .*|SELECT near.*);');
    IF example IS NULL THEN
        RETURN seen;
    END IF;
    BEGIN
        EXECUTE example;
        RETURN seen || ' -- works';
    EXCEPTION WHEN OTHERS THEN
        RETURN seen || E'\n    -- ' || SQLERRM;
    END;
END
$$;
\pset format unaligned
\pset tuples_only on

-- threshold
SELECT seen('near_duplicates(''docs'', 0)');
SELECT seen('near_duplicates(''docs'', -0.5)');
SELECT seen('near_duplicates(''docs'', 1.0000001)');
SELECT seen('near_duplicates(''docs'', ''NaN'')');
SELECT seen('near_duplicates(''docs'', 80)');
SELECT seen('near_duplicates(''docs'', 1e-300)');
SELECT seen('near_duplicates_between(''docs'', ''docs'', 2)');
SELECT seen('near_duplicates(''uuids'', 2, NULL::uuid, id_column => ''key'')');
-- method
SELECT seen('near_duplicates(''docs'', method => ''levenshtein'')');
SELECT seen('near_duplicates(''docs'', method => ''Jaccard'')');
SELECT seen('near_duplicates(''docs'', method => '''')');
-- tokenizer
SELECT seen('near_duplicates(''docs'', tokenizer => ''word'')');
SELECT seen('near_duplicates(''docs'', tokenizer => '''')');
SELECT seen('near_duplicates(''docs'', tokenizer => ''tsearch'')');
SELECT seen('near_duplicates(''docs'', tokenizer => ''tsearch:klingon'')');
SELECT seen('near_duplicates(''docs'', tokenizer => ''tsearch:no_schema.english'')');
SELECT seen('near_duplicates(''docs'', tokenizer => ''tsearch:'')');
SELECT seen('near_duplicates(''docs'', tokenizer => ''tsearch:english; DROP TABLE docs'')');
SELECT seen('near_duplicates(''docs'', tokenizer => ''tsearch:"it''''s"'')');
SELECT seen('near_duplicates(''uuids'', id_column => ''n'', text_column => ''tokens'', tokenizer => ''words'')');
-- shingle
SELECT seen('near_duplicates(''docs'', shingle => 0)');
SELECT seen('near_duplicates(''docs'', shingle => -1)');
SELECT seen('near_duplicates(''docs'', shingle => 1001)');
SELECT seen('near_duplicates(''docs'', shingle => 1000)');
SELECT seen('near_duplicates(''docs'', 0.7, shingle => 0, method => ''cosine'', tokenizer => ''chars'')');
-- max_pairs
SELECT seen('near_duplicates(''docs'', max_pairs => 0)');
SELECT seen('near_duplicates(''docs'', max_pairs => -5)');
SELECT seen('near_duplicates(''docs'', 0.1, max_pairs => 1)');
SELECT seen('near_duplicates_between(''docs'', ''docs'', 0.1, max_pairs => 1)');
SELECT seen('near_duplicates(''uuids'', 0.1, NULL::uuid, id_column => ''key'', text_column => ''title'', method => ''dice'', tokenizer => ''chars'', shingle => 2, multiset => false, options => ''{"max_pairs": 1, "algorithm": "ppjoin"}'')');
SELECT seen('near_duplicates(''docs'', method => ''overlap'', options => ''{"max_pairs": 1, "min_overlap": 1}'')');
SELECT seen('(SELECT near_duplicates(''docs'', 0.1), near_duplicates_between(''docs'', ''docs'', 0.1, max_pairs => 3)) p');
-- options
SELECT seen('near_duplicates(''docs'', options => ''{"colour": 1}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"min_overlap": 2}'')');
SELECT seen('near_duplicates(''docs'', options => ''[]'')');
SELECT seen('near_duplicates(''docs'', options => ''"text"'')');
SELECT seen('near_duplicates(''docs'', options => ''null'')');
SELECT seen('near_duplicates(''docs'', options => ''{"max_pairs": 0}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"max_pairs": 1.5}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"max_pairs": "5"}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"max_pairs": {}}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"max_pairs": 1e400}'')') ~ '^22023: options cannot be read: number out of range.* -- works$';
SELECT seen(format('near_duplicates(''docs'', options => %L)', repeat('[', 500) || repeat(']', 500))) ~ '^22023: options cannot be read: .* -- works$';
SELECT seen('near_duplicates(''docs'', method => ''overlap'', options => ''{"min_overlap": 0}'')');
SELECT seen('near_duplicates(''docs'', method => ''overlap'', options => ''{"min_overlap": true}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"algorithm": "quantum"}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"algorithm": 7}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"algorithm": "ppjoin+", "max_depth": 0}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"algorithm": "ppjoin+", "max_depth": 17}'')');
SELECT seen('near_duplicates(''docs'', method => ''edit'', options => ''{"max_depth": 1000}'')');
SELECT seen('near_duplicates(''docs'', method => ''edit'', options => ''{"distance": -1}'')');
SELECT seen('near_duplicates(''docs'', 0.5, method => ''edit'', options => ''{"distance": "two"}'')');
SELECT seen('near_duplicates(''docs'', options => ''{"it''''s": 1}'')');
-- relations
SELECT seen('near_duplicates(NULL, 0.8)');
SELECT seen('near_duplicates_between(NULL, ''docs'', 0.8)');
SELECT seen('near_duplicates_between(''docs'', NULL, 0.8)');
SELECT seen('near_duplicates(''nowhere'', 0.8)');
SELECT seen('near_duplicates(0, 0.8)');
SELECT seen('near_duplicates(''a_sequence'', 0.8)');
SELECT seen('near_duplicates(''docs_pkey'', 0.8)');
SELECT seen('near_duplicates(''parted_index'', 0.8)');
SELECT seen('near_duplicates((SELECT typrelid::regclass FROM pg_type WHERE typname = ''a_composite''), 0.8)');
SELECT seen('near_duplicates((SELECT reltoastrelid::regclass FROM pg_class WHERE oid = ''docs''::regclass), 0.8)') ~ '^42809: "pg_toast_\d+" is not a table';
-- columns: see also columns.sql
SELECT seen('near_duplicates(''uuids'', 0.8)');
SELECT seen('near_duplicates(''uuids'', 0.8, id_column => ''key'')');
SELECT seen('near_duplicates(''uuids'', 0.8, id_column => ''id'')');
SELECT seen('near_duplicates(''uuids'', 0.8, NULL::uuid, id_column => ''n'')');
SELECT seen('near_duplicates(''uuids'', 0.8, id_column => ''n'', text_column => ''Body'')');
SELECT seen('near_duplicates(''"it''''s"'', 0.8)');
SELECT seen('near_duplicates(''"it''''s"'', 0.8, id_column => ''the ''''id'''''')');
SELECT seen('near_duplicates(''"it''''s"'', 0.8, NULL::text, id_column => ''the ''''id'''''')');
SELECT seen('near_duplicates_between(''docs'', ''uuids'', 0.8)');
SELECT seen('near_duplicates_between(''uuids'', ''docs'', 0.8)');
SELECT seen('near_duplicates_between(''docs'', ''uuids'', 0.8, right_id_column => ''key'')');
SELECT seen('near_duplicates_between(''docs'', ''uuids'', 0.8, NULL::int, right_id_column => ''key'')');
SELECT seen('near_duplicates_between(''docs'', ''"it''''s"'', 0.8)');
SELECT seen('near_duplicates_between(''"it''''s"'', ''"it''''s"'', 0.8, id_column => ''nothing'')');
-- Words and measures.
SELECT seen('shingles(''a'', 0)');
SELECT seen('jaccard(''a'', ''b'', 1001)');
SELECT seen('(SELECT jaccard(''a'', ''b'', k => 5)) hint');
-- privileges
CREATE ROLE regress_neardup_nobody;
GRANT USAGE ON SCHEMA errors_test TO regress_neardup_nobody;
SET ROLE regress_neardup_nobody;
SELECT seen('near_duplicates(''docs'', 0.8)');
SELECT seen('near_duplicates(''pg_authid'', 0.8, NULL::oid, text_column => ''rolname'')');
RESET ROLE;
REVOKE USAGE ON SCHEMA errors_test FROM regress_neardup_nobody;
SELECT 'errors_test.docs'::regclass::oid AS docs \gset
SET ROLE regress_neardup_nobody;
SELECT count(*) FROM near_duplicates(:docs, 0.8);
RESET ROLE;
DROP ROLE regress_neardup_nobody;

-- What goes wrong while documents are read comes as the server says it.
CREATE DOMAIN short AS text CONSTRAINT not_long CHECK (length(VALUE) < 5);
CREATE FUNCTION half(n int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1 / (n - 2); END';
CREATE VIEW broken AS SELECT half(id) AS id, body FROM docs;
SELECT count(*) FROM near_duplicates('broken', 0.8, id_column => 'id');
DO $$
DECLARE
    state text; message text; context text; "constraint" text; type text;
BEGIN
    PERFORM near_duplicates('uuids', 0.8, NULL::short, id_column => 'body', text_column => 'title');
EXCEPTION WHEN check_violation THEN
    GET STACKED DIAGNOSTICS "constraint" = CONSTRAINT_NAME, type = PG_DATATYPE_NAME, message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
    RAISE WARNING E'% % %\n%', "constraint", type, message, context;
END
$$;
-- And everything works as before.
SELECT * FROM near_duplicates('docs', 0.8);
DROP SCHEMA errors_test CASCADE;
