-- Clusters, and which rows to keep.
SET client_min_messages = warning;
CREATE SCHEMA clusters_test;
SET search_path = clusters_test, public;
-- 1 - 2 - 3 is a chain; 4 and 5 are equal; 6 is alone; 7 is NULL, 8 empty.
CREATE TABLE docs (id int PRIMARY KEY, body text, stars int);
INSERT INTO docs VALUES
    (1, 'a b c d e f g h i j', 1),
    (2, 'b c d e f g h i j k', 5),
    (3, 'c d e f g h i j k l m', 3),
    (4, 'one two three four', 2),
    (5, 'Four three two, one.', NULL),
    (6, 'nothing like it', 9),
    (7, NULL, 9),
    (8, '', 9);
SELECT * FROM near_duplicates('docs', 0.7) ORDER BY 1, 2;
SELECT * FROM near_duplicate_clusters('docs', 0.7);
SELECT * FROM near_duplicate_clusters('docs', 0.7, clustering => 'star');
SELECT * FROM near_duplicate_clusters('docs', 0.7, clustering => 'perhaps_similar');
SELECT * FROM near_duplicate_clusters('docs', 0.7, max_cluster_size => 2);
SELECT * FROM near_duplicate_clusters('docs', 0.6);
SELECT * FROM near_duplicate_clusters('docs', 1);
SELECT count(*) FROM near_duplicate_clusters('docs', 0.7, text_column => 'stars');
-- As rows of the select list, one at a time.
SELECT near_duplicate_clusters('docs', 0.7) LIMIT 2;
-- Ids of any type.
CREATE TABLE named AS SELECT chr(96 + id) AS id, md5(id::text)::uuid AS key, body FROM docs;
SELECT * FROM near_duplicate_clusters('named', 0.7, NULL::text, id_column => 'id', text_column => 'body');
SELECT cluster_id, array_agg(id ORDER BY id) FROM near_duplicate_clusters('named', 0.7, NULL::uuid, id_column => 'key', text_column => 'body') GROUP BY 1 ORDER BY 1;
-- Whatever the order of rows and the number of threads.
CREATE TABLE shuffled AS SELECT id, body FROM docs ORDER BY hashint4(id);
SET neardup.threads = 1;
SELECT * FROM near_duplicate_clusters('shuffled', 0.7, id_column => 'id') EXCEPT SELECT * FROM near_duplicate_clusters('docs', 0.7);
RESET neardup.threads;

-- Clusters of the pairs of a query.
CREATE TABLE pairs AS SELECT * FROM near_duplicates('docs', 0.5);
SELECT * FROM pairs ORDER BY 1, 2;
SELECT * FROM clusters_of_pairs('TABLE pairs');
SELECT * FROM clusters_of_pairs('SELECT right_id, left_id, similarity FROM pairs UNION ALL TABLE pairs -- twice');
SELECT threshold, cluster_id, array_agg(id ORDER BY id) FROM clusters_of_pairs('TABLE pairs', thresholds => '{0.5, 0.7, 0.9}') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT * FROM clusters_of_pairs($$VALUES ('a', 'b', 0.9), ('b', 'c', 0.8), ('x', 'y', 0)$$, NULL::text, clustering => 'star');
SELECT * FROM clusters_of_pairs($$SELECT 1, 1, 1$$);
SELECT * FROM clusters_of_pairs($$SELECT 1, 2, 1 WHERE false$$);
SELECT * FROM cluster_stats('TABLE pairs');
SELECT * FROM cluster_stats('TABLE pairs', clustering => 'star');
SELECT * FROM cluster_stats($$VALUES ('a', 'b', 0.9), ('b', 'c', 0.8), ('c', 'd', 0.7)$$, NULL::text);
SELECT * FROM cluster_links('TABLE pairs');
SELECT * FROM cluster_links($$VALUES ('a', 'b', 0.9), ('b', 'c', 0.8), ('c', 'd', 0.95)$$, NULL::text, links => 1);
-- A chain is told of, and how to break it.
CREATE TABLE chain AS SELECT i AS left_id, i + 1 AS right_id, 0.9 - (i = 50)::int * 0.05 AS similarity FROM generate_series(1, 120) i;
SELECT cluster_id, count(*), count(similarity) FROM clusters_of_pairs('TABLE chain') GROUP BY 1;
SELECT count(DISTINCT cluster_id), max(size) FROM clusters_of_pairs('TABLE chain', clustering => 'star');
SELECT cluster_id, count(*) FROM clusters_of_pairs('TABLE chain', max_cluster_size => 100) GROUP BY 1 ORDER BY 1;
SELECT * FROM cluster_stats('TABLE chain');
SELECT * FROM cluster_links('TABLE chain', links => 2);

