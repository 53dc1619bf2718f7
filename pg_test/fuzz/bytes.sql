-- Values of the types of the extension: bytes for every receive function and texts for every input function, changed at
-- random; and what can be done with those that are taken.
CREATE VIEW fuzz.types AS SELECT t.oid, t.oid::regtype::text AS name, t.typsend FROM pg_type t JOIN fuzz.members m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid WHERE t.typtype = 'b' AND t.typelem = 0;
CREATE TABLE fuzz.seeds (no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text, bytes bytea, body text);
DO $$
DECLARE
    t record;
    p record;
BEGIN
    FOR t IN SELECT * FROM fuzz.types ORDER BY name LOOP
        FOR p IN SELECT expression FROM fuzz.pool WHERE type = t.name ORDER BY no LOOP
            EXECUTE format('INSERT INTO fuzz.seeds(type, bytes, body) SELECT %L, %s(v), v::text FROM (SELECT (%s)::%s) s(v)', t.name, t.typsend, p.expression, t.name);
        END LOOP;
        IF NOT EXISTS (SELECT FROM fuzz.seeds WHERE type = t.name) THEN
            -- A type that values.sql does not know: bytes of the others will have to do.
            INSERT INTO fuzz.seeds(type, bytes, body) SELECT t.name, bytes, body FROM fuzz.seeds;
        END IF;
        -- Eve's tables of all of them, with the indexes of the server; and one for each class of ours.
        EXECUTE format('SET SESSION AUTHORIZATION eve; CREATE TABLE w.%1$I (no int GENERATED ALWAYS AS IDENTITY, v %2$s, a %2$s[]); RESET SESSION AUTHORIZATION', 'values_' || t.name, t.name);
        FOR p IN SELECT am.amname, c.opcname FROM pg_opclass c JOIN pg_am am ON am.oid = c.opcmethod WHERE c.opcintype = t.oid AND c.opcdefault LOOP
            IF p.amname <> 'signature' THEN
                EXECUTE format('CREATE INDEX ON w.%I USING %s (v)', 'values_' || t.name, p.amname);
            ELSE
                EXECUTE format('SET SESSION AUTHORIZATION eve; CREATE TABLE w.%1$I (no int, v %2$s); CREATE INDEX ON w.%1$I USING signature (v); RESET SESSION AUTHORIZATION', 'indexed_' || t.name, t.name);
            END IF;
        END LOOP;
    END LOOP;
END
$$;

CREATE FUNCTION fuzz.mutated(bytes bytea) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    n int := length(bytes);
    -- Most of what is read with care stands at the beginning.
    place int := fuzz.whole(greatest(CASE WHEN random() < 0.7 THEN least(n, 40) ELSE n END, 1));
    piece bytea := (ARRAY['\x00', '\xff', '\x01', '\x80', '\x7f', '\xffff', '\x0000', '\xffffffff', '\x00000080', '\xffffff7f', '\x000000000000f87f', '\x000000000000f0ff', '\x0100000000000000', '\x0008', '\x0108']::bytea[])[1 + fuzz.whole(15)];
BEGIN
    RETURN CASE fuzz.whole(8)
        WHEN 0 THEN substring(bytes FROM 1 FOR place)
        WHEN 1 THEN bytes || decode(md5(place::text), 'hex')
        WHEN 2 THEN substring(bytes FROM place + 1)
        WHEN 3 THEN substring(bytes FROM 1 FOR place) || substring(bytes FROM place + 1 + fuzz.whole(9))
        WHEN 4 THEN CASE WHEN place < n THEN set_bit(bytes, place * 8::bigint + fuzz.whole(8), fuzz.whole(2)) ELSE bytes END
        ELSE CASE WHEN place + length(piece) <= n THEN overlay(bytes PLACING piece FROM place + 1) ELSE bytes END END;
