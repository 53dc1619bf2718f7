-- Passages that documents share: partial_duplicates and its relatives, spotsigs, imatch, and the method spotsigs.
\pset null NULL
CREATE SCHEMA passages_test;
SET search_path = passages_test, public;

-- Signatures of a text: sets, whatever the case and the white space.
SELECT cardinality(spotsigs('The boat left in the rain.')) AS chains, spotsigs('The boat left in the rain.') = spotsigs(E'the BOAT\n  left, in the rain') AS same,
    spotsigs('Boats, cranes') AS none, spotsigs('') AS empty, spotsigs(NULL) AS null;
-- A text without a word has one signature, of its signs.
SELECT cardinality(spotsigs('!!!')) AS one, spotsigs('! !!') = spotsigs(E'!!\n!') AS same, spotsigs('!!!') = spotsigs('!!') AS other, cardinality(spotsigs(' ')) AS blank;
SELECT spotsigs('the boat left the boat', chain => 1) = spotsigs('the boat') AS repeated, cardinality(spotsigs('der Kran hob die Kiste', ARRAY['Der', 'die'])) AS listed,
    cardinality(spotsigs('the a b c d e f', ARRAY['the'], chain => 3, distance => 2)) AS far, spotsigs('the boat', ARRAY['the']) && spotsigs('the boat sank') AS longer;
-- N counts the documents that are not NULL, also those without a term.
CREATE TABLE terms (id int PRIMARY KEY, body text);
INSERT INTO terms VALUES (1, 'x a'), (2, 'a'), (3, 'x q'), (4, 'x r');
SELECT left_id, right_id FROM near_duplicates('terms', method => 'imatch', options => '{"lo": 0.3}');
INSERT INTO terms SELECT i, NULL FROM generate_series(5, 10) i;
SELECT left_id, right_id FROM near_duplicates('terms', method => 'imatch', options => '{"lo": 0.3}');
UPDATE terms SET body = ' ' WHERE body IS NULL;
SELECT left_id, right_id FROM near_duplicates('terms', method => 'imatch', options => '{"lo": 0.3}');
DROP TABLE terms;
SELECT cardinality(imatch('Quay and crane')) AS one, imatch('Quay and crane') = imatch('crane, AND quay; quay') AS same, imatch('quay') = imatch('crane') AS other, imatch(' .') AS none, imatch(NULL) AS null;
-- Of ten documents all have "the": its idf is 0. A word that is not listed is of one document.
SELECT imatch('the quay', ARRAY['The'], ARRAY[10], 10) = imatch('quay') AS dropped, imatch('the quay', ARRAY['the'], ARRAY[5], 10) = imatch('the quay') AS kept,
    imatch('the quay crane', ARRAY['the', 'quay'], ARRAY[10, 5], 10, hi => 0.9) = imatch('quay') AS only_listed, imatch('the', ARRAY['the'], ARRAY[10], 10) AS nothing;

CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES
    (1, 'A plain start. The crane moved to the north quay in March. Nobody saw it happen. It was a dark night.'),
    (2, E'Other words come first here. More of them follow.\n\nThe crane moved to the north quay in March. Nobody saw it happen.\nIt was a dark night. An end of it.'),
    (3, 'Nothing in common with those.'), (4, NULL), (5, ''), (6, ' .'),
    (7, '起重机三月移到北码头。没有人看见。那是一个黑夜。第二天下雨了。'), (8, '新闻：起重机三月移到北码头。没有人看见。那是一个黑夜。好。');
