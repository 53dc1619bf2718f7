-- HTML pages, and the methods that compare sketches of documents.
SET client_min_messages = warning;
CREATE SCHEMA web_test;
SET search_path = web_test, public;
RESET client_min_messages;
SELECT html_text('<title>Port &amp; quay</title><p>Caf&eacute;<br>open<script>x()</script> <img src="/a/quay.jpg">');
SELECT html_text('<img src="http://cdn.example/q.png"> <img src=//www.example/a/b.png>', 'https://www.example/page');
SELECT html_text('<b>N</b>eardup un<wbr>believable, un&shy;believable') AS formatted, html_text('<a>a</a>b<div>c</div>d<q>e</q>f') AS parted;
SELECT html_text(NULL) IS NULL AS of_null, html_text('') AS of_nothing;
SELECT words(html_text('see http://a.example/b.c, <b>now</b>'));
-- A million open tags.
SELECT html_text(repeat('<div>', 1000000) || 'deep') AS deep;

CREATE TABLE pages (id int PRIMARY KEY, site text, title text, body text);
INSERT INTO pages
SELECT n, CASE WHEN n % 2 = 0 THEN 'a.example' ELSE 'b.example' END, 'page ' || n % 3,
       '<p>' || string_agg('word' || CASE WHEN w = n THEN 'x' ELSE '' END || w, ' ' ORDER BY w) || '</p>'
FROM generate_series(1, 6) n, generate_series(1, 120) w GROUP BY n;
INSERT INTO pages VALUES
    (7, 'a.example', 'page 9', '<div>Something else entirely</div><style>p {}</style>'),
    (8, NULL, NULL, '<h1>something  ELSE</h1> entirely'),
    (9, NULL, '', '<br>'),
    (10, NULL, 'page 9', NULL),
    (11, 'a.example', 'page 11', '<b>Something else entirely</b>');

SELECT * FROM near_duplicates('pages', 0.9, tokenizer => 'html', text_column => 'body') ORDER BY 1, 2;
SELECT * FROM near_duplicates('pages', 0.7, method => 'minhash', tokenizer => 'html', text_column => 'body') ORDER BY 1, 2;
SELECT skipped_null, skipped_empty, pairs, promised_recall >= 0.95 AS promised, measured_recall, hot_buckets, hot_documents
FROM near_duplicates_stats();
-- The same pairs by the exact join.
SELECT count(*) FROM near_duplicates('pages', 0.7, shingle => 5, tokenizer => 'html', text_column => 'body');
SELECT count(*) AS estimated
FROM near_duplicates('pages', 0.7, options => '{"verify": false, "recall": 0.99}', method => 'minhash', tokenizer => 'html', text_column => 'body');
SELECT measured_recall IS NULL AS not_measured FROM near_duplicates_stats();
SELECT left_id, right_id, similarity FROM near_duplicates('pages', method => 'simhash', tokenizer => 'html', text_column => 'body')
WHERE left_id > 6 ORDER BY 1, 2;
SELECT count(*) FROM near_duplicates('pages', NULL, options => '{"bits": 64, "distance": 0}', method => 'simhash', tokenizer => 'html', text_column => 'body');
SELECT count(*) FROM near_duplicates('pages', 61.0 / 64, options => '{"bits": 64}', method => 'simhash', tokenizer => 'html', text_column => 'body')
UNION ALL
SELECT count(*) FROM near_duplicates('pages', NULL, options => '{"preset": "simhash_web"}', method => 'simhash', tokenizer => 'html', text_column => 'body');
SELECT count(*) FROM near_duplicates('pages', method => 'shingling', tokenizer => 'html', text_column => 'body')
UNION ALL
SELECT count(*) FROM near_duplicates('pages', NULL, options => '{"megashingles": true}', method => 'shingling', tokenizer => 'html', text_column => 'body')
UNION ALL
SELECT count(*) FROM near_duplicates('pages', NULL, options => '{"preset": "henzinger"}', method => 'shingling', tokenizer => 'html', text_column => 'body');

