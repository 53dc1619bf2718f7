-- The Hamming distance of sets: the tokens that only one of two sets has. All pairs that share a token, against all pairs by hand.
SET neardup.threads = 2;
CREATE TABLE bags AS SELECT i AS id, array_agg('w' || (hashint4(i / 3 * 100 + j) & 63) ORDER BY j) FILTER (WHERE (hashint4(i * 50 + j) & 15) > 0) AS body
FROM generate_series(1, 200) i, generate_series(1, 1 + i % 13) j GROUP BY i;
INSERT INTO bags VALUES (1001, '{}'), (1002, NULL), (1003, '{a}'), (1004, '{b}'), (1005, '{a,b}');
CREATE VIEW sets AS SELECT id, array(SELECT DISTINCT unnest(body)) AS body FROM bags;
CREATE TABLE by_hand AS SELECT x.id AS l, y.id AS r, cardinality(x.body) + cardinality(y.body) - 2 * o.shared AS distance, 2.0 * o.shared / (cardinality(x.body) + cardinality(y.body)) AS similarity
FROM sets x, sets y, LATERAL (SELECT count(*)::int AS shared FROM unnest(x.body) t WHERE t = ANY (y.body)) o WHERE o.shared > 0 AND x.id < y.id;
CREATE FUNCTION differ(threshold float8, d int) RETURNS TABLE(pairs bigint, missing bigint, more bigint) LANGUAGE sql AS $$
    WITH found AS (SELECT left_id, right_id, round(similarity::numeric, 9) FROM near_duplicates('bags', threshold, id_column => 'id', text_column => 'body', method => 'hamming', multiset => false, options => jsonb_build_object('distance', d))),
        wanted AS (SELECT l, r, round(similarity, 9) FROM by_hand WHERE distance <= d AND similarity >= coalesce(threshold, 0))
    SELECT (SELECT count(*) FROM found), (SELECT count(*) FROM (SELECT * FROM wanted EXCEPT SELECT * FROM found) x), (SELECT count(*) FROM (SELECT * FROM found EXCEPT SELECT * FROM wanted) x)
$$;
SET client_min_messages = warning;
SELECT d, (differ(NULL, d)).* FROM unnest('{0,1,2,3,5,9,30}'::int[]) d;
SELECT d, (differ(0.75, d)).* FROM unnest('{0,2,5,30}'::int[]) d;
RESET client_min_messages;
-- Texts, with the default threshold; two tables; clusters; in parts; jobs.
CREATE TABLE docs AS SELECT id, array_to_string(body, ' ') AS body FROM bags WHERE id < 1000;
ALTER TABLE docs ADD PRIMARY KEY (id);
SELECT count(*) > 0 AS some, count(*) = (SELECT count(*) FROM near_duplicates('docs', 0.8, method => 'dice')) AS as_dice FROM near_duplicates('docs', method => 'hamming');
SELECT count(*) = 2 * (SELECT count(*) FROM near_duplicates('docs', method => 'hamming', options => '{"distance": 2}')) AS both_ways
FROM near_duplicates_between('docs', 'docs', method => 'hamming', options => '{"distance": 2}') WHERE left_id <> right_id;
SET client_min_messages = warning;
CALL near_duplicates_into('docs', NULL, 'into_pairs', '{"distance": 2}', method => 'hamming', parts => 3);
SELECT count(*) > 0 AS some, (SELECT count(*) FROM (SELECT * FROM near_duplicates('docs', method => 'hamming', options => '{"distance": 2}') EXCEPT SELECT left_id, right_id, similarity FROM into_pairs) x) AS missing FROM into_pairs;
RESET client_min_messages;
SELECT neardup_watch('docs', NULL, '{"distance": 2}', method => 'hamming');
CALL neardup_refresh('docs');
UPDATE docs SET body = body || ' more' WHERE id % 5 = 0;
DELETE FROM docs WHERE id % 17 = 0;
CALL neardup_refresh('docs');
SELECT count(*) > 0 AS some, (SELECT count(*) FROM ((SELECT * FROM near_duplicates('docs', method => 'hamming', options => '{"distance": 2}') EXCEPT SELECT left_id, right_id, similarity FROM docs_pairs)
    UNION ALL (SELECT left_id, right_id, similarity FROM docs_pairs EXCEPT SELECT * FROM near_duplicates('docs', method => 'hamming', options => '{"distance": 2}'))) x) AS other FROM docs_pairs;
SELECT method, similarity, evidence FROM explain_pair('a b c d', 'a b c e') WHERE method = 'hamming';
-- What is refused.
SELECT * FROM near_duplicates('docs', method => 'hamming', options => '{"distance": -1}');
SELECT * FROM near_duplicates('docs', method => 'hamming', options => '{"min_overlap": 1}');
SELECT * FROM near_duplicates('docs', method => 'dice', options => '{"distance": 1}');
