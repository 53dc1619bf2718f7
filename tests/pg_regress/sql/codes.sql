-- Feature codes: feature_code, repeatability, code_repeatability, and near_duplicates with methods repeatability and exact_code.
SET client_min_messages = warning;
\pset null NULL

-- The vectors of the definition.
SELECT feature_code('系统采用的特征码提取算法是基于语法获取特征的方法。这种方法将网页内容看成字符流，以一些标点符号和常用汉字作为锚点，从网页内容中抽取文字作为网页特征码。');
SELECT code_repeatability(a, b) = 1 / 19::float8 AS contained, code_repeatability(b, a) = 1 / 20::float8 AS container
FROM (VALUES ('王示一差站高只事就示对题最机给害严府形象', '在中哈服地统学责水造和海一七最座成架人')) v(a, b);
SELECT code_repeatability('xabcx', 'abc') AS whole, code_repeatability('abc', 'xabcx') AS part, code_repeatability('', 'a'), code_repeatability('a', ''), code_repeatability(NULL, 'a');

-- Anchors of one's own; texts without punctuation, and without anything.
SELECT feature_code('一个的东西，两个的东西。', anchors => '的', min_length => 0), feature_code('abc', min_length => 4, fallback => 2) AS fallback, feature_code('abc', min_length => 0) AS short,
    feature_code(E' \n\t') AS blank, feature_code(''), feature_code(NULL);
-- Three paragraphs without a unit among them: their ends.
SELECT feature_code(E'first one.\n\nsecond one.\n\nthird one!', unit_length => 100, paragraphs => 3, ends => 1, min_length => 1) AS ends,
    feature_code(E'first one.\n\nsecond one.\n\nthird one!', unit_length => 100, paragraphs => 4, min_length => 1) AS joined,
    feature_code(E'first one.\n\nsecond one.\n\nthird one!', unit_length => 9, paragraphs => 3, min_length => 1) AS units,
    feature_code(E'first one.\n\nsecond one.\n\nthird one!', cut => 5, min_length => 1) AS cut;
SELECT repeatability(a, a || '，又一句话') < 1 AS more, repeatability(a || '，又一句话', a) > 0.7 AS whole FROM (VALUES ('甲说乙听，丙说丁听。戊说己听；庚说辛听！壬说癸听')) v(a);

-- Pairs are those of all comparisons.
CREATE SCHEMA codes_test;
SET search_path = codes_test, public;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, (SELECT string_agg(chr(97 + (abs(hashint8extended(i % 29, k)) % 3)::int) || CASE WHEN k % 2 = 0 THEN ', ' ELSE 'x' END, '' ORDER BY k) FROM generate_series(1 + i % 5, 8 + i % 17) k)
FROM generate_series(1, 200) i;
INSERT INTO docs VALUES (1001, NULL), (1002, ''), (1003, ' '), (1004, '.'), (1005, '甲说乙听，丙说丁听。戊说己听；庚说辛听！壬说癸听。'), (1006, '题：甲说乙听，丙说丁听。戊说己听；庚说辛听！壬说癸听。'), (1007, '甲说乙听？丙说丁听。戊说己听，庚说辛听！壬说癸听。');
CREATE TABLE others AS SELECT id + 5000 AS id, body FROM docs WHERE id % 3 = 0 OR id > 1000;
ALTER TABLE others ADD PRIMARY KEY (id);
CREATE TABLE truth AS
SELECT side, a.id AS a, b.id AS b, greatest(repeatability(a.body, b.body), repeatability(b.body, a.body)) AS repeatability, nullif(feature_code(a.body), '') = feature_code(b.body) AS equal
FROM docs a, LATERAL (SELECT 'left' AS side, * FROM docs WHERE id > a.id UNION ALL SELECT 'right', * FROM others) b
WHERE a.body IS NOT NULL AND b.body IS NOT NULL;
CREATE FUNCTION check_pairs(at float8) RETURNS TABLE (side text, missing bigint, extra bigint, found bool) LANGUAGE sql AS $$
    WITH found AS (
        SELECT 'left' AS side, least(left_id, right_id) AS a, greatest(left_id, right_id) AS b, similarity FROM near_duplicates('docs', at, method => 'repeatability')
        UNION ALL SELECT 'right', * FROM near_duplicates_between('docs', 'others', at, method => 'repeatability')
    ), expected AS (SELECT truth.side, a, b, repeatability FROM truth WHERE repeatability >= at)
    SELECT s, (SELECT count(*) FROM (SELECT * FROM expected WHERE expected.side = s EXCEPT ALL SELECT * FROM found) x), (SELECT count(*) FROM (SELECT * FROM found WHERE found.side = s EXCEPT ALL SELECT * FROM expected) x),
        (SELECT count(*) > 5 FROM found WHERE found.side = s)
    FROM unnest(array['left', 'right']) s
