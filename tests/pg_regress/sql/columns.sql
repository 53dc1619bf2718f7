-- Which columns hold the ids and the documents.
SET client_min_messages = warning;
CREATE SCHEMA columns_test;
SET search_path = columns_test, public;
-- Tries a table of these columns, with two rows of equal texts.
CREATE FUNCTION try(columns text, arguments text DEFAULT '0.8') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    seen text;
    hint text;
BEGIN
    EXECUTE format('CREATE TABLE docs (%s)', columns);
    EXECUTE format('SELECT string_agg(left_id || %L || right_id, %L) FROM near_duplicates(%L, %s)', '-', ' ', 'docs', arguments) INTO seen;
    DROP TABLE docs;
    RETURN coalesce(seen, 'fine');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN format('%s: %s' || E'\n    %s', SQLSTATE, SQLERRM, hint);
END
$$;
\pset format unaligned
\pset tuples_only on

-- The only column of the primary key.
SELECT try('id int PRIMARY KEY, body text');
SELECT try('body text, key bigint PRIMARY KEY');
SELECT try('no smallint, body text, PRIMARY KEY (no) INCLUDE (body)');
SELECT try('id int, body text');
SELECT try('id int UNIQUE NOT NULL, body text');
SELECT try('id int, body text', $$0.8, id_column => 'id'$$);
SELECT try('a int, b int, body text, PRIMARY KEY (a, b)');
SELECT try('a int, b int, body text, PRIMARY KEY (a, b)', $$0.8, id_column => 'b'$$);
SELECT try('id int PRIMARY KEY DEFERRABLE, body text');
SELECT try('id int PRIMARY KEY, other int, body text', $$0.8, id_column => 'other'$$);
SELECT try('id int PRIMARY KEY, body text', $$0.8, id_column => 'ID'$$);
SELECT try('id int PRIMARY KEY, body text', $$0.8, id_column => ''$$);
SELECT try('id int PRIMARY KEY, body text', $$0.8, id_column => 'ctid'$$);
SELECT try('"ID" int, body text', $$0.8, id_column => 'ID'$$);
-- Ids that are no integers say their type.
SELECT try('id uuid PRIMARY KEY, body text');
SELECT try('id uuid PRIMARY KEY, body text', '0.8, NULL::uuid');
SELECT try('id numeric PRIMARY KEY, body text');
SELECT try('id text PRIMARY KEY, body text');
SELECT try('id varchar(9) PRIMARY KEY, body text', '0.8, NULL::text');
SELECT try('id char(9) PRIMARY KEY, body text', '0.8, NULL::int');
SELECT try('id text PRIMARY KEY, body text', '0.8, NULL::varchar');
SELECT try('id bigint PRIMARY KEY, body text', '0.8, NULL::int');
SELECT try('id int PRIMARY KEY, body text', '0.8, NULL::uuid');
SELECT try('id json, body text', $$0.8, NULL::json, id_column => 'id'$$);
SELECT try('id json, other text, body text', $$0.8, id_column => 'id'$$);
SELECT try('id point, body text', $$0.8, NULL::point, id_column => 'id'$$);

-- The only text column that is not the id.
SELECT try('id int PRIMARY KEY, anything text');
SELECT try('id int PRIMARY KEY, anything varchar(80), number int, json json, tokens text[], vector tsvector');
SELECT try('id int PRIMARY KEY, anything char(8)');
SELECT try('id int PRIMARY KEY, anything name');
SELECT try('id text PRIMARY KEY, anything text', '0.8, NULL::text');
SELECT try('id int PRIMARY KEY');
SELECT try('id text PRIMARY KEY', '0.8, NULL::text');
SELECT try('id int PRIMARY KEY, number int');
SELECT try('id int PRIMARY KEY, tokens text[]');
SELECT try('id int PRIMARY KEY, tokens text[]', $$0.8, text_column => 'tokens'$$);
-- Of several the only one with a usual name.
SELECT try('id int PRIMARY KEY, title text, body text, author text');
SELECT try('id int PRIMARY KEY, title text, content varchar');
SELECT try('id int PRIMARY KEY, title text, text text');
SELECT try('id int PRIMARY KEY, title text, document text');
SELECT try('body text PRIMARY KEY, title text, text text', '0.8, NULL::text');
SELECT try('id int PRIMARY KEY, title text, author text');
SELECT try('id int PRIMARY KEY, body text, text text');
SELECT try('id int PRIMARY KEY, body text, text text', $$0.8, text_column => 'text'$$);
SELECT try('id int PRIMARY KEY, title text, "Body" text');
SELECT try('id int PRIMARY KEY, body text', $$0.8, text_column => 'Body'$$);
SELECT try('id int PRIMARY KEY, body text', $$0.8, text_column => 'id'$$);
SELECT try('id int PRIMARY KEY, body text, made date', $$0.8, text_column => 'made'$$);
SELECT try('id int PRIMARY KEY, body bytea');
-- Domains are what lies under them.
CREATE DOMAIN key AS int;
CREATE DOMAIN words AS text CHECK (VALUE <> '');
CREATE DOMAIN more_words AS words;
SELECT try('id key PRIMARY KEY, body more_words');
SELECT try('id more_words PRIMARY KEY, body more_words', '0.8, NULL::words');
SELECT try('id more_words PRIMARY KEY, body more_words');
-- Tables without columns, or with very many.
SELECT try('');
SELECT try('', $$0.8, id_column => 'id'$$);
SELECT try('body text');
SELECT try((SELECT string_agg(format('column_%s text', i), ', ') FROM generate_series(1, 1600) i));
SELECT try((SELECT string_agg(format('column_%s int', i), ', ') FROM generate_series(1, 1598) i) || ', id int PRIMARY KEY, body text');
\pset tuples_only off
-- NULL and double ids.
CREATE TABLE ids (id int, word text, body text);
INSERT INTO ids VALUES (1, 'a', 'x'), (2, 'b', 'y'), (1, 'a', NULL);
SELECT * FROM near_duplicates('ids', 0.8, id_column => 'id');
SELECT * FROM near_duplicates('ids', 0.8, NULL::text, id_column => 'word', text_column => 'body');
SELECT near_duplicates('ids', 0.8, id_column => 'id');
UPDATE ids SET id = NULL, word = NULL WHERE id = 2;
SELECT * FROM near_duplicates('ids', 0.8, id_column => 'id');
SELECT * FROM near_duplicates('ids', 0.8, NULL::text, id_column => 'word', text_column => 'body');
DROP SCHEMA columns_test CASCADE;
