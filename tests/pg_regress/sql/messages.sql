-- What is told without an error, and what the planner is told.
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'a b c d e'), (2, 'a b c d e f');
-- A threshold that is left out, one that is NULL, and one that has to be NULL.
SELECT count(*) FROM near_duplicates('docs');
SELECT count(*) FROM near_duplicates('docs', NULL);
SELECT count(*) FROM near_duplicates('docs', (SELECT NULL::float8), method => 'dice');
SELECT count(*) FROM near_duplicates('docs', NULL, NULL::int);
SELECT count(*) FROM near_duplicates('docs', (SELECT NULL::float8), NULL::int);
SELECT (near_duplicates('docs', NULL)).similarity;
PREPARE by_threshold(float8) AS SELECT count(*) FROM near_duplicates('docs', $1);
EXECUTE by_threshold(NULL);
-- JSON.
CREATE TABLE logs (id int PRIMARY KEY, data jsonb);
INSERT INTO logs VALUES (1, '{"body": "a b"}'), (2, '{"body": "b a"}');
SELECT * FROM near_duplicates('logs', 0.8, text_column => 'data');
SELECT * FROM near_duplicates('logs', 0.8);
-- Rows by the statistics of the relation.
CREATE FUNCTION estimate(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    EXECUTE 'EXPLAIN ' || query INTO line;
    RETURN substring(line FROM 'rows=\d+');
END
$$;
CREATE VIEW shown AS SELECT * FROM docs;
INSERT INTO docs SELECT i, 'w' || i FROM generate_series(3, 10000) i;
SELECT estimate($$SELECT * FROM near_duplicates('docs', 0.8)$$) AS never_analyzed;
ANALYZE docs;
SELECT call, estimate('SELECT * FROM ' || call) FROM unnest(ARRAY[
    $$near_duplicates('docs', 0.8)$$, $$near_duplicates('docs', 0.8, NULL::int)$$, $$near_duplicates_between('docs', 'logs', 0.8)$$,
    $$near_duplicate_clusters('docs', 0.8)$$, $$eliminate('docs', 0.8)$$, $$partial_duplicates('docs')$$, $$near_duplicates('shown', 0.8)$$,
    $$near_duplicates((SELECT 'docs'::regclass), 0.8)$$, $$near_duplicates(NULL, 0.8)$$, $$near_duplicates(4000000000::oid::regclass, 0.8)$$]) call;
-- Ids that repeat are refused when a job is set up.
CREATE TABLE repeated (k int, body text);
INSERT INTO repeated VALUES (1, 'a b'), (1, 'b a'), (NULL, 'c');
SELECT neardup_watch('repeated', 0.8, id_column => 'k');
UPDATE repeated SET k = 2 WHERE body = 'b a';
SELECT neardup_watch('repeated', 0.8, id_column => 'k');
SELECT neardup_unwatch('repeated');
-- Names that are nearly right.
CREATE INDEX ON docs USING signature (body) WITH (pending_limits = 100);
CREATE INDEX ON docs USING signature (body) WITH (nothing = 100);
SELECT body <-> 'a b' FROM docs LIMIT 1;
DROP FUNCTION estimate;
DROP TABLE docs, logs, repeated CASCADE;
-- Texts that are too short for runs of words and for sentences: the call of the hint works.
CREATE TABLE titles ("key" text PRIMARY KEY, title text);
INSERT INTO titles SELECT 'n' || i, format('%s a%s b%s c%s quay', CASE i % 2 WHEN 0 THEN 'News' ELSE 'Notes' END, i / 2, i / 2, i / 2) FROM generate_series(2, 41) i;
SELECT count(*) FROM near_duplicates('titles', 0.8, NULL::text, method => 'minhash');
SELECT count(*) FROM near_duplicates('titles', 0.5, NULL::text);
SELECT count(*) FROM near_duplicates('titles', 0.8, NULL::text, shingle => 5);
SELECT count(*) FROM near_duplicates('titles', 0.5, NULL::text, tokenizer => 'html', shingle => 5);
SELECT count(*) FROM near_duplicates('titles', NULL, NULL::text, method => 'shingling');
SELECT count(*) FROM near_duplicates('titles', NULL, NULL::text, method => 'combined');
SELECT count(*) FROM near_duplicates('titles', NULL, NULL::text, method => 'tlcs');
SELECT count(*) FROM near_duplicates('titles', NULL, NULL::text, method => 'spotsigs');
SELECT count(*) FROM near_duplicate_clusters('titles', NULL, NULL::text, method => 'lcs', clustering => 'perhaps_similar');
SELECT count(*) FROM eliminate('titles', 0.8, NULL::text, method => 'minhash');
SELECT count(*) FROM partial_duplicates('titles', NULL, NULL::text);
SELECT count(*) FROM near_duplicates_between('titles', 'titles', 0.9, NULL::text, method => 'minhash');
SELECT median_words FROM near_duplicates_stats();
-- A few titles, shingles that are short, and longer texts are no reason to tell anything.
SELECT count(*) FROM near_duplicates('titles', 0.8, NULL::text, shingle => 3);
CREATE VIEW longer AS SELECT "key" AS id, repeat(title || ' ', 4) AS body FROM titles;
SELECT count(*) FROM near_duplicates('longer', 0.8, NULL::text, id_column => 'id', shingle => 5);
SELECT median_words FROM near_duplicates_stats();
CREATE VIEW few AS SELECT "key" AS id, title FROM titles ORDER BY "key" LIMIT 19;
SELECT count(*) FROM near_duplicates('few', 0.8, NULL::text, id_column => 'id', shingle => 5);
DROP VIEW few, longer;
DROP TABLE titles;