$$;
SELECT at, c.* FROM unnest(array[0.2, 0.5, 0.75, 1]) at, check_pairs(at) c;
SET neardup.threads = 1;
SET neardup.memory = '1MB';
SELECT at, c.* FROM unnest(array[0.2, 0.75]) at, check_pairs(at) c;
RESET neardup.threads;
RESET neardup.memory;
SELECT left_id, right_id, round(similarity::numeric, 3) AS similarity FROM near_duplicates('docs', method => 'repeatability') WHERE left_id > 1000 AND right_id > 1000 ORDER BY 1, 2;
SELECT documents, skipped_null, skipped_empty, distinct_sets > 0 AS codes, verified > 0 AS verified, pairs > 0 AS pairs FROM near_duplicates_stats();

-- Equal codes.
SELECT count(*) > 0 AS found, count(*) = (SELECT count(*) FROM truth WHERE side = 'left' AND equal) AS all, min(similarity) AS least FROM near_duplicates('docs', method => 'exact_code');
SELECT count(*) > 0 AS found, count(*) = (SELECT count(*) FROM truth WHERE side = 'right' AND equal) AS all FROM near_duplicates_between('docs', 'others', method => 'exact_code');
SELECT left_id, right_id, similarity FROM near_duplicates('docs', method => 'exact_code') WHERE left_id > 1000 AND right_id > 1000 ORDER BY 1, 2;
-- Options are the arguments of feature_code.
SELECT count(*) FROM near_duplicates('docs', method => 'exact_code', options => '{"cut": 1, "min_length": 0}') WHERE left_id > 1000 AND right_id > 1000;
SELECT count(*) > 0 AS found FROM near_duplicates('docs', 0.9, method => 'repeatability', options => '{"anchors": "听", "unit_length": 200, "unit_share": 0.5, "paragraphs": 5, "ends": 4, "min_length": 3, "fallback": 9}');

-- Elimination: the longest codes first; a page goes for the one that has the longest common substring with its code of all that stay.
CREATE FUNCTION naive(at float8) RETURNS TABLE (id int, kept_id int, similarity float8) LANGUAGE plpgsql AS $$
DECLARE
    page record;
BEGIN
    CREATE TEMP TABLE kept (no serial, id int, code text) ON COMMIT DROP;
    CREATE TEMP TABLE gone (id int, code text) ON COMMIT DROP;
    FOR page IN SELECT d.id, feature_code(d.body) AS code FROM docs d WHERE feature_code(d.body) <> '' ORDER BY length(feature_code(d.body)) DESC, d.id LOOP
        IF EXISTS (SELECT FROM kept k WHERE code_repeatability(k.code, page.code) >= at) THEN
            INSERT INTO gone VALUES (page.id, page.code);
        ELSE
            INSERT INTO kept (id, code) VALUES (page.id, page.code);
        END IF;
    END LOOP;
    RETURN QUERY SELECT g.id, b.* FROM gone g, LATERAL (SELECT k.id, code_repeatability(k.code, g.code) FROM kept k ORDER BY 2 DESC, no LIMIT 1) b;
    DROP TABLE kept, gone;
END $$;
CREATE FUNCTION check_eliminated(at float8) RETURNS TABLE (missing bigint, extra bigint, found bool) LANGUAGE sql AS $$
    WITH found AS MATERIALIZED (SELECT * FROM eliminate('docs', at, method => 'repeatability')), expected AS MATERIALIZED (SELECT * FROM naive(at))
    SELECT (SELECT count(*) FROM (TABLE expected EXCEPT ALL TABLE found) x), (SELECT count(*) FROM (TABLE found EXCEPT ALL TABLE expected) x), (SELECT count(*) > 20 FROM found)
