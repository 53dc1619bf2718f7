-- The access method signature: plans, answers, options, errors.
SELECT opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'signature' ORDER BY 1;
\getenv tests PG_ABS_SRCDIR
\set plan :tests /plan.psql
\i :plan

-- Texts of 40 words; of every ten rows five are copies of the row before with another last word.
CREATE TABLE docs (id int PRIMARY KEY, body text, numbers bigint[]);
CREATE FUNCTION fill(first int, last int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO docs
    SELECT i, (SELECT string_agg('w' || abs(hashint4((i - CASE WHEN i % 10 > 4 THEN 1 ELSE 0 END) / 2 * 100 + j)) % 3000, ' ' ORDER BY j) || ' v' || i
               FROM generate_series(1, 40) j),
        ARRAY(SELECT abs(hashint4(i * 7 + j)) % 2000 FROM generate_series(1, i % 5) j)
    FROM generate_series(first, last) i
$$;
SELECT fill(1, 20);
CREATE INDEX docs_body ON docs USING signature (minhash(body, 3) minhash_jaccard_ops (k = 3));
CREATE INDEX docs_minhash ON docs USING signature (minhash(body)) WITH (threshold = 0.7);
CREATE INDEX docs_simhash ON docs USING signature (simhash(body)) WITH (distance = 6);
CREATE INDEX docs_numbers ON docs USING signature (numbers);
ANALYZE docs;

-- Twenty rows: arrays are quicker compared than looked up.
SELECT plan($$SELECT * FROM docs WHERE numbers && '{1,2}'$$);
SELECT fill(21, 5000);
ANALYZE docs;
VACUUM docs;
-- Five thousand: the index, as long as it can tell.
SELECT plan($$SELECT * FROM docs WHERE numbers && '{1,2}'$$);
SELECT plan($$SELECT * FROM docs WHERE shares(numbers, '{1,2,3}', 2)$$);
SELECT plan(format('SELECT * FROM docs WHERE minhash(body) <@ near(minhash(%L), %s)', 'one two three four five six', t)) FROM unnest(array[1, 0.9, 0.7, 0.69]) t;
SELECT plan(format('SELECT * FROM docs WHERE simhash(body) <@ near(simhash(%L), %s)', 'one two three four five six', d)) FROM unnest(array[0, 6, 7]) d;
SELECT plan($$SELECT id FROM docs ORDER BY minhash(body) <%> minhash('one two three four five six') LIMIT 3$$);
SELECT plan($$SELECT id FROM docs ORDER BY simhash(body) <~> simhash('one two three four five six') LIMIT 3$$);

-- Answers.
SELECT id FROM docs WHERE minhash(body, 3) <@ near((SELECT minhash(body, 3) FROM docs WHERE id = 4444), 0.8) ORDER BY id;
SELECT id FROM docs WHERE minhash(body) <@ near((SELECT minhash(body) FROM docs WHERE id = 4444), 0.7) ORDER BY id;
SELECT id FROM docs WHERE simhash(body) <@ near((SELECT simhash(body) FROM docs WHERE id = 4444), 6) ORDER BY id;
SELECT id, minhash(body) <%> (SELECT minhash(body) FROM docs WHERE id = 4444) AS distance
FROM docs ORDER BY 2 LIMIT 2;
SELECT id, numbers FROM docs WHERE numbers && '{17,18}' ORDER BY id LIMIT 3;
SELECT id, numbers FROM docs WHERE shares(numbers, (SELECT numbers FROM docs WHERE id = 44), 2);
-- A join, each row a scan.
SELECT plan($$SELECT a.id, b.id FROM docs a JOIN docs b ON minhash(b.body) <@ near(minhash(a.body), 0.8) WHERE a.id < 3$$);
SELECT a.id, b.id FROM docs a JOIN docs b ON minhash(b.body) <@ near(minhash(a.body), 0.8) WHERE a.id < 10 AND a.id < b.id ORDER BY 1, 2;

-- What the index cannot tell the recheck decides; what only the query knows is decided when it runs.
SET enable_seqscan = off;
SET enable_indexscan = off;
SELECT plan($$SELECT id FROM docs WHERE minhash(body) <@ near((SELECT minhash(body) FROM docs WHERE id = 4444), 0.3)$$, true);
RESET enable_indexscan;
-- Needs no column of the index.
SET enable_bitmapscan = off;
SELECT count(*) FROM docs WHERE numbers IS NULL OR true;
RESET enable_bitmapscan;
RESET enable_seqscan;

-- NULLs come last, empty documents are far from everything.
INSERT INTO docs VALUES (9001, NULL, NULL), (9002, '', '{}'), (9003, 'one two three four five six', '{NULL,5}');
SET enable_seqscan = off;
SELECT id, distance FROM (
    SELECT id, minhash(body) <%> minhash('one two three four five six') AS distance, row_number() OVER () AS n
    FROM (SELECT * FROM docs WHERE id > 4995 ORDER BY minhash(body) <%> minhash('one two three four five six')) x) y
WHERE distance IS NULL OR distance < 1 ORDER BY n;
SELECT count(*), count(d), max(d) FROM (SELECT minhash(body) <%> minhash('') AS d FROM docs ORDER BY minhash(body) <%> minhash('')) x;
SELECT count(*) FROM docs WHERE minhash(body, 3) <@ near(minhash('', 3), 0.8);
SELECT count(*) FROM (SELECT 1 FROM docs ORDER BY simhash(body) <~> NULL) x;
SELECT count(*) FROM docs WHERE numbers && '{}';
SELECT count(*) FROM docs WHERE numbers && NULL;
-- Two conditions.
SELECT id FROM docs WHERE numbers && (SELECT numbers[1:1] FROM docs WHERE id = 44) AND numbers && (SELECT numbers[2:2] FROM docs WHERE id = 44);
SELECT id FROM docs WHERE minhash(body) <@ near((SELECT minhash(body) FROM docs WHERE id = 4444), 0.7)
    AND minhash(body) <@ near((SELECT minhash(body) FROM docs WHERE id = 4445), 1);
-- Cursors go back over what they have seen.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM docs ORDER BY minhash(body) <%> minhash('one two three four five six');
FETCH 1 FROM c;
MOVE 2000 IN c;
FETCH ABSOLUTE 1 FROM c;
COMMIT;
RESET enable_seqscan;

-- Scans are counted.
SELECT pg_stat_force_next_flush();
SELECT indexrelname, idx_scan > 0 AS scanned FROM pg_stat_user_indexes WHERE relname = 'docs' ORDER BY 1;

-- What is in an index.
SELECT rows, segments, pending, dead, nulls, options FROM signature_index_stats('docs_body');
SELECT rows, pending, frequent_rows[1] > 1 AS frequent FROM signature_index_stats('docs_numbers');
SELECT signature_index_merge('docs_body');
SELECT rows, segments, pending, dead, nulls FROM signature_index_stats('docs_body');
SELECT signature_index_check(i, true) FROM unnest(array['docs_body', 'docs_minhash', 'docs_simhash', 'docs_numbers']::regclass[]) i;

-- Stop signatures lose answers, and are named.
CREATE TABLE tagged (id int, tags bigint[]);
INSERT INTO tagged SELECT i, ARRAY[1, i] FROM generate_series(1, 100) i;
CREATE INDEX tagged_tags ON tagged USING signature (tags) WITH (stop_signature_limit = 50);
SET enable_seqscan = off;
SELECT count(*) FROM tagged WHERE tags && '{1,7}';
SELECT frequent_signatures, frequent_rows, stopped_signatures FROM signature_index_stats('tagged_tags');
ALTER INDEX tagged_tags RESET (stop_signature_limit);
SELECT count(*) FROM tagged WHERE tags && '{1,7}';
RESET enable_seqscan;

-- Partial, partitioned, unlogged, temporary; a generated column; an exclusion constraint.
CREATE INDEX docs_part ON docs USING signature (numbers) WHERE id > 4000;
SELECT plan($$SELECT * FROM docs WHERE numbers && '{1,2}' AND id > 4000$$);
CREATE TABLE parted (id int, sketch minhash_sketch) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (1000) TO (2000);
CREATE INDEX ON parted USING signature (sketch);
INSERT INTO parted SELECT id, minhash(body) FROM docs WHERE id < 2000;
SELECT id FROM parted WHERE sketch <@ near((SELECT sketch FROM parted WHERE id = 994), 0.8) ORDER BY id;
CREATE TEMPORARY TABLE mine (ids uuid[]);
CREATE INDEX mine_ids ON mine USING signature (ids);
INSERT INTO mine SELECT ARRAY[md5(i::text)::uuid] FROM generate_series(1, 1000) i;
SET enable_seqscan = off;
SELECT * FROM mine WHERE ids && ARRAY[md5('77')::uuid];
RESET enable_seqscan;
CREATE TABLE apart (numbers bigint[], EXCLUDE USING signature (numbers WITH &&));
INSERT INTO apart VALUES ('{1,2}'), ('{3}'), ('{}'), (NULL), (NULL);
INSERT INTO apart VALUES ('{4}'), ('{2,5}');
INSERT INTO apart VALUES ('{4}'), ('{5}');

-- Errors.
CREATE INDEX ON docs USING signature (id);
CREATE INDEX ON docs USING signature (numbers, numbers);
CREATE UNIQUE INDEX ON docs USING signature (numbers);
CREATE INDEX ON docs USING signature (minhash(body)) WITH (threshold = 0);
CREATE INDEX ON docs USING signature (numbers) WITH (pending_limit = 1);
CREATE INDEX ON docs USING signature (numbers) WITH (fillfactor = 90);
CREATE INDEX ON docs USING signature (minhash(body) minhash_jaccard_ops (k = 0));
CREATE INDEX ON docs USING signature (simhash(body) simhash_hamming_ops (seed = 2));
CREATE INDEX ON docs USING signature (minhash(body) minhash_jaccard_ops (permutations = 2048));
CREATE INDEX ON docs USING signature (simhash(body) simhash_hamming_ops (bits = 98));
CREATE INDEX ON docs USING signature (minhash(body) minhash_jaccard_ops (source = 'letters'));
-- Sketches of another kind are refused, and the hint says what to do.
CREATE INDEX ON docs USING signature (minhash(body, 8, 84));
CREATE INDEX ON docs USING signature (minhash(body, 8, 84) minhash_jaccard_ops (k = 8, permutations = 84, seed = 1, source = 'words'));
CREATE INDEX ON docs USING signature (simhash(body, 384));
CREATE TABLE sketches (s simhash_sketch);
CREATE INDEX sketches_s ON sketches USING signature (s);
INSERT INTO sketches VALUES (simhash('a b c')), (B'0101'::bit(64)::simhash_sketch);
INSERT INTO sketches VALUES (simhash('a b c', 64, 3));
-- Bits that came from elsewhere compare with sketches of any kind: the operator gives the distances.
CREATE TABLE given (id int, h simhash_sketch);
INSERT INTO given SELECT i, (hashint8extended(i, 5) # (1::bigint << i % 60))::bit(64)::simhash_sketch FROM generate_series(1, 3000) i;
CREATE INDEX given_h ON given USING signature (h) WITH (distance = 5);
ANALYZE given;
SET enable_seqscan = off;
SELECT plan($$SELECT id FROM given ORDER BY h <~> simhash('a b c d', 64, 3) LIMIT 3$$);
CREATE TEMPORARY TABLE by_index AS
    SELECT row_number() OVER () AS n, d FROM (SELECT h <~> simhash('a b c d', 64, 3) AS d FROM given ORDER BY h <~> simhash('a b c d', 64, 3) LIMIT 50) x;
CREATE TEMPORARY TABLE found_by_index AS SELECT id FROM given WHERE h <@ near(simhash('a b c d', 64, 3), 24);
SET enable_seqscan = on;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*), count(*) FILTER (WHERE i.d <> s.d) AS wrong FROM by_index i JOIN (
    SELECT row_number() OVER () AS n, d FROM (SELECT h <~> simhash('a b c d', 64, 3) AS d FROM given ORDER BY 1 LIMIT 50) x) s USING (n);
SELECT count(*) > 0 AS some, count(f.id) = count(*) AS all_found FROM given g LEFT JOIN found_by_index f USING (id) WHERE h <@ near(simhash('a b c d', 64, 3), 24);
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_bitmapscan;
CREATE INDEX given_bits ON given USING signature (h simhash_hamming_ops (source = 'bits'));
INSERT INTO given VALUES (0, simhash('a b c'));
DROP INDEX given_bits;
DROP TABLE given, by_index, found_by_index;
-- In order also if each bit is a band, and the search for near rows is given up at once or after some rows.
CREATE TABLE short_sketches AS SELECT i AS id, simhash(format('word%s other%s w%s', i, i * 7, i % 3), 8) AS h FROM generate_series(1, 300) i;
INSERT INTO short_sketches SELECT 301, NULL UNION ALL SELECT 302, simhash('', 8);
CREATE FUNCTION in_order(bits int, distance int, rows int) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    target simhash_sketch := simhash('word1 other7 w1', bits);
    found int[];
    wanted int[];
BEGIN
    EXECUTE format('CREATE INDEX short_index ON short_sketches USING signature (h simhash_hamming_ops (bits = %s)) WITH (distance = %s)', bits, distance);
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_sort = off;
    SELECT array_agg(d) INTO found FROM (SELECT h <~> target AS d FROM short_sketches ORDER BY h <~> target LIMIT rows) x;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_sort = on;
    SELECT array_agg(d) INTO wanted FROM (SELECT h <~> target AS d FROM short_sketches ORDER BY 1 LIMIT rows) x;
    SET LOCAL enable_indexscan = on;
    DROP INDEX short_index;
    RETURN found = wanted;
END $$;
SELECT distance, bool_and(in_order(8, distance, rows)) FROM unnest(ARRAY[5, 6, 7]) distance, unnest(ARRAY[1, 6, 33, 300, 400]) rows GROUP BY 1 ORDER BY 1;
UPDATE short_sketches SET h = simhash(format('word%s other%s w%s', id, id * 7, id % 3), 64);
SELECT distance, bool_and(in_order(64, distance, rows)) FROM unnest(ARRAY[31, 62, 63]) distance, unnest(ARRAY[1, 6, 33, 300, 400]) rows GROUP BY 1 ORDER BY 1;
DROP FUNCTION in_order;
DROP TABLE short_sketches;
SELECT signature_index_check('docs');
SELECT signature_index_check('docs_pkey');
SELECT signature_index_stats('parted_sketch_idx');
CREATE ROLE regress_signature_reader;
SET ROLE regress_signature_reader;
SELECT signature_index_stats('docs_body');
SELECT signature_index_merge('docs_body');
SELECT signature_index_check('docs_body');
RESET ROLE;
GRANT pg_monitor TO regress_signature_reader;
SET ROLE regress_signature_reader;
SELECT segments FROM signature_index_stats('docs_body');
RESET ROLE;
DROP ROLE regress_signature_reader;
-- Operator classes that do not work are seen through.
CREATE OPERATOR CLASS wrong_ops FOR TYPE int[] USING signature AS
    OPERATOR 1 pg_catalog.&& (anyarray, anyarray), FUNCTION 1 pg_catalog.array_upper(anyarray, int);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'wrong_ops';
CREATE INDEX ON tagged USING signature ((ARRAY[id]) wrong_ops);
DROP TABLE docs, tagged, parted, apart, sketches CASCADE;
DROP FUNCTION plan, fill;
