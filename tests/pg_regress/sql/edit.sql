-- Edit distance: edit_similarity, and near_duplicates with method edit against all pairs of it.
SET client_min_messages = warning;
\pset null NULL

-- 1 - distance / characters of the longer text, as one correctly rounded division.
SELECT edit_similarity('kitten', 'sitting') = 4 / 7::float8 AS kitten, edit_similarity('abcde', 'abXde') = 0.8 AS tie,
    edit_similarity('aaac', 'aabc') AS trap, edit_similarity('abc', 'abc') AS equal, edit_similarity('abc', 'xyz') AS unlike;
-- Characters, not bytes; as they are: case, white space and punctuation count, and nothing is normalised.
SELECT edit_similarity('近似文本', '近似网页') AS chinese, edit_similarity('🙂🙃', '🙂') AS emoji, edit_similarity('Ab', 'ab') AS "case",
    edit_similarity('a b', 'a  b') AS space, edit_similarity('a.', 'a!') AS punctuation, edit_similarity(U&'\00e9', U&'e\0301') AS normal_form;
-- An empty text is similar to nothing, not even to another one; a blank one is not empty.
SELECT edit_similarity('', ''), edit_similarity('', 'a'), edit_similarity('a', ''), edit_similarity(' ', ' ');
SELECT edit_similarity(NULL, 'a'), edit_similarity('a', NULL);
-- Long texts: 64 characters are a machine word, 1024 a page; the last two are compared by a thread beside.
SELECT n, edit_similarity(repeat('ab', n), repeat('ab', n) || 'c') = 2 * n / (2 * n + 1)::float8 AS one_more,
    edit_similarity(repeat('ab', n), 'c' || repeat('ba', n)) = (2 * n - 1) / (2 * n + 1)::float8 AS moved,
    edit_similarity(repeat('a', n), repeat('b', n)) AS unlike,
    edit_similarity(repeat('a', n), repeat('b', 2 * n)) AS unlike_and_longer
FROM unnest(array[1, 31, 32, 33, 64, 511, 512, 513, 20000]) n;

-- Texts that make pairs: made of few characters, and copies of others with a few characters changed.
CREATE SCHEMA edit_test;
SET search_path = edit_test, public;
SELECT setseed(0.25);
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, (SELECT string_agg(substr('ab 字c', (random() * 4)::int + 1, 1), '') FROM generate_series(1, i % 9))
FROM generate_series(1, 60) i;
INSERT INTO docs SELECT 100 + i, repeat(substr('The harbour of Port Ellis 近似网页检测 🙂 e', (i % 7) + 1), 1 + i % 3) FROM generate_series(1, 30) i;
INSERT INTO docs SELECT 200 + id, overlay(body placing substr('xY🙃', id % 3 + 1, 1) from id % length(body) + 1 for id % 4) FROM docs WHERE id > 100;
INSERT INTO docs SELECT 400 + id, overlay(body placing 'é' from 1 + id * 7 % length(body) for id % 2) FROM docs WHERE id > 200;
INSERT INTO docs VALUES (1001, NULL), (1002, ''), (1003, ''), (1004, ' '), (1005, ' '), (1006, 'aaac'), (1007, 'aabc');
CREATE TABLE others AS SELECT id + 5000 AS id, body FROM docs WHERE id % 3 = 0 OR id > 1000;
ALTER TABLE others ADD PRIMARY KEY (id);
CREATE TABLE truth AS
SELECT 'left' AS side, a.id AS a, b.id AS b, edit_similarity(a.body, b.body) AS similarity FROM docs a, docs b WHERE a.id < b.id
UNION ALL SELECT 'right', a.id, b.id, edit_similarity(a.body, b.body) FROM docs a, others b;
-- Levenshtein's distance by somebody else, where contrib is installed; it takes texts of up to 255 characters.
SELECT count(*) > 0 AS contrib FROM pg_available_extensions WHERE name = 'fuzzystrmatch' \gset
\set differ 0
\if :contrib
CREATE EXTENSION fuzzystrmatch SCHEMA edit_test;
SELECT count(*) AS differ FROM truth JOIN docs a ON a.id = truth.a JOIN (SELECT * FROM docs UNION ALL SELECT * FROM others) b ON b.id = truth.b,
    greatest(length(a.body), length(b.body)) longer
