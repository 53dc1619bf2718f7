-- What a table says again, word for word: repeated_runs, cut_repeats, shared_runs, and the method runs.
\pset null NULL
CREATE SCHEMA runs_test;
SET search_path = runs_test, public;

CREATE TABLE docs (id int PRIMARY KEY, site text, rank int, body text);
INSERT INTO docs VALUES
    (1, 'a', 3, 'One. The crane moved to the north quay in March, and nobody saw it.'),
    (2, 'a', 1, E'Two!\nTHE CRANE moved; to the north quay in march. Then it rained.'),
    (3, 'b', NULL, 'Three: the crane moved to the north quay. Then it rained.'),
    (4, 'b', 2, 'to be or not to be or not to be'), (5, NULL, 5, NULL), (6, NULL, 6, ''),
    (7, NULL, 7, '新闻：起重机三月移到北码头。'), (8, 'b', 8, '起重机三月移到北码头，好。');
SELECT r.*, substring(d.body from lower(span) for upper(span) - lower(span)) AS run, substring(o.body from lower(of_span) for upper(of_span) - lower(of_span)) AS source
FROM repeated_runs('docs', 5) r JOIN docs d USING (id) JOIN docs o ON o.id = of_id;
SELECT documents, skipped_null, skipped_empty, tokens, candidates, verified, pairs, "unsigned" FROM near_duplicates_stats();
SELECT * FROM cut_repeats('docs', 5);
SELECT id, body FROM cut_repeats('docs', 5, snap => 'word');
SELECT id, body FROM cut_repeats('docs', 5, snap => 'sentence', min_left => 5);
SELECT (cut_repeats('docs', 5)).id LIMIT 1;
-- Which place is kept.
SELECT id, of_id FROM repeated_runs('docs', 6, keep => 'longest', min_documents => 3);
SELECT id, of_id FROM repeated_runs('docs', 6, keep => 'min:rank', text_column => 'body') WHERE id < 4;
SELECT id, of_id FROM repeated_runs('docs', 6, keep => 'max:rank', text_column => 'body') WHERE id < 4;
SELECT id, of_id, documents FROM repeated_runs('docs', 6, keep => 'none', text_column => 'body');
SELECT id FROM repeated_runs('docs', 5, within_documents => false) WHERE id = 4;
SELECT id, of_id FROM repeated_runs('docs', 5, within => 'site', text_column => 'body');
SELECT "unsigned" FROM near_duplicates_stats();
-- Lines, sentences and paragraphs.
CREATE TABLE pages (id text PRIMARY KEY, site text, page text);
INSERT INTO pages SELECT 'p' || n, 's' || n % 2, E'Home News About\nPage number ' || n || E' of all.\nAll rights reserved here.\n' || CASE WHEN n < 4 THEN E'A line of some.\n' ELSE '' END
FROM generate_series(1, 6) n;
SELECT * FROM repeated_runs('pages', NULL, NULL::text, text_column => 'page', unit => 'line', min_tokens => 3) ORDER BY id, span LIMIT 5;
SELECT * FROM cut_repeats('pages', NULL, NULL::text, text_column => 'page', unit => 'line', keep => 'none', within => 'site', min_share => 0.8) ORDER BY id;
SELECT id, body FROM cut_repeats('pages', NULL, NULL::text, text_column => 'page', unit => 'sentence', keep => 'none', min_documents => 6) ORDER BY id LIMIT 2;
SELECT count(*) FROM repeated_runs('pages', NULL, NULL::text, text_column => 'page', unit => 'paragraph', min_tokens => 20);
SELECT id, tokens FROM repeated_runs('docs', 12, text_column => 'body', tokenizer => 'chars') WHERE id IN (2, 8);
SELECT * FROM cut_repeats('docs', 4, text_column => 'body', tokenizer => 'html') WHERE id = 8;
-- Two texts.
SELECT * FROM shared_runs('a b c d e f', 'x C, D! e y a b', 2);
SELECT s.tokens, substring(b.body from lower(right_span) for upper(right_span) - lower(right_span)) FROM docs a, docs b, shared_runs(a.body, b.body, 6) s WHERE a.id = 7 AND b.id = 8;
-- In the order of their places. Of very many runs each is found when it is asked for.
SELECT * FROM shared_runs('a b a b', 'b a b a', 1);
SELECT shared_runs(repeat('a b c ', 8000), repeat('a b c d e ', 5000), 1) LIMIT 3;
SELECT * FROM shared_runs('a', NULL) UNION ALL SELECT * FROM shared_runs('', '', 1);
-- The method.
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.4, text_column => 'body', method => 'runs', options => '{"min_run": 5}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "direction": "larger"}') ORDER BY 1, 2;
CREATE TABLE items (id int PRIMARY KEY, body text);
INSERT INTO items VALUES (1, 'crane moved to the north quay'), (2, 'the crane moved to the south quay');
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates_between('items', 'docs', 0.5, text_column => 'body', method => 'runs', options => '{"min_run": 4, "direction": "left"}') ORDER BY 1, 2;
-- Runs that more documents have do not count: those of both tables are counted, and equal texts each.
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "max_documents": 2}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "max_documents": 100}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates_between('items', 'docs', 0.5, text_column => 'body', method => 'runs', options => '{"min_run": 4, "direction": "left", "max_documents": 2}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "max_documents": 1}') ORDER BY 1, 2;
SELECT similarity, evidence FROM explain_pair('one two three four five six seven eight nine ten eleven twelve', 'One two three, four five six seven eight nine ten eleven twelve thirteen!') WHERE method = 'runs';
SELECT id, kept_id FROM eliminate('docs', 0.4, text_column => 'body', method => 'runs', options => '{"min_run": 5}', keep => 'first') ORDER BY 1;
-- The report shows the runs that most documents have, for this method only.
SELECT m[1] AS documents, m[2] AS tokens, m[3] AS text, m[4] AS example
FROM duplicates_report('docs', 0.4, text_column => 'body', method => 'runs', options => '{"min_run": 5}') html,
    regexp_matches(substring(html FROM '<section id="runs">.*?</section>'), '<tr><td>(.*?)</td><td>(.*?)</td><td><bdi>(.*?)</bdi></td><td>(?:<[^>]*>)*([^<]+)<', 'g') m;
