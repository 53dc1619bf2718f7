#!/usr/bin/env bash
# Whatever a call is doing, a cancel, a timeout or a termination ends it within a second, and the session goes on. It is late
# if that took more than a second by the clock, and more than a second of work by the threads of its process: by the clock
# alone it could be other work of the machine that it waits for.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "max_parallel_workers_per_gather = 2"

q <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE tiny(id int PRIMARY KEY, body text);
INSERT INTO tiny VALUES (1, 'one two three four'), (2, 'one two three four five');
-- Long in one phase each. Rows that come slowly:
CREATE VIEW slow_rows AS SELECT i AS id, 'row ' || i || pg_sleep(0.005)::text AS body FROM generate_series(1, 4000) i;
-- Documents of 10 MB, and one of 50 MB:
CREATE TABLE long_text AS SELECT 1 AS id, string_agg(md5(i::text), ' ') AS body FROM generate_series(1, 318000) i;
CREATE VIEW long_texts AS SELECT i AS id, body || i AS body FROM long_text, generate_series(1, 100) i;
CREATE TABLE longest_text AS SELECT 1 AS id, string_agg(body || i, ' ') AS body FROM long_text, generate_series(1, 5) i;
-- Many tokens to be counted and ordered:
CREATE TABLE many_tokens AS SELECT i AS id, md5(i::text) || ' ' || md5((-i)::text) || ' ' || i % 1000 AS body
    FROM generate_series(1, 1500000) i;
-- Candidates without end, of which none becomes a pair:
CREATE TABLE many_candidates AS SELECT i AS id, (
    SELECT string_agg((hashint8extended(i, j) % 400)::text, ' ') FROM generate_series(1, 60) j) AS body
    FROM generate_series(1, 100000) i;
-- Pairs without end:
CREATE TABLE many_pairs AS SELECT i AS id, 'The quick brown fox'::text AS body FROM generate_series(1, 50000) i;
CREATE TABLE equal_rows AS SELECT i AS id, 'The quick brown fox'::text AS body FROM generate_series(1, 1500000) i;
-- Documents that differ, and yet most of them are pairs:
CREATE TABLE many_near AS SELECT i AS id, body FROM generate_series(1, 100000) i, LATERAL (
    SELECT string_agg((hashint8extended(i, j) % 30)::text, ' ') AS body FROM generate_series(1, 20) j) d;
-- Documents that all have one sentence in common, and little else:
CREATE TABLE many_alike AS SELECT id, 'The quick brown fox jumps over the lazy dog. Then: ' || body AS body FROM many_near WHERE id <= 20000;
-- Few sentences in very many documents, and many that are all alike:
CREATE TABLE many_sentences AS SELECT i AS id, (
    SELECT string_agg('They say that the price of lot ' || abs(hashint8extended(i, j) % 400) || ' was paid in full.', ' ') FROM generate_series(1, 20) j) AS body
    FROM generate_series(1, 6000) i;
-- Sentences that have words in common with very many others, and yet are like none:
CREATE VIEW many_lots AS SELECT id, replace(body, ' ', ' lot') AS body FROM many_candidates;
CREATE TABLE seen(call text, how text, delay float8, doing text, ended text, ms int, worked int);
-- Milliseconds that a process has had of processors, with all its threads (utime and stime of proc(5), in hundredths of a second).
CREATE FUNCTION worked(pid int) RETURNS int LANGUAGE sql VOLATILE AS $$
    SELECT 10 * (split_part(fields, ' ', 12)::int + split_part(fields, ' ', 13)::int)
    FROM regexp_replace(pg_read_file('/proc/' || pid || '/stat'), '^.*\) ', '') fields
$$;
SQL

out=$server/out
mkdir "$out"

# begin CALL [SETTING]: the call in a session of its own, in the background, and then another call in that session, twice: a signal
# that comes when the first call is just over may hit the second.
# Sets pid, the backend's.
begin() {
    rm -f "$out/lines"
    psql -X -qAt -v VERBOSITY=sqlstate >"$out/lines" 2>&1 <<SQL &
${2:-}
SELECT pg_backend_pid();
SELECT 'began', extract(epoch FROM clock_timestamp()), worked(pg_backend_pid());
$1;
SELECT 'ended', extract(epoch FROM clock_timestamp()), worked(pg_backend_pid());
SELECT 'afterwards', similarity FROM near_duplicates('tiny', 0.8);
SELECT 'afterwards', similarity FROM near_duplicates('tiny', 0.8);
SQL
    client=$!
    until pid=$(head -n 1 "$out/lines" 2>/dev/null) && [[ -n $pid ]]; do sleep 0.02; done
}