WHERE longer > 0 AND similarity IS DISTINCT FROM (longer - levenshtein(a.body, b.body)) / longer::float8 \gset
DROP EXTENSION fuzzystrmatch;
\endif
SELECT :differ AS differ_from_fuzzystrmatch;
-- Pairs that one side lacks, or with another similarity.
CREATE FUNCTION differences(side text, threshold float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    answer bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT * FROM truth WHERE side = $1 AND similarity >= $2) t
        FULL JOIN %s(%s, threshold => $2, method => ''edit'') f ON left_id = a AND right_id = b
        WHERE t.similarity IS DISTINCT FROM f.similarity',
        CASE side WHEN 'left' THEN 'near_duplicates' ELSE 'near_duplicates_between' END,
        CASE side WHEN 'left' THEN '''docs''' ELSE '''docs'', ''others''' END)
    INTO answer USING side, threshold;
    RETURN answer;
END
$$;
SELECT threads, sum(differences(side, threshold)) AS differences, count(*) AS joins
FROM generate_series(1, 3) threads, set_config('neardup.threads', threads::text, false),
    unnest(array['left', 'right']) side,
    unnest(array[0.01, 0.25, 1 / 3::float8, 0.4, 0.5, 0.6, 2 / 3::float8, 0.7, 0.75, 0.8, 0.8000000000000002, 5 / 6::float8, 0.9, 0.95, 1]) threshold
GROUP BY threads ORDER BY threads;
RESET neardup.threads;
SELECT side, count(*) FILTER (WHERE similarity >= 0.8) > 100 AS many, count(*) FILTER (WHERE similarity = 0.8) > 0 AS ties,
    count(*) FILTER (WHERE similarity = 1) > 10 AS equal
FROM truth GROUP BY side ORDER BY side;
SELECT * FROM near_duplicates('docs', 0.75, method => 'edit') WHERE left_id > 1000 ORDER BY 1, 2;
SELECT count(*) FROM near_duplicates('docs', method => 'edit') WHERE similarity < 0.8;
-- With little memory and by every algorithm it is the same.
SET neardup.memory = '64kB';
SELECT sum(differences(side, 0.6)) FROM unnest(array['left', 'right']) side;
RESET neardup.memory;
SELECT algorithm, count(*) = (SELECT count(*) FROM truth WHERE side = 'left' AND similarity >= 0.6) AS same
FROM unnest(array['allpairs', 'ppjoin', 'ppjoin+']) algorithm,
    near_duplicates('docs', 0.6, method => 'edit', options => jsonb_build_object('algorithm', algorithm))
GROUP BY algorithm ORDER BY algorithm;
-- By a distance, with a threshold and without; the distance is what the similarity was made of.
CREATE FUNCTION differences_within(side text, distance int, threshold float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    answer bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (
            SELECT truth.* FROM truth JOIN docs a ON a.id = truth.a JOIN (SELECT * FROM docs UNION ALL SELECT * FROM others) b ON b.id = truth.b,
                greatest(length(a.body), length(b.body)) longer
            WHERE side = $1 AND a.body <> '''' AND b.body <> '''' AND round((1 - similarity) * longer) <= $2 AND similarity >= coalesce($3, 0)) t
        FULL JOIN %s(%s, threshold => $3, method => ''edit'', options => jsonb_build_object(''distance'', $2)) f ON left_id = a AND right_id = b
        WHERE t.similarity IS DISTINCT FROM f.similarity',
        CASE side WHEN 'left' THEN 'near_duplicates' ELSE 'near_duplicates_between' END,
        CASE side WHEN 'left' THEN '''docs''' ELSE '''docs'', ''others''' END)
    INTO answer USING side, distance, threshold;
    RETURN answer;
END
$$;
SELECT side, sum(differences_within(side, distance, threshold)) AS differences, count(*) AS joins
FROM unnest(array['left', 'right']) side, unnest(array[0, 1, 2, 3, 5, 9, 40, 4000000]) distance, unnest(array[NULL, 0.3, 0.8]) threshold GROUP BY side ORDER BY side;
SELECT * FROM near_duplicates('docs', method => 'edit', options => '{"distance": 1}') WHERE left_id > 1000 ORDER BY 1, 2;
-- Swapped neighbours are one edit if asked for; the table of the definition is filled in cell by cell.
SELECT edit_similarity('Brain', 'Brian') AS two, edit_similarity('Brain', 'Brian', damerau => true) AS one, edit_similarity('abc', 'ca', true) AS restricted,
    edit_similarity('近似文本', '似近本文', true) AS chinese, edit_similarity('a', 'b', NULL) AS unknown;
CREATE FUNCTION alignment(a text, b text) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    d int[] := array_fill(0, ARRAY[length(a) + 1, length(b) + 1], ARRAY[0, 0]);
BEGIN
    FOR i IN 0..length(a) LOOP
        FOR j IN 0..length(b) LOOP
            d[i][j] := CASE WHEN i = 0 OR j = 0 THEN i + j
                ELSE least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (substr(a, i, 1) <> substr(b, j, 1))::int) END;
            IF i > 1 AND j > 1 AND substr(a, i, 1) = substr(b, j - 1, 1) AND substr(a, i - 1, 1) = substr(b, j, 1) THEN
                d[i][j] := least(d[i][j], d[i - 2][j - 2] + 1);
            END IF;
        END LOOP;
    END LOOP;
    RETURN d[length(a)][length(b)];