SELECT html LIKE '%<section id="runs">%' AS shown FROM duplicates_report('docs', 0.4, text_column => 'body') html;
-- Equal texts are as similar to each other as the runs that count make them, in every form of the answer.
CREATE TABLE equal (id int PRIMARY KEY, body text);
INSERT INTO equal VALUES (1, 'menu home news the crane is sold'), (2, 'menu home news the crane is sold'), (3, 'menu home news other'), (4, 'menu home news again');
CREATE FUNCTION of_equal(call text) RETURNS TABLE (threshold text, rows text) LANGUAGE plpgsql AS $$
BEGIN
    FOREACH threshold IN ARRAY ARRAY['0.1', '0.7', '0.9'] LOOP
        EXECUTE format('SELECT string_agg(r::text, '' '' ORDER BY r::text) FROM %s r', format(call, threshold)) INTO rows;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE VIEW forms AS SELECT call, t.* FROM unnest(ARRAY['near_duplicates(''equal'', %s', 'near_duplicate_clusters(''equal'', %s', 'near_duplicate_clusters(''equal'', %s, clustering => ''star''',
    'near_duplicate_clusters(''equal'', %s, clustering => ''perhaps_similar''', 'eliminate(''equal'', %s', 'eliminate(''equal'', %s, keep => ''max:id''']) WITH ORDINALITY c(call, n),
    of_equal(call || ', method => ''runs'', options => ''{"min_run": 2, "max_documents": 2}'')') t ORDER BY n, threshold;
SET client_min_messages = warning;
TABLE forms;
INSERT INTO equal VALUES (5, 'menu home news the crane is sold');
SELECT call, threshold, rows FROM forms WHERE threshold < '0.9';
RESET client_min_messages;
DROP VIEW forms;
DROP FUNCTION of_equal;
DROP TABLE equal;
-- What is equal of the columns within, as their types say, and however it is written.
CREATE TYPE sort AS ENUM ('a', 'b');
CREATE DOMAIN price AS numeric;
CREATE TABLE sites (id int PRIMARY KEY, body text, n numeric, d price, i interval, f float8, j jsonb, a numeric[], c text, b char(5), s sort, t text, x json);
INSERT INTO sites VALUES (1, 'one two three four five six', 1.0, 1.0, '1 day', '0', '1.0', '{1.0}', 'Example', 'a', 'a', 'a', '1'),
    (2, 'one two three four five six', 1.00, 1.00, '24 hours', '-0', '1.00', '{1.00}', 'example', 'a  ', 'a', 'a', '1'), (3, 'one two three four five six', NULL, 2, '2 days', 'NaN', '"1"', '{1,1}', 'other', 'b', 'b', 'A', '1.0');
DO $$ BEGIN
    CREATE COLLATION no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    ALTER TABLE sites ALTER c TYPE text COLLATE no_case;
EXCEPTION WHEN feature_not_supported THEN -- Servers without ICU have no such collation.
    UPDATE sites SET c = lower(c);
END $$;
SELECT c, (SELECT string_agg(format('%s of %s', id, of_id), ', ') FROM repeated_runs('sites', 3, within => c, text_column => 'body')) AS within,
    (SELECT string_agg(format('%s %s', left_id, right_id), ', ' ORDER BY left_id, right_id) FROM near_duplicates('sites', method => 'combined', text_column => 'body', site_column => c, options => '{"techniques": ["exact_text"], "same_site": "none"}')) AS of_two_sites
