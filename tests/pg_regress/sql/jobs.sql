-- What jobs take that calls take, or a message that says what to do.
\set SHOW_CONTEXT never
\set VERBOSITY default
-- A text-search configuration of one's own: looked up by the path of the caller.
CREATE SCHEMA tools;
CREATE TEXT SEARCH CONFIGURATION tools."My words" (COPY = simple);
CREATE TABLE people (id int PRIMARY KEY, body text);
INSERT INTO people VALUES (1, 'Jose Munoz cafe'), (2, 'JOSE munoz, cafe!'), (3, 'somebody else');
SET search_path = public, tools;
SELECT neardup_watch('people', 0.8, tokenizer => 'tsearch:"My words"');
RESET search_path;
CALL neardup_refresh('people');
TABLE people_pairs;
SELECT settings ->> 'tokenizer' AS tokenizer FROM neardup_jobs;
SELECT neardup_unwatch('people');
SELECT neardup_watch('people', 0.8, tokenizer => 'tsearch:simple');
SELECT settings ->> 'tokenizer' AS tokenizer FROM neardup_jobs;
SELECT neardup_unwatch('people');
SELECT neardup_watch('people', 0.8, tokenizer => 'tsearch:nothing');
-- In the schema of the documents: also where the search path has none, as in a restore.
CREATE TEXT SEARCH CONFIGURATION public.beside (COPY = simple);
SET search_path = '';
SELECT * FROM public.near_duplicates('public.people', 0.8, tokenizer => 'tsearch:beside');
SELECT * FROM public.near_duplicates('public.people', 0.8, tokenizer => 'tsearch:"My words"');
RESET search_path;

-- A view over a function that finds its names by a search path.
CREATE FUNCTION tools.plain(t text) RETURNS text LANGUAGE sql IMMUTABLE RETURN lower($1);
SET search_path = public, tools;
CREATE FUNCTION plain_name(t text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT plain(t)';
CREATE FUNCTION spelled(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN plain(t); END';
CREATE VIEW inlined AS SELECT id, plain_name(body) AS body FROM people;
CREATE VIEW called AS SELECT id, spelled(body) AS body FROM people;
SELECT count(*) FROM near_duplicates('inlined', 0.8, id_column => 'id');
SELECT neardup_watch('inlined', 0.8, id_column => 'id');
SELECT neardup_watch('called', 0.8, id_column => 'id');
ALTER FUNCTION spelled SET search_path = public, tools;
SELECT neardup_watch('called', 0.8, id_column => 'id');
CALL neardup_refresh('called');
TABLE called_pairs;
ALTER FUNCTION spelled RESET ALL;
CALL neardup_refresh('called');
SELECT neardup_unwatch('called');
RESET search_path;

-- An owner who may create nothing beside the table.
CREATE ROLE job_owner;
GRANT USAGE ON SCHEMA tools TO job_owner;
CREATE TABLE tools.owned (id int PRIMARY KEY, body text);
ALTER TABLE tools.owned OWNER TO job_owner;
SET ROLE job_owner;
SELECT neardup_watch('tools.owned', 0.8);
RESET ROLE;
GRANT CREATE ON SCHEMA tools TO job_owner;
SELECT neardup_watch('tools.owned', 0.8);
SELECT neardup_unwatch('tools.owned');

-- Keys and tables that a job does not take: the hints run.
CREATE TABLE events (day date, place int, body text, PRIMARY KEY (day, place));
SELECT neardup_watch('events', 0.8);
CREATE VIEW one_key AS SELECT (day, place)::text AS id, body AS body FROM events;
SELECT neardup_watch('one_key', 0.8, id_column => 'id', text_column => 'body');
SELECT neardup_unwatch('one_key');
DROP VIEW one_key;
CREATE TEMP TABLE passing (name text PRIMARY KEY, title text, note text);
SELECT neardup_watch('passing', 0.8);
SELECT * FROM near_duplicates('passing', 0.8, id_type => NULL::text, text_column => 'title');
CREATE TEMP TABLE passing_events (LIKE events INCLUDING ALL);
SELECT neardup_watch('passing_events', 0.8);
CREATE TEMP VIEW one_key AS SELECT (day, place)::text AS id, body AS body FROM passing_events; SELECT * FROM near_duplicates('one_key', 0.8, id_type => NULL::text, id_column => 'id', text_column => 'body');
CREATE TABLE deferred (id int PRIMARY KEY DEFERRABLE, body text);
SELECT neardup_watch('deferred', 0.8);
SELECT neardup_watch('deferred', 0.8, id_column => 'id');
SELECT neardup_unwatch('deferred');

-- What others made of the results stays, and the job ends.
SELECT neardup_watch('people', 0.8);
CALL neardup_refresh('people');
ALTER TABLE people_pairs ADD COLUMN verdict text;
UPDATE people_pairs SET verdict = 'the same person';
INSERT INTO people VALUES (4, 'somebody else, too'), (5, 'somebody else too');
CALL neardup_refresh('people');
TABLE people_pairs ORDER BY left_id, right_id;
CREATE VIEW todo AS SELECT * FROM people_pairs WHERE verdict IS NULL;
CREATE TABLE notes (left_id int, right_id int, note text, FOREIGN KEY (left_id, right_id) REFERENCES people_pairs);
SELECT neardup_unwatch('people');
SELECT count(*) FROM todo;
SELECT docs FROM neardup_jobs;
SELECT to_regclass('people_clusters') AS clusters, to_regclass('people_neardup') AS state;
SELECT neardup_watch('people', 0.8);
DROP VIEW todo;
DROP TABLE notes;
DROP TABLE people_pairs;
SELECT neardup_watch('people', 0.8);
SELECT neardup_unwatch('people');
DROP VIEW inlined, called;
DROP FUNCTION plain_name, spelled;
DROP TABLE people, events, deferred;
DROP TEXT SEARCH CONFIGURATION public.beside;
DROP SCHEMA tools CASCADE;
DROP ROLE job_owner;
