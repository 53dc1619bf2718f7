#!/usr/bin/env bash
# What near_duplicates_into takes on three workers of Citus, on this machine: bench_citus.sh FILE [COUNT [SHARDS]], the first
# COUNT (100000) lines of a file of numbers and texts with a tab between, in SHARDS (6) shards. Prints the pairs, the seconds of
# all processors that the servers took, and what went from shard to shard, in all and of each step; by the exact join and by
# minhash, beside near_duplicates of the same rows in an ordinary table; then of as many documents in one chain, with clusters.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
source "$(dirname "$0")/ticks.sh"
source "$(dirname "$0")/citus.sh"
file=${1:?a file of numbers and texts}
count=${2:-100000}
citus_or_skip
citus_start 3 $'shared_buffers = 256MB\nautovacuum = off\ncitus.max_adaptive_executor_pool_size = 2'

# seconds NAME SQL…: those of the processors, and what was said.
seconds() {
    local before name=$1
    shift
    before=$(ticks "${nodes[@]}")
    "$@" 2>&1
    echo "$name: $((($(ticks "${nodes[@]}") - before) * 10 / $(getconf CLK_TCK))) tenths of a processor second"
}

q -c 'CREATE TABLE base (id bigint PRIMARY KEY, body text)'
# Texts may have what COPY takes for escapes.
head -n "$count" "$file" | q -c "\\copy base FROM pstdin WITH (FORMAT csv, DELIMITER E'\\t', QUOTE E'\\x01')"
q >/dev/null <<SQL
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
SELECT create_distributed_table('docs', 'id', shard_count => ${3:-6});
INSERT INTO docs SELECT * FROM base;
SQL
for how in "'jaccard'" "'minhash', options => '{\"hand_over\": false}'"; do
    echo "== method => $how"
    seconds 'near_duplicates_into' q -c "CALL near_duplicates_into('docs', 0.8, 'found', method => $how)"
    seconds 'near_duplicates' q -c "SELECT count(*) AS differ FROM found f FULL JOIN near_duplicates('base', 0.8, method => $how) p USING (left_id, right_id)
        WHERE f.similarity IS DISTINCT FROM p.similarity"
    q -c "SELECT step, name, rows, finished - started AS took, about->>'moved' AS moved FROM found_log WHERE step > 0 ORDER BY step" -c 'DROP TABLE found, found_log'
done
echo '== a chain'
q -c 'TRUNCATE docs' -c "INSERT INTO docs SELECT n, string_agg('w' || n + w, ' ') FROM generate_series(1, $count) n, generate_series(1, 10) w GROUP BY n"
seconds 'near_duplicates_into' q -c "CALL near_duplicates_into('docs', 0.8, 'found', clusters => 'grouped')"
q -c 'SELECT count(*) AS documents, count(DISTINCT cluster_id) AS clusters FROM grouped' \
    -c "SELECT step, name, rows, finished - started AS took, about->>'moved' AS moved, about->>'unsettled' AS unsettled FROM found_log WHERE step > 0 ORDER BY step"