END
$$;
CREATE TABLE letters AS WITH RECURSIVE t(body) AS (SELECT '' UNION ALL SELECT body || c FROM t, unnest('{a,b,c}'::text[]) c WHERE length(body) < 4)
SELECT row_number() OVER (ORDER BY body)::int AS id, body FROM t;
ALTER TABLE letters ADD PRIMARY KEY (id);
CREATE TABLE aligned AS SELECT a.id AS a, b.id AS b, alignment(a.body, b.body) AS edits, greatest(length(a.body), length(b.body)) AS longer,
    edit_similarity(a.body, b.body) AS plain, edit_similarity(a.body, b.body, damerau => true) AS similarity FROM letters a, letters b WHERE a.id < b.id AND a.body <> '';
SELECT count(*) FILTER (WHERE similarity IS DISTINCT FROM (longer - edits) / longer::float8) AS differ, count(*) FILTER (WHERE similarity > plain) > 300 AS nearer,
    count(*) FILTER (WHERE similarity < plain) AS farther FROM aligned;
CREATE TABLE copies AS SELECT row_number() OVER (ORDER BY id, n)::int AS id, overlay(overlay(body placing reverse(substr(body, n, 2)) from n for 2) placing reverse(substr(body, n + 5, 2)) from n + 5 for 2) AS body
FROM docs, unnest(array[1, 3, 6]) n WHERE id < 1000 AND length(body) > n + 7;
ALTER TABLE copies ADD PRIMARY KEY (id);
CREATE TABLE swapped AS SELECT 'letters' AS docs, a, b, edits, plain, similarity FROM aligned UNION ALL
SELECT 'copies', a, b, round((1 - similarity) * longer), plain, similarity FROM (SELECT a.id AS a, b.id AS b, greatest(length(a.body), length(b.body)) AS longer,
    edit_similarity(a.body, b.body) AS plain, edit_similarity(a.body, b.body, damerau => true) AS similarity FROM copies a, copies b WHERE a.id < b.id) x;