# Seconds since the epoch, and the milliseconds from one such time to another.
now() { echo "$EPOCHREALTIME"; }
ms() { awk -v from="$1" -v to="$2" 'BEGIN { printf "%d", (to - from) * 1000 }'; }

# found WHAT: of the line "WHAT|time|work" of the present session, the time and the work.
found() { sed -n "s/^$1|\(.*\)|/\1 /p" "$out/lines"; }

# gone: the time when the present backend was no more, and its work till then, as a look every few milliseconds has it.
gone() {
    local fields worked=0
    while { read -r fields <"/proc/$pid/stat"; } 2>/dev/null; do
        read -r -a fields <<<"${fields##*) }"
        worked=$((10 * (fields[11] + fields[12])))
        sleep 0.005
    done
    echo "$(now) $worked"
}

# note CALL HOW DELAY DOING ENDED MS WORKED
note() {
    q -v call="$1" -v how="$2" -v delay="$3" -v doing="$4" -v ended="$5" -v ms="$6" -v worked="$7" \
        <<<"INSERT INTO seen VALUES (:'call', :'how', :delay, :'doing', :'ended', :ms, :worked)"
}

# setting CALL: what a call that the default of neardup.memory does not hold needs. Without it the call fails before it is long.
setting() {
    case $1 in
        *long_text* | *many_near*) echo "SET neardup.memory = '2GB';" ;;
    esac
}

# interrupt CALL cancel|terminate DELAY: the signal after so many seconds.
interrupt() {
    local doing sent ended at worked end_at all
    begin "$1" "$(setting "$1")"
    sleep "$3"
    doing=$(ps -o args= -p "$pid" || true)
    # If the call is over already there is nothing to cancel; the signal must not hit what comes after it. It counts from
    # when the server sends it: how long psql takes to say so depends on what else the machine does.
    sent=$(q -F ' ' -c "SELECT extract(epoch FROM clock_timestamp()), worked(pid), pg_$2_backend(pid) FROM pg_stat_activity
        WHERE pid = $pid AND query NOT LIKE '%tiny%' AND query NOT LIKE '%ended%'" 2>/dev/null) || true
    if [[ $2 == terminate ]]; then ended=$(gone); fi
    wait "$client" || true
    if [[ $2 == cancel ]]; then ended=$(found ended); fi
    read -r end_at all <<<"${ended:-$(now) 0}"
    read -r at worked _ <<<"${sent:-$end_at $all}"
    note "$1" "$2" "$3" "$doing" "$(grep -oE 'ERROR:  .*|FATAL:  .*' "$out/lines" | head -n 1)" "$(ms "$at" "$end_at")" "$((all - worked))"
    if [[ $2 == cancel ]]; then
        expect "the session goes on after $1" 'afterwards|0.8' "$(tail -n 1 "$out/lines")"
    fi
}

# Calls that would take minutes.
endless=(
    "SELECT count(*) FROM near_duplicates('slow_rows', 0.8, id_column => 'id')"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.8, id_column => 'id')"
    "SELECT count(*) FROM near_duplicates('many_candidates', 0.4, id_column => 'id')"
    "SELECT count(*) FROM near_duplicates_between('many_candidates', 'many_candidates', 0.4, id_column => 'id')"
    "SELECT count(*) FROM near_duplicates('many_pairs', 0.8, id_column => 'id', max_pairs => 2000000000)"
    "SELECT count(*) FROM near_duplicate_clusters('equal_rows', 0.8, id_column => 'id')"
    "SELECT count(*) FROM eliminate('equal_rows', 0.8, id_column => 'id')"
    "SELECT length(duplicates_report('equal_rows', 0.8, id_column => 'id'))"
    "SELECT count(*) FROM (SELECT near_duplicates('many_near', 0.3, id_column => 'id') OFFSET 0) streamed"
    "SELECT count(*) FROM near_duplicates('long_texts', 0.8, id_column => 'id', method => 'edit')"
    "SELECT count(*) FROM near_duplicates('many_candidates', 0.6, id_column => 'id', method => 'edit')"
    "SELECT edit_similarity(body, reverse(body)) FROM long_text"
    "SELECT count(*) FROM near_duplicates('many_candidates', 0.1, id_column => 'id', method => 'minhash', shingle => 1, options => '{\"recall\": 0.999, \"max_bucket\": 1000000, \"hand_over\": false}')"
    "SELECT count(*) FROM near_duplicates('many_candidates', 0.6, id_column => 'id', method => 'simhash', options => '{\"bits\": 1024}')"
    "SELECT count(*) FROM near_duplicates('long_texts', id_column => 'id', method => 'combined', tokenizer => 'html')"
    "SELECT count(*) FROM near_duplicates('many_candidates', id_column => 'id', method => 'combined', options => '{\"techniques\": [{\"method\": \"simhash\", \"threshold\": 0.6}, {\"method\": \"edit\", \"threshold\": 0.6}]}')"
    "SELECT count(*) FROM near_duplicates('long_texts', method => 'tlcs', id_column => 'id', options => '{\"first\": 0, \"window\": 0}')"
    "SELECT count(*) FROM near_duplicates('many_alike', method => 'tlcs', id_column => 'id', options => '{\"stop_documents\": 100000, \"s\": 1}')"
    "SELECT count(*) FROM near_duplicates('many_candidates', 0.05, id_column => 'id', method => 'repeatability', options => '{\"min_length\": 1000, \"fallback\": 1000}')"
    "SELECT count(*) FROM eliminate('many_candidates', 0.3, id_column => 'id', method => 'repeatability', options => '{\"min_length\": 1000, \"fallback\": 1000}')"
    "SELECT lcs_length(left(body, 4000000), reverse(left(body, 4000000))) FROM long_text"
    "SELECT count(*) FROM partial_duplicates('long_texts', id_column => 'id', features => 'shingles')"
    "SELECT count(*) FROM partial_duplicates('many_lots', 0.3, id_column => 'id', features => 'shingles', shingle => 1, min_sentences => 1)"
    "SELECT count(*) FROM partial_duplicates('many_sentences', id_column => 'id', features => 'shingles', min_sentences => 1, options => '{\"max_similar\": 1000000}', max_passages => 4000000000)"
)
for call in "${endless[@]}"; do
    # At which of its checks a call stops makes no difference: core/src/stops.rs.
    for delay in 0.3 1.5; do interrupt "$call" cancel "$delay"; done
    interrupt "$call" terminate 0.7

    begin "$call" "$(setting "$call") SET statement_timeout = '600ms';"
    wait "$client" || true
    read -r began worked <<<"$(found began)"
    read -r ended all <<<"$(found ended)"
    note "$call" timeout 0.6 '' "$(grep -o 'ERROR:  .*' "$out/lines")" "$(($(ms "$began" "$ended") - 600))" "$((all - worked - 600))"
