-- Why two texts are near duplicates; what is in documents is never markup.
CREATE SCHEMA report_test;
SET search_path = report_test, public;
SELECT method, round(similarity::numeric, 4) AS similarity, evidence
FROM explain_pair('The quick brown fox jumps over the lazy dog. Then it sleeps.', 'Then it sleeps? The QUICK brown fox jumps over the lazy cat');
SELECT method, similarity, evidence FROM explain_pair('', 'something') WHERE method IN ('jaccard', 'edit', 'passages');
SELECT count(*), bool_and(similarity = 1) FROM explain_pair('the same words, here and there, and in each other place that has them', 'the same words, here and there, and in each other place that has them');
SELECT count(*) FROM explain_pair(NULL, 'x');
-- What it says is what near_duplicates says, of every method.
CREATE FUNCTION prose(seed int, sentences int) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg('The ' || s || '. ', '' ORDER BY i)
    FROM generate_series(1, sentences) i, LATERAL (
        SELECT string_agg(substr(md5(hashint8extended(seed * 1000 + i, j)::text), 1, 3 + (abs(hashint8extended(seed * 100 + i, j)) % 5)::int), ' ' ORDER BY j) AS s
        FROM generate_series(1, 8) j) d
$$;
CREATE TABLE corpus (id int PRIMARY KEY, body text);
INSERT INTO corpus SELECT i, prose(i % 3, 4 + i % 5) || prose(100 + i % 4, 9) || prose(200 + i % 2, i % 3) FROM generate_series(1, 12) i;
INSERT INTO corpus SELECT 20 + id, overlay(body placing 'edit' from 100 for 3) FROM corpus WHERE id <= 4;
INSERT INTO corpus SELECT 30 + id, upper(body) || ' ' FROM corpus WHERE id <= 2;
INSERT INTO corpus SELECT 40 + i, '市图书馆将于下周' || substr('一二三四', i, 1) || '重新开放，读者可以在网上预约座位。馆内新增了自习室，' || repeat('并且延长了开放时间。', i) FROM generate_series(1, 4) i;
INSERT INTO corpus VALUES (50, ''), (51, ''), (52, ' '), (53, ' '), (54, 'short'), (55, 'short '), (56, 'short'), (57, '!?'), (58, '👩‍💻 🙂'), (59, '👩‍💻 🙃');
CREATE FUNCTION said(threshold float8) RETURNS TABLE(method text, pairs bigint, similar bigint, otherwise bigint) LANGUAGE sql AS $$
    WITH said AS MATERIALIZED (SELECT a.id AS a, b.id AS b, e.* FROM corpus a JOIN corpus b ON a.id < b.id, explain_pair(a.body, b.body) e WHERE method <> 'passages'),
        found AS MATERIALIZED (SELECT m AS method, left_id AS a, right_id AS b, n.* FROM (SELECT DISTINCT method FROM said) d(m),
            near_duplicates('corpus', CASE WHEN m NOT IN ('imatch', 'exact_text', 'title', 'exact_code') THEN threshold END, method => m, text_column => 'body') n)
    SELECT method, count(left_id) AS pairs, count(*) FILTER (WHERE left_id IS NOT NULL AND said.similarity = found.similarity),
        count(*) FILTER (WHERE said.similarity <> found.similarity OR threshold IS NULL AND (left_id IS NOT NULL) <> (evidence->>'pair')::bool)
    FROM said LEFT JOIN found USING (method, a, b)
    GROUP BY 1 ORDER BY 1
$$;
SELECT * FROM said(NULL);
SELECT * FROM said(0.05);
SELECT p->'left_span' AS span, substring('市图书馆将于下周一重新开放' FROM (p->'left_span'->>0)::int FOR (p->'left_span'->>1)::int - (p->'left_span'->>0)::int) AS passage
FROM explain_pair('市图书馆将于下周一重新开放', '据报道，市图书馆将于下周二重新开放') e, jsonb_array_elements(e.evidence->'passages') p WHERE e.method = 'passages';
CREATE TABLE hostile (id text PRIMARY KEY, body text);
INSERT INTO hostile VALUES
    ('<script>alert(1)</script>', '<script>alert("body")</script> one two three four five </style><img src=x onerror=alert(2)> six seven eight & nine'),
    ('" onclick="alert(3)', '<script>alert("body")</script> one two three four five </style><img src=x onerror=alert(2)> six seven eight & nine ten');
CREATE TABLE page AS SELECT duplicates_report('hostile', 0.5, NULL::text) AS html;
SELECT html LIKE '<!DOCTYPE html>%</html>' || chr(10) AS whole, html ~ '<script[^>]|<img|onclick="alert|alert\("' AS dangerous,
    (SELECT count(*) FROM regexp_matches(html, '<script', 'g')) AS scripts, (SELECT count(*) FROM regexp_matches(html, '</style>', 'g')) AS styles, html ~ 'https?://|src=[^x]' AS loads, html LIKE '%&lt;script&gt;alert(1)%' AS escaped FROM page;
