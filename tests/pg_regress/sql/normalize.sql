-- The normalization form in which near() and shared_run() compare texts, and in which an index has them.
SET client_min_messages = warning;
\pset null '(null)'

-- What a ball is, in and out: the document in the middle is normalized.
SELECT near('The oﬃce ２', 0.8, normalization => 'nfkc'), near(U&'cafe\0301', 0.8, normalization => 'NFC') = near('café', normalization => 'nfc') AS same, near('a', normalization => NULL) = near('a') AS none,
    near('oﬃce', 0.8, method => 'edit', normalization => 'nfkc') AS edit, shared_run('The oﬃce ２', 2, normalization => 'nfkc') AS runs;
SELECT b::text::text_ball = b AS again, '<jaccard:words:k1:multiset:0.8:nfkc:"oﬃce">'::text_ball, ' <edit:0.5: NFKC: "ﬁ">'::text_ball AS edit, '<words:2:nfkc:"ﬁ ﬂ">'::text_runs AS runs, '<jaccard:words:k1:multiset:0.8:"nfkc:ﬁ">'::text_ball AS as_it_is
FROM (SELECT near('oﬃce', normalization => 'nfkc') AS b) x;
CREATE TABLE balls AS SELECT near(t, 0.8, method => m, normalization => f) AS b, shared_run(t, 1, normalization => f) AS r FROM unnest('{oﬃce,"",a}'::text[]) t, unnest('{jaccard,edit}'::text[]) m, unnest('{nfc,nfkc,NULL}'::text[]) f;
\getenv directory PG_ABS_BUILDDIR
\set file :directory '/results/normalize.binary'
COPY balls TO :'file' (FORMAT binary);
CREATE TABLE copied (LIKE balls);
COPY copied FROM :'file' (FORMAT binary);
SELECT count(*) FROM (TABLE balls INTERSECT TABLE copied) same;
-- received(HEAD, DOCUMENT, TYPE): what the bytes of a value become.
CREATE FUNCTION received(bytes text, document text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    file text := current_setting('data_directory') || '/normalize.bytes';
    value bytea := decode(bytes, 'hex') || convert_to(document, 'UTF8');
    found text;
BEGIN
    value := '\x5047434f50590aff0d0a00' || int4send(0) || int4send(0) || int2send(1::int2) || int4send(length(value)) || value || int2send(-1::int2);
    PERFORM lo_from_bytea(7, value);
    PERFORM lo_export(7, file);
    PERFORM lo_unlink(7);
    EXECUTE format('CREATE TEMP TABLE one (v %s)', type);
    EXECUTE format('COPY one FROM %L (FORMAT binary)', file);
    SELECT v::text INTO found FROM one;
    DROP TABLE one;
    RETURN found;
EXCEPTION WHEN invalid_binary_representation THEN
    RETURN sqlstate || ' ' || sqlerrm;
END $$;
SELECT received('0201010101000200' || '9a9999999999e93f', 'oﬃce', 'text_ball') AS sets, received('0302000000000000' || '9a9999999999e93f', 'oﬃce', 'text_ball') AS edit, received('0101020002000000', 'oﬃce', 'text_runs') AS runs;
SELECT received('0201010101000300' || '9a9999999999e93f', 'a', 'text_ball') UNION ALL SELECT received('0201070101000200' || '9a9999999999e93f', 'a', 'text_ball') UNION ALL SELECT received('0201040101000100' || '9a9999999999e93f', '', 'text_ball')
UNION ALL SELECT received('03ff000000000000' || '9a9999999999e93f', 'a', 'text_ball') UNION ALL SELECT received('0101030002000000', 'a', 'text_runs') UNION ALL SELECT received('0107010002000000', 'a', 'text_runs');
DROP FUNCTION received;

-- What is in one.
CREATE TABLE titles (id int PRIMARY KEY, body text, kind int);
INSERT INTO titles VALUES (1, 'The oﬃcial guide to the café of Straße ２', 1), (2, U&'the official guide to the cafe\0301 of Straße 2', 1), (3, 'The official guide to the cafe of Straße 2', 1),
    (4, '한글 문서의 안내', 2), (5, normalize('한글 문서의 안내', NFD), 2), (6, '', 3), (7, NULL, 3), (8, 'ﬁ', 4), (9, 'fi', 4), (10, 'Å Ω Å', 5), (11, 'Å Ω Å', 5), (12, repeat('ﬁne ｗords ', 2000), 6), (13, repeat('fine words ', 2000), 6);
INSERT INTO titles SELECT 100 + n, format('Title number %s of oﬃce %s, which is ﬁve ﬂoors above the %s', n, n % 7, left(repeat('ﬂower ', 9), n % 40)), 7 FROM generate_series(1, 120) n;
SELECT f.form, array_agg((a.id, b.id) ORDER BY a.id, b.id) FILTER (WHERE a.body <@ near(b.body, 1, normalization => f.form)) AS words,
    array_agg((a.id, b.id) ORDER BY a.id, b.id) FILTER (WHERE a.body <@ near(b.body, 1, tokenizer => 'chars', normalization => f.form)) AS chars,
    array_agg((a.id, b.id) ORDER BY a.id, b.id) FILTER (WHERE near(b.body, 1, 2, tokenizer => 'whitespace', method => 'containment', normalization => f.form) @> a.body) AS whitespace,
    array_agg((a.id, b.id) ORDER BY a.id, b.id) FILTER (WHERE a.body <-> near(b.body, 0.99, method => 'edit', normalization => f.form) = 0) AS edit,
    array_agg((a.id, b.id) ORDER BY a.id, b.id) FILTER (WHERE a.body && shared_run(b.body, 1, normalization => f.form) AND shared_run(b.body, 1, normalization => f.form) && a.body) AS runs
FROM titles a JOIN titles b ON a.id < b.id AND a.kind = b.kind AND a.id < 100, unnest('{NULL,nfc,nfkc}'::text[]) f(form) GROUP BY f.form ORDER BY f.form;
-- As near_duplicates says it.
SELECT method, count(*), count(*) FILTER (WHERE near_similarity(a.body, near(b.body, method => method, normalization => 'nfkc')) = p.similarity) AS same
FROM unnest('{jaccard,cosine,dice,overlap,edit}'::text[]) method, near_duplicates('titles', 0.8, text_column => 'body', method => method, options => '{"normalize": "nfkc"}') p JOIN titles a ON a.id = left_id JOIN titles b ON b.id = right_id GROUP BY method ORDER BY method;
SELECT near('ﬁ', normalization => 'nfkc') && near('fi', 0.9, normalization => 'nfkc') AS meet, near('ﬁ', 0.5, method => 'edit', normalization => 'nfkc') && near('fi', method => 'edit', normalization => 'nfkc') AS by_edits;
SELECT near('ﬁ', normalization => 'nfkc') && near('fi', normalization => 'nfc');
SELECT near('ﬁ', method => 'edit', normalization => 'nfkc') && near('fi', method => 'edit');

-- What is refused.
SELECT near('a', normalization => 'nfd');
SELECT near('a', method => 'edit', normalization => '');
SELECT near('a', tokenizer => 'html', normalization => 'nfkc');
SELECT near('{a}'::text[], normalization => 'nfkc');
SELECT shared_run('a', normalization => 'none');
SELECT shared_run('a', tokenizer => 'html', normalization => 'nfkc');
CREATE INDEX ON titles USING signature (body text_set_ops (normalize = nfd));
CREATE INDEX ON titles USING signature (body text_set_ops (tokenizer = html, normalize = nfc));
CREATE INDEX ON titles USING signature (body text_runs_ops (tokenizer = html, normalize = nfc));
CREATE INDEX ON titles USING signature (near(body) text_ball_set_ops (tokenizer = tokens, normalize = nfc));
CREATE INDEX ON titles USING signature (words(body) array_set_ops (normalize = nfc));
CREATE INDEX ON titles USING signature (to_tsvector('simple', body) tsvector_set_ops (normalize = nfc));
CREATE INDEX ON titles USING signature (minhash(body) minhash_jaccard_ops (normalize = nfc));

-- Indexes: what each finds is what a scan finds, and it serves only balls of its own form.
CREATE INDEX by_words ON titles USING signature (body text_set_ops (normalize = nfkc, threshold = 0.3)) WITH (pending_limit = 64);
CREATE INDEX by_grams ON titles USING signature (body text_gram_ops (normalize = NFKC));
CREATE INDEX by_runs ON titles USING signature (body text_runs_ops (normalize = 'nfkc', min_run = 2));
CREATE INDEX by_balls ON titles USING signature (near(body, 0.8, normalization => 'nfkc') text_ball_set_ops (normalize = nfkc));
CREATE INDEX by_ball_grams ON titles USING signature (near(body, 0.5, method => 'edit', normalization => 'nfkc') text_ball_gram_ops (normalize = nfkc));
INSERT INTO titles SELECT 1000 + id, normalize(body, NFD) || ' ﬁn', kind FROM titles WHERE id < 120;
VACUUM ANALYZE titles;
INSERT INTO titles SELECT 2000 + id, 'ｔitle', kind FROM titles WHERE id < 12;
SELECT i, split_part(s.options, ';', 1) AS options FROM unnest('{by_words,by_grams,by_runs,by_balls,by_ball_grams}'::text[]) i, signature_index_stats(i::regclass) s;
SELECT signature_index_check(i::regclass, true) FROM unnest('{by_words,by_grams,by_runs,by_balls,by_ball_grams}'::text[]) i;
SELECT i, signature_index_fits(i::regclass, b) FROM unnest('{by_words,by_grams,by_balls,by_ball_grams}'::text[]) i,
    (VALUES (near('a', normalization => 'nfkc')), (near('a')), (near('a', normalization => 'nfc')), (near('a', tokenizer => 'chars', normalization => 'nfkc')), (near('a', method => 'edit', normalization => 'nfkc')), (near('a', method => 'edit'))) b(b);
CREATE FUNCTION found(query text) RETURNS TABLE (index_name text, rows bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE
    with_index text; without text; plan text;
BEGIN
    SET LOCAL enable_seqscan = off;
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    index_name := coalesce((regexp_match(plan, '"Index Name": "(\w+)"'))[1], 'none');
    EXECUTE 'SELECT count(*), array_agg(x ORDER BY x)::text FROM (' || query || ') x' INTO rows, with_index;
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_bitmapscan = off;
    EXECUTE 'SELECT array_agg(x ORDER BY x)::text FROM (' || query || ') x' INTO without;
    same := with_index IS NOT DISTINCT FROM without;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_bitmapscan = on;
    RETURN NEXT;
END $$;
-- No index is for the eighth: what is read of one instead is a matter of the version.
SELECT CASE WHEN n = 8 THEN 'any' ELSE f.index_name END AS index_name, f.rows, f.same, q.query FROM unnest(ARRAY[
    $$SELECT id FROM titles WHERE body <@ near('the oﬃcial guide to the café of straße 2', 0.7, normalization => 'nfkc')$$,
    $$SELECT id FROM titles WHERE body <@ near('the official guide to the café of straße 2', 0.7)$$,
    $$SELECT body <-> near('title number ２ of office 2', 0.3, normalization => 'nfkc') FROM titles ORDER BY body <-> near('title number ２ of office 2', 0.3, normalization => 'nfkc') LIMIT 20$$,
    $$SELECT id FROM titles WHERE body <@ near('한글 문서의 안내 fin', 0.6, tokenizer => 'chars', normalization => 'nfkc')$$,
    $$SELECT id FROM titles WHERE body <@ near('한글 문서의 안내 fin', 0.6, tokenizer => 'chars')$$,
    $$SELECT body <-> near('Title numbér 7 of oﬃce 2, which is five floors', 0.1, tokenizer => 'chars', normalization => 'nfkc') FROM titles ORDER BY body <-> near('Title numbér 7 of oﬃce 2, which is five floors', 0.1, tokenizer => 'chars', normalization => 'nfkc') LIMIT 9$$,
    $$SELECT id FROM titles WHERE body <@ near('한글 문서의 안내', 0.7, method => 'edit', normalization => 'nfkc')$$,
    $$SELECT id FROM titles WHERE body <@ near('Title number ７ of office', 0.7, method => 'edit')$$,
    $$SELECT body <-> near('Title number ７ of office 2, which is five floors below the flowers', 0.1, method => 'edit', normalization => 'nfkc') FROM titles ORDER BY body <-> near('Title number ７ of office 2, which is five floors below the flowers', 0.1, method => 'edit', normalization => 'nfkc') LIMIT 50$$,
    $$SELECT id FROM titles WHERE body && shared_run('number ７ OF oﬃce', 3, normalization => 'nfkc')$$,
    $$SELECT id FROM titles WHERE body && shared_run('number 7 of office', 3)$$,
    $$SELECT id FROM titles WHERE near(body, 0.8, normalization => 'nfkc') && near('The official guide to the café of Straße 2', 0.8, normalization => 'nfkc')$$,
    $$SELECT id FROM titles WHERE near(body, 0.5, method => 'edit', normalization => 'nfkc') && near('The official guide to the café of Straße 2', 0.8, method => 'edit', normalization => 'nfkc')$$,
    $$SELECT id FROM titles WHERE near_similarity(body, near('ﬁ fin', normalization => 'nfkc')) >= 0.5$$
]) WITH ORDINALITY q(query, n), found(q.query) f ORDER BY n;
-- A text that is not known before the query runs.
PREPARE search(text) AS SELECT id FROM titles WHERE body <@ near($1, 0.8, normalization => 'nfkc') ORDER BY id + 0;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE search('a');
EXECUTE search('ﬁ');
RESET plan_cache_mode;
-- A ball of another form cannot be in an index of balls.
INSERT INTO titles VALUES (0, 'ﬁ');
CREATE TABLE balls_only (b text_ball);
CREATE INDEX balls_sets ON balls_only USING signature (b text_ball_set_ops (normalize = nfkc));
INSERT INTO balls_only VALUES (near('a'));
DROP INDEX balls_sets;
CREATE INDEX ON balls_only USING signature (b text_ball_gram_ops (normalize = nfkc));
INSERT INTO balls_only VALUES (near('a', method => 'edit'));
CREATE INDEX ON titles USING signature (near(body, 0.8, normalization => 'nfkc') text_ball_set_ops);
CREATE INDEX ON titles USING signature (near(body, 0.8, method => 'edit', normalization => 'nfc') text_ball_gram_ops);

-- Constraints.
CREATE TABLE apart (body text, name text, CONSTRAINT apart_body EXCLUDE USING signature (near(body, 0.8, normalization => 'nfkc') text_ball_set_ops (normalize = nfkc) WITH &&),
    CONSTRAINT apart_name EXCLUDE USING signature (near(name, 0.9, method => 'edit', normalization => 'nfc') text_ball_gram_ops (normalize = nfc) WITH &&));
INSERT INTO apart VALUES ('The oﬃce of ２ cafés', 'Zoë');
INSERT INTO apart VALUES ('the office of 2 cafés');
INSERT INTO apart (name) VALUES (U&'Zoe\0308');
INSERT INTO apart VALUES ('the oﬀice of 2 cafés', 'Zoe') ON CONFLICT DO NOTHING;
SELECT count(*) FROM apart;

-- Joins as one batch, with either side as the rows.
CREATE FUNCTION pairs(condition text) RETURNS TABLE (is_batch bool, pairs bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE
    query text := 'SELECT a.id, b.id FROM titles a JOIN titles b ON ' || condition;
    line text; batch text; loops text;
BEGIN
    SET LOCAL enable_nestloop = off;
    is_batch := false;
    FOR line IN EXECUTE 'EXPLAIN ' || query LOOP is_batch := is_batch OR line ~ 'NearJoin'; END LOOP;
    EXECUTE format('SELECT count(*), array_agg(x ORDER BY x)::text FROM (%s) x', query) INTO pairs, batch;
    SET LOCAL enable_nestloop = on;
    SET LOCAL neardup.enable_near_join = off;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_bitmapscan = off;
    EXECUTE format('SELECT array_agg(x ORDER BY x)::text FROM (%s) x', query) INTO loops;
    SET LOCAL neardup.enable_near_join = on;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_bitmapscan = on;
    same := batch IS NOT DISTINCT FROM loops;
    RETURN NEXT;
END $$;
SELECT c, p.* FROM unnest(ARRAY[
    $$a.body <@ near(b.body, 0.8, normalization => 'nfkc') AND a.kind = b.kind AND a.id < b.id$$,
    $$near(a.body, 0.8, normalization => 'nfc') @> b.body AND a.kind = b.kind AND a.id < b.id$$,
    $$a.body <@ near(b.body, 0.9, tokenizer => 'chars', method => 'containment', normalization => 'nfkc') AND a.id > 1000 AND b.id < 100$$,
    $$near(a.body, 0.9, tokenizer => 'chars', method => 'containment', normalization => 'nfkc') @> b.body AND a.id > 1000 AND b.id < 100$$,
    $$a.body <@ near(b.body, 0.8) AND a.kind = b.kind AND a.id < b.id$$
]) c, pairs(c) p;
DROP TABLE titles, balls, copied, balls_only, apart;
DROP FUNCTION found, pairs;
