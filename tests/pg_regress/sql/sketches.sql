-- Sketches of documents, and how alike they are.
CREATE TABLE texts(id int PRIMARY KEY, body text);
INSERT INTO texts VALUES
    (1, 'The quick brown fox jumps over the lazy dog and runs away into the dark green forest'),
    (2, 'The quick brown fox jumps over the lazy dog and runs away into the dark green wood'),
    (3, 'Nothing in this sentence has anything to do with the others, except for some small words'),
    (4, ''), (5, NULL), (6, 'Fox.');

-- Text form: everything that two sketches must have in common, and the values.
SELECT id, minhash(body, k => 2, permutations => 4) FROM texts ORDER BY id;
SELECT id, simhash(body) FROM texts ORDER BY id;
SELECT simhash(body, 128, 2, tokenizer => 'chars') FROM texts WHERE id = 1;
SELECT minhash(body, 3, 2, -5, 'whitespace') FROM texts WHERE id = 1;

-- Alike documents have alike sketches; an empty one is similar to nothing.
SELECT a.id, b.id, round(minhash_similarity(minhash(a.body, 1), minhash(b.body, 1))::numeric, 2) AS minhash,
    round(jaccard(a.body, b.body)::numeric, 2) AS jaccard,
    simhash(a.body) <~> simhash(b.body) AS bits, round(simhash_similarity(simhash(a.body), simhash(b.body))::numeric, 2) AS simhash
    FROM texts a JOIN texts b ON a.id <= b.id ORDER BY 1, 2;
SELECT minhash_similarity(minhash(body), minhash(body)) + (minhash(body) <%> minhash(body)) AS one FROM texts WHERE id <> 5;

-- The same from words, lexemes and shingles that are made already.
SELECT split_part(minhash(body)::text, ':m', 2) = split_part(minhash(words(body))::text, ':m', 2) AS words,
    split_part(minhash(body)::text, ':m', 2) = split_part(minhash(shingles(body))::text, ':m', 2) AS shingles,
    split_part(simhash(body)::text, ':', 6) = split_part(simhash(words(body))::text, ':', 6) AS words,
    split_part(simhash(body, k => 3)::text, ':', 6) = split_part(simhash(shingles(body, 3))::text, ':', 6) AS shingles
    FROM texts WHERE id IN (1, 3);
SELECT minhash(to_tsvector('simple', 'a b c a'), 2, 2), simhash(to_tsvector('simple', 'a b c a')), minhash(ARRAY['a', 'b', NULL, 'c', 'a'], 2, 2);
SELECT minhash('{1,2,3}'::bigint[], permutations => 3) = minhash('{3,1,2,2,NULL}'::bigint[], permutations => 3) AS sets;
SELECT minhash('{1,2,3}'::bigint[], permutations => 3), simhash('{5}'::bigint[]);

-- Unlike sketches do not compare.
SELECT minhash('a', 5) <%> minhash('a', 4);
SELECT minhash('a', permutations => 64) <%> minhash('a');
SELECT minhash('a', seed => 2) <%> minhash('a');
SELECT minhash_similarity(minhash('a'), minhash(ARRAY['a']));
SELECT simhash('a') <~> simhash('a', 128);
SELECT simhash('a') <~> simhash('a', k => 2);

-- Bits.
SELECT simhash('some text')::bit(64), simhash('some text')::varbit = simhash('some text')::bit(64) AS varbit,
    simhash('some text')::bit(64)::simhash_sketch <~> simhash('some text') AS zero, simhash('some text')::bit(3);
SELECT 1::bigint::bit(64)::simhash_sketch <~> 6::bigint::bit(64)::simhash_sketch AS three;
SELECT B'101'::simhash_sketch;
-- Any multiple of 4: the first bits of a longer one.
SELECT simhash('some text', 100), simhash('some text', 100)::bit(100) = simhash('some text', 128)::bit(100) AS prefix, pg_column_size(simhash('some text', 100)) AS bytes;
SELECT bits, simhash('one two three', bits) <~> simhash('one two four', bits) AS differ,
    simhash('one two three', bits)::text::simhash_sketch = simhash('one two three', bits) AS text,
    simhash('one two three', bits)::varbit::simhash_sketch <~> simhash('one two three', bits) AS zero
