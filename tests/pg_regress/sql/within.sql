-- Pairs within a group and across sources: those of a call on each group alone, without the pairs of one source.
SET client_min_messages = warning;
CREATE SCHEMA within_test;
SET search_path = within_test, public;

CREATE TYPE kind AS ENUM ('b', 'a', 'c');
CREATE DOMAIN tenant AS numeric CHECK (value >= 0);
CREATE TABLE docs (
    id int PRIMARY KEY, body text, n int, small smallint, amount tenant, name text COLLATE "POSIX", plain text, k kind, day date, flag bool, u uuid, of text
);
-- Equal names are written in different ways where the server has a collation for that.
DO $$ BEGIN
    CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    ALTER TABLE docs ALTER name TYPE text COLLATE no_case;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
-- Copies with changes, some equal, some empty, one group much greater than the others, and rows without a group.
INSERT INTO docs SELECT i,
    CASE WHEN i % 41 = 0 THEN '' WHEN i % 43 = 0 THEN NULL ELSE
        'The harbour of port Ellis was closed on day ' || i % 11 || '. The crane moved to quay ' || i % 3 || ' before noon, and the north pier stayed open for boats' || CASE WHEN i % 5 = 0 THEN ' ' || i ELSE '' END || '.' END,
    g, g, CASE WHEN i % 2 = 0 THEN g::numeric(10, 2) ELSE g END, CASE WHEN i % 2 = 0 AND EXISTS (SELECT FROM pg_collation WHERE collname = 'no_case') THEN 'TENANT ' ELSE 'tenant ' END || g, 't' || g,
    (ARRAY['a', 'b', 'c']::kind[])[1 + g % 3], '2026-01-01'::date + g, g % 2 = 0, lpad(g::text, 32, '0')::uuid, (ARRAY['x', 'y', NULL])[1 + i % 3]
FROM (SELECT i, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 3 = 0 THEN 4 ELSE i % 29 END AS g FROM generate_series(1, 320) i) x;

