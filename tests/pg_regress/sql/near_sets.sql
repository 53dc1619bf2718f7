-- Balls of documents: what is in one is what near_duplicates gives, pair for pair and bit for bit.

-- Operators of arrays mean what they meant: a string takes the type of the array beside it.
SET search_path = public, pg_catalog;
CREATE DOMAIN tag_list AS text[];
CREATE DOMAIN tag AS text;
CREATE TYPE mood AS ENUM ('a', 'b');
CREATE TABLE arrays (tags text[], v varchar[], c char(3)[], n name[], i int[], b bigint[], s smallint[], m numeric[], u uuid[], e mood[], d tag_list, t tag[], r int4range, mr int4multirange, j jsonb);
INSERT INTO arrays VALUES ('{a}', '{a}', '{a}', '{a}', '{1}', '{1}', '{1}', '{1}', '{00000000-0000-0000-0000-000000000001}', '{a}', '{a}', '{a}', '[1,2)', '{[1,2)}', '{"a": 1}');
CREATE FUNCTION asked(string text, columns text[]) RETURNS TABLE(col text, of_string text, of_parameter text) LANGUAGE plpgsql AS $$
DECLARE operator text; found text; given text;
BEGIN
    FOREACH col IN ARRAY columns LOOP
        of_string := ''; of_parameter := '';
        FOREACH operator IN ARRAY '{<@,@>,&&}'::text[] LOOP
            CONTINUE WHEN operator = '&&' AND col = 'j';
            EXECUTE format('SELECT concat(%s %s %L, %3$L %2$s %1$s) FROM arrays', col, operator, string) INTO found;
            EXECUTE format('PREPARE one AS SELECT concat(%s %s $1, $2 %2$s %1$s) FROM arrays', col, operator);
            EXECUTE format('EXECUTE one(%L, %1$L)', string) INTO given;
            DEALLOCATE one;
            of_string := of_string || found; of_parameter := of_parameter || given;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END
$$;
SELECT * FROM asked('{a}', '{tags,v,c,n,e,d,t}') UNION ALL SELECT * FROM asked('{1}', '{i,b,s,m}')
UNION ALL SELECT * FROM asked('{00000000-0000-0000-0000-000000000001}', '{u}')
UNION ALL SELECT * FROM asked('[1,2)', '{r}') UNION ALL SELECT * FROM asked('{[1,2)}', '{mr}') UNION ALL SELECT * FROM asked('{"a": 1}', '{j}');
SELECT tags <@ '{}' AS empty, tags <@ NULL AS none, tags <@ ARRAY['a'] AS made, tags <@ '{a,b}'::text[] AS typed, '{a}'::text[] <@ '{a,b}' AS literals, tags <@ (SELECT '{a}'::text[]) AS asked FROM arrays;
SELECT tags @> '{b}' AS no, i @> '{2}' AS no, tags && '{b,a}' AS yes FROM arrays;
RESET search_path;

-- What a ball is.
SELECT near('One two');
SELECT near('One two', NULL, NULL, NULL, NULL, NULL), near(NULL::text) IS NULL AS null_is_null;
SELECT near('a', 0.5, 2, true, 'chars', 'cosine') AS all, near('a', tokenizer => 'chars') AS chars, near('a', shingle => 2) AS shingles, near('a', 1, tokenizer => 'html', method => 'containment') AS html,
    near('a', 0.25, multiset => false, tokenizer => 'whitespace', method => 'overlap') AS whitespace;
