#!/usr/bin/env bash
# A database that uses the extension in views, generated columns, indexes and constraints survives dump and restore.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

createdb source
q -d source <<'SQL'
CREATE SCHEMA tools;
CREATE EXTENSION neardup SCHEMA tools;
CREATE TABLE docs(
    id bigint PRIMARY KEY,
    body text CHECK (cardinality(tools.words(body)) > 0),
    length int GENERATED ALWAYS AS (cardinality(tools.words(body))) STORED,
    to_sample float8 GENERATED ALWAYS AS (tools.jaccard(body, 'one two three four')) STORED
);
CREATE INDEX docs_words ON docs USING gin (tools.words(body));
CREATE INDEX docs_shingles ON docs USING gin (tools.shingles(body, 2));
INSERT INTO docs VALUES (1, 'one two three four'), (2, 'one two three four five'), (3, 'something else');
CREATE VIEW compared AS
    SELECT a.id AS a, b.id AS b, tools.jaccard(a.body, b.body), tools.cosine(a.body, b.body), tools.resemblance(a.body, b.body, 2)
    FROM docs a JOIN docs b ON a.id < b.id;
CREATE TABLE sketched(
    id bigint PRIMARY KEY,
    body text,
    m tools.minhash_sketch GENERATED ALWAYS AS (tools.minhash(body, 2)) STORED,
    s tools.simhash_sketch GENERATED ALWAYS AS (tools.simhash(body)) STORED,
    mb tools.minhash_ball, sb tools.simhash_ball, tb tools.text_ball,
    CHECK (m OPERATOR(tools.<@) mb)
);
CREATE UNIQUE INDEX ON sketched(s);
CREATE INDEX ON sketched USING hash (m);
INSERT INTO sketched(id, body, mb, sb, tb) SELECT id, body, tools.near(tools.minhash(body, 2), 0.5), tools.near(tools.simhash(body), 3), tools.near(body, 0.5, 2) FROM docs;
INSERT INTO sketched(id, body) VALUES (4, NULL), (5, '');
CREATE MATERIALIZED VIEW pairs AS SELECT * FROM tools.near_duplicates('docs', 0.8);
-- A restore, and from 17 on each refresh, has a search path without these schemas.
CREATE TEXT SEARCH CONFIGURATION own_words (COPY = simple);
CREATE MATERIALIZED VIEW by_words AS SELECT * FROM tools.near_duplicates('docs', 0.8, tokenizer => 'tsearch:own_words');
CREATE MATERIALIZED VIEW clusters AS SELECT * FROM tools.clusters_of_pairs('pairs'::regclass, clustering => 'star');
CREATE MATERIALIZED VIEW described AS SELECT * FROM tools.cluster_stats('by_words'::regclass, NULL::numeric);
CREATE MATERIALIZED VIEW by_query AS SELECT * FROM tools.clusters_of_pairs('SELECT * FROM tools.near_duplicates(''public.docs'', 0.8)');
CREATE VIEW weakest AS SELECT * FROM tools.cluster_links('pairs'::regclass);
REFRESH MATERIALIZED VIEW clusters;
CREATE TABLE apart(name text, EXCLUDE USING signature (tools.near(name, 0.8, method => 'edit') tools.text_ball_gram_ops WITH OPERATOR(tools.&&)));
INSERT INTO apart VALUES ('Jonathan');
CREATE TABLE sets(id int, runs tools.text_runs);
INSERT INTO sets SELECT id, tools.shared_run(body, 1) FROM docs;
INSERT INTO docs VALUES (4, 'ﬁnd the oﬃce');
INSERT INTO sets VALUES (4, tools.shared_run('ﬁnd the oﬃce', 1, normalization => 'nfkc'));
INSERT INTO sketched(id, body, tb) VALUES (6, 'find the office', tools.near('ﬁnd the oﬃce', normalization => 'nfkc'));
CREATE INDEX docs_normal_words ON docs USING signature (body tools.text_set_ops (normalize = nfkc));
CREATE INDEX docs_normal_grams ON docs USING signature (body tools.text_gram_ops (normalize = nfc));
CREATE INDEX docs_groups ON docs USING signature (length, (left(body, 1)) tools.text_group_ops, body);
CREATE INDEX docs_normal_runs ON docs USING signature (body tools.text_runs_ops (min_run = 2, normalize = nfkc));
SQL

