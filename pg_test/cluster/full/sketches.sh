#!/usr/bin/env bash
# Sketches inside a server: a search answers the same in parallel and alone, and as the reported numbers say; long
# documents and arrays answer to a timeout.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "max_parallel_workers_per_gather = 2"

q <<'SQL'
CREATE EXTENSION neardup;
-- Documents of 20 to 60 words; each third is one before with a few words changed.
CREATE TABLE docs AS SELECT i AS id, (
        SELECT string_agg(CASE WHEN i % 3 = 0 AND hashint8extended(j, i) % 17 = 0 THEN 'other' || i
            ELSE 'w' || hashint8extended(i - CASE WHEN i % 3 = 0 THEN 1 ELSE 0 END, j) % 3000 END, ' ' ORDER BY j)
        FROM generate_series(1, 20 + (i - CASE WHEN i % 3 = 0 THEN 1 ELSE 0 END) % 40) j) AS body
    FROM generate_series(1, 3000) i;
ALTER TABLE docs ADD m minhash_sketch GENERATED ALWAYS AS (minhash(body, 1)) STORED, ADD s simhash_sketch GENERATED ALWAYS AS (simhash(body)) STORED;
ANALYZE docs;
SQL

search="SELECT count(*), sum(hashint8extended(b.id, 0)) FROM docs a, docs b WHERE a.id % 100 = 2 AND"
parallel='SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;'
for condition in 'b.m <@ near(a.m, 0.6)' 'near(a.s, 8) @> b.s' 'b.body <@ near(a.body, 0.6)' 'near(a.body, 0.6) @> b.body' 'near(a.body, 0.6) && near(b.body, 0.6)'; do
    alone=$(q -c "SET max_parallel_workers_per_gather = 0; $search $condition")
    expect_sql "$condition in parallel" "$alone" "$parallel $search $condition"
done
expect_sql 'a search runs in parallel' t "$parallel
    CREATE TEMP TABLE plan(line text);
    DO \$\$DECLARE line text; BEGIN
        FOR line IN EXPLAIN SELECT count(*) FROM docs WHERE body <@ near('w1 w2', 0.5) LOOP INSERT INTO plan VALUES (line); END LOOP;
    END\$\$;
    SELECT bool_or(line LIKE '%Gather%') FROM plan"
expect_sql 'minhash: the ball is what the reported numbers say' "$(q -c "$search b.m <@ near(a.m, 0.6)")" \
    "$search minhash_similarity(a.m, b.m) >= 0.6"
expect_sql 'text: the same' "$(q -c "$search b.body <@ near(a.body, 0.6)")" "$search jaccard(a.body, b.body) >= 0.6"
expect_sql 'simhash: the same' "$(q -c "$search near(a.s, 8) @> b.s")" "$search a.s <~> b.s <= 8"
expect_sql 'the nearest come first' t "SELECT array_agg(d) = array_agg(d ORDER BY d) AND count(*) = 20 FROM (
    SELECT m <%> (SELECT m FROM docs WHERE id = 2) AS d FROM docs ORDER BY 1 LIMIT 20) nearest"

# Calls that would take seconds to minutes end within one, and what the server itself needs for such texts on a machine that
# may have much else to do.
milliseconds() { echo "$(($(date +%s%N) / 1000000))"; }
began=$(milliseconds)
q -c "SELECT length(repeat('some words ', 15000000) || repeat('some other words ', 8000000))" >/dev/null
most=$((2000 + 4 * ($(milliseconds) - began)))
for call in "minhash(repeat('some words ', 15000000), 5, 2048)" "simhash(repeat('some words ', 15000000), 1024)" \
    "repeat('some words ', 15000000) <@ near('a', 0.5, 5)" "'a' <@ near(repeat('some words ', 15000000), 0.5, 5)" \
    "near(repeat('some words ', 8000000), 0.5, 5) && near(repeat('some other words ', 8000000), 0.5, 5)"; do
    began=$(milliseconds)
    expect_error "a timeout ends $call" 57014 'statement timeout' "SET statement_timeout = '300ms'; SELECT $call"
    took=$(($(milliseconds) - began))
    expect "$call ends soon, not after $took ms of $most" t "$( ((took < most)) && echo t || echo f)"
done
finish
