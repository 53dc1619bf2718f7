-- Words with errors: the option word_similarity of the methods that compare sets of words.
\set SHOW_CONTEXT never
CREATE TABLE people (id int PRIMARY KEY, town text, name text);
INSERT INTO people VALUES
    (1, 'a', 'Haddock, Brian A'), (2, 'a', 'Brain Hadock'), (3, 'b', 'Brianna Padlock'), (4, 'b', 'HADDOCK (Brian) A.'),
    (5, 'a', 'Smith Smith'), (6, 'b', 'Smyth'), (7, 'a', NULL), (8, 'b', ''), (9, 'b', '!?'), (10, 'a', '? !');
SELECT method, left_id, right_id, round(similarity::numeric, 6) AS similarity
FROM unnest('{jaccard,cosine,dice,overlap,containment}'::text[]) method,
    near_duplicates('people', 0.6, method => method, text_column => 'name', options => '{"word_similarity": 0.8}') ORDER BY 1, 2, 3;
-- Exactly at the threshold: Brian and Brain have the similarity 0.8.
SELECT count(*) FROM near_duplicates('people', 2/3::float8, text_column => 'name', options => '{"word_similarity": 0.8}');
SELECT count(*) FROM near_duplicates('people', 2/3::float8, text_column => 'name', options => '{"word_similarity": 0.8000000000000002}');
-- Equal words are near from any similarity on; with 1 they are the only ones.
WITH a AS (SELECT * FROM near_duplicates('people', 0.1, text_column => 'name', options => '{"word_similarity": 1}')),
    b AS (SELECT * FROM near_duplicates('people', 0.1, text_column => 'name'))
SELECT (SELECT count(*) FROM a) AS pairs, count(*) AS differ FROM ((TABLE a EXCEPT TABLE b) UNION ALL (TABLE b EXCEPT TABLE a)) d;
-- Repeats count, unless they are not to.
SELECT multiset, left_id, right_id, similarity
FROM unnest('{true,false}'::boolean[]) multiset, near_duplicates('people', 0.5, text_column => 'name', multiset => multiset, options => '{"word_similarity": 0.7}')
WHERE left_id = 5;
-- Other forms of the call.
CREATE TABLE others (id int PRIMARY KEY, name text);
INSERT INTO others VALUES (1, 'brian haddok of port ellis'), (2, 'nobody');
SELECT left_id, right_id, similarity
FROM near_duplicates_between('people', 'others', 0.6, method => 'containment', text_column => 'name', options => '{"word_similarity": 0.7}') ORDER BY 1;
SELECT left_id, right_id, similarity
FROM near_duplicates_between('others', 'people', 0.2, method => 'containment', text_column => 'name', options => '{"word_similarity": 0.7}') ORDER BY 1, 2;
SELECT cluster_id, id FROM near_duplicate_clusters('people', 0.6, text_column => 'name', options => '{"word_similarity": 0.8}') ORDER BY 1, 2;
SELECT * FROM eliminate('people', 0.6, text_column => 'name', options => '{"word_similarity": 0.8}') ORDER BY 1;
SELECT left_id, right_id FROM near_duplicates('people', 0.6, text_column => 'name', within => 'town', options => '{"word_similarity": 0.8}') ORDER BY 1, 2;
SELECT left_id, right_id FROM near_duplicates('people', 0.6, text_column => 'name', across => 'town', options => '{"word_similarity": 0.8}') ORDER BY 1, 2;
SELECT left_id, right_id FROM near_duplicates('people', 0.6, text_column => 'name', tokenizer => 'whitespace', options => '{"word_similarity": 0.7}') ORDER BY 1, 2;
SELECT left_id, right_id FROM near_duplicates('people', method => 'overlap', text_column => 'name', options => '{"word_similarity": 0.8, "min_overlap": 2}') ORDER BY 1, 2;
SELECT count(*) > 0 AS plans FROM near_duplicates_plan('people', 0.6, text_column => 'name', options => '{"word_similarity": 0.8}');
CALL near_duplicates_into('people', 0.6, 'people_into', '{"word_similarity": 0.8}', text_column => 'name');
TABLE people_into ORDER BY 1, 2;
SELECT neardup_watch('people', 0.6, text_column => 'name', options => '{"word_similarity": 0.8}');
CALL neardup_refresh('people');
INSERT INTO people VALUES (11, 'a', 'Hadockk, Brian');
CALL neardup_refresh('people');
TABLE people_pairs ORDER BY 1, 2;
-- What it does not go with.
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', options => '{"word_similarity": 0}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', options => '{"word_similarity": "high"}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', options => '{"word_similarity": 0.8, "weight": "idf"}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', options => '{"word_similarity": 0.8, "algorithm": "ppjoin"}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', shingle => 2, options => '{"word_similarity": 0.8}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', tokenizer => 'chars', options => '{"word_similarity": 0.8}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', tokenizer => 'tsearch:simple', options => '{"word_similarity": 0.8}');
CREATE TABLE made (id int PRIMARY KEY, tokens text[]);
SELECT * FROM near_duplicates('made', 0.6, text_column => 'tokens', options => '{"word_similarity": 0.8}');
SELECT * FROM near_duplicates('people', 0.6, text_column => 'name', method => 'hamming', options => '{"word_similarity": 0.8}');
SELECT * FROM nearest('people', 1, text_column => 'name', options => '{"word_similarity": 0.8}');
SELECT * FROM near_duplicates('people', text_column => 'name', method => 'combined', options => '{"techniques": [{"method": "jaccard", "word_similarity": 0.8}]}');
