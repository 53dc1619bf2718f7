-- Indexes with group columns: USING signature (tenant, body). pg_test/cluster/smoke/index_groups.sh compares the answers of every class.
\getenv tests PG_ABS_SRCDIR
\set plan :tests /plan.psql
\i :plan
CREATE TYPE lang AS ENUM ('de', 'en', 'fr');
CREATE DOMAIN short AS varchar(9) CHECK (value <> '');
CREATE TABLE docs (id int PRIMARY KEY, tenant int, lang lang, site short, public bool, body text);
INSERT INTO docs SELECT n, nullif(n % 7, 6), (enum_range(NULL::lang))[1 + n % 3], 's' || n % 2, n % 5 = 0,
    nullif(format('The harbour of Port %s is closed from %s to %s on day %s', n / 60, n % 3, n / 60 * 7, n / 60), 'The harbour of Port 9 is closed from 1 to 63 on day 9')
    FROM generate_series(1, 3000) n;

-- One column is searched, after at most two others.
CREATE INDEX ON docs USING signature (tenant);
CREATE INDEX ON docs USING signature (tenant, lang);
CREATE INDEX ON docs USING signature (body, tenant);
CREATE INDEX ON docs USING signature (tenant, body, public);
CREATE INDEX ON docs USING signature (tenant, lang, public, body);
CREATE INDEX ON docs USING signature (site, body);
CREATE INDEX ON docs USING signature (tenant, (minhash(body)), (simhash(body)));
CREATE INDEX ON docs USING signature (tenant, body text_runs_ops, body);
CREATE INDEX ON docs USING signature (tenant, body) INCLUDE (id);
CREATE INDEX ON docs USING signature (body) INCLUDE (id, tenant);
CREATE INDEX ON docs USING signature ((tenant::numeric), body);
CREATE INDEX ON docs USING signature (tenant, body) WITH (threshold = 0.5);
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname LIKE '%group_ops' ORDER BY 1;

CREATE INDEX by_tenant ON docs USING signature (tenant, body);
ANALYZE docs;
SELECT signature_index_check('by_tenant', true);
SELECT rows, options ~ '^1 group column; text_set_ops: ' AS options FROM signature_index_stats('by_tenant');

-- The index serves a condition on each of its columns, or an order in place of the last one.
SELECT plan($$SELECT id FROM docs WHERE tenant = 3 AND body <@ near('The harbour of Port 7 is closed', 0.6)$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = 3::bigint AND body <@ near('The harbour of Port 7 is closed', 0.7)$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = 3::smallint AND body <@ near('The harbour of Port 7 is closed', 0.7)$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = ANY ('{1,2}') AND body <@ near('The harbour of Port 7 is closed', 0.7)$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = 3 ORDER BY body <-> near('The harbour of Port 7 is closed', 0.7) LIMIT 3$$);
SELECT plan($$SELECT d.id FROM docs q JOIN docs d ON d.tenant = q.tenant AND d.body <@ near(q.body, 0.9) WHERE q.id = 9 AND d.id + 0 > 5$$);
SELECT plan($$SELECT id FROM docs WHERE body <@ near('The harbour of Port 7 is closed', 0.7)$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = 3$$);
SELECT plan($$SELECT id FROM docs ORDER BY body <-> near('The harbour of Port 7 is closed', 0.7) LIMIT 3$$);
SET plan_cache_mode = force_generic_plan;
PREPARE near_in(int, text) AS SELECT id FROM docs WHERE tenant = $1 AND body <@ near($2, 0.95) ORDER BY id;
PREPARE nearest_in(int, text) AS SELECT id, round((body <-> near($2, 0.7))::numeric, 4) AS distance FROM docs WHERE tenant = $1 ORDER BY body <-> near($2, 0.7) LIMIT 3;
SELECT plan($$EXECUTE near_in(3, 'The harbour')$$);
SELECT plan($$EXECUTE nearest_in(3, 'The harbour')$$);
EXECUTE near_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
EXECUTE near_in(4, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
EXECUTE near_in(NULL, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
EXECUTE near_in(77, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
EXECUTE nearest_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
-- Beyond the rows in the ball the others come, those without a text last.
SELECT count(*), count(body), count(*) FILTER (WHERE body <-> near('The harbour of Port 7 is closed from 2 to 49', 0.7) < 'infinity') AS near
FROM (SELECT * FROM docs WHERE tenant = 3 ORDER BY body <-> near('The harbour of Port 7 is closed from 2 to 49', 0.7) LIMIT 1000) d;

-- Rows of no tenant are found by searches that ask for none: without the index, or by all of it.
SELECT count(*) FROM docs WHERE tenant IS NULL AND body <@ near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.95);
BEGIN;
SET LOCAL enable_seqscan = off;
SELECT plan($$SELECT count(*) FROM docs WHERE body <@ near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.95)$$);
SELECT count(*), count(tenant) FROM docs WHERE body <@ near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.95);
SELECT count(*) FROM docs WHERE tenant = 3;
SELECT count(*), count(tenant) FROM (SELECT tenant FROM docs ORDER BY body <-> near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.95) LIMIT 20) d;
-- No column at all is read.
SET LOCAL enable_bitmapscan = off;
SELECT count(*) FROM docs WHERE tenant = 3 AND body <@ near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.95);
ROLLBACK;

