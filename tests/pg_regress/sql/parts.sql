-- Joins in parts, by the functions that near_duplicates_into calls: what is carried of documents, what is counted, the rows of parts,
-- candidates, comparisons. The pairs are those of near_duplicates.
SET search_path = public, neardup_internal;
-- Documents of some words each, and copies that differ in some.
CREATE TABLE parts_docs AS
    SELECT n AS id, string_agg('w' || (n * 7919 + w * w * 31) % (n % 17 + 20), ' ' ORDER BY w) AS body
    FROM generate_series(1, 300) n, generate_series(1, 10 + n % 15) w GROUP BY n;
INSERT INTO parts_docs SELECT 1000 + id, body || ' and more' FROM parts_docs WHERE id % 2 = 0;
INSERT INTO parts_docs SELECT 2000 + id, body FROM parts_docs WHERE id % 7 = 0 AND id < 1000;
INSERT INTO parts_docs VALUES (5000, NULL), (5001, '');

-- How many pairs are found in parts, and how many are not the same as those of near_duplicates.
CREATE FUNCTION parts_differ(method text, threshold float8, parts int, shingle int, multiset bool) RETURNS TABLE(found bigint, differ bigint) LANGUAGE sql AS $$
WITH call AS (SELECT jsonb_strip_nulls(jsonb_build_object('method', method, 'threshold', threshold, 'shingle', shingle, 'multiset', multiset)) AS method),
sets AS MATERIALIZED (SELECT id::bigint, neardup_part_document(body, NULL, NULL, NULL, call.method) AS set FROM parts_docs, call),
ranks AS MATERIALIZED (SELECT neardup_part_ranks(set, call.method, NULL) AS ranks FROM sets, call),
routes AS MATERIALIZED (SELECT r.*, id FROM call, sets, ranks, neardup_part_rows(set, ranks.ranks, call.method, parts) r WHERE set <> ''),
candidates AS MATERIALIZED (SELECT DISTINCT c.* FROM (
    SELECT neardup_part_join(id, size, bitmap, prefix, call.method, NULL) AS ids FROM routes, call GROUP BY part) j, neardup_part_candidates(ids) c),
pairs AS (SELECT left_id, right_id, neardup_part_similarity(l.set, r.set, ranks.ranks, call.method) AS similarity
    FROM call, ranks, candidates JOIN sets l ON l.id = left_id JOIN sets r ON r.id = right_id)
SELECT (SELECT count(*) FROM pairs WHERE similarity IS NOT NULL),
    (SELECT count(*) FROM (SELECT * FROM pairs WHERE similarity IS NOT NULL) p
        FULL JOIN near_duplicates('parts_docs', threshold, id_column => 'id', text_column => 'body', method => method, shingle => shingle, multiset => multiset) n
        USING (left_id, right_id) WHERE p.similarity IS DISTINCT FROM n.similarity)
$$;
SELECT method, threshold, found > 0 AS found, differ
FROM unnest('{jaccard,cosine,dice,overlap,containment}'::text[]) method, unnest('{0.5,0.8,0.9,1}'::float8[]) threshold,
    parts_differ(method, threshold, 5, 1, true);
SELECT method, found > 0 AS found, differ
FROM unnest('{minhash,simhash,shingling,combined,exact_text,edit,imatch,spotsigs,repeatability,runs}'::text[]) method,
    parts_differ(method, CASE WHEN method IN ('minhash', 'edit', 'runs', 'spotsigs') THEN 0.7 END, 3, NULL, NULL);
SELECT parts, shingle, multiset, found > 0 AS found, differ
FROM (VALUES (1, 1, true), (1000, 1, false), (7, 2, false), (7, 3, true)) v(parts, shingle, multiset), parts_differ('jaccard', 0.6, parts, shingle, multiset);
-- Rows in temporary files.
SET neardup.memory = '1MB';
SELECT found > 0 AS found, differ FROM parts_differ('overlap', 0.3, 1, 1, true);
RESET neardup.memory;

-- Nothing in, nothing out.
SELECT neardup_part_document('', NULL, NULL, NULL, '{"method": "jaccard"}'), neardup_part_document(NULL::text, NULL, NULL, NULL, '{"method": "jaccard"}');
SELECT neardup_part_join(1, 1, '', '', '{"method": "jaccard"}', NULL) WHERE false;
SELECT neardup_part_ranks(''::bytea, '{"method": "jaccard"}', NULL) WHERE false;
SELECT * FROM neardup_part_rows('', '', '{"method": "jaccard"}', 4);
SELECT * FROM neardup_part_candidates('{}');
SELECT * FROM neardup_part_candidates('{1,2,3,4}');

