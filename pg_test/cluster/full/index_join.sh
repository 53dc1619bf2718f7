#!/usr/bin/env bash
# The lateral self-join by an index equals near_duplicates row for row, similarity for similarity to the last bit: each
# corpus, each measure that an index serves, words and runs of five, thresholds from the least that is served upward.
# Corpora: the folder NEARDUP_DATA. Of each the first NEARDUP_JOIN_DOCS documents are indexed, or fewer where these have more
# than NEARDUP_JOIN_CHARACTERS, and as many as NEARDUP_JOIN_PROBES are looked for; "all" is all of them.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
corpora_or_skip
server_start 'autovacuum = off
jit = off
maintenance_work_mem = 256MB'

docs=${NEARDUP_JOIN_DOCS:-500}
characters=${NEARDUP_JOIN_CHARACTERS:-750000}
probes=${NEARDUP_JOIN_PROBES:-24}
q <<'SQL'
CREATE EXTENSION neardup;
CREATE UNLOGGED TABLE lines(line json);
CREATE UNLOGGED TABLE texts(id int PRIMARY KEY, body text);
CREATE TABLE docs(id int PRIMARY KEY, body text);
-- The documents that are looked for; near_duplicates finds the pairs that these have.
CREATE TABLE probes(id int PRIMARY KEY, body text);
CREATE UNLOGGED TABLE pairs("row" int, ball int, similarity float8);
CREATE UNLOGGED TABLE found("row" int, ball int, similarity float8);
CREATE TABLE results(set text, measure text, shingle int, threshold float8, pairs bigint, missing bigint, extra bigint,
    is_used bool);