-- Combinations: the chain is the intersection, whatever its order.
CREATE TEMP VIEW chain AS
SELECT * FROM near_duplicates('pages', NULL, options => '{"techniques": ["shingling", "simhash"]}', method => 'combined', tokenizer => 'html', text_column => 'body');
CREATE TEMP VIEW turned AS
SELECT * FROM near_duplicates('pages', NULL, options => '{"techniques": ["simhash", "shingling"]}', method => 'combined', tokenizer => 'html', text_column => 'body');
SELECT (SELECT count(*) FROM chain) AS chain, (SELECT count(*) FROM turned) AS turned,
       (SELECT count(*) FROM chain JOIN turned USING (left_id, right_id)) AS in_both;
SELECT count(*) FROM near_duplicates('pages', NULL, options => '{"high_recall": true}', method => 'combined', tokenizer => 'html', text_column => 'body');
SELECT count(*) FROM near_duplicates('pages', 0.99,
    options => '{"techniques": [{"any": ["shingling", ["exact_text", "simhash"]]}, {"method": "jaccard", "threshold": 0.5}, "cosine"]}',
    method => 'combined', tokenizer => 'html', text_column => 'body');
-- Sites: none within one, any technique between two; a page without a site is of no site.
SELECT left_id, right_id FROM near_duplicates('pages', NULL, options => '{"same_site": "none", "different_site": {"any": ["shingling", "simhash"]}}',
    method => 'combined', tokenizer => 'html', text_column => 'body', site_column => 'site') WHERE left_id > 6 ORDER BY 1, 2;
SELECT left_id, right_id FROM near_duplicates('pages', NULL, options => '{"different_site": "none"}',
    method => 'combined', tokenizer => 'html', text_column => 'body', site_column => 'site') WHERE left_id > 6 ORDER BY 1, 2;
SELECT count(*) FROM near_duplicates('pages', NULL, options => '{"same_site": 1}',
    method => 'combined', tokenizer => 'html', text_column => 'body', site_column => 'site');

-- Equal texts, titles and signatures.
SELECT left_id, right_id FROM near_duplicates('pages', method => 'exact_text', tokenizer => 'html', text_column => 'body') ORDER BY 1, 2;
SELECT count(*) FROM near_duplicates('pages', method => 'exact_text', text_column => 'body');
SELECT left_id, right_id, similarity FROM near_duplicates('pages', method => 'title') ORDER BY 1, 2;
SELECT left_id, right_id FROM near_duplicates('pages', method => 'imatch', tokenizer => 'html', text_column => 'body') WHERE left_id > 6 ORDER BY 1, 2;
SELECT * FROM near_duplicates_between('pages', 'pages', method => 'exact_text', tokenizer => 'html', text_column => 'body') WHERE left_id > 6 ORDER BY 1, 2;
SELECT count(*) FROM near_duplicates_between('pages', 'pages', 0.7, method => 'minhash', tokenizer => 'html', text_column => 'body');

-- A bucket that is too large is expanded in part, and that is said.
CREATE TABLE hot AS SELECT n AS id, repeat('the frame of all pages ', 20) || n AS body FROM generate_series(1, 40) n;
SELECT count(*) < 780 AS fewer FROM near_duplicates('hot', 0.5, options => '{"max_bucket": 5}', method => 'minhash', id_column => 'id', tokenizer => 'words', shingle => 3);
SELECT hot_buckets > 0 AS told, hot_documents >= 40 AS how_many FROM near_duplicates_stats();
SELECT count(*) FROM near_duplicates('hot', 0.5, method => 'minhash', id_column => 'id', shingle => 3);
-- Where all have a template in common the exact join finds the pairs, and that is said.
CREATE TABLE frames AS SELECT n AS id, string_agg(CASE WHEN w <= 36 THEN 'frame' ELSE 'p' || n - (n % 10 = 9 AND w < 40)::int || 'w' END || w, ' ' ORDER BY w) AS body
FROM generate_series(1, 400) n, generate_series(1, 40) w GROUP BY n;
SELECT count(*) FROM near_duplicates('frames', 0.9, method => 'minhash', id_column => 'id', shingle => 1);
SELECT handed_over, measured_recall, hot_buckets, verified < 400 AS few FROM near_duplicates_stats();
SELECT count(*) > 30 AS most FROM near_duplicates('frames', 0.9, options => '{"hand_over": false}', method => 'minhash', id_column => 'id', shingle => 1);
SELECT handed_over, verified > 10000 AS many FROM near_duplicates_stats();
SELECT count(*) FROM near_duplicates_between('frames', 'frames', 0.9, method => 'minhash', id_column => 'id', shingle => 1);

