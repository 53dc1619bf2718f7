#!/usr/bin/env bash
# Tries what nobody means: random and hostile arguments of every function, queries that break out, bytes for every
# type, rows of every table of ours that users write, damaged files of indexes. Nothing may crash, panic, hang or give
# an internal error. NEARDUP_FUZZ_SEED says where chance begins; NEARDUP_FUZZ_ROUNDS (or so many NEARDUP_FUZZ_SECONDS)
# makes it longer: each round has the seed after that of the one before. ONLY names parts: bytes, calls, queries… What
# failed is told with its statement, which speaks of the relations of pg_test/fuzz/world.sql, and with its seed, which
# does the same again.
# shellcheck disable=SC2154 # server and bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
fuzz=$project/pg_test/fuzz
seed=${NEARDUP_FUZZ_SEED:-1}
rounds=${NEARDUP_FUZZ_ROUNDS:-1}
parts=${ONLY:-bytes calls queries triggers jobs registers damage}
# Memory that no call needs is not to be had.
ulimit -v 6000000
server_start "autovacuum = off
log_error_verbosity = verbose
log_line_prefix = '%m [%p] %u '
jit = off"

for file in world values queries calls bytes triggers jobs damage; do
    q -o /dev/null -f "$fuzz/$file.sql"
done

# What a message may not say, whatever its SQLSTATE.
panic="panicked|terminated by signal|index out of bounds|out of range for slice|called .(Option|Result)|unwrap\(|internal error: entered|overflow when|attempt to|invalid memory alloc|cache lookup failed|unexpected data beyond"

# Waits for a server that may just have lost a session.
comes_back() {
    local tries=0
    until q -c 'SELECT 1' >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [[ $tries -gt 300 ]]; then
            tail -n 20 "$server/log"
            echo 'the server does not come back'
            exit 1
        fi
        sleep 0.2
    done
}

# try PART: runs the statements of the part that were not run yet, as eve. One that ends the session is a failure, and the
# next ones go on.
try() {
    local begun last crashed
    begun=$(q -c 'SELECT coalesce(max(no), 0) FROM fuzz.results')
    while true; do
        last=$(q -c 'SELECT coalesce(max(no), 0) FROM fuzz.results')
        {
            echo 'CREATE TEMP TABLE temporary AS TABLE few;'
            echo "SELECT format('SELECT fuzz.run(%s)', no) FROM fuzz.statements WHERE no > $last ORDER BY no \\gexec"
        } | PGOPTIONS='-c statement_timeout=1s' timeout 600 "$bindir/psql" -X -qAt -U eve -o /dev/null >"$server/tried" 2>&1 && break
        comes_back
        crashed=$(q -c "SELECT min(no) FROM fuzz.statements WHERE no > (SELECT coalesce(max(no), 0) FROM fuzz.results)")
        if [[ -z $crashed ]]; then break; fi
        failed "$1, seed $seed: the session ended" "$(cat "$server/tried")"$'\n'"$(q -c "SELECT statement FROM fuzz.statements WHERE no = $crashed")"
        q -c "INSERT INTO fuzz.results VALUES ($crashed, 'crash')"
        sleep 0.2
    done
    tell "$1"
}

# tell PART: what its statements came to; those that failed are failures.
tell() {
    local seen
    seen=$(q -c "SELECT concat_ws(' ', state, replace(message, E'\n', ' | '), E'\n' || statement || ';') FROM fuzz.results JOIN fuzz.statements USING (no)
        WHERE part = '$1' AND no > $begun AND (state ~ '^XX' OR message ~ '$panic' OR ms > 20000) ORDER BY no")
    if [[ -n $seen ]]; then failed "$1, seed $seed" "$seen"; else passed; fi
    q -c "SELECT '$1: ' || string_agg(state || ' ' || n, ', ' ORDER BY n DESC) FROM (
        SELECT state, count(*) AS n FROM fuzz.results JOIN fuzz.statements USING (no) WHERE part = '$1' AND no > $begun GROUP BY state) s"
}

bytes() {
    q -o /dev/null -c "SELECT fuzz.add_bytes($seed, 300, '$server/bytes')"
    try bytes
    q -o /dev/null -c "SELECT fuzz.add_uses()"
    try bytes
    q -o /dev/null -c "SELECT fuzz.add_searches($seed, 40)"
    try searches
}
calls() {
    q -o /dev/null -c "SELECT fuzz.add_calls($seed, 200)"
    try calls
}
queries() {
    q -o /dev/null -c "SELECT fuzz.add_queries($seed, 40)"
    try queries
}
triggers() {
    q -o /dev/null -c 'SELECT fuzz.add_triggers()'
    try triggers
}

# judge FILE: what may not be in the output of a script whose lines in brackets say which errors may follow: "any" but
# internal ones, "clear" ones, or "none".
judge() {
    local tag='<any>' line
    while IFS= read -r line; do
        case $line in
            '<'*'>') tag=$line ;;
            *'ERROR:  XX000'* | *FATAL* | *PANIC* | *'server closed'* | *'connection to server'* | 'not right' | 'ran as'* | 'not undone'*) echo "$line" ;;
            *ERROR:*) if [[ $tag == '<none>' || ($tag == '<clear>' && $line =~ $panic) ]]; then echo "$line"; fi ;;
        esac
    done <"$1"
}

