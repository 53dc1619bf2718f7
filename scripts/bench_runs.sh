# To be sourced by bench.sh: repeated runs of a corpus, beside a suffix array of its bytes; the index of runs.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# measured COMMAND…: its processor seconds, its seconds and its peak memory in MB, as "seconds|seconds|MB", in the file
# $dir/measured; its output as it is.
measured() {
    python3 - "$dir/measured" "$@" <<'PYTHON'
import resource, subprocess, sys, time
began = time.monotonic()
status = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], 'w') as file:
    file.write(f'{used.ru_utime + used.ru_stime:.1f}|{time.monotonic() - began:.1f}|{used.ru_maxrss // 1024}')
sys.exit(status)
PYTHON
}

# most_files: the greatest size of the server's temporary files, in $dir/files, until there is $dir/done.
most_files() {
    local most=0 now
    while [[ ! -e $dir/done ]]; do
        now=$(du -sb "$bench_server/data/base/pgsql_tmp" 2>/dev/null | cut -f1) || true
        if ((${now:-0} > most)); then most=$now; fi
        sleep 0.1
    done
    echo "$most" >"$dir/files"
}

# repeated TABLE THREADS MEMORY [CALL]: a row of the table of calls, of a backend of its own, so that its processor time
# and its peak, without the shared memory that it touched, are those of the call.
repeated() {
    rm -f "$dir/done"
    most_files &
    q -v tab="$1" >"$dir/call" <<SQL || echo "$1, $2 threads, $3|failed" >"$dir/call"
SET client_min_messages = error;
SET statement_timeout = 0;
SET neardup.threads = $2;
SET neardup.memory = '$3';
SELECT clock_timestamp() AS began \gset
SELECT count(*) AS found FROM ${4:-repeated_runs('$1')} \gset
SELECT round(extract(epoch FROM clock_timestamp() - :'began')::numeric, 1) AS seconds,
    (SELECT ((regexp_match(status, 'VmHWM:\s+(\d+)'))[1]::int - (regexp_match(status, 'RssShmem:\s+(\d+)'))[1]::int) / 1024
        FROM pg_read_file('/proc/self/status') status) AS peak,
    (SELECT sum(n::numeric) FROM unnest((string_to_array(pg_read_file('/proc/self/stat'), ' '))[14:15]) n) / $(getconf CLK_TCK) AS processor,
    pg_size_bytes('$3') / 1048576 AS allowed \gset
SELECT concat_ws('|', :'tab' || ', $2 threads, $3', :found, round(:processor, 1), :seconds, :peak, :peak - :allowed, sum(octet_length(body)))
FROM :"tab";
SQL
    touch "$dir/done"
    wait $!
    awk -F'|' -v OFS='|' -v files="$(cat "$dir/files")" 'NF == 7 { $7 = sprintf("%.2f", files / $7) } { print }' "$dir/call"
}

# one_file NAME: the texts of an input one after the other, with a separator before each that no other one has, as the
# scripts of deduplicate-text-datasets make it.
one_file() {
    python3 - "$corpora/$1.tsv" "$dir/$1.bytes" <<'PYTHON'
import struct, sys
with open(sys.argv[1], 'rb') as texts, open(sys.argv[2], 'wb') as out:
    for n, line in enumerate(texts):
        out.write(b'\xff\xff' + struct.pack('<I', n) + line.rstrip(b'\n').split(b'\t', 1)[1])
PYTHON
}

# dedup_peer NAME: deduplicate-text-datasets on repeats of 300 bytes, on two threads where it has threads.
dedup_peer() {
    local folder=$kept/deduplicate-text-datasets program part all=0 peak=0 cpu seconds mb files
    program=$folder/target/release/dedup_dataset
    if [[ ! -x $program ]]; then
        if ! { [[ -d $folder ]] || timeout 60 git clone -q --depth 1 https://github.com/google-research/deduplicate-text-datasets "$folder"; } >&2 ||
            ! (cd "$folder" && timeout 600 cargo build --release) >&2; then
            skipped deduplicate-text-datasets 'not to be had from GitHub, or not to be built' >&2
            return 1
        fi
    fi
    mkdir -p "$dir/cache"
    for part in make self-similar collect; do
        local options=(--data-file "$dir/$1.bytes")
        case $part in
            self-similar) options+=(--length-threshold 300 --cache-dir "$dir/cache" --num-threads 2) ;;
            collect) options+=(--length-threshold 300 --cache-dir "$dir/cache") ;;
        esac
        (cd "$dir" && TMPDIR=$dir measured timeout 1200 "$program" "$part" "${options[@]}") >"$dir/$part.out" 2>&1 || {
            skipped deduplicate-text-datasets "$part failed or took more than 20 min" >&2
            return 1
        }
        IFS='|' read -r cpu seconds mb <"$dir/measured"
        echo "deduplicate-text-datasets, $part, 300 bytes||$cpu|$seconds|$mb||"
        all=$(awk "BEGIN { print $all + $cpu }") peak=$((mb > peak ? mb : peak))
    done
    files=$(($(stat -c %s "$dir/$1.bytes.table.bin") + $(du -sb "$dir/cache" | cut -f1) + $(stat -c %s "$dir/$1.bytes")))
    peer_seconds=$all
    echo "deduplicate-text-datasets, all of it||$all||$peak||$(awk "BEGIN { printf \"%.1f\", $files / $(stat -c %s "$dir/$1.bytes") }")"
    rm -rf "$dir/cache" "$dir/$1.bytes.table.bin"
}

