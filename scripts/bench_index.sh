# To be sourced by bench.sh: the access method signature inside a server of its own.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# index_texts N: rows "id, tab, text" of 60 words of 50,000, the frequent ones far more often; every tenth text is the
# one before with three words changed.
index_texts() {
    awk -v n="$1" 'BEGIN {
        srand(1)
        for (i = 1; i <= n; i++) {
            if (i % 10) {
                for (j = 1; j <= 60; j++) w[j] = "w" int(50000 * rand() ^ 2)
            } else {
                for (j = 1; j <= 3; j++) w[1 + int(60 * rand())] = "x" i
            }
            line = w[1]
            for (j = 2; j <= 60; j++) line = line " " w[j]
            print i "\t" line
        }
    }'
}

# seconds SQL: how long it takes, and bytes of WAL that it writes, as "seconds|bytes".
index_seconds() {
    q <<SQL
SELECT clock_timestamp() AS began, pg_current_wal_insert_lsn() AS lsn \gset
\o /dev/null
$1;
\o
SELECT extract(epoch FROM clock_timestamp() - :'began')::numeric(12, 3) || '|' || pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'lsn');
SQL
}

# A row of the table of builds: index_build TABLE NAME DEFINITION.
index_build() {
    local seconds bytes
    IFS='|' read -r seconds bytes < <(index_seconds "CREATE INDEX $2 ON $1 USING signature $3")
    q -c "SELECT concat_ws('|', '$1, ' || \$d\$$3\$d\$, $seconds, round(rows / $seconds), pg_size_pretty(pg_relation_size('$2')),
        pg_relation_size('$2') / rows, pg_size_pretty($bytes::bigint)) FROM signature_index_stats('$2')"
}

# index_latency TITLE TABLE QUERY TRANSACTIONS [SETTINGS]: pgbench with one client, p50 and p99 in milliseconds.
index_latency() {
    index_latencies "$(q -c "SELECT count(*) FROM $2")" "$4" "${5:-}" "$1" "$3"
}

