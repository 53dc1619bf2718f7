-- What takes long, divided by :share: equal rows, pairs, one text of 50 MB and what is made of it, in columns named by their types.
CREATE EXTENSION neardup;
-- Internal functions are called by their names, too.
ALTER DATABASE postgres SET search_path = public, neardup_internal;
SET search_path = public, neardup_internal;
CREATE TABLE same AS SELECT i AS id, 'The quick brown fox jumps over the lazy dog near the old harbour'::text AS body FROM generate_series(1, 300000 / :share) i;
CREATE TABLE million AS SELECT i AS id, 'The quick brown fox jumps over the lazy dog near the old harbour'::text AS body FROM generate_series(1, 1000000 / :share) i;
-- Equal rows among others that are near them, and these near each other.
CREATE TABLE mixed AS SELECT i AS id, CASE WHEN i % 100 = 0 THEN body || ' with ' || i % 3000 ELSE body END AS body, i % 7 AS site FROM million, LATERAL (SELECT id) i(i) WHERE i <= 300000 / :share;
CREATE TABLE labels AS SELECT i AS left_id, i + 1 + i % 3 AS right_id, i % 2 = 0 AS duplicate FROM generate_series(1, 100000 / :share) i;
CREATE TABLE pairs AS SELECT i AS left_id, i + 1 + i % 3 AS right_id, 0.8 + (i % 20)::float8 / 100 AS similarity FROM generate_series(1, 1000000 / :share) i;
CREATE TABLE big AS
    SELECT 1 AS id, string_agg(md5(i::text) || CASE WHEN i % 20 = 0 THEN '. The' WHEN i % 333 = 0 THEN E'.\n\n' ELSE '' END, ' ') AS text,
        string_agg(md5((i + i / 9)::text) || CASE WHEN i % 20 = 0 THEN '. The' ELSE '' END, ' ') AS other,
        repeat('a', 50000000 / :share) AS one, repeat('a b. ', 10000000 / :share) AS short,
        '<html><body>' || repeat('<p>One <b>word</b> &amp; another', 1500000 / :share) AS html, repeat('<a<!--', 8000000 / :share) AS open_html
    FROM generate_series(1, 1500000 / :share) i;
CREATE TABLE vals AS SELECT
    ARRAY(SELECT md5(i::text) FROM generate_series(1, 1500000 / :share) i) AS words,
    ARRAY(SELECT hashint8extended(i, 0) FROM generate_series(1, 6000000 / :share) i) AS numbers,
    ARRAY(SELECT md5(i::text)::uuid FROM generate_series(1, 3000000 / :share) i) AS uuids,
    (SELECT string_agg(to_hex(i), ' ') FROM generate_series(1, 100000 / :share) i)::tsvector AS tsvector;
ALTER TABLE big ADD text_ball text_ball, ADD text_runs text_runs, ADD minhash_sketch minhash_sketch,
    ADD simhash_sketch simhash_sketch, ADD minhash_ball minhash_ball, ADD simhash_ball simhash_ball;
UPDATE big SET minhash_sketch = minhash(words, 1, 2048), simhash_sketch = simhash(words, 1024), text_ball = near(numbers, 0.8), text_runs = shared_run(text) FROM vals;
UPDATE big SET minhash_ball = near(minhash_sketch, 0.8), simhash_ball = near(simhash_sketch, 20);
ALTER TABLE vals ADD carried bytea, ADD ranks bytea;
UPDATE vals SET carried = neardup_part_document(numbers, NULL, NULL, NULL, '{"method": "jaccard", "threshold": 0.1, "made": true}');
UPDATE vals SET ranks = r.ranks FROM (SELECT neardup_part_ranks(carried, '{"method": "jaccard", "threshold": 0.1, "made": true}', NULL) AS ranks FROM vals) r;
CREATE TABLE sets AS SELECT id, name, method, set, 8 AS size, '\x0011223344556677'::bytea AS bytes
    FROM same, (VALUES ('jaccard', '{"method": "jaccard", "threshold": 0.8}'::jsonb), ('minhash', '{"method": "minhash", "threshold": 0.8, "options": {"bands": 4, "rows": 2}}'), ('imatch', '{"method": "imatch"}')) m(name, method),
        LATERAL (SELECT neardup_part_document('The quick brown fox jumps over the lazy dog', NULL, NULL, NULL, method)) t(set);
