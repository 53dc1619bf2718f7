#!/usr/bin/env bash
# ORDER BY a distance by the index equals a sort of the whole table: which rows, at which distance, and what comes when nothing
# near is left. With cursors, laterals, rows that are equal, NULL or empty, rows that change while a scan is under way, and
# flushes, merges and VACUUM between two rows of it.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'autovacuum = off
work_mem = 64kB
jit = off
enable_seqscan = off
enable_bitmapscan = off'

q >/dev/null <<'SQL'
CREATE EXTENSION neardup;
SELECT setseed(0.125);
CREATE TABLE docs (
    id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    body text,
    words text[] GENERATED ALWAYS AS (string_to_array(body, ' ')) STORED,
    lexemes tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,
    m minhash_sketch GENERATED ALWAYS AS (minhash(body, 1, 40)) STORED,
    far minhash_sketch GENERATED ALWAYS AS (minhash(body, 3, 40)) STORED,
    bits simhash_sketch GENERATED ALWAYS AS (simhash(body)) STORED
);
CREATE FUNCTION add_docs(count int) RETURNS void LANGUAGE sql VOLATILE AS $$
    INSERT INTO docs (body) SELECT (SELECT string_agg('w' || floor(60 * random() ^ 2)::int, ' ') FROM generate_series(1, 8 + n % 9) w)
    FROM generate_series(1, count) n;
    -- Each twice more: with a word changed, and as it is.
    INSERT INTO docs (body)
    SELECT CASE WHEN random() < 0.5 THEN regexp_replace(body, 'w\d+ ', 'x ') ELSE body END FROM docs ORDER BY random() LIMIT count;
    INSERT INTO docs (body) SELECT CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE '. ! ' END FROM generate_series(1, count / 40) n;
$$;
SELECT add_docs(700);
CREATE INDEX by_text ON docs USING signature (body text_set_ops (threshold = 0.4)) WITH (pending_limit = 64);
CREATE INDEX by_words ON docs USING signature (words array_set_ops (measure = dice, threshold = 0.5)) WITH (pending_limit = 64);
CREATE INDEX by_lexemes ON docs USING signature (lexemes tsvector_set_ops (measure = cosine, threshold = 0.5)) WITH (pending_limit = 64);
-- Lists of values, most of them long: what is in none of them is as far as can be.
CREATE INDEX by_m ON docs USING signature (m minhash_jaccard_ops (k = 1, permutations = 40)) WITH (pending_limit = 64);
-- Bands that leave rows that have to be compared.
CREATE INDEX by_far ON docs USING signature (far minhash_jaccard_ops (k = 3, permutations = 40)) WITH (threshold = 0.7, pending_limit = 64);
CREATE INDEX by_bits ON docs USING signature (bits) WITH (distance = 2, pending_limit = 64);
SELECT add_docs(300);

-- Each query about each of some documents, with an index and without: all distances, and the rows at each of them that were
-- reached wholly.
CREATE FUNCTION with_index(is_on bool) RETURNS void LANGUAGE sql AS $$
    SELECT set_config('enable_indexscan', is_on::text, true), set_config('enable_sort', (NOT is_on)::text, true)