# Each statement of a job's script is a transaction.
jobs() {
    local n bad
    for ((n = 0; n < 40; n++)); do
        { echo '\set VERBOSITY verbose'; echo "SET client_min_messages = error; SET statement_timeout = '20s';"; q -c "SELECT fuzz.job_script($seed, $n)"; } >"$server/job.sql"
        "$bindir/psql" -X -qAt -U eve -f "$server/job.sql" >"$server/job.out" 2>&1 || true
        bad=$(judge "$server/job.out")
        if [[ -z $bad ]]; then
            passed
        else
            failed "jobs, seed $seed, job $n" "$bad"$'\n'"$(grep '^tampered' "$server/job.out" || true)"
            comes_back
            q -o /dev/null -c "SET client_min_messages = error; DROP TABLE IF EXISTS w.job$n CASCADE" || true
        fi
    done
}

# A register that the owner of a database has written to: nobody is harmed by it, and superusers run nothing of its.
registers() {
    local n table bad
    q >/dev/null -c 'CREATE ROLE dba LOGIN' -c 'CREATE DATABASE restored OWNER dba TEMPLATE postgres' 2>"$server/made" || { failed 'registers' "$(cat "$server/made")"; return; }
    q -d restored -o /dev/null -f "$fuzz/registers.sql"
    for table in $(q -d restored -c 'SELECT fuzz.registers()'); do
        for ((n = 0; n < 12; n++)); do
            q -d restored -c "SELECT fuzz.register_script($seed, $n, '$table')" >"$server/register.sql"
            "$bindir/psql" -X -qAt -d restored -U dba -f "$server/register.sql" >"$server/register.out" 2>&1 || true
            bad=$(judge "$server/register.out")
            if [[ -z $bad ]]; then passed; else failed "registers, seed $seed, row $n of $table" "$bad"$'\n'"$(grep INSERT "$server/register.sql" | head -n 1)"; fi
            comes_back
        done
    done
    q -c 'DROP DATABASE restored' -c 'DROP ROLE dba'
}

# Files of indexes are changed while the server is down; with checksums of pages nearly all of it is noticed by the server.
damage() {
    local n path last=60 checksums
    for checksums in off on; do
        if [[ $checksums == on ]]; then last=$((last / 4)); fi
        q -o /dev/null -c "SELECT fuzz.add_damaged($seed, 0, $last)" -c CHECKPOINT
        q -c "SELECT n, pg_relation_filepath(format('w.damage%s', n)) FROM generate_series(0, $last) n" >"$server/paths"
        server_down "$server"
        as_server "$bindir/pg_checksums" -D "$server/data" "--$([[ $checksums == on ]] && echo enable || echo disable)" >/dev/null 2>&1 || true
        while IFS='|' read -r n path; do
            perl "$fuzz/damage.pl" "$seed" "$n" "$server/data/$path" >"$server/damage$n"
        done <"$server/paths"
        server_up
        for ((n = 0; n <= last; n++)); do damaged "$n" "$checksums"; done
    done
    expected_in_log='XX000 ERROR:  index returned tuples in wrong order'
    echo "damage: $damaged_errors errors, $damaged_fine statements without one"
}

# damaged N CHECKSUMS: what can be done with a damaged index ends well, or in an error that says so; REINDEX mends it.
damaged_errors=0 damaged_fine=0
damaged() {
    local n=$1 state seen bad=''
    {
        echo '\set VERBOSITY sqlstate'
        echo "SET statement_timeout = '20s'; SET enable_seqscan = off; SET search_path = w, public;"
        q -c "SELECT fuzz.damage_script($n, '$2')"
    } >"$server/damaged.sql"
    "$bindir/psql" -X -qAt -U eve -f "$server/damaged.sql" >"$server/damaged.out" 2>&1 || true
    seen=$(sed -n '/^<mended>/,$p' "$server/damaged.out")
    if ! grep -q '^<mended>' <<<"$seen" || grep -qE 'ERROR|WARNING|server' <<<"$seen"; then bad=$seen; fi
    while IFS= read -r state; do
        case $state in
            # What the metapage says of versions and sketches may be what was changed.
            *'ERROR:  XX001' | *'ERROR:  XX002' | *'ERROR:  0A000' | *'ERROR:  22023') damaged_errors=$((damaged_errors + 1)) ;;
            # Of those there is only the server's own about the order of a distance that is less than the index says; see finish.
            *'ERROR:  XX000') damaged_errors=$((damaged_errors + 1)) ;;
            *) bad+=$'\n'$(grep -B1 -F "$state" "$server/damaged.out" | head -n 4) ;;
        esac
    done < <(sed '/^<mended>/,$d' "$server/damaged.out" | grep -E 'ERROR|FATAL|PANIC|server closed|connection' || true)
    damaged_fine=$((damaged_fine + $(grep -c '^<' "$server/damaged.out")))
    if [[ -z $bad ]]; then
        passed
    else
        failed "damage, seed $seed, index $n, checksums $2: $(cat "$server/damage$n")" "$bad"
        comes_back
    fi
}

while true; do
    for part in $parts; do
        began=$SECONDS
        "$part"
        echo "$part, seed $seed: $((SECONDS - began)) s"
    done
    rounds=$((rounds - 1)) seed=$((seed + 1))
    if [[ $SECONDS -ge ${NEARDUP_FUZZ_SECONDS:-0} && $rounds -le 0 ]]; then break; fi
done
finish