SELECT * FROM partial_duplicates('docs');
SELECT documents, skipped_null, skipped_empty, tokens > 0 AS signatures, pairs, stop_signatures, stop_documents FROM near_duplicates_stats();
-- The spans cut the passages out; they grow over what the sentences leave.
SELECT left_id, right_id, features, extend, substring(l.body from lower(left_span) for upper(left_span) - lower(left_span)) AS left, substring(r.body from lower(right_span) for upper(right_span) - lower(right_span)) AS right
FROM unnest(ARRAY['imatch', 'shingles', 'spotsigs']) features, unnest(ARRAY[false, true]) extend, partial_duplicates('docs', 0.9, features => features, extend => extend, min_sentences => 2) p
JOIN docs l ON l.id = left_id JOIN docs r ON r.id = right_id ORDER BY features, extend, left_id;
SELECT * FROM partial_duplicates('docs', NULL, NULL::bigint, min_sentences => 4);
SELECT partial_duplicates('docs', min_sentences => 1) LIMIT 1;
SELECT p.* FROM docs a, docs b, shared_passages(a.body, b.body) p WHERE a.id = 1 AND b.id = 2;
SELECT p.* FROM docs a, docs b, shared_passages(a.body, b.body, 0.5, features => 'shingles', shingle => 2, min_sentences => 1, extend => false) p WHERE a.id = 2 AND b.id = 1;
SELECT * FROM shared_passages('a', NULL) UNION ALL SELECT * FROM shared_passages('', '');
-- Two tables, and ids of other types.
CREATE TABLE notes (key text PRIMARY KEY, note text);
INSERT INTO notes SELECT 'note ' || id, 'As we read: ' || body FROM docs;
SELECT * FROM partial_duplicates_between('docs', 'docs', min_sentences => 3) WHERE left_id <> right_id;
SELECT * FROM partial_duplicates('notes', 0.9, ''::text);
ALTER TABLE docs ADD key text;
UPDATE docs SET key = 'doc ' || id;
SELECT left_id, right_id, left_sentence, right_sentence, sentences FROM partial_duplicates_between('docs', 'notes', 0.9, NULL::text, id_column => 'key', text_column => 'body', right_text_column => 'note') ORDER BY 1, 2;
ALTER TABLE docs DROP key;

-- What is found is what the definition says, whatever the threads and the memory.
CREATE TABLE many (id int PRIMARY KEY, body text);
INSERT INTO many SELECT i, (SELECT string_agg((ARRAY['The crane moved a box.', 'The crane moved a box today.', 'A crane moved the box.', 'Nobody saw it.', 'All rights are ours.',
    '码头上有雨。', '码头，有雨！', 'It is the rain of the night, they said.', 'So the rain of the night, she said.', 'So.'])[1 + (abs(hashint8extended(i, k)) % 10)::int], ' ' ORDER BY k) FROM generate_series(1, i % 7) k)
FROM generate_series(1, 40) i;
CREATE TABLE counts AS SELECT word, count(*) AS documents FROM many, LATERAL (SELECT DISTINCT unnest(words(body)) AS word) w GROUP BY word;
CREATE FUNCTION signatures(sentence text, features text) RETURNS bigint[] LANGUAGE sql STABLE AS $$
    SELECT CASE features WHEN 'shingles' THEN shingles(sentence, 2) WHEN 'spotsigs' THEN spotsigs(sentence)
        ELSE (SELECT imatch(sentence, array_agg(word), array_agg(documents), (SELECT count(*) FROM many WHERE body IS NOT NULL)) FROM counts) END
$$;
CREATE TABLE all_sentences AS SELECT features, id, s.no, s.span, ARRAY(SELECT DISTINCT unnest(signatures(s.sentence, features))) AS own
FROM unnest(ARRAY['imatch', 'shingles', 'spotsigs']) features, many, sentences(body) s;
CREATE FUNCTION truth(threshold float8, features text, fewest int)
RETURNS TABLE (left_id bigint, right_id bigint, left_sentence int, right_sentence int, sentences int, left_span int4range, right_span int4range, similarity numeric) LANGUAGE sql STABLE AS $$
    WITH pairs AS (
        SELECT a.id AS a, b.id AS b, a.no AS i, b.no AS j, a.span AS x, b.span AS y, shared::float8 / (cardinality(a.own) + cardinality(b.own) - shared) AS s
        FROM all_sentences a JOIN all_sentences b ON a.id < b.id AND a.features = truth.features AND b.features = truth.features AND a.own && b.own, LATERAL (SELECT count(*) FROM unnest(a.own) o WHERE o = ANY (b.own)) c(shared)
    ),
    islands AS (SELECT *, i - row_number() OVER (PARTITION BY a, b, j - i ORDER BY i) AS island FROM pairs WHERE s >= threshold)
    SELECT a, b, min(i), min(j), count(*)::int, int4range(min(lower(x)), max(upper(x))), int4range(min(lower(y)), max(upper(y))), round(avg(s)::numeric, 6) FROM islands GROUP BY a, b, j - i, island HAVING count(*) >= fewest
