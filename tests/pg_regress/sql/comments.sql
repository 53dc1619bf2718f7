-- What the extension consists of: everything has a comment, and says how it may be used.
-- One object a line, however long.
\pset format unaligned
SELECT object COLLATE "C", comment
FROM pg_depend, pg_describe_object(classid, objid, objsubid) object, LATERAL (SELECT obj_description(objid, classid::regclass::name) IS NOT NULL) c(comment) WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')
    -- Types of arrays and of rows, which come with the others, are members only since 17.
    AND NOT EXISTS (SELECT FROM pg_type WHERE classid = 'pg_type'::regclass AND oid = objid AND (typrelid <> 0 OR typcategory = 'A'))
ORDER BY 1;
SELECT oid::regprocedure::text COLLATE "C" AS function, provolatile AS volatile, proparallel AS parallel, proisstrict AS strict, proleakproof AS leakproof,
    procost AS cost, prorows AS rows, prosecdef AS definer
FROM pg_proc WHERE oid IN (SELECT objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND classid = 'pg_proc'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup'))
ORDER BY 1;
-- Relocatable and trusted; it comes and goes.
SELECT extrelocatable FROM pg_extension WHERE extname = 'neardup';
SELECT trusted, superuser, relocatable, requires FROM pg_available_extension_versions WHERE name = 'neardup' AND installed;
CREATE SCHEMA comments_test;
ALTER EXTENSION neardup SET SCHEMA comments_test;
CREATE TEMP TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'a b'), (2, 'b a');
SELECT * FROM comments_test.near_duplicates('docs', 0.8);
DROP EXTENSION neardup;
CREATE EXTENSION neardup SCHEMA public;
SELECT * FROM near_duplicates('docs', 0.8);
DROP TABLE docs;
DROP SCHEMA comments_test;
-- Beside others that have functions and operators on texts and arrays.
SET client_min_messages = warning;
SELECT count(*) = 4 AS others FROM pg_available_extensions WHERE name IN ('pg_trgm', 'intarray', 'fuzzystrmatch', 'citext') \gset
\if :others
CREATE EXTENSION pg_trgm;
CREATE EXTENSION intarray;
CREATE EXTENSION fuzzystrmatch;
CREATE EXTENSION citext;
CREATE TEMP TABLE docs (id citext PRIMARY KEY, body citext, numbers int[]);
INSERT INTO docs VALUES ('b', 'Some words', '{1,2}'), ('A', 'words, some', '{2,1}');
SELECT * FROM near_duplicates('docs', 0.8, NULL::citext);
SELECT * FROM near_duplicates('docs', 0.8, NULL::citext, text_column => 'numbers');
SELECT jaccard(body, 'words'), words(body) FROM docs WHERE id = 'a';
SELECT id FROM docs WHERE body::text <@ near('some words', 0.9) ORDER BY id;
SELECT id, numbers <@ '{1,2,3}' AS of_a_string, numbers <@ near('{1,2}'::int[], 0.9) AS in_a_ball, numbers <-> near('{1,2,3}'::int[], 0.5) AS distance, body::text <-> 'words' AS of_trigrams,
    body::text <-> near('words', 0.3) AS of_words, numbers @> '{1}' AS has, numbers && '{1}' AS meets FROM docs ORDER BY id;
SELECT minhash(body::text) <%> minhash('other') AS distance, simhash(body::text) <~> simhash(numbers::bigint[]::text[]::text) > 0 AS unlike,
    shares(numbers::bigint[], '{2,3}') AS shares, numbers && '{2}' AS ints, numbers::bigint[] && '{2}' AS bigints FROM docs WHERE id = 'a';
DROP TABLE docs;
DROP EXTENSION pg_trgm, intarray, fuzzystrmatch, citext;
\endif
-- Beside pgvector, which has the same names of operators for its own types.
SELECT count(*) = 1 AS vector FROM pg_available_extensions WHERE name = 'vector' \gset
\if :vector
CREATE EXTENSION vector;
-- Says nothing, as where there is no pgvector.
DO $$ BEGIN
    ASSERT minhash('a') <%> minhash('b') = 1 AND simhash('a') <~> simhash('b') > 0 AND simhash('a')::bit(64) <~> simhash('a')::bit(64) = 0;
END $$;
DROP EXTENSION vector;
\endif
