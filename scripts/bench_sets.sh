# To be sourced by bench.sh: exact search of texts by an index of sets, beside GIN on shingles and pg_trgm.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# sets_index NAME ON: builds an index on the texts, `ON` as CREATE INDEX has it behind USING; a row of the table. Processor
# time is that of the backend with its threads.
sets_index() {
    local cpu seconds bytes
    progress "index $2"
    cpu=$(incoming_cpu)
    if ! IFS='|' read -r seconds bytes < <(index_seconds "SET statement_timeout = '60min'; CREATE INDEX $1 ON texts USING $2"); then
        echo "$2|failed"
        return
    fi
    cpu=$(($(incoming_cpu) - cpu))
    q -c "SELECT concat_ws('|', \$d\$$2\$d\$, $seconds, round($cpu / 100.0, 1), round(reltuples / $seconds), round(reltuples * 100 / greatest($cpu, 1)),
        pg_size_pretty(pg_relation_size('$1')), round(pg_relation_size('$1') / reltuples::numeric, 1), pg_size_pretty($bytes::bigint))
        FROM pg_class WHERE oid = 'texts'::regclass"
}

# sets_search TITLE CONDITION TRANSACTIONS: searches for texts of the table by one client; a row of the table. The condition
# has the text as q.
sets_search() {
    local cpu latency transactions
    progress "search: $1"
    cpu=$(incoming_cpu)
    latency=$(index_latency "$1" texts "SELECT count(*) FROM texts, (SELECT body AS q FROM texts WHERE id = :id) asked WHERE $2" "$3" "${4:-}")
    transactions=$(cut -d'|' -f2 <<<"$latency")
    cpu=$(($(incoming_cpu) - cpu))
    if [[ $transactions =~ ^[0-9]+$ ]]; then
        echo "$latency|$(awk -v cpu="$cpu" -v n="$transactions" 'BEGIN { printf "%.2f", 10 * cpu / n }')"
    else
        echo "$latency"
    fi
}

sets() {
    bench_server_start || return 0
    local rows=${NEARDUP_BENCH_ROWS:-1000000} pg_trgm='' few=${NEARDUP_BENCH_SLOW:-10} many=${NEARDUP_BENCH_FAST:-5000}
    progress "exact search of $rows texts (20 min)"
    q -c 'DROP TABLE IF EXISTS texts' -c 'CREATE TABLE texts (id int, body text)' 2>/dev/null
    index_texts "$rows" | q -c '\copy texts from stdin'
    q -c 'ALTER TABLE texts ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE texts'
    if q -c 'CREATE EXTENSION IF NOT EXISTS pg_trgm' 2>/dev/null; then
        pg_trgm=yes
        q -c 'ALTER DATABASE postgres SET pg_trgm.similarity_threshold = 0.8'
    else
        skipped pg_trgm 'it is not installed in this server'
    fi
    # One index at a time: of two on one column the planner cannot tell which serves a ball that it does not know.
    local builds=$bench_server/builds searches=$bench_server/searches slow='-c statement_timeout=300s'
    sets_index found 'signature (body)' >"$builds"
    {
        sets_search 'signature, words, 0.8' 'body <@ near(q, 0.8)' "$many"
        sets_search 'signature, words, 0.7' 'body <@ near(q, 0.7)' "$many"
        sets_search 'sequential scan, words, 0.8' 'body <@ near(q, 0.8)' "$few" \
            "-c enable_indexscan=off -c enable_bitmapscan=off -c max_parallel_workers_per_gather=0 $slow"
    } >"$searches"
    q -c 'DROP INDEX found'
    sets_index found 'signature (body text_set_ops (shingle = 5))' >>"$builds"
    sets_search 'signature, 5-shingles, 0.8' 'body <@ near(q, 0.8, 5)' "$many" >>"$searches"
    q -c 'DROP INDEX found'
    sets_index found 'signature (near(body, 0.8))' >>"$builds"
    sets_search 'signature (near(body, 0.8)), words, 0.8' 'near(body, 0.8) && near(q, 0.8)' "$many" >>"$searches"
    q -c 'DROP INDEX found'
    sets_index found 'gin (shingles(body, 1))' >>"$builds"
    sets_search 'GIN (shingles(body, 1)), jaccard >= 0.8' 'shingles(body, 1) && shingles(q, 1) AND jaccard(body, q) >= 0.8' "$few" "$slow" >>"$searches"
    q -c 'DROP INDEX found'
    if [[ -n $pg_trgm ]]; then
        sets_index found 'gin (body gin_trgm_ops)' >>"$builds"
        sets_search 'pg_trgm, trigrams, 0.8' 'body % q' "$few" "$slow" >>"$searches"
    fi
    table 'index|seconds|CPU s|rows/s|rows per CPU s|size|bytes a row|WAL' <"$builds"
    table "search among $rows texts of 60 words|searches|p50 ms|p99 ms|CPU ms each" <"$searches"
    q -c 'DROP TABLE texts'
}