$$;
CREATE FUNCTION check_passages(threshold float8, features text, fewest int) RETURNS TABLE (missing bigint, extra bigint, found bool) LANGUAGE sql AS $$
    WITH found AS (SELECT left_id, right_id, left_sentence, right_sentence, sentences, left_span, right_span, round(similarity::numeric, 6) AS similarity
        FROM partial_duplicates('many', threshold, features => check_passages.features, min_sentences => fewest, extend => false, shingle => CASE WHEN check_passages.features = 'shingles' THEN 2 END, options => '{"min_width": 0}')),
    expected AS (SELECT * FROM truth(threshold, check_passages.features, fewest))
    SELECT (SELECT count(*) FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM found) x), (SELECT count(*) FROM (SELECT * FROM found EXCEPT ALL SELECT * FROM expected) x), (SELECT count(*) > 5 FROM found)
$$;
SELECT features, at, fewest, c.* FROM unnest(ARRAY['imatch', 'shingles', 'spotsigs']) features, unnest(ARRAY[0.5, 0.9]) at, unnest(ARRAY[1, 2]) fewest, check_passages(at, features, fewest) c;
SET neardup.threads = 1;
SET neardup.memory = '1MB';
SELECT features, c.* FROM unnest(ARRAY['imatch', 'shingles', 'spotsigs']) features, check_passages(0.5, features, 1) c;
RESET neardup.threads;
RESET neardup.memory;
-- And of two texts, what is found of a table of them.
SELECT count(*) AS pairs, count(*) FILTER (WHERE a.found IS DISTINCT FROM b.found) AS unlike
FROM (SELECT l.id AS a, r.id AS b, (SELECT array_agg(s ORDER BY s) FROM shared_passages(l.body, r.body, 0.5, min_sentences => 1, features => 'shingles', shingle => 2) s) AS found FROM many l JOIN many r ON l.id < r.id) a
LEFT JOIN (SELECT left_id AS a, right_id AS b, array_agg(ROW(left_sentence, right_sentence, sentences, left_span, right_span, similarity) ORDER BY left_sentence, right_sentence) AS found
    FROM partial_duplicates('many', 0.5, min_sentences => 1, features => 'shingles', shingle => 2) GROUP BY 1, 2) b USING (a, b);

-- A sentence that very many have is no reason to look at all of them; it still counts within a passage.
CREATE TABLE pages (id int PRIMARY KEY, body text);
INSERT INTO pages SELECT i, format('Story %s is told by %s. All rights are reserved by us. %s. It ends %s.', md5(i::text), md5((i * 2)::text), CASE WHEN i <= 2 THEN 'The crane moved. All rights are reserved by us. It came back' ELSE md5((-i)::text) END, md5((i + 0.5)::text)) FROM generate_series(1, 800) i;
SELECT left_id, right_id, left_sentence, right_sentence, sentences FROM partial_duplicates('pages', options => '{"max_similar": 100, "lo": 0}');
SELECT pairs, stop_signatures, stop_documents FROM near_duplicates_stats();
SELECT count(*) FROM partial_duplicates('pages', features => 'shingles', options => '{"max_similar": 5000}', min_sentences => 1);
-- Formulas are narrower than sentences: a passage has 20 columns in both texts, without white space, unless the call says otherwise.
CREATE TABLE formulas (id int PRIMARY KEY, body text);
INSERT INTO formulas VALUES (1, 'One of them came home. （完）'), (2, '雨下了一整天也没有停。（完）'), (3, 'The end. （完）'), (4, 'It  is  the  end  of  it  a ll.'), (5, 'Rain. It is the end of it a ll. Snow.');
SELECT width, left_id, right_id, left_span, right_span FROM unnest(ARRAY[NULL, 0, 2, 3, 18, 19, 20, 40]) width,
    partial_duplicates('formulas', min_sentences => 1, features => 'shingles', options => jsonb_strip_nulls(jsonb_build_object('min_width', width))) ORDER BY width NULLS FIRST, 2, 3;
