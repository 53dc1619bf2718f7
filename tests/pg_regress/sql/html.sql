-- Every method reads HTML pages, with the URLs of the pages if there is a column of them: it finds what it finds among the texts
-- of html_text(page, url).
SET neardup.threads = 2;
CREATE TABLE pages AS SELECT i AS id, format('https://%s.example.org/a/%s.html', chr(97 + i % 3), i) AS address,
    format('<html><head><title>The lot %s</title><style>p { }</style></head><body><p>The lot of %s<b>wool</b>, sold at the quay on day %s.</p>'
        '<img src="https://%s.example.org/pictures/%s.png"><p>It is said that the price of %s was high, and the crane was in the rain.</p>%s</body></html>',
        i / 4, i / 4, i / 2 % 50, chr(97 + i % 3), i / 4, md5((i / 4)::text), repeat(format('<p>A line of the harbour, %s.</p>', i / 3), i % 2)) AS page
FROM generate_series(1, 120) i;
UPDATE pages p SET page = replace(q.page, '<body>', '<body class="two">'), address = q.address FROM pages q WHERE p.id % 10 = 0 AND q.id = p.id - 3;
ALTER TABLE pages ADD PRIMARY KEY (id);
CREATE VIEW with_url AS SELECT id, html_text(page, address) AS body FROM pages;
CREATE VIEW without AS SELECT id, html_text(page) AS body FROM pages;
CREATE TYPE found AS (l bigint, r bigint, s float8);
CREATE FUNCTION pairs_of(docs regclass, method text, at float8, tokenizer text, options jsonb) RETURNS SETOF found LANGUAGE sql AS $$
    SELECT left_id, right_id, similarity FROM near_duplicates(docs, at, options => options, id_column => 'id', text_column => CASE docs WHEN 'pages'::regclass THEN 'page' ELSE 'body' END,
        method => method, tokenizer => tokenizer)
$$;
SELECT m.method, count(w.l) AS with_urls, count(*) FILTER (WHERE u = w) = count(*) AS as_text, (SELECT count(*) FROM pairs_of('pages', m.method, m.at, 'html', NULL)) AS without,
    (SELECT count(*) FROM (SELECT pairs_of('pages', m.method, m.at, 'html', NULL) EXCEPT SELECT pairs_of('without', m.method, m.at, NULL, NULL)) x) AS other
FROM (VALUES ('jaccard', 0.8::float8), ('cosine', 0.9), ('dice', 0.9), ('overlap', 0.9), ('containment', 0.9), ('edit', 0.9), ('tlcs', 0.5), ('lcs', 0.5), ('runs', 0.5), ('minhash', 0.6),
    ('shingling', 0.1), ('exact_text', 1), ('imatch', 1), ('spotsigs', 0.6), ('title', 1), ('repeatability', 0.8), ('exact_code', 1)) m(method, at)
LEFT JOIN LATERAL pairs_of('pages', m.method, m.at, 'html', '{"url": "address"}') w ON true
LEFT JOIN LATERAL (SELECT u FROM pairs_of('with_url', m.method, m.at, NULL, NULL) u WHERE u = w) u ON true
GROUP BY m.method, m.at ORDER BY m.method COLLATE "C";
-- Signatures of 384 bits are the default of pages alone, and stages of a combination read pages, too.
SELECT o.options, (SELECT count(*) FROM pairs_of('pages', o.method, NULL, 'html', o.options::jsonb)) AS pages,
    (SELECT count(*) FROM ((SELECT pairs_of('pages', o.method, NULL, 'html', o.options::jsonb) EXCEPT SELECT pairs_of('with_url', o.method, NULL, NULL, o.texts::jsonb))
        UNION ALL (SELECT pairs_of('with_url', o.method, NULL, NULL, o.texts::jsonb) EXCEPT SELECT pairs_of('pages', o.method, NULL, 'html', o.options::jsonb))) x) AS other
FROM (VALUES ('simhash', '{"url": "address"}', '{"bits": 384}'),
    ('combined', '{"url": "address", "techniques": ["minhash", {"method": "simhash", "threshold": 0.8}]}', '{"techniques": ["minhash", {"method": "simhash", "threshold": 0.8}]}'),
    ('combined', '{"url": "address", "techniques": {"any": [["hamming", "edit"], ["exact_text", "imatch"], ["runs", "tlcs", "minhash"], ["spotsigs", "cosine"]]}}',
        '{"techniques": {"any": [["hamming", "edit"], ["exact_text", "imatch"], ["runs", "tlcs", "minhash"], ["spotsigs", "cosine"]]}}')) o(method, options, texts);
