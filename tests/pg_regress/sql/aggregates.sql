-- Every aggregate of the extension, in every way in which the server may ask for its result: again and again of a hash table that it
-- keeps, in grouping sets, in parallel plans. An aggregate without a call here is a row of the first result.
SET search_path = public, neardup_internal;
CREATE TABLE docs AS SELECT i AS id, i % 3 AS g, format('the quick brown fox number %s and the lazy dog of house %s', i % 7, i % 5) AS body FROM generate_series(1, 60) i;
CREATE TABLE calls(name text, method jsonb);
INSERT INTO calls SELECT m->>'method', m FROM unnest('{"{\"method\": \"jaccard\", \"threshold\": 0.5}","{\"method\": \"minhash\", \"threshold\": 0.5}","{\"method\": \"imatch\"}","{\"method\": \"edit\", \"threshold\": 0.8}"}'::jsonb[]) m;
CREATE TABLE sets AS SELECT name, method, id::bigint, g, neardup_part_document(body, NULL, NULL, NULL, method) AS set FROM docs, calls;
CREATE TABLE orders AS SELECT name, neardup_part_ranks(set, method, NULL) AS ranks FROM sets GROUP BY name;
CREATE TABLE rows AS SELECT name, method, id, g, r.* FROM sets JOIN orders USING (name), neardup_part_rows(set, ranks, method, 1) r;
CREATE TABLE packed AS SELECT name, g, unnest(neardup_part_pack(id, set, ranks, method, 1, NULL)) AS rows FROM sets JOIN orders USING (name) GROUP BY name, g;
CREATE TABLE asked AS SELECT of, name, replace(replace(expression, '{method}', quote_literal(method)), '{name}', quote_literal(name)) AS expression,
    format('(SELECT * FROM %I WHERE name = %L) s', source, name) AS source
FROM calls, (VALUES
    ('neardup_part_ranks(bytea,jsonb,neardup_internal)', 'neardup_part_ranks(set, {method}, NULL)', 'sets'),
    ('neardup_part_join(bigint,integer,bytea,bytea,jsonb,neardup_internal)', 'neardup_part_join(id, size, bitmap, prefix, {method}, NULL)', 'rows'),
    ('neardup_part_pack(bigint,bytea,bytea,jsonb,integer,neardup_internal)', 'neardup_part_pack(id, set, (SELECT ranks FROM orders o WHERE o.name = {name}), {method}, 4, NULL)', 'sets'),
    ('neardup_part_join_packed(bytea,jsonb,neardup_internal)', 'neardup_part_join_packed(rows, {method}, NULL)', 'packed')) v(of, expression, source);
VACUUM ANALYZE;
SELECT p.oid::regprocedure AS "without a call" FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup'
WHERE p.prokind = 'a' AND NOT EXISTS (SELECT FROM asked WHERE of = p.oid::regprocedure::text) ORDER BY 1;

SET enable_material = off;
SET enable_sort = off;
SET enable_memoize = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
-- The groups are kept, and asked for once for each row of the outer side.
EXPLAIN (COSTS OFF) SELECT * FROM (VALUES (1), (2), (3)) f(a) LEFT JOIN (SELECT g, neardup_part_ranks(set, '{"method": "jaccard"}', NULL) AS made FROM sets WHERE name = 'jaccard' GROUP BY g) s ON s.g < f.a;
CREATE FUNCTION results(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('SELECT string_agg(DISTINCT concat(g, '' '', made), '', '' ORDER BY concat(g, '' '', made)) FROM (%s) q WHERE g IS NOT NULL', query) INTO found;
    RETURN found;
END
$$;
-- What is made of the same rows in another order, as parallel workers or a sort give them: arrays have their elements in another order, too.
CREATE FUNCTION whatever_order(made anyelement) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT concat(count(*), ' ', sum(length(e))) FROM regexp_split_to_table(made::text, '[{,}]') e);
END
$$;
WITH found AS (
    SELECT of, name, expression, results(groups) AS expected, results(format('SELECT g, whatever_order(made) AS made FROM (%s) s', groups)) AS expected_of_sets,
        results(format('SELECT s.g, s.made FROM (VALUES (1), (2), (3), (4)) f(a) LEFT JOIN (%s) s ON s.g < f.a', groups)) AS rescans,
        results(format('SELECT g, whatever_order(made) AS made FROM (SELECT g, %s AS made FROM %s GROUP BY GROUPING SETS ((g), (), (g, g))) s', expression, source)) AS sets
    FROM asked, LATERAL (SELECT format('SELECT g, %s AS made FROM %s GROUP BY g', expression, source)) q(groups)
)
SELECT of, name, length(expected) > 20 AS "has results", rescans = expected AS rescans, sets = expected_of_sets AS "grouping sets" FROM found ORDER BY of, name;
CREATE TEMP TABLE alone AS SELECT a.*, results(format('SELECT g, whatever_order(%s) AS made FROM %s GROUP BY g', expression, source)) AS expected FROM asked a;
ALTER TABLE sets SET (parallel_workers = 2);
ALTER TABLE rows SET (parallel_workers = 2);
ALTER TABLE packed SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT g, neardup_part_ranks(set, '{"method": "jaccard"}', NULL) FROM sets WHERE name = 'jaccard' GROUP BY g;
SELECT of, name, results(format('SELECT g, whatever_order(%s) AS made FROM %s GROUP BY g', expression, source)) = expected AS "parallel plan" FROM alone ORDER BY of, name;
-- As windows they are refused by the server: their results take the place of what they are made of.
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN '00000';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END
$$;
SELECT DISTINCT state_of(format('SELECT %s OVER (ORDER BY g) FROM %s', expression, source)) AS "as a window" FROM asked;
-- A cursor that goes back, and a group without a row.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT length(neardup_part_ranks(set, '{"method": "jaccard"}', NULL)) FROM sets WHERE name = 'jaccard' GROUP BY g;
MOVE ALL FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;
SELECT neardup_part_ranks(set, '{"method": "jaccard"}', NULL), (SELECT neardup_part_join(id, size, bitmap, prefix, '{"method": "jaccard"}', NULL) FROM rows WHERE false) FROM sets WHERE false;
DROP TABLE docs, calls, sets, orders, rows, packed, asked;
DROP FUNCTION results(text), whatever_order(anyelement), state_of(text);