-- A row that changes its group.
UPDATE docs SET tenant = 3 WHERE id IN (421, 473);
EXECUTE near_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
EXECUTE near_in(4, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
SELECT signature_index_merge('by_tenant');
VACUUM docs;
EXECUTE near_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
REINDEX INDEX by_tenant;
EXECUTE near_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
REINDEX INDEX CONCURRENTLY by_tenant;
EXECUTE near_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
SELECT signature_index_check('by_tenant', true);
ALTER TABLE docs ALTER tenant TYPE bigint;
EXECUTE near_in(3, 'The harbour of Port 7 is closed from 2 to 49 on day 7');
ALTER TABLE docs ALTER tenant TYPE numeric;
DROP INDEX by_tenant;

-- Two columns, other types, expressions, a predicate.
CREATE INDEX CONCURRENTLY by_lang ON docs USING signature (lang, (left(site, 2)) text_group_ops, (minhash(body, 2, 64)) minhash_jaccard_ops (k = 2, permutations = 64)) WHERE id > 100;
CREATE INDEX by_public ON docs USING signature (public, body text_gram_ops);
CREATE INDEX by_site ON docs USING signature (site text_group_ops, (simhash(body)));
\d by_lang
SELECT options FROM signature_index_stats('by_lang');
ANALYZE docs;
SELECT plan($$SELECT id FROM docs WHERE lang = 'en' AND left(site, 2) = 's1' AND minhash(body, 2, 64) <@ near(minhash('The harbour of Port 7 is closed', 2, 64), 0.9) AND id > 100$$);
SELECT plan($$SELECT id FROM docs WHERE lang = 'en' AND minhash(body, 2, 64) <@ near(minhash('The harbour of Port 7 is closed', 2, 64), 0.9) AND id > 100$$);
SELECT plan($$SELECT id FROM docs WHERE site = 's1' ORDER BY simhash(body) <~> simhash('The harbour of Port 7 is closed') LIMIT 3$$);
SELECT count(*) FROM docs WHERE lang = 'en' AND left(site, 2) = 's1' AND minhash(body, 2, 64) <@ near(minhash('The harbour of Port 7 is closed from 2 to 49 on day 7', 2, 64), 0.5) AND id > 100;
SELECT count(*) FROM docs WHERE public AND body <@ near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.9, tokenizer => 'chars');
SELECT count(*) FROM docs WHERE NOT public AND body <@ near('The harbour of Port 7 is closed from 2 to 49 on day 7', 0.9, tokenizer => 'chars');
SELECT count(*) FROM (SELECT id FROM docs WHERE site = 's1' ORDER BY simhash(body) <~> simhash('The harbour of Port 7') LIMIT 10000) d;

-- No two near texts of one tenant.
CREATE TABLE posts (tenant int, body text, EXCLUDE USING signature (tenant WITH =, near(body, 0.8) WITH &&));
INSERT INTO posts VALUES (1, 'The harbour of Port Ellis is closed today'), (2, 'The harbour of Port Ellis is closed today'), (NULL, 'The harbour of Port Ellis is closed today');
INSERT INTO posts VALUES (2, 'The harbour of Port Ellis is closed today!');
INSERT INTO posts VALUES (NULL, 'The harbour of Port Ellis is closed today!'), (3, 'The harbour of Port Ellis is closed today!') ON CONFLICT DO NOTHING;
INSERT INTO posts VALUES (3, 'The harbour of Port Ellis is closed today.') ON CONFLICT DO NOTHING;
UPDATE posts SET tenant = 1 WHERE tenant = 2;
SELECT * FROM posts ORDER BY tenant;
ALTER TABLE posts ADD EXCLUDE USING signature (tenant WITH =, near(body, 0.5, method => 'edit') WITH &&);

-- Partitions.
CREATE TABLE parts (tenant int, body text) PARTITION BY LIST (tenant);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 2);
CREATE TABLE parts_2 PARTITION OF parts DEFAULT;
CREATE INDEX ON parts USING signature (tenant, body);
INSERT INTO parts SELECT n % 4, format('The harbour of Port %s is closed', n) FROM generate_series(1, 2000) n;
ANALYZE parts;
SELECT plan($$SELECT * FROM parts WHERE tenant = 2 AND body <@ near('The harbour of Port 6 is closed', 1)$$);
SELECT * FROM parts WHERE tenant = 2 AND body <@ near('The harbour of Port 6 is closed', 1);

-- Row-level security: the policy's condition is on the group, and its operator is leakproof; those of this extension are not.
ALTER TABLE parts_1 ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON parts_1 USING (tenant = current_setting('app.tenant')::int);
CREATE ROLE regress_tenant;
GRANT SELECT ON parts_1 TO regress_tenant;
SET app.tenant = 2;
SET ROLE regress_tenant;
SELECT plan($$SELECT * FROM parts_1 ORDER BY body <-> near('The harbour of Port 6 is closed', 0.7) LIMIT 2$$);
SELECT plan($$SELECT * FROM parts_1 WHERE body <@ near('The harbour of Port 6 is closed', 0.9)$$);
SELECT tenant, body FROM parts_1 ORDER BY body <-> near('The harbour of Port 6 is closed', 0.7), body LIMIT 2;
SELECT tenant, body FROM parts_1 WHERE body <@ near('The harbour of Port 5 is closed', 0.9);
RESET ROLE;
BEGIN;
DO $$ BEGIN EXECUTE (SELECT format('ALTER FUNCTION %s LEAKPROOF', oprcode::regprocedure) FROM pg_operator WHERE oprname = '<@' AND oprright = 'text_ball'::regtype AND oprleft = 'text'::regtype); END $$;
SET ROLE regress_tenant;
SELECT plan($$SELECT * FROM parts_1 WHERE body <@ near('The harbour of Port 6 is closed', 0.9)$$);
SELECT tenant, body FROM parts_1 WHERE body <@ near('The harbour of Port 5 is closed', 0.9);
SELECT tenant, body FROM parts_1 WHERE body <@ near('The harbour of Port 6 is closed', 0.9);
ROLLBACK;
DROP TABLE parts;
DROP ROLE regress_tenant;
