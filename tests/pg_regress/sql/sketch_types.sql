-- The types of sketches and balls: text and binary form, order, hash, storage.
CREATE TABLE stored(id int PRIMARY KEY, m minhash_sketch, s simhash_sketch, mb minhash_ball, sb simhash_ball, tb text_ball);
INSERT INTO stored SELECT n, minhash(t), simhash(t), near(minhash(t), 0.8), near(simhash(t), 3), near(t, 0.5)
    FROM (SELECT n, nullif(repeat('word ', n % 3) || n % 5, '0') AS t FROM generate_series(1, 60) n) t;
INSERT INTO stored VALUES (0);

-- In and out, as text and in binary form.
SELECT count(*) AS rows, count(*) FILTER (WHERE m::text::minhash_sketch = m) AS m, count(*) FILTER (WHERE s::text::simhash_sketch = s) AS s,
    count(*) FILTER (WHERE mb::text::minhash_ball = mb) AS mb, count(*) FILTER (WHERE sb::text::simhash_ball = sb) AS sb,
    count(*) FILTER (WHERE tb::text::text_ball = tb) AS tb FROM stored;
\getenv directory PG_ABS_BUILDDIR
CREATE TABLE copied(LIKE stored);
\set file :directory '/results/sketch_types.binary'
COPY stored TO :'file' (FORMAT binary);
COPY copied FROM :'file' (FORMAT binary);
SELECT * FROM stored EXCEPT SELECT * FROM copied;
SELECT count(*) FROM copied JOIN stored USING (id, m, s, mb, sb, tb);

-- Equality, order, hash: also without the other two ways.
SELECT count(DISTINCT m) AS m, count(DISTINCT s) AS s, count(DISTINCT mb) AS mb, count(DISTINCT sb) AS sb, count(DISTINCT tb) AS tb FROM stored;
SET enable_hashagg = off;
SELECT count(*) FROM (SELECT m, s, mb, sb, tb FROM stored GROUP BY m, s, mb, sb, tb) g;
SET enable_hashagg = on;
SET enable_sort = off;
SELECT count(*) FROM (SELECT m, s, mb, sb, tb FROM stored GROUP BY m, s, mb, sb, tb) g;
RESET ALL;
CREATE UNIQUE INDEX ON stored(id, m, s, mb, sb, tb);
CREATE INDEX ON stored USING hash (s);
SET enable_seqscan = off;
SELECT count(*) FROM stored WHERE s = simhash('word 1');
RESET ALL;
SELECT count(*) FILTER (WHERE (a.m < b.m)::int + (a.m = b.m)::int + (a.m > b.m)::int <> 1) AS wrong,
    count(*) FILTER (WHERE (a.m <= b.m) <> NOT (a.m > b.m) OR (a.m >= b.m) <> NOT (a.m < b.m) OR (a.m <> b.m) = (a.m = b.m)) AS wrong
    FROM stored a, stored b;

-- Bad text.
SELECT ''::minhash_sketch;
SELECT 'minhash:v2:words:h1.1:k5:seed1:m2:01020304ffffffff'::minhash_sketch;
SELECT 'minhash:v1:words:h1.1:k5:seed1:m3:01020304ffffffff'::minhash_sketch;
SELECT 'minhash:v1:words:h1.1:k5:seed1:m2:01020304fffffff'::minhash_sketch;
SELECT 'minhash:v1:words:h1.1:k5:seed1:m2:01020304fffffffg'::minhash_sketch;
SELECT 'minhash:v1:words:h1.1:k0:seed1:m1:01020304'::minhash_sketch;
SELECT 'minhash:v1:letters:h1.1:k5:seed1:m1:01020304'::minhash_sketch;
SELECT 'minhash:v1:words:h1:k5:seed1:m1:01020304'::minhash_sketch;
SELECT 'simhash:v1:words:h1.1:k1:0123456789abcdef'::minhash_sketch;
SELECT 'simhash:v1:words:h1.1:k1:0'::simhash_sketch;
SELECT 'simhash:v1:words:h1.1:k1:empty65'::simhash_sketch;
SELECT '<simhash:v1:words:h1.1:k1:0123456789abcdef,64>'::simhash_ball;
SELECT '<simhash:v1:words:h1.1:k1:0123456789abcdef,x>'::simhash_ball;
SELECT '<minhash:v1:words:h1.1:k5:seed1:m1:01020304,0>'::minhash_ball;
SELECT '<minhash:v1:words:h1.1:k5:seed1:m1:01020304,0.8'::text_ball;
SELECT repeat('x', 100000)::minhash_sketch;

-- Bad bytes: from a client (here by COPY), and in the table.
CREATE TABLE bytes(b bytea);
INSERT INTO bytes VALUES ('\x01');
COPY bytes TO :'file' (FORMAT binary);
CREATE TABLE bad(m minhash_sketch, s simhash_sketch);
COPY bad(m) FROM :'file' (FORMAT binary);
COPY bad(s) FROM :'file' (FORMAT binary);
UPDATE bytes SET b = '\x09';
COPY bytes TO :'file' (FORMAT binary);
COPY bad(m) FROM :'file' (FORMAT binary);
-- A value of a later version, of an unlike one, and rubbish in the table.
CREATE CAST (bytea AS minhash_sketch) WITHOUT FUNCTION;
SELECT '\x0201010100000500'::bytea::minhash_sketch;
SELECT '\x0102010100000500010000000100000000000000aabbccdd'::bytea::minhash_sketch <%> minhash('a', permutations => 1);
SELECT ''::bytea::minhash_sketch <%> minhash('a');
DROP CAST (bytea AS minhash_sketch);
DROP TABLE stored, copied, bytes, bad;

-- Whatever type a column can hold has an equality, an order and a hash.
SELECT objid::regtype AS without FROM pg_depend JOIN pg_type ON objid = pg_type.oid, unnest('{btree,hash}'::text[]) method
WHERE classid = 'pg_type'::regclass AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
    AND typtype = 'b' AND typcategory <> 'A'
    AND NOT EXISTS (SELECT FROM pg_opclass JOIN pg_am am ON am.oid = opcmethod WHERE amname = method AND opcdefault AND opcintype = objid);
CREATE TABLE sets (id int PRIMARY KEY, body text, set text_runs GENERATED ALWAYS AS (shared_run(body, 1)) STORED, ball text_ball);
INSERT INTO sets VALUES (1, 'a b'), (2, 'a b'), (3, 'c');
UPDATE sets SET ball = near('a b', 0.5);
SELECT count(DISTINCT set) AS sets, count(DISTINCT ball) AS balls, count(DISTINCT (set, ball)) AS rows FROM sets;
SELECT a.id, b.id FROM sets a JOIN sets b ON a.set = b.set AND a.id < b.id;
SELECT count(*) FROM (SELECT * FROM sets UNION SELECT * FROM sets) s;
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'changed: %', NEW.body; RETURN NEW; END$$;
CREATE TRIGGER audit AFTER UPDATE ON sets FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION note();
UPDATE sets SET body = body WHERE id = 1;
UPDATE sets SET body = 'c d' WHERE id = 1;
SELECT count(*) FILTER (WHERE (a.set < b.set)::int + (a.set = b.set)::int + (a.set > b.set)::int <> 1) AS wrong FROM sets a, sets b;
DROP TABLE sets;
DROP FUNCTION note;