done

# Calls of some seconds with phases of their own: cancelled all along the time that they take.
for call in "SELECT count(*) FROM near_duplicates('many_tokens', 0.8, id_column => 'id')" \
    "SELECT count(*) FROM eliminate('many_candidates', 0.75, id_column => 'id', method => 'repeatability', options => '{\"min_length\": 1000, \"fallback\": 1000}')" \
    "SELECT count(*) FROM near_duplicates('long_text', 0.8, id_column => 'id', tokenizer => 'chars')" \
    'SELECT cardinality(words(body)) FROM longest_text' 'SELECT cardinality(shingles(body)) FROM longest_text' \
    "SELECT jaccard(body, body || 'x') FROM longest_text" "SELECT resemblance(body, body || 'x') FROM longest_text"; do
    began=$(now)
    begin "$call"
    wait "$client"
    whole=$(ms "$began" "$(now)")
    for share in 15 50 85; do
        interrupt "$call" cancel "$(awk "BEGIN { print $whole * $share / 100000 }")"
    done
done

psql -X -P footer=off -c "SELECT regexp_replace(call, '^SELECT (count\(\*\) FROM )?', '') AS call, how, delay, regexp_replace(doing, '^.*\[local\] ', '') AS doing, ended, ms, worked FROM seen"
expect_sql 'each call ends within a second' '' "SELECT * FROM seen WHERE ended <> '' AND ms > 1000 AND worked > 1000"
# Nor does it wait for something without working; no load of other programs costs a call 20 seconds.
expect_sql 'no call waits' '' "SELECT * FROM seen WHERE ended <> '' AND ms > 20000"
expect_sql 'with its SQLSTATE' '' "SELECT * FROM seen WHERE ended <> '' AND ended NOT LIKE
    CASE how WHEN 'terminate' THEN 'FATAL:  57P01' ELSE 'ERROR:  57014' END"
# Of the calls that take long; how long depends on the machine, and a call that is over within a fifth of a second tests nothing.
expect_sql 'long calls were ended, not over before' '' \
    "SELECT call FROM seen GROUP BY call HAVING bool_or(how = 'terminate') AND NOT bool_or(ended <> '')"
finish
