-- The main job: all pairs of rows of a table whose texts are at least so similar.
SET client_min_messages = warning;
CREATE SCHEMA near_duplicates_test;
SET search_path = near_duplicates_test, public;

CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES
    (7, 'The quick brown fox jumps over the lazy dog.'),
    (2, 'the quick, brown FOX jumps over the lazy dog!'),
    (5, 'The quick brown fox jumps over the lazy cat.'),
    (3, 'A completely different document.'),
    (1, '近似网页检测方法'),
    (4, '近似网页检测的方法'),
    (6, NULL),
    (8, ''),
    (9, ' ... '),
    (-3, 'the fox'),
    (10, NULL),
    (11, '');

-- In FROM, with the default threshold, with one, by position and by name.
SELECT * FROM near_duplicates('docs') ORDER BY 1, 2;
SELECT * FROM near_duplicates('docs', 0.9) ORDER BY 1, 2;
SELECT left_id, right_id FROM near_duplicates(threshold => 0.8, docs => 'docs') ORDER BY 1, 2;
-- A pair is in exactly when the similarity that is reported is >= the threshold.
SELECT count(*) FILTER (WHERE similarity = 8 / 9::float8) AS pairs, min(similarity) FROM near_duplicates('docs', 0.8888888888888888);
SELECT count(*) FROM near_duplicates('docs', 0.88888888888888895);
SELECT count(*) FROM near_duplicates('docs', 0.2222222222222222) WHERE similarity < 0.2222222222222222;
-- In the select list: as a composite, its columns, and only the first ones.
SELECT near_duplicates('docs', 0.9);
SELECT (near_duplicates('docs', 0.8)).* ORDER BY 1, 2;
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.1) LIMIT 3) first_ones;
SELECT pg_typeof((p).left_id), pg_typeof((p).right_id), pg_typeof((p).similarity) FROM (SELECT near_duplicates('docs', 0.95) p) one;
SELECT d.id, near_duplicates('docs', 0.85) FROM docs d WHERE d.id IN (1, 2) ORDER BY d.id, 2;
-- NULL for an argument is its default.
SELECT * FROM near_duplicates('docs', NULL::float8, options => NULL, id_column => NULL, text_column => NULL, method => NULL,
    tokenizer => NULL, shingle => NULL, multiset => NULL, max_pairs => NULL) ORDER BY 1, 2;
-- No row, one row.
CREATE TABLE small (id int PRIMARY KEY, body text);
SELECT * FROM near_duplicates('small', 0.1);
SELECT near_duplicates('small', 0.1);
INSERT INTO small VALUES (1, 'alone');
SELECT * FROM near_duplicates('small', 0.1);
SELECT near_duplicates('small', 0.1);

-- Against all pairs, one by one: 120 texts of few different words, most of them variants of others.
CREATE TABLE made (id int PRIMARY KEY, body text);
INSERT INTO made
SELECT i, (
    SELECT string_agg(substr(md5((i % 25)::text || '.' || j + (i / 25) * (j % 4 / 3)), 1, 1 + i % 2), ' ' ORDER BY j)
    FROM generate_series(1, 3 + i % 25 % 9) j
) FROM generate_series(1, 120) i;
CREATE FUNCTION naive(measure text, threshold float8, k int) RETURNS TABLE (left_id bigint, right_id bigint, similarity float8)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT a.id::bigint, b.id::bigint, s FROM made a, made b, %s(a.body, b.body, $2) s
        WHERE a.id < b.id AND s >= $1', measure) USING threshold, k;
END
$$;
CREATE FUNCTION greater_containment(a text, b text, k int) RETURNS float8 LANGUAGE sql
RETURN greatest(containment(a, b, k), containment(b, a, k));
SELECT method, threshold, k, (SELECT count(*) FROM near_duplicates('made', threshold, method => method, shingle => k)) AS pairs, (
    SELECT count(*) FROM (
        (SELECT * FROM near_duplicates('made', threshold, method => method, shingle => k) EXCEPT ALL SELECT * FROM naive(method, threshold, k))
        UNION ALL
        (SELECT * FROM naive(method, threshold, k) EXCEPT ALL SELECT * FROM near_duplicates('made', threshold, method => method, shingle => k))
    ) d) AS different
FROM unnest('{jaccard,cosine,dice,overlap}'::text[]) WITH ORDINALITY m(method, no), unnest('{0.3,0.7777777777777778,1}'::float8[]) threshold,
    unnest('{1,2}'::int[]) k
