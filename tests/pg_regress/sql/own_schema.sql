-- In a schema that is not in the search path: hints and calls in results run as they are.
\set SHOW_CONTEXT never
SELECT current_database() AS here \gset
CREATE DATABASE own_schema;
\c own_schema
CREATE SCHEMA "Near dup";
CREATE EXTENSION neardup SCHEMA "Near dup";
CREATE TABLE docs (id text PRIMARY KEY, body text);
INSERT INTO docs VALUES ('a', 'one two three four five six'), ('b', 'one two three four five seven'), ('c', 'nothing like it');
SELECT * FROM "Near dup".near_duplicates('docs', 0.5);
SELECT * FROM "Near dup".near_duplicates('docs', 0.5, NULL::text);
SELECT * FROM "Near dup".clusters_of_pairs('SELECT * FROM "Near dup".near_duplicates(''docs'', 0.5, NULL::text)');
SELECT count(*) FROM "Near dup".clusters_of_pairs('SELECT * FROM "Near dup".near_duplicates(''docs'', 0.5, NULL::text)', id_type => NULL::text);
SELECT id FROM docs WHERE body OPERATOR("Near dup".<@) 'one two';
SELECT id FROM docs WHERE body OPERATOR("Near dup".<@) "Near dup".near('one two three four', 0.5) ORDER BY id;
CREATE TABLE names (name text, EXCLUDE USING signature ("Near dup".near(name, 0.8, method => 'edit') WITH OPERATOR("Near dup".&&)));
CREATE TABLE names (name text, EXCLUDE USING signature ("Near dup".near(name, 0.8, method => 'edit'::text) "Near dup".text_ball_gram_ops WITH OPERATOR("Near dup".&&)));
SELECT "Near dup".neardup_unwatch('docs');
SELECT using_method, call FROM "Near dup".suggest('docs');
SELECT call FROM "Near dup".near_duplicates_plan('docs', 0.5);
SELECT "Near dup".duplicates_report('docs', 0.5, NULL::text) LIKE '%SELECT &quot;Near dup&quot;.duplicates_report(%' AS report;
-- In the search path nothing is named.
SET search_path = public, "Near dup";
SELECT * FROM near_duplicates('docs', 0.5);
SELECT call FROM suggest('docs') LIMIT 1;
\c :here
DROP DATABASE own_schema;