SELECT count(*) FROM shared_passages('Is it the end? Yes.', 'No! Is it the end?', min_sentences => 1) UNION ALL
SELECT count(*) FROM shared_passages('Is it the end? Yes.', 'No! Is it the end?', min_sentences => 1, options => '{"min_width": 11}');

-- A passage that one document has twice: two places that do not overlap, also where it is repeated without a break, and where both grow towards each other.
CREATE TABLE refrains (id int PRIMARY KEY, source text, body text);
INSERT INTO refrains VALUES
    (1, 'a', 'First verse. The crane moved to the quay. Nobody saw it at night. Second verse. The crane moved to the quay. Nobody saw it at night.'),
    (2, 'b', 'The rain fell on the quay all day. The rain fell on the quay all day. The rain fell on the quay all day. The rain fell on the quay all day.'),
    (3, 'a', 'He said that the crane was old. He left it. He said that the crane was very old. He left it. The end.'),
    (4, NULL, NULL), (5, 'b', 'It is said once.');
SELECT min_sentences, left_id, right_id, left_sentence, right_sentence, sentences, left_span, right_span
FROM generate_series(1, 3) min_sentences, partial_duplicates('refrains', features => 'shingles', text_column => 'body', min_sentences => min_sentences, options => '{"within_documents": true}') ORDER BY 1, 2, 3, 4, 5;
SELECT extend, substring(body from lower(left_span) for upper(left_span) - lower(left_span)) AS left, substring(body from lower(right_span) for upper(right_span) - lower(right_span)) AS right
FROM unnest(ARRAY[false, true]) extend, partial_duplicates('refrains', features => 'shingles', extend => extend, text_column => 'body', min_sentences => 1, options => '{"within_documents": true, "min_width": 0}') JOIN refrains ON id = left_id WHERE left_id = 3 AND right_id = 3 ORDER BY 1;
-- What two documents share is the same; a document alone is enough; groups are no limit.
SELECT count(*) FILTER (WHERE w.left_id = w.right_id) > 20 AS within, count(*) FILTER (WHERE w.left_id < w.right_id AND p.left_id IS NULL OR w.left_id IS NULL) AS unlike
FROM partial_duplicates('many', 0.5, features => 'shingles', shingle => 2, min_sentences => 1, options => '{"within_documents": true, "min_width": 0}') w
FULL JOIN partial_duplicates('many', 0.5, features => 'shingles', shingle => 2, min_sentences => 1, options => '{"within_documents": false, "min_width": 0}') p USING (left_id, right_id, left_sentence, right_sentence, sentences, left_span, right_span, similarity);
SELECT count(*) FILTER (WHERE left_id = right_id AND left_sentence + sentences > right_sentence OR left_span && right_span AND left_id = right_id) AS overlapping, count(*) FILTER (WHERE left_id > right_id) AS turned
FROM unnest(ARRAY['imatch', 'shingles', 'spotsigs']) features, partial_duplicates('many', 0.5, features => features, min_sentences => 1, options => '{"within_documents": true}');
CREATE VIEW refrain AS SELECT * FROM refrains WHERE id = 1;
SELECT left_id, right_id, left_sentence, right_sentence, sentences FROM partial_duplicates('refrain', id_column => 'id', text_column => 'body', min_sentences => 2, options => '{"within_documents": true}');
SELECT source, array_agg(DISTINCT (left_id, right_id)) AS pairs FROM partial_duplicates('refrains', features => 'shingles', text_column => 'body', min_sentences => 2, within => 'source', options => '{"within_documents": true}') JOIN refrains ON id = left_id GROUP BY 1 ORDER BY 1;
SELECT * FROM partial_duplicates('refrains', text_column => 'body', across => 'source', options => '{"within_documents": true}');
SELECT * FROM partial_duplicates_between('refrains', 'refrains', text_column => 'body', options => '{"within_documents": true}');
SELECT * FROM shared_passages('a', 'b', options => '{"within_documents": true}');
SELECT * FROM partial_duplicates('refrains', text_column => 'body', options => '{"within_documents": 1}');

