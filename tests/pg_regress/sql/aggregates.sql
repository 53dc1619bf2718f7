-- Every aggregate of the extension, in every way in which the server may ask for its result: again and again of a hash table that it
-- keeps, in grouping sets, in parallel plans. An aggregate without a call here is a row of the first result.
SET search_path = public, neardup_internal;
CREATE TABLE docs AS SELECT i AS id, i % 3 AS g, format('the quick brown fox number %s and the lazy dog of house %s', i % 7, i % 5) AS body FROM generate_series(1, 60) i;
CREATE TABLE sets AS SELECT id::bigint, g, tokens(body) AS set, neardup_carried(body, NULL, '{"method": "imatch"}') AS terms, neardup_carried(body, NULL, '{"method": "edit", "threshold": 0.8}') AS texts FROM docs;
CREATE TABLE orders AS SELECT token_order(set, 10) AS ranks, neardup_carried_ranks(terms, '{"method": "imatch"}', NULL) AS left_out, neardup_carried_ranks(texts, '{"method": "edit", "threshold": 0.8}', NULL) AS of_texts FROM sets;
CREATE TABLE rows AS SELECT id, g, p.* FROM sets, orders, prefix_groups(set, ranks, 'jaccard', 0.5, 1) p;
CREATE TABLE bands AS SELECT id, g, p.* FROM sets, neardup_band_groups(set, 8, 1, 1, 'jaccard', 0.5, 1) p;
CREATE TABLE keys AS SELECT id, g, p.* FROM sets, orders, neardup_carried_groups(terms, left_out, '{"method": "imatch"}', 1) p;
CREATE TABLE packed AS SELECT g, unnest(neardup_pack_prefixes(id, set, ranks, 'jaccard', 0.5, 1, NULL)) AS rows, unnest(neardup_pack_bands(id, set, '{8, 1, 1}', 'jaccard', 0.5, 1, NULL)) AS bands,
    unnest(neardup_pack_carried(id, terms, left_out, '{"method": "imatch"}', 1, NULL)) AS keys FROM sets, orders GROUP BY g;
CREATE TABLE calls(of text, expression text, source text);
INSERT INTO calls VALUES
    ('token_order(token_set,integer)', 'token_order(set, 5)', 'sets'),
    ('join_part(anyelement,integer,bytea,bytea,set_measure,double precision)', 'join_part(id, size, bitmap, prefix, ''jaccard'', 0.5)', 'rows'),
    ('neardup_join_part(bigint,integer,bytea,bytea,set_measure,double precision,neardup_internal)', 'neardup_join_part(id, size, bitmap, prefix, ''jaccard'', 0.5, NULL)', 'rows'),
    ('neardup_join_bands(bigint,integer,bytea,bytea,set_measure,double precision,neardup_internal)', 'neardup_join_bands(id, size, bitmap, prefix, ''jaccard'', 0.5, NULL)', 'bands'),
    ('neardup_carried_ranks(bytea,jsonb,neardup_internal)', 'neardup_carried_ranks(terms, ''{"method": "imatch"}'', NULL)', 'sets'),
    ('neardup_carried_ranks(bytea,jsonb,neardup_internal)', 'neardup_carried_ranks(texts, ''{"method": "edit", "threshold": 0.8}'', NULL)', 'sets'),
    ('neardup_join_carried(bigint,integer,bytea,bytea,jsonb,neardup_internal)', 'neardup_join_carried(id, size, bitmap, prefix, ''{"method": "imatch"}'', NULL)', 'keys'),
    ('neardup_pack_prefixes(bigint,token_set,token_ranks,set_measure,double precision,integer,neardup_internal)', 'neardup_pack_prefixes(id, set, (SELECT ranks FROM orders), ''jaccard'', 0.5, 4, NULL)', 'sets'),
    ('neardup_pack_bands(bigint,token_set,bigint[],set_measure,double precision,integer,neardup_internal)', 'neardup_pack_bands(id, set, ''{8, 1, 1}'', ''jaccard'', 0.5, 4, NULL)', 'sets'),
    ('neardup_pack_carried(bigint,bytea,bytea,jsonb,integer,neardup_internal)', 'neardup_pack_carried(id, terms, (SELECT left_out FROM orders), ''{"method": "imatch"}'', 4, NULL)', 'sets'),
    ('neardup_join_packed(bytea,set_measure,double precision,neardup_internal)', 'neardup_join_packed(rows, ''jaccard'', 0.5, NULL)', 'packed'),
    ('neardup_join_packed_bands(bytea,set_measure,double precision,neardup_internal)', 'neardup_join_packed_bands(bands, ''jaccard'', 0.5, NULL)', 'packed'),
    ('neardup_join_packed_carried(bytea,jsonb,neardup_internal)', 'neardup_join_packed_carried(keys, ''{"method": "imatch"}'', NULL)', 'packed');
