-- near_duplicates and its relatives on columns of sketches: all pairs by the estimate, as SQL finds them one by one.
CREATE SCHEMA sketch_columns_test;
SET search_path = sketch_columns_test, public;
CREATE TABLE docs (id int PRIMARY KEY, body text, m minhash_sketch, s simhash_sketch, s100 simhash_sketch, other text);
-- Copies with some words changed, empty documents, none at all, and one template that a third has.
INSERT INTO docs (id, body) SELECT i, CASE WHEN i % 41 = 0 THEN '' WHEN i % 37 = 0 THEN NULL ELSE (
    SELECT string_agg(CASE WHEN i % 3 = 0 AND j < 12 THEN 'frame' || j
        WHEN hashint4(i * 40 + j) % 23 = 0 THEN 'w' || hashint4(i * 40 + j) % 200 ELSE 'b' || hashint4((i / 4) * 40 + j) % 500 END, ' ' ORDER BY j)
    FROM generate_series(1, 24) j) END
FROM generate_series(1, 400) i;
UPDATE docs SET m = minhash(body, 2, 64), s = simhash(body), s100 = simhash(body, 100);
CREATE TABLE others AS SELECT id + 1000 AS id, body, m, s, s100 FROM docs WHERE id % 5 = 0;
ALTER TABLE others ADD PRIMARY KEY (id);

-- Pairs that one side lacks, or with another similarity.
CREATE FUNCTION differences(col text, method text, threshold float8, options jsonb DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answers bigint[];
    right_side text;
    name text;
BEGIN
    FOREACH right_side IN ARRAY '{docs,others}'::text[] LOOP
        name := CASE right_side WHEN 'docs' THEN 'near_duplicates(''docs''' ELSE 'near_duplicates_between(''docs'', ''others''' END;
        EXECUTE format('SELECT ARRAY[count(*) FILTER (WHERE t.similarity IS DISTINCT FROM f.similarity), count(*)] FROM (
            SELECT a.id AS a, b.id AS b, %2$s_similarity(a.%1$s, b.%1$s) AS similarity FROM docs a, %3$s b
            WHERE (%3$L = ''others'' OR a.id < b.id) AND %2$s_similarity(a.%1$s, b.%1$s) > 0
            AND CASE WHEN $2 ? ''distance'' THEN (1 - %2$s_similarity(a.%1$s, b.%1$s)) * 64 <= ($2->>''distance'')::int
                ELSE %2$s_similarity(a.%1$s, b.%1$s) >= coalesce($1, CASE %1$L WHEN ''m'' THEN 0.8 WHEN ''s'' THEN 61 / 64::float8 ELSE 0.97 END) END) t
            FULL JOIN %4$s, threshold => $1, text_column => %1$L, method => %2$L, options => $2) f ON left_id = a AND right_id = b',
            col, method, right_side, name)
        INTO answers USING threshold, options;
        IF answers[1] <> 0 OR answers[2] < 1 THEN
            RETURN format('%s: %s of %s differ', right_side, answers[1], answers[2]);
        END IF;
    END LOOP;
    RETURN 'same';
END
$$;
SELECT threads, differences('m', 'minhash', threshold), count(*) AS joins
FROM generate_series(1, 3) threads, set_config('neardup.threads', threads::text, false), unnest(array[NULL, 0.01, 0.3, 0.55, 0.7, 0.8, 50 / 64::float8, 0.95, 1]) threshold
GROUP BY 1, 2 ORDER BY 1, 2;
RESET neardup.threads;
SELECT col, differences(col, 'simhash', threshold), count(*) AS joins
FROM unnest('{s,s100}'::text[]) col, unnest(array[NULL, 0.55, 0.7, 0.8, 0.9, 61 / 64::float8, 0.97]) threshold GROUP BY 1, 2 ORDER BY 1, 2;
SELECT distance, differences('s', 'simhash', NULL, jsonb_build_object('distance', distance)) FROM unnest(array[0, 1, 3, 10, 20]) distance;
SET neardup.memory = '64kB';
SELECT differences('m', 'minhash', 0.5), differences('s', 'simhash', 0.8);
RESET neardup.memory;
-- What was done.
SELECT count(*) FROM near_duplicates('docs', text_column => 'm', method => 'minhash') \gset
SELECT documents, skipped_null, skipped_empty, distinct_sets = (SELECT count(DISTINCT m) - 1 FROM docs) AS sets,
    tokens = 64 * (documents - skipped_null - skipped_empty) AS tokens, pairs = :count AS pairs, promised_recall, measured_recall, handed_over FROM near_duplicates_stats();
