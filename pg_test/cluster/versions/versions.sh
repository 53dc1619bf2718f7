#!/usr/bin/env bash
# What only some versions of PostgreSQL have, and what is to come of it; on a version without it nothing is checked. That the
# library is built for this version is what makes all the other tests run.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
version=$(q -c 'SHOW server_version_num')
version=$((version / 10000))

q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE owner LOGIN;
CREATE ROLE keeper LOGIN;
CREATE ROLE reader LOGIN;
CREATE SCHEMA his AUTHORIZATION owner;
GRANT USAGE ON SCHEMA his TO PUBLIC;
SQL
q -U owner <<'SQL'
SET search_path = his, public;
CREATE TABLE docs(id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'text number ' || i || ' of these few texts' FROM generate_series(1, 20) i;
CREATE INDEX by_body ON docs USING signature (body);
GRANT SELECT ON docs TO reader;
SQL
parallel=$( ((version >= 16)) && echo debug_parallel_query || echo force_parallel_mode)
expect_sql 'the versions are told in a parallel plan, too' t "SET $parallel = on; SELECT library = sql FROM neardup_version()"
expect_sql 'and in a worker of it' t "SET $parallel = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
    SELECT bool_and((SELECT v.library = v.sql FROM neardup_version() v WHERE d.id > 0)) FROM his.docs d"

expect_error 'who may only read an index has no right to look into it' 42501 'pg_monitor' "SELECT signature_index_merge('his.by_body')" -U reader

# Maintenance is a privilege since 17, and the three functions are part of it; they run as the owner all the same.
if ((version >= 17)); then
    q -U owner -c 'GRANT MAINTAIN ON his.docs TO keeper'
    for call in "signature_index_check('his.by_body')" "signature_index_stats('his.by_body')" "signature_index_merge('his.by_body')"; do
        expect_sql "$call by a role with MAINTAIN" 1 "SELECT count(*) FROM $call" -U keeper
    done
    q -U owner -c 'REVOKE MAINTAIN ON his.docs FROM keeper'
    expect_error 'and not without' 42501 'pg_monitor' "SELECT signature_index_merge('his.by_body')" -U keeper
    q -c 'GRANT pg_maintain TO keeper'
    expect_sql 'by a member of pg_maintain' 1 "SELECT count(*) FROM signature_index_merge('his.by_body')" -U keeper
fi

# Since 17 maintenance finds things in pg_catalog alone, wherever the extension is: expressions of our functions need no more,
# and a wrapper of them does once it names their schema.
q <<'SQL'
CREATE SCHEMA elsewhere;
GRANT USAGE ON SCHEMA elsewhere TO PUBLIC;
ALTER EXTENSION neardup SET SCHEMA elsewhere;
SQL
q -U owner <<'SQL'
SET search_path = his, elsewhere;
CREATE FUNCTION his.sketch(body text) RETURNS elsewhere.minhash_sketch LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN elsewhere.minhash(body); END';
CREATE INDEX by_sketch ON docs USING signature (minhash(body));
CREATE INDEX by_simhash ON docs USING signature (simhash(lower(body), 64)) WHERE jaccard(body, 'a b c') < 0.5;
CREATE INDEX by_wrapper ON docs USING signature (his.sketch(body));
CREATE MATERIALIZED VIEW seen AS SELECT id, minhash(body) AS m, body <@ near('text number', 0.5) AS near FROM docs;
CREATE INDEX by_seen ON seen USING signature (m);
SQL
q -U owner -c 'UPDATE his.docs SET body = body || id' -c 'REINDEX TABLE his.docs' -c 'REFRESH MATERIALIZED VIEW his.seen' \
    -c 'CLUSTER his.docs USING docs_pkey' -c 'VACUUM FULL his.docs' -c 'DELETE FROM his.docs WHERE id > 15' -c 'VACUUM ANALYZE his.docs'
for index in by_sketch by_simhash by_wrapper; do
    expect_sql "$index is whole" 1 "SELECT count(*) FROM elsewhere.signature_index_check('his.$index', true)" -U owner
done
q -c 'ALTER EXTENSION neardup SET SCHEMA public'

# EXPLAIN ANALYZE says since 18 how often an index was searched.
if ((version >= 18)); then
    expect 'searches are counted' 'Index Searches: 3' "$(q -c "SET enable_seqscan = off; EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF)
        SELECT FROM (VALUES ('text number 1'), ('text number 2'), ('text number 3')) v(t), his.docs WHERE body <@ near(t, 0.8)" | grep -o 'Index Searches.*')"
fi

# expect_script NAME EXPECTED STATEMENTS: each in a transaction of its own.
expect_script() {
    local seen
    seen=$(q <<<"$3" 2>&1) || true
    expect "$1" "$2" "$seen"
}

# Generated columns that are computed when they are read, since 18: rows do not have what they give, so a trigger sees no
# change of it. Every update of a row is taken for one.
if ((version >= 18)); then
    q <<'SQL'
CREATE TABLE parts(id int PRIMARY KEY, title text, rest text, body text GENERATED ALWAYS AS (title || ' ' || rest) VIRTUAL);
INSERT INTO parts VALUES (1, 'one two', 'three four five'), (2, 'one two', 'three four five'), (3, 'six', 'seven');
SELECT neardup_watch('parts', 0.8, text_column => 'body');
CALL neardup_refresh('parts');
SQL
    expect_script 'triggers watch a table of computed texts' triggers "SELECT settings->>'detect' FROM neardup_all_jobs WHERE docs = 'parts'::regclass"
    expect_script 'pairs of computed texts' '1|2|1' 'TABLE parts_pairs'
    expect_script 'a changed part is a changed text' $'done\n1|2|1\n1|3|1\n2|3|1' "UPDATE parts SET title = 'one two', rest = 'three four five' WHERE id = 3;
        CALL neardup_refresh('parts'); SELECT * FROM parts_pairs ORDER BY 1, 2"
    expect_script 'and one that comes to nothing' $'done\n2|3|1' "UPDATE parts SET rest = NULL WHERE id = 1; CALL neardup_refresh('parts'); TABLE parts_pairs"
    expect_script 'so is another expression' done "ALTER TABLE parts ALTER body SET EXPRESSION AS (title || ' ' || id); CALL neardup_refresh('parts'); TABLE parts_pairs"
    expect_script 'a job of a computed id compares all rows' $'done\n1|2|1\ndone' "CREATE TABLE computed(n int, id int GENERATED ALWAYS AS (n + 0) VIRTUAL, body text);
        INSERT INTO computed VALUES (1, DEFAULT, 'a b c'), (2, DEFAULT, 'a b c');
        SELECT neardup_watch('computed', 0.8, id_column => 'id') \\g /dev/null
        CALL neardup_refresh('computed'); TABLE computed_pairs;
        UPDATE computed SET body = 'd e f' WHERE n = 2;
        CALL neardup_refresh('computed'); TABLE computed_pairs"
    expect_error 'no index of a column that no row has' 0A000 'virtual' 'CREATE INDEX ON parts USING signature (body)'
fi
finish
