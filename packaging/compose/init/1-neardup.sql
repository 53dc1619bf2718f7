CREATE SCHEMA neardup;

CREATE EXTENSION neardup SCHEMA neardup;

GRANT USAGE ON SCHEMA neardup TO PUBLIC;

SELECT format('ALTER DATABASE %I SET search_path = "$user", public, neardup', current_database()) \gexec
SET search_path = "$user", public, neardup;

CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);

SELECT neardup_watch('docs', 0.8);