# suffix_array_peer NAME: the suffix array of a crate, on one thread.
suffix_array_peer() {
    local program=$kept/suffix_array/release/suffix-array-peer found cpu seconds mb
    if [[ ! -x $program ]]; then
        # A copy, so that no Cargo.lock is left in the project.
        cp -r benches/peers/suffix_array "$dir/suffix_array"
        if ! timeout 240 cargo build --release --manifest-path "$dir/suffix_array/Cargo.toml" --target-dir "$kept/suffix_array" >&2; then
            skipped libsais 'not to be had from crates.io' >&2
            return 1
        fi
    fi
    if ! found=$(measured timeout 600 "$program" "$dir/$1.bytes" 300); then
        skipped libsais 'it failed or took more than 600 s' >&2
        return 1
    fi
    IFS='|' read -r cpu seconds mb <"$dir/measured"
    stand_in_seconds=$cpu
    echo "libsais, 300 bytes|${found#* }|$cpu|$seconds|$mb||0"
}

runs() {
    bench_server_start || return 0
    local peer_seconds='' stand_in_seconds='' ours memory
    progress "repeated runs of $large (10 min)"
    one_file "$large"
    # Not in a pipe, so that the variables stay.
    {
        for memory in 64MB 256MB; do
            repeated "$large" 1 "$memory"
            if [[ $memory == 64MB ]]; then ours=$(awk -F'|' '{ print $3 }' "$dir/call"); fi
            repeated "$large" 2 "$memory"
        done
        dedup_peer "$large" || true
        suffix_array_peer "$large" || true
    } >"$dir/runs"
    table 'call, or program|runs|processor s|seconds|peak MB|above the setting MB|files / text' <"$dir/runs"
    {
        if [[ -n $peer_seconds ]]; then
            awk "BEGIN { printf \"deduplicate-text-datasets takes %.1f times the processor time of repeated_runs (1 thread, 64 MB). \", $peer_seconds / $ours }"
        fi
        if [[ -n $stand_in_seconds ]]; then
            awk "BEGIN { printf \"libsais alone takes %.1f times as long. \", $stand_in_seconds / $ours }"
        fi
        printf '\n\n'
    } | say
    rm -f "$dir/$large.bytes"
    runs_index
}

# runs_growth: the time for a document among a million and among four million, of make_docs.py (3.1 GB, some 20 min).
runs_growth() {
    bench_server_start || return 0
    local documents name generator=${NEARDUP_DATA:-}/../bench/make_docs.py
    if [[ ! -f $generator ]]; then
        skipped 'the growth of repeated runs' 'no generator beside NEARDUP_DATA'
        return 0
    fi
    for documents in 1000000 4000000; do
        name=docs_$documents
        progress "$documents documents"
        q -c "CREATE TABLE $name (id int PRIMARY KEY, body text)"
        python3 "$generator" "$documents" 90 "$dir/$name.tsv" >&2
        awk -F'\t' '{ print NR "\t" $2 }' "$dir/$name.tsv" | q -c "\\copy $name from pstdin with (format csv, delimiter E'\\t', quote E'\\x01')"
        rm "$dir/$name.tsv"
        q -c "VACUUM ANALYZE $name"
    done
    for documents in 1000000 4000000; do repeated "docs_$documents" 2 256MB; done >"$dir/growth"
    table 'call|runs|processor s|seconds|peak MB|above the setting MB|files / text' <"$dir/growth"
    awk -F'|' '{ cpu[NR] = $3 } END { printf "A document of four million takes %.2f times the processor time of one of a million.\n\n", cpu[2] / cpu[1] / 4 }' "$dir/growth" | say
}

