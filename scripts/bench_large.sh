#!/usr/bin/env bash
# bench_large.sh [COUNT [WORDS [MEMORY]]]: near_duplicates at 0.8 on COUNT (100000000) made records of about WORDS (20) words with
# neardup.memory MEMORY (3900MB): pairs, seconds, processor seconds, and the peak of the backend as the system tells it. The
# records come through a pipe. A hundred million take 17 GB as a table, and temporary files in addition.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
count=${1:-100000000}
words=${2:-20}
memory=${3:-3900MB}
cargo build --release -p neardup-core --example make_records
make_records=${CARGO_TARGET_DIR:-$project/target}/release/examples/make_records
server_start $'shared_buffers = 64MB\nwal_level = minimal\nmax_wal_senders = 0\nmax_wal_size = 8GB\nautovacuum = off\njit = off\nstatement_timeout = 0'
# The table is made in the transaction that fills it, so that nothing is logged.
{
    echo 'CREATE EXTENSION neardup; BEGIN; CREATE TABLE docs (id bigint, body text); COPY docs FROM stdin WITH (FREEZE);'
    "$make_records" "$count" "$words"
    echo '\.'
    echo 'COMMIT; ANALYZE docs;'
} | q >/dev/null
q -c "SELECT '$count records, ' || pg_size_pretty(pg_table_size('docs'))"
q -P expanded=on -P tuples_only=off <<SQL
SET neardup.memory = '$memory';
SELECT clock_timestamp() AS began \gset
SELECT count(*) AS pairs, round(extract(epoch FROM clock_timestamp() - :'began')) AS seconds
FROM near_duplicates('docs', 0.8, id_column => 'id', max_pairs => 4000000000);
SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1]::int / 1024 AS peak_mb,
    (fields[12]::int + fields[13]::int) / 100 AS processor_seconds
FROM string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' ') AS fields;
SELECT distinct_tokens, candidates, verified, read_ms, order_ms, join_ms FROM near_duplicates_stats();
SQL
