-- nearest: the k most similar rows of each row.
SET client_min_messages = notice;
CREATE SCHEMA nearest_test;
SET search_path = nearest_test, public;
CREATE TABLE docs (id int PRIMARY KEY, body text);
-- Bad input.
SELECT * FROM nearest(NULL);
SELECT * FROM nearest('docs', NULL);
SELECT * FROM nearest('docs', 0);
SELECT * FROM nearest('docs', 10001);
SELECT * FROM nearest('docs', 5, method => 'edit');
SELECT * FROM nearest('docs', 5, method => 'cosine', tokenizer => 'word');
SELECT * FROM nearest('docs', 5, shingle => 0);
SELECT * FROM nearest('docs', 5, text_column => 'boddy');
SELECT * FROM nearest('docs', 5, id_type => NULL::uuid);
CREATE TABLE pages (no uuid PRIMARY KEY, body text, tokens text[], sketch minhash_sketch);
SELECT * FROM nearest('pages', 5, text_column => 'body');
SELECT * FROM nearest('pages', 5, NULL::uuid, text_column => 'sketch');
SELECT * FROM nearest('pages', 5, NULL::uuid, text_column => 'tokens', tokenizer => 'chars');
SELECT nearest(5::regclass, 5);
-- No row, one, NULL, no token, equal ones.
SELECT * FROM nearest('docs');
INSERT INTO docs VALUES (1, 'a b c d');
SELECT * FROM nearest('docs');
INSERT INTO docs VALUES (2, NULL), (3, '...'), (4, 'x'), (5, 'd c b a'), (6, 'a b c'), (7, 'a b c d e'), (8, 'A, B, C, D'), (9, 'e f');
SELECT * FROM nearest('docs') ORDER BY id, rank;
SELECT * FROM nearest('docs', 1) ORDER BY id, rank;
SELECT documents, skipped_null, skipped_empty, distinct_sets, pairs FROM near_duplicates_stats();
SELECT n.id, n.nearest_id, round(n.similarity::numeric, 3) AS similarity, n.rank FROM nearest('docs', 2, method => 'cosine') n ORDER BY id, rank;
SELECT * FROM nearest('docs', 2, method => 'overlap') ORDER BY id, rank;
SELECT count(*) FROM (TABLE docs) d, LATERAL (SELECT nearest('docs', 1) LIMIT 1) n;
SELECT (nearest('docs', 1)).* LIMIT 1;
-- The specification: all rows, sorted; by words, characters and shingles.
CREATE TABLE many AS SELECT i AS id, (SELECT string_agg('w' || (i % (7 + j) * j * j + CASE WHEN hashint4(i * 100 + j) % 3 = 0 THEN i ELSE 0 END) % 211, ' ' ORDER BY j) FROM generate_series(1, 5 + i % 9) j) AS body
FROM generate_series(1, 300) i;
INSERT INTO many SELECT id + 300, body FROM many WHERE id % 10 = 0;
CREATE FUNCTION differences(k int, of_k text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
    EXECUTE format('WITH naive AS (SELECT id, nearest_id, similarity, rank::int FROM (
            SELECT a.id::bigint AS id, b.id::bigint AS nearest_id, %1$s AS similarity, row_number() OVER (PARTITION BY a.id ORDER BY %1$s DESC, b.id) AS rank
            FROM many a, many b WHERE a.id <> b.id AND %1$s > 0) r WHERE rank <= %2$s),
        found AS MATERIALIZED (SELECT * FROM nearest(''many'', %2$s, id_column => ''id'', text_column => ''body'', %3$s))
        SELECT count(*) FROM ((TABLE naive EXCEPT ALL TABLE found) UNION ALL (TABLE found EXCEPT ALL TABLE naive)) d',
        split_part(of_k, '|', 1), k, split_part(of_k, '|', 2)) INTO n;
    RETURN n;
END
$$;
SELECT k, of_k, differences(k, of_k) FROM unnest('{1,3,10}'::int[]) k,
    unnest(ARRAY['jaccard(a.body, b.body)|method => ''jaccard''', 'dice(a.body, b.body)|method => ''dice''', 'cosine(a.body, b.body)|method => ''cosine''',
        'overlap(a.body, b.body)|method => ''containment''', 'jaccard(a.body, b.body, 2)|shingle => 2', 'near_similarity(a.body, near(b.body, 0.5, tokenizer => ''chars''))|tokenizer => ''chars''']) of_k ORDER BY 1, 2;
