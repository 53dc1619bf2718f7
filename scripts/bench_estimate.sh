#!/usr/bin/env bash
# What near_duplicates_plan says beside the call: bench_estimate.sh here|servers|citus FILE [COUNT], the first COUNT (60000)
# lines of a file of numbers and texts with a tab between, on one server in 16 parts, or on three nodes of this machine. Prints the
# bytes between nodes (over postgres_fdw those of the loopback device, with the headers of its packets; in Citus what the call
# reports, less the third that stays on its node), the space of the working tables, and the seconds of the processors.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
source "$(dirname "$0")/ticks.sh"
how=${1:?here, servers or citus}
file=${2:?a file of numbers and texts}
count=${3:-60000}
arguments="id_column => 'id'"
case $how in
    here)
        server_start $'shared_buffers = 512MB\nmax_wal_size = 8GB\nautovacuum = off\nmax_parallel_workers_per_gather = 0'
        q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)'
        arguments+=', parts => 16'
        servers=("$server")
        ;;
    citus)
        source "$(dirname "$0")/citus.sh"
        citus_or_skip
        citus_start 3 $'shared_buffers = 256MB\nautovacuum = off\ncitus.max_adaptive_executor_pool_size = 2'
        q -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)' -c "SELECT create_distributed_table('docs', 'id', shard_count => 6)" >/dev/null
        servers=("${nodes[@]}")
        ;;
    servers)
        source "$(dirname "$0")/shards.sh"
        shards_start 3 $'shared_buffers = 256MB\nautovacuum = off\nlog_statement = none'
        for n in 1 2 3; do
            as_server sed -i '1i host all all 127.0.0.0/8 trust' "${workers[n - 1]}/data/pg_hba.conf"
            far "$n" -c "ALTER SYSTEM SET listen_addresses = '127.0.0.$((n + 1))'"
            as_server "${bindir:?}/pg_ctl" -D "${workers[n - 1]}/data" -l "${workers[n - 1]}/log" -w restart >/dev/null
            q -c "ALTER SERVER \"$n\" OPTIONS (SET host '127.0.0.$((n + 1))')"
        done
        shard docs 'id bigint, body text' id
        servers=("${workers[@]}")
        ;;
esac
head -n "$count" "$file" | q -c "\\copy docs FROM pstdin WITH (FORMAT csv, DELIMITER E'\\t', QUOTE E'\\x01')"
q -c 'ANALYZE docs'

# moved: the bytes of the loopback device so far.
moved() { awk '/lo:/ { print $2 }' /proc/net/dev; }
# most: the largest space of the working tables, in bytes, of all nodes.
most() {
    local dir database most=0 now
    while [[ -e $server/runs ]]; do
        now=0
        for dir in "${servers[@]}"; do
            database=postgres
            if [[ $how == servers && $dir != "${servers[-1]}" ]]; then database=documents; fi
            now=$((now + $(q -h "$dir" -d "$database" -c "SELECT COALESCE(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r'" 2>/dev/null || echo 0)))
        done
        if ((now > most)); then most=$now && echo "$most" >"$server/space"; fi
        sleep 0.3
    done
}

before=$(moved)
q -c "SELECT format('estimated: %s bytes sent, %s of working tables, %s seconds of processors; %s candidates, %s pairs of a sample of %s',
    sum(sent), sum(temporary), sum(cpu_seconds)::numeric(9, 1), min(candidates), min(pairs), min(sampled)) FROM near_duplicates_plan('docs', 0.8, $arguments, by_node => true)"
echo "the estimate itself: $(($(moved) - before)) bytes of the loopback device"
echo 0 >"$server/space"
touch "$server/runs"
chmod 666 "$server/space"
most &
watch=$!
sleep 1
before=$(moved)
began=$(ticks "${servers[@]}")
q -c "CALL near_duplicates_into('docs', 0.8, 'found', $arguments)" >"$server/said" 2>&1
sleep 1
seconds=$((($(ticks "${servers[@]}") - began) * 10 / $(getconf CLK_TCK)))
sent=$(($(moved) - before))
rm "$server/runs"
wait $watch
if [[ $how == citus ]]; then sent=$(($(grep -o '[0-9]* bytes of rows' "$server/said" | cut -d ' ' -f 1) * 2 / 3)); fi
echo "taken: $sent bytes sent, $(cat "$server/space") of working tables, $seconds tenths of a processor second; $(q -c 'SELECT count(*) FROM found') pairs"
