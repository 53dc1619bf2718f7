-- Why two texts are near duplicates; what is in documents is never markup.
CREATE SCHEMA report_test;
SET search_path = report_test, public;
SELECT method, round(similarity::numeric, 4) AS similarity, evidence
FROM explain_pair('The quick brown fox jumps over the lazy dog. Then it sleeps.', 'Then it sleeps? The QUICK brown fox jumps over the lazy cat');
SELECT method, similarity, evidence FROM explain_pair('', 'something') WHERE method IN ('jaccard', 'edit', 'passages');
SELECT count(*), bool_and(similarity = 1) FROM explain_pair('the same words, here and there', 'the same words, here and there');
SELECT count(*) FROM explain_pair(NULL, 'x');
SELECT p->'left_span' AS span, substring('市图书馆将于下周一重新开放' FROM (p->'left_span'->>0)::int FOR (p->'left_span'->>1)::int - (p->'left_span'->>0)::int) AS passage
FROM explain_pair('市图书馆将于下周一重新开放', '据报道，市图书馆将于下周二重新开放') e, jsonb_array_elements(e.evidence->'passages') p WHERE e.method = 'passages';
CREATE TABLE hostile (id text PRIMARY KEY, body text);
INSERT INTO hostile VALUES
    ('<script>alert(1)</script>', '<script>alert("body")</script> one two three four five </style><img src=x onerror=alert(2)> six seven eight & nine'),
    ('" onclick="alert(3)', '<script>alert("body")</script> one two three four five </style><img src=x onerror=alert(2)> six seven eight & nine ten');
CREATE TABLE page AS SELECT duplicates_report('hostile', 0.5, NULL::text) AS html;
SELECT html LIKE '<!DOCTYPE html>%</html>' || chr(10) AS whole, html ~ '<script|<img|onclick="alert|alert\("' AS dangerous,
    (SELECT count(*) FROM regexp_matches(html, '</style>', 'g')) AS styles, html ~ 'https?://|src=[^x]' AS loads, html LIKE '%&lt;script&gt;alert(1)%' AS escaped FROM page;
SELECT html ~ '<script|<img' AS dangerous, html LIKE '<div class="nd">%</div>' AS whole, html LIKE '%<svg%' AS plot
FROM diff_html('<script>x</script> a b c d e', '<script>x</script> a b c d f') html;
SELECT diff_html('a', NULL) IS NULL;
-- Chains and templates are told of.
CREATE TABLE chain AS SELECT i AS id, (SELECT string_agg('w' || j, ' ') FROM generate_series(i, i + 20) j) AS body FROM generate_series(1, 200) i;
SELECT html LIKE '%hold together by chains%' AS chain, html LIKE '%The weakest links%' AS links, html LIKE '%A chain: most of these%' AS card
FROM duplicates_report('chain', 0.8, id_column => 'id') html;
SELECT max(size), count(*) > 190 AS nearly_all, bool_and(similarity >= 0.8) AS near FROM near_duplicate_clusters('chain', 0.8, id_column => 'id', clustering => 'star');
SELECT html LIKE '%There are none.%' AS none FROM duplicates_report('chain', 1, id_column => 'id') html;
SELECT duplicates_report('chain', 0.8, id_column => 'id', max_clusters => -1);
SELECT html LIKE '%has 200 of 200 documents%' AS chained FROM duplicates_report('chain', 0.8, id_column => 'id', max_clusters => 0) html;
DROP SCHEMA report_test CASCADE;
