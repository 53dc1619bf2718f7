-- Outer joins, EXISTS and NOT EXISTS by <@ near(...) as one batch: the plan, and the same rows as by loops.
\pset null '(null)'
CREATE SCHEMA near_join_kinds;
SET search_path = near_join_kinds, public;
CREATE TABLE a(id int PRIMARY KEY, body text, kind int, note text);
-- Groups of near rows, rows without any, equal rows, rows without words, NULL.
INSERT INTO a SELECT i, (SELECT string_agg('w' || (i - i % 4) * 31 % 500 + j * (1 + i % 4 / 3), ' ' ORDER BY j) FROM generate_series(1, 6 + i / 4 % 20) j),
    i % 3, repeat('n', i % 5)
FROM generate_series(1, 60) i;
INSERT INTO a VALUES (1001, NULL, 0, 'null'), (1002, '', 1, 'empty'), (1003, '', 1, 'empty'), (1004, ' . ', NULL, NULL), (1005, 'a b c', 2, 'x'),
    (1006, 'c b a a', 2, 'x'), (1007, NULL, NULL, 'null');
INSERT INTO a SELECT 2000 + i, 'equal words in many rows', i % 3, 'equal' FROM generate_series(1, 20) i;
CREATE TABLE b(id int, body text, kind int, more text) PARTITION BY LIST (kind);
CREATE TABLE b0 PARTITION OF b FOR VALUES IN (0);
CREATE TABLE b1(more text, kind int, body text, id int);
ALTER TABLE b ATTACH PARTITION b1 FOR VALUES IN (1);
CREATE TABLE b2 PARTITION OF b DEFAULT;
INSERT INTO b SELECT id, CASE WHEN id % 5 = 0 THEN body || ' more' ELSE body END, kind, md5(body) FROM a WHERE id % 2 = 0 OR id > 1000;
INSERT INTO b SELECT 3000 + i, 'only here ' || i, i % 4, 'alone' FROM generate_series(1, 30) i;
CREATE TABLE none(LIKE b);
CREATE TABLE unlike AS SELECT id, 'nothing like it ' || id * 1000 AS body, kind FROM a;
CREATE TABLE nulls AS SELECT id, NULL::text AS body, kind FROM a LIMIT 10;
ANALYZE;

EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM a x LEFT JOIN unlike y ON x.body <@ near(y.body, 0.8) AND x.kind = 1 WHERE y.kind IS DISTINCT FROM x.kind;
EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM unlike y RIGHT JOIN a x ON y.body <@ near(x.body, 0.8);
EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM a x FULL JOIN unlike y ON x.body <@ near(y.body, 0.8) WHERE x.id > y.id OR y.id IS NULL;
EXPLAIN (COSTS OFF) SELECT x.id FROM a x WHERE EXISTS (SELECT FROM unlike y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id);
EXPLAIN (COSTS OFF) SELECT x.id FROM a x WHERE NOT EXISTS (SELECT FROM unlike y WHERE near(x.body, 0.8) @> y.body);
EXPLAIN (COSTS OFF, VERBOSE) SELECT x.id, y.id FROM a x LEFT JOIN unlike y ON y.body <@ near(lower(x.body), 0.7) AND x.id <> y.id WHERE y.id IS NULL OR y.id > 7;
-- For programs, the kind of an inner join is there, too.
CREATE FUNCTION join_type(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan->0->'Plan'->>'Join Type';
END $$;
SELECT join_type('SELECT x.id FROM a x WHERE EXISTS (SELECT FROM unlike y WHERE x.body <@ near(y.body, 0.8))'),
    join_type('SELECT x.id FROM a x JOIN unlike y ON x.body <@ near(y.body, 0.8)') AS inner;

-- differ QUERY: the number of rows by the batch join, and of those that only one of the two plans gives.
CREATE FUNCTION differ(query text, OUT kind text, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    -- A batch wherever there can be one, in all versions.
    SET LOCAL enable_nestloop = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
        kind := coalesce(substring(line FROM 'Join Type: (.*)'), CASE WHEN line ~ 'NearJoin' THEN 'Inner' END, kind);
    END LOOP;
    EXECUTE 'CREATE TEMP TABLE batch AS ' || query;
    SET LOCAL enable_nestloop = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on;
    SET LOCAL neardup.enable_near_join = off;
    EXECUTE 'CREATE TEMP TABLE loops AS ' || query;
    SET LOCAL neardup.enable_near_join = on;
    SELECT count(*) INTO rows FROM batch;
    SELECT count(*) INTO differences FROM ((TABLE batch EXCEPT ALL TABLE loops) UNION ALL (TABLE loops EXCEPT ALL TABLE batch)) d;
    DROP TABLE batch, loops;
END $$;

-- Each kind in both orientations, against tables of each sort, with other conditions and filters.
CREATE TABLE conditions AS SELECT * FROM (VALUES
    ('x.body <@ near(y.body, 0.8)'), ('y.body <@ near(x.body, 0.8)'), ('near(lower(y.body), 0.5) @> upper(x.body)'),
    ('x.body <@ near(y.body, 0.8) AND x.id <> y.id'), ('y.body <@ near(x.body, 0.8) AND x.id <> y.id'),
    ('x.body <@ near(y.body, 0.7) AND x.kind = 1'), ('y.body <@ near(x.body, 0.7) AND y.kind = 1 AND x.kind = y.kind'),
    ('x.body <@ near(y.body, 0.7) AND (x.kind <> y.kind OR y.id > 1000) AND y.body <@ near(x.body, 0.8)'),
    ('x.body <@ near(y.body, 0.9, method => ''containment'')'), ('y.body <@ near(x.body, 0.9, method => ''containment'') AND x.id < y.id'),
    ('x.body <@ near(y.body, 0.8) AND false IS NOT TRUE AND (SELECT count(*) FROM nulls n WHERE n.id <= x.id) > 3')) c(condition);
CREATE TABLE queries AS SELECT * FROM (VALUES
    ('left', 'SELECT x.id, x.note, y.id AS other, y.body FROM a x LEFT JOIN %s y ON %s'),
    ('right', 'SELECT x.id, x.note, y.id AS other, y.body FROM %s y RIGHT JOIN a x ON %s'),
    ('left of it', 'SELECT y.id, x.id AS other, x FROM %s y LEFT JOIN a x ON %s'),
    ('is null', 'SELECT x.id, y.id AS other, y IS NULL AS n FROM a x LEFT JOIN %s y ON %s WHERE y.id IS NULL'),
    ('filtered', 'SELECT x.id, y.id AS other FROM a x LEFT JOIN %s y ON %s WHERE y.id IS DISTINCT FROM x.id AND coalesce(y.kind, 0) < 2 AND x.kind >= 0'),
    ('exists', 'SELECT x.id, x.note FROM a x WHERE EXISTS (SELECT FROM %s y WHERE %s)'),
    ('not exists', 'SELECT x.id, x.note FROM a x WHERE NOT EXISTS (SELECT FROM %s y WHERE %s)'),
    ('aggregate', 'SELECT count(*), sum(n) FROM (SELECT x.id, count(y.id) AS n FROM a x LEFT JOIN %s y ON %s GROUP BY x.id) s')) q(name, query);
SELECT q.name, t.other, array_agg(DISTINCT d.kind) AS kinds, sum(d.rows) AS rows, sum(d.differences) AS differences
FROM queries q, unnest('{a,b,none,unlike,nulls}'::text[]) WITH ORDINALITY t(other, n), conditions c, differ(format(q.query, t.other, c.condition)) d
GROUP BY 1, 2, t.n ORDER BY 1, t.n;
-- Empty and NULL on the outer side.
SELECT q.name, t.other, array_agg(DISTINCT d.kind) AS kinds, sum(d.rows) AS rows, sum(d.differences) AS differences
FROM queries q, unnest('{none,nulls}'::text[]) t(other), conditions c,
    differ(regexp_replace(regexp_replace(format(q.query, 'b', c.condition), '\ma x\M', t.other || ' x'), 'x\.note', 'x.kind AS k')) d
GROUP BY 1, 2 ORDER BY 1, 2;

-- Full joins: there are no loops for these, but by an equal column; otherwise they are a left join and what it leaves out.
SELECT d.*, left(q, 100) AS query FROM unnest(ARRAY[
    'SELECT x.id, y.id AS other FROM a x FULL JOIN b y ON x.body <@ near(y.body, 0.8) AND x.kind = y.kind',
    'SELECT x.id, y.id AS other FROM a x FULL JOIN b y ON y.body <@ near(x.body, 0.6) AND x.kind = y.kind AND x.id <> y.id',
    'SELECT x.id, y.id AS other FROM a x FULL JOIN b y ON x.body <@ near(y.body, 0.8) AND x.kind = y.kind WHERE x.kind IS NULL OR y.id IS NULL',
    'SELECT x.id, y.id AS other FROM none x FULL JOIN b y ON x.body <@ near(y.body, 0.8) AND x.kind = y.kind']) q, differ(q) d;
CREATE FUNCTION full_differs(one text, other text, condition text, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TEMP TABLE batch AS SELECT x.id AS one, x.body AS b, y.id AS two, y.kind FROM %s x FULL JOIN %s y ON %s', one, other, condition);
    SET LOCAL neardup.enable_near_join = off;
    EXECUTE format('CREATE TEMP TABLE loops AS SELECT x.id AS one, x.body AS b, y.id AS two, y.kind FROM %1$s x LEFT JOIN %2$s y ON %3$s
        UNION ALL SELECT NULL, NULL, y.id, y.kind FROM %2$s y WHERE NOT EXISTS (SELECT FROM %1$s x WHERE %3$s)', one, other, condition);
    SET LOCAL neardup.enable_near_join = on;
    SELECT count(*) INTO rows FROM batch;
    SELECT count(*) INTO differences FROM ((TABLE batch EXCEPT ALL TABLE loops) UNION ALL (TABLE loops EXCEPT ALL TABLE batch)) d;
    DROP TABLE batch, loops;
END $$;
SELECT one, other, sum(rows) AS rows, sum(differences) AS differences
FROM (VALUES ('a', 'b'), ('b', 'a'), ('a', 'none'), ('none', 'a'), ('none', 'none'), ('a', 'unlike'), ('nulls', 'b')) t(one, other), conditions c, full_differs(one, other, condition)
WHERE c.condition NOT LIKE '%SELECT%'
GROUP BY 1, 2 ORDER BY 1, 2;
SET neardup.enable_near_join = off;
SELECT count(*) FROM a x FULL JOIN b y ON x.body <@ near(y.body, 0.8);
RESET neardup.enable_near_join;

-- Within larger queries: third tables, nested outer joins, expressions of the nullable side, lateral rows, views, unions, IN, a window, a limit.
CREATE VIEW joined AS SELECT x.id, y.id AS other, coalesce(y.kind, -1) AS found, 'of ' || x.note AS said FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.8);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM a WHERE kind = 1;
SELECT d.*, left(q, 130) AS query FROM unnest(ARRAY[
    'SELECT x.id, y.id AS other, z.id AS third FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.8) JOIN unlike z ON z.id = y.id',
    'SELECT x.id, y.id AS other, z.id AS third FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.8) LEFT JOIN unlike z ON z.id = y.id AND z.kind = x.kind',
    'SELECT x.id, y.id AS other, z.id AS third FROM unlike x LEFT JOIN (a y LEFT JOIN b z ON y.body <@ near(z.body, 0.8)) ON y.id = x.id + 1',
    'SELECT x.id, y.id AS other, z.id AS third FROM unlike x LEFT JOIN a y ON y.id = x.id + 1 LEFT JOIN b z ON y.body <@ near(z.body, 0.8)',
    'SELECT x.id, y.id AS other, z.id AS third FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.9) LEFT JOIN a z ON y.body <@ near(z.body, 0.8) AND z.id <> x.id',
    'SELECT x.id, y.id AS other, z.id AS third FROM a x LEFT JOIN (b y JOIN unlike z ON z.id = y.id) ON x.body <@ near(y.body, 0.8) WHERE z.kind IS NULL OR z.kind > 0',
    'SELECT x.id, y.id AS other FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.8) WHERE NOT EXISTS (SELECT FROM a z WHERE z.body <@ near(y.body, 0.9) AND z.id > 2005)',
    'SELECT x.id AS x, v.* FROM unlike x LEFT JOIN joined v ON v.id = x.id + 1 AND v.found > 0',
    'SELECT v.found, v.said, count(*) FROM joined v GROUP BY 1, 2',
    'SELECT x.id, s.* FROM a x LEFT JOIN (SELECT body AS b, ''there'' AS there, coalesce(kind, 5) AS k FROM b) s ON x.body <@ near(s.b, 0.8) WHERE coalesce(s.k, 7) > 1',
    'SELECT x.id, l.* FROM (SELECT * FROM a WHERE id < 10 OR id > 1000) x LEFT JOIN LATERAL (SELECT y.id AS y, z.id AS z FROM a y LEFT JOIN b z ON y.body <@ near(z.body, 0.8) AND z.id <> x.id WHERE y.kind = x.kind AND y.id > x.id) l ON true',
    'SELECT x.id, (SELECT count(*) FROM b y WHERE y.kind = x.kind AND NOT EXISTS (SELECT FROM a z WHERE z.body <@ near(y.body, 0.8) AND z.id > x.id)) AS n FROM a x WHERE id % 20 = 0',
    'SELECT x.id, (SELECT count(*) FROM b y WHERE y.kind = x.kind AND EXISTS (SELECT FROM a z WHERE y.body <@ near(z.body, 0.8) AND z.id <> y.id)) AS n FROM a x WHERE id % 20 = 0',
    'SELECT x.id FROM a x WHERE x.body <@ ANY (SELECT near(y.body, 0.8) FROM b y)',
    'SELECT x.id, count(*) OVER (PARTITION BY y.kind) AS n FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.8)',
    'SELECT x.id FROM a x WHERE EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8)) UNION ALL SELECT x.id FROM b x WHERE NOT EXISTS (SELECT FROM a y WHERE y.body <@ near(x.body, 0.9))',
    'SELECT x.id, y.id AS other FROM barrier x LEFT JOIN barrier y ON x.body <@ near(y.body, 0.8) AND x.id <> y.id',
    'SELECT x.id FROM barrier x WHERE NOT EXISTS (SELECT FROM barrier y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id)',
    'SELECT count(*) FROM (SELECT x.id FROM a x WHERE EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8)) LIMIT 5) s']) q, differ(q) d;

-- A join since version 17.
SELECT d.rows, d.differences FROM differ('SELECT x.id FROM a x WHERE x.kind IN (SELECT y.kind FROM b y WHERE x.body <@ near(y.body, 0.8))') d;

-- Joins of partitions, one by one.
CREATE TABLE c PARTITION OF b FOR VALUES IN (7);
CREATE TABLE b_like(id int, body text, kind int) PARTITION BY LIST (kind);
CREATE TABLE b_like0 PARTITION OF b_like FOR VALUES IN (0);
CREATE TABLE b_like1 PARTITION OF b_like FOR VALUES IN (1);
CREATE TABLE b_like7 PARTITION OF b_like FOR VALUES IN (7);
CREATE TABLE b_like2 PARTITION OF b_like DEFAULT;
INSERT INTO b_like SELECT id, body, kind FROM a;
ANALYZE b, b_like;
SET enable_partitionwise_join = on;
SELECT d.*, left(q, 100) AS query FROM unnest(ARRAY[
    'SELECT x.id, y.id AS other, y FROM b x LEFT JOIN b_like y ON x.body <@ near(y.body, 0.8) AND x.kind = y.kind',
    'SELECT x.id, y.id AS other, x AS whole FROM b x FULL JOIN b_like y ON x.body <@ near(y.body, 0.8) AND x.kind = y.kind',
    'SELECT x.id FROM b x WHERE NOT EXISTS (SELECT FROM b_like y WHERE x.body <@ near(y.body, 0.8) AND x.kind = y.kind)',
    'SELECT x.id FROM b x WHERE EXISTS (SELECT FROM b_like y WHERE y.body <@ near(x.body, 0.8) AND x.kind = y.kind)']) q, differ(q) d;
RESET enable_partitionwise_join;

-- What is changed and locked.
SET enable_nestloop = off;
CREATE TABLE changed AS SELECT id, body, kind, '' AS said FROM a;
ANALYZE changed;
EXPLAIN (COSTS OFF) DELETE FROM changed x WHERE EXISTS (SELECT FROM unlike y WHERE x.body <@ near(y.body, 0.8));
BEGIN;
DELETE FROM changed x WHERE EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id);
SELECT count(*), sum(id) FROM changed;
ROLLBACK;
BEGIN;
SET LOCAL neardup.enable_near_join = off;
DELETE FROM changed x WHERE EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id);
SELECT count(*), sum(id) FROM changed;
ROLLBACK;
UPDATE changed x SET said = coalesce(l.other::text, 'none') FROM (SELECT z.id, min(y.id) AS other FROM a z LEFT JOIN b y ON z.body <@ near(y.body, 0.8) AND z.id <> y.id GROUP BY z.id) l
WHERE l.id = x.id;
UPDATE changed x SET said = said || '!' WHERE NOT EXISTS (SELECT FROM b y WHERE y.body <@ near(x.body, 0.8) AND x.id <> y.id);
SELECT said LIKE '%!' AS alone, count(*), bool_and(starts_with(said, 'none') = (said LIKE '%!')) FROM changed GROUP BY 1 ORDER BY 1;
-- A partitioned table that is changed: its rows are found by columns that the planner adds.
EXPLAIN (COSTS OFF, VERBOSE) UPDATE b x SET more = 'x' WHERE NOT EXISTS (SELECT FROM unlike y WHERE x.body <@ near(y.body, 0.8));
EXPLAIN (COSTS OFF, VERBOSE) DELETE FROM b x USING a z, a y WHERE x.body <@ near(y.body, 0.8) AND z.body <@ near(y.body, 0.8);
UPDATE b x SET more = 'near' WHERE EXISTS (SELECT FROM a y WHERE x.body <@ near(y.body, 0.8));
DELETE FROM b x WHERE NOT EXISTS (SELECT FROM a y WHERE y.body <@ near(x.body, 0.8));
SELECT count(*), count(*) FILTER (WHERE more = 'near') AS near, sum(id) FROM b;
SELECT count(*) FROM (SELECT x.id FROM a x LEFT JOIN b y ON x.body <@ near(y.body, 0.8) FOR UPDATE OF x) l;
SELECT count(*) FROM (SELECT x.id FROM a x WHERE EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8)) FOR UPDATE) l;
SELECT count(*) FROM (SELECT x.id FROM a x WHERE NOT EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8)) FOR SHARE) l;

