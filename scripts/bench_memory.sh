#!/usr/bin/env bash
# bench_memory.sh [documents=N] [words=90] [memory=64MB,256MB,1GB,4GB] [methods=NAME,…]: the peak resident memory of the backend,
# as the system tells it (VmHWM of /proc, with the shared memory that it touched), beside neardup.memory, for each method, and the
# processor time of its threads (utime and stime).
#
# methods: words, shingle, minhash, simhash, shingling, imatch, exact_text, spotsigs, tlcs, runs, edit, partial, nearest, clusters,
# eliminate, repeated, suggest, report; all of them where none is named. A call that has no place in the memory is "refused".
# edit compares the first 60 characters of 100000 documents, and nearest the first 100000 documents.
# The table goes to the output and to target/bench_memory.md. The documents are made by make_docs.py beside the folder NEARDUP_DATA, once.
# shellcheck disable=SC2154 # variables of what is sourced
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/bench_tables.sh"
source "$project/scripts/bench_server.sh"
source "$project/scripts/server.sh"
cd "$project"

documents=1000000 words=90 memory=64MB,256MB,1GB,4GB methods=words,shingle,minhash,simhash,shingling,imatch,exact_text,spotsigs,tlcs,runs,edit,partial,nearest,clusters,eliminate,repeated,suggest,report
for option in "$@"; do
    case $option in
        documents=[1-9]*) documents=${option#*=} ;;
        words=[1-9]*) words=${option#*=} ;;
        memory=?*) memory=${option#*=} ;;
        methods=?*) methods=${option#*=} ;;
        *) sed -n '2,9s/^# //p' "$0" >&2; exit 1 ;;
    esac
done
kept=$(mkdir -p "${CARGO_TARGET_DIR:-target}/bench" && cd "${CARGO_TARGET_DIR:-target}/bench" && pwd)
corpora=$kept/made
mkdir -p "$corpora"
large=docs_${documents}_$words small=$large
if [[ ! -f $corpora/$large.tsv ]]; then
    progress "make $documents documents of $words words"
    python3 "$NEARDUP_DATA/../bench/make_docs.py" "$documents" "$words" "$corpora/$large.part" >&2
    mv "$corpora/$large.part" "$corpora/$large.tsv"
fi
report=${CARGO_TARGET_DIR:-target}/bench_memory.md
: >"$report"
dir=$(private_dir)
trap 'bench_server_stop; rm -rf "$dir"' EXIT
bench_server_start
q -c "ALTER SYSTEM SET shared_buffers = '64MB'" -c "ALTER SYSTEM SET statement_timeout = 0"
server_down "$bench_server"
server_up
# In any memory, the time of edit, which is for names and titles, and that of nearest grow with the square of the documents.
if [[ ,$methods, == *,edit,* ]]; then
    q -c "CREATE TABLE lines AS SELECT id, left(body, 60) AS body FROM $large LIMIT 100000" -c 'ALTER TABLE lines ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE lines'
fi
if [[ ,$methods, == *,nearest,* ]]; then
    q -c "CREATE TABLE few AS SELECT * FROM $large LIMIT 100000" -c 'ALTER TABLE few ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE few'
fi
# What was loaded is written before anything is timed.
q -c CHECKPOINT

# call METHOD: the call.
call() {
    case $1 in
        words) echo "near_duplicates('$large', 0.8)" ;;
        shingle) echo "near_duplicates('$large', 0.8, shingle => 5)" ;;
        # More pairs than the server stores: they are counted as they come.
        simhash) echo "(SELECT near_duplicates('$large', method => 'simhash', options => '{\"distance\": 0}') OFFSET 0) p" ;;
        minhash | shingling | imatch | exact_text | spotsigs | tlcs | runs) echo "near_duplicates('$large', method => '$1')" ;;
        partial) echo "partial_duplicates('$large', 0.9)" ;;
        edit) echo "near_duplicates('lines', 0.9, method => 'edit')" ;;
        nearest) echo "nearest('few', 5)" ;;
        repeated) echo "repeated_runs('$large', 30)" ;;
        suggest) echo "suggest('$large')" ;;
        report) echo "(SELECT duplicates_report('$large', 0.8) OFFSET 0) r WHERE r::text <> ''" ;;
        clusters) echo "near_duplicate_clusters('$large', 0.8)" ;;
        eliminate) echo "eliminate('$large', 0.8)" ;;
        *) echo "no method $1" >&2; exit 1 ;;
    esac
}

# Hundredths of a second, of all threads.
worked="(SELECT (fields[12]::int + fields[13]::int) / 100.0 FROM string_to_array(regexp_replace(pg_read_file('/proc/self/stat'), '^.*\) ', ''), ' ') fields)"
for method in ${methods//,/ }; do
    for limit in ${memory//,/ }; do
        progress "$method, $limit"
        # One backend a call, so that its peak is that of the call.
        q <<SQL || echo "$method|$limit|failed"
SET client_min_messages = error;
SET neardup.memory = '$limit';
SET neardup.threads = 2;
SELECT clock_timestamp() AS began \gset
SELECT $worked AS worked \gset
\set pairs refused
\set ON_ERROR_STOP 0
SELECT count(*) AS pairs FROM $(call "$method") \gset
\set ON_ERROR_STOP 1
SELECT round(extract(epoch FROM clock_timestamp() - :'began'), 1) AS seconds, round($worked - :worked, 1) AS worked,
    (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1]::int / 1024 AS peak,
    pg_size_bytes('$limit') / 1048576 AS allowed \gset
SELECT concat_ws('|', '$method', '$limit', :'pairs', :seconds, :worked, :peak, :peak - :allowed, (SELECT candidates FROM near_duplicates_stats()));
SQL
    done
done | tee /dev/stderr | table "method, $documents documents|neardup.memory|pairs|seconds|processor s|peak MB|above the setting MB|candidates"
