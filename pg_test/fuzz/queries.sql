-- Texts of SQL for arguments that are queries, conditions or relations: ones that are meant, ones that break out, and
-- what becomes of both by chance.
CREATE TABLE fuzz.texts_of_sql (no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text, body text);
INSERT INTO fuzz.texts_of_sql(kind, body) SELECT 'pairs', v FROM unnest(ARRAY[
    'SELECT 1, 2, 0.5', 'SELECT 1 AS left_id, 2 AS right_id, 0.5 AS similarity', 'VALUES (1, 2, 0.5), (2, 3, 0.7), (4, 5, 1)', 'TABLE w.watched_pairs',
    'SELECT left_id, right_id, similarity FROM w.watched_pairs', 'SELECT left_id, right_id, similarity FROM near_duplicates(''w.few'', 0.3)',
    'SELECT i AS left_id, i + 1 AS right_id, 0.5::float8 AS similarity FROM generate_series(1, 50) i']) v;
INSERT INTO fuzz.texts_of_sql(kind, body) SELECT 'condition', v FROM unnest(ARRAY[
    'true', 'false', 'id < 3', 'NULL', 'EXISTS (SELECT FROM w.watched_neardup b WHERE b.id = d.id)', 'id IN (SELECT id FROM w.few)', 'd.id % 2 = 0', '"id" OPERATOR(pg_catalog.>) 1']) v;
