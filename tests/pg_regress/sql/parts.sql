-- Joins in parts: sets of tokens, their order, prefix groups, candidates. The pairs are those of near_duplicates.
SELECT tokens('near near duplicates'), tokens(''), tokens(NULL);
SELECT tokens('漢字ab', 'chars', 2), tokens('a  b', 'whitespace', 1, false), tokens('<p>a</p>', 'html');
SELECT tokens('{a,b,a}'::text[]), tokens('{1,2}'::bigint[]), tokens('a:1,2 b:3'::tsvector);
SELECT tokens('a b')::text::token_set::text = tokens('a b')::text AS again;
SELECT token_similarity(tokens('a b c'), tokens('a b d'), m), m FROM unnest(enum_range(NULL::set_measure)) m;
SELECT token_similarity(tokens(''), tokens('a')), token_similarity(tokens(''), tokens(''));

-- Documents of some words each, and copies that differ in some.
CREATE TABLE parts_docs AS
    SELECT n AS id, 'd' || n AS name, string_agg('w' || (n * 7919 + w * w * 31) % (n % 17 + 20), ' ' ORDER BY w) AS body
    FROM generate_series(1, 300) n, generate_series(1, 10 + n % 15) w GROUP BY n;
INSERT INTO parts_docs SELECT 1000 + id, 'e' || id, body || ' and more' FROM parts_docs WHERE id % 2 = 0;
INSERT INTO parts_docs SELECT 2000 + id, 'f' || id, body FROM parts_docs WHERE id % 7 = 0 AND id < 1000;
INSERT INTO parts_docs VALUES (5000, 'null', NULL), (5001, 'empty', '');

-- How many pairs are found in parts, and how many are not the same as those of near_duplicates, for both types of ids.
CREATE FUNCTION parts_differ(method set_measure, threshold float8, parts int, keep int, shingle int, multiset bool)
    RETURNS TABLE(found bigint, differ bigint, names_differ bigint) LANGUAGE sql AS $$
WITH sets AS MATERIALIZED (SELECT id, name, tokens(body, shingle => shingle, multiset => multiset) AS set FROM parts_docs WHERE body IS NOT NULL),
ranks AS MATERIALIZED (SELECT token_order(set, keep) AS ranks FROM sets),
routes AS MATERIALIZED (SELECT g.*, id, name FROM sets, ranks, prefix_groups(set, ranks.ranks, method, threshold, parts) g),
candidates AS MATERIALIZED (SELECT DISTINCT p.* FROM (
    SELECT join_part(id, size, bitmap, prefix, method, threshold) AS ids FROM routes GROUP BY part) j, candidate_pairs(ids) p),
names AS MATERIALIZED (SELECT DISTINCT p.* FROM (
    SELECT join_part(name, size, bitmap, prefix, method, threshold) AS ids FROM routes GROUP BY part) j, candidate_pairs(ids) p),
pairs AS (SELECT left_id::bigint, right_id::bigint, token_similarity(l.set, r.set, method) AS similarity
    FROM candidates JOIN sets l ON l.id = left_id JOIN sets r ON r.id = right_id),
named AS (SELECT left_id, right_id, token_similarity(l.set, r.set, method) AS similarity
    FROM names JOIN sets l ON l.name = left_id JOIN sets r ON r.name = right_id)
SELECT (SELECT count(*) FROM pairs WHERE similarity >= threshold),
    (SELECT count(*) FROM (SELECT * FROM pairs WHERE similarity >= threshold) p
        FULL JOIN near_duplicates('parts_docs', threshold, id_column => 'id', text_column => 'body', method => method::text, shingle => shingle, multiset => multiset) n
        USING (left_id, right_id) WHERE p.similarity IS DISTINCT FROM n.similarity),
    (SELECT count(*) FROM (SELECT * FROM named WHERE similarity >= threshold) p
        FULL JOIN near_duplicates('parts_docs', threshold, NULL::text, id_column => 'name', text_column => 'body', method => method::text, shingle => shingle, multiset => multiset) n
        USING (left_id, right_id) WHERE p.similarity IS DISTINCT FROM n.similarity)
$$;
SELECT method, threshold, found > 0 AS found, differ, names_differ
FROM unnest(enum_range(NULL::set_measure)) method, unnest('{0.5,0.8,0.9,1}'::float8[]) threshold,
    parts_differ(method, threshold, 5, 1000, 1, true);
SELECT parts, keep, shingle, multiset, found > 0 AS found, differ, names_differ
FROM (VALUES (1, 0, 1, true), (1000, 3, 1, false), (7, 100, 2, false), (7, 100, 3, true)) v(parts, keep, shingle, multiset),
    parts_differ('jaccard', 0.6, parts, keep, shingle, multiset);
-- Rows in temporary files.
SET neardup.memory = '1MB';
SELECT found > 0 AS found, differ, names_differ FROM parts_differ('overlap', 0.3, 1, 10, 1, true);
RESET neardup.memory;

-- Nothing in, nothing out.
SELECT join_part(1, 1, '', '', 'jaccard', 0.8) WHERE false;
SELECT token_order(tokens('a'), 1) WHERE false;
SELECT * FROM prefix_groups(tokens(''), (SELECT token_order(tokens('a'), 1)), 'jaccard', 0.8, 4);
SELECT * FROM candidate_pairs('{}'::int[]);
SELECT * FROM candidate_pairs('{a,b,c,d}'::text[]);

