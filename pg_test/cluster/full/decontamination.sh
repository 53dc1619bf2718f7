#!/usr/bin/env bash
# Test items planted in a corpus in the ways of docs/recipes/training-corpus.md, and how many of them each search of that page
# finds: its tables must be what is printed here. The texts are made; with NEARDUP_DATA a corpus of news and one of plagiarism
# are searched, too.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
export PGOPTIONS='-c client_min_messages=warning'
page=$project/docs/recipes/training-corpus.md

q <<'SQL'
CREATE EXTENSION neardup;
-- A number from 0 to 1 that depends on the arguments only.
CREATE FUNCTION chance(what text, n int) RETURNS float8 IMMUTABLE RETURN ('x' || substr(md5(what || ' ' || n), 1, 8))::bit(32)::bigint / 4294967296.0;
-- Made words, of which the first are the most frequent, and texts of them.
CREATE FUNCTION made_word(n int) RETURNS text IMMUTABLE RETURN
    (ARRAY['ka', 'lo', 'mir', 'su', 'ten', 'vo', 'ra', 'pel', 'di', 'hu', 'gas', 'not', 'wi', 'zed'])[1 + n % 14]
    || (ARRAY['ba', 'ne', 'ri', 'to', 'lum', 'se', 'fy', 'kan', 'do', 'gi', 'mas', 'pu', 'vel', 'xo', 'ju'])[1 + n / 14 % 15] || COALESCE(NULLIF(n / 210, 0)::text, '');
CREATE FUNCTION made_text(what text, words int) RETURNS text IMMUTABLE RETURN
    (SELECT string_agg(made_word((3000 ^ chance(what, n))::int - 1), ' ' ORDER BY n) FROM generate_series(1, words) n);

CREATE TABLE kinds (kind text PRIMARY KEY, n int);
INSERT INTO kinds VALUES ('verbatim', 1), ('case and punctuation changed', 2), ('embedded in a page', 3), ('cut in half', 4),
    ('every tenth word replaced', 5), ('every fourth word replaced', 6), ('not there', 7);
-- Each item begins with the instruction of its benchmark, which 200 pages have that have no item.
CREATE FUNCTION instruction() RETURNS text IMMUTABLE RETURN 'Read the text below with care, and choose the one of the four answers that follows from it. Write down its letter and nothing else:';
CREATE FUNCTION half(body text) RETURNS text IMMUTABLE RETURN
    (SELECT string_agg(word, ' ' ORDER BY n) FROM unnest(string_to_array(body, ' ')) WITH ORDINALITY w(word, n) WHERE n > cardinality(string_to_array(body, ' ')) / 2);
CREATE FUNCTION replaced(body text, each int) RETURNS text IMMUTABLE RETURN
    (SELECT string_agg(CASE WHEN n % each = 0 THEN 'other' || n ELSE word END, ' ' ORDER BY n) FROM unnest(string_to_array(body, ' ')) WITH ORDINALITY w(word, n));
CREATE FUNCTION respelt(body text) RETURNS text IMMUTABLE RETURN
    (SELECT string_agg(CASE n % 3 WHEN 0 THEN upper(word) || ',' WHEN 1 THEN initcap(word) || ' -' ELSE '(' || word || ')' END, ' ' ORDER BY n)
        FROM unnest(string_to_array(body, ' ')) WITH ORDINALITY w(word, n));

