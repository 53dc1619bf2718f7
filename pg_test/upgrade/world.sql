-- What users make with the extension, in a schema of its own that is in the search path: columns and domains of all its
-- types, indexes of all operator classes with their options, constraints, views, defaults, privileges, and jobs in which rows
-- wait. For pg_test/cluster/versions/upgrade.sh and pg_upgrade.sh; contents.sql asks what is there.
CREATE ROLE reader;
CREATE ROLE keeper;
GRANT USAGE ON SCHEMA tools TO keeper, reader;
CREATE TABLE docs (
    id int PRIMARY KEY,
    site text,
    body text CONSTRAINT has_words CHECK (cardinality(words(body)) > 0),
    length int GENERATED ALWAYS AS (cardinality(words(body))) STORED,
    m minhash_sketch GENERATED ALWAYS AS (minhash(body)) STORED,
    s simhash_sketch GENERATED ALWAYS AS (simhash(body)) STORED,
    shares bigint[] GENERATED ALWAYS AS (supershingles(minhash(body))) STORED,
    code text DEFAULT feature_code('a default of three words or more')
);
INSERT INTO docs (id, site, body)
SELECT i, 'site' || i % 3, (SELECT string_agg(CASE j % 8 WHEN 1 THEN 'Word' ELSE 'word' END || (i / 3 * 7919 + j * j) % 997 || CASE j % 8 WHEN 0 THEN '.' ELSE '' END, ' ' ORDER BY j)
        FROM generate_series(1, 40) j)
    || CASE i % 3 WHEN 0 THEN '' WHEN 1 THEN ' And so on.' ELSE ' And more. Ende gut, alles gut. 春眠不覺曉' END
FROM generate_series(1, 400) i;

CREATE INDEX by_minhash ON docs USING signature (m) WITH (threshold = 0.6, pending_limit = 64);
CREATE INDEX by_minhash_options ON docs USING signature (minhash(body, 3, 96) minhash_jaccard_ops (k = 3, permutations = 96));
CREATE INDEX by_simhash ON docs USING signature (s) WITH (distance = 6);
CREATE INDEX by_simhash_options ON docs USING signature (simhash(body, k => 2, bits => 128) simhash_hamming_ops (k = 2, bits = 128)) WHERE id % 2 = 0;
CREATE INDEX by_shares ON docs USING signature (shares);
CREATE INDEX by_length ON docs USING signature (length, site text_group_ops, s) WITH (pending_limit = 64);
CREATE INDEX by_words ON docs USING gin (words(body));
CREATE INDEX by_shingles ON docs USING gin (shingles(body, 3));
CREATE INDEX by_bytes ON docs (m);
CREATE INDEX by_hash ON docs USING hash (s);
-- Pages of every kind: rows in the pending area, too.
INSERT INTO docs (id, site, body) SELECT id + 1000, site, body || ' later' FROM docs WHERE id <= 20;
DELETE FROM docs WHERE id % 50 = 0;

CREATE TABLE notes AS SELECT id, site, body FROM docs WHERE id <= 400;
CREATE INDEX by_site ON notes USING signature (site text_group_ops, body);
INSERT INTO notes SELECT id, site, body FROM docs WHERE id > 400;
CREATE TABLE tagged (id int PRIMARY KEY, tags uuid[], CONSTRAINT no_shared_tags EXCLUDE USING signature (tags WITH &&));
INSERT INTO tagged SELECT i, ARRAY[md5(i::text)::uuid, md5((i + 1000)::text)::uuid] FROM generate_series(1, 50) i;

