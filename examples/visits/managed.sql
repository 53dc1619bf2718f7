-- A team has its documents in a managed database, which does not offer neardup.
-- The aim: the pairs of its documents, on a small server of its own, which gets each change once.
-- Both are databases of one server here, and the managed one has no extension.

-- Given
SELECT current_setting('port') AS port, split_part(current_setting('unix_socket_directories'), ',', 1) AS host, current_database() AS own \gset
CREATE EXTENSION neardup;
CREATE DATABASE managed_docs;
\c managed_docs
CREATE TABLE posts (id uuid PRIMARY KEY, author text, body text);
INSERT INTO posts SELECT md5(i::text)::uuid, 'a', 'Notice of the library, number ' || i / 2 || ': ' || md5((i / 2)::text) FROM generate_series(2, 101) i;

-- 1. README.md, docs/README.md, docs/operations/managed-clouds.md
CREATE PUBLICATION for_neardup FOR TABLE posts (id, body);

-- 2. docs/operations/managed-clouds.md
SELECT FROM pg_create_logical_replication_slot('for_neardup', 'pgoutput');

-- Given
\c :own

-- 3. docs/operations/managed-clouds.md
CREATE TABLE posts (id uuid PRIMARY KEY, body text);

-- 4. docs/operations/managed-clouds.md
SELECT format('host=%s port=%s dbname=managed_docs', :'host', :'port') AS managed \gset
CREATE SUBSCRIPTION for_neardup CONNECTION :'managed' PUBLICATION for_neardup WITH (create_slot = false, slot_name = 'for_neardup');

-- 5. docs/operations/managed-clouds.md
DO $$ BEGIN WHILE EXISTS (SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r') LOOP PERFORM pg_sleep(0.05); COMMIT; END LOOP; END $$;

-- 6. docs/operations/managed-clouds.md
SELECT neardup_watch('posts', 0.8);

-- 7. docs/operations/managed-clouds.md
CALL neardup_refresh('posts');

-- Given
\c managed_docs
INSERT INTO posts SELECT md5('again ' || i)::uuid, 'b', body || ' again' FROM posts, generate_series(1, 1) i WHERE id = md5('2')::uuid;
DELETE FROM posts WHERE id = md5('100')::uuid;
\c :own
DO $$ BEGIN WHILE EXISTS (SELECT FROM posts WHERE id = md5('100')::uuid) LOOP PERFORM pg_sleep(0.05); COMMIT; END LOOP; END $$;

-- 8. docs/operations/managed-clouds.md
CALL neardup_refresh('posts');

-- Given
CREATE TEMP TABLE expected AS SELECT * FROM near_duplicates('posts', 0.8, NULL::uuid);

-- 9. docs/operations/managed-clouds.md
DROP SUBSCRIPTION for_neardup;

-- Reached: 100 posts, 51 pairs, of which 0 are missing
SELECT format('%s posts, %s pairs, of which %s are missing', (SELECT count(*) FROM posts), (SELECT count(*) FROM posts_pairs),
    (SELECT count(*) FROM (SELECT left_id, right_id FROM expected EXCEPT SELECT left_id, right_id FROM posts_pairs) missing));
