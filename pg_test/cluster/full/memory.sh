#!/usr/bin/env bash
# With too little memory a call ends in the error 53200, wherever it runs out, or 53400 at its setting; the session and the server go on.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE tiny(id int PRIMARY KEY, body text);
INSERT INTO tiny VALUES (1, 'one two three four'), (2, 'one two three four five');
-- Few documents of many tokens, one of them of a single token, and many documents.
CREATE TABLE long_texts(id int PRIMARY KEY, body text);
INSERT INTO long_texts SELECT n, string_agg(md5((i * n)::text), ' ') FROM generate_series(1, 3) n, generate_series(1, 100000) i GROUP BY n;
INSERT INTO long_texts VALUES (4, repeat('a', 30000000));
CREATE TABLE many_texts(id int PRIMARY KEY, body text);
INSERT INTO many_texts SELECT i, md5(i::text) || ' ' || md5((i / 2)::text) || ' ' || i % 100 FROM generate_series(1, 200000) i;
-- Rows that many have in common, and arrays of very many.
CREATE TABLE many_numbers(id int PRIMARY KEY, numbers bigint[]);
INSERT INTO many_numbers SELECT i, ARRAY[7, i, i / 2, i % 1000, i % 77, i * 31 % 400000] FROM generate_series(1, 200000) i;
CREATE INDEX many_numbers_numbers ON many_numbers USING signature (numbers);
CREATE TABLE few_numbers(id int, numbers bigint[]);
CREATE INDEX ON few_numbers USING signature (numbers);
CREATE TABLE few_texts(id int, body text);
CREATE INDEX ON few_texts USING signature (body);
SQL

calls=(
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5)"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5, tokenizer => 'chars')"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5, shingle => 5)"
    "SELECT count(*) FROM near_duplicates('many_texts', 0.3)"
    "SELECT count(*) FROM near_duplicates_between('many_texts', 'many_texts', 0.3)"
    "SELECT count(*) FROM nearest('long_texts', 2)"
    "SELECT count(*) FROM nearest('many_texts', 2)"
    "SELECT sum(cardinality(words(body))) FROM long_texts"
    "SELECT sum(cardinality(shingles(body))) FROM long_texts"
    "SELECT sum(jaccard(body, body)) FROM long_texts"
    "SELECT count(*) FROM partial_duplicates('many_texts', 0.5, features => 'shingles', shingle => 2, min_sentences => 1)"
    "SELECT count(*) FROM partial_duplicates('many_texts', edits => 0.2, min_length => 10)"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.5, method => 'spotsigs')"
    "SELECT count(*) FROM near_duplicates('many_texts', 0.7, method => 'repeatability')"
)
# Statements that work on indexes.
indexed=(
    "CREATE INDEX again ON many_numbers USING signature (numbers)"
    "CREATE INDEX again ON many_texts USING signature (body)"
    "SELECT count(*) FROM many_numbers WHERE numbers && '{7}'"
    "SELECT count(*) FROM many_numbers WHERE numbers && ARRAY(SELECT generate_series(1, 400000))::bigint[]"
    "INSERT INTO few_numbers SELECT i, ARRAY(SELECT generate_series(1, 1500000 * i))::bigint[] FROM generate_series(1, 2) i"
    "INSERT INTO few_texts SELECT * FROM long_texts"
    "REINDEX INDEX many_numbers_numbers"
    "SELECT signature_index_merge('many_numbers_numbers')"
)

# What a join of two rows gives, and in kB the backend's own memory and the most address space that it has had.
tiny="SELECT 'joins', similarity FROM near_duplicates('tiny', 0.8)"
own="SELECT substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)')::int"
peak="SELECT substring(pg_read_file('/proc/self/status') FROM 'VmPeak:\s+(\d+)')::int"

# bounded …: what psql says, errors included. A process that ends for want of memory may hang instead, where it was to
# write a backtrace; then it says nothing.
bounded() { PGOPTIONS='-c client_min_messages=warning' timeout 300 psql -X -qAt -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 "$@" 2>&1 || true; }

# limited MB: restarts the server with so much address space for each of its processes.
limited() {
    server_down "$server"
    (ulimit -v "${1}000" && server_up)
}