FROM unnest(array[8, 12, 60, 68, 100, 300, 1020, 1024]) bits;
SELECT simhash('', 100), simhash('', 100) <~> simhash('a', 100) AS all_differ;
SELECT simhash('a', 98);
SELECT simhash('a', 4);
SELECT 1::bigint::bit(64)::simhash_sketch <~> simhash('a', 128);

-- Supershingles and megashingles.
SELECT cardinality(supershingles(minhash(body, 8, 84))) AS super, cardinality(megashingles(minhash(body, 8, 84))) AS mega,
    cardinality(supershingles(minhash(body), 128)) AS all FROM texts WHERE id IN (1, 4) ORDER BY id;
SELECT shares(supershingles(minhash(a.body, 2, 84), 42), supershingles(minhash(b.body, 2, 84), 42), 2) AS two,
    megashingles(minhash(a.body, 2, 84), 42) && megashingles(minhash(b.body, 2, 84), 42) AS one_mega
    FROM texts a, texts b WHERE a.id = 1 AND b.id IN (2, 3) ORDER BY b.id;

-- Balls.
SELECT id FROM texts WHERE body <@ near('The quick brown fox jumps over the lazy dog and runs away into the dark green forest', 0.6) ORDER BY id;
SELECT id FROM texts WHERE near('the quick brown fox', 0.1) @> body ORDER BY id;
SELECT id FROM texts WHERE minhash(body) <@ near(minhash('The quick brown fox jumps over the lazy dog and runs away into the dark green wood'), 1) ORDER BY id;
SELECT id FROM texts WHERE near(simhash('fox'), 0) @> simhash(body) ORDER BY id;
SELECT id FROM texts WHERE simhash(body) <@ near(simhash('fox'), 63) ORDER BY id;
SELECT id FROM texts WHERE minhash(body) <@ near(minhash(''), 0.1) OR simhash(body) <@ near(simhash(''), 63) OR body <@ near('', 0.1);
SELECT id FROM texts WHERE body IS NOT NULL ORDER BY minhash(body, 1) <%> minhash('fox and dog', 1), id LIMIT 3;
SELECT near('a', 0.75, 2), near(minhash('', permutations => 2), 1), near(simhash('a'), 3);
SELECT 'near' AS of_literals, pg_typeof(near('text', 1)), pg_typeof(minhash('text')), pg_typeof(simhash('text'));

-- A ball is in exactly where the reported number says so.
SELECT count(*) FILTER (WHERE (x <@ near(y, t)) <> (minhash_similarity(x, y) >= t)) AS wrong, count(*)
    FROM (SELECT minhash(array_agg(n)) AS x FROM generate_series(1, 30) n) a,
    (SELECT minhash(array_agg(n)) AS y FROM generate_series(1, 50) n) b, (SELECT i / 128.0::float8 AS t FROM generate_series(1, 128) i) c;

-- Bad values.
SELECT minhash('a', 0);
SELECT minhash('a', permutations => 0);
SELECT minhash('a', permutations => 100000);
SELECT minhash('a', tokenizer => 'letters');
SELECT simhash('a', 65);
SELECT simhash('a', k => -1);
SELECT near('a', 0);
-- The distance is 1 minus the similarity, to the last bit.
SELECT m, count(*) FILTER (WHERE a <%> b <> 1 - minhash_similarity(a, b)) AS apart, count(DISTINCT a <%> b) > 5 AS many
FROM unnest(ARRAY[7, 84, 100, 128, 200]) m, LATERAL (SELECT minhash(string_agg('w' || (i * j) % 17, ' '), 1, m) AS a FROM generate_series(1, 9) i, generate_series(1, 2) j) x,
    generate_series(2, 9) k, LATERAL (SELECT minhash(string_agg('w' || (i * k) % 19, ' '), 1, m) AS b FROM generate_series(1, 9 + k) i) y GROUP BY 1 ORDER BY 1;
-- What mix is: the hash of the one word of a text, mixed, has the bits of its simhash.
SELECT simhash('{5}'::bigint[]);
SELECT near('a', 1.5);
SELECT near(minhash('a'), 'NaN');
SELECT near(simhash('a'), 2.5);
SELECT near(simhash('a'), 64);
SELECT near(simhash('a'), -1);
SELECT supershingles(minhash('a'), 0);
SELECT megashingles(minhash('a'), 129);
SELECT shares('{1}'::bigint[], '{1}', 0);