-- HTML pages without a view: sentences and places are those of html_text(page, url).
CREATE TABLE html (id int PRIMARY KEY, address text, page text);
INSERT INTO html VALUES
    (1, 'https://port.example/1', '<title>News</title><div><a href=/>Home</a> <a href=/x>Port</a></div><p>The <b>c</b>rane moved to the <i>north</i> quay in Mar&shy;ch.<p>No&#98;ody saw it hap<wbr>pen. It was a dark night, as in <img src="https://port.example/a/crane.png"> here.</p><script>a("The crane moved")</script>'),
    (2, 'https://quay.example/7', '<h1>Letters</h1>Dear all, <blockquote>The crane moved to the north quay in March.<br><span>Nobody</span> saw it happen. It was a <u>dark night</u>, as in <img src="/b/crane.png"> here.</blockquote>Yours, R.'),
    (3, NULL, NULL), (4, NULL, '<p>'), (5, 'x', '<!-- The crane moved to the north quay in March. Nobody saw it happen. It was a dark night. -->');
SELECT count(*) AS of_the_source FROM partial_duplicates('html', text_column => 'page');
SELECT p.*, substring(html_text(l.page) from lower(left_span) for upper(left_span) - lower(left_span)) AS left, substring(html_text(r.page) from lower(right_span) for upper(right_span) - lower(right_span)) AS right
FROM unnest(ARRAY['imatch', 'shingles']) features, partial_duplicates('html', text_column => 'page', tokenizer => 'html', features => features, min_sentences => 2) p JOIN html l ON l.id = left_id JOIN html r ON r.id = right_id \gx
SELECT documents, skipped_null, skipped_empty FROM near_duplicates_stats();
-- With its URL the picture of the first page is a file name as that of the second is.
SELECT p.*, substring(html_text(l.page, l.address) from lower(left_span) for upper(left_span) - lower(left_span)) = substring(html_text(r.page, r.address) from lower(right_span) for upper(right_span) - lower(right_span)) AS equal
FROM partial_duplicates('html', text_column => 'page', tokenizer => 'html', options => '{"url": "address"}') p JOIN html l ON l.id = left_id JOIN html r ON r.id = right_id;
SELECT count(*) FROM partial_duplicates_between('html', 'html', text_column => 'page', tokenizer => 'html', options => '{"url": "address"}') WHERE left_id <> right_id;
-- As of a view of the texts.
CREATE VIEW texts AS SELECT id, html_text(page, address) AS body FROM html;
SELECT count(*) FROM ((SELECT * FROM partial_duplicates('html', 0.5, text_column => 'page', tokenizer => 'html', min_sentences => 1, features => 'shingles', options => '{"url": "address", "min_width": 0}')
    EXCEPT SELECT * FROM partial_duplicates('texts', 0.5, id_column => 'id', min_sentences => 1, features => 'shingles', options => '{"min_width": 0}'))
    UNION ALL (SELECT * FROM partial_duplicates('texts', 0.5, id_column => 'id', min_sentences => 1, features => 'shingles', options => '{"min_width": 0}')
    EXCEPT SELECT * FROM partial_duplicates('html', 0.5, text_column => 'page', tokenizer => 'html', min_sentences => 1, features => 'shingles', options => '{"url": "address", "min_width": 0}'))) x;
SELECT p.* FROM html a, html b, shared_passages(a.page, b.page, tokenizer => 'html', min_sentences => 2) p WHERE a.id = 1 AND b.id = 2;
SELECT count(*) FROM partial_duplicates('html', text_column => 'page', tokenizer => 'words');
-- tlcs and lcs, too.
SELECT method, (SELECT count(*) FROM near_duplicates('html', 0.5, text_column => 'page', method => method)) AS source,
    (SELECT array_agg(round(similarity::numeric, 3)) FROM near_duplicates('html', 0.5, text_column => 'page', method => method, tokenizer => 'html')) AS text,
    (SELECT array_agg(round(similarity::numeric, 3)) FROM near_duplicates('html', 0.5, text_column => 'page', method => method, tokenizer => 'html', options => '{"url": "address"}')) AS with_url,
    (SELECT array_agg(round(similarity::numeric, 3)) FROM near_duplicates('texts', 0.5, id_column => 'id', method => method)) AS of_view,
    (SELECT count(*) FROM near_duplicates_between('html', 'html', 0.5, text_column => 'page', method => method, tokenizer => 'html', options => '{"url": "address"}') WHERE left_id < right_id) AS between