-- The other functions with a tokenizer.
SELECT count(*), (SELECT count(*) FROM (SELECT * FROM nearest('pages', 2, text_column => 'page', tokenizer => 'html', options => '{"url": "address"}') EXCEPT SELECT * FROM nearest('with_url', 2, id_column => 'id')) x) AS other
FROM nearest('pages', 2, text_column => 'page', tokenizer => 'html', options => '{"url": "address"}');
SELECT count(*), (SELECT count(*) FROM (SELECT * FROM repeated_runs('pages', 8, text_column => 'page', tokenizer => 'html', url => 'address') EXCEPT SELECT * FROM repeated_runs('with_url', 8, id_column => 'id')) x) AS other,
    (SELECT count(*) FROM repeated_runs('pages', 8, text_column => 'page', tokenizer => 'html')) AS without
FROM repeated_runs('pages', 8, text_column => 'page', tokenizer => 'html', url => 'address');
SELECT count(*), (SELECT count(*) FROM (SELECT * FROM cut_repeats('pages', 8, text_column => 'page', tokenizer => 'html', url => 'address') EXCEPT SELECT * FROM cut_repeats('with_url', 8, id_column => 'id')) x) AS other
FROM cut_repeats('pages', 8, text_column => 'page', tokenizer => 'html', url => 'address');
SELECT count(*) AS members, count(DISTINCT cluster_id) AS clusters FROM near_duplicate_clusters('pages', 0.9, text_column => 'page', method => 'edit', tokenizer => 'html', options => '{"url": "address"}');
-- The URL of an image is words or one term.
SELECT image_urls, words(html_text('A <img src="https://cdn.example.org/a-b.png"> <img src="/pictures/c.d.png">quay', 'https://example.org/', image_urls)) FROM unnest('{words,term,NULL}'::text[]) image_urls;
SELECT html_text('a', NULL, 'none');
-- What is refused.
SELECT * FROM near_duplicates('pages', text_column => 'page', options => '{"url": "address"}');
SELECT * FROM near_duplicates('pages', text_column => 'page', method => 'edit', options => '{"url": "address"}');
SELECT * FROM near_duplicates('pages', text_column => 'page', tokenizer => 'html', options => '{"url": "nothing"}');
SELECT * FROM near_duplicates('pages', text_column => 'page', tokenizer => 'html', options => '{"url": 5}');
SELECT * FROM near_duplicates('pages', text_column => 'page', tokenizer => 'chars', method => 'edit');
SELECT * FROM near_duplicates('pages', text_column => 'page', tokenizer => 'html', options => '{"url": "address", "normalize": "nfc"}');
CREATE TABLE sketched AS SELECT id, simhash(page) AS s FROM pages;
SELECT * FROM near_duplicates('sketched', id_column => 'id', text_column => 's', method => 'simhash', options => '{"url": "address"}');
SELECT * FROM nearest('pages', 2, text_column => 'page', options => '{"url": "address"}');
SELECT * FROM cut_repeats('pages', 8, text_column => 'page', url => 'address');
-- A job sees that a URL has changed, also under another name of its column.
SELECT neardup_watch('pages', 0.8, '{"url": "address"}', text_column => 'page', tokenizer => 'html');
CALL neardup_refresh('pages');
UPDATE pages SET address = 'https://b.example.org/x' WHERE id % 11 = 0;
ALTER TABLE pages RENAME address TO place;
CALL neardup_refresh('pages');
SELECT count(*) > 100 AS pairs, (SELECT count(*) FROM ((SELECT left_id, right_id, similarity FROM pages_pairs EXCEPT SELECT * FROM pairs_of('pages', 'jaccard', 0.8, 'html', '{"url": "place"}'))
    UNION ALL (SELECT * FROM pairs_of('pages', 'jaccard', 0.8, 'html', '{"url": "place"}') EXCEPT SELECT left_id, right_id, similarity FROM pages_pairs)) x) AS other FROM pages_pairs;
ALTER TABLE pages DROP place CASCADE;
CALL neardup_refresh('pages');
SELECT neardup_unwatch('pages');
