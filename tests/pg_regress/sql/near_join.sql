-- A join by <@ near(...) as one batch: the plan, and the same rows as by loops and by an index.
\pset null '(null)'
\getenv tests PG_ABS_SRCDIR
\set plan :tests /plan.psql
\i :plan
CREATE TABLE a(id int PRIMARY KEY, body text, words text[], numbers bigint[], lexemes tsvector, kind int);
INSERT INTO a SELECT i, t, regexp_split_to_array(t, ' '), ARRAY[i / 3, i / 4, 7, 8, 9], to_tsvector('simple', t), i % 3
FROM (SELECT i, (SELECT string_agg('w' || (i - i % 4) * 31 % 500 + j * (1 + i % 4 / 3), ' ' ORDER BY j) FROM generate_series(1, 6 + i / 4 % 20) j) AS t
    FROM generate_series(1, 300) i) t;
INSERT INTO a VALUES (1001, NULL, NULL, NULL, NULL, 0), (1002, '', '{}', '{}', '', 1), (1003, '', '{}', '{}', '', 1), (1004, ' . ', '{}', '{}', '', NULL),
    (1005, 'a b c', '{a,b,c}', '{1,2}', 'a b c', 2), (1006, 'c b a a', '{c,b,a,a}', '{2,1}', 'a b c', 2);
CREATE VIEW others AS SELECT * FROM a WHERE id % 2 = 0 OR id > 1000;
VACUUM ANALYZE a;

EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) WHERE x.id < y.id;
EXPLAIN (COSTS OFF, VERBOSE) SELECT upper(x.body), y.kind FROM a x JOIN a y ON near(lower(y.body), 0.7, shingle => 2) @> lower(x.body);
-- Few rows of one side, and an index on the other one: a search.
CREATE INDEX a_body ON a USING signature (body);
EXPLAIN (COSTS OFF) SELECT x.id FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) WHERE y.id = 7;
DROP INDEX a_body;

