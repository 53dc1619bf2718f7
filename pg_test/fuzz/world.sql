-- What a fuzz works on: an ordinary role, eve, and relations of every kind; and the table of statements that it tries.
SET client_min_messages = error;
CREATE EXTENSION neardup;
CREATE ROLE eve LOGIN;
CREATE SCHEMA fuzz;
CREATE SCHEMA w AUTHORIZATION eve;
GRANT USAGE ON SCHEMA fuzz TO eve;
GRANT pg_read_server_files TO eve;
GRANT EXECUTE ON FUNCTION lo_export(oid, text) TO eve;
ALTER ROLE eve SET search_path = w, public;
ALTER ROLE eve SET client_min_messages = error;

-- One statement each; run notes what became of it, and undoes what it did but for values that were loaded.
CREATE TABLE fuzz.statements (no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, part text NOT NULL, statement text NOT NULL);
CREATE TABLE fuzz.results (no int PRIMARY KEY, state text, message text, ms float8);
GRANT SELECT ON fuzz.statements TO eve;
GRANT SELECT, INSERT ON fuzz.results TO eve;
CREATE FUNCTION fuzz.run(no int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    statement text;
    part text;
    state text := '00000';
    message text;
    detail text;
    hint text;
    context text;
BEGIN
    SELECT s.statement, s.part INTO statement, part FROM fuzz.statements s WHERE s.no = run.no;
    BEGIN
        EXECUTE statement;
        IF part <> 'bytes' THEN
            RAISE SQLSTATE 'FUZ00';
        END IF;
    EXCEPTION
        WHEN SQLSTATE 'FUZ00' THEN NULL;
        WHEN OTHERS OR query_canceled OR assert_failure THEN
            GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
                hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
            message := concat_ws(E'\n', message, nullif(detail, ''), nullif(hint, ''));
    END;
    INSERT INTO fuzz.results VALUES (no, state, left(message, 1000), extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000);
END
$$;

SET SESSION AUTHORIZATION eve;
SET search_path = w, public;
-- Texts that something may stumble over.
CREATE TABLE texts (no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);
INSERT INTO texts(body) VALUES
    (NULL), (''), (' '), (E'\n'), ('a'), ('one two three four'), ('one two three four five'), ('one two three four five six'),
    ('One, two. Three! Four? "Five" (six); seven: eight - nine.'),
    ('The quick brown fox jumps over the lazy dog. It barks. The fox runs away and the dog sleeps again in the sun.'),
    ('The quick brown fox jumps over the lazy dog. It barks. The fox runs away and the cat sleeps again in the sun.'),
    (E'\u0301'), (E'\u0301\u0301\u0301a'), (E'e\u0301 e\u0301'), (E'\u200d\u200b\ufeff'), (E'\u202e abc \u202c'), (E'\u00a0\u2003\u3000'),
    (E'\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea'), (E'\ue000\uf8ff\U0010fffd\U0010ffff\ufffe\uffff'), (E'\u0001\u0002\u007f\u0080\u009f'),
    (E'\u0130\u0131\u00df\u1e9e\ufb03\u03c2\u03a3 \u01c5'), (E'\u4e00\u4e01\u3042\u30a2\uac00\u0e01\u0e33\u1780\u0f00'), (E'\u0640\u0651\u200f\u05b0\u05d0 \u0627\u0644'),
    (E'\u2028\u2029\u0085\u000b\u000c\r'), (E'\u1100\u1161\u11a8 \u0915\u094d\u0937\u093f'),
    ('%s %n %% %1$s $$ $1 \ '' " ; -- /* */'), ('<p>one<p>two</p></b><a href="http://x/%00"><img src=//x/a.png><script>x</script>'),
    ('<!DOCTYPE html><html><head><title>A title</title></head><body><h1>One</h1><p>two three four</p></body></html>'),
    ('<<<>>>&amp;&#0;&#x110000;&#xd800;&nosuch;<![CDATA[ <a<b<c<'), (repeat('<div>', 3000)), (repeat('<a href="', 500)),
    (repeat('a', 100000)), (repeat('a ', 20000)), (repeat('.', 20000)), (repeat('a. ', 7000)), (repeat(E'\u0301', 20000)), (repeat(E'\n\n', 5000)),
    (repeat('A sentence of seven words is here. ', 200)), (repeat('甲、', 3000)),
    ('123 456 1e999 -0 0x1F'), ('Mr. Dr. U.S.A. e.g. i.e. etc. 3.14 ... ?! .'), ('<script>'), ('<!--'), ('&'), ('</');

CREATE TABLE docs (id int PRIMARY KEY, body text, site text, numbers bigint[], tokens text[], lexemes tsvector, page jsonb);
INSERT INTO docs SELECT no, left(body, 3000), 'site' || no % 3, ARRAY[no, no % 5, NULL], ARRAY[body, NULL, ''], to_tsvector('simple', left(body, 3000)), to_jsonb(left(body, 100)) FROM texts;
INSERT INTO docs(id, body) SELECT 1000 + i, 'one two three four ' || i / 3 FROM generate_series(1, 12) i;
CREATE TABLE few (id int PRIMARY KEY, body text);
INSERT INTO few VALUES (1, 'one two three four'), (2, 'one two three four five'), (3, 'three four one two'), (4, 'else'), (5, NULL), (6, '');
CREATE TABLE by_uuid AS SELECT md5(id::text)::uuid AS id, body FROM few;
CREATE TABLE by_text AS SELECT 'id ' || id AS id, body FROM few;
CREATE TABLE by_numeric AS SELECT CASE id WHEN 1 THEN 'NaN'::numeric WHEN 2 THEN 'Infinity' ELSE id END AS id, body FROM few;
CREATE TABLE by_float AS SELECT CASE id WHEN 1 THEN 'NaN'::float8 WHEN 2 THEN '-0' ELSE id END AS id, body FROM few;
CREATE TABLE by_json AS SELECT to_jsonb(few) AS id, body FROM few;
CREATE TABLE by_plain_json AS SELECT to_json(few) AS id, body FROM few;
CREATE TABLE by_row AS SELECT few AS id, body FROM few;
CREATE TABLE by_array AS SELECT ARRAY[id, NULL] AS id, body FROM few;
CREATE TABLE by_range AS SELECT int4range(id, id + 2) AS id, body FROM few;
CREATE TABLE by_bytes AS SELECT decode(md5(id::text), 'hex') AS id, body FROM few;
CREATE TABLE by_long AS SELECT id::text || repeat(md5(id::text), 3000) AS id, body FROM few;
CREATE TABLE by_point AS SELECT point(id, id) AS id, body FROM few;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'a', 'b', 'c');
CREATE TABLE by_enum AS SELECT (enum_range(NULL::mood))[id] AS id, body FROM few;
CREATE DOMAIN small AS int CHECK (VALUE < 1000000);
CREATE DOMAIN long_text AS text;
CREATE TABLE by_domain (id small PRIMARY KEY, body long_text);
INSERT INTO by_domain SELECT * FROM few;
CREATE TABLE same_ids AS SELECT 1 AS id, body FROM few;
CREATE TABLE null_ids AS SELECT nullif(id, 1) AS id, body FROM few;
CREATE TABLE no_key AS SELECT body FROM few;
CREATE TABLE no_columns ();
INSERT INTO no_columns SELECT FROM few;
CREATE TABLE two_keys (a int, b int, body text, PRIMARY KEY (a, b));
INSERT INTO two_keys SELECT id, id, body FROM few;
CREATE TABLE dropped (gone int, id int PRIMARY KEY, lost text, body text, late text DEFAULT 'late');
INSERT INTO dropped SELECT 1, id, 'lost', body FROM few;
ALTER TABLE dropped DROP gone, DROP lost;
ALTER TABLE dropped ADD made text GENERATED ALWAYS AS (body || ' made') STORED;
CREATE TABLE empty (id int PRIMARY KEY, body text);
CREATE TABLE "a%b ""it's""" ("the %id" int PRIMARY KEY, "a $text" text);
INSERT INTO "a%b ""it's""" SELECT * FROM few;
CREATE TABLE parted (id int PRIMARY KEY, body text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (4);
CREATE TABLE part2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT * FROM few;
CREATE TABLE parent (id int PRIMARY KEY, body text);
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT * FROM few;
CREATE VIEW viewed AS SELECT id, body FROM few;
CREATE MATERIALIZED VIEW seen AS SELECT id, body FROM few;
CREATE MATERIALIZED VIEW unseen AS SELECT id, body FROM few WITH NO DATA;
CREATE VIEW raising AS SELECT id, CASE WHEN 1 / (id - 3) > 5 THEN '' ELSE body END AS body FROM few;
CREATE VIEW raising_id AS SELECT 1 / (id - 3) AS id, body FROM few;
CREATE VIEW recursing AS SELECT row_number() OVER () AS id, left_id || ' ' || right_id AS body FROM near_duplicates('few', 0.3);
CREATE VIEW endless AS SELECT g AS id, 'one ' || g AS body FROM generate_series(1, 1000000000) g;
CREATE FUNCTION asks_again(i int) RETURNS text LANGUAGE plpgsql AS $$BEGIN RETURN (SELECT count(*) FROM near_duplicates('again', 0.5)); END$$;
CREATE VIEW again AS SELECT id, asks_again(id) AS body FROM few;
CREATE FUNCTION drops_itself(i int) RETURNS text LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DROP TABLE IF EXISTS few CASCADE'; RETURN 'x'; END$$;
CREATE VIEW dropping AS SELECT id, drops_itself(id) AS body FROM few;
CREATE FUNCTION cancels(i int) RETURNS text LANGUAGE plpgsql AS $$BEGIN IF i = 4 THEN PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(0.1); END IF; RETURN i; END$$;
CREATE VIEW cancelling AS SELECT id, cancels(id) AS body FROM few;
CREATE FUNCTION writes(i int) RETURNS text LANGUAGE plpgsql AS $$BEGIN INSERT INTO empty VALUES (i, 'x') ON CONFLICT DO NOTHING; RETURN i; END$$;
CREATE VIEW writing AS SELECT id, writes(id) AS body FROM few;
CREATE FUNCTION alters(i int) RETURNS text LANGUAGE plpgsql AS $$BEGIN ALTER TABLE dropped ALTER id TYPE bigint; RETURN i; END$$;
CREATE VIEW altering AS SELECT d.id, alters(d.id::int) AS body FROM dropped d;
CREATE VIEW typed_texts AS SELECT id, body::varchar(5) AS v, body::char(9) AS c, body::bytea AS b, id::money AS m, body::name AS n, xmlelement(name x, body) AS x FROM few WHERE body <> '';
CREATE TABLE guarded AS SELECT * FROM few;
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
ALTER TABLE guarded FORCE ROW LEVEL SECURITY;
CREATE POLICY odd ON guarded USING (1 / (id - 4) < 5);
CREATE SEQUENCE numbers;
CREATE TYPE pair AS (a int, b text);
CREATE TABLE indexed (id int PRIMARY KEY, body text, numbers bigint[], uuids uuid[], m minhash_sketch, s simhash_sketch);
INSERT INTO indexed SELECT no, left(body, 3000), shingles(left(body, 3000), 2), sentence_signatures(left(body, 3000)), minhash(left(body, 3000), 2, 16), simhash(left(body, 3000)) FROM texts;
CREATE INDEX indexed_body ON indexed USING signature (body);
CREATE INDEX indexed_numbers ON indexed USING signature (numbers);
CREATE INDEX indexed_uuids ON indexed USING signature (uuids);
CREATE INDEX indexed_m ON indexed USING signature (m minhash_jaccard_ops (k = 2, permutations = 16, source = 'words'));
CREATE INDEX indexed_s ON indexed USING signature (s);
CREATE TABLE watched (id int PRIMARY KEY, body text);
INSERT INTO watched SELECT * FROM few;
SELECT neardup_watch('watched', 0.6);
CALL neardup_refresh('watched');
CREATE TABLE compared (id text PRIMARY KEY, body text);
INSERT INTO compared SELECT id, body FROM few;
SELECT neardup_watch('compared', 0.6, detect => 'compare', method => 'cosine');
CALL neardup_refresh('compared');
CREATE FUNCTION alike(int, int) RETURNS bool LANGUAGE sql AS 'SELECT $1 / 2 = $2 / 2';
RESET SESSION AUTHORIZATION;
-- An operator whose share of rows our functions estimate.
CREATE OPERATOR w.~~~ (LEFTARG = int, RIGHTARG = int, FUNCTION = w.alike, RESTRICT = neardup_internal.near_selectivity, JOIN = neardup_internal.near_join_selectivity);
