-- Settings steer resources, never answers.
SET client_min_messages = warning;
CREATE SCHEMA settings_test;
SET search_path = settings_test, public;
-- Known once the library is loaded.
LOAD 'neardup';
SELECT name, setting, unit, min_val, max_val, context, vartype FROM pg_settings WHERE name LIKE 'neardup.%' ORDER BY name COLLATE "C";
SELECT name, short_desc, extra_desc FROM pg_settings WHERE name LIKE 'neardup.%' ORDER BY name COLLATE "C";
SET neardup.threads = -1;
SET neardup.threads = 1025;
SET neardup.threads = 'many';
SET neardup.progress = 'maybe';
\set VERBOSITY sqlstate
SET neardup.memory = '-1kB';
\set VERBOSITY default
SET neardup.memory = '3 parsecs';
SET neardup.speed = 'fast';
SET neardup.threshold = 0.5;
SHOW neardup.threads;

CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, (
    SELECT string_agg(substr(md5((i % 300) || '.' || j + (i / 300) * (j % 7 / 6)), 1, 2), ' ') FROM generate_series(1, 5 + i % 300 % 31) j
) FROM generate_series(1, 3000) i;
-- Many equal texts, many of no words, a long one.
INSERT INTO docs SELECT 3000 + i, CASE WHEN i % 2 = 0 THEN 'one of many' END FROM generate_series(1, 100) i;
INSERT INTO docs SELECT 4000 + i, string_agg(md5(j::text), ' ') FROM generate_series(1, 2) i, generate_series(i, 20000) j GROUP BY i;
CREATE FUNCTION answer(setting text, value text, arguments text) RETURNS TABLE (pairs bigint, answer text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config(setting, value, true);
    RETURN QUERY EXECUTE format('SELECT count(*), md5(string_agg(p::text, %L ORDER BY left_id, right_id)) FROM near_duplicates%s p', ' ', arguments);
END
$$;
CREATE TABLE calls (no serial, arguments text);
INSERT INTO calls (arguments) VALUES ('(''docs'', 0.2)'), ('(''docs'', 0.1, method => ''cosine'', shingle => 2)'), ('(''docs'', 0.8, NULL::numeric, tokenizer => ''chars'')'),
    ('(''docs'', 0.7, method => ''overlap'', options => ''{"min_overlap": 10, "algorithm": "ppjoin+"}'')'), ('_between(''docs'', ''docs'', 0.7, method => ''containment'')');
SELECT no, min(pairs) AS pairs, count(DISTINCT (pairs, answer)) AS answers FROM calls, unnest('{1,2,8}'::text[]) threads, answer('neardup.threads', threads, arguments)
GROUP BY no ORDER BY no;
-- Also where sets go to temporary files, and the pairs too.
SET work_mem = '64kB';
SELECT no, min(pairs) AS pairs, count(DISTINCT (pairs, answer)) AS answers FROM calls, unnest('{512kB,1MB,1GB,0}'::text[]) memory, answer('neardup.memory', memory, arguments)
GROUP BY no ORDER BY no;
RESET work_mem;
SET neardup.memory = '512kB';
SET neardup.threads = 2;
-- Files are gone when the query is, however it ends.
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.6) LIMIT 5) first_ones;
BEGIN;
DECLARE pairs CURSOR FOR SELECT near_duplicates('docs', 0.6);
FETCH 0 FROM pairs;
MOVE 7 FROM pairs;
SAVEPOINT here;
MOVE 7 FROM pairs;
DECLARE others CURSOR FOR SELECT near_duplicates('docs', 0.6);
MOVE 7 FROM others;
SELECT count(*) > 0 AS files FROM pg_ls_tmpdir() WHERE name LIKE format('pgsql\_tmp%s.%%', pg_backend_pid());
ROLLBACK TO here;
MOVE 7 FROM pairs;
CLOSE pairs;
SELECT count(*) AS files FROM pg_ls_tmpdir() WHERE name LIKE format('pgsql\_tmp%s.%%', pg_backend_pid());
ROLLBACK;
BEGIN;
DECLARE pairs CURSOR FOR SELECT near_duplicates('docs', 0.6);
SAVEPOINT here;
MOVE 7 FROM pairs;
ROLLBACK TO here;
MOVE 7 FROM pairs;
COMMIT;
DO $$
DECLARE
    p record;
    n int := 0;
BEGIN
    FOR i IN 1..3 LOOP
        BEGIN
            FOR p IN SELECT near_duplicates('docs', 0.6) LOOP
                n := n + 1;
                IF n % 5 = 0 THEN RAISE division_by_zero; END IF;
            END LOOP;
        EXCEPTION WHEN division_by_zero THEN
        END;
        BEGIN
            PERFORM * FROM near_duplicates('docs', 0.6, max_pairs => 100);
        EXCEPTION WHEN program_limit_exceeded THEN
            n := n + 5;
        END;
    END LOOP;
    RAISE WARNING '%', n;
END
$$;
SET temp_file_limit = '200kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM near_duplicates('docs', 0.6);
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.6)) p;
\set VERBOSITY default
RESET temp_file_limit;
SELECT count(*) AS files FROM pg_ls_tmpdir() WHERE name LIKE format('pgsql\_tmp%s.%%', pg_backend_pid());
RESET neardup.memory;
RESET neardup.threads;
-- Progress comes by NOTICE, of which short calls send none.
SET client_min_messages = notice;
SET neardup.progress = on;
SELECT * FROM near_duplicates('docs', 0.9) WHERE left_id = 4001;
SET client_min_messages = warning;
DROP SCHEMA settings_test CASCADE;