-- Plans.
SELECT DISTINCT bands, "rows", permutations, detection_at_threshold >= 0.95 AS kept FROM neardup_plan(0.8);
SELECT bands, "rows", round(similarity::numeric, 2) AS similarity, round(detection::numeric, 3) AS detection
FROM neardup_plan(preset => 'fineweb') WHERE similarity > 0.59 AND similarity < 0.91;

-- What is refused.
SELECT * FROM neardup_plan(0.8, 1);
SELECT * FROM neardup_plan(2);
SELECT * FROM neardup_plan(preset => 'simhash_web');
\set VERBOSITY default
SELECT * FROM near_duplicates('hot', 0.8, options => '{"recall": 1}', id_column => 'id', method => 'minhash');
SELECT * FROM near_duplicates('hot', 0.8, options => '{"bands": 3}', id_column => 'id', method => 'minhash');
SELECT * FROM near_duplicates('hot', 0.8, options => '{"preset": "henzinger"}', id_column => 'id', method => 'minhash');
SELECT * FROM near_duplicates('hot', 0.8, options => '{"bits": 98}', id_column => 'id', method => 'simhash');
SELECT * FROM near_duplicates('hot', 0.8, options => '{"distance": 3}', id_column => 'id', method => 'simhash');
SELECT * FROM near_duplicates('hot', NULL, options => '{"distance": 64}', id_column => 'id', method => 'simhash');
-- Pairs that are left out stay out, also if the recall is to be high; and the shingle of a call is not that of a simhash.
CREATE TABLE sited (id int PRIMARY KEY, site text, body text);
INSERT INTO sited SELECT i, CASE WHEN i < 4 THEN 'a' WHEN i < 6 THEN 'b' END, (SELECT string_agg('word' || j, ' ') FROM generate_series(1, 80) j) || ' page ' || i FROM generate_series(1, 7) i;
SELECT options, count(*), count(*) FILTER (WHERE a.site = b.site) AS of_one_site
FROM unnest(ARRAY['{"high_recall": 0.8, "same_site": "none"}', '{"high_recall": 0.8, "different_site": "none"}', '{"high_recall": 0.8, "same_site": 0.99}', '{"high_recall": 0.8, "same_site": "none", "techniques": [{"method": "simhash", "threshold": 1}]}']::jsonb[]) options,
    near_duplicates('sited', options => options, method => 'combined', text_column => 'body', site_column => 'site') n, sited a, sited b WHERE a.id = left_id AND b.id = right_id GROUP BY 1 ORDER BY 1;
SELECT bool_and(a.similarity = b.similarity) AS same, bool_and(a.similarity = c.similarity) AS own FROM near_duplicates('sited', 0.5, options => '{"techniques": ["simhash"]}', method => 'combined', text_column => 'body') a
    JOIN near_duplicates('sited', 0.5, options => '{"techniques": ["simhash"]}', method => 'combined', text_column => 'body', shingle => 4) b USING (left_id, right_id)
    LEFT JOIN near_duplicates('sited', 0.5, options => '{"techniques": [{"method": "simhash", "shingle": 4}]}', method => 'combined', text_column => 'body') c USING (left_id, right_id);
DROP TABLE sited;
SELECT * FROM near_duplicates('hot', NULL, options => '{"groups": 5}', id_column => 'id', method => 'shingling');
SELECT * FROM near_duplicates('hot', NULL, options => '{"megashingles": 1}', id_column => 'id', method => 'shingling');
SELECT * FROM near_duplicates('hot', 0.9, id_column => 'id', method => 'exact_text');
SELECT * FROM near_duplicates('hot', id_column => 'id', method => 'exact_text', shingle => 2);
SELECT * FROM near_duplicates('hot', NULL, options => '{"lo": 2}', id_column => 'id', method => 'imatch');
SELECT * FROM near_duplicates('hot', NULL, options => '{"techniques": []}', id_column => 'id', method => 'combined');
SELECT * FROM near_duplicates('hot', NULL, options => '{"techniques": ["words"]}', id_column => 'id', method => 'combined');
SELECT * FROM near_duplicates('hot', NULL, options => '{"techniques": [{"method": "simhash", "rows": 1}]}', id_column => 'id', method => 'combined');
SELECT count(*) FROM near_duplicates('hot', NULL, options => '{"techniques": ["cosine"]}', id_column => 'id', method => 'combined');
SELECT * FROM near_duplicates('hot', NULL, options => '{"techniques": ["minhash", "cosine"]}', id_column => 'id', method => 'combined');
SELECT * FROM near_duplicates('hot', NULL, options => '{"same_site": "none"}', id_column => 'id', method => 'combined');
SELECT * FROM near_duplicates('pages', id_column => 'id', text_column => 'body', method => 'combined', site_column => 'site');

