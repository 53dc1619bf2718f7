-- Runs in common: the type of queries, the operator, and the operator class text_runs_ops.
SELECT shared_run('To be, or not to be', 4), shared_run('a'), shared_run(NULL), shared_run('a', NULL, NULL), shared_run('<p>a', 3, 'html');
SELECT 'It was TO BE -- or not!' && shared_run('To be, or not to be', 4) AS four,
    shared_run('To be, or not to be', 5) && 'It was TO BE -- or not!' AS five,
    'to be or' && shared_run('to be or not', 4) AS short, '' && shared_run('', 1) AS empty, NULL && shared_run('a', 1) AS none,
    'not to be' && shared_run('To be, or not to be', 9, 'chars') AS chars, 'a<b>b c' && shared_run('a b, c', 3, 'html') AS html;
SELECT shared_run('a b', 2)::text::text_runs = shared_run('a b', 2) AS same, shared_run('a b', 2) < shared_run('a b', 3) AS less;

-- What is refused.
SELECT shared_run('a', 0);
SELECT shared_run('a', 3, 'tsearch:english');
SELECT '<words:0:"a">'::text_runs;
SELECT '<tokens:3:"a">'::text_runs;
CREATE TABLE texts (id int, body text);
CREATE INDEX ON texts USING signature (body text_runs_ops (min_run = 0));
CREATE INDEX ON texts USING signature (body text_runs_ops) WITH (threshold = 0.5);
CREATE INDEX ON texts USING signature (body text_runs_ops) WITH (stop_signature_limit = 5);

-- The index gives what a scan gives, and serves what it can.
INSERT INTO texts SELECT n, (SELECT string_agg('w' || (n * 7919 + j * j * 31) % 997, ' ') FROM generate_series(1, 40) j) FROM generate_series(1, 2000) n;
INSERT INTO texts VALUES (3001, ''), (3002, NULL), (3003, 'w1 w2'), (3004, repeat('again ', 30000));
INSERT INTO texts SELECT 4000 + id, 'The footer of this site has more than twelve words, and all pages have it. ' || body FROM texts WHERE id % 5 = 0;
CREATE INDEX texts_runs ON texts USING signature (body text_runs_ops (min_run = 6)) WITH (pending_limit = 64);
ANALYZE texts;
INSERT INTO texts SELECT 10000 + id, upper(body) FROM texts WHERE id BETWEEN 1 AND 60;
EXPLAIN (COSTS off) SELECT id FROM texts WHERE body && shared_run('one two three four five six', 6);
EXPLAIN (COSTS off) SELECT id FROM texts WHERE body && shared_run('one two three four five six', 5);
EXPLAIN (COSTS off) SELECT id FROM texts WHERE body && shared_run('one two three four five six', 6, 'chars');
-- A query with fewer tokens than the run that is looked for finds nothing; the caller is told once for each statement.
SET client_min_messages = notice;
SELECT count(*) FROM texts WHERE body && shared_run('one two three four five', 6);
SELECT count(*) FROM texts WHERE shared_run('one two three', 4) && body OR body && shared_run('one two', 3);
SELECT count(*) FROM texts WHERE body && shared_run('one two three four five six', 6);
SELECT count(*) FROM texts WHERE body && shared_run('abc', 4, 'chars');
SELECT count(*) FROM texts a JOIN texts b ON a.body && shared_run(b.body, 6) AND b.id = 3003;
RESET client_min_messages;
PREPARE few(text) AS SELECT id FROM texts WHERE body && shared_run($1, 5);
PREPARE enough(text) AS SELECT id FROM texts WHERE body && shared_run($1, 6);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS off) EXECUTE few('a');
EXPLAIN (COSTS off) EXECUTE enough('a');
RESET plan_cache_mode;
CREATE FUNCTION found(query text_runs) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE with_index int[]; without int[];
BEGIN
    SET LOCAL enable_seqscan = off;
    SELECT array_agg(id ORDER BY id) INTO with_index FROM texts WHERE body && query;
    SET LOCAL enable_seqscan = on;
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_bitmapscan = off;
    SELECT array_agg(id ORDER BY id) INTO without FROM texts WHERE body && query;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_bitmapscan = on;
    IF with_index IS DISTINCT FROM without THEN
        RAISE EXCEPTION '% with the index, % without', with_index, without;
    END IF;
    RETURN with_index[:6];
END $$;
SELECT min_run, found(shared_run((SELECT body FROM texts WHERE id = 4005), min_run)) FROM unnest('{5,6,12,16,40,55,56}'::int[]) min_run;
SELECT found(shared_run('no such text has these words in it', 6)), found(shared_run('again again again again again again', 6)), found(shared_run('w1 w2', 1)), found(shared_run('', 1));
SELECT signature_index_check('texts_runs', true);
SELECT signature_index_merge('texts_runs');
DELETE FROM texts WHERE id % 7 = 0;
VACUUM texts;
SELECT signature_index_check('texts_runs', true);
SELECT min_run, found(shared_run((SELECT body FROM texts WHERE id = 4005), min_run)) FROM unnest('{6,16,40}'::int[]) min_run;
SELECT rows, segments, dead, nulls, options FROM signature_index_stats('texts_runs');
SELECT opcname, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod AND amname = 'signature' WHERE opcname = 'text_runs_ops';

-- A text that needs several items has the anchors of a run in more than one of them.
CREATE TABLE long_texts (id int, body text);
CREATE INDEX long_texts_runs ON long_texts USING signature (body text_runs_ops (min_run = 6)) WITH (pending_limit = 64);
INSERT INTO long_texts SELECT n, 'row ' || n || ' ' || (SELECT string_agg(md5(j::text), ' ' ORDER BY j) FROM generate_series(1, 6000) j) FROM generate_series(1, 12) n;
SELECT signature_index_merge('long_texts_runs');
SET enable_seqscan = off;
SELECT min(found), max(found) FROM (
    SELECT (SELECT count(*) FROM long_texts WHERE body && shared_run((SELECT string_agg(md5(j::text), ' ' ORDER BY j) FROM generate_series(first, first + 15) j), 16)) AS found
    FROM generate_series(1, 5900, 190) first
) f;
RESET enable_seqscan;
SELECT signature_index_check('long_texts_runs', true);
DROP TABLE long_texts;
DROP TABLE texts CASCADE;
DROP FUNCTION found(text_runs);
