-- Exclusion constraints against near duplicates: what can never take a row is refused where it is made, balls by edit distance
-- and of tokens have classes, and messages are short.
\set SHOW_CONTEXT never
-- What the constants of an expression rule out; the hint is a clause that works.
CREATE TABLE by_default (name text, EXCLUDE USING signature (near(name, 0.8, method => 'edit') WITH &&));
CREATE TABLE by_default (tags text[], EXCLUDE USING signature (near(tags, 0.8) WITH &&));
CREATE TABLE by_default (numbers bigint[], EXCLUDE USING signature (near(numbers, 0.8) WITH &&));
CREATE TABLE by_default (words tsvector, EXCLUDE USING signature (near(words, 0.8) WITH &&));
CREATE TABLE by_default (body text, EXCLUDE USING signature (near(body, 0.6) WITH &&));
CREATE TABLE by_default (body text, EXCLUDE USING signature (near(lower(body), 0.6, 2, method => 'dice') WITH &&));
CREATE TABLE by_default (body text, EXCLUDE USING signature (near(body, 0.8, method => 'overlap') WITH &&));
CREATE TABLE by_default (body text, EXCLUDE USING signature (near(body, 8) WITH &&));
CREATE TABLE by_default (body text, EXCLUDE USING signature (near(body, 0.8) text_ball_gram_ops WITH &&));
CREATE TABLE by_default (body text, ball text_ball GENERATED ALWAYS AS (near(body, 0.6)) STORED, EXCLUDE USING signature (ball WITH &&));
CREATE TABLE later (name text, numbers bigint[]);
ALTER TABLE later ADD CONSTRAINT apart EXCLUDE USING signature (near(name, 0.9, method => 'edit') WITH &&);
CREATE INDEX ON later USING signature (near(name, 0.6));
-- So are other expressions.
CREATE INDEX ON later USING signature (minhash(name, 3, 84));
-- What depends on the row is not known before.
CREATE TABLE varied (body text, least float8, EXCLUDE USING signature (near(body, least) WITH &&));
INSERT INTO varied VALUES ('some words', 0.6);
CREATE TABLE balls (ball text_ball, EXCLUDE USING signature (ball WITH &&));
INSERT INTO balls VALUES (near('Jonathan', 0.8, method => 'edit'));
DROP TABLE later, varied, balls;

-- By edit distance: each text as all pairs say.
CREATE TABLE people (id int PRIMARY KEY, name text, CONSTRAINT names_apart EXCLUDE USING signature (near(name, 0.8, method => 'edit') text_ball_gram_ops WITH &&));
INSERT INTO people VALUES (1, 'Jonathan Meyer'), (2, ''), (3, ''), (4, NULL), (5, NULL), (6, '李小龍');
INSERT INTO people VALUES (7, 'Jonathan Meier');
INSERT INTO people VALUES (7, 'Jonathan Meier') ON CONFLICT DO NOTHING;
INSERT INTO people VALUES (8, 'Joanna Meyer') RETURNING id;
UPDATE people SET name = 'Jonathan Mayer' WHERE id = 8;
CREATE TABLE offered AS SELECT i AS id, left(md5((i % 150)::text), 6) || chr(97 + i % 3) || repeat('x', i % 2) AS name FROM generate_series(1, 600) i;
CREATE TABLE taken (id int PRIMARY KEY, name text, EXCLUDE USING signature (near(name, 0.75, method => 'edit') text_ball_gram_ops (shingle = 2) WITH &&) WITH (pending_limit = 64));
INSERT INTO taken SELECT * FROM offered ORDER BY id ON CONFLICT DO NOTHING;
SELECT count(*) BETWEEN 100 AND 500 AS some FROM taken;
SELECT count(*) AS near FROM taken a JOIN taken b ON a.id < b.id AND edit_similarity(a.name, b.name) >= 0.75;
SELECT count(*) AS refused_alone FROM offered o WHERE id NOT IN (SELECT id FROM taken)
    AND NOT EXISTS (SELECT FROM taken t WHERE t.id < o.id AND edit_similarity(t.name, o.name) >= 0.75);