FROM unnest('{n,d,i,f,j,a,c,b,s,t,x}'::text[]) c;
SELECT neardup_watch('sites', method => 'combined', text_column => 'body', site_column => 'n', options => '{"techniques": ["exact_text"], "same_site": "none"}');
CALL neardup_refresh('sites');
UPDATE sites SET n = 1.000 WHERE id = 3;
INSERT INTO sites (id, body, n) SELECT 4, body, 5.0 FROM sites WHERE id = 1;
CALL neardup_refresh('sites');
SELECT left_id, right_id FROM sites_pairs ORDER BY 1, 2;
SELECT neardup_unwatch('sites');
SET client_min_messages = warning;
DROP TABLE IF EXISTS sites, sites_pairs, sites_clusters;
DROP COLLATION IF EXISTS no_case;
RESET client_min_messages;
DROP TYPE sort;
DROP DOMAIN price;
-- Markers of list items go and stay with their items.
CREATE TABLE lists (id int PRIMARY KEY, body text);
INSERT INTO lists VALUES (1, 'Alpha beta gamma.'), (2, E'Alpha beta gamma.\n- Delta epsilon zeta stays.\n- Eta theta stays.'), (3, E'  • Kappa ("stays").\n  • Alpha beta gamma.\n  • Alpha beta gamma.\n\n* (Mu) stays.');
CREATE FUNCTION cut_lists(call text) RETURNS TABLE (id bigint, body text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT c.id::bigint, c.body FROM cut_repeats(''lists'', %s) c', call);
END $$;
SELECT call, id, body FROM unnest(ARRAY['unit => ''sentence''', 'unit => ''paragraph''', 'unit => ''line''', '3, snap => ''word''', '3, snap => ''sentence''', '3, snap => ''paragraph''', '3']) WITH ORDINALITY c(call, n),
    LATERAL (SELECT * FROM cut_lists(call)) t ORDER BY n, id;
SELECT id, span, of_span, substring(body FROM lower(span) FOR upper(span) - lower(span)) FROM repeated_runs('lists', unit => 'sentence') JOIN lists USING (id) ORDER BY 1, 2;
DROP FUNCTION cut_lists;
DROP TABLE lists;
-- Documents that are NULL do not count for a share, those without a word do; rows are in the order in which they are read; of texts of as many tokens, either may have more in runs.
CREATE TABLE counted (id int PRIMARY KEY, body text);
INSERT INTO counted VALUES (4, 'x'), (3, 'b c a b c d e'), (2, 'a b c d e f'), (1, 'a b c d e');
SELECT id, span, of_id FROM repeated_runs('counted', 3);
SELECT count(*) FROM repeated_runs('counted', 3, min_share => 0.75);
INSERT INTO counted SELECT i, NULL FROM generate_series(5, 9) i;
SELECT count(*) FROM repeated_runs('counted', 3, min_share => 0.75);
INSERT INTO counted SELECT i, '' FROM generate_series(10, 14) i;
SELECT count(*) FROM repeated_runs('counted', 3, min_share => 0.75);
DROP TABLE counted;
CREATE TABLE counted (id int PRIMARY KEY, body text);
INSERT INTO counted VALUES (1, 'a b a b'), (2, 'a b c d');
SELECT of, (SELECT similarity FROM near_duplicates('counted', 0.1, method => 'runs', options => jsonb_build_object('min_run', 2, 'of', of))) FROM unnest(ARRAY['smaller', 'larger', 'both']) of;
UPDATE counted SET body = CASE id WHEN 1 THEN 'a b c d' ELSE 'a b a b' END;
SELECT of, (SELECT similarity FROM near_duplicates('counted', 0.1, method => 'runs', options => jsonb_build_object('min_run', 2, 'of', of))) FROM unnest(ARRAY['smaller', 'larger', 'both']) of;
DROP TABLE counted;
-- Errors.
SELECT * FROM repeated_runs('docs', 0, text_column => 'body');
SELECT * FROM repeated_runs('docs', unit => 'word', text_column => 'body');
SELECT * FROM repeated_runs('docs', keep => 'shortest', text_column => 'body');
SELECT * FROM repeated_runs('docs', keep => 'min:age', text_column => 'body');
SELECT * FROM repeated_runs('docs', within => 'domain', text_column => 'body');
SELECT * FROM repeated_runs('docs', min_documents => 0, text_column => 'body');
SELECT * FROM repeated_runs('docs', min_share => 1.5, text_column => 'body');
SELECT * FROM repeated_runs('docs', tokenizer => 'tsearch:simple', text_column => 'body');
SELECT * FROM cut_repeats('docs', snap => 'page', text_column => 'body');
SELECT * FROM cut_repeats('docs', unit => 'line', snap => 'line', text_column => 'body');
SELECT * FROM cut_repeats('docs', min_left => -1, text_column => 'body');
SELECT * FROM shared_runs('a', 'b', 0);
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"direction": "left"}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"direction": "none"}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"min_run": 0}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"max_documents": 0}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"max_document": 9}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', shingle => 2);
DROP SCHEMA runs_test CASCADE;
