-- What may hold documents, and where a call may stand.
SET client_min_messages = warning;
CREATE SCHEMA relations_test;
SET search_path = relations_test, public;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'the quick brown fox jumps'), (2, 'the quick brown fox jumps over'), (3, 'the quick brown fox'), (4, 'something else');
CREATE FUNCTION pairs_of(docs regclass, id_column text DEFAULT NULL, text_column text DEFAULT NULL) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT string_agg(left_id || '-' || right_id, ' ' ORDER BY left_id, right_id) FROM near_duplicates(docs, 0.8, id_column => id_column, text_column => text_column));
SELECT pairs_of('docs');

-- Views, also of joins and aggregates, and with a security barrier; materialized views.
CREATE VIEW a_view AS SELECT * FROM docs WHERE id <> 2;
SELECT pairs_of('a_view', 'id');
CREATE VIEW lines AS SELECT id AS doc, generate_series(1, 2) AS no, body AS line FROM docs;
CREATE VIEW joined WITH (security_barrier) AS SELECT doc AS key, string_agg(line, ' ' ORDER BY no) AS content, count(*)::text AS lines FROM lines GROUP BY doc;
SELECT pairs_of('joined', 'key');
CREATE MATERIALIZED VIEW materialized AS SELECT id + 10 AS id, body FROM docs WITH NO DATA;
SELECT pairs_of('materialized', 'id');
REFRESH MATERIALIZED VIEW materialized;
SELECT pairs_of('materialized', 'id');
-- Partitions, also of another order of columns; tables that inherit.
CREATE TABLE parted (id int PRIMARY KEY, gone int, body text) PARTITION BY RANGE (id);
CREATE TABLE part1 PARTITION OF parted FOR VALUES FROM (0) TO (3);
CREATE TABLE part2 (body text, wide int, id int NOT NULL, gone int);
ALTER TABLE part2 DROP wide;
ALTER TABLE parted ATTACH PARTITION part2 FOR VALUES FROM (3) TO (9);
ALTER TABLE parted DROP gone;
INSERT INTO parted SELECT * FROM docs;
SELECT pairs_of('parted'), pairs_of('part1'), pairs_of('part2');
CREATE TABLE parent (id int PRIMARY KEY, body text);
CREATE TABLE child (more text) INHERITS (parent);
INSERT INTO parent SELECT * FROM docs WHERE id <= 2;
INSERT INTO child SELECT id, body, 'more' FROM docs WHERE id > 2;
SELECT pairs_of('parent'), pairs_of('child', 'id', 'body');
-- The key of the parent does not hold for its children.
INSERT INTO child VALUES (1, 'again');
SELECT pairs_of('parent');
-- Temporary and unlogged tables; generated columns; a key that includes another column.
BEGIN;
CREATE TEMP TABLE temporary (id int PRIMARY KEY, body text) ON COMMIT DROP;
INSERT INTO temporary SELECT * FROM docs;
SELECT pairs_of('temporary'), pairs_of('pg_temp.temporary');
COMMIT;
CREATE UNLOGGED TABLE generated (id int GENERATED ALWAYS AS IDENTITY, first text, second text, body text GENERATED ALWAYS AS (first || ' ' || second) STORED,
    PRIMARY KEY (id) INCLUDE (first));
