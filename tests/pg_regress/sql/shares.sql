-- Arrays that share at least r elements, and the index condition that the planner is told of.
SELECT shares('{1,2,3}'::bigint[], '{3,2,9}', 2) AS two, shares('{1,2,3}'::bigint[], '{3,2,9}', 3) AS three,
    shares('{1,1}'::bigint[], '{1,1}', 2) AS repeats, shares('{NULL,NULL}'::bigint[], '{NULL,NULL}') AS nulls,
    shares('{}'::bigint[], '{1}') AS none, shares('{{1,2},{3,4}}'::bigint[], '{4,1}', 2) AS square, shares(NULL::bigint[], '{1}') AS null;
SELECT shares(ARRAY[md5('a'), md5('b')]::uuid[], ARRAY[md5('b'), md5('a'), md5('c')]::uuid[], 2) AS two,
    shares(ARRAY[md5('a')]::uuid[], ARRAY[md5('b')]::uuid[]) AS none;

\getenv tests PG_ABS_SRCDIR
\set plan :tests /plan.psql
\i :plan
CREATE TABLE signed(id int, numbers bigint[], uuids uuid[]);
INSERT INTO signed SELECT n, ARRAY[n, n / 2, n % 100, NULL], ARRAY[md5((n / 3)::text), md5((n % 7)::text)]::uuid[] FROM generate_series(1, 5000) n;
CREATE INDEX signed_numbers ON signed USING gin (numbers);
CREATE INDEX signed_uuids ON signed USING gin (uuids);
ANALYZE signed;
EXPLAIN (COSTS OFF) SELECT id FROM signed WHERE shares(numbers, '{4000,2000,7}', 2);
SELECT id FROM signed WHERE shares(numbers, '{4000,2000,7}', 2) ORDER BY id;
EXPLAIN (COSTS OFF) SELECT id FROM signed WHERE shares(ARRAY[md5('1000'), md5('1')]::uuid[], uuids, 2);
SELECT id FROM signed WHERE shares(ARRAY[md5('1000'), md5('1')]::uuid[], uuids, 2) ORDER BY id;
-- As many as without the index.
SELECT count(*) FROM signed WHERE shares(numbers, '{17,300,150,42}', 2);
SET enable_bitmapscan = off;
SELECT count(*) FROM signed WHERE shares(numbers, '{17,300,150,42}', 2);
RESET enable_bitmapscan;
-- Joins: the inner side by the index; parameters and other rows' values serve as well.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SELECT plan($$SELECT a.id FROM (SELECT * FROM signed LIMIT 3) a JOIN signed b ON shares(a.numbers, b.numbers, 2)$$);
PREPARE search(bigint[], int) AS SELECT count(*) FROM signed WHERE shares(numbers, $1, $2);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE search('{17,300,150,42}', 2);
EXECUTE search('{17,300,150,42}', 2);
EXECUTE search('{17,300,150,42}', 3);
-- No index for what the same row says, for what is no constant, or where r is wrong.
SELECT plan($$SELECT id FROM signed WHERE shares(numbers, ARRAY[id]::bigint[] || numbers, 2)$$);
SELECT plan($$SELECT id FROM signed WHERE shares(numbers, ARRAY[(random() * 10)::bigint], 1)$$);
SELECT id FROM signed WHERE shares(numbers, '{-1}', 0);
RESET ALL;
-- The planner expects as many rows as for &&.
CREATE FUNCTION expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->'Plan Rows';
END $$;
SELECT expected($$SELECT FROM signed WHERE shares(numbers, '{17}')$$) = expected($$SELECT FROM signed WHERE numbers && '{17}'$$) AS same;

-- Balls: by the column's statistics, few where there are none.
CREATE TABLE near_rows AS SELECT n AS id, simhash((n % 50)::text || ' a') AS s FROM generate_series(1, 10000) n;
SELECT expected($$SELECT FROM near_rows WHERE s <@ near(simhash('7 a'), 0)$$) < 10 AS few;
ANALYZE near_rows;
SELECT expected($$SELECT FROM near_rows WHERE s <@ near(simhash('7 a'), 0)$$) BETWEEN 150 AND 250 AS two_hundred,
    expected($$SELECT FROM near_rows WHERE near(simhash('7 a'), 0) @> s$$) BETWEEN 150 AND 250 AS two_hundred,
    expected($$SELECT FROM near_rows WHERE s <@ near(simhash('7 a'), 63)$$) > 9000 AS nearly_all,
    expected($$SELECT FROM near_rows a, near_rows b WHERE a.s <@ near(b.s, 3)$$) AS join;
DROP TABLE signed, near_rows;
DROP FUNCTION expected, plan;
