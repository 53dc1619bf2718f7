-- Pairs of a row of one table and a row of another.
SET client_min_messages = warning;
CREATE SCHEMA between_test;
SET search_path = between_test, public;

CREATE TABLE old_docs (id int PRIMARY KEY, body text);
CREATE TABLE new_docs (id bigint PRIMARY KEY, title text, body text);
INSERT INTO old_docs VALUES (1, 'the quick brown fox jumps'), (2, 'something else'), (3, 'a b c d'), (4, ''), (5, NULL), (6, 'The quick, brown fox jumps!');
INSERT INTO new_docs VALUES (1, 't', 'the quick brown fox jumps over'), (2, 't', 'a b c d'), (7, 't', 'a b c d e f g h'), (8, NULL, NULL), (9, 't', ' ');
SELECT * FROM near_duplicates_between('old_docs', 'new_docs', 0.8) ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('new_docs', 'old_docs', 0.8) ORDER BY 1, 2;
SELECT * FROM near_duplicates_between("left" => 'old_docs', "right" => 'new_docs', threshold => 0.8) ORDER BY 1, 2;
SELECT near_duplicates_between('old_docs', 'new_docs', 1);
SELECT (near_duplicates_between('old_docs', 'new_docs')).* ORDER BY 1, 2;
SELECT count(*) FROM (SELECT near_duplicates_between('old_docs', 'new_docs', 0.1) LIMIT 2) first_ones;
-- The share of the left text that the right one contains; overlap is the greater of both directions.
SELECT * FROM near_duplicates_between('old_docs', 'new_docs', 0.8, method => 'containment') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('new_docs', 'old_docs', 0.8, method => 'containment') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('new_docs', 'old_docs', 0.8, method => 'overlap') ORDER BY 1, 2;
-- A table with itself: each pair both ways, and every row with itself.
SELECT * FROM near_duplicates_between('old_docs', 'old_docs', 0.8) ORDER BY 1, 2;
-- An empty one on either side.
CREATE TABLE none (id int PRIMARY KEY, body text);
SELECT * FROM near_duplicates_between('old_docs', 'none', 0.1);
SELECT * FROM near_duplicates_between('none', 'old_docs', 0.1);
SELECT near_duplicates_between('none', 'none', 0.1);

-- The right table's columns are called like the left one's unless it says otherwise.
CREATE VIEW notes AS SELECT id + 100 AS key, body AS note, 'x'::text AS author FROM old_docs;
SELECT * FROM near_duplicates_between('notes', 'notes', 0.9, id_column => 'key', text_column => 'note') WHERE left_id = 101 ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('old_docs', 'notes', 0.9, right_id_column => 'key', right_text_column => 'note') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('notes', 'old_docs', 0.9, id_column => 'key', text_column => 'note', right_id_column => 'id', right_text_column => 'body') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('old_docs', 'notes', 0.9);
SELECT * FROM near_duplicates_between('notes', 'old_docs', 0.9, id_column => 'key', text_column => 'note');
SELECT * FROM near_duplicates_between('old_docs', 'notes', 0.9, right_id_column => 'key');
SELECT * FROM near_duplicates_between('old_docs', 'notes', 0.9, right_id_column => 'key', right_text_column => 'text');
-- Ids of other types, also of two that become one.
CREATE TABLE by_text (id text PRIMARY KEY, body text);
CREATE TABLE by_varchar (id varchar(10) PRIMARY KEY, body text);
CREATE TABLE by_uuid (id uuid PRIMARY KEY, body text);
INSERT INTO by_text SELECT 'old ' || id, body FROM old_docs;
INSERT INTO by_varchar SELECT 'new ' || id, body FROM new_docs;
INSERT INTO by_uuid SELECT md5(id::text)::uuid, body FROM new_docs;
SELECT * FROM near_duplicates_between('by_text', 'by_varchar', 0.8, NULL::text) ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('by_varchar', 'by_text', 0.8, NULL::varchar) ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('old_docs', 'new_docs', 0.9, NULL::numeric) ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('by_uuid', 'by_uuid', 1, NULL::uuid) WHERE left_id <> right_id;
SELECT * FROM near_duplicates_between('old_docs', 'by_uuid', 0.8);
SELECT * FROM near_duplicates_between('by_text', 'by_uuid', 0.8, NULL::uuid);
SELECT * FROM near_duplicates_between('by_text', 'by_varchar', 0.8);
SELECT * FROM near_duplicates_between('old_docs', 'new_docs', 0.8, NULL::int);
-- Tokens on both sides, made by the same means or already there.
CREATE VIEW word_lists AS SELECT id, words(body) AS body FROM new_docs;
SELECT * FROM near_duplicates_between('old_docs', 'word_lists', 0.8, right_id_column => 'id', right_text_column => 'body') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('old_docs', 'new_docs', 0.5, tokenizer => 'chars') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('old_docs', 'new_docs', 0.9, tokenizer => 'tsearch:english', shingle => 2) ORDER BY 1, 2;
-- NULL and double ids of either side.
INSERT INTO none VALUES (1, 'a b');
CREATE VIEW doubled AS SELECT 1 AS id, body FROM old_docs;
CREATE VIEW nameless AS SELECT NULL::int AS id, 'x'::text AS body;
SELECT * FROM near_duplicates_between('none', 'doubled', 0.8, right_id_column => 'id');
SELECT * FROM near_duplicates_between('doubled', 'none', 0.8, id_column => 'id');
SELECT * FROM near_duplicates_between('none', 'nameless', 0.8, right_id_column => 'id');

-- Against all pairs, one by one.
CREATE TABLE a (id int PRIMARY KEY, body text);
CREATE TABLE b (id int PRIMARY KEY, body text);
INSERT INTO a SELECT i, (SELECT string_agg(substr(md5((i % 20) || '.' || j + (i / 20) * (j % 3 / 2)), 1, 1), ' ') FROM generate_series(1, 2 + i % 20 % 7) j) FROM generate_series(1, 60) i;
INSERT INTO b SELECT i, (SELECT string_agg(substr(md5((i % 20) || '.' || j + (i / 20) * (j % 4 / 3)), 1, 1), ' ') FROM generate_series(1, 1 + i % 20 % 9) j) FROM generate_series(1, 80) i;
CREATE FUNCTION naive(measure text, threshold float8, k int) RETURNS TABLE (left_id bigint, right_id bigint, similarity float8)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT a.id::bigint, b.id::bigint, s FROM a, b, %s(a.body, b.body, $2) s WHERE s >= $1', measure)
        USING threshold, k;
END
$$;
SELECT method, threshold, k, (SELECT count(*) FROM near_duplicates_between('a', 'b', threshold, method => method, multiset => k = 1 AND method <> 'containment', shingle => k)) AS pairs, (
    SELECT count(*) FROM (
        (SELECT * FROM near_duplicates_between('a', 'b', threshold, method => method, multiset => k = 1 AND method <> 'containment', shingle => k) EXCEPT ALL SELECT * FROM naive(method, threshold, k))
        UNION ALL
        (SELECT * FROM naive(method, threshold, k) EXCEPT ALL SELECT * FROM near_duplicates_between('a', 'b', threshold, method => method, multiset => k = 1 AND method <> 'containment', shingle => k))
    ) d) AS different
FROM unnest('{jaccard,cosine,dice,overlap,containment}'::text[]) WITH ORDINALITY m(method, no), unnest('{0.4,0.75,1}'::float8[]) threshold, unnest('{1,2}'::int[]) k
ORDER BY no, threshold, k;
DROP SCHEMA between_test CASCADE;