-- Cursors and prepared statements.
PREPARE p(float8, int) AS SELECT count(*), count(y.id) FROM a x LEFT JOIN b y ON x.body <@ near(y.body, $1) AND y.id > $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE p(0.8, 0); EXECUTE p(0.5, 0); EXECUTE p(0.8, 100000); EXECUTE p(NULL, NULL); EXECUTE p(2, 1);
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT x.id FROM a x WHERE NOT EXISTS (SELECT FROM unlike y WHERE x.body <@ near(y.body, 0.8)) ORDER BY id;
FETCH 3 FROM c; FETCH BACKWARD 1 FROM c; MOVE LAST FROM c; FETCH 1 FROM c; FETCH ABSOLUTE 2 FROM c;
DECLARE d CURSOR FOR SELECT x.id, y.id FROM a x LEFT JOIN unlike y ON x.body <@ near(y.body, 0.8);
MOVE 3 FROM d; MOVE ALL FROM d; FETCH 1 FROM d;
COMMIT;

-- Row-level security: rows that are not seen match nothing.
CREATE ROLE near_join_reader;
CREATE TABLE seen AS SELECT id, body, kind FROM a;
ALTER TABLE seen ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON seen USING (id % 2 = 0);
GRANT USAGE ON SCHEMA near_join_kinds TO near_join_reader;
GRANT SELECT ON seen, a TO near_join_reader;
SET ROLE near_join_reader;
SELECT count(*), count(*) FILTER (WHERE id % 2 = 1) AS odd FROM seen x WHERE NOT EXISTS (SELECT FROM seen y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id);
SELECT count(*), count(*) FILTER (WHERE y.id % 2 = 1) AS odd, count(*) FILTER (WHERE y.id IS NULL) AS alone FROM a x LEFT JOIN seen y ON x.body <@ near(y.body, 0.8);
SET enable_nestloop = on; SET neardup.enable_near_join = off;
SELECT count(*), count(*) FILTER (WHERE id % 2 = 1) AS odd FROM seen x WHERE NOT EXISTS (SELECT FROM seen y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id);
SELECT count(*), count(*) FILTER (WHERE y.id % 2 = 1) AS odd, count(*) FILTER (WHERE y.id IS NULL) AS alone FROM a x LEFT JOIN seen y ON x.body <@ near(y.body, 0.8);
RESET neardup.enable_near_join; RESET enable_nestloop;
RESET ROLE;
DROP OWNED BY near_join_reader; DROP ROLE near_join_reader;

