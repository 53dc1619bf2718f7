-- Thresholds by near_similarity and by distance are conditions on balls: served by an index and made as a batch, with the same rows.
\getenv tests PG_ABS_SRCDIR
\set plan :tests /plan.psql
\i :plan
CREATE TABLE arts (id int PRIMARY KEY, body text, words text[], numbers bigint[], lexemes tsvector);
INSERT INTO arts SELECT i, b, regexp_split_to_array(b, ' '), ARRAY[i, i / 2, i / 3, 7], to_tsvector('simple', b)
FROM generate_series(1, 3000) i, LATERAL (SELECT string_agg('w' || (hashint4(i / 2 * 31 + j) & 4095), ' ') || CASE WHEN i % 3 = 0 THEN ' more' ELSE '' END FROM generate_series(1, 12) j) t(b);
INSERT INTO arts VALUES (-1, NULL, NULL, NULL, NULL), (-2, '', '{}', '{}', '');
CREATE INDEX arts_body ON arts USING signature (body);
CREATE INDEX arts_words ON arts USING signature (words);
VACUUM ANALYZE arts;
SELECT body AS q FROM arts WHERE id = 600 \gset

SELECT plan(format('SELECT id FROM arts WHERE body <-> near(%L, 0.7) <= 0.2', 'w1 w2 w3'));
SELECT plan(format('SELECT id FROM arts WHERE near_similarity(body, near(%L, 0.1)) >= 0.8', 'w1 w2 w3'));
SELECT plan($$SELECT id FROM arts WHERE 0.75 < near_similarity(words, near('{w1,w2,w3}'::text[]))$$);
SELECT plan($$SELECT id FROM arts WHERE 1 - (body <-> near('w1 w2 w3', 0.7)) >= 0.9 AND id > 7$$);
SELECT plan($$SELECT id FROM arts WHERE id = 7 OR near_similarity(body, near('w1 w2 w3', 0.7)) >= 0.8$$);
SELECT plan($$SELECT a.id, b.id FROM arts a JOIN arts b ON a.id < b.id AND near_similarity(a.body, near(b.body, 0.7)) >= 0.8$$);
SELECT plan($$SELECT a.id FROM arts a WHERE NOT EXISTS (SELECT FROM arts b WHERE a.id <> b.id AND a.body <-> near(b.body, 0.7) <= 0.2)$$);
SELECT plan($$SELECT a.id FROM arts a LEFT JOIN arts b ON a.body <-> near(b.body, 0.7, method => 'dice') < 0.2$$);
PREPARE by_distance(text, float8) AS SELECT id FROM arts WHERE body <-> near($1, 0.7) <= $2;
SELECT plan($$EXECUTE by_distance('w1 w2 w3', 0.2)$$);
-- What no ball is: all rows, none, other values, balls whose similarity is not known.
SELECT plan($$SELECT id FROM arts WHERE near_similarity(body, near('w1 w2 w3', 0.7)) >= 0$$);
SELECT plan($$SELECT id FROM arts WHERE near_similarity(body, near('w1 w2 w3', 0.7)) <= 0.8$$);
SELECT plan($$SELECT id FROM arts WHERE body <-> near('w1 w2 w3', 0.7) < 'Infinity'$$);
SELECT plan($$SELECT id FROM arts WHERE body <-> near('w1 w2 w3', 0.7) >= 0.2$$);

-- The same rows as of the values, which are compared where the planner cannot see what they are.
CREATE FUNCTION hidden(value float8) RETURNS float8 LANGUAGE plpgsql AS $$ BEGIN RETURN value; END $$;
-- differ CONDITION: V stands for the way in which a value is seen.
CREATE FUNCTION differences(condition text, OUT rows bigint, OUT differ bigint) LANGUAGE plpgsql AS $$
DECLARE
    query text := 'SELECT a.id, b.id AS other FROM arts a, arts b WHERE b.id % 200 = 0 AND a.id % 7 < 3 AND ';
BEGIN
    EXECUTE 'CREATE TEMP TABLE one AS ' || query || replace(condition, 'V', '');
    EXECUTE 'CREATE TEMP TABLE two AS ' || query || replace(condition, 'V', 'hidden');
    SELECT count(*) INTO rows FROM one;
    SELECT count(*) INTO differ FROM ((TABLE one EXCEPT ALL TABLE two) UNION ALL (TABLE two EXCEPT ALL TABLE one)) d;
    DROP TABLE one, two;
END $$;
SELECT condition, d.* FROM unnest(ARRAY[
    'V(near_similarity(a.body, near(b.body, 0.7))) >= 0.8',
    'V(near_similarity(a.body, near(b.body, 0.7))) > 0.8571428571428571',
    'V(near_similarity(a.body, near(b.body, 0.7))) >= 0.8571428571428571',
    'V(near_similarity(a.body, near(b.body, 0.9))) > 0.2',
    'V(a.body <-> near(b.body, 0.7)) <= 0.2',
    'V(a.body <-> near(b.body, 0.7)) < 0.14285714285714290',
    'V(a.body <-> near(b.body, 0.7)) <= 0.14285714285714290',
    'V(a.body <-> near(b.body, 0.9)) <= 0.7',
    'V(a.body <-> near(b.body, 0.7)) < 1e300',
    'NOT V(a.body <-> near(b.body)) > 0.1',
    '1 - V(a.body <-> near(b.body, 0.5)) > 0.9',
    '1 - V(near_similarity(a.body, near(b.body, 0.5))) <= 0.2',
    'V(a.body <-> near(b.body, 0.7)) BETWEEN 0.01 AND 0.3',
    '(V(a.body <-> near(b.body, 0.7)) <= 0.2 OR a.id = 5)',
    'V(a.words <-> near(b.words, 0.7)) <= 0.2', 'V(a.numbers <-> near(b.numbers, 0.5)) <= 0.3', 'V(a.lexemes <-> near(b.lexemes, 0.5)) <= 0.3',
    'V(near_similarity(a.body, near(b.body, 0.7, method => ''edit''))) >= 0.9',
    'V(near_similarity(a.body, near(b.body, 0.7, method => ''containment''))) = 1',
    'V(near_similarity(a.body, near(b.body, 0.7, method => ''containment''))) >= 1']) condition, differences(condition) d;
SET neardup.enable_near_join = off;
SELECT d.* FROM differences('V(near_similarity(a.body, near(b.body, 0.7))) >= 0.8') d;
RESET neardup.enable_near_join;
-- Errors are those of the call.
SELECT count(*) FROM arts WHERE near_similarity(body, near('w1', 1.5)) >= 0.8;
SELECT count(*) FROM arts WHERE numbers <-> near('w1', 0.5) <= 0.2;
DROP TABLE arts;
DROP FUNCTION hidden, differences, plan;