INSERT INTO fuzz.texts_of_sql(kind, body) SELECT 'relation', v FROM unnest(ARRAY['w.watched_neardup_lists', 'w.few', 'w.docs', 'pg_class', '(SELECT 1) x', 'w.watched_pairs']) v;
-- What breaks out, and what is no query of ours.
INSERT INTO fuzz.texts_of_sql(kind, body) SELECT 'hostile', v FROM unnest(ARRAY[
    'SELECT 1,2,0.5) AS p(left_id,right_id,similarity) UNION ALL SELECT 5e-320::float8, 5e-320::float8, 0.5::float8 FROM (SELECT 1,2,3',
    'SELECT 1,2,0.5) AS p(left_id,right_id,similarity) UNION ALL SELECT 7.5::numeric, 7.5::numeric, 0.5::float8 FROM (SELECT 1,2,3',
    'SELECT 1,2,0.5) AS p UNION ALL SELECT ''x''::text, 5e-320::float8, NULL FROM (SELECT 1,2,3', 'SELECT 1,2,0.5) p(a,b,c); SELECT (1', 'SELECT 1,2,0.5) --', 'SELECT 1,2,0.5) /*', 'SELECT 1,2,0.5 --', 'SELECT 1,2,0.5 /* ', 'SELECT 1,2,0.5;', 'SELECT 1,2,0.5; SELECT 3,4,0.5',
    'false UNION ALL SELECT 5e-320::float8, ''x''::text', 'false UNION ALL SELECT 5e-320::float8, 5e-320::float8', 'false) UNION ALL SELECT (5e-320::float8), (1', 'true LIMIT 1', 'true ORDER BY 1 DESC', 'true GROUP BY 1', 'true FOR UPDATE', 'true; DROP TABLE few', 'true) --', 'true --', 'true /*',
    'false UNION ALL SELECT 1, ''x''', 'false UNION ALL SELECT 1, ''x'', 1', 'false UNION ALL TABLE w.few', 'id = (SELECT 1 / 0)', 'id = ANY (SELECT clusters_of_pairs(''SELECT 1,2,0.5'') IS NULL)', 'asks_again(id::int) IS NULL',
    'w.watched_neardup_lists UNION ALL SELECT ''o'', 5e-320::float8, 1, 1, NULL, NULL', 'w.few WHERE false UNION ALL SELECT ''o''::"char", 1::bigint, 1, 1, ''\x00''::bytea, ARRAY[NULL]::text[]', 'w.watched_neardup_lists; DROP TABLE few',
    'SELECT', '', ' ', ';', ';;', '--', '(', ')', '((', '()', 'SELECT 1', 'SELECT 1,2', 'SELECT 1,2,3,4', 'SELECT', 'SELECT FROM few', 'SELECT NULL,NULL,NULL', 'SELECT NULL::int,NULL::int,NULL::float8', 'SELECT ''a'',''b'',''c''', 'SELECT 1,2,''NaN''::float8', 'SELECT 1,2,''Infinity''::float8', 'SELECT 1,2,-1', 'SELECT 1,1,1',
    'SELECT ROW(1,2),ROW(3,4),0.5', 'SELECT 1::oid,2::oid,0.5', 'SELECT 1.5,2.5,0.5', 'SELECT ''{1}''::int[],''{2}''::int[],0.5', 'SELECT ''a''::name,''b''::name,0.5', 'SELECT 1,2,true', 'SELECT 1,2,''0.5''::text', 'SELECT 1,2,''{}''::jsonb', 'SELECT 1,2,NULL::w.pair', 'SELECT 9223372036854775807,-9223372036854775808,0.5', 'SELECT 1e300,1e300,0.5', 'SELECT void.*, 1, 2 FROM pg_sleep(0) void',
    'SELECT 1,2,0.5 FROM generate_series(1, 1000)', 'SELECT g, g + 1, 0.5 FROM generate_series(1, 100000) g', 'SELECT 1,2,0.5 INTO TEMP x', 'SELECT 1,2,0.5 FOR UPDATE', 'SELECT id,id,0.5 FROM w.few FOR UPDATE', 'TABLE w.few', 'TABLE w.no_columns', 'TABLE pg_authid', 'VALUES (1)', 'VALUES (1,2,0.5) UNION VALUES (2,3,''x'')',
    'WITH x AS (INSERT INTO w.empty VALUES (1, ''x'') RETURNING 1, 2, 0.5) SELECT * FROM x', 'WITH x AS (DELETE FROM w.few RETURNING 1, 2, 0.5) TABLE x', 'INSERT INTO w.empty VALUES (1, ''x'')', 'INSERT INTO w.empty VALUES (1, ''x'') RETURNING 1, 2, 0.5', 'UPDATE w.few SET id = id RETURNING 1,2,0.5', 'DELETE FROM w.few', 'DO $x$BEGIN RAISE ''x''; END$x$', 'COMMIT', 'ROLLBACK', 'BEGIN', 'SAVEPOINT a', 'SET ROLE postgres', 'RESET ROLE', 'RESET SESSION AUTHORIZATION', 'DISCARD ALL', 'COPY w.few TO STDOUT', 'COPY (SELECT 1) TO PROGRAM ''true''', 'EXPLAIN SELECT 1,2,0.5', 'DECLARE c CURSOR FOR SELECT 1,2,0.5', 'FETCH ALL FROM c', 'EXECUTE p', 'PREPARE p AS SELECT 1,2,0.5', 'CALL neardup_refresh(''w.watched'')', 'CREATE TABLE w.made (a int)', 'DROP TABLE w.few', 'DROP TABLE w.watched_pairs', 'TRUNCATE w.few', 'LISTEN x', 'NOTIFY x', 'LOCK w.few', 'VACUUM w.few', 'CHECKPOINT', 'REINDEX TABLE w.indexed', 'SHOW ALL', 'LOAD ''neardup''', 'SECURITY LABEL', 'REFRESH MATERIALIZED VIEW w.unseen',
    'SELECT 1, 1/0, 0.5', 'SELECT 1,2,0.5 FROM pg_cancel_backend(pg_backend_pid()), pg_sleep(0.1)', 'SELECT id, cancels(id)::int, 0.5 FROM w.few', 'SELECT id, length(asks_again(id)), 0.5 FROM w.few', 'SELECT id, length(drops_itself(id)), 0.5 FROM w.few', 'SELECT id, length(writes(id)), 0.5 FROM w.few', 'SELECT id, length(alters(id::int)), 0.5 FROM w.dropped', 'TABLE w.again', 'TABLE w.raising',
    'SELECT cluster_id, id, similarity FROM clusters_of_pairs(''SELECT 1,2,0.5'')', 'SELECT clusters_of_pairs(''SELECT 1,2,0.5''), 1, 2', 'SELECT 1, 2, (SELECT similarity FROM clusters_of_pairs(''SELECT 1,2,0.5'') LIMIT 1)', 'SELECT * FROM cluster_links(''SELECT 1,2,0.5'')', 'SELECT left_id, right_id, similarity FROM near_duplicates(''w.again'', 0.1)', 'SELECT generate_series(1, 3), generate_series(2, 5), 0.5', 'SELECT unnest(ARRAY[1, NULL, 3]), 2, 0.5', 'SELECT sum(1), 2, 0.5', 'SELECT 1,2,0.5 WHERE false', 'SELECT $1, $2, $3', 'SELECT 1,2,0.5 FROM w."a%b ""it''s"""', 'SELECT 1 "left_id", 2 "left_id", 0.5 "left_id"', 'SELECT repeat(''x'', 100000), ''y'', 0.5', E'SELECT 1,2,0.5\n\n--\n', E'SELECT\u00a01,2,0.5', 'SELECT ''%s %n %1$s'', 1, 2', '%s', '%', repeat('(', 5000), repeat('SELECT 1,2,0.5 UNION ALL ', 500) || 'SELECT 1,2,0.5', repeat('SELECT * FROM (', 300) || 'SELECT 1,2,0.5', 'SELECT 1,2,' || repeat('-', 3000) || '0.5', repeat('NOT ', 3000) || 'true', 'SELECT xmin, xmax, 0.5 FROM w.few', 'SELECT ctid, ctid, 0.5 FROM w.few', 'SELECT f, f, 0.5 FROM w.few f', 'SELECT minhash(body), minhash(body), 0.5 FROM w.few', 'SELECT current_setting(''neardup.memory''), set_config(''neardup.memory'', ''1MB'', true), 0.5', 'SELECT ''x''::cstring, ''y''::cstring, 0.5', 'SELECT NULL::record, NULL::record, 0.5', 'SELECT ''x'', ''x''::unknown, 0.5']) v;
