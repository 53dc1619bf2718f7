-- near_duplicates_plan: what a call will take. Times and memory are the machine's.
SET client_min_messages = notice;
CREATE SCHEMA estimate_test;
SET search_path = estimate_test, public;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, (SELECT string_agg(substr(md5((i / 3) || '.' || j), 1, 3), ' ') FROM generate_series(1, 20) j) || ' ' || i
FROM generate_series(0, 2999) i;
-- A sample of all documents is the call itself.
SELECT using_method, documents, sampled, sampled_pairs, pairs, candidates > 0 AS candidates, document_bytes > 100000 AS bytes,
    memory > 100000 AS memory, temporary, cpu_seconds > 0 AS seconds, cheapest IS NOT NULL AS cheapest, call
FROM near_duplicates_plan('docs', 0.8);
SELECT count(*) AS pairs FROM near_duplicates('docs', 0.8);
SELECT count(*) FILTER (WHERE cheapest) AS cheapest FROM near_duplicates_plan('docs', 0.8);
-- A sample of half of them is about right, each time the same, and the same for a view in another order.
CREATE TABLE half AS SELECT * FROM near_duplicates_plan('docs', 0.8, sample => 1500);
SELECT using_method, documents, sampled BETWEEN 1350 AND 1650 AS half, sampled_pairs < 2000 AS fewer, pairs BETWEEN 2000 AND 4500 AS pairs FROM half;
CREATE VIEW reversed AS SELECT * FROM docs ORDER BY id DESC;
SELECT h.using_method, h.sampled = r.sampled AND h.pairs = r.pairs AS same
FROM half h JOIN near_duplicates_plan('reversed', 0.8, id_column => 'id', sample => 1500) r USING (using_method);
-- Little memory: the sample goes to files as the call would, and the memory is within the setting.
SET neardup.memory = '1MB';
INSERT INTO docs SELECT i, (SELECT string_agg(md5(i || '.' || j), ' ') FROM generate_series(1, 200) j) FROM generate_series(5000, 6999) i;
SELECT temporary > 1000000 AS files, memory <= 1048576 AS within FROM near_duplicates_plan('docs', 0.8, sample => 3000) WHERE using_method = 'jaccard';
SELECT temporary > 1000000 AS files FROM near_duplicates_plan('docs', 0.8) WHERE using_method = 'jaccard';
RESET neardup.memory;
DELETE FROM docs WHERE id >= 5000;
-- Few pairs in the sample are told.
SELECT sampled_pairs < 20 AS few FROM near_duplicates_plan('docs', 0.8, sample => 30) WHERE using_method = 'jaccard';
-- Other methods have one row; the call has all arguments.
SELECT using_method, pairs, call FROM near_duplicates_plan('docs', 0.9, method => 'cosine', shingle => 2, text_column => 'body', multiset => false);
SELECT using_method, call FROM near_duplicates_plan('docs', method => 'edit', options => '{"distance": 2}');
SELECT using_method, pairs > 2900 AS pairs, call FROM near_duplicates_plan('docs', 0.8, method => 'minhash', options => '{"hand_over": false}') ORDER BY 1;
-- Ids of any type, none of which is asked for.
CREATE TABLE named AS SELECT id::text || 'x' AS name, body FROM docs;
ALTER TABLE named ADD PRIMARY KEY (name);
SELECT using_method, pairs, call FROM near_duplicates_plan('named', 0.8);
SELECT count(*) AS pairs FROM near_duplicates('named', 0.8, NULL::text);
-- No documents, one, and many equal ones.
CREATE TABLE few (id int PRIMARY KEY, body text);
SELECT using_method, documents, sampled, pairs, cpu_seconds >= 0 AS seconds FROM near_duplicates_plan('few', 0.8);
INSERT INTO few VALUES (1, 'one');
SELECT using_method, documents, sampled, pairs FROM near_duplicates_plan('few', 0.8);
INSERT INTO few SELECT i, 'one' FROM generate_series(2, 100000) i;
SELECT using_method, pairs BETWEEN 4900000000 AND 5100000000 AS "five thousand million" FROM near_duplicates_plan('few', 0.8);
-- Errors.
\set VERBOSITY default
SELECT * FROM near_duplicates_plan('docs', 0.8, sample => 0);
SELECT * FROM near_duplicates_plan('docs', 0.8, sample => -5);
SELECT * FROM near_duplicates_plan('named', 0.8, sample => 0);
SELECT * FROM near_duplicates_plan('docs', 1.5);
SELECT * FROM near_duplicates_plan('docs', 0.8, id_column => 'no');
SELECT * FROM near_duplicates_plan(NULL, 0.8);
SELECT * FROM near_duplicates_plan('named', 0.8, text_column => 'no');
CREATE ROLE estimate_reader;
GRANT USAGE ON SCHEMA estimate_test TO estimate_reader;
SET ROLE estimate_reader;
SELECT * FROM near_duplicates_plan('docs', 0.8);
RESET ROLE;
DROP OWNED BY estimate_reader;
DROP ROLE estimate_reader;
SET client_min_messages = warning;
DROP SCHEMA estimate_test CASCADE;
