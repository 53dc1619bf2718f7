#!/usr/bin/env bash
# Compares near_duplicates and near_duplicates_between with plain SQL that counts the shared tokens of every pair: all
# measures, thresholds, lengths of shingles and numbers of threads, on documents generated from few words.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
SELECT setseed(0.5);
-- Words of very different frequency; every third document is a copy of an earlier one with a few words changed.
CREATE TABLE docs(id int PRIMARY KEY, body text);
INSERT INTO docs
SELECT i, (SELECT string_agg('w' || floor(60 * random() ^ 3)::int, ' ') FROM generate_series(1, 1 + i % 25))
FROM generate_series(1, 180) i;
INSERT INTO docs
SELECT id + 1000, (
    SELECT string_agg(CASE WHEN random() < 0.15 THEN 'x' || n ELSE word END, ' ' ORDER BY n)
    FROM unnest(words(body)) WITH ORDINALITY w(word, n))
FROM docs WHERE id % 3 = 0;
INSERT INTO docs VALUES (2001, NULL), (2002, ''), (2003, '. , ;'), (2004, '中文近似文本'), (2005, '中文近似的文本'), (2006, 'w1'), (2007, 'w1');
CREATE TABLE others AS SELECT id + 10000 AS id, body FROM docs WHERE id % 2 = 0;
ALTER TABLE others ADD PRIMARY KEY (id);
-- The tokens of every document: words with the number of the repeat, words, or shingles.
CREATE TABLE tokens(variant text, side text, id int, token text);
CREATE VIEW sides AS SELECT 'left' AS side, * FROM docs UNION ALL SELECT 'right', * FROM others;
INSERT INTO tokens
SELECT 'shingle => 1', side, id, word || '#' || row_number() OVER (PARTITION BY side, id, word) FROM sides, unnest(words(body)) word;
INSERT INTO tokens
SELECT DISTINCT 'multiset => false', side, id, word FROM sides, unnest(words(body)) word;
INSERT INTO tokens
SELECT DISTINCT 'shingle => 3', side, id, array_to_string(w[n:n + 2], ' ')
FROM sides, words(body) w, generate_series(1, greatest(cardinality(w) - 2, least(cardinality(w), 1))) n;
CREATE TABLE sizes AS SELECT variant, side, id, count(*) AS size FROM tokens GROUP BY variant, side, id;
-- Every pair that shares a token.
CREATE TABLE truth AS
SELECT variant, pairs.side, a, b, shared, x.size AS size_a, y.size AS size_b
FROM (
    SELECT variant, r.side, l.id AS a, r.id AS b, count(*) AS shared
    FROM tokens l JOIN tokens r USING (variant, token)
    WHERE l.side = 'left' AND (r.side = 'right' OR l.id < r.id)
    GROUP BY variant, r.side, l.id, r.id
) pairs
JOIN sizes x USING (variant) JOIN sizes y USING (variant)
WHERE x.side = 'left' AND x.id = a AND y.side = pairs.side AND y.id = b;
CREATE TABLE measured AS
SELECT side, variant, method, a, b, similarity FROM truth, LATERAL (VALUES
    ('jaccard', shared / (size_a + size_b - shared)::float8),
    ('cosine', shared / sqrt(size_a::float8 * size_b)),
    ('dice', 2 * shared / (size_a + size_b)::float8),
    ('overlap', shared / least(size_a, size_b)::float8),
    -- One table: the greater direction. Two: the share of the left one.
    ('containment', shared / CASE side WHEN 'left' THEN least(size_a, size_b) ELSE size_a END::float8)) m(method, similarity);
CREATE INDEX ON measured(side, variant, method, similarity);
ANALYZE measured;

-- Pairs that only one side has, or with another similarity. Cosines are compared up to rounding, and at the threshold
-- either answer is right.
CREATE FUNCTION differences(side text, variant text, method text, threshold float8) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    answer bigint;
BEGIN
    EXECUTE format($query$
        SELECT count(*)
        FROM (SELECT * FROM measured WHERE side = $1 AND variant = $2 AND method = $3 AND similarity >= $4 - 1e-12) t
        FULL JOIN %s(%s, threshold => $4, method => $3, %s) f ON left_id = a AND right_id = b
        WHERE abs(f.similarity - t.similarity) > CASE $3 WHEN 'cosine' THEN 1e-12 ELSE 0 END
            OR a IS NULL OR left_id IS NULL AND NOT ($3 = 'cosine' AND t.similarity < $4 + 1e-12)
            OR f.similarity < $4
        $query$,
        CASE side WHEN 'left' THEN 'near_duplicates' ELSE 'near_duplicates_between' END,
        CASE side WHEN 'left' THEN $$'docs'$$ ELSE $$'docs', 'others'$$ END, variant)
    INTO answer USING side, variant, method, threshold;
    RETURN answer;
END $body$;
SQL

for threads in 1 3; do
    expect_sql "no difference, threads: $threads" '0|150' "SET neardup.threads = $threads;
        SELECT sum(differences(side, variant, method, threshold)), count(*)
        FROM unnest(array['left', 'right']) side, unnest(array['shingle => 1', 'multiset => false', 'shingle => 3']) variant,
            unnest(array['jaccard', 'cosine', 'dice', 'overlap', 'containment']) method,
            unnest(array[0.05, 0.3, 0.5, 0.8, 1.0]) threshold"
done
expect_sql 'there was something to find' t "SELECT count(*) > 10000 FROM measured WHERE similarity >= 0.5"
finish