ORDER BY no, threshold, k;
SELECT threshold, k, (SELECT count(*) FROM near_duplicates('made', threshold, method => 'containment', multiset => false, shingle => k)) AS pairs, (
    SELECT count(*) FROM (
        (SELECT * FROM near_duplicates('made', threshold, method => 'containment', multiset => false, shingle => k) EXCEPT ALL SELECT * FROM naive('greater_containment', threshold, k))
        UNION ALL
        (SELECT * FROM naive('greater_containment', threshold, k) EXCEPT ALL SELECT * FROM near_duplicates('made', threshold, method => 'containment', multiset => false, shingle => k))
    ) d) AS different
FROM unnest('{0.3,0.75,1}'::float8[]) threshold, unnest('{1,2}'::int[]) k
ORDER BY threshold, k;
-- The two forms of a call give the same.
SELECT count(*) AS pairs, count(*) FILTER (WHERE f.similarity = s.similarity) AS equal
FROM near_duplicates('made', 0.4) f FULL JOIN (SELECT (near_duplicates('made', 0.4)).*) s USING (left_id, right_id);
-- Each pair once, the lesser id on the left.
SELECT count(*) = count(DISTINCT (left_id, right_id)) AS once, bool_and(left_id < right_id) AS ordered FROM near_duplicates('made', 0.2);

-- Words counted once, or as often as they occur; a shared number of words instead of a share.
INSERT INTO small VALUES (2, 'a b c'), (3, 'a a b b c c'), (4, 'c b a x y z'), (5, 'a');
SELECT left_id, right_id, similarity FROM near_duplicates('small', 0.4, multiset => true) ORDER BY 1, 2;
SELECT left_id, right_id, similarity FROM near_duplicates('small', 0.4, multiset => false) ORDER BY 1, 2;
SELECT * FROM near_duplicates('small', 0.5, method => 'overlap', options => '{"min_overlap": 2}') ORDER BY 1, 2;
SELECT * FROM near_duplicates('small', method => 'overlap', options => '{"min_overlap": 3}') ORDER BY 1, 2;
SELECT * FROM near_duplicates('small', 0.9, method => 'overlap', options => '{"min_overlap": 3, "max_pairs": 100}') ORDER BY 1, 2;
SELECT * FROM near_duplicates('small', 0.5, method => 'overlap', options => '{"min_overlap": null}') ORDER BY 1, 2;
SELECT count(*) FROM near_duplicates('small', method => 'overlap', options => '{"min_overlap": 1e30}');

-- max_pairs: as an argument, which counts more, and as an option; also in the select list.
SELECT count(*) FROM near_duplicates('small', 0.1, max_pairs => 6);
SELECT count(*) FROM near_duplicates('small', 0.1, max_pairs => 5);
SELECT count(*) FROM near_duplicates('small', 0.1, options => '{"max_pairs": 5}');
SELECT count(*) FROM near_duplicates('small', 0.1, max_pairs => 6, options => '{"max_pairs": 5}');
SELECT count(*) FROM near_duplicates('small', 0.1, options => '{"max_pairs": 6.0}');
SELECT count(*) FROM (SELECT near_duplicates('small', 0.1, max_pairs => 5)) all_of_them;
SELECT count(*) FROM (SELECT near_duplicates('small', 0.1, max_pairs => 5) LIMIT 5) first_ones;
SELECT count(*) FROM near_duplicates_between('small', 'small', 0.1, max_pairs => 2);
-- Equal texts alone would be too many: it says so before it begins, and the hint's call works.
CREATE TABLE equal (id int PRIMARY KEY, body text);
INSERT INTO equal SELECT i, 'the same text' FROM generate_series(1, 5000) i;
SELECT * FROM near_duplicates('equal', 0.8, method => 'dice', max_pairs => 1000);
SELECT count(*) FROM (SELECT near_duplicates('equal', 0.8, method => 'dice') LIMIT 10) first_ones;

-- Ids of any type with an order; the lesser one on the left by that order.
CREATE TABLE ids (
    body text,
    small smallint, middle int, big bigint, number numeric, real8 float8, a_uuid uuid, a_text text, c_text text COLLATE "C",
    a_varchar varchar(20), a_char char(20), a_name name, a_date date, a_time timestamptz, a_bit bit(12), an_array int[], a_range int4range,
    bytes bytea, an_interval interval
);
INSERT INTO ids
SELECT 'all the same', i, -i, i * 10000000000, i / 7::numeric, -i / 7::float8, md5(i::text)::uuid, 'id ' || i, 'id ' || i, 'id ' || i, 'id ' || i,
    'id ' || i, date '2024-01-01' + i, timestamptz '2024-01-01 UTC' + i * interval '1 s', (i * 37)::bit(12), ARRAY[i % 3, i], int4range(-i, i),
    sha256(i::text::bytea), i * interval '1 h'