-- What is wrong is told.
\set VERBOSITY terse
SELECT tokens('a', 'wrds');
SELECT tokens('a', shingle => 0);
SELECT token_similarity(tokens('a'), tokens('a', 'chars'));
SELECT token_similarity(tokens('a'), tokens('a'), 'containment');
SELECT token_order(tokens('a'), -1);
SELECT prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.8, 0);
SELECT prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0, 1);
SELECT prefix_groups(tokens('a'), 'ranks:v1::', 'jackard', 0.5, 1);
SELECT join_part(1, size, bitmap, prefix, 'jaccard', 0.5) OVER () FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part(NULL::int, size, bitmap, prefix, 'jaccard', 0.5) FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part(point(1, 1), size, bitmap, prefix, 'jaccard', 0.5) FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part(1, -1, bitmap, prefix, 'jaccard', 0.5) FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part(1, size, '\x02', prefix, 'jaccard', 0.5) FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part(1, size, bitmap, '\x01ff', 'jaccard', 0.5) FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part(g, size, bitmap, prefix, 'jaccard', g / 10.0) FROM generate_series(5, 6) g, prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT join_part_step(NULL, 1, size, bitmap, prefix, 'jaccard'::set_measure, 0.5::float8) FROM prefix_groups(tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1);
SELECT candidate_pairs('{1,2,3}'::int[]);
SELECT 'tokens:v1:words:h1.1:k1:multiset:02'::token_set;
SELECT 'tokens:v1:words:h1.1:k1:multiset:02000000000000000100000000000000'::token_set IS NULL;
SELECT 'tokens:v1:words:h1.1:k1:multiset:02000000000000000200000000000000'::token_set IS NULL;
SELECT 'tokens:v9:words:h1.1:k1:multiset:'::token_set;
SELECT 'ranks:v1:0200000000000000:'::token_ranks;
DROP FUNCTION parts_differ;
DROP TABLE parts_docs;

-- Rows of parts in pieces: the pairs are those of the rows, and bytes that are no piece are errors.
CREATE TEMPORARY TABLE pieces AS
WITH sets AS (SELECT i AS id, tokens('a b c d e ' || i % 7 || ' ' || i % 11 || ' f g h') AS set FROM generate_series(1, 40) i),
ranks AS (SELECT token_order(set, 100) AS ranks FROM sets)
SELECT neardup_internal.neardup_pack_prefixes(id, set, ranks, 'jaccard', 0.7, 4, NULL) AS prefixes,
    neardup_internal.neardup_pack_bands(id, set, '{6, 2, 1}', 'jaccard', 0.7, 4, NULL) AS bands,
    neardup_internal.neardup_pack_carried(id, neardup_internal.neardup_carried(repeat('a b c d e f ', 9) || id % 7, NULL, '{"method": "runs"}'), '', '{"method": "runs"}', 4, NULL) AS carried
FROM sets, ranks;
WITH packed AS (SELECT get_byte(rows, 2) AS part, rows FROM pieces, unnest(prefixes) rows),
candidates AS (SELECT DISTINCT p.* FROM (SELECT neardup_internal.neardup_join_packed(rows, 'jaccard', 0.7, NULL) AS ids FROM packed GROUP BY part) j, candidate_pairs(ids) p)
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE similarity >= 0.7) = (SELECT count(*) FROM generate_series(1, 40) i, generate_series(i + 1, 40) k
    WHERE jaccard('a b c d e ' || i % 7 || ' ' || i % 11 || ' f g h', 'a b c d e ' || k % 7 || ' ' || k % 11 || ' f g h') >= 0.7) AS complete
FROM candidates, jaccard('a b c d e ' || left_id % 7 || ' ' || left_id % 11 || ' f g h', 'a b c d e ' || right_id % 7 || ' ' || right_id % 11 || ' f g h') similarity;
SELECT cardinality(neardup_internal.neardup_join_packed_bands(rows, 'jaccard', 0.7, NULL)) > 0 AS some FROM pieces, unnest(bands) rows;
SELECT cardinality(neardup_internal.neardup_join_packed_carried(rows, '{"method": "runs"}', NULL)) > 0 AS some FROM pieces, unnest(carried) rows;
SELECT neardup_internal.neardup_pack_prefixes(NULL, tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 1, NULL);
SELECT neardup_internal.neardup_pack_prefixes(1, tokens('a'), 'ranks:v1::', 'jaccard', 0.5, 0, NULL);
SELECT neardup_internal.neardup_pack_prefixes(1, NULL, 'ranks:v1::', 'jaccard', 0.5, 1, NULL);
SELECT neardup_internal.neardup_join_packed(NULL, 'jaccard', 0.5, NULL);
SELECT neardup_internal.neardup_join_packed('\x000000', 'jaccard', 0.5, NULL);
SELECT neardup_internal.neardup_join_packed('\x00000007', 'jaccard', 0.5, NULL);
SELECT neardup_internal.neardup_join_packed('\x0000000101020304', 'jaccard', 0.5, NULL);
SELECT neardup_internal.neardup_join_packed_carried('\x00000001010200010203', '{"method": "runs"}', NULL);
SELECT neardup_internal.neardup_pack_bands(1, tokens('a'), '{1, 2}', 'jaccard', 0.5, 1, NULL);