$$;
SELECT at, c.* FROM unnest(array[0.2, 0.5, 0.75, 1]) at, check_eliminated(at) c;
SET neardup.threads = 3;
SET neardup.memory = '1MB';
SELECT at, c.* FROM unnest(array[0.5, 0.75]) at, check_eliminated(at) c;
RESET neardup.threads;
RESET neardup.memory;
SELECT id, kept_id, round(similarity::numeric, 3) AS similarity FROM eliminate('docs', method => 'repeatability') WHERE id > 1000 ORDER BY 1;
SELECT documents, skipped_null, skipped_empty, distinct_sets > 0 AS codes, pairs = (SELECT count(*) FROM eliminate('docs', method => 'repeatability')) AS eliminated FROM near_duplicates_stats();
-- The same by name, by ids of another type, and as a stream; no pair is made, so there are never too many.
SELECT (SELECT array_agg(e ORDER BY id) FROM eliminate('docs', 0.75, method => 'repeatability', keep => 'longest', max_pairs => 1) e)
    = (SELECT array_agg(e ORDER BY id) FROM (SELECT (eliminate('docs', 0.75, method => 'repeatability')).*) e) AS same;
CREATE TABLE named AS SELECT 'page ' || to_char(id, 'FM0000') AS name, body FROM docs;
SELECT count(*) AS differing FROM (
    SELECT id, kept_id, similarity FROM eliminate('named', 0.75, NULL::text, id_column => 'name', method => 'repeatability')
    EXCEPT SELECT 'page ' || to_char(id, 'FM0000'), 'page ' || to_char(kept_id, 'FM0000'), similarity FROM eliminate('docs', 0.75, method => 'repeatability')
) d;
SELECT e.id, kept_id FROM eliminate('docs', 0.75, method => 'repeatability', options => '{"fallback": 1, "min_length": 100}') e WHERE id > 1000 ORDER BY 1;
-- Other rules, and equal codes, choose among pairs.
SELECT id, kept_id, round(similarity::numeric, 3) AS similarity FROM eliminate('docs', method => 'repeatability', keep => 'first') WHERE id > 1000 ORDER BY 1;
SELECT id, kept_id, similarity FROM eliminate('docs', method => 'exact_code') WHERE id > 1000 ORDER BY 1;

-- Nothing to compare.
CREATE TABLE none (id int PRIMARY KEY, body text);
SELECT * FROM near_duplicates('none', method => 'repeatability');
SELECT * FROM near_duplicates('none', method => 'exact_code');
SELECT count(*) FROM near_duplicates_between('none', 'docs', method => 'repeatability');
SELECT * FROM eliminate('none', method => 'repeatability');

-- What is refused.
SELECT feature_code('a', cut => 0);
SELECT feature_code('a', unit_share => 'NaN');
SELECT feature_code('a', ends => -1);
SELECT feature_code('a', fallback => 1000001);
SELECT code_repeatability(repeat('a', 2000001), 'a');
SELECT * FROM near_duplicates('docs', 0, method => 'repeatability');
SELECT * FROM near_duplicates('docs', method => 'repeatability', tokenizer => 'words');
SELECT * FROM near_duplicates('docs', method => 'repeatability', options => '{"cut": 0}');
SELECT * FROM near_duplicates('docs', method => 'repeatability', options => '{"cut": 1.5}');
SELECT * FROM near_duplicates('docs', method => 'exact_code', options => '{"unit_share": "x"}');
SELECT * FROM near_duplicates('docs', method => 'exact_code', options => '{"anchors": 1}');
SELECT * FROM near_duplicates('docs', method => 'exact_code', options => '{"algorithm": "ppjoin"}');
SELECT * FROM eliminate('docs', 1.5, method => 'repeatability');
SELECT * FROM eliminate('docs', method => 'repeatability', shingle => 3);
SELECT * FROM eliminate('docs', method => 'repeatability', keep => 'shortest');
SELECT * FROM eliminate('docs', method => 'repeatability', options => '{"ends": 0}');
DROP SCHEMA codes_test CASCADE;
