-- What scripts/demo.sh shows of the table docs. Variable: folders, a pattern of what need not be shown of the paths.
\pset footer off
SELECT clock_timestamp() AS began \gset
CREATE TABLE pairs AS SELECT * FROM near_duplicates('docs', 0.8);
SELECT extract(epoch FROM clock_timestamp() - :'began')::numeric(10, 3) AS seconds \gset

\echo
\echo 'SELECT * FROM near_duplicates(''docs'', 0.8):'
SELECT (SELECT count(*) FROM docs) AS documents, (SELECT sum(length(body)) FROM docs) AS characters, :seconds AS seconds,
    count(*) AS pairs, count(*) FILTER (WHERE similarity = 1) AS "of the same words"
FROM pairs;

\echo 'The most similar pairs that are not the same, and where they first differ:'
\pset tuples_only on
\pset format unaligned
WITH best AS (
    -- Of documents of the same words only the first, and one pair for each: a large family must not fill the list.
    SELECT * FROM (
        SELECT DISTINCT ON (left_id) * FROM pairs
        WHERE similarity < 1 AND left_id NOT IN (SELECT right_id FROM pairs WHERE similarity = 1)
            AND right_id NOT IN (SELECT right_id FROM pairs WHERE similarity = 1)
        ORDER BY left_id, similarity DESC, right_id
    ) p
    ORDER BY similarity DESC, left_id LIMIT 15
), cut AS (
    SELECT best.*, l.path AS left_path, r.path AS right_path,
        regexp_split_to_array(trim(l.body, E' \n\t'), '\s+') AS left_words,
        regexp_split_to_array(trim(r.body, E' \n\t'), '\s+') AS right_words
    FROM best JOIN docs l ON l.id = left_id JOIN docs r ON r.id = right_id
), met AS (
    SELECT *, (
        SELECT min(n) FROM unnest(left_words, right_words) WITH ORDINALITY both_words(a, b, n) WHERE a IS DISTINCT FROM b
    )::int AS differ
    FROM cut
)
SELECT format(E'%s  %s | %s\n        < %s\n        > %s', trunc(similarity::numeric, 4),
    regexp_replace(left_path, :'folders', '', 'g'), regexp_replace(right_path, :'folders', '', 'g'),
    left(array_to_string(left_words[differ - 1:differ + 12], ' '), 90),
    left(array_to_string(right_words[differ - 1:differ + 12], ' '), 90))
FROM met ORDER BY similarity DESC, left_id;
\pset tuples_only off
\pset format aligned

\echo
\echo 'What the call did, SELECT * FROM near_duplicates_stats():'
\x on
SELECT * FROM near_duplicates_stats();
