-- Words that weigh, in balls and in indexes of sets.
\set SHOW_CONTEXT never
CREATE TABLE firms (id int PRIMARY KEY, name text);
INSERT INTO firms VALUES
    (1, 'Zyntherion Limited'), (2, 'Zyntherion GmbH'), (3, 'Arbor Limited'), (4, 'Quay Limited'),
    (5, 'Harbour GmbH'), (6, 'Limited'), (7, 'Quay Quay Limited'), (8, NULL), (9, '');
\set legal '{"limited": 0.1, "GmbH": 0.1}'
SELECT id, name, round(near_similarity(name, near('Zyntherion', weight => :'legal'))::numeric, 6) AS similarity
FROM firms WHERE name <@ near('Zyntherion', 0.8, weight => :'legal') ORDER BY id;
-- As near_duplicates has it, to the last bit.
SELECT method, count(*), bool_and(near_similarity(a.name, near(b.name, method => method, weight => :'legal')) = p.similarity) AS agree
FROM unnest('{jaccard,cosine,dice,overlap}'::text[]) method,
    near_duplicates('firms', 0.01, method => method, options => format('{"weight": %s}', :'legal')::jsonb) p
    JOIN firms a ON a.id = p.left_id JOIN firms b ON b.id = p.right_id GROUP BY method ORDER BY 1;
-- Weights are proportions: these balls are equal, and one whose words all weigh the same is one without weights.
SELECT near('a', 0.8, weight => '{"b": 1, "c": 10}')::text = near('a', 0.8, weight => '{"c": 1, "b": 0.1}')::text AS equal,
    near('a', 0.8, weight => '{"b": 2, "c": 2}')::text = near('a', 0.8)::text AS none;
SELECT near('Zyntherion', 0.8, weight => :'legal') AS ball;
SELECT near('Zyntherion', 0.8, weight => :'legal')::text::text_ball::text = near('Zyntherion', 0.8, weight => :'legal')::text AS same;
SELECT '<jaccard:words:k1:multiset:0.8:weight["b",410,"a",410]:"x">'::text_ball;
SELECT '<jaccard:words:k2:set:0.8:weight["a",410]:"x">'::text_ball;

CREATE INDEX by_weight ON firms USING signature (name text_set_ops (weight = '{"limited": 0.1, "GmbH": 0.1}'));
SELECT pg_get_indexdef('by_weight'::regclass);
SELECT signature_index_fits('by_weight', near('x', 0.8, weight => :'legal'));
SELECT signature_index_fits('by_weight', near('x', 0.8, weight => '{"limited": 0.2}'));
SELECT signature_index_fits('by_weight', near('x', 0.8));
SELECT options FROM signature_index_stats('by_weight');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM firms WHERE name <@ near('Zyntherion', 0.8, weight => '{"limited": 0.1, "gmbh": 0.1}');
SELECT id FROM firms WHERE name <@ near('Zyntherion', 0.8, weight => :'legal') ORDER BY id;
SELECT id, round((name <-> near('Zyntherion', 0.7, weight => :'legal'))::numeric, 6) AS distance
FROM firms ORDER BY name <-> near('Zyntherion', 0.7, weight => :'legal') LIMIT 3;
-- Other weights, or none, are of other indexes; this one answers all the same where no other way is allowed.
SELECT id FROM firms WHERE name <@ near('Zyntherion', 0.8) ORDER BY id;
SELECT id FROM firms WHERE name <@ near('Zyntherion Limited', 0.5, weight => '{"limited": 9, "zyntherion": 0.1}') ORDER BY id;
-- The words of a table; a list that only the execution knows.
CREATE TABLE words (word text, weight float8);
INSERT INTO words VALUES ('limited', 0.1), ('gmbh', 0.1);
SELECT id FROM firms WHERE name <@ near('Zyntherion', 0.8, weight => (SELECT jsonb_object_agg(word, weight)::text FROM words)) ORDER BY id;
RESET enable_seqscan;

-- Whatever the sizes of the texts: each row that is just so similar is found, with an index and without; of pending rows, and of
-- an index that was empty. Words have very different frequencies, and the frequent ones are light.
SELECT setseed(0.5);
CREATE TABLE docs (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, body text);
CREATE FUNCTION add(rows int) RETURNS void LANGUAGE sql AS $$
    INSERT INTO docs (body) SELECT (
        SELECT string_agg('w' || floor(60 * random() ^ 3)::int, ' ') FROM generate_series(1, 1 + floor(random() ^ 3 * 40)::int + 0 * i))
    FROM generate_series(1, rows) i
$$;
SELECT format('{%s}', string_agg(format('"w%s": %s', n, round((0.02 + n ^ 2 / 100.0)::numeric, 4)), ', ')) AS list FROM generate_series(0, 9) n \gset
CREATE INDEX by_jaccard ON docs USING signature (body text_set_ops (threshold = 0.4, weight = :'list'));
CREATE INDEX by_cosine ON docs USING signature (body text_set_ops (threshold = 0.4, measure = cosine, weight = :'list'));
CREATE INDEX by_dice ON docs USING signature (body text_set_ops (threshold = 0.4, measure = dice, multiset = false, weight = :'list'));
CREATE INDEX by_row ON docs USING signature (body text_set_ops (threshold = 0.4, measure = containment, weight = :'list'));
CREATE INDEX by_query ON docs USING signature (body text_set_ops (threshold = 0.4, measure = containment, direction = query, weight = :'list'));
SELECT add(150);
CREATE VIEW calls AS SELECT * FROM (VALUES ('method => ''jaccard'''), ('method => ''cosine'''), ('method => ''dice'', multiset => false'),
    ('method => ''containment'''), ('method => ''containment'', direction => ''query''')) v(call);