# licences: a table of the texts of licences, where they are.
licences() {
    local file=${NEARDUP_DATA:-}/lic_scancode_a/docs.jsonl.gz
    if [[ ! -f $file ]]; then
        skipped 'the licences' 'no corpus lic_scancode_a in NEARDUP_DATA'
        return 1
    fi
    q -c 'CREATE TABLE licences (id serial PRIMARY KEY, body text)' -c 'CREATE TEMP TABLE lines (line jsonb)' \
        -c "\\copy lines from program 'zcat $file' with (format csv, delimiter E'\\x02', quote E'\\x01')" \
        -c "INSERT INTO licences (body) SELECT line->>'text' FROM lines" -c 'VACUUM ANALYZE licences'
}

# runs_search TABLE SEARCHES SCANS: the size of the index, the times of searches for texts of 500 words, and how many rows of those
# that a sequential scan finds the index finds. Of each text a run of 16 words or more is in the table.
runs_search() {
    local share rows
    q -c "CREATE INDEX $1_runs ON $1 USING signature (body text_runs_ops)" -c "VACUUM ANALYZE $1"
    share=$(q -c "SELECT round(pg_relation_size('$1_runs') / sum(octet_length(body))::numeric, 3) FROM $1")
    # The plan of a sequential scan must not be chosen for a table that is small.
    rows=$(index_latency "$1, 500 words, runs of 16" "$1_sought" "SELECT id FROM $1 WHERE body && shared_run((SELECT body FROM $1_sought WHERE id = :id), 16)" "$2" '-c enable_seqscan=off')
    q -v rows="$rows" -v share="$share" <<SQL
SET statement_timeout = 0;
CREATE TEMP TABLE asked AS SELECT shared_run(body, 16) AS sought FROM $1_sought WHERE id <= $3;
SET enable_indexscan = off; SET enable_bitmapscan = off;
CREATE TEMP TABLE scanned AS SELECT sought, $1.id FROM asked JOIN $1 ON body && sought;
SET enable_seqscan = off; RESET enable_indexscan; RESET enable_bitmapscan;
CREATE TEMP TABLE found AS SELECT sought, $1.id FROM asked JOIN $1 ON body && sought;
SELECT concat_ws('|', :'rows', :share, (SELECT count(*) / $3 FROM scanned),
    (SELECT round(count(*)::numeric / (SELECT count(*) FROM scanned), 4) FROM found JOIN scanned USING (sought, id)), (SELECT count(*) - (SELECT count(*) FROM scanned) FROM found));
SQL
}

runs_index() {
    local big=${NEARDUP_BENCH_ROWS:-1000000}
    progress "index of runs, $big rows and the licences (4 min)"
    q -c "CREATE TABLE short_texts (id int PRIMARY KEY, body text)"
    index_texts "$big" | q -c '\copy short_texts from stdin'
    # Words that no text has in a row, with the middle of one text among them.
    q -c "CREATE TABLE short_texts_sought (id int PRIMARY KEY, body text)" -c "
        INSERT INTO short_texts_sought
        SELECT n, (SELECT string_agg('w' || (50000 * power(random(), 2))::int, ' ') FROM generate_series(1, 240 + 0 * n)) || ' '
            || (SELECT array_to_string((string_to_array(body, ' '))[20:39], ' ') FROM short_texts WHERE short_texts.id = 1 + n * 37 % $big) || ' '
            || (SELECT string_agg('w' || (50000 * power(random(), 2))::int, ' ') FROM generate_series(1, 240 + 0 * n))
        FROM generate_series(1, 500) n" -c 'VACUUM ANALYZE short_texts_sought'
    {
        runs_search short_texts 1000 2
        if licences; then
            q -c 'CREATE TABLE licences_sought (id serial PRIMARY KEY, body text)' -c "
                INSERT INTO licences_sought (body)
                SELECT array_to_string((words)[1:500], ' ') FROM (SELECT id, regexp_split_to_array(body, '\s+') AS words FROM licences) w
                WHERE cardinality(words) >= 500 ORDER BY id LIMIT 500" -c 'VACUUM ANALYZE licences_sought'
            runs_search licences 1000 20
        fi
    } >"$dir/searches"
    table 'table|searches|p50 ms|p99 ms|index / text|rows found|recall|wrong rows' <"$dir/searches"
}