CREATE INDEX rebuilt ON taken USING signature (near(name, 0.75, method => 'edit') text_ball_gram_ops);
SELECT signature_index_check('rebuilt', true);
SELECT options FROM signature_index_stats('rebuilt');

-- Of tokens.
CREATE TABLE tagged (id int PRIMARY KEY, tags text[], EXCLUDE USING signature (near(tags, 0.7) text_ball_set_ops (tokenizer = tokens) WITH &&));
INSERT INTO tagged VALUES (1, '{a,b,c,d}'), (2, '{e,f}');
INSERT INTO tagged VALUES (3, '{d,c,b,a}');
CREATE TABLE numbered (numbers bigint[], EXCLUDE USING signature (near(numbers, 0.7) text_ball_set_ops (tokenizer = numbers) WITH &&));
INSERT INTO numbered VALUES ('{1,2,3,4}'), ('{1,2,3,4}');
CREATE TABLE lexed (words tsvector, EXCLUDE USING signature (near(words, 0.7) text_ball_set_ops (tokenizer = lexemes) WITH &&));
INSERT INTO lexed VALUES ('a b c d'), ('a b c d');
CREATE INDEX ON people USING signature (name text_set_ops (tokenizer = tokens));

-- A message holds neither document in full, and results are whole, also after an error.
CREATE TABLE long (id text PRIMARY KEY, body text, CONSTRAINT apart EXCLUDE USING signature (near(body, 0.8) WITH &&));
INSERT INTO long SELECT 'first', string_agg('word' || i, ' ') FROM generate_series(1, 3000) i;
INSERT INTO long SELECT 'second', body FROM long;
SELECT length(near(body, 0.8)::text) > length(body) AS whole FROM long;
DO $$
DECLARE
    detail text;
    ball text;
BEGIN
    INSERT INTO long SELECT 'second', body FROM long;
EXCEPTION WHEN exclusion_violation THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
    SELECT near(body, 0.8)::text INTO ball FROM long;
    RAISE NOTICE 'short message: %, whole ball: %', length(detail) < 2000, length(ball) > 20000;
END
$$;
INSERT INTO long SELECT 'second', body FROM long ON CONFLICT DO NOTHING;
SELECT length(near(body, 0.8)::text) > length(body) AS whole FROM long;
-- The key of the row that is there is shown to those who may read it.
CREATE TABLE kept (id int PRIMARY KEY, ball text_ball, CONSTRAINT balls_apart EXCLUDE USING signature (ball WITH &&));
INSERT INTO kept VALUES (7, near('one two three', 0.8));
CREATE ROLE writer;
GRANT INSERT, SELECT (ball) ON kept TO writer;
SET ROLE writer;
INSERT INTO kept VALUES (8, near('one two three', 0.8));
RESET ROLE;
INSERT INTO kept VALUES (8, near('one two three', 0.8));

-- The pending area of a constraint is small unless it is given.
CREATE FUNCTION pending(limits text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    pages bigint;
BEGIN
    EXECUTE 'CREATE TABLE many (body text, CONSTRAINT many_apart EXCLUDE USING signature (near(body, 0.9) WITH &&)' || limits || ')';
    INSERT INTO many SELECT string_agg(md5((i * 100 + j)::text), ' ') FROM generate_series(1, 3000) i, generate_series(1, 40) j GROUP BY i;
    SELECT pending_pages INTO pages FROM signature_index_stats('many_apart');
    DROP TABLE many;
    RETURN pages;
END
$$;
SELECT pending('') <= 65 AS few, pending(' WITH (pending_limit = 4096)') > 65 AS given;
DROP FUNCTION pending;
DROP TABLE people, offered, taken, tagged, numbered, lexed, long, kept;
DROP ROLE writer;