-- Little memory: the rows are kept in a file.
SET neardup.memory = '1MB';
CREATE TABLE long AS SELECT id, repeat(body || ' ', 20) || id AS body, repeat(md5(id::text), 200) AS wide FROM a WHERE id <= 100;
SELECT d.* FROM unnest(ARRAY[
    'SELECT x.id, x.wide, y.id AS other, y.wide AS w FROM long x LEFT JOIN long y ON x.body <@ near(y.body, 0.8) AND x.id <> y.id',
    'SELECT x.id, x.wide FROM long x WHERE NOT EXISTS (SELECT FROM long y WHERE x.body <@ near(y.body, 0.8) AND x.wide <> y.wide)',
    'SELECT x.id, x.wide FROM long x WHERE EXISTS (SELECT FROM long y WHERE y.body <@ near(x.body, 0.8) AND x.id <> y.id)']) q, differ(q) d;
RESET neardup.memory;

-- Few rows, and an index on the side where they are looked for: a search.
RESET enable_nestloop;
CREATE TABLE large AS SELECT i AS id, md5(i::text) || ' ' || md5((i / 2)::text) || ' ' || md5((i / 3)::text) AS body FROM generate_series(1, 5000) i;
CREATE INDEX large_body ON large USING signature (body);
ANALYZE large;
EXPLAIN (COSTS OFF) SELECT x.id FROM a x WHERE EXISTS (SELECT FROM large y WHERE y.body <@ near(x.body, 0.8)) AND x.id = 7;
EXPLAIN (COSTS OFF) SELECT x.id, y.id FROM a x LEFT JOIN large y ON y.body <@ near(x.body, 0.8) WHERE x.id = 7;
EXPLAIN (COSTS OFF) SELECT x.id FROM large x WHERE NOT EXISTS (SELECT FROM large y WHERE x.body <@ near(y.body, 0.8) AND x.id <> y.id);
-- Conditions of one side alone, and no pair of the two sides: no batch join.
SELECT d.kind, d.differences, left(q, 100) AS query FROM unnest(ARRAY[
    'SELECT x.id FROM a x WHERE EXISTS (SELECT FROM b y WHERE x.body <@ near(x.body || y.body, 0.8))',
    'SELECT x.id, y.id AS other FROM a x LEFT JOIN b y ON y.kind = x.kind WHERE x.body <@ near(coalesce(y.body, x.body), 0.8)',
    'SELECT x.id FROM a x WHERE x.id % 9 = 0 AND (EXISTS (SELECT FROM b y WHERE x.body <@ near(y.body, 0.8)) OR x.kind = 1)']) q, differ(q) d;
SET client_min_messages = warning;
DROP SCHEMA near_join_kinds CASCADE;
RESET client_min_messages;
RESET search_path;
