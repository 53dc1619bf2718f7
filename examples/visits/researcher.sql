-- A researcher has documents and the pairs that people found among them.
-- The aim: precision and recall of several methods on these labels, from answers that are exact, and whom to cite.

-- Given
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs
SELECT i, (SELECT string_agg(md5(((i - i % 2) * 100 + CASE WHEN i % 2 = 1 AND j % (3 + i / 2 % 20) = 0 THEN j + 50 ELSE j END)::text), ' ' ORDER BY j) FROM generate_series(1, 40) j)
FROM generate_series(0, 199) i;
CREATE TABLE labelled (left_id int, right_id int, PRIMARY KEY (left_id, right_id));
INSERT INTO labelled SELECT i, i + 1 FROM generate_series(0, 198, 2) i;

-- 1. README.md, docs/README.md, docs/recipes/measuring.md
CREATE EXTENSION neardup;

-- 2. docs/recipes/measuring.md
CREATE TABLE found AS
SELECT 'words' AS method, left_id, right_id, similarity FROM near_duplicates('docs', 0.3)
UNION ALL SELECT 'shingles of 3', left_id, right_id, similarity FROM near_duplicates('docs', 0.3, shingle => 3)
UNION ALL SELECT 'containment', left_id, right_id, similarity FROM near_duplicates('docs', 0.3, method => 'containment')
UNION ALL SELECT 'tlcs', left_id, right_id, similarity FROM near_duplicates('docs', 0.3, method => 'tlcs');

-- 3. docs/recipes/measuring.md
SELECT m.method, threshold, count(f.left_id) AS pairs,
    round(count(l.left_id)::numeric / nullif(count(f.left_id), 0), 2) AS precision,
    round(count(l.left_id)::numeric / (SELECT count(*) FROM labelled), 2) AS recall
FROM (SELECT DISTINCT method FROM found) m CROSS JOIN (VALUES (0.4), (0.6), (0.8), (0.95)) t(threshold)
LEFT JOIN found f ON f.method = m.method AND f.similarity >= threshold
LEFT JOIN labelled l USING (left_id, right_id)
GROUP BY m.method, threshold ORDER BY m.method, threshold;

-- 4. docs/recipes/measuring.md
SELECT library IS NOT NULL AS version, hashes IS NOT NULL AS "version of the hashes", unicode IS NOT NULL AS unicode FROM neardup_version();

-- Reached: 100 labels, 0 of the pairs of words at 0.8 are missing, 0 are extra
WITH every AS (SELECT a.id AS left_id, b.id AS right_id FROM docs a JOIN docs b ON a.id < b.id WHERE jaccard(a.body, b.body) >= 0.8),
    words AS (SELECT left_id, right_id FROM found WHERE method = 'words' AND similarity >= 0.8)
SELECT format('%s labels, %s of the pairs of words at 0.8 are missing, %s are extra', (SELECT count(*) FROM labelled),
    (SELECT count(*) FROM (TABLE every EXCEPT TABLE words) missing), (SELECT count(*) FROM (TABLE words EXCEPT TABLE every) extra));