FROM unnest(ARRAY['tlcs', 'lcs']) method;

-- Of equal documents no word is rare: then all count.
CREATE TABLE equal AS SELECT i AS id, 'The crane moved to the north quay. It was a dark night. Nobody saw it happen.'::text AS body FROM generate_series(1, 5) i;
CREATE VIEW equal_2 AS SELECT * FROM equal WHERE id <= 2;
CREATE VIEW equal_3 AS SELECT * FROM equal WHERE id <= 3;
CREATE VIEW equal_5 AS SELECT * FROM equal;
SELECT n, (SELECT count(*) FROM partial_duplicates(('equal_' || n)::regclass, id_column => 'id')) AS passages, (SELECT count(*) FROM near_duplicates(('equal_' || n)::regclass, method => 'imatch', id_column => 'id')) AS pairs
FROM unnest(ARRAY[2, 3, 5]) n;
SELECT unsigned FROM near_duplicates_stats();

-- Documents by SpotSigs.
CREATE TABLE spots AS SELECT a.id AS a, b.id AS b, shared / (cardinality(x) + cardinality(y) - shared)::float8 AS similarity
FROM many a JOIN many b ON a.id < b.id, spotsigs(a.body) x, spotsigs(b.body) y, LATERAL (SELECT count(*) FROM unnest(x) s WHERE s = ANY (y)) c(shared) WHERE shared > 0;
SELECT at, (SELECT count(*) > 5 FROM spots WHERE similarity >= at) AS found, (SELECT count(*) FROM (SELECT * FROM spots WHERE similarity >= at EXCEPT ALL SELECT * FROM near_duplicates('many', at, method => 'spotsigs')) x) AS missing,
    (SELECT count(*) FROM (SELECT * FROM near_duplicates('many', at, method => 'spotsigs') EXCEPT ALL SELECT * FROM spots WHERE similarity >= at) x) AS extra FROM unnest(ARRAY[0.3, 0.5, 0.8, 1]) at;
SELECT documents, skipped_null, skipped_empty > 0 AS skipped_empty, distinct_sets > 0 AS sets FROM near_duplicates_stats();
SELECT * FROM near_duplicates('docs', 0.3, method => 'spotsigs') ORDER BY 1;
SELECT * FROM near_duplicates_between('docs', 'docs', 0.3, method => 'spotsigs', options => '{"antecedents": ["the", "a"], "chain": 1}') WHERE left_id < right_id;
SELECT count(*) > 5 AS counted FROM near_duplicates('many', 0.5, method => 'spotsigs', options => '{"antecedents": 3, "chain": 2, "distance": 2}');
SELECT count(*) > 0 AS removed FROM eliminate('many', 0.8, method => 'spotsigs');

-- Passages of which some words were edited. They have no sentences.
CREATE TABLE edited (id int PRIMARY KEY, source text, body text);
INSERT INTO edited VALUES
    (1, 'a', 'Harbour news. The crane moved to the north quay in March. Nobody saw it happen, as it was dark. It weighs 3.5 tonnes. The council met on Monday.'),
    (2, 'b', E'You wrote that the crane moved to the SOUTH quay in March.\n\nNobody really saw it happen, as it was dark: it weighs 3.5 tonnes. I saw it!'),
    (3, 'a', '<p>In March, they say, the crane moved to <b>the</b> north quay in March. Nobody saw it happen, as was dark. It weighs 3.5 tonnes! So?'),
    (4, NULL, NULL), (5, 'b', ''), (6, 'a', 'The crane moved.');
