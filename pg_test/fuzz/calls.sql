-- Calls of everything that the extension has, by the catalogue: functions, procedures, aggregates, operators, casts.
CREATE FUNCTION fuzz.call(f pg_proc) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    names text[] := ARRAY(SELECT a.name FROM unnest(f.proargnames) WITH ORDINALITY a(name, n) WHERE f.proargmodes IS NULL OR f.proargmodes[n] IN ('i', 'b', 'v') ORDER BY n);
    required int := f.pronargs - f.pronargdefaults;
    -- How many of ten arguments are odd.
    odd int := (ARRAY[0, 1, 2, 2, 3, 5, 10])[1 + fuzz.whole(7)];
    arguments text[] := '{}';
    named bool := false;
    good bool;
    relation text;
    call text;
    n int;
BEGIN
    FOR n IN 1 .. f.pronargs LOOP
        good := fuzz.whole(10) >= odd;
        IF n > required AND random() < 0.6 THEN
            named := true;
            CONTINUE;
        END IF;
        call := fuzz.argument(format_type(f.proargtypes[n - 1], NULL), coalesce(names[n], ''), good);
        -- Ids of the type that the relation's are of, where that has some by this name.
        IF f.proargtypes[n - 1] = 'regclass'::regtype THEN
            SELECT a.attrelid::regclass::text INTO relation FROM fuzz.pool p JOIN pg_attribute a ON p.expression = quote_literal(a.attrelid::regclass::text) AND a.attname = 'id'
            WHERE p.type = 'regclass' AND format('(%s)::regclass', p.expression) = call;
        ELSIF good AND f.proargtypes[n - 1] = 'anyelement'::regtype AND relation IS NOT NULL THEN
            call := format('(SELECT id FROM %s LIMIT 0)', relation);
        END IF;
        arguments := arguments || CASE WHEN named THEN format('%I => %s', names[n], call) ELSE call END;
    END LOOP;
    call := format('%s(%s)', f.oid::regproc, array_to_string(arguments, ', '));
    IF f.prokind = 'p' THEN
        RETURN 'CALL ' || call;
    ELSIF f.prorettype = 'void'::regtype OR f.prorettype = 'trigger'::regtype THEN
        RETURN 'SELECT ' || call;
    END IF;
    RETURN CASE fuzz.whole(8)
        WHEN 0 THEN format('SELECT %s LIMIT 1', call)
        WHEN 1 THEN format('SELECT sum(length(r::text)) FROM generate_series(1, 2), LATERAL %s r', call)
        WHEN 2 THEN format('SELECT (SELECT count(*) FROM (SELECT %s LIMIT 1) x) FROM generate_series(1, 3)', call)
        WHEN 3 THEN format('DECLARE c CURSOR WITH HOLD FOR SELECT %s; FETCH 1 FROM c; CLOSE c', call)
        ELSE format('SELECT sum(length(r::text)) FROM %s r', call) END;
END
$$;

-- Settings that a call may come upon.
CREATE FUNCTION fuzz.settings() RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN random() < 0.8 THEN '' ELSE fuzz.one_of(ARRAY['SET LOCAL neardup.memory = ''1MB''; ', 'SET LOCAL neardup.threads = 1; ', 'SET LOCAL neardup.threads = 7; ', 'SET LOCAL work_mem = ''64kB''; ', 'SET LOCAL DateStyle = ''German''; ',
        'SET LOCAL search_path = pg_temp; ', 'SET LOCAL neardup.progress = on; ', 'SET LOCAL temp_file_limit = 0; ', 'SET LOCAL extra_float_digits = -15; ', 'SET LOCAL bytea_output = escape; ', 'SET LOCAL transaction_read_only = on; ', 'SET LOCAL client_encoding = LATIN1; ', 'SET LOCAL default_toast_compression = pglz; ', 'SET LOCAL lock_timeout = 1; ',
        'SELECT set_config(name, ''on'', true) FROM pg_settings WHERE name IN (''force_parallel_mode'', ''debug_parallel_query''); ']) END
$$;

CREATE VIEW fuzz.members AS SELECT classid, objid FROM pg_depend d JOIN pg_extension e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e' AND e.extname = 'neardup';
CREATE VIEW fuzz.functions AS
    SELECT p.oid, p.oid::regprocedure::text AS signature, p AS f, 'internal'::regtype = ANY (p.proargtypes) AS internal
    FROM pg_proc p JOIN fuzz.members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid;

