-- Somebody who prepares texts for training has a file of them.
-- The aim: a file in which each text is once.

-- Given
\copy (SELECT i AS id, 'crawl' AS source, CASE WHEN i % 50 = 0 THEN '404' ELSE 'Page ' || (SELECT string_agg(md5((i / 2 * 100 + j)::text), ' ') FROM generate_series(1, 60) j) || CASE WHEN i % 2 = 1 THEN ' Print this page' ELSE '' END END AS body FROM generate_series(2, 401) i) TO 'corpus.csv' (FORMAT csv, HEADER)

-- 1. README.md, docs/README.md, docs/recipes/training-corpus.md
CREATE EXTENSION neardup;

-- 2. docs/recipes/training-corpus.md
CREATE TABLE corpus (id bigint PRIMARY KEY, source text NOT NULL, body text);

-- 3. docs/recipes/training-corpus.md
\copy corpus FROM 'corpus.csv' (FORMAT csv, HEADER)

-- 4. docs/recipes/training-corpus.md
CREATE VIEW long_enough AS SELECT * FROM corpus WHERE cardinality(words(body)) >= 5;

-- 5. docs/recipes/training-corpus.md
CREATE TABLE gone AS SELECT * FROM eliminate('long_enough', 0.8, id_column => 'id', text_column => 'body', shingle => 5, keep => 'longest');

-- 6. docs/recipes/training-corpus.md
CREATE TABLE kept AS SELECT l.* FROM long_enough l WHERE NOT EXISTS (SELECT FROM gone g WHERE g.id = l.id);

-- 7. docs/recipes/training-corpus.md
\copy (SELECT * FROM kept ORDER BY id) TO 'kept.csv' (FORMAT csv, HEADER)

-- Reached: 200 of 400 texts, each once
CREATE TEMP TABLE out (LIKE corpus);
\copy out FROM 'kept.csv' (FORMAT csv, HEADER)
SELECT format('%s of %s texts, each %s', (SELECT count(*) FROM out), (SELECT count(*) FROM corpus),
    CASE WHEN EXISTS (SELECT FROM near_duplicates('out', 0.8, id_column => 'id', text_column => 'body', shingle => 5)) THEN 'more than once' ELSE 'once' END);
