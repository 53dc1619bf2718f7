#!/usr/bin/env bash
# What near_duplicates_into takes in parts on one server: bench_into.sh FILE [COUNT [PARTS [SESSIONS]]], the first COUNT (200000)
# lines of a file of numbers and texts with a tab between, in PARTS (16) parts. Prints the seconds of the wall clock and of all
# processors, and the largest peak of a backend's private memory, of near_duplicates_into in one transaction, of one session in
# parts, and of SESSIONS (2) sessions; then what each step took, the space of the working tables, and whether the pairs differ.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
file=${1:?a file of numbers and texts}
count=${2:-200000}
parts=${3:-16}
sessions=${4:-2}
server_start $'shared_buffers = 1GB\nmax_wal_size = 8GB\nautovacuum = off\nmaintenance_work_mem = 64MB\nmax_parallel_workers_per_gather = 1'
q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)'
# Texts may have what COPY takes for escapes.
head -n "$count" "$file" | q -c "\\copy docs FROM pstdin WITH (FORMAT csv, DELIMITER E'\\t', QUOTE E'\\x01')"
q -c 'VACUUM ANALYZE docs' -c 'CHECKPOINT'
q -c "SELECT count(*) || ' documents, ' || pg_size_pretty(pg_table_size('docs')) || ', neardup.memory ' || current_setting('maintenance_work_mem') FROM docs"

# Clock ticks that all processes of the server took, those that have ended too.
ticks() {
    local parent
    parent=$(head -n 1 "$server/data/postmaster.pid")
    ps -o pid= -p "$parent" --ppid "$parent" | while read -r pid; do cat "/proc/$pid/stat" 2>/dev/null || true; done |
        sed 's/.*) //' | awk -v parent="$parent" '{ sum += $12 + $13 } $2 != parent { sum += $14 + $15 } END { print sum }'
}
# peaks PID: the largest private memory of a backend in kB, and the largest space of the working tables in bytes.
peaks() {
    local most=0 space=0 now n=0
    while :; do
        n=$((n + 1))
        if ((n % 10 == 0)); then
            now=$(q -c "SELECT COALESCE(sum(pg_total_relation_size(oid)), 0)::int8 FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r'" 2>/dev/null || echo 0)
            if ((now > space)); then space=$now && echo "$space" >"$server/space"; fi
        fi
        now=$(cat "/proc/$1"/task/*/children 2>/dev/null | tr ' ' '\n' | while read -r pid; do
            awk '/^RssAnon/ { print $2 }' "/proc/$pid/status" 2>/dev/null || true; done | sort -n | tail -n 1)
        if ((${now:-0} > most)); then most=$now && echo "$most" >"$server/peak"; fi
        sleep 0.1
    done
}
# measure NAME COUNT SQL: the call in COUNT sessions.
measure() {
    local before started n watch running=()
    echo 0 | tee "$server/peak" >"$server/space"
    peaks "$(head -n 1 "$server/data/postmaster.pid")" &
    watch=$!
    before=$(ticks)
    started=$(date +%s%N)
    for n in $(seq "$2"); do
        q -c 'SET client_min_messages = warning' -c "$3" >"$server/out_$n" 2>&1 &
        running+=($!)
    done
    for n in "${running[@]}"; do wait "$n" || true; done
    echo "$1: $((($(date +%s%N) - started) / 100000000)) tenths of a second, $((($(ticks) - before) * 10 / $(getconf CLK_TCK))) of processors, peak $(($(cat "$server/peak") / 1024)) MB, working tables $(($(cat "$server/space") >> 20)) MB"
    grep -h ERROR "$server"/out_* || true
    kill $watch
    wait $watch 2>/dev/null || true
}
measure 'in one transaction' 1 "CALL near_duplicates_into('docs', 0.8, 'whole')"
for n in 1 "$sessions"; do
    q -c 'DROP TABLE IF EXISTS found, found_log' -c CHECKPOINT 2>/dev/null
    measure "$n sessions in $parts parts" "$n" "CALL near_duplicates_into('docs', 0.8, 'found', parts => $parts)"
    q -c "SELECT step, name, rows, extract(epoch FROM finished - lag(finished) OVER (ORDER BY step))::numeric(9, 1) AS seconds FROM found_log ORDER BY step"
done
q -c "SELECT count(*) || ' differ' FROM found f FULL JOIN whole w USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM w.similarity"