FROM generate_series(0, 12) i;
CREATE DOMAIN positive AS int CHECK (VALUE >= 0);
CREATE DOMAIN code AS text COLLATE "C" NOT NULL;
CREATE TYPE level AS ENUM ('low', 'middle', 'high');
CREATE TYPE composite AS (a int, b text);
ALTER TABLE ids ADD a_domain positive, ADD a_code code DEFAULT '', ADD a_level level, ADD a_composite composite, ADD a_level_array level[];
UPDATE ids SET a_domain = small, a_code = 'code ' || small, a_composite = (small % 4, repeat('b', 3000 + small)),
    a_level_array = ARRAY['high', (enum_range(NULL::level))[1 + small % 3]]::level[] || array_fill('low'::level, ARRAY[small]);
SELECT pairs FROM (SELECT count(*) AS pairs FROM near_duplicates('ids', 1, id_column => 'small')) x;
CREATE FUNCTION by_id(id_column text) RETURNS TABLE ("column" text, type text, pairs bigint, ordered bool, right_pairs bool) LANGUAGE plpgsql AS $$
DECLARE
    id_type text := (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'ids'::regclass AND attname = id_column);
BEGIN
    RETURN QUERY EXECUTE format('SELECT %1$L, %2$L, count(*), bool_and(left_id < right_id),
            count(*) = count(DISTINCT (left_id, right_id)) AND count(DISTINCT left_id) = 12
        FROM near_duplicates(%3$L, 1, (SELECT %1$I FROM ids LIMIT 1), id_column => %1$L, text_column => %4$L)',
        id_column, id_type, 'ids', 'body');
END
$$;
SELECT b.* FROM pg_attribute a, by_id(attname) b
WHERE attrelid = 'ids'::regclass AND attnum > 0 AND attname NOT IN ('body', 'a_level') ORDER BY attnum;
CREATE TABLE levels (level level PRIMARY KEY, body text);
INSERT INTO levels VALUES ('high', 'same'), ('low', 'same'), ('middle', 'same');
SELECT * FROM near_duplicates('levels', 0.5, NULL::level) ORDER BY 1, 2;
-- Integers also as any type that they become.
SELECT left_id, pg_typeof(left_id) FROM near_duplicates('docs', 0.95, NULL::numeric);
SELECT left_id, pg_typeof(left_id) FROM near_duplicates('docs', 0.95, NULL::int);
SELECT left_id, pg_typeof(left_id) FROM near_duplicates('docs', 0.95, 0::bigint);
SELECT pg_typeof((near_duplicates('docs', 0.95, NULL::float8)).left_id);
-- Also by name, as long as the type stands third: PostgreSQL derives the columns' types from the
-- arguments before it brings these into their order.
SELECT * FROM near_duplicates(threshold => 0.95, docs => 'docs', id_type => NULL::int, method => 'dice');
-- Text in the order of the database, also where the column has another.
SELECT count(*), bool_and(left_id < right_id) FROM near_duplicates('ids', 1, NULL::text, id_column => 'c_text', text_column => 'body');

-- Tokenizers. The oracle for those without a function: sets made by SQL.
CREATE FUNCTION set_jaccard(a text[], b text[]) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN (
    SELECT count(*) FILTER (WHERE in_a AND in_b) / nullif(count(*), 0)::float8
    FROM (SELECT bool_or(of_a) AS in_a, bool_or(NOT of_a) AS in_b
        FROM (SELECT unnest(a) AS token, true AS of_a UNION ALL SELECT unnest(b), false) t GROUP BY token) s);
CREATE FUNCTION grams(t text, q int) RETURNS text[] LANGUAGE sql IMMUTABLE RETURN (
    SELECT array_agg(substr(clean, i, q)) FROM lower(btrim(regexp_replace(t, '\s+', ' ', 'g'))) clean,
    generate_series(1, greatest(length(clean) - q + 1, least(length(clean), 1))) i);
