-- A news site collects articles of agencies and papers.
-- The aim: a front page with each story once, which is so tomorrow as well, and who else has it.

-- Given
CREATE TABLE articles (id int PRIMARY KEY, paper text, printed timestamptz, body text);
INSERT INTO articles
SELECT i * 4 + p, (ARRAY['agency', 'herald', 'courier', 'post'])[p + 1], timestamptz '2026-05-04 08:00Z' + i * interval '1 minute' + p * interval '1 hour',
    (ARRAY['', 'Overnight: ', 'In short. ', ''])[p + 1] || 'The council of ' || initcap(substr(md5(i::text), 1, 9)) || ' voted on '
    || (SELECT string_agg(md5((i * 50 + j)::text), ' ') FROM generate_series(1, 25) j) || (ARRAY['.', '.', '. More soon.', '. Ask the mayor about it.'])[p + 1]
FROM generate_series(0, 79) i, generate_series(0, 3) p WHERE p <= i % 4;

-- 1. README.md, docs/README.md, docs/recipes/news.md
CREATE EXTENSION neardup;

-- 2. docs/recipes/news.md
SELECT c.cluster_id AS story, c.representative, a.paper, round(c.similarity::numeric, 2) AS similarity
FROM near_duplicate_clusters('articles', 0.6, text_column => 'body', clustering => 'star') c
JOIN articles a USING (id)
ORDER BY story, a.printed;

-- 3. docs/recipes/news.md
SELECT neardup_watch('articles', 0.6, text_column => 'body', clustering => 'star');

-- 4. docs/recipes/news.md
CALL neardup_refresh('articles');

-- 5. docs/recipes/news.md
CREATE VIEW front_page AS
SELECT a.*, (SELECT count(*) FROM articles_clusters c JOIN articles_clusters o USING (cluster_id) WHERE c.id = a.id AND o.id <> a.id) AS also_in
FROM articles a WHERE NOT EXISTS (SELECT FROM articles_clusters c WHERE c.id = a.id AND NOT c.representative);

-- Given
INSERT INTO articles SELECT 1000, 'late paper', now(), 'Late. ' || body FROM articles WHERE id = 12;

-- 6. docs/recipes/news.md
CALL neardup_refresh('articles');

-- Reached: 80 stories, 121 other articles
SELECT format('%s stories, %s other articles', count(*), sum(also_in)) FROM front_page;
