-- A developer has a table whose primary key is a uuid, as Django and Supabase make them.
-- The aim: of each group of near duplicates one row is left.

-- Given
CREATE TABLE posts (id uuid PRIMARY KEY, body text);
INSERT INTO posts SELECT md5(i::text)::uuid, 'To the editor: ' || (SELECT string_agg(md5((i / 4 * 100 + j)::text), ' ') FROM generate_series(1, 30) j)
    || repeat(' Thank you.', i % 4) FROM generate_series(0, 399) i;

-- 1. README.md, docs/recipes/deleting.md
CREATE EXTENSION neardup;

-- 2. docs/recipes/deleting.md
DELETE FROM posts
USING eliminate('posts', 0.8, NULL::uuid) e
WHERE posts.id = e.id;

-- Reached: 100 posts, the longest of each group, 0 pairs
SELECT format('%s posts, %s of each group, %s pairs', count(*),
    CASE WHEN bool_and(body LIKE '%Thank you. Thank you. Thank you.') THEN 'the longest' ELSE 'another one' END,
    (SELECT count(*) FROM near_duplicates('posts', 0.8, NULL::uuid))) FROM posts;
