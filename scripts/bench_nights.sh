#!/usr/bin/env bash
# What a nightly call of near_duplicates_into with incremental => true takes beside one that makes all: bench_nights.sh citus|servers FILE
# [COUNT], the first COUNT (60000) lines of a file of numbers and texts with a tab between, on three nodes of this machine. Then in
# each of three nights one in a hundred comes, one in two hundred changes, and one in five hundred goes. Prints the seconds, those of
# the processors that all servers took, the pairs, and in Citus the bytes that went from shard to shard.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
source "$(dirname "$0")/ticks.sh"
how=${1:?citus or servers}
file=${2:?a file of numbers and texts}
count=${3:-60000}
if [[ $how == citus ]]; then
    source "$(dirname "$0")/citus.sh"
    citus_or_skip
    citus_start 3 $'shared_buffers = 256MB\nautovacuum = off\ncitus.max_adaptive_executor_pool_size = 2'
    q -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)' -c "SELECT create_distributed_table('docs', 'id', shard_count => 6)" >/dev/null
    servers=("${nodes[@]}")
else
    source "$(dirname "$0")/shards.sh"
    shards_start 3 $'shared_buffers = 256MB\nautovacuum = off\nlog_statement = none'
    shard docs 'id bigint, body text' id
    for n in 1 2 3; do far $n -c 'CREATE INDEX ON docs (id)'; done
    servers=("${workers[@]}")
fi

# into NAME [ARGUMENTS]: a call of near_duplicates_into in a session of its own.
into() {
    local before start
    before=$(ticks "${servers[@]}")
    start=$(date +%s%N)
    q -c "CALL near_duplicates_into('docs', 0.8, 'found', id_column => 'id', text_column => 'body'$2)" >"$server/said" 2>&1
    echo "$1: $((($(date +%s%N) - start) / 1000000)) ms, $((($(ticks "${servers[@]}") - before) * 1000 / $(getconf CLK_TCK))) ms of processors, $(q -c 'SELECT count(*) FROM found') pairs$(grep -o ': [0-9]* bytes of rows' "$server/said" || true)"
    q -c "SELECT string_agg(name || ' ' || rows || ' ' || extract(epoch FROM finished - started)::numeric(9, 2), ', ' ORDER BY step) FROM found_log WHERE step > 0"
}

awk -F'\t' -v count=$((count + count / 100 * 3)) 'NR <= count { print NR "\t" $2 }' "$file" >"$server/all.tsv"
sed -n "1,${count}p" "$server/all.tsv" | q -c "\\copy docs FROM pstdin WITH (FORMAT csv, DELIMITER E'\\t', QUOTE E'\\x01')"
into 'made without updates' ''
q -c 'DROP TABLE found, found_log'
into 'the first call' ', incremental => true'
for night in 1 2 3; do
    first=$((count + (night - 1) * (count / 100) + 1))
    sed -n "$first,$((first + count / 100 - 1))p" "$server/all.tsv" | q -c "\\copy docs FROM pstdin WITH (FORMAT csv, DELIMITER E'\\t', QUOTE E'\\x01')"
    q -c "UPDATE docs SET body = body || ' changed' WHERE id % 200 = $night" -c "DELETE FROM docs WHERE id % 500 = $night" >/dev/null
    into "night $night" ', incremental => true'
done
q -c 'DROP TABLE found, found_log' -c 'SET client_min_messages = warning' >/dev/null
into 'made without updates, then' ''
