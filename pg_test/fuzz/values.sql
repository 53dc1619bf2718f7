-- What arguments are picked from: expressions by type, and for texts by what they say. All depends on setseed alone.
CREATE TABLE fuzz.pool (no int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, type text NOT NULL, kind text NOT NULL, expression text NOT NULL);
CREATE INDEX ON fuzz.pool (type, kind);
CREATE FUNCTION fuzz.whole(below int) RETURNS int LANGUAGE sql AS 'SELECT floor(random() * below)::int';
CREATE FUNCTION fuzz.one_of(choices text[]) RETURNS text LANGUAGE sql AS 'SELECT choices[1 + fuzz.whole(cardinality(choices))]';
-- An expression of the pool; NULL where there is none.
CREATE FUNCTION fuzz.pick(type text, kind text) RETURNS text LANGUAGE sql AS $$
    SELECT p.expression FROM fuzz.pool p WHERE p.type = pick.type AND p.kind = pick.kind ORDER BY p.no
    OFFSET fuzz.whole((SELECT count(*)::int FROM fuzz.pool p WHERE p.type = pick.type AND p.kind = pick.kind)) LIMIT 1
$$;

INSERT INTO fuzz.pool(type, kind, expression)
SELECT t, 'odd', v FROM (VALUES
    ('integer', '{0,1,-1,2,3,5,64,1000,1001,2147483647,-2147483648,65535,65536,100000}'::text[]),
    ('bigint', '{0,1,-1,2,10,9223372036854775807,-9223372036854775808,4294967296,2147483648,1000000}'),
    ('smallint', '{0,1,-1,32767,-32768}'),
    ('double precision', '{0,-0,1,-1,0.5,0.8,1.0000000000000002,0.9999999999999999,NaN,Infinity,-Infinity,5e-320,2.2e-308,1.7e308,-1e300,1e-9,0.1,0.3,3,64}'),
    ('real', '{0,0.5,NaN,Infinity,1e-45}'),
    ('numeric', '{0,0.5,NaN,Infinity,7.5,1e1000}'),
    ('boolean', '{true,false}'),
    ('oid', '{0,1,999999,4294967295,1259}'),
    ('"char"', '{"",o,s,x,w,\\200}'),
    ('uuid', '{00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}'),
    ('text[]', ARRAY['{}', '{NULL}', '{a}', '{the,of,and}', '[5:6]={a,b}', '{{a,b},{c,d}}', '{"",NULL," "}', '{"a b","é"}', '[-2147483648:-2147483647]={x,y}']),
    ('bigint[]', ARRAY['{}', '{NULL}', '{1}', '{1,2,3}', '{-9223372036854775808,9223372036854775807}', '[7:8]={1,2}', '{{1,2},{3,4}}', '{{{1}}}', '{1,NULL,1,NULL}', '[2147483640:2147483641]={1,1}', '{0,0,0,0}']),
    ('integer[]', ARRAY['{}', '{NULL}', '{1,2}', '{{1},{2}}']),
    ('uuid[]', ARRAY['{}', '{NULL}', '{00000000-0000-0000-0000-000000000000}', '[3:4]={00000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff}', '{{00000000-0000-0000-0000-000000000000}}']),
    ('double precision[]', ARRAY['{}', '{NULL}', '{0.4,0.6}', '{0.5}', '{NaN,NaN}', '{1,0}', '{-1,2}', '{Infinity}', '{{0.4,0.6}}', '[0:1]={0.4,0.6}', '{0.5,0.8,0.9,NULL}', '{5e-320,0.5}', '{1,1,1,1}']),
    ('tsvector', ARRAY['', 'a b c', 'a:1 b:2 c:3', 'a:1,2,3,16383A b:16383D', 'a:1 b c:1']),
    ('bit', ARRAY['', '0', '1', '01010101', repeat('1', 64), repeat('01', 64), repeat('0', 1024), repeat('1', 1025)]),
    ('bit varying', ARRAY['', '0', '1', '01010101', repeat('1', 64), repeat('01', 64), repeat('0', 1024), repeat('1', 1025)])
) p(t, vs), unnest(vs) v;
UPDATE fuzz.pool SET expression = format('%L', expression);
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'bigint[]', 'odd', v FROM unnest(ARRAY['ARRAY(SELECT generate_series(1, 20000)::bigint)', 'array_fill(7::bigint, ARRAY[3000])', 'array_fill(NULL::bigint, ARRAY[10, 10])', 'shingles(repeat(''a b '', 500))']) v
UNION ALL SELECT 'text[]', 'odd', v FROM unnest(ARRAY['words(repeat(''a b '', 5000))', 'array_fill(repeat(''x'', 3000), ARRAY[300])', 'ARRAY(SELECT ''w'' || g FROM generate_series(1, 5000) g)']) v
UNION ALL SELECT 'uuid[]', 'odd', v FROM unnest(ARRAY['ARRAY(SELECT md5(g::text)::uuid FROM generate_series(1, 5000) g)', 'sentence_signatures(repeat(''A sentence of seven words is here. '', 20))']) v
UNION ALL SELECT 'tsvector', 'odd', v FROM unnest(ARRAY['to_tsvector(''simple'', repeat(''a b c d '', 9000))']) v;

