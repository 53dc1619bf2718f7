-- Calls of each function with one long argument, junk or not; the others are what their type has here. What they fail with is not compared.
INSERT INTO made(signature, call, fails)
SELECT f.signature, CASE p.prokind WHEN 'p' THEN 'CALL ' ELSE 'SELECT ' END || f.name || '(' || (
        SELECT string_agg(CASE
            WHEN a.n = long.n AND a.n > p.pronargs - p.pronargdefaults AND p.proargnames IS NOT NULL THEN format('%I => %s', p.proargnames[a.n], long.value)
            WHEN a.n = long.n THEN long.value
            WHEN p.proargnames[a.n] = 'method' AND a.type = 'jsonb'::regtype THEN '''{"method": "edit"}'''
            ELSE coalesce((SELECT v.value FROM (VALUES
                ('regclass', '''same'''), ('double precision', '0.8'), ('integer', '3'), ('bigint', '3'), ('boolean', 'true'), ('jsonb', '''{}'''), ('text', '''some text'''),
                ('anyelement', 'NULL::bigint'), ('text[]', '''{a,b}'''), ('bigint[]', '''{1,2}'''), ('tsvector', '''a b'''), ('bytea', '''\x01'''), ('cstring', '''x'''),
                ('text_ball', '''<jaccard:words:k1:multiset:0.8:"some text">''')) v(type, value)
             WHERE v.type = format_type(a.type, NULL)), 'NULL::' || format_type(a.type, NULL)) END, ', ' ORDER BY a.n)
        FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n)
        WHERE a.n <= p.pronargs - p.pronargdefaults OR a.n = long.n OR a.n < long.n AND p.proargnames IS NULL) || ')', '*'
FROM functions f JOIN pg_proc p ON p.oid = f.signature::regprocedure, LATERAL (
    SELECT a.n, l.value FROM unnest(p.proargtypes) WITH ORDINALITY a(type, n) JOIN (VALUES
        ('text', '(SELECT text FROM big)'), ('text', '(SELECT ''<'' || short FROM big)'),
        ('cstring', '(SELECT one FROM big)::cstring'), ('cstring', '(SELECT ''<jaccard:words:k1:multiset:0.8:"'' || short FROM big)::cstring'),
        ('jsonb', '(SELECT jsonb_build_object(''x'', one) FROM big)'), ('jsonb', '(SELECT jsonb_build_object(''method'', one) FROM big)'),
        ('jsonb', '(SELECT jsonb_object_agg(w, 1) FROM (SELECT DISTINCT unnest(words[:20000]) FROM vals) w(w))'), ('jsonb', '(SELECT to_jsonb(numbers) FROM vals)'),
        ('text[]', '(SELECT words FROM vals)'), ('bigint[]', '(SELECT numbers FROM vals)'), ('uuid[]', '(SELECT uuids FROM vals)'), ('tsvector', '(SELECT tsvector FROM vals)'),
        ('bytea', '(SELECT convert_to(text, ''UTF8'') FROM big)'), ('bytea', '(SELECT ''\x01''::bytea || convert_to(short, ''UTF8'') FROM big)'),
        ('anyarray', '(SELECT numbers FROM vals)'), ('bit varying', '(SELECT repeat(''1'', 1000000)::varbit)'), ('anyelement', '(SELECT one FROM big)'),
        ('bytea', '(SELECT carried FROM vals)'), ('text_ball', '(SELECT text_ball FROM big)'), ('text_runs', '(SELECT text_runs FROM big)')
    ) l(type, value) ON l.type = format_type(a.type, NULL)
) long
WHERE NOT 'internal'::regtype = ANY (p.proargtypes) AND p.prokind <> 'a';