SELECT near('{one,NULL,"t \"w\" o"}'::text[], 0.9) AS tokens, near(to_tsvector('simple', 'b a b'), 0.9, method => 'dice') AS lexemes, near('{2,-1,NULL,2}'::int[]) AS ints, near('{2,-1,2}'::bigint[], 0.8, 2, true) AS numbers;
SELECT near(v, 0.5) AS varchars, near(d, 0.5) AS domains, near(s, 0.5) AS smallints FROM arrays;
SELECT near('a "b" \ ' || chr(10) || chr(1) || 'é') AS quoted, near('', 0.1) AS empty, near('{}'::text[]), near('{}'::int[]);
SELECT pg_typeof(near('text')), pg_typeof(near('text', 1)), pg_typeof(near(ARRAY['text'])), pg_typeof(near(minhash('text'), 0.5)), pg_typeof(near(simhash('text'), 3));
-- In and out, as text and in binary form.
CREATE TABLE balls AS SELECT b FROM (VALUES (near('a "b" \ é')), (near('')), (near('{a,"","b c"}'::text[], 0.3)), (near('{}'::text[])), (near(to_tsvector('a b c'), 1)), (near('{1,-1,9223372036854775807}'::bigint[])),
    (near('{}'::bigint[])), (near('x', 0.1, 5, true, 'chars', 'overlap'))) v(b);
SELECT count(*), count(*) FILTER (WHERE b::text::text_ball = b) AS same FROM balls;
\getenv directory PG_ABS_BUILDDIR
\set file :directory '/results/near_sets.binary'
COPY balls TO :'file' (FORMAT binary);
CREATE TABLE copied (LIKE balls);
COPY copied FROM :'file' (FORMAT binary);
SELECT count(*) FROM (TABLE balls INTERSECT TABLE copied) same;
SELECT ' <jaccard:words:k1:set:0.5: "\u00e9\n" > '::text_ball;

-- Every measure and way of cutting, beside near_duplicates: pairs, and the bits of similarities.
SET neardup.threads = 1;
SET jit = off;
SELECT setseed(0.18);
CREATE TABLE texts AS SELECT i AS id, CASE WHEN i = 1 THEN NULL WHEN i = 2 THEN '' WHEN i = 3 THEN '?!' ELSE
    (SELECT string_agg((ARRAY['one','two','Three','four','five','six','é','sieben','<b>acht</b>'])[1 + (random() * random() * 9)::int % 9], CASE WHEN j % 5 = i % 5 THEN ', ' ELSE ' ' END) FROM generate_series(1, 3 + i % 9) j) END AS body
    FROM generate_series(1, 50) i;
CREATE TABLE token_arrays AS SELECT id, words(body) AS body FROM texts;
CREATE TABLE lexemes AS SELECT id, to_tsvector('simple', body) AS body FROM texts;
CREATE TABLE numbers AS SELECT id, shingles(body, 1) AS body FROM texts;
CREATE TABLE ints AS SELECT id, ARRAY(SELECT (n % 1000)::int FROM unnest(shingles(body, 1)) n) AS body FROM texts;
-- How many pairs, and how many of them are not the same.
CREATE FUNCTION compared(docs text, threshold float8, method text, shingle int, multiset bool, tokenizer text) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    pairs text := format('SELECT left_id, right_id, float8send(similarity) FROM near_duplicates(%L, %s, id_column => ''id'', text_column => ''body'', method => %L, shingle => %L, multiset => %L, tokenizer => %L)',
        docs, threshold, method, shingle, multiset, tokenizer);
    between text := format('SELECT left_id, right_id, float8send(similarity) FROM near_duplicates_between(%L, %1$L, %s, id_column => ''id'', text_column => ''body'', method => %L, shingle => %L, multiset => %L, tokenizer => %L)',
        docs, threshold, method, shingle, multiset, tokenizer);
    ball text := format('near(%%s.body, %s, %L, %L, %s method => %L)', threshold, shingle, multiset, CASE docs WHEN 'texts' THEN format('%L,', tokenizer) END, method);
    one text := format('SELECT a.id, b.id, near_similarity(a.body, %1$s) AS s FROM %2$I a, %2$I b WHERE a.body <@ %1$s', format(ball, 'b'), docs);
    result int[];