-- Any method is a technique: the pairs are the algebra of sets over what each method finds alone.
CREATE TABLE mixed AS
SELECT n AS id, (ARRAY['a.example', 'b.example', 'c.example', NULL])[n % 4 + 1] AS site,
    CASE WHEN n % 11 = 0 THEN NULL ELSE format('The harbour of port %s stays closed until the end of week %s, the mayor said. Nobody was hurt in the %s accident. ', n / 6, n % 3, n % 6)
        || repeat(format('Ships of line %s wait. ', n / 12), n % 5) END AS body
FROM generate_series(1, 72) n;
ALTER TABLE mixed ADD PRIMARY KEY (id);
CREATE TEMP VIEW of_tlcs AS SELECT * FROM near_duplicates('mixed', method => 'tlcs', text_column => 'body');
CREATE TEMP VIEW of_edit AS SELECT * FROM near_duplicates('mixed', 0.9, method => 'edit', text_column => 'body');
CREATE TEMP VIEW of_runs AS SELECT * FROM near_duplicates('mixed', 0.6, method => 'runs', text_column => 'body', options => '{"min_run": 6}');
CREATE TEMP VIEW of_imatch AS SELECT * FROM near_duplicates('mixed', method => 'imatch', text_column => 'body');
CREATE TEMP VIEW of_chain AS SELECT e.* FROM of_edit e JOIN of_tlcs USING (left_id, right_id) JOIN of_runs USING (left_id, right_id);
CREATE TEMP VIEW of_any AS SELECT * FROM of_imatch UNION ALL SELECT * FROM of_chain c WHERE NOT EXISTS (SELECT FROM of_imatch i WHERE (i.left_id, i.right_id) = (c.left_id, c.right_id));
CREATE TEMP VIEW of_sites AS SELECT n.* FROM of_any n JOIN mixed a ON a.id = left_id JOIN mixed b ON b.id = right_id WHERE a.site = b.site
    UNION ALL SELECT n.* FROM of_edit n JOIN mixed a ON a.id = left_id JOIN mixed b ON b.id = right_id WHERE (a.site = b.site) IS NOT TRUE;
\set chain '[{"method": "runs", "min_run": 6, "threshold": 0.6}, "tlcs", {"method": "edit", "threshold": 0.9}]'
\set any '{"any": ["imatch", [{"method": "runs", "min_run": 6, "threshold": 0.6}, "tlcs", {"method": "edit", "threshold": 0.9}]]}'
CREATE TEMP VIEW chain_found AS SELECT * FROM near_duplicates('mixed', method => 'combined', text_column => 'body', options => jsonb_build_object('techniques', :'chain'::jsonb));
CREATE TEMP VIEW any_found AS SELECT * FROM near_duplicates('mixed', method => 'combined', text_column => 'body', options => jsonb_build_object('techniques', :'any'::jsonb));
SELECT count(*) FROM chain_found;
SELECT count(*) FROM (TABLE chain_found EXCEPT TABLE of_chain UNION ALL (TABLE of_chain EXCEPT TABLE chain_found)) differ;
SELECT count(*) FROM any_found;
SELECT count(*) FROM (TABLE any_found EXCEPT TABLE of_any UNION ALL (TABLE of_any EXCEPT TABLE any_found)) differ;
CREATE TEMP VIEW sites_found AS SELECT * FROM near_duplicates('mixed', method => 'combined', text_column => 'body', site_column => 'site',
    options => jsonb_build_object('same_site', :'any'::jsonb, 'techniques', '{"method": "edit", "threshold": 0.9}'::jsonb));
