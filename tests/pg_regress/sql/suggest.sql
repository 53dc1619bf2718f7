-- suggest: a method and a threshold for documents.
SET client_min_messages = notice;
CREATE SCHEMA suggest_test;
SET search_path = suggest_test, public;
-- Bad input.
SELECT * FROM suggest(NULL);
CREATE TABLE records (id int PRIMARY KEY, name text);
SELECT * FROM suggest('records', sample => 0);
SELECT * FROM suggest('records', text_column => 'nam');
CREATE VIEW without_key AS SELECT name FROM records;
SELECT * FROM suggest('without_key');
CREATE TABLE two_keys (a int, b int, body text, PRIMARY KEY (a, b));
SELECT * FROM suggest('two_keys');
CREATE TEMP VIEW one_key AS SELECT (a, b)::text AS id, body AS body FROM two_keys;
SELECT count(*) FROM suggest('one_key', id_column => 'id', text_column => 'body');
CREATE TABLE sketched (id int PRIMARY KEY, sketch minhash_sketch);
SELECT * FROM suggest('sketched', text_column => 'sketch');
-- No documents, one, and many equal ones.
SELECT using_method, fits, threshold, pairs, call FROM suggest('records');
SELECT reason FROM suggest('records') LIMIT 1;
INSERT INTO records VALUES (1, 'Port Ellis');
SELECT using_method, fits, threshold, pairs, call FROM suggest('records');
INSERT INTO records SELECT i, 'Port Ellis' FROM generate_series(2, 20000) i;
SELECT threshold, pairs, reason, call FROM suggest('records') LIMIT 1;
-- Records: every third one has a twin in which one of nine words differs.
TRUNCATE records;
INSERT INTO records SELECT i, (SELECT string_agg(substr(md5(format('%s.%s', CASE WHEN i % 3 = 1 AND j < 9 THEN i - 1 ELSE i END, j)), 1, 5), ' ') || ' harbour' FROM generate_series(1, 9) j)
FROM generate_series(0, 899) i;
SELECT using_method, fits, threshold, pairs, reason, call FROM suggest('records');
-- The calls work, and the first finds as many pairs as it says.
CREATE FUNCTION count_of(call text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (%s) c', rtrim(call, ';')) INTO n;
    RETURN n;
END
$$;
SET client_min_messages = warning;
SELECT using_method, pairs, count_of(call) FROM suggest('records');
-- The order of rows, threads and memory make no difference; a sample is about right.
CREATE VIEW reversed AS SELECT * FROM records ORDER BY id DESC;
CREATE TABLE said AS SELECT * FROM suggest('records');
SELECT count(*) FROM (SELECT using_method, threshold, pairs, reason FROM said INTERSECT SELECT using_method, threshold, pairs, reason FROM suggest('reversed', id_column => 'id')) s;
SET neardup.threads = 1;
SET neardup.memory = '1MB';
SELECT count(*) FROM (SELECT * FROM said INTERSECT SELECT * FROM suggest('records')) s;
RESET neardup.threads;
RESET neardup.memory;
SELECT pairs BETWEEN 100 AND 600 AS about FROM suggest('records', sample => 450) WHERE using_method = 'jaccard';
-- Labels: bad input.
CREATE TABLE answers (left_id int, right_id int, duplicate boolean);
SELECT * FROM suggest_pairs('records', 0);
SELECT * FROM suggest_pairs('records', 10001);
SELECT * FROM suggest_pairs('records', sample => 0);
SELECT * FROM suggest('records', min_precision => 0.9);
SELECT * FROM suggest('records', labels => 'answers', min_precision => 1.5);
SELECT * FROM suggest('records', labels => 'answers', min_precision => 'NaN');
SELECT * FROM suggest('records', labels => 'records');
SELECT * FROM suggest('records', labels => 0);
SELECT * FROM suggest('records', labels => 'answers');
CREATE TABLE of_texts (left_id text, right_id text, duplicate boolean);
SELECT * FROM suggest('records', labels => 'of_texts');
CREATE TABLE in_words (left_id int, right_id int, duplicate text);
SELECT * FROM suggest('records', labels => 'in_words');
INSERT INTO answers VALUES (0, 0, true);
SELECT * FROM suggest('records', labels => 'answers');
UPDATE answers SET right_id = NULL;
SELECT * FROM suggest('records', labels => 'answers');
DELETE FROM answers;
INSERT INTO answers VALUES (0, 1, true), (1, 0, false);
SELECT * FROM suggest('records', labels => 'answers');
-- A pair that is there, one that is not alike, one of an absent document, one without an answer.
DELETE FROM answers;
INSERT INTO answers VALUES (0, 1, true), (1, 0, true), (0, 2, true), (0, 1000, false), (3, 4, NULL);
SELECT using_method, fits, threshold, reason FROM suggest('records', labels => 'answers') LIMIT 1;
-- Pairs to label: in every stratum, and the same in any order of the rows, with any threads.
CREATE TABLE proposed AS SELECT * FROM suggest_pairs('records', 60);
SELECT count(*), count(DISTINCT (left_id, right_id)), bool_and(left_id < right_id), bool_and(similarity >= stratum), bool_and(similarity < stratum + 0.05), min(stratum) FROM proposed;
SELECT count(*) FROM proposed p JOIN records a ON a.id = p.left_id AND a.name = p.text_a JOIN records b ON b.id = p.right_id AND b.name = p.text_b;
SELECT stratum, round(sum(weight)) AS pairs FROM proposed GROUP BY stratum ORDER BY stratum DESC LIMIT 2;
SET neardup.threads = 1;
SELECT count(*) FROM (SELECT * FROM proposed INTERSECT SELECT * FROM suggest_pairs('reversed', 60, id_column => 'id')) s;
RESET neardup.threads;
SELECT count(*) FROM (SELECT left_id, right_id FROM proposed INTERSECT SELECT left_id, right_id FROM suggest_pairs('records', 90)) s;
SELECT count(*) FROM suggest_pairs('records', 10000) p JOIN near_duplicates('records', 0.3) d ON (d.left_id, d.right_id) = (p.left_id, p.right_id) AND d.similarity = p.similarity;
-- Equal texts are many pairs, of which some are chosen, each once.
CREATE VIEW equal AS SELECT id, 'Port Ellis: the north quay is closed until Friday'::text AS body FROM records WHERE id < 200;
SELECT count(DISTINCT (left_id, right_id)), bool_and(left_id < right_id), min(similarity), round(sum(weight)) AS pairs FROM suggest_pairs('equal', 100, id_column => 'id');
-- The answers to them: the threshold is below the similarity of the twins.
TRUNCATE answers;
INSERT INTO answers SELECT left_id, right_id, right_id = left_id + 1 AND right_id % 3 = 1 FROM proposed;
SELECT fits, threshold, pairs, round("precision"::numeric, 2) AS precision, round(precision_low::numeric, 2) AS low, precision_high AS high, recall, call FROM suggest('records', labels => 'answers', min_precision => 0.95) LIMIT 1;
SELECT using_method, count(*), count(threshold), count("precision"), count(recall) FROM suggest('records', labels => 'answers') GROUP BY using_method ORDER BY using_method;
SELECT bool_and(precision_low <= "precision" AND "precision" <= precision_high AND recall_low <= recall AND recall <= recall_high) FROM suggest('records', labels => 'answers');
-- No threshold has the precision: what nobody calls a duplicate.
UPDATE answers SET duplicate = false;
SELECT fits, reason LIKE '%no threshold has a precision of 0.9%' AS says_so FROM suggest('records', labels => 'answers', min_precision => 0.9) LIMIT 1;
-- Ids of any type, hostile names, and columns of domains.
CREATE DOMAIN yes_or_no AS boolean;
CREATE TABLE "an ""odd'; name" ("key; --" text PRIMARY KEY, "body '" text);
INSERT INTO "an ""odd'; name" SELECT 'k{}",\' || id, name FROM records;
CREATE TABLE "answers of ""odd""" AS SELECT left_id, right_id, (left_id = 'k{}",\0')::yes_or_no AS duplicate FROM suggest_pairs('"an ""odd''; name"', 40, NULL::text, id_column => 'key; --');
SELECT count(*), count(DISTINCT left_id) > 20 AS many FROM "answers of ""odd""";
SELECT s.call FROM suggest('"an ""odd''; name"', labels => '"answers of ""odd"""') s LIMIT 1;
SELECT * FROM suggest_pairs('"an ""odd''; name"', 40);
-- Other kinds: a few words, long texts, Chinese characters, tokens; ids of any type.
CREATE TABLE kinds (no uuid PRIMARY KEY, short text, long text, chinese text, tokens text[]);
INSERT INTO kinds SELECT md5('id' || i)::uuid, md5(i::text) || ' quay', (SELECT string_agg(md5(format('%s.%s', i, j)), ' ') FROM generate_series(1, 150) j),
    (SELECT string_agg(chr(x'4e00'::int + (i * j) % 997), '') FROM generate_series(1, 6) j), ARRAY['a' || i, 'b' || i, i::text] FROM generate_series(1, 60) i;
SELECT c, s.call FROM unnest('{short,long,chinese,tokens}'::text[]) WITH ORDINALITY c(c, n), suggest('kinds', text_column => c) s WHERE s.using_method = 'jaccard' ORDER BY n;
SELECT using_method, fits, call FROM suggest('kinds', text_column => 'long');
SELECT using_method, count_of(call) FROM suggest('kinds', text_column => 'long');
SELECT using_method, fits FROM suggest('kinds', text_column => 'short') WHERE fits;
-- Long documents that share a part: a fifth of the words of two, which are different otherwise. Runs are suggested first, with
-- a call that finds them, and labels are of the similarity of whole texts.
CREATE FUNCTION words(seed text, n int) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(substr(md5(seed || ':' || j), 1, 6), ' ' ORDER BY j) FROM generate_series(1, n) j $$;
CREATE TABLE parts AS SELECT i AS id, words('own' || i, 120) || ' ' || words('part' || i / 2, 40) || ' ' || words('end' || i, 20) AS body FROM generate_series(0, 79) i;
SELECT using_method, fits, threshold, pairs, count_of(call) AS found, reason FROM suggest('parts', id_column => 'id') LIMIT 2;
SELECT count(*) FROM (SELECT * FROM suggest('parts', id_column => 'id') INTERSECT SELECT * FROM suggest('parts', id_column => 'id', sample => 1000)) s;
-- A template of most documents, with their own text in it, of which some are copies.
CREATE TABLE pages AS SELECT i AS id, words('frame', 300) || ' ' || words('own' || i / 2, 120) || ' ' || words('end' || i, 10) AS body FROM generate_series(0, 79) i;
SELECT using_method, fits, threshold, pairs, count_of(call) AS found, reason FROM suggest('pages', id_column => 'id') LIMIT 2;
CREATE TABLE answered AS SELECT left_id, right_id, left_id / 2 = right_id / 2 AS duplicate FROM suggest_pairs('pages', 50, id_column => 'id');
SELECT using_method, fits, "precision" IS NOT NULL AS with_precision, count(*) FROM suggest('pages', id_column => 'id', labels => 'answered') WHERE using_method IN ('jaccard', 'runs') GROUP BY 1, 2, 3 ORDER BY 1;
-- Names and legal forms: of two firms the forms are alike, of two entries of one firm they may differ. Weights tell them apart.
CREATE TABLE firms AS SELECT i AS id, substr(md5((i / 2)::text), 1, 8) || (ARRAY[' Trading Company Limited', ' Trading GmbH', ' Trading Company Limited'])[1 + i % 3] AS name
FROM generate_series(0, 99) i;
CREATE TABLE same_firm AS SELECT left_id, right_id, left_id / 2 = right_id / 2 AS duplicate FROM suggest_pairs('firms', 400, id_column => 'id');
SELECT using_method, fits, threshold, pairs, reason, call, "precision" FROM suggest('firms', id_column => 'id', labels => 'same_firm') LIMIT 1;
SELECT count(*), count(*) FILTER (WHERE left_id / 2 = right_id / 2) AS duplicates
FROM near_duplicates('firms', 0.55, id_column => 'id', tokenizer => 'chars', shingle => 3, options => '{"weight": "idf"}');
SELECT using_method, threshold, call LIKE '%idf%' AS weighed FROM suggest('firms', id_column => 'id', labels => 'same_firm', min_precision => 0.9) LIMIT 2;
-- Not without labels, with few, with answers by chance, or where words do not matter.
SELECT count(*) FROM suggest('firms', id_column => 'id') s WHERE s.call LIKE '%idf%';
SELECT count(*) FROM suggest('records', labels => 'answers') s WHERE s.call LIKE '%idf%';
CREATE VIEW few AS SELECT * FROM same_firm ORDER BY left_id, right_id LIMIT 29;
SELECT count(*) FROM suggest('firms', id_column => 'id', labels => 'few') s WHERE s.call LIKE '%idf%';
UPDATE same_firm SET duplicate = hashint8(left_id * 1000 + right_id) % 2 = 0;
SELECT count(*) FROM suggest('firms', id_column => 'id', labels => 'same_firm') s WHERE s.call LIKE '%idf%';
-- Copies are no template.
CREATE TABLE copies AS SELECT i AS id, words('same', 300) || CASE WHEN i % 2 = 0 THEN ' odd' ELSE '' END AS body FROM generate_series(0, 79) i;
SELECT using_method, fits, threshold FROM suggest('copies', id_column => 'id') LIMIT 2;
DROP SCHEMA suggest_test CASCADE;
