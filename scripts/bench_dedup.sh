# To be sourced by bench.sh: programs that leave out near duplicates, beside `eliminate`, on the same texts in the same run.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# dedup_have PROGRAM: whether Python has it with all that it needs, after fetching it if it has not.
dedup_have() {
    local packages=("$1") python=$kept/venv/bin/python
    case $1 in
        neardup) packages=("$project/clients/python[command]") ;;
        # Its hashes do not go with xxhash 4; the others are what its readers, writers and words of English need.
        datatrove) packages+=('xxhash<4' orjson spacy nltk) ;;
    esac
    if [[ -x $python ]] && "$python" -c "import ${1//-/_}" 2>/dev/null; then return; fi
    { python3 -m venv "$kept/venv" && timeout 600 "$kept/venv/bin/pip" install -q "${packages[@]}"; } >&2
}

# dedup_row PROGRAM VERSION CPU SECONDS HOW: a row of the table about the ids in the table `gone`.
dedup_row() {
    q -v row="$1|$2|$5|$3|$4" <<'SQL'
SELECT concat_ws('|', :'row', (SELECT count(*) FROM gone),
    round((SELECT count(*) FROM exact WHERE a IN (TABLE gone) OR b IN (TABLE gone))::numeric / (SELECT count(*) FROM exact), 3),
    round((SELECT count(*) FROM gone WHERE id IN (SELECT a FROM exact UNION SELECT b FROM exact))::numeric / (SELECT greatest(count(*), 1) FROM gone), 3));
SQL
}

# dedup_ours HOW ARGUMENTS: a row of ours, from a file to the ids, the table that is filled included, on one thread. Processor
# time is that of the server's process with its threads.
dedup_ours() {
    local cpu seconds
    cpu=$(incoming_cpu)
    seconds=$(
        q <<SQL
SET neardup.threads = 1;
SELECT clock_timestamp() AS began \gset
DROP TABLE IF EXISTS read, gone;
CREATE TABLE read (id bigint PRIMARY KEY, body text);
\copy read from '$dir/first.csv' with (format csv, delimiter E'\t', quote E'\x01')
CREATE TABLE gone AS SELECT id FROM eliminate('read', 0.8, shingle => 5, keep => 'first', $2);
SELECT round(extract(epoch FROM clock_timestamp() - :'began'), 1);
SQL
    )
    cpu=$(awk -v cpu="$(($(incoming_cpu) - cpu))" 'BEGIN { printf "%.1f", cpu / 100 }')
    dedup_row neardup "$(q -c "SELECT extversion FROM pg_extension WHERE extname = 'neardup'")" "$cpu" "$seconds" "$1"
}

# dedup_by PROGRAM DOCUMENTS: a row of a program that peers/dedup.py calls.
dedup_by() {
    local program=${1%%/*} row version cpu seconds how
    progress "$1"
    if ! dedup_have "$program"; then
        skipped "$program" 'not to be had from PyPI' >&2
        return
    fi
    rm -rf "$dir/work" && mkdir "$dir/work"
    if ! row=$(PG_CONFIG=$PG_CONFIG timeout 900 "$kept/venv/bin/python" benches/peers/dedup.py "$1" "$corpora/$large.tsv" "$2" "$dir/work" "$dir/gone"); then
        skipped "$program" 'it failed or took more than 900 s' >&2
        return
    fi
    q -c 'TRUNCATE gone' -c "\\copy gone from '$dir/gone'"
    IFS='|' read -r version cpu seconds how <<<"$row"
    # The command's server is no child of it.
    if [[ $program == neardup ]]; then cpu=; fi
    dedup_row "$program" "$version" "$cpu" "$seconds" "$how"
}

dedup() {
    bench_server_start || return 0
    local program documents=${NEARDUP_BENCH_DEDUP:-20000}
    progress "deduplicate the first $documents documents of $large, $(head -n "$documents" "$corpora/$large.tsv" | wc -c) bytes (10 min)"
    head -n "$documents" "$corpora/$large.tsv" | awk -F'\t' '{ print NR "\t" $2 }' >"$dir/first.csv"
    {
        # Fills the table, which the exact pairs are of.
        dedup_ours exact "method => 'jaccard'" >/dev/null 2>&1 || true
        q -c "DROP TABLE IF EXISTS exact" -c "CREATE TABLE exact AS SELECT left_id AS a, right_id AS b FROM near_duplicates('read', 0.8, shingle => 5)"
        dedup_ours exact "method => 'jaccard'"
        dedup_ours '`minhash`, recall 0.95' "method => 'minhash'"
        # Of one text: the start of the command and of its server. The first call makes a template, which others copy.
        dedup_by neardup/jaccard 1 >/dev/null
        dedup_by neardup/jaccard 1
        for program in neardup/jaccard neardup/minhash rensa datasketch text-dedup datatrove semhash; do
            dedup_by "$program" "$documents"
        done
    } | table 'program|version|how|CPU s|seconds|rows left out|share of the pairs that are gone|share of the rows that are in a pair'
}