-- Plants the items into the pages, each in a page of its own, and counts what each search finds.
CREATE TABLE searches (search text PRIMARY KEY, n int, call text);
INSERT INTO searches VALUES
('`runs`, 0.5', 1, $$0.5, method => 'runs', options => '{"min_run": 8, "direction": "left"}'$$),
('`max_documents` 100', 2, $$0.5, method => 'runs', options => '{"min_run": 8, "direction": "left", "max_documents": 100}'$$),
('of what is rare', 3, $$0.5, method => 'runs', options => '{"min_run": 8, "direction": "left"}'$$),
('`containment` of words, 0.8', 4, $$0.8, method => 'containment'$$),
('of 8-grams, 0.5', 5, $$0.5, method => 'containment', shingle => 8$$),
('a 13-gram', 6, $$0.001, method => 'containment', shingle => 13$$);
CREATE FUNCTION measured() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    each searches;
BEGIN
    DROP TABLE IF EXISTS corpus, tests, found, rare CASCADE;
    CREATE TABLE tests AS
    SELECT id, kind, instruction() || ' ' || question AS body, question FROM questions JOIN kinds ON kinds.n = 1 + (id - 1) % 7;
    CREATE TABLE corpus AS
    SELECT id, CASE WHEN id % 25 = 0 THEN instruction() || ' ' || body ELSE body END AS body FROM pages
    UNION ALL
    SELECT -id, CASE kind
        WHEN 'verbatim' THEN tests.body
        WHEN 'case and punctuation changed' THEN respelt(tests.body)
        WHEN 'embedded in a page' THEN left(pages.body, 600) || ' ' || tests.body || ' ' || substr(pages.body, 601)
        WHEN 'cut in half' THEN half(tests.body)
        WHEN 'every tenth word replaced' THEN replaced(tests.body, 10)
        WHEN 'every fourth word replaced' THEN replaced(tests.body, 4)
        END
    FROM tests JOIN pages USING (id) WHERE kind <> 'not there';
    ALTER TABLE tests ADD PRIMARY KEY (id);
    ALTER TABLE corpus ADD PRIMARY KEY (id);
    CREATE TABLE found (by int, test int, document int);
    -- Items without the runs that more than 100 documents have.
    CREATE VIEW both_tables AS SELECT 'test ' || id AS id, body FROM tests UNION ALL SELECT 'page ' || id, body FROM corpus;
    CREATE TABLE rare AS SELECT t.id, COALESCE(c.body, t.body) AS body
    FROM tests t LEFT JOIN cut_repeats('both_tables', 8, id_type => NULL::text, id_column => 'id', keep => 'none', min_documents => 101) c ON c.id = 'test ' || t.id;
    FOR each IN TABLE searches LOOP
        EXECUTE format($f$INSERT INTO found SELECT %s, left_id, right_id
            FROM near_duplicates_between(%L, 'corpus', %s, id_column => 'id', text_column => 'body')$f$, each.n, CASE each.n WHEN 3 THEN 'rare' ELSE 'tests' END, each.call);
    END LOOP;
    RETURN QUERY SELECT '| planted, of ' || (SELECT count(*) FROM tests WHERE kind = 'verbatim') || ' each | ' || string_agg(search, ' | ' ORDER BY n) || ' |' FROM searches;
    RETURN QUERY SELECT '| --- |' || string_agg(' ---: |', '') FROM searches;
    RETURN QUERY SELECT '| ' || kind || ' | ' || string_agg(hits::text, ' | ' ORDER BY n) || ' |'
    FROM (SELECT kinds.kind, kinds.n AS row, searches.n, count(document) AS hits
        FROM kinds CROSS JOIN searches JOIN tests ON tests.kind = kinds.kind
        LEFT JOIN found ON by = searches.n AND test = id AND document = -id
        WHERE kinds.kind <> 'not there' GROUP BY kinds.kind, kinds.n, searches.n) c
    GROUP BY kind, row ORDER BY row;
    RETURN QUERY SELECT '| items found where they are not | ' || string_agg(hits::text, ' | ' ORDER BY n) || ' |'
    FROM (SELECT n, count(DISTINCT test) AS hits FROM searches LEFT JOIN found ON by = n AND document <> -test GROUP BY n) c;
    RETURN QUERY SELECT '| pages found for them | ' || string_agg(hits::text, ' | ' ORDER BY n) || ' |'
    FROM (SELECT n, count(DISTINCT document) AS hits FROM searches LEFT JOIN found ON by = n AND document <> -test GROUP BY n) c;
END $$;
CREATE TABLE questions AS SELECT id, made_text('item ' || id, CASE WHEN (id - 1) % 7 = 3 THEN 30 ELSE 12 END + id % 40) AS question FROM generate_series(1, 700) id;
CREATE TABLE pages AS SELECT id, made_text('page ' || id, 200 + id % 200) AS body FROM generate_series(1, 5000) id;
SQL