-- Half of the documents before there is an index and half afterwards, or all afterwards; some are changed, some go.
CREATE PROCEDURE make_index(measure text, shingle int, lowest float8, is_first bool) LANGUAGE plpgsql AS $$
DECLARE
    statement text := format('CREATE INDEX by_set ON docs USING signature
        (body text_set_ops (measure = %s, shingle = %s, threshold = %s)) WITH (pending_limit = 256)', measure, shingle, lowest);
BEGIN
    TRUNCATE docs, probes, pairs;
    IF to_regclass('by_set') IS NOT NULL THEN
        DROP INDEX by_set;
    END IF;
    IF is_first THEN
        EXECUTE statement;
    END IF;
    INSERT INTO docs SELECT * FROM texts WHERE id % 2 = 0;
    IF NOT is_first THEN
        EXECUTE statement;
    END IF;
    INSERT INTO docs SELECT * FROM texts WHERE id % 2 = 1;
    INSERT INTO docs VALUES (-1, NULL), (-2, ''), (-3, ' . ');
    UPDATE docs SET body = t.body FROM texts t WHERE t.id = docs.id + 1 AND docs.id % 13 = 0;
    DELETE FROM docs WHERE id % 31 = 7;
END $$;

-- The pairs that are to be found. A measure with a direction asks how much of the row the ball has.
CREATE PROCEDURE find_pairs(measure text, shingle int, lowest float8, many int) LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE near_pairs AS
    SELECT left_id::int AS a, right_id::int AS b, similarity
    FROM near_duplicates('docs', lowest, id_column => 'id', text_column => 'body', method => measure, shingle => shingle);
    -- Half of the documents that are looked for have near ones, if there are so many.
    INSERT INTO probes
    SELECT id, body FROM docs JOIN (
        (SELECT a AS id FROM near_pairs GROUP BY a ORDER BY hashint4(a) LIMIT many / 2)
        UNION (SELECT id FROM docs ORDER BY hashint4(id) LIMIT many / 2)
    ) chosen USING (id);
    IF measure = 'containment' THEN
        INSERT INTO pairs
        SELECT left_id, right_id, similarity
        FROM near_duplicates_between('docs', 'probes', lowest, id_column => 'id', text_column => 'body', method => measure,
            shingle => shingle)
        WHERE left_id <> right_id;
    ELSE
        INSERT INTO pairs
        SELECT v.* FROM near_pairs, LATERAL (VALUES (a, b, similarity), (b, a, similarity)) v("row", ball, similarity)
        WHERE v.ball IN (SELECT id FROM probes);
    END IF;
    DROP TABLE near_pairs;
END $$;

CREATE PROCEDURE join_by_index(set text, measure text, shingle int, threshold float8) LANGUAGE plpgsql AS $$
DECLARE
    statement text := format('INSERT INTO found
        SELECT d.id, p.id, near_similarity(d.body, near(p.body, %1$s, %2$s, method => %3$L))
        FROM probes p, LATERAL (SELECT * FROM docs d WHERE d.body <@ near(p.body, %1$s, %2$s, method => %3$L)) d
        WHERE d.id <> p.id', threshold, shingle, measure);
    plan text;
BEGIN
    SET LOCAL enable_seqscan = off;
    EXECUTE 'EXPLAIN (FORMAT json) ' || statement INTO plan;
    TRUNCATE found;
    EXECUTE statement;
    -- Rows that are there twice would be so in the difference, too.
    INSERT INTO results
    SELECT set, measure, shingle, threshold, (SELECT count(*) FROM found),
        (SELECT count(*) FROM (SELECT "row", ball, float8send(p.similarity) FROM pairs p WHERE p.similarity >= threshold
            EXCEPT ALL SELECT "row", ball, float8send(f.similarity) FROM found f) x),
        (SELECT count(*) FROM (SELECT "row", ball, float8send(f.similarity) FROM found f
            EXCEPT ALL SELECT "row", ball, float8send(p.similarity) FROM pairs p WHERE p.similarity >= threshold) x),
        plan LIKE '%by_set%';
END $$;
SQL

number() { if [[ $1 == all ]]; then echo 2000000000; else echo "$1"; fi; }
for folder in "$corpora"/*/docs.jsonl.gz; do
    set=$(basename "$(dirname "$folder")")
    q -c 'TRUNCATE lines, texts'
    load_json "$folder" lines
    q -c "INSERT INTO texts SELECT n, body FROM (SELECT n, body, sum(length(body)) OVER (ORDER BY n) AS all_so_far
        FROM (SELECT row_number() OVER () AS n, line->>'text' AS body FROM lines) l) t WHERE n <= $(number "$docs") AND all_so_far <= $(number "$characters")"
    for measure in jaccard cosine dice containment; do
        for shingle in 1 5; do
            # By turns the order of tokens is of what is there, or of what comes first.
            if [[ $shingle = 1 ]]; then first=false; else first=true; fi
            echo "CALL make_index('$measure', $shingle, 0.7, $first);"
            echo 'VACUUM ANALYZE docs;'
            echo "CALL find_pairs('$measure', $shingle, 0.7, $(number "$probes"));"
            echo 'ANALYZE probes;'
            for threshold in 0.7 0.75 0.8 0.9 1; do
                echo "CALL join_by_index('$set', '$measure', $shingle, $threshold);"
            done
            echo "SELECT signature_index_check('by_set', true);"
        done
    done >"$server/steps.sql"
    if seen=$(q -f "$server/steps.sql" 2>&1 >/dev/null); then passed; else failed "$set" "${seen:0:2000}"; fi
done

expect_sql 'no pair is missing, extra or of another similarity' '' 'SELECT * FROM results WHERE missing + extra > 0'
expect_sql 'the index is used' '' 'SELECT * FROM results WHERE NOT is_used'
expect_sql 'pairs of each kind' '' \
    "SELECT measure, shingle, threshold, sum(pairs) FROM results GROUP BY 1, 2, 3 HAVING sum(pairs) < 20"
q -c "SELECT count(*) || ' joins, ' || sum(pairs) || ' rows' FROM results"
finish
