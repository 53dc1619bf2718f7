-- Foreign tables: of a file, and of this server itself.
SET client_min_messages = warning;
-- Servers that were built without contrib modules do not have these two: foreign_1.out.
SELECT count(*) < 2 AS missing FROM pg_available_extensions WHERE name IN ('file_fdw', 'postgres_fdw') \gset
\if :missing
    \echo skipped
    \quit
\endif
CREATE SCHEMA foreign_test;
SET search_path = foreign_test, public;
CREATE EXTENSION file_fdw;
CREATE SERVER files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE lines (id int, body text) SERVER files
    OPTIONS (program $$printf '1,the quick brown fox jumps\n2,the quick brown fox jumps over\n3,something else\n'$$, format 'csv');
SELECT * FROM near_duplicates('lines', 0.8);
SELECT * FROM near_duplicates('lines', 0.8, id_column => 'id');
SELECT near_duplicates('lines', 0.8, id_column => 'id') LIMIT 1;
CREATE FOREIGN TABLE broken (id int, body text) SERVER files OPTIONS (program $$printf '1,a\nx,b\n'$$, format 'csv');
SELECT * FROM near_duplicates('broken', 0.8, id_column => 'id');

CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'text ' || i % 10 || ' and ' || i % 25 FROM generate_series(1, 1000) i;
CREATE EXTENSION postgres_fdw;
DO $$
BEGIN
    EXECUTE format('CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host %L, port %L, dbname %L)',
        split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
END
$$;
CREATE USER MAPPING FOR CURRENT_USER SERVER loopback;
CREATE FOREIGN TABLE far (id int, body text) SERVER loopback OPTIONS (schema_name 'foreign_test', table_name 'docs');
SELECT count(*) AS pairs, count(*) FILTER (WHERE f.similarity = n.similarity) AS equal
FROM near_duplicates('far', 0.6, id_column => 'id') f FULL JOIN near_duplicates('docs', 0.6) n USING (left_id, right_id);
SELECT count(*) FROM (SELECT near_duplicates('far', 0.6, id_column => 'id') LIMIT 7) p;
SELECT count(*) FROM near_duplicates_between('far', 'docs', 1, id_column => 'id') WHERE left_id = right_id;
-- As a partition.
CREATE TABLE parted (id int, body text) PARTITION BY RANGE (id);
CREATE TABLE near PARTITION OF parted FOR VALUES FROM (1001) TO (2000);
ALTER TABLE parted ATTACH PARTITION far FOR VALUES FROM (0) TO (1001);
INSERT INTO parted VALUES (1001, 'text 1 and 1');
SELECT count(*) FROM near_duplicates('parted', 1, id_column => 'id') WHERE right_id = 1001;
-- The other server's error is ours.
ALTER FOREIGN TABLE far OPTIONS (SET table_name 'gone');
SELECT * FROM near_duplicates('far', 0.8, id_column => 'id');
SELECT count(*) FROM near_duplicates('docs', 1);
DROP SCHEMA foreign_test CASCADE;
