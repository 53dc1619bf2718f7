-- Jobs whose tables their owner has written to, changed and exchanged: no write of a user fails, a refresh gives a clear
-- error or goes on, the job can always be ended, and a new one is right.
CREATE SCHEMA elsewhere AUTHORIZATION eve;
SET SESSION AUTHORIZATION eve;
CREATE FUNCTION w.raises() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'a trigger of the owner'; END$$;
CREATE FUNCTION w.swallows() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
RESET SESSION AUTHORIZATION;

-- Does one thing to a table of a job, and says what. Runs as whoever calls, who owns it.
CREATE FUNCTION fuzz.tamper(docs text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    t text;
    other text;
    c record;
    statement text;
BEGIN
    SELECT r.oid::regclass INTO t FROM pg_class r WHERE r.relnamespace = 'w'::regnamespace AND r.relkind = 'r' AND r.relname LIKE replace(docs, '_', '\_') || '\_%' ORDER BY random() LIMIT 1;
    SELECT r.oid::regclass INTO other FROM pg_class r WHERE r.relnamespace = 'w'::regnamespace AND r.relkind = 'r' AND r.relname LIKE replace(docs, '_', '\_') || '\_%' AND r.oid <> t::regclass ORDER BY random() LIMIT 1;
    SELECT quote_ident(attname) AS name, format_type(atttypid, atttypmod) AS type INTO c FROM pg_attribute WHERE attrelid = t::regclass AND attnum > 0 AND NOT attisdropped ORDER BY random() LIMIT 1;
    IF t IS NULL OR c.name IS NULL THEN
        RETURN 'nothing left';
    END IF;
    statement := CASE fuzz.whole(34)
        WHEN 0 THEN format('ALTER TABLE %s DROP COLUMN %s CASCADE', t, c.name)
        WHEN 1 THEN format('ALTER TABLE %s ALTER %s TYPE %s USING NULL', t, c.name, fuzz.one_of('{text,int,bigint,float8,bytea,"text[]",jsonb,uuid,name,boolean}'))
        WHEN 2 THEN format('ALTER TABLE %s ALTER %s TYPE text', t, c.name)
        WHEN 3 THEN format('CREATE TRIGGER odd BEFORE %s ON %s FOR EACH %s EXECUTE FUNCTION w.raises()', fuzz.one_of('{INSERT,UPDATE,DELETE,INSERT OR UPDATE OR DELETE}'), t, fuzz.one_of('{ROW,STATEMENT}'))
        WHEN 4 THEN format('CREATE TRIGGER odd BEFORE %s ON %s FOR EACH ROW EXECUTE FUNCTION w.swallows()', fuzz.one_of('{INSERT,UPDATE,DELETE}'), t)
        WHEN 5 THEN format('CREATE RULE odd AS ON %s TO %s DO INSTEAD %s', fuzz.one_of('{INSERT,UPDATE,DELETE}'), t, fuzz.one_of('{NOTHING,SELECT 1 / 0,DELETE FROM w.empty}'))
        WHEN 6 THEN format('ALTER TABLE %s ADD CHECK (false) NOT VALID', t)
        WHEN 7 THEN format('ALTER TABLE %s RENAME TO %s', t, 'gone' || fuzz.whole(1000000))
        WHEN 8 THEN format('ALTER TABLE %s RENAME %s TO renamed', t, c.name)
        WHEN 9 THEN format('ALTER TABLE %s SET SCHEMA elsewhere', t)
        WHEN 10 THEN format('ALTER TABLE %1$s ENABLE ROW LEVEL SECURITY; ALTER TABLE %1$s FORCE ROW LEVEL SECURITY; CREATE POLICY odd ON %1$s %2$s', t, fuzz.one_of('{USING (false),WITH CHECK (1 / 0 = 1),USING (1 / 0 = 1)}'))
        WHEN 11 THEN format('ALTER TABLE %s RENAME TO swapped; ALTER TABLE %s RENAME TO %s; ALTER TABLE w.swapped RENAME TO %s', t, coalesce(other, t), split_part(t, '.', 2), split_part(coalesce(other, t), '.', 2))
        WHEN 12 THEN format('DROP TABLE %s', t)
        WHEN 13 THEN format('DROP TABLE %1$s; CREATE VIEW %1$s AS SELECT 1 AS id', t)
        WHEN 14 THEN format('DROP TABLE %1$s; CREATE TABLE %1$s (a int)', t)
        WHEN 15 THEN format('ALTER TABLE %s ADD more int NOT NULL DEFAULT 1; ALTER TABLE %1$s ALTER more DROP DEFAULT', t)
        WHEN 16 THEN format('REVOKE ALL ON %s FROM eve', t)
        WHEN 17 THEN format('CREATE INDEX ON %s ((1 / length(%s::text)))', t, c.name)
        WHEN 18 THEN format('CREATE TABLE w.heir%s () INHERITS (%s); INSERT INTO w.heir%1$s SELECT * FROM %2$s LIMIT 5', fuzz.whole(1000000), t)
        WHEN 19 THEN format('TRUNCATE %s', t)
        WHEN 20 THEN format('DELETE FROM %s WHERE random() < 0.5', t)
        WHEN 21 THEN format('INSERT INTO %1$s SELECT * FROM %1$s LIMIT 5', t)
        WHEN 22 THEN (SELECT coalesce(string_agg(format('ALTER TABLE %s DROP CONSTRAINT %I', t, conname), '; '), 'SELECT 1') FROM pg_constraint WHERE conrelid = t::regclass)
        WHEN 23 THEN format('CREATE UNIQUE INDEX ON %s ((true))', t)
        WHEN 24 THEN format('ALTER TABLE w.%s DISABLE TRIGGER ALL', docs)
        WHEN 25 THEN (SELECT coalesce(string_agg(format('DROP TRIGGER %I ON w.%s', tgname, docs), '; '), 'SELECT 1') FROM pg_trigger WHERE tgrelid = ('w.' || docs)::regclass AND random() < 0.7)
        WHEN 26 THEN format('ALTER TABLE %s ALTER %s DROP NOT NULL; UPDATE %1$s SET %2$s = NULL WHERE random() < 0.5', t, c.name)
        -- Values of the right type; the bytes of lists changed a little.
        ELSE CASE WHEN c.type = 'bytea' AND random() < 0.7 THEN format('UPDATE %s SET %s = fuzz.mutated(%2$s)', t, c.name)
            WHEN c.type = 'bigint' OR c.type = 'integer' OR c.type = 'smallint' THEN format('UPDATE %s SET %s = %s WHERE random() < 0.5', t, c.name, fuzz.one_of(ARRAY[c.name || ' + 1', '-1', '0', '32767', c.name || ' * 1000', '-' || c.name]))
            ELSE format('UPDATE %s SET %s = (%s)::%s WHERE random() < 0.5', t, c.name, fuzz.argument(c.type, '', false), c.type) END END;
    BEGIN
        EXECUTE statement;
    EXCEPTION WHEN OTHERS THEN
        RETURN statement || ' (' || SQLERRM || ')';
    END;
    RETURN statement;
END
$$;
CREATE FUNCTION fuzz.is_right(docs text, arguments text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint;
BEGIN
    EXECUTE format('SELECT count(*) FROM ((TABLE w.%1$s_pairs EXCEPT SELECT * FROM near_duplicates(''w.%1$s'', %2$s)) UNION ALL (SELECT * FROM near_duplicates(''w.%1$s'', %2$s) EXCEPT TABLE w.%1$s_pairs)) d', docs, arguments) INTO wrong;
    RETURN wrong = 0;
END
$$;
-- For psql: a job from beginning to end. A line in brackets says what may come of the next statement: "any" error, a
-- "clear" one, or "none".
CREATE FUNCTION fuzz.job_script(seed int, n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    docs text := 'job' || n;
    arguments text;
    watch text;
BEGIN
    PERFORM setseed((seed * 1000::bigint + n) % 1000000 / 1e6);
    arguments := fuzz.one_of(ARRAY['0.6', '0.6', '0.6', '0.5, shingle => 2', '0.6, method => ''cosine''', '0.7, method => ''minhash''', '0.7, method => ''edit''', 'NULL, method => ''imatch''']);
    watch := format('SELECT neardup_watch(''w.%s'', %s%s%s)', docs, arguments, fuzz.one_of(ARRAY['', ', clustering => ''star''', ', max_cluster_size => 3']), fuzz.one_of(ARRAY['', '', ', detect => ''compare''']));
    RETURN QUERY VALUES ('\echo <none>'), (format('CREATE TABLE w.%s (id int PRIMARY KEY, body text);', docs)),
        (format('INSERT INTO w.%s SELECT i, ''one two w'' || i %% 7 || '' w'' || i / 3 FROM generate_series(1, 120) i;', docs)),
        (watch || ';'), (format('CALL neardup_refresh(''w.%s'');', docs)),
        (format('INSERT INTO w.%1$s SELECT i, ''one two w'' || i %% 7 FROM generate_series(200, 210) i; UPDATE w.%1$s SET body = body || '' more'' WHERE id %% 20 = 0;', docs)), (format('CALL neardup_refresh(''w.%s'');', docs)),
        (format('SELECT setseed(%s);', random())), ('\echo <any>');
    FOR k IN 1 .. 1 + fuzz.whole(3) LOOP
        RETURN NEXT format('SELECT ''tampered: '' || fuzz.tamper(%L);', docs);
    END LOOP;
    RETURN QUERY VALUES ('\echo <none>'), (format('INSERT INTO w.%s SELECT i, ''one two w'' || i FROM generate_series(300, 305) i;', docs)), (format('UPDATE w.%s SET body = body || '' again'' WHERE id %% 11 = 0;', docs)),
        (format('UPDATE w.%s SET id = id + 1000 WHERE id = 7;', docs)), (format('DELETE FROM w.%s WHERE id %% 13 = 0;', docs)),
        ('\echo <clear>'), (format('CALL neardup_refresh(''w.%s'');', docs)), (format('CALL neardup_refresh(''w.%s'', batch_rows => 7);', docs)),
        ('\echo <none>'), (format('INSERT INTO w.%s VALUES (400, ''one two three''), (401, ''one two three'');', docs)), (CASE WHEN fuzz.whole(3) = 0 THEN format('TRUNCATE w.%1$s; INSERT INTO w.%1$s VALUES (1, ''one two''), (2, ''one two'');', docs) ELSE '' END),
        ('\echo <clear>'), (format('CALL neardup_refresh(''w.%s'');', docs)),
        -- What others made of the tables may keep them from being dropped; when that is gone, nothing does.
        (format('SELECT neardup_unwatch(''w.%s'');', docs)), ('\echo <none>'), (format('INSERT INTO w.%s VALUES (500, ''one two three'');', docs)),
        ('\echo <any>'), (format('DO $x$DECLARE t record; BEGIN FOR t IN SELECT oid::regclass AS name, relkind FROM pg_class WHERE relnamespace = ''w''::regnamespace AND relname LIKE ''%s\_%%'' AND relkind IN (''r'', ''v'') LOOP EXECUTE format(''DROP %%s %%s CASCADE'', CASE t.relkind WHEN ''r'' THEN ''TABLE'' ELSE ''VIEW'' END, t.name); END LOOP; END$x$;', docs)), (format('SELECT neardup_unwatch(''w.%s'');', docs)),
        ('\echo <none>'), (format('ALTER TABLE w.%s ENABLE TRIGGER ALL;', docs)), (watch || ';'), (format('CALL neardup_refresh(''w.%s'');', docs)), (format('SELECT ''not right'' WHERE NOT fuzz.is_right(%L, %L);', docs, arguments)),
        (format('SELECT neardup_unwatch(''w.%1$s''); DROP TABLE w.%1$s CASCADE;', docs));
END
$$;

-- Rows of the registers of jobs, into which the owner of a database may write: after a restore they come from a file.
-- A role that owns a database tries; what superusers do afterwards must not run anything of its as a superuser.
CREATE FUNCTION fuzz.registers() RETURNS SETOF regclass LANGUAGE sql AS $$
    SELECT c.oid::regclass FROM pg_class c JOIN fuzz.members m ON m.classid = 'pg_class'::regclass AND m.objid = c.oid
    WHERE c.relkind = 'r' AND has_table_privilege('dba', c.oid, 'INSERT') ORDER BY c.relname
$$;
-- One statement that writes to one of them: the row that was there (w.kept), but for a few of its columns.
CREATE FUNCTION fuzz.crafted_row(register regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    -- Where a text of SQL is made of what a row says, this tells as whom it runs.
    canary constant text := fuzz.one_of(ARRAY['w.canary()::text', 'body || w.canary()', 'int4) OR w.canary() = 1 --', 'w.canary()', '''x''::text FROM w.canary() --', 'true; SELECT w.canary(); --', '= ANY (ARRAY(SELECT w.canary())) OR NULL =']);
    names text[];
    parts text[];
BEGIN
    SELECT array_agg(quote_ident(a.attname) ORDER BY attnum), array_agg(CASE
            WHEN random() < 0.7 THEN quote_ident(a.attname)
            WHEN random() < 0.1 THEN 'NULL'
            WHEN a.atttypid = 'regclass'::regtype THEN fuzz.one_of(ARRAY['''w.mine''::regclass', '''w.mine''::regclass', '''w.mine_pairs''::regclass', '''w.mine_clusters''::regclass', '''w.mine_neardup''::regclass', '''w.mine_neardup_lists''::regclass', '0::oid::regclass', '999999::oid::regclass', '''pg_class''::regclass', '''pg_authid''::regclass', '''w.few''::regclass', '''w.numbers''::regclass', '''w.viewed''::regclass'])
            WHEN a.atttypid IN ('jsonb'::regtype, 'json'::regtype) THEN CASE fuzz.whole(3)
                WHEN 0 THEN quote_literal(fuzz.json())
                ELSE format('%I || jsonb_build_object(%L, %s)', a.attname, fuzz.one_of(ARRAY(SELECT key FROM fuzz.keys UNION SELECT jsonb_object_keys(s) FROM w.kept_settings ORDER BY 1)),
                    CASE WHEN random() < 0.7 THEN quote_literal(canary) || '::text' ELSE quote_literal(fuzz.json(1)) || '::jsonb' END) END
            WHEN a.atttypid = 'text'::regtype THEN quote_literal(fuzz.one_of(ARRAY['running', 'done', 'x', '', canary]))
            WHEN a.atttypid = 'timestamptz'::regtype THEN fuzz.one_of(ARRAY['now()', '''infinity''', '''-infinity''', '''epoch'''])
            ELSE fuzz.argument(format_type(a.atttypid, NULL), a.attname, random() < 0.5) END ORDER BY attnum)
    INTO names, parts FROM pg_attribute a WHERE a.attrelid = register AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '';
    RETURN format('INSERT INTO %s(%s) SELECT %s FROM w.kept LIMIT 1', register, array_to_string(names, ', '), array_to_string(parts, ', '));
END
$$;