CREATE TABLE texts (id int PRIMARY KEY, body text);
INSERT INTO texts VALUES
    (1, 'Running dogs  RUN quickly, over hills.'), (2, E'running\tdogs run quickly over hills'), (3, 'The runner''s dog ran; quick hill'),
    (4, '近似网页检测'), (5, '近似网页，检测'), (6, 'ab'), (7, 'AB'), (8, 'dogs run, dogs run, dogs RUN'), (9, 'a,b c'), (10, 'a b,c'), (11, 'A,B C');
CREATE FUNCTION compare(threshold float8, tokenizer text, sets text, arguments text DEFAULT '') RETURNS TABLE (pairs bigint, different bigint)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('WITH found AS (SELECT left_id, right_id, similarity FROM near_duplicates(%L, %s, tokenizer => %L, multiset => false%s)),
            naive AS (SELECT a.id AS left_id, b.id AS right_id, s AS similarity FROM texts a, texts b, set_jaccard(%s, %s) s WHERE a.id < b.id AND s >= %s)
        SELECT count(found), count(*) FILTER (WHERE found.similarity IS DISTINCT FROM naive.similarity)
        FROM found FULL JOIN naive USING (left_id, right_id)', 'texts', threshold, tokenizer, arguments,
        replace(sets, 'body', 'a.body'), replace(sets, 'body', 'b.body'), threshold);
END
$$;
SELECT 'words' AS tokenizer, * FROM compare(0.2, 'words', 'words(body)')
UNION ALL SELECT 'whitespace', * FROM compare(0.2, 'whitespace', $$regexp_split_to_array(btrim(body), '\s+')$$)
UNION ALL SELECT 'chars', * FROM compare(0.1, 'chars', 'grams(body, 3)')
UNION ALL SELECT 'chars of 2', * FROM compare(0.1, 'chars', 'grams(body, 2)', ', shingle => 2')
UNION ALL SELECT 'chars of 1', * FROM compare(0.4, 'chars', 'grams(body, 1)', ', shingle => 1')
UNION ALL SELECT 'tsearch:english', * FROM compare(0.2, 'tsearch:english', $$tsvector_to_array(to_tsvector('english', body))$$)
UNION ALL SELECT 'tsearch:pg_catalog.simple', * FROM compare(0.2, 'tsearch:pg_catalog.simple', $$tsvector_to_array(to_tsvector('simple', body))$$);
SELECT * FROM near_duplicates('texts', 0.9, tokenizer => 'tsearch:english') ORDER BY 1, 2;
SELECT * FROM near_duplicates('texts', 0.9, tokenizer => 'whitespace') ORDER BY 1, 2;
SELECT * FROM near_duplicates('texts', 0.9, tokenizer => 'chars') ORDER BY 1, 2;
-- Shingles of the words, in the order in which they stand.
SELECT * FROM near_duplicates('texts', 0.3, tokenizer => 'tsearch:english', shingle => 2) ORDER BY 1, 2;
SELECT * FROM near_duplicates('texts', 0.9, shingle => 2) ORDER BY 1, 2;
SELECT * FROM near_duplicates('texts', 0.9, tokenizer => 'whitespace', shingle => 2) ORDER BY 1, 2;

-- Tokens already made, and texts of other types.
CREATE DOMAIN words_domain AS text[];
CREATE DOMAIN body_domain AS text CHECK (VALUE <> 'forbidden');
CREATE DOMAIN word_domain AS varchar(30);
CREATE TABLE kinds (
    id int PRIMARY KEY, body text,
    words text[], varchars varchar(30)[], names name[], domains word_domain[], words_domain words_domain, vector tsvector,
    ints int[], bigints bigint[], smallints smallint[], a_varchar varchar, a_char char(60), a_domain body_domain, a_json jsonb, a_xml json, reals float8[]
);
INSERT INTO kinds (id, body) VALUES (1, 'one two three two'), (2, 'two three one two'), (3, 'One, two; three and four!'), (4, ''), (5, NULL), (6, 'five');
UPDATE kinds SET words = words(body), varchars = words(body), names = words(body), domains = words(body), words_domain = words(body),
    vector = to_tsvector('simple', body), bigints = shingles(body, 1), ints = ARRAY(SELECT length(w) FROM unnest(words(body)) w), smallints = ARRAY(SELECT length(w) FROM unnest(words(body)) w),
    a_varchar = body, a_char = body, a_domain = body, a_json = to_jsonb(body), a_xml = to_json(body), reals = ARRAY(SELECT length(w) / 10.0 FROM unnest(words(body)) w) WHERE body IS NOT NULL;
