#!/usr/bin/env bash
# Every method in 8 MB on 50,000 documents, where a server keeps hardly more memory than that (NEARDUP_TEST_SLACK): it gives what it
# gives with memory for everything.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
export NEARDUP_TEST_SLACK=16
server_start "shared_buffers = 16MB
neardup.threads = 2
client_min_messages = warning"

q <<'SQL'
CREATE EXTENSION neardup;
-- Texts of three sentences, of frequent words and of their own; of three, two are copies of the first, with changes or without.
CREATE TABLE docs AS SELECT i AS id, 'site' || i / 3 % 7 AS site,
    format('The house of %s was %s and it is %s there. ', md5(n::text), hashint4(n) % 50, changed) ||
    (SELECT string_agg(substr(md5(format('%s %s', n, j)), 1, 6), ' ' ORDER BY j) FROM generate_series(1, 60) j WHERE n >= 0) ||
    format('. Page %s of a book that has %s.', changed, hashint4(n) % 1000) AS body
FROM (SELECT i, i / 3 AS n, CASE WHEN i % 9 < 6 THEN i % 3 ELSE 0 END AS changed FROM generate_series(1, 50000) i) d;
ALTER TABLE docs ADD PRIMARY KEY (id);
CREATE VIEW titles AS SELECT id, left(body, 60) AS body FROM docs;
CREATE VIEW codes AS SELECT id, left(body, 45) AS body FROM docs;
CREATE VIEW others AS SELECT * FROM docs WHERE id % 2 = 0;
CREATE VIEW made AS SELECT id, minhash(body) AS minhash, simhash(body) AS simhash FROM docs;
VACUUM ANALYZE;
SQL

calls=(
    "near_duplicates('docs', 0.8)"
    "near_duplicates('docs', 0.6, shingle => 5)"
    "near_duplicates('docs', 0.9, method => 'cosine')"
    "near_duplicates('docs', 0.6, method => 'minhash')"
    "near_duplicates('docs', method => 'simhash', options => '{\"distance\": 3}')"
    "near_duplicates('docs', method => 'shingling')"
    "near_duplicates('docs', method => 'combined', site_column => 'site', options => '{\"different_site\": \"shingling\"}')"
    "near_duplicates('docs', method => 'combined', options => '{\"techniques\": {\"any\": [\"tlcs\", \"jaccard\"]}}')"
    "near_duplicates('docs', method => 'imatch')"
    "near_duplicates('docs', method => 'exact_text')"
    "near_duplicates('docs', method => 'title')"
    "near_duplicates('docs', method => 'spotsigs')"
    "near_duplicates('docs', method => 'exact_code')"
    "near_duplicates('docs', method => 'repeatability')"
    "near_duplicates('docs', method => 'tlcs')"
    "near_duplicates('docs', method => 'lcs')"
    "near_duplicates('docs', 0.5, method => 'runs')"
    "near_duplicates('titles', 0.95, id_column => 'id', method => 'edit')"
    "near_duplicates('made', 0.8, id_column => 'id', text_column => 'minhash', method => 'minhash')"
    "near_duplicates('made', id_column => 'id', text_column => 'simhash', method => 'simhash', options => '{\"distance\": 3}')"
    "near_duplicates_between('docs', 'others', 0.8, right_id_column => 'id')"
    "near_duplicates_between('docs', 'others', 0.8, right_id_column => 'id', method => 'minhash')"
    "near_duplicates('docs', 0.8, within => 'site')"
    "repeated_runs('docs', 20)"
    "partial_duplicates('docs')"
    "nearest('others', 3, id_column => 'id', text_column => 'body')"
    "(SELECT a.id, b.id AS other FROM docs a JOIN docs b ON a.body <@ near(b.body, 0.8) AND a.id < b.id)"
    "near_duplicate_clusters('docs', 0.8)"
    "near_duplicate_clusters('docs', 0.8, clustering => 'star')"
    "near_duplicate_clusters('docs', 0.6, method => 'minhash', clustering => 'perhaps_similar')"
    "eliminate('docs', 0.8)"
    "eliminate('docs', method => 'imatch', keep => 'first')"
)
found() { echo "SELECT count(*), sum(hashtextextended(p::text, 0)::numeric) FROM $1 p"; }
for call in "${calls[@]}"; do
    whole=$(q -c "SET neardup.memory = '4GB'" -c "$(found "$call")")
    expect "$call: the same in 8 MB" "$whole" "$(q -c "SET neardup.memory = '8MB'" -c "$(found "$call")" 2>&1 || true)"
    expect "$call: some pairs" t "$([[ $whole != 0'|'* ]] && echo t || echo "$whole")"
done
for call in "SELECT count(*) > 0 FROM suggest('docs')" "SELECT length(duplicates_report('docs', 0.8)) > 10000"; do
    expect "$call, in 8 MB" t "$(q -c "SET neardup.memory = '8MB'" -c "$call")"
done
finish
