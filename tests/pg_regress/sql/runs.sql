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
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "of": "larger"}') ORDER BY 1, 2;
CREATE TABLE items (id int PRIMARY KEY, body text);
INSERT INTO items VALUES (1, 'crane moved to the north quay'), (2, 'the crane moved to the south quay');
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates_between('items', 'docs', 0.5, text_column => 'body', method => 'runs', options => '{"min_run": 4, "of": "left"}') ORDER BY 1, 2;
-- Runs that more documents have do not count: those of both tables are counted, and equal texts each.
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "max_documents": 2}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "max_documents": 100}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates_between('items', 'docs', 0.5, text_column => 'body', method => 'runs', options => '{"min_run": 4, "of": "left", "max_documents": 2}') ORDER BY 1, 2;
SELECT left_id, right_id, round(similarity::numeric, 3) FROM near_duplicates('docs', 0.1, text_column => 'body', method => 'runs', options => '{"min_run": 5, "max_documents": 1}') ORDER BY 1, 2;
SELECT similarity, evidence FROM explain_pair('one two three four five six seven eight nine ten eleven twelve', 'One two three, four five six seven eight nine ten eleven twelve thirteen!') WHERE method = 'runs';
SELECT id, kept_id FROM eliminate('docs', 0.4, text_column => 'body', method => 'runs', options => '{"min_run": 5}', keep => 'first') ORDER BY 1;
-- The report shows the runs that most documents have, for this method only.
SELECT m[1] AS documents, m[2] AS tokens, m[3] AS text, m[4] AS example
FROM duplicates_report('docs', 0.4, text_column => 'body', method => 'runs', options => '{"min_run": 5}') html,
    regexp_matches(substring(html FROM '<section id="runs">.*?</section>'), '<tr><td>(.*?)</td><td>(.*?)</td><td><bdi>(.*?)</bdi></td><td>(?:<[^>]*>)*([^<]+)<', 'g') m;
SELECT html LIKE '%<section id="runs">%' AS shown FROM duplicates_report('docs', 0.4, text_column => 'body') html;
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
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"of": "left"}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"of": "none"}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"min_run": 0}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"max_documents": 0}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', options => '{"max_document": 9}');
SELECT * FROM near_duplicates('docs', 0.5, text_column => 'body', method => 'runs', shingle => 2);
DROP SCHEMA runs_test CASCADE;