SELECT html ~ '<script|<img' AS dangerous, html LIKE '<div class="nd">%</div>' AS whole, html LIKE '%<svg%' AS plot
FROM diff_html('<script>x</script> a b c d e', '<script>x</script> a b c d f') html;
SELECT diff_html('a', NULL) IS NULL;
-- The page allows its own script, by its hash, and no other.
SELECT (regexp_match(html, 'script-src ''sha256-([^'']*)''; base-uri'))[1] = encode(sha256(convert_to((regexp_match(html, '<script>(.*)</script>'))[1], 'UTF8')), 'base64') AS allowed FROM page;
-- What differs is marked, and nothing else: of two texts of eleven words one word.
CREATE TABLE pairs (id int PRIMARY KEY, title text, body text);
INSERT INTO pairs VALUES
    (1, 'First', 'the harbour office pays six cents for each ton of sand'), (2, '<b>Second</b>', 'the harbour office pays nine cents for each ton of sand'),
    (3, NULL, 'شكرا جزيلا على كل شيء'), (4, NULL, 'شكرا جزيلا على كل شيء');
CREATE TABLE seen AS SELECT duplicates_report('pairs', 0.6, text_column => 'body', title_column => 'title', link => 'https://example.org/{id}?a&b', max_clusters => 5, clustering => 'star') AS html;
SELECT m[1] FROM seen, regexp_matches(html, '(<(?:del|ins)>[^<]*</(?:del|ins)>|[0-9]+ words? only on the left, [0-9]+ only on the right)', 'g') m LIMIT 3;
-- The call as it was made, when, by which version, in which time; defaults are left out.
SELECT replace((regexp_match(html, '<code>(.*?)</code>'))[1], '&#39;', '''') AS call,
    html ~ '<p class="nd-soft">[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}[^<.]* by neardup [0-9.]+, in [0-9.]+ m?s\.</p>' AS made FROM seen;
SELECT replace((regexp_match(html, '<code>(.*?)</code>'))[1], '&#39;', '''') AS call
FROM duplicates_report('hostile', NULL, NULL::text, method => 'jaccard', options => '{"max_pairs": 100}', tokenizer => 'words', shingle => 2, multiset => false, max_pairs => 50, max_cluster_size => 9, max_clusters => 20, max_members => 0, max_samples => 1, title_column => 'id') html;
-- One is singular, thousands have separators; titles, and links in which ids are percent-encoded.
SELECT html LIKE '%1 pair of similarity 1%' AS one_pair, html ~ '[^0-9.,]1 (pairs|documents|clusters)' AS plural,
    html LIKE '%href="https://example.org/2?a&amp;b"%' AS linked, html LIKE '%&lt;b&gt;Second&lt;/b&gt;%' AND html NOT LIKE '%<b>%' AS titled FROM seen;
SELECT m[1] FROM duplicates_report('hostile', 0.5, NULL::text, link => '/docs/{id}') html, regexp_matches(html, 'href="(/docs/[^"]*)"', 'g') m GROUP BY m[1] ORDER BY m[1] COLLATE "C";
CREATE TABLE many AS SELECT i AS id, 'the same ' || i % 700 AS body FROM generate_series(1, 1500) i;
SELECT html LIKE '%<dd>1,500</dd>%' AS separators, html LIKE '%All pairs have similarity 1.%' AS equal, html LIKE '%<h2>Groups of identical documents</h2>%' AS groups FROM duplicates_report('many', 1, id_column => 'id') html;
-- Sections with ids, each in the contents; text has its own direction, pictures have labelled axes and are explained.
SELECT (SELECT string_agg(m[1], ' ') FROM regexp_matches(html, '<section id="([a-z]+)">', 'g') m) AS sections,
    (SELECT string_agg(m[1], ' ') FROM regexp_matches(html, '<li><a href="#([a-z]+)">', 'g') m) AS contents,
    html LIKE '%<div class="nd-text" dir="auto">%' AS directions, html LIKE '%Dot plot: the sentences%' AS dot_plot,
    html LIKE '%>pairs (root scale)</text>%>similarity</text>%>documents, clusters</text>%>threshold</text>%' AS axes FROM seen;
-- What other thresholds would give is what they give.
SELECT p.threshold, p.pairs = n.pairs AS same_pairs, p.clusters = c.clusters AND p.redundant = c.redundant AS same_clusters
FROM duplicates_report('corpus', 0.1, text_column => 'body') html,
    regexp_matches(html, '<tr><td>(?:<a href="#at-[0-9]+">)?([0-9.]+)(?:</a>)?</td><td>([0-9,]+)</td><td>([0-9,]+)</td><td>([0-9,]+)</td>', 'g') m,
    LATERAL (SELECT m[1]::float8, m[2]::int, m[3]::int, m[4]::int) p(threshold, pairs, clusters, redundant),
    LATERAL (SELECT count(*) FROM near_duplicates('corpus', p.threshold, text_column => 'body')) n(pairs),
    LATERAL (SELECT count(DISTINCT cluster_id), count(*) - count(DISTINCT cluster_id) FROM near_duplicate_clusters('corpus', p.threshold, text_column => 'body')) c(clusters, redundant);
-- Some pairs of each 0.05 are there, as many as there are up to the number, and each is open; a line of the table leads to them.
CREATE TABLE at_low AS SELECT duplicates_report('corpus', 0.1, text_column => 'body', max_samples => 2, max_clusters => 0) AS html;
SELECT s.step, s.pairs, cardinality(regexp_split_to_array(c.card, '<details class="nd-compare" open>')) - 1 AS shown, c.card LIKE format('%%>%s of %s pair%%', least(s.pairs, 2), s.pairs) AS says, html LIKE format('%%<a href="#at-%s">%%', 5 * s.step) AS linked
FROM at_low, LATERAL (SELECT floor((similarity + 1e-9) * 20)::int AS step, count(*) AS pairs FROM near_duplicates('corpus', 0.1, text_column => 'body') GROUP BY 1) s,
    LATERAL (SELECT split_part(split_part(html, format('id="at-%s">', 5 * s.step), 2), 'class="nd-card"', 1) AS card) c
ORDER BY 1;
-- The least similar pair is there, whatever cluster it is in; without samples no text is.
SELECT html LIKE '%<summary>' || round(n.similarity::numeric, 3) || ': <bdi>%' AS least_pair FROM duplicates_report('corpus', 0.3, text_column => 'body', max_clusters => 0) html,
    LATERAL (SELECT min(similarity) FROM near_duplicates('corpus', 0.3, text_column => 'body')) n(similarity);
SELECT html LIKE '%id="pairs"%' AS pairs, html LIKE '%<details class="nd-compare"%' AS texts FROM duplicates_report('corpus', 0.3, text_column => 'body', max_clusters => 0, max_samples => 0) html;
-- Each pair that is shown can be answered, and without the script none.
SELECT (SELECT count(*) FROM regexp_matches(html, '<fieldset class="nd-answer" data-a="[^"]*" data-b="[^"]*" hidden>', 'g')) = (SELECT count(*) FROM regexp_matches(html, '<details class="nd-compare" open>', 'g')) AS each_pair,
    html LIKE '%<div class="nd-answers" hidden>%' AS bar FROM at_low;
SELECT duplicates_report('pairs', 0.6, text_column => 'body', link => 'javascript:alert({id})');
SELECT duplicates_report('pairs', 0.6, text_column => 'body', link => 'https://example.org/');
SELECT duplicates_report('pairs', 0.6, text_column => 'body', title_column => 'nothing');
SELECT duplicates_report('pairs', 0.6, text_column => 'body', max_samples => 101);
-- Long lists have pages. But for documents all is ASCII, so that a database of any encoding takes the page.
CREATE TABLE versions AS SELECT i AS id, (SELECT string_agg('w' || j, ' ') FROM generate_series(1, 40) j) || ' number' || i AS body FROM generate_series(1, 200) i;
SELECT html ~ '^[\x01-\x7f]*$' AS ascii, (SELECT string_agg(m[1], ', ') FROM regexp_matches(html, '<summary>Versions ([0-9]+ to [0-9]+ of 200)</summary>', 'g') m) AS pages
FROM duplicates_report('versions', 0.8, id_column => 'id') html;
-- Chains and templates are told of.
CREATE TABLE chain AS SELECT i AS id, (SELECT string_agg('w' || j, ' ') FROM generate_series(i, i + 20) j) AS body FROM generate_series(1, 200) i;
SELECT html LIKE '%holds together by chains%' AS chain, html LIKE '%The weakest links%' AS links, html LIKE '%A chain: most of these%' AS card
FROM duplicates_report('chain', 0.8, id_column => 'id') html;
SELECT max(size), count(*) > 190 AS nearly_all, bool_and(similarity >= 0.8) AS near FROM near_duplicate_clusters('chain', 0.8, id_column => 'id', clustering => 'star');
SELECT html LIKE '%There are none.%' AS none FROM duplicates_report('chain', 1, id_column => 'id') html;
SELECT duplicates_report('chain', 0.8, id_column => 'id', max_clusters => -1);
SELECT html LIKE '%has 200 of 200 documents%' AS chained FROM duplicates_report('chain', 0.8, id_column => 'id', max_clusters => 0) html;
DROP SCHEMA report_test CASCADE;