-- Pieces to put anywhere.
INSERT INTO fuzz.texts_of_sql(kind, body) SELECT 'piece', v FROM unnest(ARRAY[
    ')', '(', ') --', '--', '/*', '*/', ';', '''', '"', '$$', '\', '%', ' UNION ALL SELECT 5e-320::float8, 5e-320::float8, 0.5::float8', ' UNION ALL SELECT ''x''::text, 1, NULL', ' UNION SELECT 1, 2', ') AS p(left_id,right_id,similarity) UNION ALL SELECT 5e-320::float8, 5e-320::float8, 5e-320::float8 FROM (SELECT 1,2,3',
    ', 1', ', NULL', ' NULL ', '::float8', '::text', '::numeric', '::bigint', ' FROM w.few', ' WHERE 1/0 = 1', ' LIMIT 0', ' LIMIT 1', ' OFFSET 1', ' INTO x', ' FOR UPDATE', ' RETURNING *', '$1', E'\n', ' AND (SELECT cancels(4)) IS NULL', ' AND pg_sleep(5) IS NULL', ', (SELECT max(id) FROM w.endless)', 'WITH x AS (SELECT 1) ', 'EXPLAIN ', 'DISTINCT ', '5e-320::float8', '-1', '9223372036854775807', 'near_duplicates(''w.few'', 0.3)', E'\u0301']) v;

-- A text of SQL for an argument of this name.
CREATE FUNCTION fuzz.query(name text, good bool) RETURNS text LANGUAGE plpgsql AS $$
<<q>>
DECLARE
    kind text := CASE WHEN name IN ('changed', 'others', 'condition') THEN 'condition' WHEN name IN ('lists', 'relation') THEN 'relation' ELSE 'pairs' END;
    made text;
    part int;
BEGIN
    IF NOT good AND random() < 0.6 THEN
        kind := fuzz.one_of('{hostile,hostile,hostile,pairs,condition,relation}');
    END IF;
    SELECT body INTO made FROM fuzz.texts_of_sql t WHERE t.kind = q.kind ORDER BY no
    OFFSET fuzz.whole((SELECT count(*)::int FROM fuzz.texts_of_sql t WHERE t.kind = q.kind)) LIMIT 1;
    IF NOT good AND random() < 0.5 THEN
        FOR part IN 1 .. 1 + fuzz.whole(3) LOOP
            made := fuzz.mutated(made);
        END LOOP;
    END IF;
    RETURN made;
END
$$;
CREATE FUNCTION fuzz.mutated(body text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    place int := fuzz.whole(length(body) + 1);
    other int := place + fuzz.whole(20);
BEGIN
    -- At the ends of words rather than within them.
    IF random() < 0.7 THEN
        place := place + coalesce(length(substring(substr(body, place + 1) FROM '^\w+')), 0);
        other := greatest(other, place);
    END IF;
    RETURN CASE fuzz.whole(5)
        WHEN 0 THEN left(body, place)
        WHEN 1 THEN left(body, place) || substr(body, other + 1)
        WHEN 2 THEN left(body, other) || substr(body, place + 1)
        ELSE left(body, place) || (SELECT t.body FROM fuzz.texts_of_sql t WHERE t.kind = 'piece' ORDER BY no
            OFFSET fuzz.whole((SELECT count(*)::int FROM fuzz.texts_of_sql t WHERE t.kind = 'piece')) LIMIT 1) || substr(body, place + 1) END;
END
$$;