SELECT count(*) FROM near_duplicates('docs', text_column => 's', method => 'simhash') \gset
SELECT documents, skipped_null, skipped_empty, distinct_sets = (SELECT count(DISTINCT s) - 1 FROM docs) AS sets, tokens, pairs = :count AS pairs,
    promised_recall, handed_over FROM near_duplicates_stats();
-- Limits, nothing, and only rows without a sketch; a domain, a view, a partitioned table.
SELECT count(*) FROM (SELECT near_duplicates('docs', 0.3, text_column => 'm', method => 'minhash') LIMIT 5) p;
SELECT * FROM near_duplicates('docs', 0.3, text_column => 'm', method => 'minhash', max_pairs => 3);
CREATE DOMAIN a_sketch AS simhash_sketch;
CREATE TABLE few (id text PRIMARY KEY, m minhash_sketch, s a_sketch);
SELECT * FROM near_duplicates('few', 0.8, NULL::text, text_column => 's', method => 'simhash');
INSERT INTO few VALUES ('a', NULL, NULL), ('b', minhash(''), simhash('')), ('c', minhash(''), simhash(''));
SELECT * FROM near_duplicates('few', 0.01, NULL::text, text_column => 's', method => 'simhash');
SELECT * FROM near_duplicates('few', 0.01, NULL::text, text_column => 'm', method => 'minhash');
SELECT documents, skipped_null, skipped_empty FROM near_duplicates_stats();
INSERT INTO few VALUES ('d', minhash('a b', 1), simhash('a b')), ('e', minhash('b a', 1), simhash('b a'));
SELECT * FROM near_duplicates('few', 1, NULL::text, text_column => 's', method => 'simhash');
CREATE VIEW shown AS SELECT id, m AS sketch FROM docs WHERE id < 200;
SELECT count(*) = (SELECT count(*) FROM near_duplicates('docs', text_column => 'm', method => 'minhash') WHERE right_id < 200) AS same
FROM near_duplicates('shown', id_column => 'id', text_column => 'sketch', method => 'minhash');

-- An index of sketches of 100 bits finds what a look at all rows finds.
CREATE INDEX ON docs USING signature (s100 simhash_hamming_ops (bits = 100)) WITH (distance = 9);
SET enable_seqscan = off;
SELECT count(*) > 500 AS many, count(*) = (SELECT count(*) FROM docs a, docs b WHERE a.s100 <~> b.s100 <= 9) AS same
FROM docs a JOIN LATERAL (SELECT id FROM docs WHERE s100 <@ near(a.s100, 9)) b ON true;
SELECT bool_and(first = (SELECT min(a.s100 <~> b.s100) FROM docs b WHERE b.id <> a.id)) FROM docs a,
    LATERAL (SELECT a.s100 <~> b.s100 AS first FROM docs b WHERE b.id <> a.id ORDER BY b.s100 <~> a.s100 LIMIT 1) b WHERE a.id < 40;
RESET enable_seqscan;

-- Clusters, and rows to remove: the first of its kind stays, or the one that a column says.
SELECT count(*) = (SELECT count(*) FROM clusters_of_pairs('SELECT left_id, right_id, similarity FROM near_duplicates(''docs'', text_column => ''m'', method => ''minhash'')')) AS same,
    count(*) > 20 AS many FROM near_duplicate_clusters('docs', text_column => 'm', method => 'minhash');
SELECT count(*) > 10 AS many, bool_and(id > kept_id) AS first FROM eliminate('docs', text_column => 'm', method => 'minhash');
SELECT count(*) > 10 AS many, count(*) FILTER (WHERE id < kept_id) > count(*) / 2 AS last FROM eliminate('docs', text_column => 'm', method => 'minhash', keep => 'max:id');
SELECT * FROM eliminate('docs', text_column => 'm', method => 'minhash', keep => 'nonsense');