CREATE DOMAIN near_sample AS minhash_sketch CONSTRAINT is_near CHECK (VALUE <@ near(minhash('one two three four five six'), 0.5));
CREATE TYPE pair AS (a simhash_sketch, b simhash_sketch);
CREATE TABLE kept (
    id int PRIMARY KEY,
    mb minhash_ball, sb simhash_ball, tb text_ball,
    sample near_sample,
    made pair,
    many simhash_sketch[],
    m minhash_sketch DEFAULT minhash('nothing to be seen here today'),
    CONSTRAINT in_ball CHECK (sample <@ mb)
);
INSERT INTO kept (id, mb, sb, tb, sample, made, many)
SELECT id, near(minhash('one two three four five six'), 0.5), near(s, 3), near(body, 0.8), minhash('one two three four five six seven'),
    ROW(s, s)::pair, ARRAY[s, simhash('other')]
FROM docs WHERE id <= 20;
INSERT INTO kept (id) VALUES (100);
CREATE UNIQUE INDEX ON kept (id, m);

CREATE VIEW compared AS
    SELECT a.id AS a, b.id AS b, jaccard(a.body, b.body), resemblance(a.body, b.body, 2), edit_similarity(a.body, b.body),
        a.m <%> b.m AS m, a.s <~> b.s AS s, a.m <@ near(b.m, 0.8) AS near
    FROM docs a, docs b WHERE a.id < b.id AND b.id <= 12;
CREATE VIEW found AS SELECT * FROM near_duplicates('docs', 0.8, id_column => 'id', text_column => 'body');
CREATE VIEW grouped AS SELECT * FROM near_duplicate_clusters('docs', 0.8, id_column => 'id', text_column => 'body', max_cluster_size => 10);
CREATE VIEW worked AS SELECT docs, status, rows, pairs_added FROM neardup_history;
CREATE MATERIALIZED VIEW stored AS SELECT * FROM near_duplicates('docs', 0.9, id_column => 'id', text_column => 'body', method => 'minhash');
CREATE FUNCTION similar_to_first(body text) RETURNS float8 LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT jaccard(body, (SELECT d.body FROM docs d WHERE d.id = 1)); END;

-- What the owner of the database changed of the extension's privileges.
REVOKE EXECUTE ON FUNCTION edit_similarity(text, text, bool) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION edit_similarity(text, text, bool) TO reader;
GRANT EXECUTE ON FUNCTION words(text) TO reader WITH GRANT OPTION;
GRANT USAGE ON TYPE minhash_sketch TO reader;
GRANT SELECT ON neardup_jobs TO reader;

-- A table each, so that each job has its own way.
CREATE FUNCTION job(name text, owner regrole, arguments text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY, body text, site text); ALTER TABLE %1$I OWNER TO %s;
        INSERT INTO %1$I SELECT id, body, site FROM docs WHERE id <= 200;', name, owner);
    EXECUTE format('SELECT neardup_watch(%L, 0.8, id_column => ''id'', text_column => ''body'' %s)', name, arguments);
END
$$;
GRANT CREATE ON SCHEMA public TO keeper;
SELECT job('job_sets', 'keeper', ''),
    job('job_compared', 'keeper', $$, detect => 'compare', clustering => 'star'$$),
    job('job_sketches', 'keeper', $$, method => 'minhash'$$),
    job('job_pages', 'keeper', $$, method => 'tlcs', site_column => 'site', clustering => 'perhaps_similar'$$),
    job('job_edits', 'keeper', $$, method => 'edit', max_cluster_size => 3$$),
    job('job_unborn', 'keeper', $$, method => 'cosine', shingle => 2$$);
CALL neardup_refresh('job_sets');
CALL neardup_refresh('job_compared');
CALL neardup_refresh('job_sketches');
CALL neardup_refresh('job_pages');
CALL neardup_refresh('job_edits');
-- Changes that wait for a refresh.
SELECT format('INSERT INTO %1$I SELECT id + 500, body, site FROM %1$I WHERE id <= 10; DELETE FROM %1$I WHERE id = 7;
    UPDATE %1$I SET body = body || '' changed'' WHERE id = 9;', 'job_' || name) FROM unnest('{sets,compared,sketches,pages,edits}'::text[]) name \gexec
