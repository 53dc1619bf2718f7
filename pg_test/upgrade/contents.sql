-- What users see of what world.sql made.
SET client_min_messages = error;
\echo -- tables
SELECT * FROM docs ORDER BY id;
SELECT * FROM kept ORDER BY id;
SELECT * FROM tagged ORDER BY id;
SELECT * FROM compared ORDER BY a, b;
SELECT * FROM found ORDER BY left_id, right_id;
SELECT cluster_id, id, representative FROM grouped ORDER BY cluster_id, id;
SELECT * FROM stored ORDER BY left_id, right_id;
SELECT id, similar_to_first(body) FROM docs ORDER BY id;

\echo -- indexes
SET enable_seqscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION pg_temp.used(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        RETURN QUERY SELECT m[1] FROM regexp_matches(line, 'Index.* Scan (using \w+|on by_\w+)') m;
    END LOOP;
END
$$;
CREATE TEMP TABLE queries (n serial, query text);
INSERT INTO queries (query) VALUES
    ('SELECT id FROM docs WHERE body <@ (SELECT k.tb FROM kept k WHERE k.id = 12)'),
    ('SELECT id FROM docs WHERE body <@ (SELECT near(d.body, 0.8)::text::text_ball FROM docs d WHERE d.id = 43)'),
    ('SELECT id FROM docs WHERE m <@ near((SELECT d.m FROM docs d WHERE d.id = 1005), 0.6)'),
    ('SELECT id FROM docs WHERE minhash(body, 3, 96) <@ near((SELECT minhash(d.body, 3, 96) FROM docs d WHERE d.id = 45), 0.8)'),
    ('SELECT id FROM docs WHERE s <@ near((SELECT d.s FROM docs d WHERE d.id = 46), 6)'),
    ('SELECT id FROM docs WHERE id % 2 = 0 AND simhash(body, k => 2, bits => 128) <@ near((SELECT simhash(d.body, k => 2, bits => 128) FROM docs d WHERE d.id = 48), 3)'),
    ('SELECT id FROM docs WHERE shares && (SELECT d.shares FROM docs d WHERE d.id = 49)'),
    ('SELECT id FROM notes WHERE site = ''site1'' AND body <@ near((SELECT d.body FROM docs d WHERE d.id = 43), 0.8)'),
    ('SELECT id FROM docs WHERE length = 43 AND site = ''site1'' AND s <@ near((SELECT d.s FROM docs d WHERE d.id = 43), 9)'),
    ('SELECT id FROM docs WHERE words(body) @> ''{ende,gut,word9}'''),
    ('SELECT id FROM docs WHERE shingles(body, 3) && shingles(''ende gut alles'', 3)'),
    ('SELECT id FROM docs WHERE m = (SELECT d.m FROM docs d WHERE d.id = 51)'),
    ('SELECT id FROM docs WHERE s = (SELECT d.s FROM docs d WHERE d.id = 52)'),
    ('SELECT id FROM tagged WHERE tags && ARRAY[md5(''7'')::uuid]');
SELECT n, u FROM queries, pg_temp.used(query) u WHERE u !~ 'docs_pkey' ORDER BY n;
SELECT format('SELECT %s, array_agg(id ORDER BY id) FROM (%s) q', n, query) FROM queries ORDER BY n \gexec
SELECT round((m <%> (SELECT d.m FROM docs d WHERE d.id = 42))::numeric, 4) AS distance FROM docs ORDER BY m <%> (SELECT d.m FROM docs d WHERE d.id = 42) LIMIT 5;
SELECT s <~> (SELECT d.s FROM docs d WHERE d.id = 42) AS distance FROM docs ORDER BY s <~> (SELECT d.s FROM docs d WHERE d.id = 42) LIMIT 5;
SELECT body <-> near((SELECT d.body FROM docs d WHERE d.id = 43), 0.7) AS distance FROM notes WHERE site = 'site1'
ORDER BY body <-> near((SELECT d.body FROM docs d WHERE d.id = 43), 0.7) LIMIT 5;
SELECT i.indexrelid::regclass, signature_index_check(i.indexrelid, true), s.rows, s.dead, s.options
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam, LATERAL signature_index_stats(i.indexrelid) s
WHERE a.amname = 'signature' ORDER BY 1;
SET enable_seqscan = on;

\echo -- privileges of users
SELECT p.oid::regprocedure, acl::text FROM pg_proc p, unnest(proacl) acl WHERE acl::text ~ '^reader=' ORDER BY 1, 2;
SELECT relname, acl::text FROM pg_class, unnest(relacl) acl WHERE acl::text ~ '^reader=' ORDER BY 1, 2;

\echo -- jobs
SELECT docs, pairs, clusters, state, lists, settings FROM neardup_jobs ORDER BY docs::text;
SELECT * FROM worked ORDER BY docs::text;
SELECT format('SELECT %L, * FROM %I ORDER BY 2, 3', c.relname, c.relname) FROM pg_class c
WHERE c.relname ~ '^job_.*_(pairs|clusters)$' AND c.relkind = 'r' ORDER BY c.relname \gexec
SELECT format('SELECT %L, id, change FROM %I WHERE change IS NOT NULL ORDER BY 2', c.relname, c.relname) FROM pg_class c
WHERE c.relname ~ '^job_.*_neardup$' AND c.relkind = 'r' ORDER BY c.relname \gexec