-- Values that a call may work with.
INSERT INTO fuzz.pool(type, kind, expression) VALUES
    ('integer', 'good', '2'), ('integer', 'good', '16'), ('integer', 'good', '64'), ('integer', 'good', '1'), ('integer', 'good', '5'),
    ('bigint', 'good', '10'), ('bigint', 'good', '1'), ('bigint', 'good', '1000000'), ('smallint', 'good', '1'), ('boolean', 'good', 'true'), ('boolean', 'good', 'false'),
    ('double precision', 'good', '0.5'), ('double precision', 'good', '0.8'), ('double precision', 'good', '1'), ('double precision', 'good', '0.05'), ('double precision', 'good', '3'),
    ('text[]', 'good', '''{one,two,three}'''), ('bigint[]', 'good', '''{1,2,3}'''), ('bigint[]', 'good', '''{2,3,9}'''), ('uuid[]', 'good', '''{00000000-0000-0000-0000-000000000000}'''),
    ('double precision[]', 'good', '''{0.5,0.8}'''), ('double precision[]', 'good', '''{0.4,0.6}'''), ('tsvector', 'good', '''a:1 b:2 c:3'''), ('bit', 'good', 'repeat(''01'', 32)'), ('bit varying', 'good', 'repeat(''01'', 32)'),
    ('oid', 'good', '1259'), ('"char"', 'good', '''s'''), ('uuid', 'good', '''00000000-0000-0000-0000-000000000000''');

-- Relations.
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'regclass', CASE WHEN relkind IN ('r', 'v', 'm', 'p') AND relname NOT IN ('no_columns', 'raising', 'raising_id', 'endless') THEN 'good' ELSE 'odd' END, format('%L', c.oid::regclass)
FROM pg_class c WHERE relnamespace = 'w'::regnamespace ORDER BY relname;
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'regclass', 'odd', format('%L', v)
FROM unnest(ARRAY['0', '999999', '4294967295', 'pg_class', 'pg_am', 'pg_statistic', 'pg_authid', 'pg_class_oid_index', 'information_schema.tables', 'pg_stats', 'fuzz.results', 'pg_temp.temporary']) v
UNION ALL SELECT 'regclass', 'odd', format('%L::oid', reltoastrelid) FROM pg_class WHERE oid = 'w.docs'::regclass;