INSERT INTO generated (first, second) VALUES ('the quick', 'brown fox jumps'), ('the', 'quick brown fox'), ('other', 'text');
SELECT pairs_of('generated');
-- Dropped and renamed columns.
ALTER TABLE generated DROP body;
ALTER TABLE generated DROP first CASCADE;
ALTER TABLE generated RENAME second TO body;
SELECT pairs_of('generated', 'id');
-- Odd names.
CREATE SCHEMA "My Schema";
CREATE TABLE "My Schema"."My ""Docs""; it's" ("the id" int PRIMARY KEY, "Der Text, d'accord" text, "select" text);
INSERT INTO "My Schema"."My ""Docs""; it's" SELECT id, body, body FROM docs;
SELECT pairs_of('"My Schema"."My ""Docs""; it''s"', text_column => 'Der Text, d''accord');
SELECT * FROM near_duplicates('"My Schema"."My ""Docs""; it''s"', 0.8, id_column => 'the id', text_column => 'select') ORDER BY 1, 2;
SELECT * FROM near_duplicates('"My Schema"."My ""Docs""; it''s"', 0.8);
CREATE TABLE "文档" ("编号" int PRIMARY KEY, "正文" text);
INSERT INTO "文档" SELECT * FROM docs;
SELECT pairs_of('文档');
CREATE TABLE d (d int PRIMARY KEY, "D" text);
INSERT INTO d SELECT * FROM docs;
SELECT pairs_of('d');
-- By OID, by name in text, by a schema that is not in the path; without any path.
SELECT pairs_of('relations_test.docs'::regclass::oid), pairs_of(to_regclass('docs')), pairs_of(('relations_' || 'test.docs')::regclass);
SET search_path = '';
SELECT relations_test.pairs_of('relations_test.docs');
SET search_path = relations_test, public;
-- Functions, types and operators of others in front of the server's own are not used.
CREATE SCHEMA trap;
CREATE FUNCTION trap.no(text, text) RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE ''in the trap''; END';
CREATE OPERATOR trap.= (FUNCTION = trap.no, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR trap.< (FUNCTION = trap.no, LEFTARG = text, RIGHTARG = text);
CREATE FUNCTION trap.to_tsvector(regconfig, text) RETURNS tsvector LANGUAGE plpgsql AS 'BEGIN RAISE ''in the trap''; END';
CREATE DOMAIN trap.text AS pg_catalog.text CHECK (VALUE = 'x');
CREATE DOMAIN trap.int8 AS pg_catalog.int8 CHECK (VALUE < 0);
CREATE TABLE trap.docs (id int);
CREATE TABLE text_ids AS SELECT 'id ' || id AS id, body FROM docs;
ALTER TABLE text_ids ADD PRIMARY KEY (id);
SET search_path = trap, pg_catalog, relations_test, public;
SELECT * FROM near_duplicates('relations_test.docs', 0.8, tokenizer => 'tsearch:english') ORDER BY 1, 2;
SELECT * FROM near_duplicates('relations_test.text_ids', 0.8, NULL::pg_catalog.text, tokenizer => 'tsearch:english') ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('relations_test.docs', 'relations_test.docs', 0.8, NULL::pg_catalog.int4) WHERE left_id < 2 ORDER BY 1, 2;
SET search_path = relations_test, public;
-- System tables.
SELECT count(*) > 0 FROM (SELECT near_duplicates('pg_proc', 1, NULL::oid, text_column => 'prosrc') LIMIT 1) p;

-- A call sees what its statement sees: the transaction's own changes, not those of its statement or of later ones.
BEGIN;
INSERT INTO docs VALUES (5, 'something else');
SELECT pairs_of('docs');
WITH new AS (INSERT INTO docs VALUES (6, 'something else') RETURNING id) SELECT pairs_of('docs'), (SELECT id FROM new);
DECLARE later CURSOR FOR SELECT near_duplicates('docs', 1);
DELETE FROM docs WHERE id = 6;
SAVEPOINT here;
ALTER TABLE docs RENAME body TO content;
ALTER TABLE docs ADD other text DEFAULT 'x';
SELECT pairs_of('docs');
ROLLBACK TO here;
SELECT pairs_of('docs');
MOVE ALL FROM later;
ROLLBACK;
-- Changes by what was found.
BEGIN;
INSERT INTO docs SELECT id + 100, body FROM docs;
DELETE FROM docs USING near_duplicates('docs', 0.9) WHERE id = right_id;
SELECT array_agg(id ORDER BY id) FROM docs;
UPDATE docs SET body = body || ' (double of ' || left_id || ')' FROM near_duplicates('docs', 0.8) WHERE id = right_id;
SELECT * FROM docs ORDER BY id;
ROLLBACK;

-- In functions, procedures, triggers, rules.
CREATE FUNCTION first_pair(docs regclass, OUT a bigint, OUT b bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT left_id, right_id INTO a, b FROM near_duplicates(docs, 0.8) ORDER BY 1, 2 LIMIT 1;
END
$$;
SELECT * FROM first_pair('docs');
CREATE FUNCTION in_sql(docs regclass) RETURNS SETOF bigint LANGUAGE sql AS 'SELECT (near_duplicates(docs, 0.8)).left_id';
SELECT count(*) FROM in_sql('docs');
SELECT in_sql('docs') LIMIT 1;
CREATE PROCEDURE commits(INOUT n int DEFAULT 0) LANGUAGE plpgsql AS $$
DECLARE
    p record;
BEGIN
    FOR p IN SELECT (near_duplicates('docs', 0.8)).* LOOP
        n := n + 1;
        COMMIT;
    END LOOP;
    FOR p IN SELECT * FROM near_duplicates('docs', 0.8) LOOP
        n := n + 10;
        ROLLBACK;
    END LOOP;
END
$$;
CALL commits();
CREATE FUNCTION refuse_doubles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM near_duplicates(TG_RELID, 0.99)) THEN RAISE 'there is such a text'; END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER no_doubles AFTER INSERT ON docs FOR EACH STATEMENT EXECUTE FUNCTION refuse_doubles();
INSERT INTO docs VALUES (7, 'one of its kind');
INSERT INTO docs VALUES (8, 'Something else!');
DROP TRIGGER no_doubles ON docs;
DELETE FROM docs WHERE id = 7;
-- Errors that are caught leave nothing behind.
CREATE FUNCTION caught(rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    seen int[] := '{0,0,0,0}';
    p record;
BEGIN
    FOR i IN 1..rounds LOOP
        BEGIN
            PERFORM * FROM near_duplicates('docs', 7);
        EXCEPTION WHEN invalid_parameter_value THEN
            seen[1] := seen[1] + 1;
        END;
        BEGIN
            PERFORM * FROM near_duplicates('docs', 0.8, max_pairs => 1);
        EXCEPTION WHEN program_limit_exceeded THEN
            seen[2] := seen[2] + 1;
        END;
        BEGIN
            FOR p IN SELECT (near_duplicates('docs', 0.8)).* LOOP
                PERFORM 1 / 0;
            END LOOP;
        EXCEPTION WHEN division_by_zero THEN
            seen[3] := seen[3] + 1;
        END;
        BEGIN
            PERFORM near_duplicates('bad', 0.8, id_column => 'id');
        EXCEPTION WHEN division_by_zero THEN
            seen[4] := seen[4] + 1;
        END;
    END LOOP;
    RETURN seen;
END
$$;
CREATE VIEW bad AS SELECT id, body || 1 / (id - 3) AS body FROM docs;
SELECT caught(100), pairs_of('docs');

-- Cursors: some rows, back again, over a savepoint that is rolled back; kept after the transaction.
BEGIN;
DECLARE pairs SCROLL CURSOR FOR SELECT left_id, right_id FROM near_duplicates('docs', 0.6) ORDER BY 1, 2;
FETCH 2 FROM pairs;
SAVEPOINT here;
DECLARE streamed CURSOR FOR SELECT near_duplicates('docs', 1);
FETCH 1 FROM streamed;
SELECT 1 / 0;
ROLLBACK TO here;
FETCH BACKWARD 1 FROM pairs;
CLOSE pairs;
DECLARE streamed CURSOR FOR SELECT (p).left_id < (p).right_id AS row FROM (SELECT near_duplicates('docs', 0.6) AS p) p;
FETCH 1 FROM streamed;
SAVEPOINT here;
FETCH 1 FROM streamed;
ROLLBACK TO here;
FETCH 1 FROM streamed;
DROP TABLE docs CASCADE;
FETCH ALL FROM streamed;
ROLLBACK;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT left_id FROM near_duplicates('docs', 0.8) ORDER BY left_id, right_id;
COMMIT;
FETCH ALL FROM held;
CLOSE held;
-- An error behind the first rows of the select list.
BEGIN;
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.8) LIMIT 1) p;
SELECT near_duplicates('docs', 0);
SELECT pairs_of('docs');
ROLLBACK;