SELECT p.*, substring(l.body from lower(left_span) for upper(left_span) - lower(left_span)) AS left, substring(r.body from lower(right_span) for upper(right_span) - lower(right_span)) AS right
FROM partial_duplicates('edited', edits => 0.1, min_length => 20, text_column => 'body') p JOIN edited l ON l.id = left_id JOIN edited r ON r.id = right_id ORDER BY 1, 2;
SELECT documents, skipped_null, skipped_empty, tokens, candidates, pairs, stop_signatures, stop_documents FROM near_duplicates_stats();
SELECT left_id, right_id, left_span, right_span FROM partial_duplicates('edited', edits => 0.1, min_length => 20, text_column => 'body', tokenizer => 'html') WHERE right_id = 3;
SELECT count(*) FROM partial_duplicates('edited', edits => 0, text_column => 'body', min_length => 9);
SELECT p.left_span, p.right_span, round(p.similarity::numeric, 4) AS similarity FROM edited a, edited b, shared_passages(a.body, b.body, edits => 0.1, min_length => 20) p WHERE a.id = 2 AND b.id = 1;
SELECT left_id, right_id FROM partial_duplicates_between('edited', 'edited', edits => 0.1, min_length => 20, text_column => 'body', right_text_column => 'body') ORDER BY 1, 2;
SELECT left_id, right_id FROM partial_duplicates('edited', edits => 0.1, min_length => 20, text_column => 'body', tokenizer => 'html', within => 'source');
SELECT left_id, right_id FROM partial_duplicates('edited', edits => 0.1, min_length => 20, text_column => 'body', across => 'source') ORDER BY 1, 2;
SELECT count(*) FROM partial_duplicates('edited', edits => 0.1, min_length => 20, text_column => 'body', options => '{"max_similar": 2}');
SELECT stop_signatures, stop_documents FROM near_duplicates_stats();
SELECT * FROM partial_duplicates('edited', edits => 0.1, min_length => 20, text_column => 'body', tokenizer => 'html', max_passages => 1);
-- Twice in one document: apart, one after the other, and again and again.
CREATE TABLE twice (id int PRIMARY KEY, source text, body text);
INSERT INTO twice VALUES (1, 'a', 'One two three four five six seven eight. A gap. One two THREE 4 five six seven eight.'), (2, 'a', 'one two three four five six seven eight one two three IV five six seven eight'),
    (3, 'b', repeat('la ', 30)), (4, 'b', 'one two three four five six seven eight');
