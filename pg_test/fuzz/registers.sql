-- In a database of dba's: a job of dba's, and a function that tells who runs it.
SET client_min_messages = error;
DROP SCHEMA w CASCADE;
CREATE SCHEMA w AUTHORIZATION dba;
GRANT USAGE ON SCHEMA fuzz TO dba;
SET SESSION AUTHORIZATION dba;
CREATE TABLE w.ran (name text);
GRANT INSERT ON w.ran TO PUBLIC;
CREATE FUNCTION w.canary() RETURNS int LANGUAGE plpgsql AS $$BEGIN INSERT INTO w.ran VALUES (current_user); RETURN 1; END$$;
CREATE TABLE w.few (id int PRIMARY KEY, body text);
INSERT INTO w.few VALUES (1, 'one two three four'), (2, 'one two three four five');
CREATE VIEW w.viewed AS SELECT id, body FROM w.few;
CREATE SEQUENCE w.numbers;
CREATE TABLE w.mine (id int PRIMARY KEY, body text);
INSERT INTO w.mine SELECT i, 'one two w' || i % 7 FROM generate_series(1, 30) i;
SELECT neardup_watch('w.mine', 0.6);
CALL neardup_refresh('w.mine');
RESET SESSION AUTHORIZATION;
-- The settings of a good job, wherever they are.
DO $$
DECLARE
    r regclass;
BEGIN
    CREATE TABLE w.kept_settings (s jsonb);
    ALTER TABLE w.kept_settings OWNER TO dba;
    FOR r IN SELECT attrelid::regclass FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid JOIN fuzz.members m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
        WHERE attname = 'settings' AND c.relkind = 'r' LOOP
        EXECUTE format('INSERT INTO w.kept_settings SELECT settings FROM %s', r);
    END LOOP;
END
$$;
-- For psql: dba puts a row in the place of the job's own; everybody does what one does with jobs; then the
-- job is made anew.
CREATE FUNCTION fuzz.register_script(seed int, n int, register regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    crafted text;
    role text;
BEGIN
    PERFORM setseed((seed * 1000::bigint + n) % 1000000 / 1e6);
    crafted := fuzz.crafted_row(register);
    -- As after a restore: the job's tables and triggers are there, its row is not.
    RETURN QUERY VALUES ('\set VERBOSITY verbose'), ('\c - postgres'), ('SET client_min_messages = error; DROP TABLE IF EXISTS w.kept;'),
        (format('CREATE TABLE w.kept AS TABLE %s; GRANT SELECT ON w.kept TO dba;', register)), (format('DELETE FROM %s;', register)), ('\c - dba'), (crafted || ';');
    FOREACH role IN ARRAY ARRAY['dba', 'postgres'] LOOP
        RETURN QUERY VALUES ('\c - ' || role), ('SET client_min_messages = error; SET statement_timeout = ''10s'';'), ('\echo <none>'), ('INSERT INTO w.mine VALUES (' || 1000 + fuzz.whole(1000000) || ', ''one two'');'), ('UPDATE w.mine SET body = body || '' x'' WHERE id % 10 = 0;'), ('\echo <any>'), ('CALL neardup_refresh(''w.mine'');'),
            ('SELECT count(*) FROM neardup_jobs;'), ('SELECT count(*) FROM neardup_history;'), ('CALL neardup_refresh(''w.few'');'), ('SELECT neardup_watch(''w.mine'', 0.6);');
    END LOOP;
    RETURN QUERY VALUES ('SELECT neardup_unwatch(''w.mine'');'), ('SELECT neardup_unwatch(''w.few'');'),
        ('SELECT ''ran as '' || name FROM w.ran WHERE name <> ''dba'';'), (format('SELECT ''not undone: '' || count(*) FROM pg_class WHERE oid IN (1259, 1260) HAVING count(*) <> 2;')),
        ('DELETE FROM w.ran;'), (format('DELETE FROM %s;', register)), ('SET ROLE dba;'), ('\echo <none>'),
        ('DROP TABLE IF EXISTS w.mine_pairs, w.mine_clusters, w.mine_neardup, w.mine_neardup_lists, w.mine CASCADE;'), ('CREATE TABLE w.mine (id int PRIMARY KEY, body text);'),
        ('INSERT INTO w.mine SELECT i, ''one two w'' || i % 7 FROM generate_series(1, 30) i;'), ('SELECT neardup_watch(''w.mine'', 0.6);'), ('CALL neardup_refresh(''w.mine'');');
END
$$;
