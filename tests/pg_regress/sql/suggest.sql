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
-- Other kinds: a few words, long texts, Chinese characters, tokens; ids of any type.
CREATE TABLE kinds (no uuid PRIMARY KEY, short text, long text, chinese text, tokens text[]);
INSERT INTO kinds SELECT md5('id' || i)::uuid, md5(i::text) || ' quay', (SELECT string_agg(md5(format('%s.%s', i, j)), ' ') FROM generate_series(1, 150) j),
    (SELECT string_agg(chr(x'4e00'::int + (i * j) % 997), '') FROM generate_series(1, 6) j), ARRAY['a' || i, 'b' || i, i::text] FROM generate_series(1, 60) i;
SELECT c, s.call FROM unnest('{short,long,chinese,tokens}'::text[]) WITH ORDINALITY c(c, n), suggest('kinds', text_column => c) s WHERE s.using_method = 'jaccard' ORDER BY n;
SELECT using_method, fits, call FROM suggest('kinds', text_column => 'long');
SELECT using_method, count_of(call) FROM suggest('kinds', text_column => 'long');
SELECT using_method, fits FROM suggest('kinds', text_column => 'short') WHERE fits;
DROP SCHEMA suggest_test CASCADE;