END
$$;
CREATE FUNCTION fuzz.mutated_value(body text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    place int := CASE WHEN random() < 0.8 THEN fuzz.whole(least(length(body), 80) + 1) ELSE fuzz.whole(length(body) + 1) END;
BEGIN
    RETURN CASE fuzz.whole(7)
        WHEN 0 THEN left(body, place)
        WHEN 1 THEN substr(body, place + 1)
        WHEN 2 THEN left(body, place) || substr(body, place + 1 + fuzz.whole(12))
        WHEN 3 THEN regexp_replace(body, '\d+', fuzz.one_of('{0,1,7,255,1000,-1,65535,9223372036854775807}'), 1, 1 + fuzz.whole(6))
        WHEN 4 THEN regexp_replace(body, '[0-9a-f]', fuzz.one_of('{0,f,7,F}'), 1, 1 + fuzz.whole(60))
        ELSE left(body, place) || fuzz.one_of(ARRAY[':', ',', '<', '>', '-', '0', '1', 'f', 'g', ' ', '.', '99999', '65536', '18446744073709551616', '-1', '+1', 'NaN', 'inf', '1e400', '5e-324', 'e', E'\n', E'\u0301', E'\u0661', 'é', 'empty', 'm0', 'k0', 'v2', 'bits', 'simhash', 'minhash:v1:', 'h1.1', '::', '0x', repeat('f', 5000), '''', '\'])
            || substr(body, place + 1 + CASE WHEN random() < 0.6 THEN fuzz.whole(3) ELSE 0 END) END;
END
$$;
-- A file for COPY with one row of one field.
CREATE FUNCTION fuzz.copy_of(bytes bytea) RETURNS bytea LANGUAGE sql AS $$
    SELECT '\x5047434f50590aff0d0a0000000000000000000001'::bytea || int4send(length(bytes)) || bytes || '\xffff'
$$;

-- Each statement writes its bytes to a file and loads them, or loads a text; what is taken stays for other statements.
CREATE FUNCTION fuzz.add_bytes(seed int, calls int, file text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t record;
    changed bytea;
    body text;
    n int;
    k int;
BEGIN
    PERFORM setseed(seed % 1000000 / 1e6);
    FOR t IN SELECT * FROM fuzz.types ORDER BY name LOOP
        FOR n IN 1 .. calls LOOP
            SELECT s.bytes, s.body INTO changed, body FROM fuzz.seeds s WHERE s.type = t.name ORDER BY no OFFSET fuzz.whole((SELECT count(*)::int FROM fuzz.seeds s WHERE s.type = t.name)) LIMIT 1;
            FOR k IN 1 .. fuzz.whole(3) LOOP
                changed := fuzz.mutated(changed);
            END LOOP;
            IF random() < 0.05 THEN
                changed := (SELECT decode(string_agg(md5(random()::text), ''), 'hex') FROM generate_series(1, fuzz.whole(5)));
            END IF;
            FOR k IN 1 .. fuzz.whole(3) LOOP
                body := fuzz.mutated_value(body);
            END LOOP;
            changed := coalesce(changed, '');
            -- Also as an element of an array, whose function receives a part of a message.
            IF n % 10 = 0 THEN
                changed := '\x0000000100000000'::bytea || int4send(t.oid::int) || '\x0000000200000001'::bytea || int4send(length(changed)) || changed || int4send(length(changed)) || changed;
            END IF;
            INSERT INTO fuzz.statements(part, statement) VALUES
                ('bytes', format('SELECT lo_from_bytea(1000000, %1$L); SELECT lo_export(1000000, %2$L); SELECT lo_unlink(1000000); COPY w.%3$I(%4$s) FROM %2$L (FORMAT binary); SELECT v::text, a::text FROM w.%3$I ORDER BY no DESC LIMIT 1',
                    fuzz.copy_of(changed), file, 'values_' || t.name, CASE WHEN n % 10 = 0 THEN 'a' ELSE 'v' END)),
                ('bytes', format('INSERT INTO w.%I(v) SELECT %L::%s; SELECT v::text FROM w.%1$I ORDER BY no DESC LIMIT 1', 'values_' || t.name, body, t.name));
        END LOOP;
    END LOOP;
END
$$;

-- Then what was taken goes into the pool of arguments and into the indexes.
CREATE FUNCTION fuzz.add_uses() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM fuzz.types ORDER BY name LOOP
        EXECUTE format('INSERT INTO fuzz.pool(type, kind, expression) SELECT %L, ''odd'', quote_literal(v) FROM (SELECT DISTINCT v::text AS v FROM w.%I WHERE v IS NOT NULL AND length(v::text) < 3000) v ORDER BY md5(v), v LIMIT 60',
            t.name, 'values_' || t.name);
        IF to_regclass(format('w.%I', 'indexed_' || t.name)) IS NOT NULL THEN
            EXECUTE format('INSERT INTO fuzz.statements(part, statement) SELECT ''bytes'', format(''INSERT INTO w.%%I VALUES (%%s, %%L)'', %L, no, v) FROM w.%I WHERE v IS NOT NULL ORDER BY no', 'indexed_' || t.name, 'values_' || t.name);
        END IF;
    END LOOP;
END
$$;

-- What a query gives by an index, and without: an error if that differs.
CREATE FUNCTION fuzz.same(query text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    by_index text;
    without text;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
    EXECUTE query INTO by_index;
    PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true), set_config('enable_indexscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
    EXECUTE query INTO without;
    IF by_index IS DISTINCT FROM without THEN
        RAISE 'the index gives %, a sequential scan %', left(by_index, 200), left(without, 200) USING ERRCODE = 'XX999';
    END IF;
END
$$;
-- Searches in all indexes of ours by their operators.
CREATE FUNCTION fuzz.add_searches(seed int, calls int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n int;
    argument text;
BEGIN
    PERFORM setseed(seed % 1000000 / 1e6);
    FOR r IN SELECT i.indrelid::regclass::text AS docs, a.attname, o.amoppurpose, p.oprname, p.oprnamespace::regnamespace AS space,
            CASE p.oprright WHEN 'anyarray'::regtype THEN a.atttypid ELSE p.oprright END::regtype::text AS type
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam AND am.amname = 'signature' JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
            JOIN pg_opclass k ON k.oid = i.indclass[0] JOIN pg_amop o ON o.amopfamily = k.opcfamily JOIN pg_operator p ON p.oid = o.amopopr
        WHERE c.relnamespace = 'w'::regnamespace ORDER BY 1, 2, 3, 4
    LOOP
        FOR n IN 1 .. calls LOOP
            argument := fuzz.argument(r.type, '', random() < 0.3);
            INSERT INTO fuzz.statements(part, statement) VALUES ('searches', format('SELECT fuzz.same(%L)', CASE r.amoppurpose
                WHEN 's' THEN format('SELECT array_agg(ctid ORDER BY ctid) FROM %s WHERE %I OPERATOR(%s.%s) %s', r.docs, r.attname, r.space, r.oprname, argument)
                ELSE format('SELECT array_agg(d) FROM (SELECT %2$I OPERATOR(%3$s.%4$s) %5$s AS d FROM %1$s ORDER BY 1 LIMIT %6$s) x', r.docs, r.attname, r.space, r.oprname, argument, fuzz.one_of('{1,10,1000}')) END));
        END LOOP;
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA fuzz TO PUBLIC;