# joins_in MB THREADS: whether the tiny join works in a new session.
joins_in() {
    limited "$1" && q -c "SET neardup.threads = $2" -c "$tiny"
}

# limited_above MB THREADS: as limited, with a MB more than the tiny join reaches there: how many of its threads start
# depends on the limit, and a call leaves holes of some 10 kB in the heap. Sets limit.
limited_above() {
    limit=$1
    limited "$limit"
    until (($(bounded -c "SET neardup.threads = $2" -c "$tiny" -c "$peak" | tail -n 1) + 1000 <= limit * 1000)); do
        limited $((limit += 1))
    done
}

# count_out LIMIT THREADS CALL SEEN: where there is room for a tiny join there is after a call, whatever became of it.
count_out() {
    case $4 in
        $'ERROR:  53200\njoins|0.8') passed; ran_out=$((ran_out + 1)) ;;
        # What has no place in files is refused at the setting, before memory runs out.
        $'ERROR:  53400\njoins|0.8') passed ;;
        'joins|0.8' | [0-9]*$'\njoins|0.8') passed ;;
        *) failed "$1 MB, $2 threads: $3" "$4" ;;
    esac
}

ran_out=0
from=100
# Threads, and MB above the least in which they can do a tiny join; that differs between machines.
for variant in '1 5 80' '2 10 40 180 680' '4 5 130'; do
    read -r threads more <<<"$variant"
    least=$from
    until joins_in "$least" "$threads" >/dev/null 2>&1; do least=$((least + 5)); done
    from=$((least - 20))
    echo "a tiny join on $threads threads takes $least MB"
    for room in $more; do
        limited_above $((least + room)) "$threads"
        before=$ran_out
        for call in "${calls[@]}"; do
            count_out "$limit" "$threads" "$call" "$(bounded -c "SET neardup.threads = $threads" -c "$call" -c "$tiny")"
        done
        echo "$limit MB: $((ran_out - before)) of ${#calls[@]} calls ran out of memory"
    done

    # All calls in one session, with little room: it keeps nothing of them.
    limited $((least + 30))
    script=$(printf '%s;\n' "SET neardup.threads = $threads" "$tiny" "$own" && for call in "${calls[@]}"; do printf '%s;\n' "$call" "$tiny"; done && printf '%s;\n' "$own")
    mapfile -t seen < <(bounded <<<"$script")
    for n in "${!calls[@]}"; do
        count_out "one session in $((least + 30))" "$threads" "${calls[n]}" "${seen[2 * n + 2]}"$'\n'"${seen[2 * n + 3]}"
    done
    kept=$((seen[-1] - seen[1]))
    expect "a session keeps nothing of calls on $threads threads" t "$([[ $kept -lt 4096 ]] && echo t || echo "$kept kB more than before")"
done

# in_index STATEMENT; the library is loaded first, as a session in which memory has run out cannot map it.
in_index() {
    count_out "$limit" 4 "$1" "$(bounded -c "LOAD 'neardup'" -c "SET neardup.threads = 4" -c "SET jit = off" \
        -c "SET enable_seqscan = off" -c "SET work_mem = '1GB'" -c "SET maintenance_work_mem = '1GB'" -c "DROP INDEX IF EXISTS again" \
        -c "$1" -c "$tiny")"
}

before=$ran_out
for room in 5 30 60; do
    limited_above $((least + room)) 4
    for statement in "${indexed[@]}"; do
        in_index "$statement"
    done
done
echo "indexes: $((ran_out - before)) of $((3 * ${#indexed[@]})) statements ran out of memory"
# Sketches are many small pieces, made on threads whose other small requests cannot fail: where it ends depends on chance.
before=$ran_out
for room in {5..95..6}; do
    limited_above $((least + room)) 4
    for _ in 1 2 3; do in_index "${indexed[1]}"; done
done
echo "an index on texts: $((ran_out - before)) of 48 ran out of memory"
# Of the server's attempts to start, while the least is looked for.
expected_in_log='XX000 FATAL:  could not .*: Cannot allocate memory'
expect 'memory ran out at times' t "$([[ $ran_out -gt 30 ]] && echo t || echo f)"
finish