-- Sketches of 100 bits made by the call are those of the column.
SELECT count(*) > 20 AS many, count(*) = (SELECT count(*) FROM near_duplicates('docs', text_column => 's100', method => 'simhash', options => '{"distance": 9}') c
    WHERE (c.left_id, c.right_id, c.similarity) IN (SELECT * FROM near_duplicates('docs', text_column => 'body', method => 'simhash', options => '{"bits": 100, "distance": 9}'))) AS same
FROM near_duplicates('docs', text_column => 'body', method => 'simhash', options => '{"bits": 100, "distance": 9}');

-- Two sketches explained: what their method says of columns of them.
SELECT * FROM explain_pair(minhash('a b c d', 1, 8), minhash('a b c e', 1, 8)) UNION ALL
SELECT * FROM explain_pair(simhash('a b c d', 100), simhash('a b c e', 100)) UNION ALL
SELECT * FROM explain_pair(simhash('a'), simhash('a')) UNION ALL SELECT * FROM explain_pair(minhash(''), minhash('')) UNION ALL
SELECT * FROM explain_pair(NULL::minhash_sketch, minhash('a'));
SELECT count(*) > 1 AS of_texts FROM explain_pair('a', 'b');
SELECT count(*) FILTER (WHERE m.similarity <> minhash_similarity(a.m, b.m) OR s.similarity <> simhash_similarity(a.s, b.s)) AS other,
    count(*) FILTER (WHERE (m.evidence->>'pair')::bool) = (SELECT count(*) FROM near_duplicates('docs', text_column => 'm', method => 'minhash')) AS pairs_of_minhash,
    count(*) FILTER (WHERE (s.evidence->>'pair')::bool) = (SELECT count(*) FROM near_duplicates('docs', text_column => 's', method => 'simhash')) AS pairs_of_simhash
FROM docs a JOIN docs b ON a.id < b.id, explain_pair(a.m, b.m) m, explain_pair(a.s, b.s) s;

-- Where blocks of bits tell no sketches apart all are compared, and that is said where they are many.
CREATE TABLE many AS SELECT i AS id, i::text AS body, simhash(i::text) AS s FROM generate_series(1, 20000) i;
SELECT count(*) > 100 AS some FROM near_duplicates('many', id_column => 'id', text_column => 's', method => 'simhash', options => '{"distance": 15}');
SELECT count(*) > 100 AS some FROM near_duplicates('many', 0.75, id_column => 'id', text_column => 'body', method => 'simhash');
SELECT count(*) > 100 AS some FROM near_duplicates('many', id_column => 'id', text_column => 's', method => 'simhash', options => '{"distance": 14}');
SELECT count(*) FROM near_duplicates('docs', text_column => 's', method => 'simhash', options => '{"distance": 15}') HAVING count(*) = 0;