-- Texts: documents, names of columns, words that arguments know, whatever else.
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'text', 'document', format('(SELECT body FROM w.texts WHERE no = %s)', no) FROM w.texts
UNION ALL SELECT 'text', 'document', v FROM unnest(ARRAY['''one two three four''', '''one two three four five''', '''A sentence of a few words. And another one, longer than that.''']) v;
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'text', 'column', format('%L', v) FROM unnest(ARRAY['id', 'body', 'site', 'numbers', 'tokens', 'lexemes', 'page', 'ctid', 'tableoid', 'xmin', 'oid', 'relname', '', ' ', 'Id', '"id"', 'id::text',
    'id, body', 'id) FROM w.few --', 'a $text', 'the %id', '........pg.dropped.1........', repeat('n', 100), '*', 'm', 's', 'v', 'c', 'b', 'x', 'a', 'few', 'longest', 'shortest', 'first', 'id desc', 'body)--', E'\u0301', '1', 'NULL']) v;
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'text', 'word', format('%L', v) FROM unnest(ARRAY['jaccard', 'cosine', 'dice', 'overlap', 'containment', 'edit', 'tlcs', 'lcs', 'minhash', 'simhash', 'shingling', 'combined', 'imatch', 'spotsigs', 'exact_text', 'title',
    'repeatability', 'exact_code', 'shingles', 'words', 'chars', 'whitespace', 'html', 'tsearch:simple', 'tsearch:english', 'tsearch:', 'tsearch:a.b.c.d', 'tsearch:"', 'tsearch:pg_catalog.simple', 'tsearch:simple''); DROP TABLE few; --',
    'connected', 'star', 'perhaps_similar', 'sentences', 'leaders', 'triggers', 'compare', 'longest', 'shortest', 'most_central', 'newest', 'first', 'watch', 'unwatch', 'step', 'broder', 'google', 'magic', '', 'JACCARD', ' jaccard']) v;
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'text', 'odd', format('%L', v) FROM unnest(ARRAY['%', '%s%n', '$1', '$$', '''', '"', '\', E'\\x', ';', '--', '/*', E'\u0301', repeat('x', 70), '{}', '0', '-1', 'NULL', 'w.few', '"w"."few"', 'pg_catalog.pg_class', 'no_such', 'a.b.c', E'\n', E'\u202e',
    E'\U0010ffff', '<p>', 'http://[', 'http://x/%zz', '999999']) v;
-- Words that arguments by this name understand.
CREATE TABLE fuzz.words (parameter text, value text);
INSERT INTO fuzz.words SELECT p, v FROM (VALUES
    ('method', '{jaccard,cosine,dice,overlap,containment,edit,tlcs,lcs,minhash,simhash,shingling,combined,imatch,spotsigs,exact_text,title,repeatability,exact_code}'::text[]),
    ('features', '{imatch,shingles,spotsigs}'), ('tokenizer', '{words,chars,whitespace,html,tsearch:simple}'), ('clustering', '{connected,star,perhaps_similar}'),
    ('keep', '{longest,shortest,first,newest}'), ('preset', '{broder,google}'), ('detect', '{triggers,compare}'), ('action', '{watch,unwatch,step}'),
    ('id_column', '{id}'), ('text_column', '{body}'), ('site_column', '{site,id}')) k(p, vs), unnest(vs) v;

-- Types that a polymorphic argument may have.
INSERT INTO fuzz.pool(type, kind, expression)
SELECT 'anyelement', CASE WHEN n <= 8 THEN 'good' ELSE 'odd' END, v FROM unnest(ARRAY['NULL::int', 'NULL::text', 'NULL::bigint', 'NULL::uuid', '1', '''x''::text', 'NULL::smallint', 'NULL::numeric',
    'NULL', '''x''', 'NULL::void', 'NULL::record', 'ROW(1, ''a'')', 'NULL::w.pair', '(1, ''a'')::w.pair', 'NULL::w.few', 'NULL::cstring', '''x''::cstring', 'NULL::unknown', 'NULL::w.mood', '''ok''::w.mood', 'NULL::w.small', '7::w.small',
    'NULL::w.long_text', 'NULL::int4range', '''[1,3)''::int4range', 'NULL::int4multirange', 'NULL::int[]', '''{1,NULL}''::int[]', 'NULL::json', '''{}''::json', 'NULL::jsonb', 'NULL::xml', 'NULL::point', 'NULL::float8', '5e-320::float8',
    '''NaN''::float8', '7.5::numeric', 'NULL::bytea', 'NULL::name', 'NULL::"char"', 'NULL::char(3)', 'NULL::varchar(2)', 'NULL::bit(3)', 'NULL::date', '''infinity''::timestamptz', 'NULL::interval', 'NULL::tid', 'NULL::xid', 'NULL::oid', 'NULL::regclass',
    'NULL::pg_lsn', 'NULL::inet', 'NULL::money', 'NULL::tsquery', 'NULL::refcursor', 'NULL::bool', 'NULL::anyelement', 'NULL::internal', 'NULL::trigger', 'NULL::pg_node_tree', 'NULL::aclitem', 'NULL::box', 'NULL::minhash_sketch', 'NULL::text_ball',
    'NULL::w.few[]', 'NULL::int2vector', 'NULL::event_trigger', 'NULL::index_am_handler', 'repeat(''x'', 100000)']) WITH ORDINALITY v(v, n);

