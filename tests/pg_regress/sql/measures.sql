-- The measures of two texts.
\pset null NULL

-- The vector of the specification: sets of 5 and 5, of which 4 are shared, because repeats count.
SELECT jaccard(a, b) = 4 / 6::float8 AS jaccard, cosine(a, b) = 0.8 AS cosine, dice(a, b) = 0.8 AS dice,
    overlap(a, b) = 0.8 AS overlap
FROM (VALUES ('yes as soon as possible', 'as soon as possible please')) v(a, b);
SELECT jaccard('a b c d', 'a b c d e'), cosine('a b c d', 'a b c d e f g h i'), dice('a b c d', 'a b c d e f'),
    overlap('a b c d', 'a b c d e f');
-- One correctly rounded division: this is the float8 that 5/6 is, and that a threshold has to be.
SELECT jaccard('a b c d e', 'a b c d e f') = 5 / 6::float8, jaccard('a b c d e', 'a b c d e f');
-- Case, punctuation and the order of words do not count.
SELECT jaccard('The quick, brown fox!', 'FOX brown -- THE quick');
-- k > 1 compares sets of shingles, in which repeats do not count.
SELECT k, jaccard(a, b, k) AS jaccard, round(cosine(a, b, k)::numeric, 9) AS cosine, dice(a, b, k) AS dice,
    overlap(a, b, k) AS overlap
FROM (VALUES ('a b c d', 'a b c e')) v(a, b), generate_series(1, 5) k;
SELECT jaccard('a a a a', 'a a'), jaccard('a a a a', 'a a', 2), jaccard('a a a a', 'a a', k => 3);
-- Resemblance and containment: shares of shingles, of 5 words unless said otherwise.
SELECT resemblance('a b c d e f', 'a b c d e g'), containment('a b c d e f', 'x a b c d e f y z'),
    containment('x a b c d e f y z', 'a b c d e f');
SELECT resemblance('a b c', 'b c d', 2) AS third, resemblance('a b c', 'b c d', 1) AS half,
    containment('a a b', 'a b c', 1) AS one, containment('a b c', 'a b', 2) AS half_of_two;
SELECT resemblance('a b', 'a b c'), resemblance('a b', 'A, B!'), containment('a b', 'b a');
-- An empty set is similar to nothing, not even to another one.
SELECT jaccard('', ''), cosine('', 'a'), dice('a', '?'), overlap('', '.'), resemblance('', ''), containment('', 'a'),
    containment('a', '');
SELECT jaccard(NULL, 'a'), cosine('a', NULL), dice('a', 'a', NULL), overlap(NULL, NULL), resemblance('a', NULL),
    containment(NULL, 'a');
-- Symmetric but for containment, 1 for equal texts, between 0 and 1.
WITH texts(t) AS (VALUES ('近似网页'), ('近似网页检测'), ('the cat sat on the mat'), ('the mat sat on the cat'), ('on'))
SELECT count(*), bool_and(jaccard(a.t, b.t) = jaccard(b.t, a.t)) AS jaccard, bool_and(cosine(a.t, b.t) = cosine(b.t, a.t)) AS cosine,
    bool_and(dice(a.t, b.t) = dice(b.t, a.t)) AS dice, bool_and(overlap(a.t, b.t) = overlap(b.t, a.t)) AS overlap,
    bool_and(resemblance(a.t, b.t, 2) = resemblance(b.t, a.t, 2)) AS resemblance,
    bool_and(a.t <> b.t OR (jaccard(a.t, b.t) = 1 AND cosine(a.t, b.t) = 1 AND dice(a.t, b.t) = 1
        AND overlap(a.t, b.t) = 1 AND containment(a.t, b.t) = 1)) AS equal,
    bool_and(jaccard(a.t, b.t) BETWEEN 0 AND 1 AND cosine(a.t, b.t) BETWEEN 0 AND 1) AS bounded,
    bool_and(overlap(a.t, b.t, 2) = greatest(containment(a.t, b.t, 2), containment(b.t, a.t, 2))) AS greater_direction
FROM texts a, texts b;
-- Large texts, which are worked on by a thread beside.
SELECT jaccard(repeat('a b c ', 100000), repeat('a b ', 100000) || 'z') = 200000 / 300001::float8,
    resemblance(repeat('a b c ', 100000), repeat('c a b ', 100000), 3);
SELECT jaccard('a', 'b', 0);
SELECT cosine('a', 'b', k => -1);
SELECT containment('a', 'b', 1001);
SELECT resemblance('a', 'b', 2147483647);
-- They may stand in an index or a generated column.
CREATE TEMP TABLE versions (old text, new text, same float8 GENERATED ALWAYS AS (resemblance(old, new, 2)) STORED);
INSERT INTO versions VALUES ('a b c d', 'a b c d'), ('a b c d', 'a b x d'), (NULL, 'a');
CREATE INDEX ON versions (jaccard(old, new));
CREATE INDEX ON versions USING gin (words(new));
SELECT *, jaccard(old, new) FROM versions ORDER BY new;
