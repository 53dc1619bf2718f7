#!/usr/bin/env bash
# Compares near_duplicates with the computed ground truth of every corpus: none missing, none extra, equal values.
# Corpora: the folder NEARDUP_DATA, whose README.md says how the truth was computed.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
corpora_or_skip
server_start

q <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE TABLE results(no serial, set text, variant text, threshold float8, pairs bigint, missing bigint, extra bigint,
    differing bigint, ms bigint);
CREATE TABLE tokens_differ(set text, id text COLLATE "C", why text);
CREATE UNLOGGED TABLE lines(line json);
CREATE UNLOGGED TABLE docs(id text PRIMARY KEY, body text);
-- Documents of which pairs are left out: those whose tokens are not the ground truth's, and as a pair those that
-- have one shingle only because they are shorter than a shingle (the truth gives them none).
CREATE UNLOGGED TABLE left_out(id text COLLATE "C" PRIMARY KEY);
CREATE UNLOGGED TABLE short(id text COLLATE "C" PRIMARY KEY);
CREATE UNLOGGED TABLE truth(id1 text COLLATE "C", id2 text COLLATE "C", shared bigint, size1 bigint, size2 bigint,
    printed float8);

-- measure: 'jaccard' or 'cosine'; arguments: what near_duplicates is given by name.
CREATE PROCEDURE compare(set text, variant text, measure text, threshold float8, arguments text)
LANGUAGE plpgsql AS $$
DECLARE
    began timestamptz := clock_timestamp();
    took float8;
BEGIN
    EXECUTE format('CREATE TEMP TABLE found AS
        SELECT least(left_id COLLATE "C", right_id COLLATE "C") AS a, greatest(left_id COLLATE "C", right_id COLLATE "C") AS b, similarity
        FROM near_duplicates(%L, $1, NULL::text%s)', 'docs', ', ' || nullif(arguments, '')) USING threshold;
    took := extract(epoch FROM clock_timestamp() - began) * 1000;
    INSERT INTO results(set, variant, threshold, pairs, missing, extra, differing, ms)
    SELECT compare.set, compare.variant, compare.threshold,
        coalesce(sum(f.times), 0),
        count(*) FILTER (WHERE f.a IS NULL),
        count(*) FILTER (WHERE t.a IS NULL OR f.times > 1),
        count(*) FILTER (WHERE abs(f.similarity - t.similarity) > 1e-9),
        took
    FROM (SELECT a, b, min(similarity) AS similarity, count(*) AS times FROM found GROUP BY a, b) f
    FULL JOIN (
        SELECT least(id1, id2) AS a, greatest(id1, id2) AS b, s.similarity
        FROM truth, LATERAL (SELECT CASE measure
            WHEN 'jaccard' THEN shared / (size1 + size2 - shared)::float8
            WHEN 'cosine' THEN shared / sqrt(size1::float8 * size2) END) s(similarity)
        WHERE s.similarity >= compare.threshold
    ) t USING (a, b)
    WHERE NOT EXISTS (SELECT FROM left_out WHERE id IN (a, b))
      AND NOT (variant LIKE '%sh5%' AND a IN (SELECT id FROM short) AND b IN (SELECT id FROM short));
    DROP TABLE found;
END $$;
SQL

# table_from FILE COLUMNS: a file of tab-separated values, perhaps compressed, into a table.
table_from() {
    zcat -f "$1" | q -c "\\copy $2 from pstdin with (format csv, header, delimiter E'\\t', quote E'\\x01')"
}

# against VARIANT MEASURE ARGUMENTS THRESHOLD…: VARIANT is the truth's file.
against() {
    local variant=$1 measure=$2 arguments=$3 threshold
    q -c 'TRUNCATE truth'
    table_from "$set/gt/$variant.tsv.gz" truth
    q -c 'ANALYZE truth'
    for threshold in "${@:4}"; do
        q -c "CALL compare('$name', '$variant', '$measure', $threshold, '$arguments')"
    done
}

table_from "$corpora/tokens_differ.tsv" tokens_differ
for set in "$corpora"/*/; do
    set=${set%/}
    name=${set##*/}
    if [[ ! -d $set/gt ]]; then continue; fi
    q -c 'TRUNCATE lines, docs, left_out, short'
    load_json "$set/docs.jsonl.gz" lines
    q <<SQL
INSERT INTO docs SELECT line->>'id', line->>'text' FROM lines;
INSERT INTO left_out SELECT id FROM tokens_differ WHERE set = '$name';
-- The truth knows nothing of characters that nobody sees, of letters that only case folding makes equal, and of texts of signs.
INSERT INTO left_out SELECT id FROM docs WHERE cardinality(words(body)) = 0
    OR body ~ '[\\u00ad\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\ufeff\\u00b5\\u017f\\u0345\\u03c2\\u03d0\\u03d1\\u03d5\\u03d6\\u03f0\\u03f1\\u03f5\\u1e9b]'
    ON CONFLICT DO NOTHING;
INSERT INTO short SELECT id FROM docs WHERE cardinality(words(body)) < 5;
ANALYZE docs, left_out, short;
SQL
    # The truth for Chinese was computed with each Han character as a word, as we do.
    token=word
    if [[ -f $set/gt/cjk1_mul_j50.tsv.gz ]]; then token=cjk1; fi
    against "${token}_mul_j50" jaccard '' 0.5 0.8 0.9
    against "${token}_set_j50" jaccard 'multiset => false' 0.5 0.8 0.9
    against "${token}_sh5_j50" jaccard 'shingle => 5' 0.5 0.8 0.9
    against "${token}_set_c80" cosine "method => ''cosine'', multiset => false" 0.8 0.9
done

psql -X -c 'SELECT set, variant, threshold, pairs, missing, extra, differing, ms FROM results ORDER BY no' -P footer=off
expect_sql 'some comparisons' t 'SELECT count(*) >= 11 FROM results'
expect_sql 'no pair is missing, extra or of another similarity' '' \
    'SELECT set, variant, threshold, missing, extra, differing FROM results WHERE missing + extra + differing > 0'
q -c "SELECT count(*) || ' comparisons, ' || sum(pairs) || ' pairs, ' || sum(ms) || ' ms' FROM results"
finish