CREATE FUNCTION differences_with_swaps(docs text, threshold float8, distance int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    answer bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM (SELECT * FROM swapped WHERE docs = %1$L AND similarity >= coalesce($1, 0) AND edits <= coalesce($2, 1000000)) t
        FULL JOIN near_duplicates(%1$L, threshold => $1, method => ''edit'', options => jsonb_strip_nulls(jsonb_build_object(''damerau'', true, ''distance'', $2))) f ON left_id = a AND right_id = b
        WHERE t.similarity IS DISTINCT FROM f.similarity', docs) INTO answer USING threshold, distance;
    RETURN answer;
END
$$;
SELECT docs, sum(differences_with_swaps(docs, threshold, distance)) AS differences, count(*) AS joins
FROM unnest(array['letters', 'copies']) docs, unnest(array[NULL, 0.3, 0.5, 2 / 3::float8, 0.75, 0.8, 0.9]) threshold, unnest(array[NULL, 0, 1, 2, 5]) distance
WHERE threshold IS NOT NULL OR distance IS NOT NULL GROUP BY docs ORDER BY docs DESC;
SELECT docs, count(*) FILTER (WHERE similarity >= 0.75) > count(*) FILTER (WHERE plain >= 0.75) AS more FROM swapped GROUP BY docs ORDER BY docs;
SELECT similarity, evidence FROM explain_pair('Brain', 'Brian') WHERE method = 'edit';
-- Words in another order: texts are compared after their words were sorted.
CREATE TABLE people (id int PRIMARY KEY, body text);
INSERT INTO people VALUES (1, 'Johann Sebastian Bach'), (2, 'Bach Johan Sebastian'), (3, E'Sebastian\tBach,  Johann'), (4, 'Bach'), (5, ' '), (6, 'Johann Sebastian  Bach ');
SELECT * FROM near_duplicates('people', 0.9, method => 'edit', options => '{"word_order": false}') ORDER BY 1, 2;
CREATE TABLE shuffled AS SELECT n AS id, (SELECT string_agg((ARRAY['Ann', 'Anna', 'van', 'Dam', 'Damm', '字'])[1 + (n * w * w + n / 7) % 6], ' ' ORDER BY (n * w) % 5, w) FROM generate_series(1, 1 + n % 4) w) AS body FROM generate_series(1, 80) n;
ALTER TABLE shuffled ADD PRIMARY KEY (id);
CREATE TABLE sorted AS SELECT id, (SELECT string_agg(word, ' ' ORDER BY word COLLATE "C") FROM unnest(string_to_array(body, ' ')) word) AS body FROM shuffled;
SELECT left_id, right_id, round(similarity::numeric, 3) AS similarity FROM near_duplicates_between('people', 'people', method => 'edit', options => '{"word_order": false, "damerau": true, "distance": 1}') WHERE left_id < right_id ORDER BY 1, 2;
SELECT count(*) FILTER (WHERE f.similarity IS DISTINCT FROM t.similarity) AS differ, count(*) > 100 AS many FROM (
        SELECT a.id AS a, b.id AS b, edit_similarity(a.body, b.body) AS similarity FROM sorted a, sorted b WHERE a.id < b.id AND edit_similarity(a.body, b.body) >= 0.7) t
    FULL JOIN near_duplicates('shuffled', 0.7, method => 'edit', options => '{"word_order": false}') f ON left_id = a AND right_id = b;
SELECT * FROM near_duplicates('people', method => 'edit', options => '{"word_order": 1}');
-- Many long texts: a NOTICE.
CREATE TABLE bodies AS SELECT i AS id, md5(i::text) || repeat(md5(i::text), 12) AS body FROM generate_series(1, 2000) i;
SET client_min_messages = notice;
SELECT count(*) FROM near_duplicates('bodies', 0.99, method => 'edit', id_column => 'id');
SELECT count(*) FROM near_duplicates('bodies', 0.99, method => 'jaccard', id_column => 'id');
SET client_min_messages = warning;
-- What it did.
SELECT count(*) FROM near_duplicates('docs', 0.9, method => 'edit') \gset
SELECT documents, skipped_null, skipped_empty, tokens > distinct_tokens AS tokens, distinct_sets = (SELECT count(DISTINCT body) - 1 FROM docs) AS sets,
    candidates >= verified AND verified > 0 AS verified, pairs = :count AS pairs
FROM near_duplicates_stats();
-- One pair at a time, ids of other types, columns of other types.
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.5, method => 'edit') LIMIT 5) p;
SELECT count(*) FROM near_duplicates('docs', 0.5, method => 'edit', max_pairs => 10);
CREATE TABLE names (key text PRIMARY KEY, name varchar(20), number int, tags text[]);
INSERT INTO names VALUES ('x', 'Ana Ruiz', 1234567890, '{a,b}'), ('y', 'Anna Ruiz', 1234567891, '{a,b}'), ('z', 'Ben', 7, '{c}');
SELECT * FROM near_duplicates('names', 0.8, NULL::text, method => 'edit');
SELECT * FROM near_duplicates('names', 0.9, NULL::text, method => 'edit', text_column => 'number');
-- Nothing, one row, and rows without text.
CREATE TABLE few (id int PRIMARY KEY, body text);
SELECT * FROM near_duplicates('few', 0.5, method => 'edit');
SELECT * FROM near_duplicates_between('few', 'docs', 0.5, method => 'edit');
INSERT INTO few VALUES (1, 'one'), (2, ''), (3, NULL);
SELECT * FROM near_duplicates('few', 0.5, method => 'edit');
SELECT * FROM near_duplicates_between('few', 'few', 0.5, method => 'edit');
-- What has no meaning here is an error.
SELECT * FROM near_duplicates('docs', 0.7, method => 'edit', tokenizer => 'chars');
SELECT * FROM near_duplicates('docs', 0.7, method => 'edit', shingle => 3);
SELECT * FROM near_duplicates_between('docs', 'others', method => 'edit', multiset => true);
SELECT * FROM near_duplicates('names', 0.7, NULL::text, method => 'edit', text_column => 'tags');
SELECT * FROM near_duplicates('docs', 1.5, method => 'edit');
SELECT * FROM near_duplicates('docs', method => 'edit', options => '{"min_overlap": 3}');
SELECT * FROM near_duplicates('docs', method => 'levenshtein');
DROP SCHEMA edit_test CASCADE;