-- The order of rows, threads and memory make no difference.
CREATE TABLE found AS SELECT * FROM nearest('many', 4, id_column => 'id');
CREATE VIEW reversed AS SELECT * FROM many ORDER BY id DESC;
SELECT count(*), (SELECT count(*) FROM found) AS found FROM (TABLE found INTERSECT SELECT * FROM nearest('reversed', 4, id_column => 'id')) s;
SET neardup.threads = 1;
SET neardup.memory = '1MB';
SELECT count(*) FROM (TABLE found INTERSECT SELECT * FROM nearest('many', 4, id_column => 'id')) s;
RESET neardup.threads;
RESET neardup.memory;
-- Rows come in one order, whether the server wants all of them or one after the other.
SELECT (SELECT array_agg(n::text) FROM nearest('many', 4, id_column => 'id') n) = (SELECT array_agg(n::text) FROM (SELECT nearest('many', 4, id_column => 'id') AS n) s) AS same;
-- Ids of any type, in the order of the type; columns of tokens.
INSERT INTO pages SELECT md5('id' || i)::uuid, 'a b c', ARRAY['x' || i % 3, 'y', 'z'] FROM generate_series(1, 6) i;
SELECT n.id = p.no AS same, n.nearest_id = (SELECT min(no::text)::uuid FROM pages WHERE no <> n.id) AS first, n.similarity, n.rank
FROM nearest('pages', 1, NULL::uuid, text_column => 'body') n JOIN pages p ON p.no = n.id ORDER BY n.id;
SELECT rank, similarity, count(*) FROM nearest('pages', 2, id_type => NULL::uuid, text_column => 'tokens') GROUP BY 1, 2 ORDER BY 1, 2;
-- The planner knows how many rows to expect.
ANALYZE many;
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    EXECUTE 'EXPLAIN ' || query INTO line;
    RETURN substring(line FROM 'rows=(\d+)');
END
$$;
SELECT rows_of('SELECT * FROM nearest(''many'', 7, id_column => ''id'')'), rows_of('SELECT * FROM nearest(''many'', id_column => ''id'')'), rows_of('SELECT * FROM nearest(''many'', 3, NULL::int, id_column => ''id'')');
-- A text in the third place is the column of the ids; the type of ids that are texts is named.
CREATE TABLE by_name (name text PRIMARY KEY, body text);
INSERT INTO by_name VALUES ('a', 'red crane'), ('b', 'red quay');
SELECT * FROM nearest('by_name', 5, NULL::text);
SELECT * FROM nearest('by_name', 5, id_type => NULL::text) ORDER BY 1;
DROP TABLE by_name;
-- Texts in a normalization form.
CREATE TABLE forms (id int PRIMARY KEY, body text, tags text[]);
INSERT INTO forms VALUES (1, unistr('The of\ufb01cial guide \uff12 caf\u00e9'), '{a}'), (2, unistr('The official guide 2 cafe\u0301'), '{a}'), (3, unistr('The official guide 2 caf\u00e9'), '{a}');
SELECT form, (SELECT array_agg(n.similarity ORDER BY n.id) FROM nearest('forms', 1, text_column => 'body', options => jsonb_build_object('normalize', form)) n) FROM unnest('{nfc,NFKC}'::text[]) form;
SELECT count(*) FROM nearest('forms', 1, NULL::int, text_column => 'body', tokenizer => 'tsearch:simple', options => '{"normalize": "nfkc"}') WHERE similarity = 1;
SELECT * FROM nearest('forms', 1, text_column => 'body', options => '{"normalize": "nfd"}');
SELECT * FROM nearest('forms', 1, text_column => 'body', options => '{"normalise": "nfc"}');
SELECT * FROM nearest('forms', 1, text_column => 'body', options => '[]');
SELECT * FROM nearest('forms', 1, text_column => 'tags', options => '{"normalize": "nfc"}');
SELECT * FROM nearest('forms', 1, text_column => 'body', tokenizer => 'html', options => '{"normalize": "nfc"}');
DROP TABLE forms;
DROP SCHEMA nearest_test CASCADE;
