#!/usr/bin/env bash
# Disasters of clustering: a chain of 10,000 documents each near the next, and a template that thousands share. Stars are
# right, and there are warnings.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
-- Each document has 20 words; the next one has lost one and won one.
CREATE TABLE chain AS SELECT i AS id, (SELECT string_agg('w' || j, ' ') FROM generate_series(i, i + 19) j) AS body
    FROM generate_series(1, 10000) i;
-- The same 40 words, and three of its own.
CREATE TABLE template AS SELECT i AS id, (SELECT string_agg('t' || j, ' ') FROM generate_series(1, 40) j) || ' ' || md5(i::text) || ' ' || i || ' x' || i AS body
    FROM generate_series(1, 4000) i;
-- What is wrong with the stars of a table: members that are not near their representative, representatives that are near each
-- other, rows of pairs that are in no star or in several.
CREATE FUNCTION wrong_stars(docs regclass, threshold float8) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE pairs AS SELECT * FROM near_duplicates(docs, threshold, id_column => 'id');
    CREATE TEMP TABLE stars AS SELECT * FROM near_duplicate_clusters(docs, threshold, id_column => 'id', clustering => 'star');
    CREATE TEMP TABLE centers AS SELECT cluster_id, id FROM stars WHERE representative;
    RETURN (SELECT count(*) FROM stars s JOIN centers c USING (cluster_id)
            WHERE NOT s.representative AND NOT EXISTS (SELECT FROM pairs p WHERE p.left_id = least(s.id, c.id)
                AND p.right_id = greatest(s.id, c.id) AND p.similarity = s.similarity))
        + (SELECT count(*) FROM pairs p JOIN centers a ON a.id = p.left_id JOIN centers b ON b.id = p.right_id)
        + (SELECT count(*) - count(DISTINCT id) FROM stars);
END
$$;
SQL

expect_sql 'a chain is one cluster, with a warning' $'WARNING:  the only cluster, of 10000 rows, holds together by chains: most of its rows are no near duplicates of the representative\nHINT:  clustering => \'star\' gives clusters around representatives, max_cluster_size breaks large ones at their weakest links, and cluster_links shows these.\n10000|1' \
    "SELECT count(*), count(DISTINCT cluster_id) FROM near_duplicate_clusters('chain', 0.9, id_column => 'id')"
# Of so many connected rows the first ones are the representatives: docs/clusters.md.
expect_sql 'its stars are small and right' '0|2' "SELECT wrong_stars('chain', 0.9), (SELECT max(size) FROM near_duplicate_clusters('chain', 0.9, id_column => 'id', clustering => 'star'))"
expect_sql 'it is as long as it looks' '9999|9999' \
    "SET client_min_messages = error; SELECT pairs, diameter FROM cluster_stats(\$\$SELECT * FROM near_duplicates('chain', 0.9, id_column => 'id')\$\$)"
expect_sql 'elimination keeps what is not near anything kept' '0|5000' "
    WITH gone AS (SELECT * FROM eliminate('chain', 0.9, id_column => 'id', keep => 'first'))
    SELECT count(*) FILTER (WHERE jaccard(a.body, b.body) < 0.9), count(*) FROM gone JOIN chain a ON a.id = gone.id JOIN chain b ON b.id = gone.kept_id"
expect_sql 'a template is one star' '0|1|4000' "SELECT wrong_stars('template', 0.8), count(DISTINCT cluster_id), max(size) FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'star')"
expect_sql 'the report warns of the chain' t "SELECT html LIKE '%of 10,000 documents, holds together by chains%' FROM duplicates_report('chain', 0.9, id_column => 'id') html"
expect_sql 'and of the template' t "SELECT html LIKE '%has 4,000 of 4,000 documents%' FROM duplicates_report('template', 0.8, id_column => 'id') html"
# A job that keeps the chain, when it is cut in the middle and mended again.
q -o /dev/null <<'SQL'
ALTER TABLE chain ADD PRIMARY KEY (id);
SELECT neardup_watch('chain', 0.9, id_column => 'id');
SET client_min_messages = error;
CALL neardup_refresh('chain');
DELETE FROM chain WHERE id = 5000;
CALL neardup_refresh('chain');
SQL
sizes='SELECT string_agg(size, $$ $$ ORDER BY cluster_id) FROM (SELECT cluster_id, count(*)::text AS size FROM chain_clusters GROUP BY 1) c'
expect_sql 'a job cuts a chain' '4999 5000' "$sizes"
q -o /dev/null <<'SQL'
SET client_min_messages = error;
INSERT INTO chain SELECT 5000, string_agg('w' || j, ' ') FROM generate_series(5000, 5019) j;
CALL neardup_refresh('chain');
SQL
expect_sql 'and mends it' '10000' "$sizes"
# The chain of the corpora, where they are: ten words each.
generators=${NEARDUP_DATA:-}/nasty/generators.sql
if [[ -f $generators ]]; then
    q -o /dev/null -f "$generators"
    expect_sql 'the chain of the corpora' $'WARNING:  the only cluster, of 10000 rows, holds together by chains: most of its rows are no near duplicates of the representative\nHINT:  clustering => \'star\' gives clusters around representatives, max_cluster_size breaks large ones at their weakest links, and cluster_links shows these.\n10000|1' \
        "SELECT count(*), count(DISTINCT cluster_id) FROM near_duplicate_clusters('nasty_chain', 0.8, id_column => 'id')"
    expect_sql 'its stars' '0|2' "SELECT wrong_stars('nasty_chain', 0.8), (SELECT max(size) FROM near_duplicate_clusters('nasty_chain', 0.8, id_column => 'id', clustering => 'star'))"
    expect_sql 'its report warns' t "SELECT html LIKE '%of 10,000 documents, holds together by chains%' FROM duplicates_report('nasty_chain', 0.8, id_column => 'id') html"
    expect_sql 'the hub of the corpora' 0 "SELECT wrong_stars('nasty_hub', 0.8)"
else
    echo 'without the corpora'
fi
expect_sql 'nothing depends on memory' t "
    CREATE TABLE big AS SELECT * FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'perhaps_similar');
    SET neardup.memory = '1MB';
    CREATE TABLE small AS SELECT * FROM near_duplicate_clusters('template', 0.8, id_column => 'id', clustering => 'perhaps_similar');
    SELECT NOT EXISTS (TABLE big EXCEPT TABLE small) AND (SELECT count(*) FROM big) = (SELECT count(*) FROM small)"
finish
