-- What near_duplicates_stats() says of the last call. Times, memory and threads are the machine's.
SET client_min_messages = warning;
CREATE SCHEMA stats_test;
SET search_path = stats_test, public;
\x on
-- No call yet in this session.
SELECT count(*) AS calls FROM near_duplicates_stats();
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'a b c d'), (2, 'A, b, c, d!'), (3, 'a b c d e'), (4, 'f f f'), (5, NULL), (6, NULL), (7, ''), (8, '?'), (9, '...');
CREATE VIEW stats AS SELECT documents, skipped_null, skipped_empty, tokens, distinct_tokens, distinct_sets, pairs FROM near_duplicates_stats();
SELECT count(*) FROM near_duplicates('docs', 0.8);
SELECT * FROM stats;
-- Rows with equal tokens are one set; a repeated word is a token of its own, unless it is not to count.
SELECT count(*) FROM near_duplicates('docs', 0.8, multiset => false);
SELECT * FROM stats;
SELECT count(*) FROM near_duplicates('docs', 0.3, shingle => 2);
SELECT * FROM stats;
-- Both tables together.
SELECT count(*) FROM near_duplicates_between('docs', 'docs', 0.8);
SELECT * FROM stats;
-- Every candidate is pruned by a filter or verified, and what bitmaps rule out is none; each filter belongs to its algorithm.
CREATE TABLE made AS SELECT i AS id, (
    SELECT string_agg(substr(md5((i % 40) || '.' || j + (i / 40) * (j % 5 / 4)), 1, 2), ' ') FROM generate_series(1, 4 + i % 40 % 13) j
) AS body FROM generate_series(1, 400) i;
\x off
CREATE FUNCTION counts(algorithm text, OUT pairs bigint, OUT candidates bool, OUT accounted bool, OUT bitmap bool, OUT "position" bool, OUT suffix bool) LANGUAGE plpgsql AS $$
DECLARE
    s record;
BEGIN
    SELECT count(*) INTO pairs FROM near_duplicates('made', 0.5, id_column => 'id', options => jsonb_build_object('algorithm', algorithm));
    SELECT * INTO s FROM near_duplicates_stats();
    candidates := s.candidates > 0;
    accounted := s.candidates = s.pruned_by_position + s.pruned_by_suffix + s.verified AND s.pairs = counts.pairs;
    bitmap := s.pruned_by_bitmap > 0;
    "position" := s.pruned_by_position > 0;
    suffix := s.pruned_by_suffix > 0;
END
$$;
SELECT a AS algorithm, c.* FROM unnest('{auto,allpairs,ppjoin,ppjoin+}'::text[]) WITH ORDINALITY a(a, no), counts(a) c ORDER BY no;
SELECT a.pairs, a.candidates >= b.candidates AS fewer, a.verified >= b.verified AS fewer_verified
FROM (SELECT count(*) FROM near_duplicates('made', 0.8, id_column => 'id', options => '{"algorithm": "ppjoin"}')) x, near_duplicates_stats() a,
    LATERAL (SELECT count(*) + a.pairs * 0 FROM near_duplicates('made', 0.8, id_column => 'id', options => '{"algorithm": "ppjoin+"}')) y, near_duplicates_stats() b;
-- What is not compared between machines is at least there.
SELECT peak_memory > 0 AS memory, threads > 0 AS threads, read_ms >= 0 AND order_ms >= 0 AND join_ms >= 0 AS times FROM near_duplicates_stats();
-- The threads are those that worked: no more than there are processors.
SET neardup.threads = 1000;
SELECT count(*) FROM near_duplicates('docs', 0.8);
SELECT threads BETWEEN 1 AND 999 AS worked FROM near_duplicates_stats();
RESET neardup.threads;
-- A call that is ended early counts what it gave until then, one that fails as well; one with a bad argument does not begin.
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.8) LIMIT 2) p;
SELECT pairs FROM near_duplicates_stats();
SELECT near_duplicates('docs', 0.8, max_pairs => 1);
SELECT pairs FROM near_duplicates_stats();
SELECT near_duplicates('docs', 8);
SELECT documents, pairs FROM near_duplicates_stats();
-- Words of documents are counted where runs of words or sentences are compared.
SELECT count(*) FROM near_duplicates('docs', 0.8, shingle => 3);
SELECT median_words FROM near_duplicates_stats();
SELECT count(*) FROM near_duplicates('docs', 0.8, shingle => 4);
SELECT median_words FROM near_duplicates_stats();
SELECT count(*) FROM near_duplicates('docs', method => 'tlcs');
SELECT median_words FROM near_duplicates_stats();
-- While a cursor is open the last call is one before it.
BEGIN;
SELECT count(*) FROM near_duplicates('docs', 1);
DECLARE pairs CURSOR FOR SELECT near_duplicates('docs', 0.8);
MOVE 2 FROM pairs;
SELECT pairs FROM near_duplicates_stats();
CLOSE pairs;
SELECT pairs FROM near_duplicates_stats();
ROLLBACK;
SELECT pairs FROM near_duplicates_stats();
-- Another role does not see what this one did.
CREATE ROLE regress_neardup_other;
SET ROLE regress_neardup_other;
SELECT count(*) FROM near_duplicates_stats();
RESET ROLE;
SELECT count(*) FROM near_duplicates_stats();
DROP ROLE regress_neardup_other;
SELECT near_duplicates_stats() IS NULL AS streamed;
DROP SCHEMA stats_test CASCADE;