-- differ QUERY: the number of rows by the batch join, and of those that only one of the two plans gives.
CREATE FUNCTION differ(query text, OUT is_batch bool, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    is_batch := false;
    -- A batch wherever there can be one, in all versions.
    SET LOCAL enable_nestloop = off;
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
        is_batch := is_batch OR line ~ 'NearJoin';
    END LOOP;
    EXECUTE 'CREATE TEMP TABLE batch AS ' || query;
    SET LOCAL enable_nestloop = on;
    SET LOCAL neardup.enable_near_join = off;
    EXECUTE 'CREATE TEMP TABLE loops AS ' || query;
    SET LOCAL neardup.enable_near_join = on;
    SELECT count(*) INTO rows FROM batch;
    SELECT count(*) INTO differences FROM ((TABLE batch EXCEPT ALL TABLE loops) UNION ALL (TABLE loops EXCEPT ALL TABLE batch)) d;
    DROP TABLE batch, loops;
END $$;

SELECT c.condition, d.* FROM unnest(ARRAY[
    'x.body <@ near(y.body, 0.8)',
    'x.body <@ near(y.body)',
    'near(y.body, 0.5) @> x.body',
    'x.body <@ near(y.body, 1)',
    'x.body <@ near(y.body, 0.6, shingle => 2)',
    'x.body <@ near(y.body, 0.6, multiset => false)',
    'x.body <@ near(y.body, 0.6, tokenizer => ''chars'')',
    'x.body <@ near(y.body, 0.9, method => ''cosine'')',
    'x.body <@ near(y.body, 0.9, method => ''dice'')',
    'x.body <@ near(y.body, 0.9, method => ''overlap'')',
    'x.body <@ near(y.body, 0.9, method => ''containment'')',
    'y.body <@ near(x.body, 0.9, method => ''containment'')',
    'x.words <@ near(y.words, 0.7)',
    'x.numbers <@ near(y.numbers, 0.7)',
    'x.lexemes <@ near(y.lexemes, 0.7)',
    'lower(x.body) <@ near(upper(y.body), 0.8)',
    'x.body <@ near(y.body, 0.8) AND x.id < y.id',
    'x.body <@ near(y.body, 0.8) AND x.kind = y.kind AND x.body <@ near(y.body, 0.9, method => ''dice'')']) c(condition),
    differ('SELECT x.id, y.id AS other, y.kind FROM a x JOIN others y ON ' || c.condition) d;

-- Not a batch join: what depends on the rows of the other side, pages, random texts, one side alone.
SELECT d.is_batch, d.differences, left(q, 90) AS query FROM unnest(ARRAY[
    'SELECT x.id, y.id AS other FROM a x JOIN others y ON x.body <@ near(y.body, 0.5 + y.id % 2 * 0.4)',
    'SELECT x.id, y.id AS other FROM a x JOIN others y ON x.body <@ near(y.body, 0.8, tokenizer => ''html'')',
    'SELECT x.id, y.id AS other FROM a x JOIN others y ON x.body <@ near(x.body || y.body, 0.8)',
    'SELECT x.id, y.id AS other FROM a x JOIN others y ON x.body <@ near((SELECT y.body LIMIT 1), 0.8)']) q, differ(q) d;
-- Another condition that is checked on the pairs, an aggregate, a third table, a sort, a limit.
SELECT d.*, left(q, 100) AS query FROM unnest(ARRAY[
    'SELECT x.kind, count(*) AS n FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) AND x.id <> y.id GROUP BY x.kind',
    'SELECT x.id, z.id AS other FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) JOIN others z ON z.id = y.id + 1',
    'SELECT x.id, y.id AS other, row_number() OVER (ORDER BY x.id, y.id) AS n FROM a x JOIN a y ON x.body <@ near(y.body, 0.8)',
    'SELECT x.id, l.id AS other FROM (SELECT * FROM a WHERE id < 10) x LEFT JOIN LATERAL (SELECT y.id FROM a y JOIN a z ON y.body <@ near(z.body, 0.8) WHERE z.kind = x.kind AND y.id > z.id) l ON true',
    'SELECT y.id AS id FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) UNION ALL SELECT y.id FROM a x JOIN others y ON x.body <@ near(y.body, 0.9)']) q, differ(q) d;

-- A prepared statement, a cursor that is left, rows that are locked.
PREPARE p(float8) AS SELECT count(*) FROM a x JOIN a y ON x.body <@ near(y.body, $1);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(0.8); EXECUTE p(0.5); EXECUTE p(NULL);
EXECUTE p(1.5);
EXPLAIN (COSTS OFF) EXECUTE p(0.8);
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT x.id, y.id FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) AND x.id < y.id;
MOVE 10 FROM c; MOVE BACKWARD 10 FROM c; MOVE 20 FROM c;
COMMIT;
SELECT count(*) FROM (SELECT x.id FROM a x JOIN a y ON x.body <@ near(y.body, 0.8) AND x.id < y.id FOR UPDATE) l;
-- Little memory: the rows are kept in a file.
SET neardup.memory = '1MB';
SELECT d.* FROM differ('SELECT x.id, y.id AS other, x.body, y.words FROM a x JOIN a y ON x.body <@ near(y.body, 0.8)') d;
CREATE TABLE long AS SELECT id, repeat(body || ' ', 20) || id AS body FROM a WHERE id <= 100;
SELECT d.* FROM differ('SELECT x.id, y.id AS other, x.body AS b, y.body AS c FROM long x JOIN long y ON x.body <@ near(y.body, 0.8)') d;
RESET neardup.memory;
-- Errors are those of the expressions.
SELECT count(*) FROM a x JOIN a y ON x.body <@ near(y.body, 1.5);
SELECT count(*) FROM a x JOIN a y ON x.body <@ near((1 / (y.id - 5))::text, 0.8);
SELECT count(*) FROM a x JOIN a y ON x.body <@ near(y.body, 0.8, method => 'none');
-- Conditions of security barriers come first.
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM a WHERE kind = 1;
EXPLAIN (COSTS OFF) SELECT x.id FROM barrier x JOIN a y ON x.body <@ near(y.body, 0.8);
SELECT d.* FROM differ('SELECT x.id, y.id AS other FROM barrier x JOIN barrier y ON x.body <@ near(y.body, 0.8)') d;

-- Estimates follow the statistics of the columns: most common values, their number, values that are near and not equal.
CREATE TABLE people AS SELECT i AS id, i / 2 AS household, i % 9 AS kind, 'name unknown' AS same,
    CASE WHEN i % 10 = 0 THEN 'name unknown' ELSE 'person ' || md5(i::text) END AS tenth, 'person ' || md5(i::text) AS distinct_names,
    'person of group ' || i % 40 AS grouped, 'one two three four five six seven eight nine ' || i AS template,
    CASE WHEN i % 4 = 0 THEN NULL ELSE 'name unknown' END AS nulls
