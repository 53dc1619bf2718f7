-- A developer wants a database with near-duplicate detection in Docker Compose.
-- The aim: what the container runs at its first start works, and a refresh is scheduled. There is no Docker engine in the
-- tests: the scripts of the container are run here, in a server with pg_cron.

-- Given
SET client_min_messages = warning;

-- 1. README.md, docs/installing.md
CREATE SCHEMA neardup;

-- 2. docs/installing.md
CREATE EXTENSION neardup SCHEMA neardup;

-- 3. docs/installing.md
GRANT USAGE ON SCHEMA neardup TO PUBLIC;

-- 4. docs/installing.md
SELECT format('ALTER DATABASE %I SET search_path = "$user", public, neardup', current_database()) \gexec
SET search_path = "$user", public, neardup;

-- 5. docs/installing.md
CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);

-- 6. docs/installing.md
SELECT neardup_watch('docs', 0.8);

-- 7. docs/installing.md
CREATE EXTENSION pg_cron;

-- 8. docs/installing.md
SELECT cron.schedule('near duplicates of docs', '0 3 * * *', $$CALL neardup.neardup_refresh('public.docs')$$);

-- 9. docs/installing.md
INSERT INTO docs (body) VALUES ('The library is closed on public holidays.'), ('the library is closed on public holidays'), ('Soak the beans overnight.');

-- Given
-- What pg_cron would do at three o'clock, in a session of its own.
SELECT command || ';' AS command FROM cron.job \gset
\c
:command

-- Reached: pairs 1, scheduled at 0 3 * * *
SELECT format('pairs %s, scheduled at %s', count(*), (SELECT schedule FROM cron.job)) FROM docs_pairs;