CREATE TABLE one_group (id int PRIMARY KEY, body text, of text);
-- Finds the same with a call for each group.
CREATE FUNCTION alone(call text, within text, sides int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    one text;
BEGIN
    FOR one IN EXECUTE format('SELECT min(%I::text COLLATE "C") FROM docs WHERE %1$I IS NOT NULL GROUP BY %1$I', within) LOOP
        DELETE FROM one_group;
        EXECUTE format('INSERT INTO one_group SELECT id, body, of FROM docs WHERE %I = %L', within, one);
        RETURN QUERY EXECUTE format(call, repeat('''one_group'',', sides));
    END LOOP;
END $$;
-- The number of rows of a call with `within`, and whether they are the same as those of the calls on each group, without rows of one source if `across`.
CREATE FUNCTION same(sides int, method text, more text, within text, across bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    call text := format('SELECT format(''%%%%s %%%%s %%%%s'', left_id, right_id, similarity) FROM near_duplicates%s(%%s %s, method => %L',
        CASE sides WHEN 2 THEN '_between' END, more, method);
    found text[];
    expected text[];
BEGIN
    EXECUTE format('SELECT array_agg(f ORDER BY f COLLATE "C") FROM (' || call || ', within => %L%s)) x(f)', repeat('''docs'',', sides), within,
        CASE WHEN across THEN ', across => ''of''' END) INTO found;
    call := call || CASE WHEN across THEN ') p JOIN docs l ON l.id = left_id JOIN docs r ON r.id = right_id WHERE l.of <> r.of' ELSE ')' END;
    SELECT array_agg(f ORDER BY f COLLATE "C") FROM alone(call, within, sides) f INTO expected;
    RETURN cardinality(found) || CASE WHEN found = expected THEN ' same' ELSE ' other' END;
END $$;

SELECT method, more, same(1, method, more, 'n', false) AS pairs, same(1, method, more, 'n', true) AS across,
    same(2, method, more, 'n', false) AS of_two, same(2, method, more, 'n', true) AS across_of_two
FROM (VALUES ('jaccard', '0.8'), ('cosine', '0.9, shingle => 2'), ('containment', '0.9'), ('edit', '0.95'), ('minhash', '0.8'), ('simhash', '0.9'), ('imatch', 'NULL'),
    ('repeatability', '0.5'), ('runs', '0.5'), ('tlcs', '0.5'), ('exact_text', 'NULL')) m(method, more);
-- Columns of all types with an order. Equal values may be written in different ways.
SELECT w AS within, same(1, 'jaccard', '0.8', w, false) AS pairs, same(2, 'jaccard', '0.8', w, true) AS across_of_two
FROM unnest('{n, small, amount, name, plain, k, day, flag, u}'::text[]) w;
-- With little memory, and one or more threads, large groups are read by themselves.
SET neardup.memory = '1MB';
SET neardup.threads = 1;
SELECT same(1, 'jaccard', '0.8', 'flag', true), same(2, 'edit', '0.95', 'flag', false);
SET neardup.threads = 3;
SELECT same(1, 'jaccard', '0.8', 'flag', true), same(2, 'edit', '0.95', 'flag', false);
RESET neardup.memory;
RESET neardup.threads;

-- No pair across groups is a candidate.
SELECT count(*) FROM near_duplicates('docs', 0.8, within => 'n');
SELECT documents, skipped_null, candidates <= (SELECT sum(g * (g - 1) / 2) FROM (SELECT count(*) AS g FROM docs WHERE n IS NOT NULL GROUP BY n) x) AS few
FROM near_duplicates_stats();
-- Clusters, what to remove, passages and the nearest are those of each group.
SELECT count(*), count(DISTINCT (cluster_id, n)) = count(DISTINCT cluster_id) AS of_one_group FROM near_duplicate_clusters('docs', 0.8, within => 'n') JOIN docs USING (id);
SELECT count(*), bool_and(a.n = b.n AND a.of <> b.of) FROM eliminate('docs', 0.8, within => 'n', across => 'of') e JOIN docs a USING (id) JOIN docs b ON b.id = kept_id;
SELECT count(*), bool_and(a.n = b.n) FROM nearest('docs', 1, within => 'n') e JOIN docs a USING (id) JOIN docs b ON b.id = nearest_id;
SELECT count(*), (SELECT count(*) FROM alone('SELECT id || '' '' || nearest_id FROM nearest(%s 1)', 'n', 1)) FROM nearest('docs', 1, within => 'n');
-- The nearest of other sources, as SQL finds them.
WITH found AS (SELECT id, nearest_id, rank FROM nearest('docs', 2, across => 'of')), expected AS (
    SELECT a.id, b.id, row_number() OVER (PARTITION BY a.id ORDER BY jaccard(a.body, b.body) DESC, b.id) AS rank FROM docs a JOIN docs b ON a.of <> b.of WHERE jaccard(a.body, b.body) > 0)
SELECT (SELECT count(*) FROM found) AS rows, NOT EXISTS (TABLE found EXCEPT TABLE expected) AS same;
WITH found AS (SELECT id, nearest_id, rank FROM nearest('docs', 2, within => 'n', across => 'of')), expected AS (
    SELECT a.id, b.id, row_number() OVER (PARTITION BY a.id ORDER BY jaccard(a.body, b.body) DESC, b.id) AS rank FROM docs a JOIN docs b ON a.n = b.n AND a.of <> b.of WHERE jaccard(a.body, b.body) > 0)
SELECT (SELECT count(*) FROM found) = (SELECT count(*) FROM expected WHERE rank <= 2) AS as_many, NOT EXISTS (TABLE found EXCEPT TABLE expected) AS same;
-- It is known after all rows only which numbers are equal.
CREATE VIEW priced AS SELECT id, n, (id % 3)::numeric AS price, body FROM docs;
SELECT nearest('priced', 1, id_column => 'id', text_column => 'body', within => 'n', across => 'price');
DROP VIEW priced;
SELECT count(*), bool_and(a.n = b.n), (SELECT count(*) FROM alone('SELECT '''' FROM partial_duplicates(%s 0.9, min_sentences => 1)', 'n', 1))
FROM partial_duplicates('docs', 0.9, min_sentences => 1, within => 'n') p JOIN docs a ON a.id = left_id JOIN docs b ON b.id = right_id;
SELECT count(*), bool_and(a.n = b.n AND a.of <> b.of)
FROM partial_duplicates_between('docs', 'docs', 0.9, min_sentences => 1, within => 'n', across => 'of') p JOIN docs a ON a.id = left_id JOIN docs b ON b.id = right_id;
SELECT duplicates_report('docs', 0.8, within => 'n', across => 'of') LIKE '<!DOCTYPE html>%' AS is_page;
SELECT using_method, documents, pairs, candidates <= pairs AS few, call FROM near_duplicates_plan('docs', 0.8, within => 'n') LIMIT 1;
-- Advice is about the pairs of the groups, and its calls have them.
SELECT call, s.pairs = (SELECT count(*) FROM near_duplicates('docs', s.threshold, within => 'n', across => 'of')) AS same
FROM suggest('docs', within => 'n', across => 'of') s WHERE using_method = 'jaccard' LIMIT 1;
CREATE TABLE answers AS SELECT left_id, right_id, a.of < 'y' AND b.of < 'z' AS duplicate, a.n = b.n AND a.of <> b.of AS is_pair
FROM suggest_pairs('docs', 20, within => 'n', across => 'of') p JOIN docs a ON a.id = left_id JOIN docs b ON b.id = right_id;
SELECT count(*), bool_and(is_pair) FROM answers;
SELECT recall, call LIKE '%within => ''n''%' AS limited FROM suggest('docs', within => 'n', labels => 'answers') WHERE precision IS NOT NULL LIMIT 1;
SELECT suggest('docs', within => 'nix');
-- An estimate of another table's groups.
CREATE TABLE others AS SELECT id, body, n AS num, of AS src FROM docs;
ALTER TABLE others ADD PRIMARY KEY (id);
SELECT count(*) = (SELECT count(*) FROM near_duplicates_between('docs', 'docs', 0.8, within => 'n', across => 'of')) AS same
FROM near_duplicates_between('docs', 'others', 0.8, within => 'n', right_within => 'num', across => 'of', right_across => 'src');

-- What cannot be.
SELECT near_duplicates('docs', 0.8, within => 'nix');
SELECT near_duplicates('docs', 0.8, across => 'nix');
CREATE TABLE odd (id int PRIMARY KEY, body text, j json, n bigint, name text);
SELECT near_duplicates('odd', 0.8, within => 'j');
SELECT near_duplicates('odd', 0.8, within => 'n', site_column => 'name');
SELECT near_duplicates_between('docs', 'odd', 0.8, within => 'n');
SELECT near_duplicates_between('docs', 'odd', 0.8, within => 'name');
SELECT near_duplicates('docs', 0.8, within => 'n', max_pairs => 3);
SELECT partial_duplicates('docs', 0.9, min_sentences => 1, within => 'n', max_passages => 3);
SELECT count(*) FROM near_duplicates_plan('docs', 0.8, within => 'n', by_node => true);
-- The column is read with the rights of the caller.
CREATE ROLE within_reader;
GRANT USAGE ON SCHEMA within_test TO within_reader;
GRANT SELECT (id, body) ON docs TO within_reader;
SET ROLE within_reader;
SELECT count(*) > 0 FROM near_duplicates('docs', 0.8);
SELECT near_duplicates('docs', 0.8, within => 'n');
SELECT near_duplicates('docs', 0.8, across => 'of');
RESET ROLE;
-- An empty table, one without groups, and one group.
SELECT near_duplicates('odd', 0.1, within => 'n', across => 'name');
INSERT INTO odd SELECT i, 'a b c', NULL, NULL, 'x' FROM generate_series(1, 3) i;
SELECT near_duplicates('odd', 0.1, within => 'n');
SELECT count(*) FROM near_duplicates('odd', 0.1, within => 'name');
SELECT count(*) FROM near_duplicates('odd', 0.1, within => 'name', across => 'name');

DROP SCHEMA within_test CASCADE;
DROP ROLE within_reader;
