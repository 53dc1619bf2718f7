#!/usr/bin/env bash
# bench_nearest.sh [NAME | FILE.tsv …]: the ten nearest of each row beside the exact join at 0.5, as a session sees them, as a
# table. NAME is a corpus of NEARDUP_DATA, FILE.tsv holds numbers and texts with a tab between, of which the first 20,000 are
# taken, or NEARDUP_BENCH_ROWS. Seconds of count(*) over each call in one session, with one thread and with two, the least of
# three alternate calls; neardup has to be installed. NEARDUP_BENCH_SETS=FOLDER keeps NAME.sets there, for benches/nearest.rs.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/server.sh"
source "$project/scripts/bench_tables.sh"
report=/dev/null

if [[ $# -eq 0 ]]; then
    set -- zh_law_a zh_news_a lic_scancode_a html_kafka_a en_reuters_a en_ohsumed_a en_bible_a bib_dblp_acm_a zh_poetry_a zh_sts_a zh_titles_a
fi
server_start 'shared_buffers = 512MB
jit = off
max_parallel_workers_per_gather = 0'
q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE lines (line text)'

# fill NAME: makes the table docs.
fill() {
    q -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS docs' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)'
    if [[ $1 == *.tsv ]]; then
        head -n "${NEARDUP_BENCH_ROWS:-20000}" "$1" | q -c "\\copy docs from pstdin with (format csv, delimiter E'\\t', quote E'\\x01')"
    else
        zcat "$NEARDUP_DATA/$1/docs.jsonl.gz" | q -c 'TRUNCATE lines' -c "\\copy lines from pstdin with (format csv, delimiter E'\\x01', quote E'\\x02')" \
            -c "INSERT INTO docs SELECT row_number() OVER (), line::json ->> 'text' FROM lines"
    fi
    q -c 'VACUUM ANALYZE docs'
}

# sets: the distinct words of each text as the numbers of their words, the rarest word first and the shortest text first.
sets() {
    q <<'SQL'
CREATE TEMP TABLE w AS SELECT DISTINCT id, unnest(words(body)) AS word FROM docs;
SELECT string_agg(n::text, ' ' ORDER BY n)
FROM w JOIN (SELECT word, row_number() OVER (ORDER BY count(*), word) AS n FROM w GROUP BY word) AS numbers USING (word)
GROUP BY id ORDER BY count(*), id;
SQL
}

# times THREADS: the least seconds of the join and of the search.
times() {
    for _ in 1 2 3; do
        printf "SELECT count(*) FROM near_duplicates('docs', 0.5);\n"
        printf "SELECT count(*) FROM nearest('docs', 10);\n"
    done | q -c "SET neardup.threads = $1" -c '\timing on' -f - | awk '
        $1 == "Time:" { n++; s = $2 / 1000; if (!(n % 2 in least) || s < least[n % 2]) least[n % 2] = s }
        END { printf "%.3f|%.3f|%.1f", least[1], least[0], least[0] / least[1] }'
}

for name in "$@"; do
    progress "$name"
    fill "$name"
    title=$(basename "$name" .tsv)
    if [[ -n ${NEARDUP_BENCH_SETS:-} ]]; then sets >"$NEARDUP_BENCH_SETS/$title.sets"; fi
    found=$(q -c "SELECT concat_ws('|', (SELECT count(*) FROM docs), (SELECT count(*) FROM near_duplicates('docs', 0.5)), (SELECT count(*) FROM nearest('docs', 10)))")
    echo "$title|$found|$(times 1)|$(times 2)" | tee -a /dev/stderr
done >"$server/rows"
table 'corpus|rows|pairs at 0.5|nearest|one thread: join, s|nearest, s|ratio|two threads: join, s|nearest, s|ratio' <"$server/rows"
