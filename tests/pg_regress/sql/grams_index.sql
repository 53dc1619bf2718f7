-- Short strings by the grams of their characters: the operator class text_gram_ops.
CREATE TABLE strings (id int, body text);
CREATE INDEX ON strings USING signature (body text_gram_ops (shingle = 0));
CREATE INDEX ON strings USING signature (body text_gram_ops (threshold = 0.5));
CREATE INDEX ON strings USING signature (body text_gram_ops) WITH (threshold = 0.5);
CREATE INDEX ON strings USING signature (body text_gram_ops) WITH (stop_signature_limit = 5);

-- Names of streets and of products, with grams that most of them have; strings without grams, with one, and with very many.
INSERT INTO strings SELECT n, format('%s %s %s', n % 211, (ARRAY['North', 'South', 'Old', 'New', 'Green'])[1 + n % 5] ||
    (ARRAY['field', 'wood', 'bury', 'ton', 'ham', 'stead', 'ford'])[1 + n % 7], (ARRAY['Street', 'Road', 'Avenue'])[1 + n % 3]) FROM generate_series(1, 1500) n;
INSERT INTO strings SELECT 4000 + n, 'Lamp ' || md5(n::text) FROM generate_series(1, 100) n;
INSERT INTO strings VALUES (5001, ''), (5002, NULL), (5003, 'a'), (5004, 'ab'), (5005, 'A b'), (5006, '  '), (5007, 'Straße'), (5008, 'strasse'), (5009, '北京市海淀区'), (5010, '北京市朝阳区'), (5011, '🙂🙂🙂'), (5012, 'aaaa'), (5013, 'aaaaaa'),
    (5014, repeat('long and longer ', 100)), (5015, repeat('long and longer ', 101)), (5016, (SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 60) n));
CREATE INDEX strings_grams ON strings USING signature (body text_gram_ops) WITH (pending_limit = 64);
CREATE INDEX strings_pairs ON strings USING signature (body text_gram_ops (shingle = 2));
ANALYZE strings;
INSERT INTO strings SELECT 10000 + id, upper(body) FROM strings WHERE id % 40 = 1;
EXPLAIN (COSTS off) SELECT id FROM strings WHERE body <@ near('12 Oldwood Street', 0.5, tokenizer => 'chars');
EXPLAIN (COSTS off) SELECT id FROM strings ORDER BY body <-> near('12 Oldwood Street', 0.01, tokenizer => 'chars') LIMIT 3;
EXPLAIN (COSTS off) SELECT id FROM strings ORDER BY body <-> near('12 Oldwood Street', 0.01, shingle => 2, tokenizer => 'chars') LIMIT 3;
EXPLAIN (COSTS off) SELECT id FROM strings ORDER BY body <-> near('12 Oldwood Street', 0.01, shingle => 4, tokenizer => 'chars') LIMIT 3;
EXPLAIN (COSTS off) SELECT id FROM strings ORDER BY body <-> near('12 Oldwood Street', 0.01) LIMIT 3;
PREPARE nearest(text) AS SELECT id FROM strings ORDER BY body <-> near($1, 0.01, tokenizer => 'chars') LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS off) EXECUTE nearest('a');
RESET plan_cache_mode;
SELECT body, round((body <-> near('12 Oldwod Street', 0.01, tokenizer => 'chars'))::numeric, 4) AS distance
FROM strings ORDER BY body <-> near('12 Oldwod Street', 0.01, tokenizer => 'chars'), body LIMIT 5;
SELECT signature_index_fits('strings_grams', near('a', 0.001, tokenizer => 'chars')) IS NULL AS fits, signature_index_fits('strings_grams', near('a', 0.5)) AS words, signature_index_fits('strings_grams', near('a', 0.5, 2, tokenizer => 'chars')) AS pairs;