SELECT count(*) FROM sites_found;
SELECT count(*) FROM (TABLE sites_found EXCEPT TABLE of_sites UNION ALL (TABLE of_sites EXCEPT TABLE sites_found)) differ;
-- Between two tables, within groups, and by sets of documents.
SELECT count(*) = 2 * (SELECT count(*) FROM any_found) AS both_ways
FROM near_duplicates_between('mixed', 'mixed', method => 'combined', text_column => 'body', options => jsonb_build_object('techniques', :'any'::jsonb)) WHERE left_id <> right_id;
SELECT count(*) = (SELECT count(*) FROM chain_found c JOIN mixed a ON a.id = left_id JOIN mixed b ON b.id = right_id WHERE a.site = b.site) AS of_groups
FROM near_duplicates('mixed', method => 'combined', text_column => 'body', within => 'site', options => jsonb_build_object('techniques', :'chain'::jsonb));
SELECT count(*) FROM (SELECT cluster_id, id FROM near_duplicate_clusters('mixed', method => 'combined', text_column => 'body', options => jsonb_build_object('techniques', :'chain'::jsonb))
    EXCEPT SELECT cluster_id, id FROM clusters_of_pairs('SELECT left_id, right_id, similarity FROM pg_temp.chain_found')) differ;
SELECT count(*) > 0 AS some FROM eliminate('mixed', method => 'combined', text_column => 'body', options => jsonb_build_object('techniques', :'chain'::jsonb));
SELECT length(duplicates_report('mixed', method => 'combined', text_column => 'body', options => jsonb_build_object('techniques', :'chain'::jsonb))) > 1000 AS report;
-- What is only looked at: measures without sketches, containment, an edit distance of any size, a method of stored terms.
SELECT count(*) = (SELECT count(*) FROM near_duplicates('mixed', 0.8, text_column => 'body')) AS measure FROM near_duplicates('mixed', 0.8, method => 'combined', text_column => 'body', options => '{"techniques": "jaccard"}');
SELECT count(*) = (SELECT count(*) FROM of_imatch JOIN near_duplicates('mixed', method => 'edit', options => '{"distance": 40}', text_column => 'body') e USING (left_id, right_id)) AS edits
FROM near_duplicates('mixed', NULL, method => 'combined', text_column => 'body', options => '{"techniques": ["imatch", {"method": "edit", "distance": 40}, "containment"]}');
-- Jobs compare what has changed, or all if a technique depends on all.
SELECT neardup_watch('mixed', method => 'combined', text_column => 'body', options => '{"techniques": [{"method": "runs", "min_run": 6, "threshold": 0.6}, {"method": "edit", "threshold": 0.9}]}');
CALL neardup_refresh('mixed');
UPDATE mixed SET body = body || ' Ships wait.' WHERE id % 7 = 0;
CALL neardup_refresh('mixed');
SELECT count(*), (SELECT count(*) FROM (TABLE mixed_pairs EXCEPT SELECT e.* FROM of_edit e JOIN of_runs USING (left_id, right_id)) x) AS more FROM mixed_pairs;
SELECT neardup_unwatch('mixed');
-- In parts, if one method finds the candidates, or several by keys; else by the server of the call.
SET client_min_messages = warning;
CALL near_duplicates_into('mixed', NULL, 'mixed_into', '{"techniques": {"any": [[{"method": "simhash", "threshold": 0.8}, {"method": "edit", "distance": 9}], "exact_code"]}}', text_column => 'body', method => 'combined', parts => 3);
SELECT count(*), count(*) FILTER (WHERE n.similarity IS DISTINCT FROM i.similarity) AS other FROM mixed_into i
    FULL JOIN near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": {"any": [[{"method": "simhash", "threshold": 0.8}, {"method": "edit", "distance": 9}], "exact_code"]}}') n USING (left_id, right_id);
DROP TABLE mixed_into;
CALL near_duplicates_into('mixed', NULL, 'mixed_into', '{"same_site": "runs", "different_site": ["runs", {"method": "edit", "threshold": 0.95}]}', text_column => 'body', site_column => 'site', method => 'combined', parts => 3);
SELECT count(*), count(*) FILTER (WHERE n.similarity IS DISTINCT FROM i.similarity) AS other FROM mixed_into i
    FULL JOIN near_duplicates('mixed', text_column => 'body', site_column => 'site', method => 'combined', options => '{"same_site": "runs", "different_site": ["runs", {"method": "edit", "threshold": 0.95}]}') n USING (left_id, right_id);