contents() {
    q -d "$1" <<'SQL'
SELECT id, length, to_sample FROM docs ORDER BY id;
SELECT * FROM compared ORDER BY a, b;
SELECT * FROM pairs;
SELECT * FROM by_words;
SELECT * FROM clusters ORDER BY cluster_id, id;
SELECT * FROM described;
SELECT * FROM by_query;
SELECT * FROM weakest;
SELECT DISTINCT runs FROM sets ORDER BY runs;
SELECT * FROM sketched ORDER BY id;
SELECT a.id, b.id, a.m OPERATOR(tools.<%>) b.m, a.s OPERATOR(tools.<~>) b.s, a.body OPERATOR(tools.<@) b.tb FROM sketched a, sketched b ORDER BY a.id, b.id;
SELECT * FROM tools.near_duplicates('docs', 0.1) ORDER BY left_id, right_id;
SELECT indexdef, split_part(options, ';', 1) FROM pg_indexes, tools.signature_index_stats(indexname::regclass) WHERE indexname ~ 'normal|groups' ORDER BY indexname;
SET enable_seqscan = off;
SELECT id FROM sketched WHERE s OPERATOR(tools.=) tools.simhash('something else');
SELECT id FROM docs WHERE tools.words(body) @> '{five}';
SELECT id FROM docs WHERE tools.shingles(body, 2) && tools.shingles('three four five', 2) ORDER BY id;
SELECT extname, extversion, extnamespace::regnamespace FROM pg_extension WHERE extname = 'neardup';
SQL
}
before=$(contents source)
expect 'the view and the columns work' $'1|4|1\n2|5|0.8\n3|2|0' "$(head -n 3 <<<"$before")"

out=$server/out
mkdir "$out"
for format in plain custom; do
    createdb "$format"
    pg_dump -F "$format" -f "$out/$format" source
done
expect_sql 'a plain dump restores' '' "\\i $out/plain" -d plain -o /dev/null
expect 'a custom dump restores' '' "$(pg_restore --exit-on-error -d custom "$out/custom" 2>&1)"
for format in plain custom; do
    expect "all is as before in the $format copy" "$before" "$(contents "$format" 2>&1)"
    expect_error 'balls hold, too' 23514 sketched_check "INSERT INTO sketched(id, body, mb) VALUES (7, 'a b c', tools.near(tools.minhash('d e f', 2), 0.5))" -d "$format"
    expect_sql 'texts are normalized' 4 "SET enable_seqscan = off; SELECT id FROM docs WHERE body OPERATOR(tools.<@) tools.near('FIND THE OFFICE', normalization => 'nfkc')" -d "$format"
    expect_error 'exclusion constraints hold' 23P01 apart_near_excl "INSERT INTO apart VALUES ('Jonathon')" -d "$format"
    expect_error 'constraints hold' 23514 docs_body_check "INSERT INTO docs VALUES (5, '.,;')" -d "$format"
done
# A query in a string that does not name its schemas: the view is restored empty, and the error says why. From 17 on it cannot be
# made at all.
bare='CREATE MATERIALIZED VIEW bare AS SELECT * FROM tools.clusters_of_pairs($$SELECT * FROM pairs$$)'
hint='name tables and functions with their schemas in the query, or give a relation of pairs'
if [[ $("$PG_CONFIG" --version) =~ ' '1[56]\. ]]; then
    q -d source -c "$bare"
    pg_dump -F custom -f "$out/bare" source
    createdb bare
    seen=$(pg_restore -d bare "$out/bare" 2>&1) || true
    expect 'the view is not filled, and why' t "$(grep -q 'ERROR:  relation "pairs" does not exist' <<<"$seen" && grep -q "$hint" <<<"$seen" && echo t || echo "$seen")"
    expect_error 'nothing silent' 55000 'has not been populated' 'TABLE bare' -d bare
else
    expect_error 'a query without schemas in a materialized view' 42P01 "$hint" "$bare" -d source
fi
expect_error 'a query without schemas' 42P01 "$hint" "SET search_path = ''; SELECT * FROM tools.cluster_stats('SELECT * FROM pairs')" -d source
expect_error 'a query of what does not exist' 42P01 'relation "no_pairs" does not exist' "SELECT * FROM tools.cluster_stats('SELECT * FROM no_pairs')" -d source
finish