-- The index gives what a scan gives: the rows in the ball, and the distances of the nearest rows in their order.
CREATE FUNCTION found(query text_ball, most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE with_index text; without text; near_index float8[]; near_scan float8[];
BEGIN
    SET LOCAL enable_seqscan = off;
    SELECT coalesce(array_agg(id ORDER BY id), '{}')::text INTO with_index FROM strings WHERE body <@ query;
    SELECT array_agg(d) INTO near_index FROM (SELECT body <-> query AS d FROM strings ORDER BY body <-> query LIMIT most) x;
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_bitmapscan = off;
    SELECT coalesce(array_agg(id ORDER BY id), '{}')::text INTO without FROM strings WHERE body <@ query;
    SELECT array_agg(d) INTO near_scan FROM (SELECT body <-> query AS d FROM strings ORDER BY body <-> query LIMIT most) x;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_bitmapscan = on;
    IF with_index IS DISTINCT FROM without OR near_index IS DISTINCT FROM near_scan THEN
        RAISE EXCEPTION '%: % and % with the index, % and % without', query, with_index, near_index, without, near_scan;
    END IF;
    RETURN md5(with_index || near_index::text);
END $$;
CREATE FUNCTION agree() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(found(near(s.body, similarity, shingle, tokenizer => 'chars'), most))
    FROM (SELECT body FROM strings WHERE id BETWEEN 5001 AND 5016 OR id % 500 = 7 UNION ALL SELECT overlay(body placing 'x' from 5) FROM strings WHERE id % 1000 = 11
        UNION ALL VALUES ('nothing of the kind'), ('zq'), ('12 old')) s,
        (VALUES (1.0, 3, 1), (0.3, 3, 40), (0.01, 3, 10), (0.001, 3, 300), (0.4, 2, 20)) v(similarity, shingle, most)
$$;
SELECT agree();
-- By edit distance, whatever grams leave out, and however few are left.
-- The index has the first 56 bytes of a string: some differ behind them, or in a character that is cut.
INSERT INTO strings SELECT 7000 + n, left(format('Institute %s of the history %sof Köln and %s, %s', n % 3, repeat('é', n % 7), md5((n % 5)::text), n), 50 + n % 46) FROM generate_series(1, 90) n;
INSERT INTO strings SELECT 6000 + n, repeat(' ', n % 3) || left('a bc  d 12 Old', n % 15) || repeat(' ', n % 5) || left(md5(n::text), n % 4) FROM generate_series(1, 180) n;
EXPLAIN (COSTS off) SELECT id FROM strings WHERE body <@ near('12 Oldwood Street', 0.8, method => 'edit');
EXPLAIN (COSTS off) SELECT id FROM strings ORDER BY body <-> near('12 Oldwood Street', 0.5, method => 'edit') LIMIT 3;
SELECT body, round((body <-> near('12 Oldwod Street', 0.5, method => 'edit'))::numeric, 4) AS distance
FROM strings ORDER BY body <-> near('12 Oldwod Street', 0.5, method => 'edit'), body LIMIT 5;
SELECT signature_index_fits('strings_grams', near('a', 0.001, method => 'edit')) IS NULL AS fits;
CREATE FUNCTION agree_by_edits() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(found(near(s.body, similarity, method => 'edit', damerau => damerau), most))
    FROM (SELECT body FROM strings WHERE id BETWEEN 5001 AND 5016 OR id % 500 = 7 OR id BETWEEN 6001 AND 6015 OR id IN (7001, 7030, 7059, 7060)
        UNION ALL SELECT overlay(body placing 'x' from 5) FROM strings WHERE id % 1000 = 11 UNION ALL VALUES ('nothing of the kind'), ('zq'), (' 12  old'), ('     ')
        UNION ALL SELECT regexp_replace(body, '(.)(.)(.)(.)$', '\2\1\4\3') FROM strings WHERE id % 500 = 13 OR id IN (7002, 7031)) s,
        (VALUES (1.0, 1), (0.8, 10), (0.5, 20), (0.3, 40), (0.01, 10)) v(similarity, most), unnest('{f,t}'::bool[]) damerau
$$;
SELECT agree_by_edits();
SELECT signature_index_check('strings_grams', true), signature_index_check('strings_pairs', true);
SELECT signature_index_merge('strings_grams');
DELETE FROM strings WHERE id % 7 = 0;
-- Rows that the query does not see are not among the nearest.
SELECT agree_by_edits();
VACUUM strings;
SELECT agree(), agree_by_edits();
-- Of an expression, the index alone gives bounds.
CREATE INDEX strings_lower ON strings USING signature (lower(body) text_gram_ops);
EXPLAIN (COSTS off) SELECT id FROM strings ORDER BY lower(body) <-> near('institute 1 of history', 0.01, method => 'edit') LIMIT 3;
CREATE FUNCTION lower_nearest() RETURNS float8[] LANGUAGE sql AS $$
    SELECT array_agg(d) FROM (SELECT lower(body) <-> near('institute 1 of the history éof köln', 0.01, method => 'edit') AS d FROM strings ORDER BY 1 LIMIT 30) x
$$;
SET enable_indexscan = off;
SELECT lower_nearest() AS by_scan \gset
RESET enable_indexscan;
SELECT lower_nearest() = :'by_scan'::float8[] AS equal;
DROP FUNCTION lower_nearest();
DROP INDEX strings_lower;
SELECT signature_index_check('strings_grams', true);
SELECT rows, dead, nulls, options FROM signature_index_stats('strings_grams');

-- Very many equal strings, of which any will do.
TRUNCATE strings;
INSERT INTO strings SELECT n, 'The same string' FROM generate_series(1, 100000) n;
INSERT INTO strings VALUES (0, 'The same strings'), (-1, 'The sane string');
SELECT count(*), count(DISTINCT id), max(d), min(d) FROM (SELECT id, body <-> near('The same string', 0.01, tokenizer => 'chars') AS d
    FROM strings ORDER BY body <-> near('The same string', 0.01, tokenizer => 'chars') LIMIT 2000) x;
SET enable_seqscan = off;
SELECT id FROM strings ORDER BY body <-> near('The same string', 0.01, tokenizer => 'chars') OFFSET 100000;
SELECT count(*) FROM strings WHERE body <@ near('The same string', 0.9, tokenizer => 'chars');
RESET enable_seqscan;
SELECT signature_index_check('strings_grams', true);
SELECT opcname, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod AND amname = 'signature' WHERE opcname = 'text_gram_ops';
DROP TABLE strings;
DROP FUNCTION found(text_ball, int), agree(), agree_by_edits();

-- An index of balls compares sets.
CREATE TABLE balls (ball text_ball);
CREATE INDEX ON balls USING signature (ball);
INSERT INTO balls VALUES (near('12 Oldwood Street', 0.8)), (near('12 Oldwood Street', 0.8, method => 'edit'));
CREATE TABLE places (name text, EXCLUDE USING signature (near(name, 0.8, method => 'edit') WITH &&));
DROP TABLE balls;

-- A condition on one ball and the order of another: what is known of the first says nothing of the order. A row that is found
-- in two ways, by its grams and for its white space, is one row.
CREATE TABLE lines (id int PRIMARY KEY, body text);
INSERT INTO lines SELECT n, 'the harbour of port ellis' || repeat(' ', n % 4) || ' line ' || n % 97 || ' quay ' || n % 13 FROM generate_series(1, 3000) n;
CREATE INDEX lines_grams ON lines USING signature (body text_gram_ops);
CREATE INDEX lines_words ON lines USING signature (body text_set_ops (threshold = 0.3));
CREATE FUNCTION answers(near_one text, near_other text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    FOR answer IN EXECUTE format('SELECT concat_ws('' '', count(*), count(DISTINCT id), sum(d::numeric), max(d)) FROM
        (SELECT id, body <-> %s AS d FROM lines WHERE body <@ %s ORDER BY body <-> %1$s LIMIT 700) x', near_other, near_one) LOOP
        RETURN NEXT answer;
    END LOOP;
    EXECUTE format('SELECT count(*) || '' '' || count(DISTINCT id) FROM lines WHERE body <@ %s', near_one) INTO answer;
    RETURN NEXT answer;
END $$;
CREATE FUNCTION equal_answers(near_one text, near_other text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    by_index text[];
BEGIN
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_bitmapscan = off;
    by_index := ARRAY(SELECT answers(near_one, near_other));
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_indexscan = off;
    RETURN by_index = ARRAY(SELECT answers(near_one, near_other));
END $$;
SELECT equal_answers(one, other) FROM (VALUES
    ('near(''the harbour of port ellis line 5 quay 5'', 0.3)', 'near(''line 90 quay 12 the port'', 0.3)'),
    ('near(''the harbour of port ellis line 5 quay 5'', 0.3, tokenizer => ''chars'')', 'near(''ellis line 90 quay 12'', 0.01, tokenizer => ''chars'')'),
    ('near(''the harbour of port ellis line 5 quay 5'', 0.03, method => ''edit'')', 'near(''ellis line 90 quay 12'', 0.01, method => ''edit'')')) v(one, other);
DROP TABLE lines;
DROP FUNCTION answers(text, text), equal_answers(text, text);