-- In queries of all kinds.
SELECT a, count(*) FROM unnest('{0.6,0.8,1}'::float8[]) a LEFT JOIN LATERAL near_duplicates('docs', a) ON similarity > 0 GROUP BY a ORDER BY a;
SELECT a, (SELECT count(*) FROM (SELECT near_duplicates('docs', a) LIMIT 1) p) AS first_one, EXISTS (SELECT FROM near_duplicates('docs', a)) AS is_any
FROM unnest('{1,0.8,0.6}'::float8[]) a;
SELECT d.id, ARRAY(SELECT right_id FROM near_duplicates('docs', 0.8) p WHERE p.left_id = d.id ORDER BY 1) FROM docs d ORDER BY d.id;
WITH RECURSIVE cluster(id) AS (SELECT 1::bigint UNION SELECT p.right_id FROM cluster c JOIN near_duplicates('docs', 0.8) p ON p.left_id = c.id)
SELECT * FROM cluster ORDER BY id;
WITH RECURSIVE levels(no, pairs) AS (SELECT 1, 0::bigint UNION ALL SELECT no + 1, (SELECT count(*) FROM near_duplicates('docs', 1.0 - no / 10.0)) FROM levels WHERE no < 5)
SELECT * FROM levels;
SELECT * FROM near_duplicates('docs', 0.8) a JOIN near_duplicates('docs', 0.6) b USING (left_id, right_id) ORDER BY 1, 2;
SELECT count(one) AS one, count(two) AS two FROM (SELECT near_duplicates('docs', 0.8) AS one, near_duplicates('docs', 0.6) AS two) p;
SELECT * FROM ROWS FROM (near_duplicates('docs', 0.82), generate_series(1, 2)) WITH ORDINALITY;
SELECT row_to_json(p) FROM near_duplicates('docs', 0.82) p;
SELECT row_to_json(near_duplicates('docs', 0.82));
SELECT count(*) FROM (SELECT left_id FROM near_duplicates('docs', 0.8) UNION ALL SELECT right_id FROM near_duplicates('docs', 0.8)) p;
SELECT sum(similarity) FILTER (WHERE left_id = 1) OVER () FROM near_duplicates('docs', 0.82);
SELECT CASE WHEN near_duplicates('docs', 0.8) IS NULL THEN 1 END;
CREATE TABLE stored AS SELECT * FROM near_duplicates('docs', 0.8);
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'stored'::regclass AND attnum > 0 ORDER BY attnum;
CREATE MATERIALIZED VIEW kept AS SELECT * FROM near_duplicates('docs', 0.8, NULL::numeric);
INSERT INTO docs VALUES (9, 'the fox quick brown');
REFRESH MATERIALIZED VIEW kept;
SELECT left_id, right_id FROM kept ORDER BY 1, 2;
CREATE VIEW live AS SELECT left_id, right_id FROM near_duplicates('docs', 1);
SELECT * FROM live;
-- A view of pairs as documents.
CREATE VIEW of_pairs AS SELECT row_number() OVER (ORDER BY left_id, right_id) AS id, left_id || ' and ' || right_id AS body FROM near_duplicates('docs', 0.8);
SELECT left_id, right_id FROM near_duplicates('of_pairs', 0.5, id_column => 'id') ORDER BY 1, 2;
DELETE FROM docs WHERE id = 9;
COPY (SELECT left_id, right_id FROM near_duplicates('docs', 0.8) ORDER BY 1, 2) TO STDOUT;
-- The plan runs nothing.
EXPLAIN (COSTS OFF) SELECT * FROM near_duplicates('docs', 0.8) WHERE similarity > 0.9;
EXPLAIN (COSTS OFF) SELECT near_duplicates('docs', 0.8) LIMIT 1;
EXPLAIN (COSTS OFF) SELECT * FROM near_duplicates('docs', 123);
-- Prepared statements follow the table.
PREPARE p(regclass, float8) AS SELECT count(*) FROM near_duplicates($1, $2);
PREPARE fixed AS SELECT count(*) FROM near_duplicates('docs', 0.8);
EXECUTE p('docs', 0.8);
EXECUTE p('parted', 1);
EXECUTE fixed;
ALTER TABLE docs ADD extra text, DROP CONSTRAINT docs_pkey;
ALTER TABLE docs ADD PRIMARY KEY (id);
EXECUTE fixed;
ALTER TABLE docs RENAME TO papers;
EXECUTE fixed;
EXECUTE p('papers', 0.8);
DROP TABLE papers CASCADE;
EXECUTE fixed;
DEALLOCATE ALL;
DROP SCHEMA relations_test, trap, "My Schema" CASCADE;