$$;
CREATE FUNCTION ordered(distance text, count int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE format($q$
        SELECT string_agg(d || ':' || ids, ' ' ORDER BY n) FROM (
            SELECT min(n) AS n, coalesce(d::text, 'NULL') AS d,
                CASE WHEN max(n) < %2$s THEN string_agg(id::text, ',' ORDER BY id) ELSE count(*)::text END AS ids
            FROM (SELECT id, d, row_number() OVER () AS n FROM (SELECT id, %1$s AS d FROM docs ORDER BY %1$s LIMIT %2$s) x) y
            GROUP BY coalesce(d::text, 'NULL')) z $q$, distance, count) INTO answer;
    RETURN answer;
END $$;
CREATE FUNCTION distances(q text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format(d, q) FROM unnest(ARRAY[
        'body <-> near(%L, 0.4)', 'body <-> near(%L, 0.8)', 'body <-> near(%L, 1)', 'words <-> near(string_to_array(%L, '' ''), 0.5, method => ''dice'')',
        'lexemes <-> near(to_tsvector(''simple'', %L), 0.6, method => ''cosine'')', 'm <%%> minhash(%L, 1, 40)', 'far <%%> minhash(%L, 3, 40)', 'bits <~> simhash(%L)',
        -- What the index does not serve.
        'body <-> near(%L, 0.2)', 'body <-> near(%L, 0.8, 2)']) d
$$;
CREATE FUNCTION wrong(many int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    distance text;
    by_index text;
    count int;
BEGIN
    FOR distance IN SELECT d FROM (SELECT body FROM docs WHERE body IS NOT NULL ORDER BY hashint4(id) LIMIT many) q, distances(body) d
        UNION ALL SELECT d FROM distances('none of these') d UNION ALL SELECT d FROM distances('') d
    LOOP
        FOREACH count IN ARRAY '{1,5,40,5000}'::int[] LOOP
            PERFORM with_index(true);
            by_index := ordered(distance, count);
            PERFORM with_index(false);
            IF by_index IS DISTINCT FROM ordered(distance, count) THEN
                RETURN NEXT format('%s LIMIT %s: %s, not %s', distance, count, left(by_index, 1000), left(ordered(distance, count), 1000));
            END IF;
        END LOOP;
    END LOOP;
END $$;
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN coalesce(substring(plan::text FROM '"Index Name": "(\w+)"'), '-');
END $$;
SQL

expect_sql 'the indexes are used' $'by_bits\nby_far\nby_lexemes\nby_m\nby_text\nby_words' "
    SELECT DISTINCT plan_of(format('SELECT id FROM docs ORDER BY %s LIMIT 5', d)) FROM distances('w1 w2') d WHERE d !~ '0.2|, 2\)' ORDER BY 1"
expect_sql 'as a sort says it' '' 'SELECT * FROM wrong(6)'
q -c 'SELECT signature_index_merge(i) FROM unnest(ARRAY['"'by_text', 'by_words', 'by_lexemes', 'by_m', 'by_far', 'by_bits'"']::regclass[]) i' \
    -c 'UPDATE docs SET body = body || $$ w3$$ WHERE id % 7 = 0; DELETE FROM docs WHERE id % 11 = 0; SELECT add_docs(50);' >/dev/null
expect_sql 'after merges, updates and deletes' '' 'SELECT * FROM wrong(4)'
q -c 'VACUUM docs' -c 'SELECT add_docs(120)' >/dev/null
expect_sql 'after VACUUM, where rows have taken the places of others' '' 'SELECT * FROM wrong(4)'
for index in by_text by_words by_lexemes by_m by_far by_bits; do
    expect_sql "$index is in order" '' "SELECT signature_index_check('$index', true)"
done

expect_sql 'beside a condition' t "
    WITH n AS MATERIALIZED (SELECT with_index(true)),
    few AS MATERIALIZED (SELECT id, body <-> near(q, 0.9) AS d FROM n, (SELECT body AS q FROM docs WHERE id = 10) q, docs
        WHERE body <@ near(q, 0.5) ORDER BY body <-> near(q, 0.9), id)
    SELECT (SELECT array_agg((id, d) ORDER BY d, id) FROM few) = (SELECT array_agg((id, d) ORDER BY d, id) FROM (
        SELECT id, body <-> near(q, 0.9) AS d FROM docs, (SELECT body AS q FROM docs WHERE id = 10) q WHERE near_similarity(body, near(q, 0.5)) >= 0.5) x)"
lateral="FROM (SELECT id, body FROM docs WHERE id % 40 = 3 OR body IS NULL) a
    CROSS JOIN LATERAL (SELECT b.id, b.body <-> near(a.body, 0.6) AS d FROM docs b ORDER BY b.body <-> near(a.body, 0.6) LIMIT 4) b"
expect_sql 'a lateral by the index' by_text "SELECT plan_of('SELECT * FROM (SELECT id, body FROM docs OFFSET 0) a CROSS JOIN LATERAL
    (SELECT b.id FROM docs b ORDER BY b.body <-> near(a.body, 0.6) LIMIT 4) b')"
sorted=$(q -c "BEGIN; SELECT with_index(false); SELECT a.id, array_agg(d ORDER BY d) $lateral GROUP BY a.id ORDER BY a.id")
expect_sql 'each row anew' "$sorted" "BEGIN; SELECT with_index(true); SELECT a.id, array_agg(d ORDER BY d) $lateral GROUP BY a.id ORDER BY a.id"

# A cursor sees the table as it was when it was opened, whatever the index goes through.
for distance in "body <-> near('w1 w2 w3 w4 w5 w6 w7 w8', 0.4)" "m <%> minhash('w1 w2 w3 w4 w5 w6 w7 w8', 1, 40)" "far <%> minhash('w1 w2 w3', 3, 40)" \
    "bits <~> simhash('w1 w2 w3 w4')"; do
    before=$(q -c "SELECT count(*), sum(id), count(DISTINCT id) FROM docs")
    {
        echo "CREATE TEMP TABLE seen (n serial, id int, d float8);"
        echo "BEGIN; SELECT with_index(true); DECLARE c CURSOR FOR SELECT id, $distance AS d FROM docs ORDER BY $distance;"
        for step in 1 3 30 300 1000 100000; do
            echo "DO \$\$ DECLARE it record; BEGIN FOR n IN 1 .. $step LOOP
                FETCH c INTO it; EXIT WHEN NOT FOUND; INSERT INTO seen (id, d) VALUES (it.id, it.d); END LOOP; END \$\$;" |
                sed "s/FETCH c INTO it/FETCH NEXT FROM c INTO it/"
            case $step in
                1) echo 'SELECT add_docs(30);' ;;
                3) echo "UPDATE docs SET body = body || ' w1' WHERE id % 5 = 0;" ;;
                30) echo "\\! psql -X -qAt -c 'VACUUM docs' -c 'INSERT INTO docs (body) SELECT body FROM docs LIMIT 900'" ;;
                300) echo "\\! psql -X -qAt -c \"SELECT signature_index_merge(i) FROM unnest(ARRAY['by_text', 'by_m', 'by_far', 'by_bits']::regclass[]) i\"" ;;
            esac
        done
        echo "SELECT count(*), sum(id), count(DISTINCT id) FROM seen;"
        echo "SELECT bool_and(d >= before IS NOT FALSE) FROM (SELECT d, lag(d) OVER (ORDER BY n) AS before FROM seen) x; ROLLBACK;"
    } >"$server/cursor.sql"
    # A cursor is not known in PL/pgSQL by its name alone.
    sed -i 's/DECLARE it record; BEGIN/DECLARE it record; c refcursor := $c$c$c$; BEGIN/' "$server/cursor.sql"
    seen=$(timeout 300 psql -X -v ON_ERROR_STOP=1 -qAt -f "$server/cursor.sql" 2>&1 | grep -v '^$' | tail -n 2)
    expect "all rows once: $distance" "$before"$'\nt' "$seen"
done
finish