-- What to remove.
SELECT * FROM eliminate('docs', 0.7);
SELECT * FROM eliminate('docs', 0.7, keep => 'first');
SELECT * FROM eliminate('docs', 0.7, keep => 'min:stars');
SELECT * FROM eliminate('docs', 0.7, keep => 'max:stars');
SELECT * FROM eliminate('named', 0.7, NULL::text, id_column => 'id', text_column => 'body', keep => 'min:key');
BEGIN;
DELETE FROM docs USING eliminate('docs', 0.7, keep => 'first') e WHERE docs.id = e.id;
SELECT id FROM docs ORDER BY id;
SELECT count(*) FROM eliminate('docs', 0.7);
ROLLBACK;

-- Bad arguments.
CREATE FUNCTION seen(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    example text;
    seen text;
BEGIN
    EXECUTE 'SELECT count(*) FROM ' || call;
    RETURN 'fine';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    seen := format(E'%s: %s\n    %s', SQLSTATE, SQLERRM, hint);
    example := substring(hint from '(SELECT \* FROM .*?);');
    IF example IS NULL THEN
        RETURN seen;
    END IF;
    BEGIN
        EXECUTE example;
        RETURN seen || ' -- works';
    EXCEPTION WHEN OTHERS THEN
        RETURN seen || E'\n    -- ' || SQLERRM;
    END;
END
$$;
\pset format unaligned
\pset tuples_only on
SELECT seen('near_duplicate_clusters(''docs'', 2)');
SELECT seen('near_duplicate_clusters(''docs'', 0.7, clustering => ''stars'')');
SELECT seen('near_duplicate_clusters(''docs'', 0.7, max_cluster_size => 1)');
SELECT seen('near_duplicate_clusters(''docs'', 0.7, clustering => ''star'', max_cluster_size => 100)');
SELECT seen('near_duplicate_clusters(''docs'', 0.1, max_pairs => 1)');
SELECT seen('eliminate(''docs'', 0.7, keep => ''best'')');
SELECT seen('eliminate(''docs'', 0.7, keep => ''min:moon'')');
SELECT seen('eliminate(''docs'', 0)');
SELECT seen('clusters_of_pairs(NULL)');
SELECT seen('clusters_of_pairs(''SELECT 1'')');
SELECT seen('clusters_of_pairs(''SELECT 1, 2, 3'')');
SELECT seen('clusters_of_pairs(''SELECT 1, 2, NULL::float8'')');
SELECT seen('clusters_of_pairs(''SELECT 1, NULL::int, 1'')');
SELECT seen('clusters_of_pairs(''DELETE FROM docs RETURNING id, id, 1'')');
-- Ids are never cast so that distinct ones become equal: '007' and '7' as integers, 1.4 and 1.2, bigints as floats.
SELECT seen($$clusters_of_pairs('VALUES (''007'', ''42'', 0.9), (''7'', ''43'', 0.9)')$$);
SELECT cluster_id, array_agg(id ORDER BY id) FROM clusters_of_pairs('VALUES (''007'', ''42'', 0.9), (''7'', ''43'', 0.9)', id_type => NULL::text) GROUP BY 1 ORDER BY 1;
SELECT seen($$clusters_of_pairs('SELECT 1.4::numeric, 2.6::numeric, 0.9')$$);
SELECT seen($$cluster_stats('SELECT 1.4::float8, 2.6::float8, 0.9')$$);
SELECT seen($$cluster_links('SELECT 1.4::numeric, 2.6::numeric, 0.9')$$);
SELECT seen($$clusters_of_pairs('SELECT md5(''1'')::uuid, md5(''2'')::uuid, 0.9')$$);
SELECT seen($$clusters_of_pairs('SELECT 1.4, 2.6, 0.9', NULL::int)$$);
SELECT seen($$clusters_of_pairs('SELECT ''a''::text, ''b''::text, 0.9', NULL::name)$$);
SELECT seen($$clusters_of_pairs('SELECT 1::bigint, 2::bigint, 0.9', NULL::float8)$$);
SELECT seen($$clusters_of_pairs('SELECT 1::bigint, 2::bigint, 0.9', NULL::int)$$);
SELECT seen($$clusters_of_pairs('SELECT 1, ''b'', 0.9')$$);
SELECT seen($$clusters_of_pairs('SELECT point(1, 2), point(2, 3), 0.9')$$);
SELECT seen($$clusters_of_pairs('SELECT 1, 2, ''0.9''')$$);
SELECT seen($$clusters_of_pairs('SELECT 1, 2, true')$$);
CREATE DOMAIN counted AS smallint;
SELECT id FROM clusters_of_pairs('SELECT 1::counted, 2::bigint, 1::real');
SELECT id FROM clusters_of_pairs('SELECT 1::counted, 2, 1, ''a further column''', NULL::numeric);
DROP DOMAIN counted;
-- A query of its own, whatever stands around it: one SELECT, and nothing that leads out of parentheses.
SELECT seen('clusters_of_pairs(''SELECT 1, 2, 1) AS p(left_id, right_id, similarity) UNION ALL SELECT 1.5, 1.5, 1.0 FROM (SELECT 1, 2, 3'', NULL::numeric)');
SELECT seen('cluster_stats(''SELECT 1, 2, 1; SELECT 1, 2, 1'')');
SELECT seen('cluster_links('' ; -- nothing'')');
SELECT seen('clusters_of_pairs(''SELECT 1 AS a, 2 AS b, 1 AS c INTO made'')');
SELECT seen('clusters_of_pairs(''WITH w AS (DELETE FROM docs RETURNING id, id, 1) TABLE w'')');
SELECT seen('clusters_of_pairs(''SELECT id, id, 1 FROM docs FOR UPDATE'')');
SELECT seen('clusters_of_pairs(''EXPLAIN SELECT 1, 2, 1'')');
SELECT seen('clusters_of_pairs(''SELECT 1, 2, $1'')');
SELECT count(*) FROM clusters_of_pairs('/* ; ) */ VALUES (1, 2, 0.9), (2, 3, 0.8) -- the end ;');
SELECT count(*) FROM clusters_of_pairs('(WITH w(a, b, c) AS (SELECT 1, 2, 1.0) TABLE w) UNION SELECT 2, 3, 1 ; ; -- )');
SELECT id FROM clusters_of_pairs($$SELECT ');'::text, '--'::text, 1$$, NULL::text);
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SELECT id FROM clusters_of_pairs($$SELECT '\') '::text, $x$\$x$::text, 1$$, NULL::text);
RESET standard_conforming_strings;
RESET escape_string_warning;
SELECT seen('clusters_of_pairs(''TABLE pairs'', NULL::record)');
SELECT seen('clusters_of_pairs(''TABLE pairs'', thresholds => ''{0.5, 7}'')');
SELECT seen('clusters_of_pairs(''TABLE pairs'', NULL::point)');
SELECT seen('cluster_stats(''TABLE pairs'', clustering => ''x'')');
SELECT seen('cluster_links(''TABLE pairs'', links => 0)');
-- Each eliminated row goes to the kept row that it is most similar to, also if that row comes later.
CREATE TABLE rungs (id int PRIMARY KEY, body text);
INSERT INTO rungs VALUES (1, 'a b c d e f g h i j'), (2, 'a b c d e f g h k l'), (3, 'c d e f g h k l'), (4, 'a b c d e f g h k l');
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('rungs', 0.6) ORDER BY 1, 2;
SELECT e.* FROM eliminate('rungs', 0.6, keep => 'first') e ORDER BY id;
SELECT e.* FROM eliminate('rungs', 0.6, keep => 'max:id') e ORDER BY id;
SELECT e.* FROM eliminate('rungs', 0.6) e ORDER BY id;
SELECT cluster_id, id, representative, round(similarity::numeric, 3) FROM near_duplicate_clusters('rungs', 0.6, clustering => 'star') ORDER BY 1, 2;
SELECT cluster_id, id, representative, round(similarity::numeric, 3) FROM clusters_of_pairs('SELECT * FROM near_duplicates(''rungs'', 0.6)', clustering => 'star') ORDER BY 1, 2;
DROP TABLE rungs;
-- Perhaps-similar sets: of two rows with as many pairs the one with the greater id represents, and a list is merged into the first set that reaches its representative.
SELECT cluster_id, array_agg(id ORDER BY id) FROM clusters_of_pairs('VALUES (1, 2, 0.9), (3, 4, 0.9), (4, 5, 0.9), (5, 6, 0.9), (5, 7, 0.9)', clustering => 'perhaps_similar') GROUP BY 1 ORDER BY 1;
SELECT cluster_id, array_agg(id ORDER BY id) FROM clusters_of_pairs('VALUES (1, 10, 0.9), (2, 10, 0.9), (3, 10, 0.9), (4, 11, 0.9), (5, 11, 0.9), (3, 11, 0.9), (3, 6, 0.9), (12, 11, 0.9), (12, 10, 0.9), (13, 10, 0.9), (6, 7, 0.9)', clustering => 'perhaps_similar') GROUP BY 1 ORDER BY 1;
-- Rows of one template, and others: few comparisons for the rows to keep and for clusters, at any memory. All pairs give the same.
CREATE TABLE template AS
SELECT g AS id, CASE WHEN g % 10 = 0 THEN '' ELSE (SELECT string_agg('w' || i, ' ') FROM generate_series(1, 57) i) END
    || ' a' || g % 997 || ' b' || g % 1499 || ' c' || g AS body
FROM generate_series(1, 2000) g;
CREATE FUNCTION compared(n bigint, OUT rows bigint, OUT few bool) LANGUAGE sql AS $$
    SELECT n, verified < 5 * documents AND pairs < 2 * documents FROM near_duplicates_stats();
$$;
CREATE TABLE all_pairs AS SELECT * FROM near_duplicates('template', 0.8, id_column => 'id');
SELECT count(*) > 1500000 AS many FROM all_pairs;
SET neardup.memory = '1MB';
SELECT c.* FROM (SELECT count(*) FROM eliminate('template', 0.8, id_column => 'id', keep => 'max:id')) n, compared(n.count) c;
SELECT c.* FROM (SELECT count(*) FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'connected')) n, compared(n.count) c;
SELECT c.* FROM (SELECT count(*) FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'star')) n, compared(n.count) c;
SET neardup.memory = '64MB';
SELECT c.* FROM (SELECT count(*) FROM eliminate('template', 0.8, id_column => 'id', keep => 'max:id')) n, compared(n.count) c;
SELECT c.* FROM (SELECT count(*) FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'connected')) n, compared(n.count) c;
SELECT c.* FROM (SELECT count(*) FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'star')) n, compared(n.count) c;
RESET neardup.memory;
SELECT clustering, (SELECT count(*) FROM (
    SELECT cluster_id, id, representative, size, similarity FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => clustering)
    EXCEPT ALL SELECT cluster_id, id, representative, size, similarity FROM clusters_of_pairs('TABLE all_pairs', clustering => clustering)) d) AS other
FROM unnest('{connected,star}'::text[]) clustering;
SELECT count(*) AS wrong FROM (SELECT id, kept_id FROM eliminate('template', 0.8, id_column => 'id', keep => 'max:id')) e
WHERE NOT EXISTS (SELECT FROM all_pairs p WHERE p.left_id = e.id AND p.right_id = e.kept_id);
-- Rows that are stored in another order than that of their ids.
CREATE TABLE mixed AS SELECT * FROM template ORDER BY md5(id::text);
SELECT keep, (SELECT string_agg(id || ' ' || kept_id, ',' ORDER BY id) FROM eliminate('mixed', 0.8, id_column => 'id', keep => keep))
    = (SELECT string_agg(id || ' ' || kept_id, ',' ORDER BY id) FROM eliminate('template', 0.8, id_column => 'id', keep => keep)) AS same
FROM unnest('{longest,first,max:id}'::text[]) keep;
SELECT count(*) AS other FROM (SELECT cluster_id, id FROM near_duplicate_clusters('mixed', 0.8, id_column => 'id')
    EXCEPT ALL SELECT cluster_id, id FROM near_duplicate_clusters('template', 0.8, id_column => 'id')) d;
DROP SCHEMA clusters_test CASCADE;
