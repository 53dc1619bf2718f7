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
-- What cannot be.
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
SELECT * FROM nearest('firms', 1, options => '{"weight": "idf"}');
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
-- Jobs and procedures take frequencies, and do all again; they take no table.
CALL near_duplicates_into('firms', 0.3, 'found', options => '{"weight": "idf"}');
SELECT left_id, right_id, round(similarity::numeric, 6) AS similarity FROM found ORDER BY 1, 2;
CALL near_duplicates_into('firms', 0.3, 'found_by_words', options => '{"weight": "words"}');
SELECT neardup_watch('firms', 0.3, options => '{"weight": "public.words"}');
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
DROP TABLE firms, words, numbers, others, bad, found;
DROP ROLE weigher;
