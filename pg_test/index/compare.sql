-- A table with every kind of signature index, functions that change it at random, and compare(), which raises an error
-- where a query with an index gives another answer than without. Used by pg_test/cluster/*/index_*.sh.
-- A query may be shorter than what an index looks for, which is told.
DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET client_min_messages = warning', current_database()); END $$;
CREATE EXTENSION IF NOT EXISTS neardup;
SELECT setseed(0.25);

CREATE FUNCTION some_text() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN random() < 0.02 THEN '' WHEN random() < 0.02 THEN NULL
        -- More anchors than one item has room for.
        WHEN random() < 0.002 THEN (SELECT string_agg('w' || floor(40000 * random())::int, ' ') FROM generate_series(1, 4500))
        ELSE
        -- Some letters have several encodings: the form nfc makes the last two equal, nfkc also the first to w.
        (SELECT string_agg(coalesce((ARRAY['ｗ', 'é', U&'e\0301'])[1 + floor(random() * 60)::int], 'w') || floor(40 * random() ^ 2)::int, ' ')
            FROM generate_series(1, 3 + floor(random() * 20)::int)) END
$$;
CREATE FUNCTION some_numbers() RETURNS bigint[] LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN random() < 0.03 THEN NULL
        -- More tokens than one item has room for.
        WHEN random() < 0.004 THEN ARRAY(SELECT floor(40000 * random())::bigint FROM generate_series(1, 4500))
        ELSE ARRAY(
            SELECT CASE WHEN random() < 0.02 THEN NULL ELSE floor(400 * random() ^ 3)::bigint - 5 END
            FROM generate_series(1, floor(random() * 8)::int)) END
$$;
CREATE FUNCTION some_ids() RETURNS uuid[] LANGUAGE sql VOLATILE AS $$
    SELECT ARRAY(SELECT md5(n::text)::uuid FROM unnest(some_numbers()) n WHERE n IS NOT NULL)
$$;

CREATE TABLE docs (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    body text,
    minhash minhash_sketch GENERATED ALWAYS AS (minhash(body, 2, 40)) STORED,
    simhash simhash_sketch GENERATED ALWAYS AS (simhash(body)) STORED,
    sketch minhash_sketch GENERATED ALWAYS AS (minhash(body, 1, 24)) STORED,
    words text[] GENERATED ALWAYS AS (string_to_array(body, ' ')) STORED,
    lexemes tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,
    numbers bigint[],
    ids uuid[]
) WITH (autovacuum_enabled = off);

-- New rows: new texts, and copies of others with a word changed.
CREATE FUNCTION add_docs(count int) RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO docs (body, numbers, ids)
    SELECT some_text(), some_numbers(), some_ids() FROM generate_series(1, (count + 1) / 2);
    INSERT INTO docs (body, numbers, ids)
    SELECT regexp_replace(body, 'w' || floor(random() * 9)::int || ' ', 'x '), numbers, ids
    FROM docs ORDER BY random() LIMIT count / 2;
$$;
SELECT add_docs(300);

CREATE INDEX by_text ON docs USING signature (body text_set_ops (threshold = 0.5)) WITH (pending_limit = 64);
CREATE INDEX by_shingles ON docs USING signature (body text_set_ops (measure = cosine, shingle = 2, normalize = nfkc, threshold = 0.6))
    WITH (pending_limit = 64);
CREATE INDEX by_weights ON docs USING signature (body text_set_ops (weight = '{"w0": 0.1, "w1": 0.02, "w3": 0.5, "w4": 2.5, "x": 0.3}', threshold = 0.5)) WITH (pending_limit = 64);
CREATE INDEX by_squares ON docs USING signature (near(body, 0.7, multiset => false, method => 'cosine', weight => '{"w0": 0.1, "w1": 0.3}')
    text_ball_set_ops (measure = cosine, multiset = false, weight = '{"w0": 0.1, "w1": 0.3}', threshold = 0.6)) WITH (pending_limit = 64);
CREATE INDEX by_words ON docs USING signature (words array_set_ops (multiset = false, threshold = 0.5)) WITH (pending_limit = 64);
CREATE INDEX by_lexemes ON docs USING signature (lexemes tsvector_set_ops (measure = containment))
    WITH (pending_limit = 64);
CREATE INDEX by_number_sets ON docs USING signature (numbers array_set_ops (measure = dice, threshold = 0.5))
    WITH (pending_limit = 64);
CREATE INDEX by_balls ON docs USING signature (near(body, 0.8, normalization => 'nfc') text_ball_set_ops (threshold = 0.6, normalize = nfc)) WITH (pending_limit = 64);
CREATE INDEX by_minhash ON docs USING signature (minhash minhash_jaccard_ops (k = 2, permutations = 40))
    WITH (threshold = 0.6, pending_limit = 64);
CREATE INDEX by_simhash ON docs USING signature (simhash) WITH (distance = 6, pending_limit = 64);
CREATE INDEX by_values ON docs USING signature (sketch minhash_jaccard_ops (k = 1, permutations = 24))
    WITH (pending_limit = 64);
CREATE INDEX by_runs ON docs USING signature (body text_runs_ops (min_run = 4, normalize = nfc)) WITH (pending_limit = 64);
CREATE INDEX by_grams ON docs USING signature (body text_gram_ops (normalize = nfkc)) WITH (pending_limit = 64);
CREATE INDEX by_numbers ON docs USING signature (numbers) WITH (pending_limit = 64);
CREATE INDEX by_ids ON docs USING signature (ids) WITH (pending_limit = 64);

CREATE FUNCTION change_docs(count int) RETURNS void LANGUAGE sql VOLATILE AS $$
    UPDATE docs SET body = some_text(), numbers = CASE WHEN random() < 0.5 THEN numbers ELSE some_numbers() END
    WHERE id IN (SELECT id FROM docs ORDER BY random() LIMIT count)
$$;
CREATE FUNCTION drop_docs(count int) RETURNS void LANGUAGE sql VOLATILE AS $$
    DELETE FROM docs WHERE id IN (SELECT id FROM docs ORDER BY random() LIMIT count)
$$;
-- Rows that come and go in a transaction that fails.
CREATE FUNCTION fail_docs(count int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_docs(count);
    RAISE division_by_zero;
EXCEPTION WHEN division_by_zero THEN
    NULL;
END $$;

-- Queries of every form about a random text, numbers and ids; some of them an index does not serve. The ids are in an
-- order that the primary key does not have: since 16 the planner may read the table by that instead, and tries no
-- signature index.
CREATE FUNCTION some_queries() RETURNS TABLE (index_name text, query text) LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    q text := coalesce((SELECT body FROM docs ORDER BY random() LIMIT 1), some_text(), 'w1 w2');
    words text[] := string_to_array(q, ' ');
    lexemes tsvector := to_tsvector('simple', q);
    few bigint[] := coalesce((SELECT d.numbers FROM docs d ORDER BY random() LIMIT 1), '{3}');
    by_default text := format('near(%L, %s)', q, 0.5 + random() / 2);
    by_cosine text := format('near(%L, %s, 2, method => %L, normalization => %L)', q, 0.6 + 0.4 * random(), 'cosine', 'nfkc');
    by_weight text := format('near(%L, %s, weight => %L)', q, 0.5 + random() / 2, '{"w0": 0.04, "w1": 0.008, "w3": 0.2, "w4": 1, "x": 0.12}');
    by_square text := format('near(%L, %s, multiset => false, method => %L, weight => %L)', q, 0.3 + 0.7 * random(), 'cosine', '{"w0": 0.1, "w1": 0.3}');
    by_word text := format('near(%L::text[], %s, multiset => false)', words, 0.5 + random() / 2);
    by_lexeme text := format('near(%L::tsvector, %s, method => %L)', lexemes, 0.7 + 0.3 * random(), 'containment');
    by_edit text := format('near(%L, %s, method => %L, normalization => %L, damerau => %L)', q, 0.02 + random() * 0.98, 'edit', 'nfkc', random() < 0.5);
    swapped text := regexp_replace(q, '(.)(.)', '\2\1');
    by_gram text := format('near(%L, %s, tokenizer => %L, normalization => %L)', q, 0.02 + random() * 0.98, 'chars', 'nfkc');
    by_number text := format('near(%L::bigint[], %s, method => %L)', few, 0.5 + random() / 2, 'dice');
BEGIN
    RETURN QUERY SELECT v.index_name, CASE WHEN v.distance IS NULL
        THEN format('SELECT coalesce(array_agg(id ORDER BY id + 0)::text, %L) FROM docs WHERE %s', '{}', v.condition)
        ELSE format('SELECT coalesce(array_agg(d)::text, %L) FROM (SELECT %s AS d FROM docs WHERE %s ORDER BY %s LIMIT %s) x',
            '{}', v.distance, v.condition, v.distance, floor(1 + random() ^ 4 * 500))
        END
    FROM (VALUES
        ('by_text', format('body <@ %s', by_default), NULL),
        ('by_text', format('body <@ near(%L, 1)', q), NULL),
        ('by_text', format('body <@ near(%L, %s)', q, 0.1 + 0.4 * random()), NULL),
        ('by_text', format('body <@ near(%L, %s, 3)', q, 0.5 + random() / 2), NULL),
        ('by_text', format('body <@ near(%L, %s, method => %L)', q, 0.5 + random() / 2, 'dice'), NULL),
        ('by_text', format('body <@ near(%L, %s, multiset => false)', q, 0.5 + random() / 2), NULL),
        ('by_text', 'body <@ near(NULL::text, 0.5)', NULL),
        ('by_text', format('body <@ near(%L, 0.5)', ''), NULL),
        ('by_text', 'true', format('body <-> %s', by_default)),
        ('by_text', format('body <@ %s', by_default), format('body <-> %s', by_default)),
        ('by_text', format('body <@ near(%L, 0.6)', q), format('body <-> %s', by_default)),
        ('by_shingles', format('body <@ %s', by_cosine), NULL),
        ('by_shingles', 'true', format('body <-> %s', by_cosine)),
        ('by_weights', format('body <@ %s', by_weight), NULL),
        ('by_weights', format('body <@ near(%L, 1, weight => %L)', q, '{"w0": 0.1, "w1": 0.02, "w3": 0.5, "w4": 2.5, "x": 0.3}'), NULL),
        ('by_weights', format('body <@ near(%L, 0.8, weight => %L)', q, '{"w0": 0.1}'), NULL),
        ('by_weights', format('body <@ near(%L, 0.6, weight => %L)', '', '{"w0": 0.1, "w1": 0.02, "w3": 0.5, "w4": 2.5, "x": 0.3}'), NULL),
        ('by_weights', 'true', format('body <-> %s', by_weight)),
        ('by_weights', format('body <@ %s', by_weight), format('body <-> %s', by_weight)),
        ('by_squares', format('near(body, 0.7, multiset => false, method => %L, weight => %L) && %s', 'cosine', '{"w0": 0.1, "w1": 0.3}', by_square), NULL),
        ('by_words', format('words <@ %s', by_word), NULL),
        ('by_words', format('words <@ near(%L::text[], %s)', words, 0.5 + random() / 2), NULL),
        ('by_words', 'true', format('words <-> %s', by_word)),
        ('by_lexemes', format('lexemes <@ %s', by_lexeme), NULL),
        ('by_lexemes', 'true', format('lexemes <-> %s', by_lexeme)),
        ('by_number_sets', format('numbers <@ %s', by_number), NULL),
        ('by_number_sets', 'true', format('numbers <-> %s', by_number)),
        ('by_balls', format('near(body, 0.8, normalization => %L) && near(%L, 0.8, normalization => %1$L)', 'nfc', q), NULL),
        ('by_balls', format('near(body, 0.8, normalization => %L) && near(%L, %s, normalization => %1$L)', 'nfc', q, 0.3 + 0.7 * random()), NULL),
        ('by_minhash', format('minhash <@ near(minhash(%L, 2, 40), %s)', q, 0.6 + 0.4 * random()), NULL),
        ('by_minhash', format('minhash <@ near(minhash(%L, 2, 40), 0.6)', q), NULL),
        ('by_minhash', format('minhash <@ near(minhash(%L, 2, 40), %s)', q, 0.1 + random() / 2), NULL),
        ('by_minhash', 'true', format('minhash <%%> minhash(%L, 2, 40)', q)),
        ('by_minhash', format('minhash <@ near(minhash(%L, 2, 40), 0.6)', q), format('minhash <%%> minhash(%L, 2, 40)', q)),
        ('by_values', format('sketch <@ near(minhash(%L, 1, 24), %s)', q, 0.04 + 0.96 * random()), NULL),
        ('by_values', format('sketch <@ near(minhash(%L, 1, 24), 1)', q), NULL),
        ('by_values', 'true', format('sketch <%%> minhash(%L, 1, 24)', q)),
        ('by_values', 'true', 'sketch <%> minhash(''none of these'', 1, 24)'),
        ('by_values', format('sketch <@ near(minhash(%L, 1, 24), 0.3)', q), format('sketch <%%> minhash(%L, 1, 24)', q)),
        ('by_simhash', format('simhash <@ near(simhash(%L), %s)', q, floor(random() * 7)), NULL),
        ('by_simhash', format('simhash <@ near(simhash(%L), %s)', q, 7 + floor(random() * 20)), NULL),
        ('by_simhash', 'true', format('simhash <~> simhash(%L)', q)),
        ('by_grams', format('body <@ %s', by_gram), NULL),
        ('by_grams', format('body <@ near(%L, 1, tokenizer => %L, normalization => %L)', q, 'chars', 'NFKC'), NULL),
        ('by_grams', format('body <@ near(%L, 0.7, tokenizer => %L)', q, 'chars'), NULL),
        ('by_grams', format('body <@ near(%L, 0.5, 2, tokenizer => %L)', q, 'chars'), NULL),
        ('by_grams', format('body <@ near(%L, 0.5, tokenizer => %L, normalization => %L)', left(q, 2), 'chars', 'nfkc'), NULL),
        ('by_grams', 'true', format('body <-> %s', by_gram)),
        ('by_grams', format('body <@ %s', by_edit), NULL),
        ('by_grams', format('body <@ near(%L, 0.9, method => %L, normalization => %L)', left(q, 9) || '  ', 'edit', 'nfkc'), NULL),
        ('by_grams', format('body <@ near(%L, 0.9, method => %L, normalization => %L, damerau => true)', swapped, 'edit', 'nfkc'), NULL),
        ('by_grams', 'true', format('body <-> %s', by_edit)),
        ('by_grams', 'true', format('body <-> near(%L, 0.1, method => %L, normalization => %L, damerau => true)', swapped, 'edit', 'nfkc')),
        ('by_grams', 'true', format('body <-> near(%L, 0.001, tokenizer => %L, normalization => %L)', overlay(q placing '#' from 3), 'chars', 'nfkc')),
        ('by_grams', 'true', format('body <-> near(%L, 0.5, tokenizer => %L, normalization => %L)', '', 'chars', 'nfkc')),
        ('by_grams', format('body <@ near(%L, 0.2, tokenizer => %L, normalization => %L)', q, 'chars', 'nfkc'), format('body <-> %s', by_gram)),
        ('by_runs', format('body && shared_run(%L, %s, normalization => %L)', q, 4 + floor(random() * 8), 'nfc'), NULL),
        ('by_runs', format('body && shared_run(%L, 4, normalization => %L)', q || ' ' || some_text(), 'nfc'), NULL),
        ('by_runs', format('shared_run(%L, %s, normalization => %L) && body', q, 1 + floor(random() * 3), 'nfc'), NULL),
        ('by_runs', format('body && shared_run(%L, 5, %L)', q, 'chars'), NULL),
        ('by_runs', format('body && shared_run(%L, 4)', q), NULL),
        ('by_runs', format('body && shared_run(%L, 4, normalization => %L) AND body && shared_run(%1$L, 6, normalization => %2$L)', q, 'nfc'), NULL),
        ('by_numbers', format('numbers && %L::bigint[]', few[:5]), NULL),
        ('by_numbers', format('numbers && %L::bigint[]', '{7,NULL,300}'), NULL),
        ('by_numbers', format('shares(numbers, %L::bigint[], %s)', few[:8], 1 + floor(random() * 3)), NULL),
        ('by_ids', format('ids && %L::uuid[]', coalesce((SELECT d.ids[:5] FROM docs d ORDER BY random() LIMIT 1), '{}')), NULL)
    ) v(index_name, condition, distance);
END $$;


-- The answers of the same queries with an index and without: of all of them, or of a part that chance picks.
CREATE FUNCTION compare(part float8 DEFAULT 1) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    it record;
    with_index text;
    without text;
    count int := 0;
BEGIN
    PERFORM set_config('work_mem', CASE WHEN random() < 0.3 THEN '64kB' ELSE '4MB' END, true);
    FOR it IN SELECT * FROM some_queries() WHERE random() < part LOOP
        PERFORM set_config('enable_seqscan', 'off', true);
        PERFORM set_config('enable_bitmapscan', CASE WHEN random() < 0.7 THEN 'on' ELSE 'off' END, true);
        PERFORM set_config('enable_indexscan', 'on', true);
        EXECUTE it.query INTO with_index;
        PERFORM set_config('enable_seqscan', 'on', true);
        PERFORM set_config('enable_bitmapscan', 'off', true);
        PERFORM set_config('enable_indexscan', 'off', true);
        EXECUTE it.query INTO without;
        IF with_index IS DISTINCT FROM without THEN
            RAISE EXCEPTION '%: % gives % with the index, % without', it.index_name, it.query, with_index, without;
        END IF;
        count := count + 1;
    END LOOP;
    RETURN count;
END $$;

-- Whether they agree, and no query was left out.
CREATE FUNCTION answers_agree() RETURNS bool LANGUAGE sql VOLATILE AS $$
    SELECT compare() = (SELECT count(*) FROM some_queries())
$$;

-- Whether the planner takes the indexes for these queries at all, with sequential scans off.
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    plan text;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true);
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan;
END $$;
-- Indexes that no query of a kind is answered with.
CREATE FUNCTION unused_indexes() RETURNS SETOF text LANGUAGE sql VOLATILE AS $$
    SELECT format('%s, for example %s', index_name, min(query)) FROM some_queries()
    GROUP BY index_name, query ~ 'ORDER BY .* LIMIT'
    HAVING NOT bool_or(plan_of(query) LIKE '%"' || index_name || '"%')
$$;

-- Checks all indexes, and that they have what the table has.
CREATE FUNCTION check_all() RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT signature_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'docs'::regclass AND NOT indisprimary AND indisvalid
$$;