DROP TABLE mixed_into;
RESET client_min_messages;
CALL near_duplicates_into('mixed', NULL, 'mixed_into', '{"techniques": {"any": ["tlcs", "imatch"]}}', text_column => 'body', method => 'combined', parts => 3);
SELECT count(*), count(*) FILTER (WHERE n.similarity IS DISTINCT FROM i.similarity) AS other FROM mixed_into i
    FULL JOIN near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": {"any": ["tlcs", "imatch"]}}') n USING (left_id, right_id);
DROP TABLE mixed_into;
-- What is refused.
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": [{"method": "edit", "distanc": 3}]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": [{"method": "edit", "max_pairs": 3}]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": [{"method": "tlcs", "weight": "id"}]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": [{"method": "edit", "threshold": 2}]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": [{"method": "edit", "shingle": 2}]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": [{"method": "runs", "min_run": 0}]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', options => '{"techniques": ["combined"]}');
SELECT * FROM near_duplicates('mixed', 0.9, text_column => 'body', method => 'combined', options => '{"techniques": ["shingling", "exact_code", "imatch"]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', tokenizer => 'tsearch:simple', options => '{"techniques": ["edit"]}');
SELECT * FROM near_duplicates('mixed', text_column => 'body', method => 'combined', site_column => 'site', options => '{"techniques": ["edit"]}');
SELECT count(*) > 0 AS by_characters FROM near_duplicates('mixed', text_column => 'body', method => 'combined', tokenizer => 'chars', options => '{"techniques": [{"method": "simhash", "threshold": 0.8}, "edit"]}');
SELECT count(*) > 0 AS sites_of_tlcs FROM near_duplicates('mixed', text_column => 'body', method => 'combined', site_column => 'site', options => '{"techniques": ["tlcs"]}');
CREATE TABLE tokens AS SELECT id, regexp_split_to_array(body, ' ') AS body FROM mixed;
SELECT * FROM near_duplicates('tokens', text_column => 'body', id_column => 'id', method => 'combined', options => '{"techniques": ["simhash", "edit"]}');
SELECT count(*) > 0 AS of_tokens FROM near_duplicates('tokens', text_column => 'body', id_column => 'id', method => 'combined', options => '{"techniques": ["simhash", "hamming", "imatch"]}');
-- Stored sketches: another threshold by site, and any rule of the method of their type.
CREATE TABLE sketched AS SELECT id, site, minhash(body, 1) AS m, simhash(body) AS s FROM mixed;
SELECT (SELECT count(*) FROM near_duplicates('sketched', 0.6, id_column => 'id', text_column => 'm', method => 'combined', site_column => 'site', options => '{"same_site": 0.9, "different_site": 0.6}'))
    = count(*) FILTER (WHERE (a.site = b.site) IS NOT TRUE OR similarity >= 0.9) AS by_site, count(*) > 0 AS some
FROM near_duplicates('sketched', 0.6, id_column => 'id', text_column => 'm', method => 'minhash') n, sketched a, sketched b WHERE a.id = left_id AND b.id = right_id;
SELECT count(*) = (SELECT count(*) FROM near_duplicates('sketched', id_column => 'id', text_column => 's', method => 'simhash', options => '{"distance": 9}')) AS by_distance
FROM near_duplicates('sketched', id_column => 'id', text_column => 's', method => 'combined', options => '{"techniques": {"any": [{"method": "simhash", "distance": 3}, {"method": "simhash", "distance": 9}]}}');
SELECT * FROM near_duplicates('sketched', id_column => 'id', text_column => 's', method => 'combined', options => '{"techniques": ["simhash", "tlcs"]}');
SELECT * FROM near_duplicates('sketched', id_column => 'id', text_column => 'm', method => 'combined', options => '{"high_recall": true}');
SELECT * FROM near_duplicates('sketched', id_column => 'id', text_column => 'm', method => 'combined', options => '{"max_bucket": 10}');
SELECT * FROM near_duplicates('sketched', id_column => 'id', text_column => 'm', method => 'combined', shingle => 2);
DROP VIEW of_any, of_chain, of_sites, of_tlcs, of_edit, of_runs, of_imatch, chain_found, any_found, sites_found CASCADE;
DROP TABLE mixed, tokens, sketched;