-- So many calls of each function; more of those that have more ways to be called.
CREATE FUNCTION fuzz.add_calls(seed int, calls int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n int;
    l text;
    m text;
BEGIN
    PERFORM setseed(seed % 1000000 / 1e6);
    FOR r IN SELECT * FROM fuzz.functions ORDER BY signature LOOP
        IF r.internal THEN
            INSERT INTO fuzz.statements(part, statement) VALUES ('calls', format('SELECT %s(%s)', (r.oid)::regproc, (SELECT string_agg('NULL', ', ') FROM unnest((r.f).proargtypes))));
            CONTINUE;
        END IF;
        FOR n IN 1 .. CASE WHEN (r.f).prolang = (SELECT oid FROM pg_language WHERE lanname = 'internal') THEN 1 + calls / 20 ELSE least(calls, 3 + calls * (r.f).pronargs / 6) END LOOP
            INSERT INTO fuzz.statements(part, statement) VALUES ('calls', fuzz.settings() || fuzz.call(r.f));
        END LOOP;
    END LOOP;
    FOR r IN SELECT o.*, o.oid::regoperator::text AS name FROM pg_operator o JOIN fuzz.members m ON m.classid = 'pg_operator'::regclass AND m.objid = o.oid ORDER BY name LOOP
        FOR n IN 1 .. 1 + calls / 10 LOOP
            l := CASE WHEN r.oprleft <> 0 THEN fuzz.argument(format_type(r.oprleft, NULL), '', random() < 0.5) ELSE '' END;
            m := fuzz.argument(format_type(r.oprright, NULL), '', random() < 0.5);
            INSERT INTO fuzz.statements(part, statement) VALUES ('calls', format('SELECT %s OPERATOR(%s.%s) %s', l, r.oprnamespace::regnamespace, r.oprname, m));
        END LOOP;
    END LOOP;
    FOR r IN SELECT c.* FROM pg_cast c JOIN fuzz.members m ON m.classid = 'pg_cast'::regclass AND m.objid = c.oid ORDER BY castsource::regtype::text, casttarget::regtype::text LOOP
        FOR n IN 1 .. 1 + calls / 10 LOOP
            INSERT INTO fuzz.statements(part, statement) VALUES ('calls', format('SELECT CAST(%s AS %s%s)::text', fuzz.argument(format_type(r.castsource, NULL), '', random() < 0.5), format_type(r.casttarget, NULL),
                CASE WHEN r.casttarget IN ('bit'::regtype, 'varbit'::regtype) AND random() < 0.5 THEN fuzz.one_of('{(1),(64),(2000)}') ELSE '' END));
        END LOOP;
    END LOOP;
END
$$;

-- Queries that break out: for every argument that is a text of SQL, all of the list once, and what becomes of them by
-- chance. All else of the call is good.
CREATE FUNCTION fuzz.add_queries(seed int, calls int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n int;
BEGIN
    PERFORM setseed(seed % 1000000 / 1e6);
    FOR r IN SELECT f.*, a.name, a.name IN ('pairs', 'changed', 'others', 'condition', 'lists', 'query') AS sql
        FROM fuzz.functions f, unnest((f).proargnames[1:(f).pronargs]) WITH ORDINALITY a(name, place)
        WHERE (a.name IN ('pairs', 'changed', 'others', 'condition', 'lists', 'query') OR a.name ~ '_column$' OR a.name IN ('keep', 'tokenizer'))
            AND (f).proargtypes[a.place - 1] = 'text'::regtype AND NOT internal ORDER BY signature, a.place
    LOOP
        INSERT INTO fuzz.statements(part, statement)
        SELECT 'queries', fuzz.query_call(r.f, r.name, t.body) FROM fuzz.texts_of_sql t WHERE t.kind <> 'piece' AND (r.sql OR random() < 0.05) ORDER BY no;
        FOR n IN 1 .. CASE WHEN r.sql THEN calls ELSE 3 END LOOP
            INSERT INTO fuzz.statements(part, statement) VALUES ('queries', fuzz.query_call(r.f, r.name, fuzz.mutated(fuzz.query(r.name, random() < 0.2))));
        END LOOP;
    END LOOP;
END
$$;
-- A call with this text for one argument.
CREATE FUNCTION fuzz.query_call(f pg_proc, name text, query text) RETURNS text LANGUAGE sql AS $$
    SELECT format('SELECT %s FROM %s(%s) r', CASE WHEN f.prorettype = 'void'::regtype THEN 'count(*)' ELSE 'sum(length(r::text))' END, f.oid::regproc, string_agg(format('%I => %s', a.name,
            CASE
                WHEN a.name = query_call.name THEN quote_literal(CASE a.name WHEN 'tokenizer' THEN 'tsearch:' ELSE '' END || query)
                WHEN f.proargtypes[n - 1] = 'text'::regtype AND a.name IN ('pairs', 'changed', 'others', 'condition', 'lists', 'query') THEN quote_literal(fuzz.query(a.name, true))
                WHEN f.proargtypes[n - 1] = 'regclass'::regtype THEN quote_literal('w.few')
                WHEN f.proargtypes[n - 1] = 'jsonb'::regtype THEN quote_literal('{}')
                WHEN f.proargtypes[n - 1] = 'anyelement'::regtype AND 'docs' = ANY (f.proargnames) THEN 'NULL::int'
                WHEN f.proargtypes[n - 1] = 'anyelement'::regtype THEN fuzz.one_of('{NULL::text,NULL::text,NULL::numeric,NULL::uuid,NULL::int,NULL::bigint}')
                WHEN a.name = 'method' THEN quote_literal('jaccard')
                ELSE fuzz.argument(format_type(f.proargtypes[n - 1], NULL), a.name, true) END), ', ' ORDER BY n))
    FROM unnest(f.proargnames[1:f.pronargs]) WITH ORDINALITY a(name, n)
    WHERE n <= f.pronargs - f.pronargdefaults OR a.name = query_call.name
$$;