# index_latencies IDS TRANSACTIONS SETTINGS TITLE QUERY [TITLE QUERY]...: the queries take turns at random in one run, so that
# what disturbs the machine disturbs all of them. Each transaction draws an id from 1 to IDS.
index_latencies() {
    local ids=$1 transactions=$2 settings=$3 titles=() scripts=() n=0
    shift 3
    rm -f "$bench_server"/latency* "$bench_server"/query*
    while (($#)); do
        printf '\\set id random(1, :rows)\n%s;\n' "$2" >"$bench_server/query$n.sql"
        chmod 644 "$bench_server/query$n.sql"
        titles+=("$1") scripts+=(-f "$bench_server/query$n.sql")
        n=$((n + 1))
        shift 2
    done
    PGOPTIONS=$settings pgbench -n -c 1 -t $((n * transactions)) -M prepared -D rows="$ids" "${scripts[@]}" \
        -l --log-prefix="$bench_server/latency" >/dev/null 2>&1 || { echo "${titles[0]}|failed"; return; }
    for n in "${!titles[@]}"; do
        cat "$bench_server"/latency* | awk -v n="$n" '$4 == n { print $3 / 1000 }' | sort -n |
            awk -v title="${titles[n]}" '{ t[NR] = $1 } END { printf "%s|%d|%.2f|%.2f\n", title, NR, t[int((NR + 1) / 2)], t[int(NR * 0.99 + 0.5)] }'
    done
}

# Sets pgvector to its version, and builds its index, where the server has it.
index_pgvector() {
    pgvector=$(q -c "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    if [[ -z $pgvector ]]; then
        skipped pgvector 'it is not installed in this server'
        return
    fi
    progress 'index of pgvector (1 to 5 min)'
    local seconds bytes
    q -c 'CREATE EXTENSION vector'
    if ! IFS='|' read -r seconds bytes < <(index_seconds "SET statement_timeout = '10min'; SET max_parallel_maintenance_workers = 3;
        CREATE INDEX by_bits ON sketches USING hnsw (bits bit_hamming_ops)"); then
        skipped pgvector 'its index was not built within 10 minutes'
        pgvector=''
        return
    fi
    q -c "SELECT concat_ws('|', 'hnsw of pgvector $pgvector, bit(64), 4 processes', $seconds, round(count(*) / $seconds), pg_size_pretty(pg_relation_size('by_bits')),
        pg_relation_size('by_bits') / count(*), pg_size_pretty($bytes::bigint)) FROM sketches" | table 'index|seconds|rows/s|size|bytes a row|WAL'
}

# How many of the rows within distance 3 are among the nearest 10 that each index tells, or as many as there are.
index_recall() {
    progress 'what hnsw finds'
    local share
    share=$(q <<'SQL'
SET enable_seqscan = off;
CREATE TEMP TABLE sought AS SELECT id, h, bits FROM sketches WHERE id % 10 = 0 ORDER BY id LIMIT 1000;
WITH found AS (
    SELECT s.id, (SELECT count(*) FROM sketches o WHERE o.h <@ near(s.h, 3)) AS there,
        (SELECT count(*) FROM (SELECT o.bits <~> s.bits AS d FROM sketches o ORDER BY o.bits <~> s.bits LIMIT 10) n WHERE d <= 3) AS seen
    FROM sought s)
SELECT round(sum(seen)::numeric / sum(least(there, 10)), 4) FROM found;
SQL
    )
    printf 'Of the rows within distance 3 of 1,000 sketches, hnsw has a share of %s among its nearest 10; signature has all.\n\n' "$share" | say
}

index() {
    bench_server_start || return 0
    local rows name big=${NEARDUP_BENCH_ROWS:-1000000}
    progress "index of signatures, up to $big rows (6 min)"
    for rows in 200000 "$big"; do
        name=texts_$rows
        q -c "CREATE TABLE $name (id int, body text)"
        index_texts "$rows" | q -c "\\copy $name from stdin"
        q -c "ALTER TABLE $name ADD PRIMARY KEY (id)" -c "VACUUM ANALYZE $name"
    done
    progress 'sketches of the large table'
    q -c "CREATE TABLE sketches AS SELECT id, minhash(body) AS m, simhash(body) AS h, (simhash(body))::bit(64) AS bits,
            supershingles(minhash(body, 5, 84)) AS s FROM texts_$big" \
        -c 'ALTER TABLE sketches ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE sketches'
    progress 'builds'
    {
        index_build texts_200000 body_200k '(body)'
        index_build "texts_$big" body_1m '(body)'
        index_build "texts_$big" body_of_tenants '((id % 1000), body)'
        index_build sketches by_m8 '(m) WITH (threshold = 0.8)'
        q -c 'DROP INDEX by_m8'
        index_build sketches by_m '(m)'
        index_build sketches by_h '(h)'
        index_build sketches h_of_tenants '((id % 1000), h)'
        index_build sketches by_s '(s)'
    } | table 'index|seconds|rows/s|size|bytes a row|WAL'

    progress 'inserts'
    local seconds bytes
    {
        for name in '(m)' '(h)' '(s)'; do
            q -c 'CREATE TABLE filled (LIKE sketches)' -c "CREATE INDEX ON filled USING signature $name"
            IFS='|' read -r seconds bytes < <(index_seconds 'INSERT INTO filled SELECT * FROM sketches LIMIT 100000')
            q -c 'DROP TABLE filled' -c 'CREATE TABLE filled (LIKE sketches)'
            local without
            IFS='|' read -r without _ < <(index_seconds 'INSERT INTO filled SELECT * FROM sketches LIMIT 100000')
            q -c 'DROP TABLE filled'
            q -c "SELECT concat_ws('|', \$d\$100,000 rows into an empty table with $name\$d\$, $seconds, round(100000 / $seconds), $without, pg_size_pretty($bytes::bigint))"
        done
    } | table 'inserts|seconds|rows/s|without the index|WAL'

    local pgvector=''
    index_pgvector
    progress 'searches'
    {
        local of='(SELECT %s FROM sketches WHERE id = :id)' sketch
        # shellcheck disable=SC2059 # the format is ours
        sketch=$(printf "$of" m)
        index_latency 'minhash, similarity 0.8' sketches "SELECT id FROM sketches WHERE m <@ near($sketch, 0.8)" 5000
        index_latency 'minhash, similarity 0.95' sketches "SELECT id FROM sketches WHERE m <@ near($sketch, 0.95)" 5000
        index_latency 'minhash, the nearest 1' sketches "SELECT id FROM sketches ORDER BY m <%> $sketch LIMIT 1" 5000
        index_latency 'minhash, the nearest 10' sketches "SELECT id FROM sketches ORDER BY m <%> $sketch LIMIT 10" 5000
        index_latency 'minhash, similarity 0.8, sequential scan' sketches "SELECT id FROM sketches WHERE m <@ near($sketch, 0.8)" 10 \
            '-c enable_indexscan=off -c enable_bitmapscan=off -c max_parallel_workers_per_gather=0'
        # shellcheck disable=SC2059
        sketch=$(printf "$of" h)
        index_latency 'simhash, distance 3' sketches "SELECT id FROM sketches WHERE h <@ near($sketch, 3)" 5000
        index_latency 'simhash, the nearest 10' sketches "SELECT id FROM sketches ORDER BY h <~> $sketch LIMIT 10" 1000
        index_latency 'simhash, distance 3, sequential scan' sketches "SELECT id FROM sketches WHERE h <@ near($sketch, 3)" 10 \
            '-c enable_indexscan=off -c enable_bitmapscan=off -c max_parallel_workers_per_gather=0'
        # shellcheck disable=SC2059
        sketch=$(printf "$of" bits)
        index_latency 'bit(64), distance 3, sequential scan' sketches "SELECT id FROM sketches WHERE bit_count(bits # $sketch) <= 3" 10 \
            '-c max_parallel_workers_per_gather=0'
        if [[ -n $pgvector ]]; then
            index_latency "bit(64), distance 3, pgvector $pgvector, sequential scan" sketches \
                "SELECT id FROM sketches WHERE bits <~> $sketch <= 3" 10 \
                '-c enable_indexscan=off -c max_parallel_workers_per_gather=0'
            index_latency "bit(64), the nearest 10, pgvector $pgvector, hnsw" sketches \
                "SELECT id FROM sketches ORDER BY bits <~> $sketch LIMIT 10" 5000
        fi
        q -c "CREATE TABLE tenant AS SELECT * FROM texts_$big WHERE id % 1000 = 7" -c 'CREATE INDEX ON tenant USING signature (body)' -c 'VACUUM ANALYZE tenant'
        local text="(SELECT body FROM texts_$big WHERE id = :id)" own="(SELECT body FROM texts_$big WHERE id = 1000 * :id - 993)"
        index_latencies $((big / 1000)) 5000 '-c enable_seqscan=off' \
            'texts of one of 1,000 tenants, similarity 0.8' "SELECT id FROM texts_$big WHERE id % 1000 = 7 AND body <@ near($own, 0.8)" \
            'the same texts in a table of their own' "SELECT id FROM tenant WHERE body <@ near($own, 0.8)"
        index_latencies $((big / 1000)) 5000 '-c enable_seqscan=off' \
            'texts of one of 1,000 tenants, the nearest 10' "SELECT id FROM texts_$big WHERE id % 1000 = 7 ORDER BY body <-> near($own, 0.7) LIMIT 10" \
            'the same texts in a table of their own' "SELECT id FROM tenant ORDER BY body <-> near($own, 0.7) LIMIT 10"
        index_latency 'texts of another tenant each time, similarity 0.8' "texts_$big" "SELECT id FROM texts_$big WHERE id % 1000 = :id % 1000 AND body <@ near($text, 0.8)" 5000
        index_latency 'texts of another tenant each time, the nearest 10' "texts_$big" "SELECT id FROM texts_$big WHERE id % 1000 = :id % 1000 ORDER BY body <-> near($text, 0.7) LIMIT 10" 5000
        q -c 'CREATE TABLE tenant_sketches AS SELECT id, h FROM sketches WHERE id % 1000 = 7' -c 'CREATE INDEX ON tenant_sketches USING signature (h)' \
            -c 'VACUUM ANALYZE tenant_sketches'
        sketch='(SELECT h FROM sketches WHERE id = 1000 * :id - 993)'
        index_latencies $((big / 1000)) 5000 '-c enable_seqscan=off' \
            'simhash, one of 1,000 tenants, the nearest 10' "SELECT id FROM sketches WHERE id % 1000 = 7 ORDER BY h <~> $sketch LIMIT 10" \
            'the same sketches in a table of their own' "SELECT id FROM tenant_sketches ORDER BY h <~> $sketch LIMIT 10"
        # shellcheck disable=SC2059
        sketch=$(printf "$of" s)
        index_latency 'supershingles, one shared' sketches "SELECT id FROM sketches WHERE s && $sketch" 5000
    } | table "search among $big rows|searches|p50 ms|p99 ms"

    if [[ -n $pgvector ]]; then index_recall; fi

    progress 'all pairs at a Hamming distance of at most 3'
    IFS='|' read -r seconds _ < <(index_seconds 'SET enable_seqscan = off; SELECT count(*) FROM (SELECT * FROM sketches ORDER BY id LIMIT 100000) a JOIN sketches b ON b.h <@ near(a.h, 3) AND a.id < b.id')
    echo "100,000 searches of distance 3 by one join: $seconds s." | say
    echo | say
}