CREATE TABLE routes AS SELECT s.id, s.name, r.* FROM sets s, LATERAL neardup_part_rows(s.set, '', s.method, 1) r;
CREATE TABLE packed AS SELECT name, unnest(neardup_part_pack(s.id, s.set, '', s.method, 1, NULL)) AS rows FROM sets s GROUP BY name;
CREATE TABLE sketches AS SELECT i AS id, minhash('The quick brown fox jumps over the lazy dog') AS minhash_sketch, simhash('The quick brown fox jumps over the lazy dog') AS simhash_sketch,
    ARRAY[1, i % 9]::int8[] AS numbers, ARRAY[md5((i % 9)::text)::uuid] AS uuids FROM generate_series(1, 300000 / :share) i;
CREATE INDEX by_minhash ON sketches USING signature (minhash_sketch);
CREATE INDEX by_simhash ON sketches USING signature (simhash_sketch);
CREATE INDEX by_numbers ON sketches USING signature (numbers);
CREATE INDEX by_uuids ON sketches USING signature (uuids);
CREATE INDEX by_text ON same USING signature (body);
CREATE TABLE few(text text, minhash_sketch minhash_sketch, simhash_sketch simhash_sketch);
CREATE INDEX ON few USING signature (text);
CREATE INDEX ON few USING signature (minhash_sketch);
CREATE INDEX ON few USING signature (simhash_sketch);
-- What an index makes of a value of 50 MB, without the value: the server stores one without a look at interrupts.
CREATE FUNCTION text_of(int) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT text FROM public.big';
CREATE FUNCTION words_of(int) RETURNS text[] LANGUAGE sql IMMUTABLE AS 'SELECT words FROM public.vals';
CREATE FUNCTION numbers_of(int) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS 'SELECT numbers FROM public.vals';
CREATE TABLE long_text(id int);
CREATE TABLE long_words(id int);
CREATE TABLE long_numbers(id int);
CREATE INDEX ON long_text USING signature (text_of(id));
CREATE INDEX ON long_words USING signature (words_of(id));
CREATE INDEX ON long_numbers USING signature (numbers_of(id) bigint_signature_ops);
CREATE TABLE watched(id int PRIMARY KEY, body text);
SELECT neardup_watch('watched', 0.8);
INSERT INTO watched SELECT id, body FROM same;
CREATE TABLE unwatched(id int PRIMARY KEY, body text);
VACUUM ANALYZE;

-- Functions of ours, and the calls that are made of them: by a pattern that the whole signature matches. {f} is the
-- function, {t} the type that its name begins with.
CREATE TABLE functions AS SELECT p.oid::regprocedure::text AS signature, p.oid::regproc::text AS name
    FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND e.oid = d.refobjid AND e.extname = 'neardup';
-- A call may fail with the SQLSTATE that it has here, and with no other one but 57014.
CREATE TABLE calls(no int GENERATED ALWAYS AS IDENTITY, pattern text, call text, fails text DEFAULT '');
CREATE TABLE seen(signature text, call text, fails text, timeout int, state text, late int, worked int);
-- Milliseconds that a process has had of processors, with all its threads (utime and stime of proc(5), in hundredths of a second).
CREATE FUNCTION worked() RETURNS int LANGUAGE sql VOLATILE AS $$
    SELECT 10 * (split_part(fields, ' ', 12)::int + split_part(fields, ' ', 13)::int)
    FROM regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', '') fields
$$;