# table NAME: what the page has between the marks of that name.
table() {
    awk -v name="$1" '$0 == "<!-- " name " -->" { inside = 1; next } $0 == "<!-- /" name " -->" { inside = 0 } inside && NF' "$page"
}
# same NAME TABLE: the page has this table.
same() {
    printf '%s\n\n' "$2"
    expect "the table $1 of the page" "$(table "$1")" "$2"
}

same made "$(q -c 'SELECT measured()')"
corpora_or_skip

# The same with abstracts as items, in news.
q -c 'CREATE TABLE documents (document json)'
load_json "$corpora/en_ohsumed_a/docs.jsonl.gz" documents
q <<'SQL'
TRUNCATE questions, pages;
INSERT INTO questions
SELECT id, (SELECT string_agg(word, ' ' ORDER BY n) FROM regexp_split_to_table(btrim(body), '\s+') WITH ORDINALITY w(word, n) WHERE n <= CASE WHEN (id - 1) % 7 = 3 THEN 30 ELSE 12 END + id % 40)
FROM (SELECT row_number() OVER (ORDER BY document ->> 'id')::int AS id, document ->> 'text' AS body FROM documents WHERE cardinality(regexp_split_to_array(document ->> 'text', '\s+')) > 75) d
WHERE id <= 700;
TRUNCATE documents;
SQL
load_json "$corpora/en_reuters_a/docs.jsonl.gz" documents
q -c "INSERT INTO pages SELECT row_number() OVER (ORDER BY document ->> 'id'), document ->> 'text' FROM documents"
same news "$(q -c 'SELECT measured()')"

# Answers of students to five questions, who were told to copy from an article, to change it a little, to change it much, or not
# to look at it.
q -c 'TRUNCATE documents'
load_json "$corpora/en_plagiarism_a/docs.jsonl.gz" documents
q -c 'CREATE TABLE labels (article text, answer text, label text)' -c "\\copy labels from '$corpora/en_plagiarism_a/label_pairs.tsv' (format csv, delimiter E'\\t', header)"
same students "$(q <<'SQL'
DROP TABLE IF EXISTS tests, corpus CASCADE;
CREATE TABLE tests AS SELECT id, body FROM (SELECT document ->> 'id' AS id, document ->> 'text' AS body FROM documents) d WHERE id IN (SELECT answer FROM labels);
CREATE TABLE corpus AS SELECT id, body FROM (SELECT document ->> 'id' AS id, document ->> 'text' AS body FROM documents) d WHERE id IN (SELECT article FROM labels);
DROP TABLE IF EXISTS found;
CREATE TABLE found (by int, answer text, article text);
DO $do$
DECLARE
    each searches;
BEGIN
    FOR each IN SELECT * FROM searches WHERE n NOT IN (2, 3) LOOP
        EXECUTE format($f$INSERT INTO found SELECT %s, left_id, right_id
            FROM near_duplicates_between('tests', 'corpus', %s, id_type => NULL::text, id_column => 'id', text_column => 'body')$f$, each.n, each.call);
    END LOOP;
END $do$;
SELECT '| told to | answers | ' || string_agg(search, ' | ' ORDER BY n) || ' |' FROM searches WHERE n NOT IN (2, 3);
SELECT '| --- | ---: |' || string_agg(' ---: |', '') FROM searches WHERE n NOT IN (2, 3);
SELECT '| ' || told || ' | ' || max(answers) || ' | ' || string_agg(hits::text, ' | ' ORDER BY n) || ' |'
FROM (SELECT told, row, n, count(*) AS answers, count(f.answer) AS hits
    FROM labels JOIN (VALUES ('cut', 'copy', 1), ('light', 'change it a little', 2), ('heavy', 'change it much', 3), ('non', 'answer without it', 4)) l(label, told, row) USING (label)
    CROSS JOIN searches LEFT JOIN found f ON by = n AND (f.answer, f.article) = (labels.answer, labels.article)
    WHERE n NOT IN (2, 3) GROUP BY told, row, n) c
GROUP BY told, row ORDER BY row;
SQL
)"
finish