BEGIN
    EXECUTE format('WITH pairs AS MATERIALIZED (%s), between AS MATERIALIZED (%s), one(a, b, s) AS MATERIALIZED (%s),
            either AS (SELECT least(a, b), greatest(a, b), float8send(max(s)) FROM one WHERE a <> b GROUP BY 1, 2), directed AS (SELECT a, b, float8send(s) FROM one)
        SELECT ARRAY[(SELECT count(*) FROM pairs), (SELECT count(*) FROM ((TABLE pairs EXCEPT TABLE either) UNION ALL (TABLE either EXCEPT TABLE pairs)) d),
            (SELECT count(*) FROM ((TABLE between EXCEPT TABLE directed) UNION ALL (TABLE directed EXCEPT TABLE between)) d)]', pairs, between, one) INTO result;
    RETURN result;
END
$$;
SET client_min_messages = warning;
SELECT docs, sum(c[1]) > 1000 AS many, sum(c[2]) AS unlike, sum(c[3]) AS unlike_between, count(*) FROM unnest('{texts,token_arrays,lexemes,numbers,ints}'::text[]) docs,
    unnest(array[0.3, 0.8]::float8[]) threshold, unnest('{jaccard,cosine,dice,overlap,containment}'::text[]) method, unnest(array[NULL, 2]) shingle, compared(docs, threshold, method, shingle, NULL, NULL) c GROUP BY docs ORDER BY docs;
SELECT tokenizer, sum(c[1]) > 500 AS many, sum(c[2]) AS unlike, sum(c[3]) AS unlike_between FROM unnest('{words,chars,whitespace,html}'::text[]) tokenizer, unnest(array[NULL, 1, 5]) shingle, unnest(array[true, false]) multiset,
    unnest('{jaccard,containment}'::text[]) method, compared('texts', 0.6::float8, method, shingle, multiset, tokenizer) c GROUP BY tokenizer ORDER BY tokenizer;
RESET client_min_messages;
RESET neardup.threads;
RESET jit;
-- Long texts are compared beside the session that waits.
SELECT near_similarity(repeat('a b c ', 50000), near(repeat('a b d ', 50000), 0.1)) AS long, repeat('a b c ', 50000) <@ near(repeat('a b c ', 50000), 1) AS same;
-- A direction: the share of the row that the ball's text has.
SELECT near_similarity('one two', near('one two three four', 0.5, method => 'containment')) AS part_of, near_similarity('one two three four', near('one two', 0.5, method => 'containment')) AS has_part,
    near_similarity('one two three four', near('one two', 0.5, method => 'overlap')) AS overlap;

-- The other operators.
SELECT count(*), count(*) FILTER (WHERE (a.body <@ n) IS DISTINCT FROM (n @> a.body) OR (a.body <@ n) <> (near_similarity(a.body, n) >= t)
    OR a.body <-> n IS DISTINCT FROM CASE WHEN a.body <@ n THEN 1 - near_similarity(a.body, n) WHEN a.body IS NOT NULL AND n IS NOT NULL THEN 'Infinity' END) AS wrong
FROM texts a, texts b, unnest(array[0.4, 0.8]) t, near(b.body, t) n;
SELECT count(*) FILTER (WHERE (a.body <@ n) IS DISTINCT FROM (n @> a.body) OR a.body <-> n IS DISTINCT FROM CASE WHEN a.body <@ n THEN 1 - near_similarity(a.body, n) WHEN a.body IS NOT NULL AND n IS NOT NULL THEN 'Infinity' END) AS wrong
FROM lexemes a, lexemes b, near(b.body, 0.5) n;
SELECT count(*) FILTER (WHERE (a.body <@ n) IS DISTINCT FROM (n @> a.body) OR a.body <-> n IS DISTINCT FROM CASE WHEN a.body <@ n THEN 1 - near_similarity(a.body, n) WHEN a.body IS NOT NULL AND n IS NOT NULL THEN 'Infinity' END) AS wrong
FROM ints a, ints b, near(b.body, 0.5) n;
SELECT id, body <-> near('one two three four', 0.5) AS distance FROM texts WHERE body <-> near('one two three four', 0.5) < 'Infinity' ORDER BY 2, 1 LIMIT 3;
-- An order drops no row, by the index or without it: those outside the ball come last. A condition drops them, also around a LIMIT.
CREATE TABLE ordered AS SELECT i AS id, CASE WHEN i <= 3 THEN 'one two three four w' || i WHEN i % 50 = 0 THEN NULL ELSE md5(i::text) END AS body FROM generate_series(1, 400) i;
CREATE INDEX ordered_body ON ordered USING signature (body);
ANALYZE ordered;
CREATE FUNCTION distances(how text, query text) RETURNS TABLE(scan bool, distances text) LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    PERFORM set_config(name, CASE how WHEN 'index' THEN 'off' ELSE 'on' END, true) FROM unnest('{enable_seqscan,enable_sort}'::text[]) name;
    PERFORM set_config(name, CASE how WHEN 'index' THEN 'on' ELSE 'off' END, true) FROM unnest('{enable_indexscan,enable_bitmapscan}'::text[]) name;
    scan := false;
    FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP scan := scan OR line ~ 'ordered_body'; END LOOP;
    EXECUTE 'SELECT string_agg(n || '' of '' || coalesce(round(distance::numeric, 2)::text, ''NULL''), '', '' ORDER BY distance) FROM (SELECT distance, count(*) AS n FROM (' || query || ') q GROUP BY 1) q' INTO distances;
    RETURN NEXT;
END $$;
SELECT q.query, d.* FROM (VALUES ('SELECT body <-> near(''one two three four'', 0.75) AS distance FROM ordered ORDER BY 1 LIMIT 10'),
    ('SELECT body <-> near(''one two three four'', 0.75) AS distance FROM ordered ORDER BY 1'),
    ('SELECT body <-> near(''one two three four'', 0.75) AS distance FROM ordered WHERE body <@ near(''one two three four'', 0.75) ORDER BY 1 LIMIT 10'),
    ('SELECT body <-> near(''one two three four'', 0.75) AS distance FROM ordered WHERE body <-> near(''one two three four'', 0.75) < ''Infinity'' ORDER BY 1 LIMIT 10'),
    ('SELECT * FROM (SELECT body <-> near(''one two three four'', 0.75) AS distance FROM ordered ORDER BY 1 LIMIT 10) n WHERE distance < ''Infinity''')) q(query),
    LATERAL (SELECT 'index' AS how UNION ALL SELECT 'scan') h, distances(h.how, q.query) d;
DROP TABLE ordered;
DROP FUNCTION distances;
SELECT method, count(*), count(*) FILTER (WHERE x && y) > 50 AS some, count(*) FILTER (WHERE (x && y) IS DISTINCT FROM (y && x) OR (x && y) <> (a.body <@ y AND b.body <@ x)) AS wrong
FROM texts a, texts b, unnest('{jaccard,containment}'::text[]) method, near(a.body, 0.4, method => method) x, near(b.body, 0.7, method => method) y GROUP BY method ORDER BY method;
SELECT near('', 0.5) && near('', 0.5) AS nothing, '' <@ near('', 0.5) AS nothing, near(NULL::text) && near('a') IS NULL AS unknown, NULL::text <@ near('a') IS NULL AS unknown;
-- A ball for each row, and one for all.
SELECT count(*) FROM texts a, LATERAL (SELECT FROM texts b WHERE b.body <@ near(a.body, 0.6)) s;
PREPARE found(text, float8) AS SELECT count(*) FROM texts WHERE body <@ near($1, $2);
SET plan_cache_mode = force_generic_plan;
EXECUTE found('one two three four', 0.5);
SET plan_cache_mode = force_custom_plan;
EXECUTE found('one two three four', 0.5);
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT FROM texts WHERE body <@ near('a text of some length, of which a plan shows no more than the beginning', 0.5);
EXPLAIN (COSTS OFF) SELECT FROM texts WHERE near('{1,2,3}'::bigint[], 0.5) && near('{1000000001,1000000002,1000000003,1000000004}'::bigint[], 0.6);

-- A sketch in a string or a parameter has no type, and near() takes it for a text.
SELECT minhash('one', 1, 2)::text AS sketch, simhash('one')::text AS bits \gset
SELECT 'one' <@ near(:'sketch', 0.8);
SELECT minhash('one') <@ near(:'sketch', 0.8);
SELECT simhash('one') <@ near(:'bits', 3);
SELECT near(:'bits' || '', 3) @> simhash('one');
PREPARE typed AS SELECT minhash('one', 1, 2) <@ near($1::minhash_sketch, $2);
EXECUTE typed(:'sketch', 0.8);
SELECT minhash('one', 1, 2) <@ ('<' || :'sketch' || ',0.8>')::minhash_ball AS ball;
SELECT minhash('one', 1, 2) <@ '<minhash:v1:words:h1.1:k1:seed1:m2:0102030401020304,0.8>' AS of_a_string;
-- A row may hold anything.
SELECT count(*) FROM (VALUES (:'sketch'), ('minhash:v1')) v(body) WHERE body <@ near(body, 0.8);
SELECT near('minhash:v1:words');
-- Balls of one kind are equal or not.
SELECT near('a') = near('a') AS texts, near(minhash('a'), 0.8) = near(minhash('a'), 0.8) AS sketches, near('a') = '<jaccard:words:k1:multiset:0.8:"a">' AS of_a_string;
SELECT near(minhash('a'), 0.8) = near('a');

-- Bad values.
SELECT near('a', 0);
SELECT near('a', 1.5);
SELECT near('a', 'NaN');
SELECT near('a', 0.8, 0);
SELECT near('a', 0.8, 1001);
SELECT near('a', 0.8, tokenizer => 'letters');
SELECT near('a', 0.8, tokenizer => 'tsearch:english');
SELECT near('a', 0.8, method => 'edit');
SELECT near('a', 0.8, method => 'minhash');
SELECT near('{a}'::text[], 0.8, tokenizer => 'words');
SELECT near('a', 0.8, 5, 128);
SELECT near('{1.5}'::numeric[]);
SELECT tags <@ near('{a}', 0.8) FROM arrays;
SELECT tags <@ near('{1}'::int[], 0.8) FROM arrays;
SELECT i <@ near(tags, 0.8) FROM arrays;
SELECT 'a' <@ near(ARRAY['a'], 0.8);
SELECT to_tsvector('a') <@ near('a', 0.8);
SELECT m <@ near(tags, 0.8) FROM arrays;
SELECT c <-> near(tags, 0.8) FROM arrays;
SELECT u <@ near(tags, 0.8), e <@ near(tags) FROM arrays;
SELECT t <@ near(tags, 0.8) AS domain, s <@ near('{1}'::int[]) AS smallints, v <@ near(tags) AS varchars FROM arrays;
SELECT near('a', 0.8) && near('a', 0.8, 2);
SELECT near('a', 0.8) && near('a', 0.8, method => 'dice');
SELECT ''::text_ball;
SELECT '<jaccard:words:k1:multiset:0.8:"a>'::text_ball;
SELECT '<jaccard:words:k0:multiset:0.8:"a">'::text_ball;
SELECT '<jaccard:words:k1:multiset:2:"a">'::text_ball;
SELECT '<jaccard:numbers:k1:multiset:0.8:["a"]>'::text_ball;
SELECT '<jaccard:letters:k1:multiset:0.8:"a">'::text_ball;
CREATE CAST (bytea AS text_ball) WITHOUT FUNCTION;
SELECT '\x0301010101000000000000000000e03f61'::bytea::text_ball;
SELECT 'a' <@ '\x0201010101000000000000000000e03fff'::bytea::text_ball;
DROP CAST (bytea AS text_ball);
DROP TABLE arrays, balls, copied, texts, token_arrays, lexemes, numbers, ints;
DROP FUNCTION asked, compared;
DROP DOMAIN tag_list, tag;
DROP TYPE mood;

-- By edit distance: the ball, what is in it, and what is not to be given.
SELECT near('a "b"', method => 'edit') AS ball, near('x', 0.5, method => 'edit')::text::text_ball AS again;
SELECT 'kitten' <@ near('sitting', 0.5, method => 'edit') AS is_in, near('sitting', 0.5, method => 'edit') @> 'kitten' AS contained, 'kitten' <-> near('sitting', 0.5, method => 'edit') AS distance,
    'kitten' <-> near('sitting', 0.9, method => 'edit') AS outside, near_similarity('kitten', near('sitting', 0.9, method => 'edit')) = edit_similarity('kitten', 'sitting') AS as_edit_similarity;
SELECT '' <@ near('', 0.1, method => 'edit') AS empty, NULL <@ near('a', method => 'edit') AS of_null, near(NULL::text, method => 'edit') AS around_null;
SELECT near('sitting', 0.5, method => 'edit') && near('kitten', 0.5, method => 'edit') AS meet, near('sitting', 0.5, method => 'edit') && near('kitten', 0.9, method => 'edit') AS meet_not;
-- Swapped neighbours as one edit.
SELECT near('Brain', 0.8, method => 'edit', damerau => true) AS ball, near('a', method => 'edit', damerau => true, normalization => 'nfc')::text::text_ball AS again,
    'Brian' <@ near('Brain', 0.8, method => 'edit', damerau => true) AS is_in, 'Brian' <@ near('Brain', 0.8, method => 'edit') AS is_in_without,
    near_similarity('Brian', near('Brain', method => 'edit', damerau => true)) = edit_similarity('Brian', 'Brain', damerau => true) AS as_edit_similarity;
SELECT near('Brain', 0.8, method => 'edit', damerau => true) && near('Brian', 0.7, method => 'edit', damerau => true) AS meet,
    near('Brain', 0.8, method => 'edit', damerau => true) && near('Brian', 0.6, method => 'edit') AS meet_each_by_its_own, near('Brain', 0.8, method => 'edit', damerau => true) && near('Brian', 0.7, method => 'edit') AS meet_not;
SELECT near('x', damerau => true);
SELECT '<edit:0.8:damerau:x>'::text_ball;
SELECT near('x', 0.5, 3, method => 'edit');
SELECT near('x', 0.5, multiset => false, method => 'edit');
SELECT near('x', 0.5, tokenizer => 'chars', method => 'edit');
SELECT near('x', 1.5, method => 'edit');
SELECT near('{x}'::text[], 0.5, method => 'edit');
SELECT '{x}'::text[] <@ near('x', 0.5, method => 'edit');
SELECT near('x', 0.5, method => 'edit') && near('x', 0.5);
SELECT '<edit:0.8>'::text_ball;
SELECT '<edit:2:"x">'::text_ball;

-- Containment in both directions: the share of the row that is in the query, or of the query that is in the row.
SELECT near('a b', 0.9, method => 'containment', direction => 'query') AS ball, near('a b', 0.9, method => 'containment', direction => 'query')::text::text_ball AS again;
SELECT near_similarity('a b c d', near('a b', method => 'containment', direction => 'query')) AS whole_query, near_similarity('a b c d', near('a b', method => 'containment')) AS half_row,
    near_similarity('a c', near('a b', 0.1, method => 'containment', direction => 'query')) AS half_query, 'a' <@ near('a b', 0.6, method => 'containment', direction => 'query') AS is_in,
    ARRAY['a', 'b', 'c'] <@ near(ARRAY['a', 'b'], 1, method => 'containment', direction => 'query') AS tokens, '{1,2,3}'::int[] <@ near('{3,1}'::bigint[], 1, method => 'containment', direction => 'query') AS numbers,
    'a b c'::tsvector <@ near('a b'::tsvector, 1, method => 'containment', direction => 'query') AS lexemes;
SELECT near('a b', 0.9, method => 'containment', direction => 'query') && near('b a', 0.9, method => 'containment', direction => 'query') AS meet,
    near('a b', 0.9, method => 'containment', direction => 'query') && near('b a c', 0.9, method => 'containment', direction => 'query') AS meet_not;
SELECT near('x', direction => 'query');
SELECT near('x', method => 'containment', direction => 'left');
SELECT near('x', method => 'edit', direction => 'query');
CREATE TABLE chunks (id int, body text);
INSERT INTO chunks SELECT i, 'chunk ' || i || ' ' || (SELECT string_agg('w' || (hashint4(i * 31 + j) & 1023), ' ' ORDER BY j) FROM generate_series(1, 40) j) FROM generate_series(1, 1000) i;
INSERT INTO chunks VALUES (-1, NULL), (-2, ''), (-3, 'chunk');
CREATE INDEX chunks_rows ON chunks USING signature (body text_set_ops (threshold = 0.5));
CREATE INDEX chunks_contain ON chunks USING signature (body text_set_ops (measure = containment, direction = query, threshold = 0.6));
VACUUM ANALYZE chunks;
SELECT split_part(body, ' ', 10) || ' ' || split_part(body, ' ', 11) || ' ' || split_part(body, ' ', 12) AS sentence FROM chunks WHERE id = 77 \gset
EXPLAIN (COSTS OFF) SELECT id FROM chunks WHERE body <@ near(:'sentence', 1, method => 'containment', direction => 'query');
SELECT id FROM chunks WHERE body <@ near(:'sentence', 1, method => 'containment', direction => 'query');
SELECT signature_index_fits('chunks_contain', near('w1', 0.6, method => 'containment', direction => 'query')) AS fits, signature_index_fits('chunks_contain', near('w1', method => 'containment')) AS other_direction,
    signature_index_fits('chunks_rows', near('w1', method => 'containment', direction => 'query')) AS other_measure;
-- The same rows by the index, by a batch and by a scan.
CREATE TABLE sought AS SELECT id, (SELECT string_agg(w, ' ') FROM regexp_split_to_table(body, ' ') WITH ORDINALITY t(w, n) WHERE n % 7 = id % 7) AS q FROM chunks WHERE id BETWEEN 1 AND 40;
ANALYZE sought;
CREATE FUNCTION found(setting text, share float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rows text;
BEGIN
    PERFORM set_config(name, 'off', true) FROM unnest(string_to_array(setting, ' ')) name;
    SELECT count(*) || ' ' || sum(hashint4(c.id) # hashint4(s.id)) INTO rows FROM chunks c JOIN sought s ON c.body <@ near(s.q, found.share, method => 'containment', direction => 'query');
    PERFORM set_config(name, 'on', true) FROM unnest(string_to_array(setting, ' ')) name;
    RETURN rows;
END $$;
SET plan_cache_mode = force_custom_plan;
SELECT l.share, split_part(found('neardup.enable_near_join enable_seqscan', l.share), ' ', 1)::int >= 40 AS finds, found('neardup.enable_near_join enable_seqscan', l.share) = found('enable_indexscan enable_bitmapscan enable_nestloop', l.share) AS as_batch,
    found('neardup.enable_near_join enable_indexscan enable_bitmapscan', l.share) = found('enable_indexscan enable_bitmapscan enable_nestloop', l.share) AS as_scan
FROM (VALUES (0.6), (0.8), (1)) l(share);
RESET plan_cache_mode;
-- A query that is shorter than most rows: few rows can be in it.
SELECT count(*) FROM chunks WHERE body <@ near(:'sentence', 0.9, method => 'containment');
SELECT count(*) FROM (SELECT id FROM chunks ORDER BY body <-> near(:'sentence', 0.9, method => 'containment') LIMIT 3) nearest;
SELECT count(*) FROM (SELECT id FROM chunks ORDER BY body <-> near(:'sentence', 0.9, method => 'containment', direction => 'query') LIMIT 3) nearest;
SELECT count(*) FROM chunks WHERE body <@ near((SELECT string_agg(body, ' ') FROM chunks WHERE id < 5), 0.9, method => 'containment');
CREATE INDEX ON chunks USING signature (body text_set_ops (direction = query));
DROP TABLE chunks, sought;
DROP FUNCTION found;