-- What has no meaning is an error, each with a call that works.
\set VERBOSITY default
SELECT * FROM near_duplicates('docs', text_column => 'm');
SELECT * FROM near_duplicates('docs', 0.9, text_column => 'm', method => 'simhash');
SELECT * FROM near_duplicates('docs', 0.9, text_column => 's', method => 'minhash');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'nonsense');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'edit');
SELECT * FROM near_duplicates('docs', 1.5, text_column => 'm', method => 'minhash');
SELECT * FROM near_duplicates('docs', text_column => 'm', method => 'minhash', tokenizer => 'words');
SELECT * FROM near_duplicates('docs', text_column => 'm', method => 'minhash', shingle => 3);
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'simhash', multiset => true);
SELECT * FROM near_duplicates('docs', text_column => 'm', method => 'minhash', options => '{"recall": 0.9}');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'simhash', options => '{"bits": 64}');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'simhash', options => '{"distance": 64}');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'simhash', options => '{"distance": -1}');
SELECT * FROM near_duplicates('docs', 0.9, text_column => 's', method => 'simhash', options => '{"distance": 3}');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'simhash', options => '{"nonsense": 3}');
SELECT * FROM near_duplicates('docs', text_column => 's', method => 'simhash', site_column => 'other');
SELECT * FROM near_duplicates_between('docs', 'others', text_column => 's', right_text_column => 'm', method => 'simhash');
SELECT * FROM near_duplicates_between('docs', 'others', text_column => 'body', right_text_column => 'm', method => 'minhash');
SELECT * FROM near_duplicates_between('docs', 'others', text_column => 's', right_text_column => 's100', method => 'simhash');
SELECT * FROM partial_duplicates('docs', text_column => 's');
SELECT duplicates_report('docs', text_column => 's', method => 'simhash');
CALL near_duplicates_into('docs', 0.8, 'in_a_table', text_column => 'm', method => 'minhash');
SELECT count(*) = (SELECT count(*) FROM in_a_table) AS same FROM near_duplicates('docs', text_column => 'm', method => 'minhash');
-- Sketches that were made in different ways, whichever comes first; bits from elsewhere go with any.
CREATE VIEW unlike AS SELECT id, CASE WHEN id = 300 THEN minhash(body, 2, 64, 2) ELSE m END AS m FROM docs ORDER BY id;
SELECT * FROM near_duplicates('unlike', id_column => 'id', text_column => 'm', method => 'minhash');
CREATE TABLE mixed (id int PRIMARY KEY, s simhash_sketch);
INSERT INTO mixed VALUES (1, 1::bit(64)::simhash_sketch), (2, simhash('a b')), (3, 3::bit(64)::simhash_sketch), (4, simhash(''));
SELECT * FROM near_duplicates('mixed', text_column => 's', method => 'simhash');
INSERT INTO mixed VALUES (5, simhash('a b', k => 2));
SELECT * FROM near_duplicates('mixed', text_column => 's', method => 'simhash');
DROP TABLE mixed;
-- A type of the name alone is none of ours.
CREATE TYPE sketch_columns_test.minhash_sketch AS ENUM ('a', 'b');
CREATE TABLE look_alike (id int PRIMARY KEY, m sketch_columns_test.minhash_sketch);
SELECT * FROM near_duplicates('look_alike', text_column => 'm', method => 'minhash');
DROP TABLE look_alike;
DROP TYPE sketch_columns_test.minhash_sketch;

-- Jobs: by triggers and by comparing.
SELECT neardup_watch('docs', 0.7, text_column => 'm', method => 'minhash');
SELECT neardup_watch('others', text_column => 's', method => 'simhash', options => '{"distance": 12}', detect => 'compare');
CALL neardup_refresh('docs');
CALL neardup_refresh('others');
CREATE FUNCTION wrong() RETURNS text LANGUAGE sql AS $$
    SELECT format('%s %s', (SELECT count(*) FROM (TABLE docs_pairs EXCEPT SELECT * FROM near_duplicates('docs', 0.7, text_column => 'm', method => 'minhash')) d)
            + (SELECT count(*) FROM (SELECT * FROM near_duplicates('docs', 0.7, text_column => 'm', method => 'minhash') EXCEPT TABLE docs_pairs) d),
        (SELECT count(*) FROM (TABLE others_pairs EXCEPT SELECT * FROM near_duplicates('others', text_column => 's', method => 'simhash', options => '{"distance": 12}')) d)
            + (SELECT count(*) FROM (SELECT * FROM near_duplicates('others', text_column => 's', method => 'simhash', options => '{"distance": 12}') EXCEPT TABLE others_pairs) d))
$$;
SELECT wrong(), (SELECT count(*) > 20 FROM docs_pairs) AS many, (SELECT count(*) > 5 FROM others_pairs) AS some;
UPDATE docs SET m = minhash('another text ' || id % 3 || ' with words of its own, some more of them than before', 2, 64) WHERE id % 7 = 0;
UPDATE docs SET m = NULL WHERE id % 50 = 1;
DELETE FROM docs WHERE id % 11 = 0;
UPDATE others SET s = simhash('another text ' || id % 3) WHERE id % 7 = 0;
DELETE FROM others WHERE id % 11 = 0;
CALL neardup_refresh('docs');
CALL neardup_refresh('others');
SELECT wrong();
-- Which sketch comes first is a matter of where rows stand.
\set VERBOSITY sqlstate
UPDATE docs SET m = minhash('a text', 3, 64) WHERE id = 2;
CALL neardup_refresh('docs');
\set VERBOSITY default
DROP SCHEMA sketch_columns_test CASCADE;