-- What is wrong is told.
\set VERBOSITY terse
CREATE VIEW one_row AS SELECT p.* FROM neardup_part_rows(neardup_part_document('a', NULL, NULL, NULL, '{"method": "jaccard", "threshold": 0.5}'), '', '{"method": "jaccard", "threshold": 0.5}', 1) p;
SELECT neardup_part_rows('\x01', '', '{"method": "jaccard"}', 0);
SELECT neardup_part_rows('\x09', '', '{"method": "jaccard"}', 1);
SELECT neardup_part_rows('\x0101', '', '{"method": "jaccard"}', 1);
SELECT neardup_part_rows('\x0102000000000000000100000000000000', '', '{"method": "jaccard"}', 1);
SELECT neardup_part_rows('\x01', '\x09', '{"method": "jaccard"}', 1);
SELECT neardup_part_rows('\x01', '', '{"method": "jackard"}', 1);
SELECT neardup_part_rows('\x01', '', '{"method": "jaccard", "threshold": 0}', 1);
SELECT neardup_part_join(1, size, bitmap, prefix, '{"method": "jaccard"}', NULL) OVER () FROM one_row;
SELECT neardup_part_join(NULL, size, bitmap, prefix, '{"method": "jaccard"}', NULL) FROM one_row;
SELECT neardup_part_join(1, size, '\x02', prefix, '{"method": "jaccard"}', NULL) FROM one_row;
SELECT neardup_part_join(1, size, bitmap, '\x01ff', '{"method": "jaccard"}', NULL) FROM one_row;
SELECT neardup_part_join(1, size, bitmap, '\x01ff', '{"method": "minhash"}', NULL) FROM one_row;
SELECT neardup_part_join(g, size, bitmap, prefix, format('{"method": "jaccard", "threshold": %s}', g / 10.0)::jsonb, NULL) FROM generate_series(5, 6) g, one_row;
SELECT neardup_part_join_step(NULL::internal, 1, size, bitmap, prefix, '{"method": "jaccard"}', NULL) FROM one_row;
SELECT neardup_part_candidates('{1,2,3}');
DROP VIEW one_row;
DROP FUNCTION parts_differ;
DROP TABLE parts_docs;

-- Rows of parts in pieces: the pairs are those of the rows, and bytes that are no piece are errors.
CREATE TEMPORARY TABLE pieces AS
WITH call AS (SELECT m AS name, jsonb_build_object('method', m, 'threshold', 0.7) || more AS method
    FROM (VALUES ('jaccard', '{}'::jsonb), ('minhash', '{"shingle": 1, "options": {"bands": 6, "rows": 2}}'), ('runs', '{}')) v(m, more)),
sets AS (SELECT name, method, i::bigint AS id, neardup_part_document(repeat('a b c d e ' || i % 7 || ' ' || i % 11 || ' f g h ', 1 + (name = 'runs')::int * 4), NULL, NULL, NULL, method) AS set FROM call, generate_series(1, 40) i),
ranks AS (SELECT name, neardup_part_ranks(set, method, NULL) AS ranks FROM sets GROUP BY name)
SELECT name, method, neardup_part_pack(id, set, ranks, method, 4, NULL) AS rows FROM sets JOIN ranks USING (name) GROUP BY name, method;
WITH packed AS (SELECT method, get_byte(piece, 2) AS part, piece FROM pieces, unnest(rows) piece WHERE name = 'jaccard'),
candidates AS (SELECT DISTINCT c.* FROM (SELECT neardup_part_join_packed(piece, method, NULL) AS ids FROM packed GROUP BY part) j, neardup_part_candidates(ids) c)
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE similarity >= 0.7) = (SELECT count(*) FROM generate_series(1, 40) i, generate_series(i + 1, 40) k
    WHERE jaccard('a b c d e ' || i % 7 || ' ' || i % 11 || ' f g h', 'a b c d e ' || k % 7 || ' ' || k % 11 || ' f g h') >= 0.7) AS complete
FROM candidates, jaccard('a b c d e ' || left_id % 7 || ' ' || left_id % 11 || ' f g h', 'a b c d e ' || right_id % 7 || ' ' || right_id % 11 || ' f g h') similarity;
SELECT name, sum(cardinality(ids)) > 0 AS some FROM (SELECT name, neardup_part_join_packed(piece, method, NULL) AS ids FROM pieces, unnest(rows) piece GROUP BY name, method, get_byte(piece, 2)) j
GROUP BY name ORDER BY name;
SELECT neardup_part_pack(NULL, '\x01', '', '{"method": "jaccard"}', 1, NULL);
SELECT neardup_part_pack(1, '\x01', '', '{"method": "jaccard"}', 0, NULL);
SELECT neardup_part_pack(1, NULL, '', '{"method": "jaccard"}', 1, NULL);
SELECT neardup_part_join_packed(NULL, '{"method": "jaccard"}', NULL);
SELECT neardup_part_join_packed('\x000000', '{"method": "jaccard"}', NULL);
SELECT neardup_part_join_packed('\x00000007', '{"method": "jaccard"}', NULL);
SELECT neardup_part_join_packed('\x0000000101020304', '{"method": "jaccard"}', NULL);
SELECT neardup_part_join_packed('\x00000001010200010203', '{"method": "runs"}', NULL);
