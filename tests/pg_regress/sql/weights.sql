-- Words that weigh: the option weight of the methods that compare sets.
\set SHOW_CONTEXT never
CREATE TABLE firms (id int PRIMARY KEY, name text);
INSERT INTO firms VALUES
    (1, 'Zyntherion Limited'), (2, 'Zyntherion GmbH'), (3, 'Arbor Limited'), (4, 'Quay Limited'),
    (5, 'Harbour GmbH'), (6, 'Limited'), (7, 'Quay Quay Limited'), (8, NULL), (9, '');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM near_duplicates('firms', 0.4) ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM near_duplicates('firms', 0.3, options => '{"weight": "idf"}') ORDER BY 1, 2;
-- A table of weights: a word that it lacks weighs as much as its heaviest word.
CREATE TABLE words (word text, weight float8);
INSERT INTO words VALUES ('LIMITED', 0.5), ('gmbh', 1), ('quay', 4);
SELECT method, left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM unnest('{jaccard,cosine,dice,overlap,containment}'::text[]) method,
    near_duplicates('firms', 0.9, options => '{"weight": "words"}', method => method) ORDER BY 1, 2, 3;
-- By hand: limited weighs 512 and gmbh 1024 of 4096, and for cosine 64 and 256.
SELECT similarity = 4096.0::float8 / (4096 + 512 + 1024) AS jaccard
FROM near_duplicates('firms', 0.7, options => '{"weight": "words"}') WHERE left_id = 1 AND right_id = 2;
SELECT similarity = 4096.0::float8 / sqrt((4096 + 64) * (4096 + 256)::float8) AS cosine
FROM near_duplicates('firms', 0.7, options => '{"weight": "words"}', method => 'cosine') WHERE left_id = 1 AND right_id = 2;
-- Words of integers are words, too.
CREATE TABLE numbers (id int PRIMARY KEY, tokens int[]);
INSERT INTO numbers VALUES (1, '{1,2,9}'), (2, '{1,3,9}'), (3, '{4,9}'), (4, '{5,9}');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM near_duplicates('numbers', 0.3, text_column => 'tokens', options => '{"weight": "idf"}') ORDER BY 1, 2;
-- In two tables, in clusters, in groups, and where rows are removed.
CREATE TABLE others (id int PRIMARY KEY, name text);
INSERT INTO others VALUES (11, 'zyntherion'), (12, 'limited');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM near_duplicates_between('firms', 'others', 0.7, options => '{"weight": "words"}', method => 'containment') ORDER BY 1, 2;
SELECT * FROM near_duplicate_clusters('firms', 0.6, options => '{"weight": "words"}') ORDER BY 1, 2;
SELECT * FROM eliminate('firms', 0.6, options => '{"weight": "words"}') ORDER BY 1;
ALTER TABLE firms ADD town text;
UPDATE firms SET town = CASE WHEN id < 3 THEN 'a' ELSE 'b' END;
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM near_duplicates('firms', 0.4, options => '{"weight": "words"}', within => 'town', text_column => 'name') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM near_duplicates('firms', 0.4, options => '{"weight": "words"}', across => 'town', text_column => 'name') ORDER BY 1, 2;
ALTER TABLE firms DROP town;
-- The nearest of each, which limited alone does not make near to each other.
SELECT * FROM nearest('firms', 1, method => 'cosine', text_column => 'name') ORDER BY 1, 4;
SELECT id, nearest_id, round(similarity::numeric, 6) AS similarity, rank
FROM nearest('firms', 1, options => '{"weight": "words"}', method => 'cosine') ORDER BY 1, 4;
SELECT id, nearest_id, round(similarity::numeric, 6) AS similarity, rank
FROM nearest('firms', 2, options => '{"weight": "idf"}', across => 'name') ORDER BY 1, 4;
SELECT bool_and(near IS NOT DISTINCT FROM pair) AS agree FROM (
    SELECT f.id, max(n.similarity) AS near, (
        SELECT max(p.similarity) FROM near_duplicates('firms', 1e-9, options => '{"weight": "idf"}', method => 'dice') p
        WHERE f.id IN (p.left_id, p.right_id)) AS pair
    FROM firms f LEFT JOIN nearest('firms', 3, options => '{"weight": "idf"}', method => 'dice') n ON n.id = f.id GROUP BY f.id
) AS compared;
-- What each word weighs.
SELECT method, similarity, evidence FROM explain_pair('Zyntherion Limited', 'ZYNTHERION GmbH, Quay, quay', weight => 'public.words');
SELECT * FROM explain_pair(NULL, 'x', 'words');
SELECT method, similarity, evidence FROM explain_pair('', '', 'words');
SELECT count(*) AS pairs, bool_and(e.similarity = p.similarity) AS agree
FROM unnest('{jaccard,cosine,dice,overlap}'::text[]) m, near_duplicates('firms', 0.01, options => '{"weight": "words"}', method => m) p
JOIN firms a ON a.id = p.left_id JOIN firms b ON b.id = p.right_id, explain_pair(a.name, b.name, 'words') e WHERE e.method = m;
-- What cannot be.
SELECT * FROM explain_pair('a', 'b', weight => 'idf');
SELECT * FROM explain_pair('a', 'b', weight => 'nothing');
SELECT * FROM explain_pair('a', 'b', weight => 'firms');
SELECT * FROM explain_pair('firms', '1', '2');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": 3}');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "tfidf"}');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "firms"}');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "idf"}', method => 'hamming');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "idf"}', method => 'edit');
SELECT * FROM near_duplicates('firms', NULL, options => '{"weight": "idf", "min_overlap": 2}', method => 'overlap');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "words"}', tokenizer => 'tsearch:simple');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "words", "normalize": "nfkc"}');
SELECT * FROM near_duplicates('numbers', 0.4, text_column => 'tokens', options => '{"weight": "words"}');
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "words"}', shingle => 2);
SELECT * FROM nearest('firms', 1, options => '{"weight": 1}');
SELECT * FROM nearest('firms', 1, options => '{"weight": "words", "normalize": "nfkc"}');
SELECT * FROM nearest('firms', 1, options => '{"weight": "none"}');
CREATE TABLE bad (word text, weight numeric);
INSERT INTO bad VALUES ('a', 0);
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "bad"}');
UPDATE bad SET weight = 'NaN';
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "bad"}');
UPDATE bad SET weight = NULL;
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "bad"}');
UPDATE bad SET weight = 1, word = 'two words';
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "bad"}');
UPDATE bad SET word = 'same';
INSERT INTO bad VALUES ('SAME', 2);
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "bad"}');
-- The table is read with the rights of the caller.
CREATE ROLE weigher;
GRANT SELECT ON firms TO weigher;
SET ROLE weigher;
SELECT * FROM near_duplicates('firms', 0.4, options => '{"weight": "words"}');
RESET ROLE;
-- Jobs and procedures take frequencies, and words as an object; they do all again, and take no table.
CALL near_duplicates_into('firms', 0.3, 'found', options => '{"weight": "idf"}');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity FROM found ORDER BY 1, 2;
CALL near_duplicates_into('firms', 0.3, 'found_by_words', options => '{"weight": "words"}');
SELECT jsonb_build_object('weight', jsonb_object_agg(word, weight)) AS weights FROM words \gset
CALL near_duplicates_into('firms', 0.7, 'found_by_words', options => :'weights');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity FROM found_by_words ORDER BY 1, 2;
SELECT neardup_watch('firms', 0.3, options => '{"weight": "public.words"}');
SELECT neardup_watch('firms', 0.7, options => :'weights');
CALL neardup_refresh('firms');
UPDATE words SET weight = 7;
UPDATE firms SET name = 'ZYNTHERION' WHERE id = 3;
CALL neardup_refresh('firms');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity FROM firms_pairs ORDER BY 1, 2;
SELECT neardup_unwatch('firms');
UPDATE firms SET name = 'Arbor Limited' WHERE id = 3;
SELECT left_id, right_id, similarity FROM near_duplicates('firms', 0.7, options => '{"weight": {"limited": "heavy"}}');
SELECT left_id, right_id, similarity FROM near_duplicates('firms', 0.7, options => '{"weight": {"a b": 1}}');
SELECT count(*) FROM near_duplicates('firms', 0.7, options => '{"weight": {}}');
SELECT neardup_watch('firms', 0.3, options => '{"weight": "idf"}');
CALL neardup_refresh('firms');
INSERT INTO firms SELECT n, 'Limited ' || n FROM generate_series(10, 19) n;
CALL neardup_refresh('firms');
SELECT count(*) FROM (
    (SELECT * FROM firms_pairs EXCEPT ALL SELECT * FROM near_duplicates('firms', 0.3, options => '{"weight": "idf"}'))
    UNION ALL (SELECT * FROM near_duplicates('firms', 0.3, options => '{"weight": "idf"}') EXCEPT ALL SELECT * FROM firms_pairs)
) AS differing;
SELECT count(*) FROM firms_pairs;
SELECT neardup_unwatch('firms');
DROP TABLE firms, words, numbers, others, bad, found, found_by_words;
DROP ROLE weigher;
