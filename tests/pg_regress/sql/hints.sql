-- Hints for what people write first: each is a statement that works.
\set SHOW_CONTEXT never
-- Ids of jsonb, whose type is the third argument's, too.
CREATE TABLE json_ids (id jsonb PRIMARY KEY, body text);
INSERT INTO json_ids VALUES ('1', 'a b c'), ('{"k": 2}', 'a b c');
SELECT * FROM near_duplicates('json_ids', 0.8);
SELECT * FROM near_duplicates('json_ids', 0.8, NULL::jsonb);
SELECT * FROM near_duplicates('json_ids', 0.8, id_type => NULL::jsonb);
SELECT * FROM near_duplicate_clusters('json_ids', method => 'tlcs');
-- A key that is checked later.
CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE, body text);
INSERT INTO deferred VALUES (1, 'a b c'), (2, 'a b c');
SELECT * FROM near_duplicates('deferred', 0.8);
SELECT * FROM near_duplicates('deferred', 0.8, id_column => 'id');
-- Bytes.
CREATE TABLE bytes (id int PRIMARY KEY, body bytea);
INSERT INTO bytes VALUES (1, 'a b c'), (2, 'a b c');
SELECT * FROM near_duplicates('bytes', 0.8);
CREATE TEMP VIEW texts AS SELECT id AS id, convert_from(body, 'UTF8') AS body FROM bytes;
SELECT * FROM near_duplicates('texts', 0.8, id_column => 'id');
SELECT * FROM near_duplicates('bytes', 0.8, text_column => 'body');
SELECT count(*) FROM repeated_runs('bytes', 50, text_column => 'body');
SELECT count(*) FROM partial_duplicates('bytes', 0.8, text_column => 'body');
-- The id column is not taken for the documents, nor these for the ids.
CREATE TABLE tagged (id text, body text[]);
INSERT INTO tagged VALUES ('x', '{a,b,c}'), ('y', '{a,b,c}');
SELECT * FROM near_duplicates('tagged', 0.8);
SELECT * FROM near_duplicates('tagged', 0.8, NULL::text, id_column => 'id');
SELECT * FROM near_duplicates('tagged', 0.8, NULL::text, id_column => 'id', text_column => 'body');
-- Rows in place of texts.
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'one two three'), (2, 'one two four');
SELECT * FROM explain_pair('docs', 1, 2);
SELECT * FROM explain_pair('docs', '1', '2');
SELECT diff_html('json_ids', '1'::jsonb, NULL::jsonb);
SELECT count(*) FROM explain_pair((SELECT body FROM docs WHERE id = 1), (SELECT body FROM docs WHERE id = 2));
SELECT explain_pair_text('one two', 'one three', 80) LIKE '%one%' AS texts;
DROP TABLE json_ids, deferred, tagged, docs;
DROP TABLE bytes CASCADE;