-- Values of the types of the extension.
INSERT INTO fuzz.pool(type, kind, expression)
SELECT t, k, v FROM (VALUES
    ('minhash_sketch', 'good', ARRAY['minhash(''one two three four'', 2, 16)', 'minhash(''one two three five'', 2, 16)', 'minhash('''', 2, 16)']),
    ('minhash_sketch', 'odd', ARRAY['minhash(''a'', 1, 1)', 'minhash(''one two three four'')', 'minhash(''{1,2,3}''::bigint[], 1, 2048)', 'minhash(''a:1''::tsvector, 1000)', 'minhash(''{}''::text[], 1, 2, -9223372036854775808)', '''minhash:v1:words:h255.255:k5:seed1:m2:01020304ffffffff''']),
    ('simhash_sketch', 'good', ARRAY['simhash(''one two three four'')', 'simhash(''one two three five'')', 'simhash('''')']),
    ('simhash_sketch', 'odd', ARRAY['simhash(''a'', 1024)', 'simhash(''{1,2}''::bigint[], 128)', 'neardup_internal.simhash_from_bits(repeat(''1'', 64)::bit(64))', '''simhash:v1:words:h9.9:k1000:0123456789abcdef''']),
    ('minhash_ball', 'good', ARRAY['near(minhash(''one two three four'', 2, 16), 0.5)']),
    ('minhash_ball', 'odd', ARRAY['near(minhash(''a'', 1, 1), 5e-320)', 'near(minhash('''', 2, 16), 1)', 'near(minhash(''one two'', 1, 2048), 0.0001)']),
    ('simhash_ball', 'good', ARRAY['near(simhash(''one two three four''), 3)']),
    ('simhash_ball', 'odd', ARRAY['near(simhash(''a'', 1024), 1023)', 'near(simhash(''''), 0)']),
    ('text_ball', 'good', ARRAY['near(''one two three four'', 0.5)', 'near(''one two three five'', 0.2, method => ''containment'')', 'near(''{1,2,3}''::int[], 0.5)', 'near(''{one,two}''::text[], 0.5)', 'near(''one:1 two:2''::tsvector, 0.5)', 'near(''one two'', 0.3, method => ''edit'')']),
    ('text_ball', 'odd', ARRAY['near('''', 0.001)', 'near(repeat(''a b c '', 3000), 1, 1000, true, ''chars'', ''overlap'')', 'near(''{}''::bigint[], 5e-320)', '''<edit:5e-320:"">''', '''<dice:numbers:k1000:set:1:[9223372036854775807]>'''])
) p(t, k, vs), unnest(vs) v;

-- Keys of JSON that anything of ours reads: options of the methods, by their hints, and keys in the bodies of functions.
CREATE TABLE fuzz.keys (key text PRIMARY KEY);
DO $$
DECLARE
    method text;
    hint text;
BEGIN
    FOR method IN SELECT value FROM fuzz.words WHERE parameter = 'method' LOOP
        BEGIN
            PERFORM near_duplicates('w.few', options => '{"no such": 1}', method => method);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            INSERT INTO fuzz.keys SELECT key FROM regexp_split_to_table(substring(hint FROM 'ptions[^:]*: ([^.]*)\.'), ', ') key WHERE key ~ '^\w+$' ON CONFLICT DO NOTHING;
        END;
    END LOOP;
    FOR method IN SELECT value FROM fuzz.words WHERE parameter = 'features' LOOP
        BEGIN
            PERFORM partial_duplicates('w.few', options => '{"no such": 1}', features => method);
        EXCEPTION WHEN OTHERS THEN
            GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
            INSERT INTO fuzz.keys SELECT key FROM regexp_split_to_table(substring(hint FROM 'ptions[^:]*: ([^.]*)\.'), ', ') key WHERE key ~ '^\w+$' ON CONFLICT DO NOTHING;
        END;
    END LOOP;
END
$$;
INSERT INTO fuzz.keys SELECT m[1] FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e', regexp_matches(p.prosrc, '->>?''(\w+)''', 'g') m ON CONFLICT DO NOTHING;

CREATE FUNCTION fuzz.json(depth int DEFAULT 0) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    json text;
BEGIN
    CASE fuzz.whole(CASE WHEN depth = 0 THEN 30 WHEN depth > 2 THEN 12 ELSE 14 END)
        WHEN 0 THEN RETURN fuzz.one_of('{0,-1,1,2,1e400,-9223372036854775809,18446744073709551616,0.5,5e-320,1.0}');
        WHEN 1 THEN RETURN fuzz.one_of('{0.5,0.1,0.9,3,16,64}');
        WHEN 2 THEN RETURN fuzz.one_of('{true,false,null}');
        WHEN 3 THEN RETURN to_json(fuzz.one_of(ARRAY['', 'x', 'the', '1', E'\u0301', '"', repeat('y', 1000), 'w.few', '0', 'true']));
        WHEN 4 THEN RETURN to_json(fuzz.one_of(ARRAY(SELECT value FROM fuzz.words ORDER BY 1)));
        WHEN 5 THEN RETURN CASE WHEN depth = 0 THEN repeat('[', 3000) || repeat(']', 3000) ELSE '[]' END;
        WHEN 6 THEN RETURN CASE WHEN depth = 0 THEN repeat('{"a":', 200) || '1' || repeat('}', 200) ELSE '{}' END;
        WHEN 7 THEN RETURN '[1, "a", null, [2]]';
        WHEN 8, 9, 10, 11 THEN RETURN fuzz.one_of('{1,2,3,10,100}');
        WHEN 12 THEN RETURN '[' || fuzz.json(depth + 1) || ', ' || fuzz.json(depth + 1) || ']';
        ELSE
            SELECT string_agg(format('%s: %s', to_json(fuzz.one_of(keys)), fuzz.json(depth + 1)), ', ')
            INTO json FROM (SELECT ARRAY(SELECT key FROM fuzz.keys ORDER BY 1)) k(keys), generate_series(1, 1 + fuzz.whole(3));
            RETURN '{' || json || '}';
    END CASE;
END
$$;

-- An argument, as an expression. Texts by the names of their parameters.
CREATE FUNCTION fuzz.argument(type text, name text, good bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    kind text := CASE WHEN good THEN 'good' ELSE 'odd' END;
    expression text;
BEGIN
    IF NOT good AND random() < 0.08 THEN
        RETURN format('NULL::%s', CASE type WHEN 'anyelement' THEN 'int' ELSE type END);
    END IF;
    -- It has no other value.
    IF type LIKE '%neardup_internal' THEN
        RETURN 'NULL::' || type;
    END IF;
    IF type IN ('anyelement', 'anynonarray', 'anycompatible') THEN
        RETURN fuzz.pick('anyelement', kind);
    ELSIF type IN ('json', 'jsonb') THEN
        RETURN CASE WHEN good THEN '''{}''' ELSE quote_literal(fuzz.json()) END || '::' || type;
    ELSIF type IN ('text', 'cstring', 'character varying') THEN
        kind := CASE
            WHEN NOT good AND random() < 0.3 THEN fuzz.one_of('{document,column,word,odd,query}')
            WHEN name ~ '^(pairs|query|changed|others|condition|lists)$' THEN 'query'
            WHEN EXISTS (SELECT FROM fuzz.words WHERE parameter = name) THEN CASE WHEN good THEN 'known' WHEN name ~ 'column$' THEN 'column' ELSE 'word' END
            WHEN name ~ 'column$' THEN 'column'
            ELSE 'document' END;
        RETURN CASE kind
            WHEN 'known' THEN quote_literal(fuzz.one_of(ARRAY(SELECT value FROM fuzz.words WHERE parameter = name ORDER BY 1)))
            WHEN 'query' THEN quote_literal(fuzz.query(name, good))
            ELSE fuzz.pick('text', kind) END || '::' || type;
    END IF;
    expression := coalesce(fuzz.pick(type, kind), fuzz.pick(type, 'odd'), quote_literal(fuzz.one_of(ARRAY['', '0', '{}', 'x', '(1,2)', '1'])));
    RETURN format('(%s)::%s', expression, type);
END
$$;