VACUUM ANALYZE;
SELECT p.oid::regprocedure AS "without a call" FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup'
WHERE p.prokind = 'a' AND NOT EXISTS (SELECT FROM calls WHERE of = p.oid::regprocedure::text) ORDER BY 1;

SET enable_material = off;
SET enable_sort = off;
SET enable_memoize = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
-- The groups are kept, and asked for once for each row of the outer side.
EXPLAIN (COSTS OFF) SELECT * FROM (VALUES (1), (2), (3)) f(a) LEFT JOIN (SELECT g, token_order(set, 5) AS made FROM sets GROUP BY g) s ON s.g < f.a;
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
WITH asked AS (
    SELECT of, expression, results(groups) AS expected, results(format('SELECT g, whatever_order(made) AS made FROM (%s) s', groups)) AS expected_of_sets,
        results(format('SELECT s.g, s.made FROM (VALUES (1), (2), (3), (4)) f(a) LEFT JOIN (%s) s ON s.g < f.a', groups)) AS rescans,
        results(format('SELECT g, whatever_order(made) AS made FROM (SELECT g, %s AS made FROM %I GROUP BY GROUPING SETS ((g), (), (g, g))) s', expression, source)) AS sets
    FROM calls, LATERAL (SELECT format('SELECT g, %s AS made FROM %I GROUP BY g', expression, source)) q(groups)
)
SELECT of, length(expected) > 20 AS "has results", rescans = expected AS rescans, sets = expected_of_sets AS "grouping sets" FROM asked ORDER BY of, expression;
CREATE TEMP TABLE alone AS SELECT c.*, results(format('SELECT g, whatever_order(%s) AS made FROM %I GROUP BY g', expression, source)) AS expected FROM calls c;
ALTER TABLE sets SET (parallel_workers = 2);
ALTER TABLE rows SET (parallel_workers = 2);
ALTER TABLE bands SET (parallel_workers = 2);
ALTER TABLE keys SET (parallel_workers = 2);
ALTER TABLE packed SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT g, token_order(set, 5) FROM sets GROUP BY g;
SELECT of, results(format('SELECT g, whatever_order(%s) AS made FROM %I GROUP BY g', expression, source)) = expected AS "parallel plan" FROM alone ORDER BY of, expression;
-- As windows they are refused by the server: their results take the place of what they are made of.
CREATE FUNCTION state_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN '00000';
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END
$$;
SELECT DISTINCT state_of(format('SELECT %s OVER (ORDER BY g) FROM %I', expression, source)) AS "as a window" FROM calls;
-- A cursor that goes back, and a group without a row.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT length(token_order(set, 5)::text) FROM sets GROUP BY g;
MOVE ALL FROM c;
FETCH BACKWARD ALL FROM c;
COMMIT;
SELECT token_order(set, 5), (SELECT join_part(id, size, bitmap, prefix, 'jaccard', 0.5) FROM rows WHERE false) FROM sets WHERE false;
DROP TABLE docs, sets, orders, rows, bands, keys, packed, calls;
DROP FUNCTION results(text), whatever_order(anyelement), state_of(text);