-- For each text and each row near it, the rows that are at least so similar, by either way.
CREATE FUNCTION lost(list text, part int) RETURNS TABLE (call text, searches bigint, wrong bigint) LANGUAGE plpgsql AS $body$
DECLARE
    it record; it2 record; sought text; with_index int[]; without int[];
BEGIN
    FOR it IN SELECT * FROM calls LOOP
        call := it.call; searches := 0; wrong := 0;
        FOR it2 IN EXECUTE format($$SELECT b.body, near_similarity(a.body, near(b.body, %1$s, weight => %2$L)) AS least
                FROM docs a, docs b WHERE b.id %% %3$s = 0$$, it.call, list, part) LOOP
            CONTINUE WHEN it2.least IS NULL OR it2.least < 0.4;
            sought := format('SELECT coalesce(array_agg(id ORDER BY id + 0), %L) FROM docs WHERE body <@ near(%L, %s, %s, weight => %L)',
                '{}', it2.body, it2.least, it.call, list);
            SET LOCAL enable_seqscan = off;
            EXECUTE sought INTO with_index;
            SET LOCAL enable_seqscan = on; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_indexscan = off;
            EXECUTE sought INTO without;
            SET LOCAL enable_bitmapscan = on; SET LOCAL enable_indexscan = on;
            searches := searches + 1;
            wrong := wrong + (with_index <> without)::int;
        END LOOP;
        RETURN NEXT;
    END LOOP;
END $body$;
SELECT call, searches > 9 AS many, wrong FROM lost(:'list', 20);
SELECT count(signature_index_merge(i)) FROM unnest('{by_jaccard,by_cosine,by_dice,by_row,by_query}'::regclass[]) i;
SELECT add(150);
SELECT call, searches > 9 AS many, wrong FROM lost(:'list', 40);
REINDEX TABLE docs;
SELECT call, searches > 9 AS many, wrong FROM lost(:'list', 40);
SELECT count(*) FROM unnest('{by_jaccard,by_cosine,by_dice,by_row,by_query}'::regclass[]) i, LATERAL (SELECT signature_index_check(i, true)) c;

-- A join of a few rows by the index, and of many as one batch.
SELECT count(*) AS pairs FROM docs a JOIN docs b ON a.body <@ near(b.body, 0.6, weight => :'list') WHERE a.id < b.id;
SELECT count(*) AS pairs FROM near_duplicates('docs', 0.6, options => format('{"weight": %s}', :'list')::jsonb);
SET neardup.enable_near_join = off;
SELECT count(*) AS pairs FROM docs a JOIN docs b ON a.body <@ near(b.body, 0.6, weight => :'list') WHERE a.id < b.id;
RESET neardup.enable_near_join;

-- Balls in an index, and a constraint on them.
CREATE TABLE customers (name text, EXCLUDE USING signature (near(name, 0.8, weight => '{"limited": 0.1}') text_ball_set_ops (weight = '{"limited": 0.1}') WITH &&));
INSERT INTO customers VALUES ('Zyntherion Limited'), ('Arbor Limited');
INSERT INTO customers VALUES ('Limited Zyntherion Limited');
INSERT INTO customers SELECT 'Quay' WHERE near('a', 0.8, weight => '{"limited": 0.1}') && near('a', 0.8);
CREATE TABLE others (ball text_ball);
CREATE INDEX plain ON others USING signature (ball);
INSERT INTO others VALUES (near('a', 0.8, weight => '{"gmbh": 0.1}'));

-- What cannot be.
SELECT near('a', 0.8, weight => 'words');
SELECT near('a', 0.8, weight => 'idf');
SELECT near('a', 0.8, weight => '{"a": "b"}');
SELECT near('a', 0.8, weight => '{"a": 0}');
SELECT near('a', 0.8, weight => '{"a b": 1}');
SELECT near('a', 0.8, weight => '{"A": 1, "a": 2}');
SELECT near('a', 0.8, shingle => 2, weight => '{"a": 1}');
SELECT near('a', 0.8, tokenizer => 'chars', weight => '{"a": 1}');
SELECT near('a', 0.8, normalization => 'nfc', weight => '{"a": 1}');
SELECT near('a', 0.8, method => 'edit', weight => '{"a": 1}');
CREATE INDEX ON firms USING signature (name text_set_ops (weight = 'words'));
CREATE INDEX ON firms USING signature (name text_set_ops (weight = '{"a b": 1}'));
CREATE INDEX ON firms USING signature (name text_set_ops (shingle = 3, weight = '{"a": 0.1}'));
CREATE INDEX ON firms USING signature (name text_gram_ops (weight = '{"a": 0.1}'));
CREATE FUNCTION make(bytes int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE INDEX listed ON firms USING signature (name text_set_ops (weight = %L))',
        (SELECT rpad(format('{%s', string_agg(format('"%s": 0.1', md5(n::text)), ',')), bytes - 1) || '}' FROM generate_series(1, bytes / 40) n));
END $$;
SELECT make(7501);
SELECT make(7500);
DROP TABLE firms, docs, customers, others CASCADE;