FROM generate_series(1, 500) i;
ANALYZE people;
-- estimated QUERY: the estimate of the rows divided by their number.
CREATE FUNCTION estimated(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
    rows float8;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO rows;
    RETURN (plan->0->'Plan'->>'Plan Rows')::float8 / rows;
END $$;
SELECT name, kind, estimated(format(query, name)) BETWEEN 0.3 AND 3 AS is_about
FROM unnest('{same,tenth,distinct_names,grouped,template,nulls}'::text[]) WITH ORDINALITY n(name, n), (VALUES
    ('join', 'SELECT a.id, b.id FROM people a JOIN people b ON a.%1$I <@ near(b.%1$I, 0.8)'),
    ('join', 'SELECT a.id, b.id FROM people a JOIN people b ON a.%1$I <@ near(b.%1$I, 0.8) AND a.household = b.household'),
    ('exists', 'SELECT a.id FROM people a WHERE EXISTS (SELECT FROM people b WHERE a.%1$I <@ near(b.%1$I, 0.8))')) q(kind, query)
WHERE kind = 'join' AND query !~ 'household' OR name IN ('same', 'template', 'nulls')
ORDER BY n, query;
-- A ball that is not known: one of the values of the column.
PREPARE one(text) AS SELECT id FROM people WHERE same <@ near($1, 0.8);
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION estimated_rows(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Plan Rows')::float8;
END $$;
SELECT estimated_rows('EXECUTE one(''name unknown'')');
RESET plan_cache_mode;
SELECT estimated_rows('SELECT id FROM people WHERE grouped <@ near((SELECT grouped FROM people WHERE id = 7), 0.8)') BETWEEN 5 AND 30 AS is_about;
-- Of two near conditions, the one that fewer pairs pass makes the batch, whichever is written first.
EXPLAIN (COSTS OFF) SELECT a.id FROM people a JOIN people b ON a.same <@ near(b.same, 0.8) AND a.distinct_names <@ near(b.distinct_names, 0.8);
EXPLAIN (COSTS OFF) SELECT a.id FROM people a JOIN people b ON a.distinct_names <@ near(b.distinct_names, 0.8) AND a.same <@ near(b.same, 0.8);
-- Equalities are a part of the key, and EXPLAIN ANALYZE counts what was compared and what was removed.
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT regexp_replace(line, '\d+ kB', 'N kB') AS plan FROM (SELECT plan($$SELECT a.id, b.id FROM people a JOIN people b ON a.same <@ near(b.same, 0.8) AND a.household = b.household AND a.id < b.id$$, true)) p(line);
SELECT regexp_replace(line, '\d+ kB', 'N kB') AS plan FROM (SELECT plan($$SELECT a.id, b.id FROM people a JOIN people b ON a.template <@ near(b.template, 0.8) AND a.household = b.household$$, true)) p(line);
SELECT regexp_replace(line, '\d+ kB', 'N kB') AS plan FROM (SELECT plan($$SELECT a.id, b.id FROM people a LEFT JOIN people b ON near(b.grouped, 0.8) @> a.grouped AND b.id > a.id + 490 WHERE b.id IS NULL OR b.kind = 1$$, true)) p(line);
SELECT d.* FROM unnest(ARRAY[
    'SELECT x.id, y.id AS other FROM people x JOIN people y ON x.same <@ near(y.same, 0.8) AND x.household = y.household AND x.kind = y.kind',
    'SELECT x.id, y.id AS other FROM people x JOIN people y ON x.nulls <@ near(y.nulls, 0.8) AND x.household::bigint = y.household AND nullif(x.kind, 3) = nullif(y.kind, 4)',
    'SELECT x.id, y.id AS other FROM people x LEFT JOIN people y ON y.tenth <@ near(x.tenth, 0.8) AND x.household = y.household + 1 AND upper(x.same) = upper(y.same)',
    'SELECT x.id FROM people x WHERE NOT EXISTS (SELECT FROM people y WHERE y.same <@ near(x.same, 0.8) AND x.household = y.id AND x.id > y.id)',
    'SELECT x.id FROM people x WHERE EXISTS (SELECT FROM people y WHERE x.template <@ near(y.template, 0.8) AND x.household = y.household AND y.id <> x.id)']) q, differ(q) d;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
-- A scan of short texts costs less than one of long texts: neither is compiled for few rows.
CREATE TABLE long_texts AS SELECT id, repeat(template || ' ', 10) AS body FROM people;
ANALYZE long_texts;
CREATE FUNCTION cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN (plan->0->'Plan'->>'Total Cost')::float8;
END $$;
SELECT cost($$SELECT id FROM people WHERE distinct_names <@ near('person unknown', 0.9)$$) < 500 * 0.5 AS names,
    cost($$SELECT id FROM long_texts WHERE body <@ near('person unknown', 0.9)$$) BETWEEN 500 AND 500 * 10 AS texts;