SELECT attname, format_type(atttypid, atttypmod), (
    SELECT string_agg(format('%s-%s %s', left_id, right_id, round(similarity::numeric, 3)), ', ' ORDER BY left_id, right_id)
    FROM near_duplicates('kinds', 0.3, text_column => attname)) AS pairs
FROM pg_attribute WHERE attrelid = 'kinds'::regclass AND attnum > 1 ORDER BY attnum;
SELECT * FROM near_duplicates('kinds', 0.3, text_column => 'words', shingle => 2) ORDER BY 1, 2;
SELECT * FROM near_duplicates('kinds', 0.3, text_column => 'vector', shingle => 2) ORDER BY 1, 2;
SELECT * FROM near_duplicates('kinds', 0.3, text_column => 'bigints', shingle => 2) ORDER BY 1, 2;
SELECT * FROM near_duplicates('kinds', 0.3, text_column => 'bigints', multiset => false) ORDER BY 1, 2;
-- Arrays: NULL elements do not count, dimensions do not matter, tokens are not changed.
CREATE TABLE arrays (id int PRIMARY KEY, tokens text[], numbers bigint[]);
INSERT INTO arrays VALUES
    (1, '{A,"b c",NULL,""}', '{1,-9223372036854775808,NULL,1}'), (2, '{{A,""},{"b c",NULL}}', '{{1,1},{-9223372036854775808,NULL}}'),
    (3, '{a,"b c"}', '{1}'), (4, '{}', '{}'), (5, '{NULL}', '{NULL}'), (6, '[5:6]={A,"b c"}', '[-1:0]={1,1}'), (7, NULL, NULL);
SELECT * FROM near_duplicates('arrays', 0.3, text_column => 'tokens') ORDER BY 1, 2;
SELECT * FROM near_duplicates('arrays', 0.3, text_column => 'numbers') ORDER BY 1, 2;
-- A vector without positions counts each lexeme once, one with them as often as they are many.
CREATE TABLE vectors (id int PRIMARY KEY, v tsvector);
INSERT INTO vectors VALUES (1, 'a:1,3 b:2'), (2, strip('a:1,3 b:2')), (3, 'a:3A,1B b:2C'), (4, ''), (5, 'a:1 b:2,3');
SELECT * FROM near_duplicates('vectors', 0.5, text_column => 'v') ORDER BY 1, 2;
SELECT * FROM near_duplicates('vectors', 0.5, text_column => 'v', shingle => 2) ORDER BY 1, 2;
-- Large values, compressed or stored apart, also as ids.
CREATE TABLE large (id text PRIMARY KEY, body text);
ALTER TABLE large ALTER body SET STORAGE EXTERNAL;
INSERT INTO large SELECT repeat('id ', 300) || i, string_agg(md5(n::text), ' ') FROM generate_series(1, 3) i, generate_series(i, 20000) n GROUP BY i;
SELECT right(left_id, 1), right(right_id, 1), round(similarity::numeric, 5) FROM near_duplicates('large', 0.9, NULL::text) ORDER BY 1, 2;
-- Texts in a normalization form, by all methods; only plain texts have one.
CREATE TABLE forms (id int PRIMARY KEY, body text, tags text[]);
INSERT INTO forms VALUES (1, 'The of\ufb01cial guide \uff12 caf\u00e9'), (2, 'The official guide 2 cafe\u0301'), (3, 'The official guide 2 caf\u00e9');
UPDATE forms SET body = unistr(body);
SELECT form, method, (SELECT array_agg((left_id, right_id) ORDER BY 1) FROM near_duplicates('forms', 1, text_column => 'body', method => method, options => jsonb_build_object('normalize', form)))
FROM unnest('{nfc,nfkc}'::text[]) form, unnest('{jaccard,edit,repeatability}'::text[]) method;
SELECT count(*) FROM near_duplicates('forms', 1, text_column => 'body', tokenizer => 'tsearch:simple', options => '{"normalize": "NFKC"}');
SELECT * FROM near_duplicates('forms', 1, text_column => 'body', options => '{"normalize": "nfd"}');
SELECT * FROM near_duplicates('forms', 1, text_column => 'tags', options => '{"normalize": "nfkc"}');
SELECT * FROM near_duplicates('forms', 1, text_column => 'body', tokenizer => 'html', options => '{"normalize": "nfkc"}');
DROP SCHEMA near_duplicates_test CASCADE;
