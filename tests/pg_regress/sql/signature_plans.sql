-- When the planner takes a signature index: at several sizes of table, thresholds, and numbers of rows that are found.
\getenv tests PG_ABS_SRCDIR
\set plan :tests /plan.psql
\i :plan
CREATE TABLE docs (id int, body text, m minhash_sketch, h simhash_sketch, tags bigint[], ids uuid[]);
CREATE INDEX docs_m ON docs USING signature (m) WITH (threshold = 0.7);
CREATE INDEX docs_h ON docs USING signature (h) WITH (distance = 5);
CREATE INDEX docs_tags ON docs USING signature (tags);
CREATE INDEX docs_ids ON docs USING signature (ids);

-- Texts of 30 words. Tags: 1 has every row, 2 every other, 3 every hundredth, and 10 and more are of one row each.
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO docs
    SELECT id, body, minhash(body), simhash(body),
        ARRAY[1, id + 9] || CASE WHEN id % 2 = 0 THEN ARRAY[2] END || CASE WHEN id % 100 = 0 THEN ARRAY[3] END,
        ARRAY[md5(id::text)::uuid]
    FROM (SELECT id, (SELECT string_agg('w' || abs(hashint4(id * 40 + n)) % 5000, ' ' ORDER BY n) FROM generate_series(1, 30) n) AS body
        FROM generate_series(first, last) id) d
$$;
CREATE TABLE queries (n serial, condition text);
INSERT INTO queries (condition) VALUES
    ('body <@ near(''one two three four five six'', 1)'),
    ('body <@ near(''one two three four five six'', 0.8)'),
    ('body <@ near(''one two three four five six'', 0.79)'),
    ('body <@ near(''one two three four five six'', 0.8, 4)'),
    ('m <@ near(minhash(''one two three four five six''), 1)'),
    ('m <@ near(minhash(''one two three four five six''), 0.9)'),
    ('m <@ near(minhash(''one two three four five six''), 0.7)'),
    ('m <@ near(minhash(''one two three four five six''), 0.69)'),
    ('m <@ near(minhash(''one two three four five six''), 0.1)'),
    ('h <@ near(simhash(''one two three four five six''), 0)'),
    ('h <@ near(simhash(''one two three four five six''), 5)'),
    ('h <@ near(simhash(''one two three four five six''), 6)'),
    ('h <@ near(simhash(''one two three four five six''), 30)'),
    ('tags && ''{10}'''),
    ('tags && ''{10,11,12,13,14,15,16,17}'''),
    ('tags && ''{3}'''),
    ('tags && ''{1}'''),
    ('tags && ''{1,2,3,10}'''),
    ('shares(tags, ''{10,11,12}'', 2)'),
    ('ids && ARRAY[md5(''7'')::uuid]'),
    ('true ORDER BY m <%> minhash(''one two three four five six'') LIMIT 5'),
    ('true ORDER BY h <~> simhash(''one two three four five six'') LIMIT 5'),
    ('true ORDER BY m <%> minhash(''one two three four five six'')');
CREATE FUNCTION way(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) SELECT id FROM docs WHERE ' || condition INTO plan;
    RETURN coalesce(substring(plan::text FROM '"Index Name": "(\w+)"'), '-');
END $$;
CREATE TABLE ways (size int, n int, way text);
CREATE FUNCTION look(size int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO ways SELECT size, n, way(condition) FROM queries
$$;

SELECT fill(1, 10);
VACUUM ANALYZE docs;
SELECT look(10);
SELECT fill(11, 1000);
VACUUM ANALYZE docs;
SELECT look(1000);
SELECT fill(1001, 20000);
VACUUM ANALYZE docs;
SELECT look(20000);
SELECT condition, string_agg(way, ' ' ORDER BY size) FILTER (WHERE size = 10) AS "10 rows",
    string_agg(way, ' ' ORDER BY size) FILTER (WHERE size = 1000) AS "1,000 rows",
    string_agg(way, ' ' ORDER BY size) FILTER (WHERE size = 20000) AS "20,000 rows"
FROM ways JOIN queries USING (n) GROUP BY n, condition ORDER BY n;

-- Each scan is counted once.
SELECT pg_stat_reset_single_table_counters(indexrelid) FROM pg_index WHERE indrelid = 'docs'::regclass \g /dev/null
SELECT pg_stat_force_next_flush();
SELECT count(*) FROM docs WHERE m <@ near((SELECT m FROM docs WHERE id = 7), 0.9);
SELECT count(*) FROM docs WHERE m <@ near((SELECT m FROM docs WHERE id = 7), 0.7);
SELECT count(*) FROM docs WHERE ids && ARRAY[md5('7')::uuid];
SELECT pg_stat_force_next_flush();
SELECT indexrelname, idx_scan, idx_tup_read FROM pg_stat_user_indexes WHERE relname = 'docs' ORDER BY 1;

-- What the index cannot decide alone is rechecked, and EXPLAIN ANALYZE tells how many rows that removed: three share 11 or 12 with
-- the query, one of them both.
CREATE TABLE pairs (tags bigint[]);
INSERT INTO pairs SELECT ARRAY[n, n + 1] FROM generate_series(1, 3000) n;
CREATE INDEX pairs_tags ON pairs USING signature (tags);
ANALYZE pairs;
SET enable_seqscan = off;
SELECT plan($$SELECT * FROM pairs WHERE shares(tags, '{11,12}', 2)$$, true);
RESET enable_seqscan;

-- Of a document that comes when the query runs it is known by which arguments it is compared.
CREATE INDEX docs_words ON docs USING signature (body);
CREATE INDEX docs_runs ON docs USING signature (body text_set_ops (shingle = 5));
CREATE INDEX docs_sketches ON docs USING signature (minhash(body));
CREATE INDEX docs_of_words ON docs USING signature (minhash(body, 1) minhash_jaccard_ops (k = 1));
ANALYZE docs;
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION prepared(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'PREPARE search(text, float8, text_ball) AS SELECT id FROM docs WHERE ' || condition;
    EXECUTE 'EXPLAIN (FORMAT json) EXECUTE search(''one two'', 0.8, NULL)' INTO plan;
    DEALLOCATE search;
    RETURN coalesce(substring(plan::text FROM '"Index Name": "(\w+)"'), '-');
END $$;
SELECT condition, prepared(condition) FROM unnest('{
    "body <@ near($1, 0.8)",
    "body <@ near($1, 0.8, 5)",
    "body <@ near($1, 0.8, 4)",
    "body <@ near($1, 0.69)",
    "body <@ near($1, $2)",
    "body <@ near($1, $2, 5)",
    "body <@ near(lower($1), 0.8, 5)",
    "body <@ near($1, 0.8, 5) AND body <@ near(''one two'', 0.5)",
    "minhash(body) <@ near(minhash($1), 0.8)",
    "minhash(body, 1) <@ near(minhash($1, 1), 0.8)",
    "minhash(body) <@ near(minhash($1), 0.1)",
    "true ORDER BY body <-> near($1, 0.8) LIMIT 3",
    "true ORDER BY body <-> near($1, 0.8, 5) LIMIT 3"}'::text[]) condition;
SELECT way('body <@ near((SELECT body FROM docs WHERE id = 7), 0.8, 5)');
-- What is wrong with a constant is said, whatever the document is.
PREPARE wrong(text) AS SELECT id FROM docs WHERE body <@ near($1, 1.5);
EXECUTE wrong('one two');
DROP FUNCTION prepared;
DROP TABLE docs, queries, ways, pairs;
DROP FUNCTION fill, way, look, plan;
