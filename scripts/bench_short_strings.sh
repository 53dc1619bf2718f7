#!/usr/bin/env bash
# bench_short_strings.sh [ROWS [SEARCHES [SLOW_SEARCHES]]]: the ten nearest of short strings by an index of text_gram_ops, beside
# pg_trgm in the same server, as a table. By default 3.4 million strings. The strings are those of short_strings.py, with
# phrases of the corpora in NEARDUP_DATA if there are some. Searched are, in turn, strings of the table with one or two
# errors, and strings that another seed and other corpora give.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/server.sh"
source "$project/scripts/bench_tables.sh"
report=/dev/null

rows=${1:-3400000} searches=${2:-2000} slow=${3:-20}
corpora=() others=()
for name in en_reuters_a en_ohsumed_a bib_dblp_acm_a en_bible_a; do
    if [[ -f ${NEARDUP_DATA:-}/$name/docs.jsonl.gz ]]; then corpora+=("$NEARDUP_DATA/$name/docs.jsonl.gz"); fi
done
for name in lic_scancode_a bib_cora_a; do
    if [[ -f ${NEARDUP_DATA:-}/$name/docs.jsonl.gz ]]; then others+=("$NEARDUP_DATA/$name/docs.jsonl.gz"); fi
done
server_start "shared_buffers = ${NEARDUP_BENCH_BUFFERS:-2GB}
maintenance_work_mem = 1GB
max_wal_size = 8GB
jit = off
max_parallel_workers_per_gather = 0"

progress "$rows strings"
q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE strings (id serial PRIMARY KEY, body text)' -c 'CREATE TABLE sought (id serial PRIMARY KEY, body text)' \
    -c 'CREATE TABLE foreign_strings (id serial PRIMARY KEY, body text)'
python3 "$project/scripts/short_strings.py" 36 "$rows" "${corpora[@]}" | q -c '\copy strings (body) from stdin'
python3 "$project/scripts/short_strings.py" 37 1000 "${others[@]}" | q -c '\copy foreign_strings (body) from stdin'
q <<SQL
SELECT setseed(0.5);
CREATE TABLE mistyped AS
SELECT row_number() OVER () AS id, CASE n % 4
    WHEN 0 THEN overlay(body placing '' from at for 1)
    WHEN 1 THEN overlay(body placing 'x' from at for 1)
    WHEN 2 THEN overlay(body placing substr(body, at + 1, 1) || substr(body, at, 1) from at for 2)
    ELSE overlay(overlay(body placing 'e' from at for 0) placing '' from other for 1) END AS body
FROM (SELECT n, body, 1 + floor(random() * (length(body) - 1))::int AS at, 1 + floor(random() * length(body))::int AS other
    FROM generate_series(1, 1000) n JOIN strings ON id = 1 + (n * 7919::bigint * 31) % $rows) s;
INSERT INTO sought (body) SELECT body FROM (SELECT id, 0 AS kind, body FROM mistyped UNION ALL SELECT id, 1, body FROM foreign_strings) s ORDER BY id, kind;
VACUUM ANALYZE;
SQL
q -c "SELECT concat('strings: ', count(*), ', under 30 characters: ', round(100.0 * count(*) FILTER (WHERE length(body) < 30) / count(*), 1), ' %, characters: ', round(avg(length(body)), 1)) FROM strings"

# build NAME DEFINITION: seconds and size. What is known goes to the standard error at once.
build() {
    local began=$EPOCHREALTIME
    q -c "CREATE INDEX $1 ON strings USING $2"
    q -c "SELECT concat_ws('|', '$2', round(($EPOCHREALTIME - $began)::numeric, 1), pg_size_pretty(pg_relation_size('$1')))"
}

# search TITLE EXPRESSION CONDITION SEARCHES: percentiles of the ten nearest to a sought string q, in milliseconds.
search() {
    printf '\\set id random(1, 2000)\nSELECT id FROM strings ORDER BY %s LIMIT 10;\n' "${2/q/(SELECT body FROM sought WHERE id = :id)}" >"$server/query.sql"
    chmod 644 "$server/query.sql"
    rm -f "$server"/latency*
    pgbench -n -c 1 -t "$3" -M prepared --random-seed=36 -f "$server/query.sql" -l --log-prefix="$server/latency" >/dev/null 2>"$server/pgbench" || {
        cat "$server/pgbench" >&2
        return 1
    }
    cat "$server"/latency* | awk '{ print $3 / 1000 }' | sort -n |
        awk -v title="$1" '{ t[NR] = $1; sum += $1 } END { printf "%s|%d|%.2f|%.2f|%.2f|%.2f\n", title, NR, t[int((NR + 1) / 2)], t[int(NR * 0.99 + 0.5)], t[NR], sum / NR }'
}

grams="body <-> near(q, 0.01, tokenizer => 'chars')"
{
    progress 'index of text_gram_ops'
    build by_grams 'signature (body text_gram_ops)' | tee -a /dev/stderr
    q -c 'VACUUM ANALYZE strings'
    search warm "$grams" 200 >/dev/null
    search 'text_gram_ops, the ten nearest' "$grams" "$searches" | tee "$server/searches" >&2
    q -c 'DROP INDEX by_grams'
    if q -c 'CREATE EXTENSION pg_trgm' 2>/dev/null; then
        progress 'index of pg_trgm'
        build by_trgm 'gist (body gist_trgm_ops)' | tee -a /dev/stderr
        search 'pg_trgm, the ten nearest' 'body <-> q' "$slow" | tee -a "$server/searches" >&2
    else
        echo 'pg_trgm is not installed in this server' >&2
    fi
} >"$server/builds"
table 'index|seconds|size' <"$server/builds"
table "among $rows strings|searches|p50 ms|p99 ms|most ms|mean ms" <"$server/searches"
