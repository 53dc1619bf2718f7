-- A session that makes very many calls does not grow, however they end.
SET client_min_messages = warning;
CREATE SCHEMA leaks_test;
SET search_path = leaks_test, public;
CREATE TABLE docs (id uuid PRIMARY KEY, body text, tokens text[]);
INSERT INTO docs SELECT md5(i::text)::uuid, b, words(b) FROM generate_series(1, 20) i, LATERAL (SELECT 'some words ' || i % 7 || repeat(' x y z', 100)) b(b);
-- Bytes that the server counts, and kB that the kernel counts where it tells.
CREATE FUNCTION held(OUT contexts bigint, OUT resident bigint) LANGUAGE sql VOLATILE AS $$
    SELECT sum(total_bytes), coalesce(substring(pg_read_file('/proc/self/status', 0, 10000, true) from 'VmRSS:\s+(\d+)')::bigint, 0)
    FROM pg_backend_memory_contexts
$$;
CREATE FUNCTION grows(call text, rounds int DEFAULT 120) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
    before record;
    after record;
BEGIN
    FOR round IN 1..rounds LOOP
        IF round = rounds / 5 THEN SELECT * INTO before FROM held(); END IF;
        BEGIN
            EXECUTE call;
        EXCEPTION WHEN OTHERS THEN
        END;
    END LOOP;
    SELECT * INTO after FROM held();
    RETURN after.contexts - before.contexts > 80000 OR after.resident - before.resident > 4000;
END
$$;
CREATE TABLE calls (no serial, call text);
INSERT INTO calls (call) VALUES
    ($$SELECT count(*) FROM near_duplicates('docs', 0.5, NULL::uuid)$$),
    ($$SELECT count(*) FROM near_duplicates('docs', 0.5, NULL::uuid, text_column => 'tokens', shingle => 2)$$),
    ($$SELECT near_duplicates('docs', 0.5, NULL::uuid) LIMIT 3$$),
    ($$SELECT count(*) FROM near_duplicates_between('docs', 'docs', 0.5, NULL::uuid, tokenizer => 'chars', method => 'containment')$$),
    ($$SELECT count(*) FROM near_duplicates('docs', 0.5, NULL::uuid, tokenizer => 'tsearch:english', options => '{"max_pairs": 3}')$$),
    ($$SELECT * FROM near_duplicates('docs', 5, NULL::uuid)$$),
    ($$SELECT * FROM near_duplicates('docs', 0.5)$$),
    ($$SELECT 1 / (similarity - similarity)::int FROM (SELECT (near_duplicates('docs', 0.5, NULL::uuid)).*) p$$),
    ($$SELECT near_duplicates('broken', 0.5, NULL::uuid, id_column => 'id')$$),
    ($$SELECT jaccard(a.body, b.body), containment(a.body, b.body), words(a.body), shingles(b.body) FROM docs a, docs b LIMIT 5$$),
    ($$SELECT shingles('a', 0)$$),
    ($$SELECT count(*) FROM partial_duplicates('docs', 0.5, NULL::uuid, text_column => 'body', min_sentences => 1)$$),
    ($$SELECT count(*) FROM partial_duplicates('docs', 0.5, NULL::uuid, text_column => 'body', edits => 0.2, min_length => 10)$$),
    ($$SELECT partial_duplicates('docs', 0.5, NULL::uuid, text_column => 'body', features => 'spotsigs', min_sentences => 1) LIMIT 2$$),
    ($$SELECT shared_passages(a.body, b.body, 0.5, min_sentences => 1), spotsigs(a.body, ARRAY['x']), imatch(b.body, ARRAY['x'], ARRAY[2], 20) FROM docs a, docs b LIMIT 5$$),
    ($$SELECT count(*) FROM near_duplicates('docs', 0.5, NULL::uuid, text_column => 'body', method => 'spotsigs', options => '{"antecedents": 2}')$$),
    ($$SELECT * FROM shared_passages('a', 'b', features => 'none')$$),
    ($$SELECT * FROM near_duplicates_stats()$$);
CREATE VIEW broken AS SELECT id, (body || 1 / nullif(count(*) OVER () - 20, 1)) AS body FROM docs;
SET neardup.threads = 2;
SELECT no, call FROM calls WHERE grows(call) ORDER BY no;
-- The same with temporary files.
INSERT INTO docs SELECT md5(i::text)::uuid, b, words(b) FROM generate_series(21, 40) i, LATERAL (SELECT string_agg((i % 9 * 500 + j)::text, ' ') FROM generate_series(1, 1000) j) b(b);
SET neardup.memory = '64kB';
SELECT count(*) AS pairs FROM near_duplicates('docs', 0.5, NULL::uuid);
SELECT no, call FROM calls WHERE no IN (1, 3, 5, 8) AND grows(call, 60) ORDER BY no;
RESET neardup.memory;
DROP SCHEMA leaks_test CASCADE;
