#!/usr/bin/env bash
# bench_plan.sh [sample=default|half|N] [documents=N] [words=90]: the estimate of near_duplicates_plan beside the call that it
# estimates, for each corpus of NEARDUP_DATA and for documents that make_docs.py beside that folder makes; documents=0: for no
# such. The sample is that of a plain call, or half of the documents, or N of them. Processor seconds are those of the backend.
# A factor is the greater of figure and estimate divided by the lesser; fewer than 10 pairs or candidates count as 10, and fewer
# than 0.05 seconds as 0.05. The table goes to the output and to target/bench_plan.md.
# shellcheck disable=SC2154 # variables of what is sourced
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/bench_tables.sh"
source "$project/scripts/server.sh"
cd "$project"

sample=default documents=1000000 words=90
for option in "$@"; do
    case $option in
        sample=default | sample=half | sample=[1-9]*) sample=${option#*=} ;;
        documents=[0-9]*) documents=${option#*=} ;;
        words=[1-9]*) words=${option#*=} ;;
        *) sed -n '2,6s/^# //p' "$0" >&2; exit 1 ;;
    esac
done
report=${CARGO_TARGET_DIR:-target}/bench_plan.md
: >"$report"
server_start 'max_wal_size = 8GB
statement_timeout = 0'
export PGOPTIONS='-c client_min_messages=warning'
q -c 'CREATE EXTENSION neardup'
case $sample in
    default) sampled=NULL ;;
    half) sampled='(SELECT count(*) / 2 FROM docs)' ;;
    *) sampled=$sample ;;
esac
# Memory for everything, so that no call is refused.
memory=8GB

# ticks: the processor time of the backend so far, in hundredths of a second.
ticks="(SELECT (string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' '))[12]::int
    + (string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' '))[13]::int)"

# factor FIGURE ESTIMATE LEAST
factor() { echo "round((greatest($1, $2, $3) / greatest(least($1, $2), $3))::numeric, 2)"; }

# compare NAME METHOD: a row of the table, about the documents in the table docs.
compare() {
    q -v name="$1" -v method="$2" <<SQL
SET client_min_messages = error;
SET neardup.memory = '$memory';
SELECT sampled AS n, pairs AS p, candidates AS c, cpu_seconds AS s, memory AS m
FROM near_duplicates_plan('docs', 0.8, method => :'method', sample => $sampled) WHERE using_method = :'method' \gset
SELECT $ticks AS began \gset
SELECT count(*) AS pairs FROM near_duplicates('docs', 0.8, method => :'method') \gset
SELECT round(greatest(1, $ticks - :began) / 100.0, 2) AS seconds \gset
SELECT concat_ws('|', :'name', :'method', documents, :n, :pairs, :p, $(factor :pairs.0 :p 10), greatest(candidates, verified), :c,
    $(factor 'greatest(candidates, verified)::float8' :c 10), :seconds, round(:s::numeric, 2), $(factor :seconds :s 0.05),
    pg_size_pretty(peak_memory), pg_size_pretty(:m::bigint)) FROM near_duplicates_stats();
SQL
}

# of_corpus FOLDER
of_corpus() {
    q -c 'DROP TABLE IF EXISTS docs' -c 'CREATE TABLE docs(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)' \
        -c 'DROP TABLE IF EXISTS lines' -c 'CREATE UNLOGGED TABLE lines(line json)'
    zcat "$1/docs.jsonl.gz" | q -c "\\copy lines from pstdin with (format csv, delimiter E'\\x01', quote E'\\x02')"
    q -c "INSERT INTO docs(body) SELECT line->>'text' FROM lines" -c 'VACUUM ANALYZE docs'
}

{
    for corpus in "${NEARDUP_DATA:?the folder of the corpora}"/*/; do
        [[ -e $corpus/docs.jsonl.gz ]] || continue
        of_corpus "$corpus"
        for method in jaccard minhash; do compare "$(basename "$corpus")" "$method"; done
    done
    if ((documents)); then
        made=$server/made.tsv
        python3 "$NEARDUP_DATA/../bench/make_docs.py" "$documents" "$words" "$made" >&2
        q -c 'DROP TABLE docs' -c 'CREATE TABLE docs(id bigint PRIMARY KEY, body text)'
        q -c "\\copy docs from '$made' with (format csv, delimiter E'\\t', quote E'\\x01')" -c 'VACUUM ANALYZE docs'
        for method in jaccard minhash; do compare "made, $documents of $words words" "$method"; done
    fi
} | tee /dev/stderr | table 'corpus|method|documents|sampled|pairs|estimated|factor|candidates|estimated|factor|processor s|estimated|factor|memory|estimated'
awk -F'|' 'NR > 2 && NF > 14 { for (i = 8; i <= 14; i += 3) { all++; beyond += $i > 2 } }
    END { printf "%d of %d figures are beyond a factor of 2.\n", beyond, all }' "$report" | tee -a "$report"