SELECT left_id, right_id, left_span, right_span, round(similarity::numeric, 2) AS similarity FROM partial_duplicates('twice', edits => 0.2, min_length => 7, text_column => 'body', options => '{"within_documents": true}') ORDER BY 1, 2, 3, 4;
SELECT left_id, right_id FROM partial_duplicates('twice', edits => 0.2, min_length => 7, text_column => 'body', within => 'source', options => '{"within_documents": true}') ORDER BY 1, 2, left_span;
SELECT shared_passages('a', 'b', edits => 0.1, options => '{"within_documents": true}');
-- Those of an incoming text, by an index of runs: of 24 words 3 are edited, and 6 are not.
CREATE TABLE incoming AS SELECT i AS id, (SELECT string_agg(CASE (i * j) % 11 WHEN 3 THEN 'x' || i ELSE 'w' || i % 7 * 100 + j END, ' ' ORDER BY j) FROM generate_series(1, 40) j) AS body FROM generate_series(1, 70) i;
CREATE INDEX incoming_runs ON incoming USING signature (body text_runs_ops (min_run = 6));
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT b.id, p.* FROM incoming b, shared_passages(b.body, 'of one two three four five', edits => 0.15, min_length => 24) p WHERE b.body && shared_run('of one two three four five', 6);
CREATE TABLE by_index AS SELECT a.id AS a, b.id AS b, p.* FROM incoming a JOIN incoming b ON b.body && shared_run(a.body, 6), shared_passages(b.body, a.body, edits => 0.15, min_length => 24) p;
RESET enable_seqscan;
CREATE TABLE by_scan AS SELECT a.id AS a, b.id AS b, p.* FROM incoming a, incoming b, shared_passages(b.body, a.body, edits => 0.15, min_length => 24) p;
SELECT count(*), count(*) FILTER (WHERE similarity < 1) AS edited, (SELECT count(*) FROM (TABLE by_scan EXCEPT TABLE by_index) lost) AS lost, (SELECT count(*) FROM by_index) - count(*) AS more FROM by_scan;
SELECT partial_duplicates('edited', edits => 0.31, text_column => 'body');
SELECT partial_duplicates('edited', edits => 'NaN', text_column => 'body');
SELECT partial_duplicates('edited', edits => 0.1, min_length => 3, text_column => 'body');
SELECT partial_duplicates('edited', min_length => 30, text_column => 'body');
SELECT partial_duplicates('edited', edits => 0.1, features => 'shingles', text_column => 'body');
SELECT partial_duplicates('edited', edits => 0.1, min_sentences => 1, text_column => 'body');
SELECT partial_duplicates('edited', edits => 0.1, extend => false, text_column => 'body');
SELECT partial_duplicates('edited', edits => 0.1, shingle => 2, text_column => 'body');
SELECT partial_duplicates('edited', edits => 0.1, options => '{"max_gap": 3}', text_column => 'body');
SELECT shared_passages('a', 'b', min_length => 30);
-- Wrong calls.
SELECT * FROM partial_duplicates('docs', 2);
SELECT * FROM partial_duplicates('docs', 'NaN');
SELECT * FROM partial_duplicates('docs', features => 'words');
SELECT * FROM partial_duplicates('docs', min_sentences => 0);
SELECT * FROM partial_duplicates('docs', max_passages => 0);
SELECT * FROM partial_duplicates('docs', min_sentences => 1, max_passages => 1);
SELECT * FROM partial_duplicates('docs', shingle => 3);
SELECT * FROM partial_duplicates('docs', features => 'shingles', shingle => 0);
SELECT * FROM partial_duplicates('docs', options => '{"chain": 3}');
SELECT * FROM partial_duplicates('docs', options => '[]');
SELECT * FROM partial_duplicates('docs', options => '{"lo": 0.5, "hi": 0.4}');
SELECT * FROM partial_duplicates('docs', options => '{"lo": "much"}');
SELECT * FROM partial_duplicates('docs', options => '{"max_similar": 0}');
SELECT * FROM partial_duplicates('docs', options => '{"max_gap": 101}');
SELECT * FROM partial_duplicates('docs', options => '{"min_width": -1}');
SELECT * FROM partial_duplicates('docs', tokenizer => 'chars');
SELECT * FROM partial_duplicates('docs', options => '{"url": "address"}');
SELECT * FROM partial_duplicates('docs', tokenizer => 'html', options => '{"url": "address"}');
SELECT * FROM partial_duplicates('docs', tokenizer => 'html', options => '{"url": 1}');
SELECT * FROM shared_passages('a', 'b', tokenizer => 'html', options => '{"url": "address"}');
SELECT * FROM near_duplicates('docs', method => 'tlcs', tokenizer => 'words');
SELECT * FROM near_duplicates('docs', method => 'tlcs', options => '{"url": "address"}');
SELECT * FROM near_duplicates('docs', method => 'lcs', tokenizer => 'html', options => '{"url": "address"}');
SELECT * FROM partial_duplicates('docs', features => 'spotsigs', options => '{"antecedents": ["of the"]}');
SELECT * FROM partial_duplicates('docs', features => 'spotsigs', options => '{"antecedents": [1]}');
SELECT * FROM partial_duplicates('docs', features => 'spotsigs', options => '{"antecedents": 0}');
SELECT * FROM partial_duplicates('docs', features => 'spotsigs', options => '{"distance": 0}');
SELECT * FROM partial_duplicates('docs', text_column => 'id');
SELECT * FROM partial_duplicates('notes');
SELECT * FROM partial_duplicates_between('docs', 'notes');
CREATE TABLE made (id int PRIMARY KEY, body text[]);
SELECT * FROM partial_duplicates('made');
SELECT * FROM shared_passages('a', 'b', 0);
SELECT * FROM near_duplicates('docs', method => 'spotsigs', tokenizer => 'chars');
SELECT * FROM near_duplicates('docs', method => 'spotsigs', options => '{"antecedents": {}}');
SELECT spotsigs('a', ARRAY['']);
SELECT spotsigs('a', chain => 0);
SELECT spotsigs('a', distance => -1);
SELECT imatch('a', ARRAY['a'], ARRAY[]::bigint[]);
SELECT imatch('a', ARRAY['a'], ARRAY[0]);
SELECT imatch('a', documents => 0);
SELECT imatch('a', lo => 0.5, hi => 0.4);
SET client_min_messages = warning;
DROP SCHEMA passages_test CASCADE;
