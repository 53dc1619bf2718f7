#!/usr/bin/env bash
# Stops the server at once, at random moments of a build, inserts, a flush, a merge, VACUUM and REINDEX CONCURRENTLY; after
# the restart every index must be in order, and searches must give what sequential scans give. Then unlogged tables,
# a base backup, a dump, and bytes that a disk has changed. NEARDUP_INDEX_CRASHES makes it longer.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "wal_consistency_checking = 'generic'
autovacuum = off
max_wal_size = 4GB
max_wal_senders = 4"

q -f "$project/pg_test/index/compare.sql" >/dev/null
q <<'SQL'
SELECT setseed(0.1);
SELECT add_docs(3000);
-- A table of its own for the builds.
CREATE TABLE built AS SELECT * FROM docs, generate_series(1, 2);
-- One that is empty when its index is made.
CREATE TABLE refilled (body text);
CREATE INDEX refilled_text ON refilled USING signature (body) WITH (pending_limit = 64);
SQL

# crash NAME SQL…: runs the statements, and stops the server somewhere in between.
crash() {
    local name=$1 moment
    shift
    { printf '%s;\n' "$@" | q -o /dev/null >/dev/null 2>&1 || true; } &
    moment=$((RANDOM % 60))
    sleep "0.$(printf %02d "$moment")"
    as_server "$bindir/pg_ctl" -D "$server/data" -m immediate -w stop >/dev/null
    wait
    server_up
    expect_sql "$name, stopped after 0.$(printf %02d "$moment") s" $'\nt' 'SELECT check_all(); SELECT answers_agree()'
}

for n in $(seq "${NEARDUP_INDEX_CRASHES:-2}"); do
    # From the second time on with group columns.
    if ((n == 2)); then q -f "$project/pg_test/index/groups.sql" -c 'SELECT regroup(0)' >/dev/null; fi
    crash build 'CREATE INDEX built_text ON built USING signature (body)' 'CREATE INDEX built_numbers ON built USING signature (numbers)'
    q -c 'DROP INDEX IF EXISTS built_text, built_numbers' 2>/dev/null
    # Where the first flush takes the order of tokens.
    q -c 'TRUNCATE refilled'
    crash 'first flush' 'INSERT INTO refilled SELECT body FROM docs' 'INSERT INTO refilled SELECT body FROM docs' "SELECT signature_index_merge('refilled_text')"
    expect_sql 'in order after a first flush' '' "SELECT signature_index_check('refilled_text', true)"
    crash 'insert and flush' 'SELECT add_docs(400) FROM generate_series(1, 20)'
    crash 'single inserts' 'SELECT add_docs(1)' 'SELECT add_docs(2)' 'SELECT add_docs(3)' 'SELECT add_docs(500)' 'SELECT add_docs(2000)'
    crash vacuum 'SELECT drop_docs(600)' 'VACUUM docs' 'SELECT drop_docs(600)' 'VACUUM docs'
    q -c 'SELECT add_docs(2500)' >/dev/null
    crash merge "SELECT signature_index_merge('by_text')" "SELECT signature_index_merge('by_words')" "SELECT signature_index_merge('by_minhash')" "SELECT signature_index_merge('by_numbers')"
    crash 'merge of grams' "SELECT signature_index_merge('by_grams')" 'SELECT add_docs(800)' "SELECT signature_index_merge('by_grams')"
    crash 'merge of runs' "SELECT signature_index_merge('by_runs')" 'SELECT add_docs(800)' "SELECT signature_index_merge('by_runs')"
    crash reindex 'REINDEX INDEX CONCURRENTLY by_text' 'REINDEX INDEX CONCURRENTLY by_grams' 'REINDEX INDEX CONCURRENTLY by_runs' 'REINDEX INDEX CONCURRENTLY by_numbers'
    # What REINDEX CONCURRENTLY leaves when it is stopped.
    q >/dev/null <<'SQL'
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE NOT indisvalid \gexec
VACUUM docs;
SELECT drop_docs(1500);
SQL
done
expect_sql 'after all crashes' $'\nt' 'SELECT check_all(); SELECT answers_agree()'

# Cancelled at random moments: soon, and with everything in order.
for statement in 'CREATE INDEX built_text ON built USING signature (body)' 'SELECT add_docs(3000)' 'VACUUM docs' \
    "SELECT signature_index_merge('by_text')" "SELECT signature_index_merge('by_numbers')" "SELECT signature_index_check('by_text', true)" \
    'REINDEX INDEX CONCURRENTLY by_minhash'; do
    for timeout in 5 20 60; do
        began=$(date +%s%N)
        q -c "SET statement_timeout = $timeout" -c "$statement" >/dev/null 2>&1 || true
        took=$((($(date +%s%N) - began) / 1000000))
        # A call that does nothing says how busy the machine is.
        began=$(date +%s%N)
        q -c 'SELECT 1' >/dev/null
        if ((took > timeout + 1500 + 50 * ($(date +%s%N) - began) / 1000000)); then failed "cancelled after $timeout ms: $statement" "$took ms"; fi
        q -c 'DROP INDEX IF EXISTS built_text' 2>/dev/null
    done
done
q >/dev/null <<'SQL'
SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE NOT indisvalid \gexec
SQL
expect_sql 'after cancelled statements' $'\nt' 'SELECT check_all(); SELECT answers_agree()'

# Pages are reused: an index whose table is replaced again and again does not grow for ever.
q -c "VACUUM docs" -c "SELECT signature_index_merge('by_text')" >/dev/null
before=$(q -c "SELECT pg_relation_size('by_text')")
for _ in 1 2 3 4 5 6; do
    q -c "UPDATE docs SET body = body || ' again'" -c 'VACUUM docs' >/dev/null
done
expect_sql 'pages are reused' t "SELECT pg_relation_size('by_text') < 4 * $before"

# Unlogged tables are empty after a crash, their indexes too, and work on.
q <<'SQL'
CREATE UNLOGGED TABLE fleeting (id int PRIMARY KEY, body text, numbers bigint[]);
CREATE INDEX fleeting_text ON fleeting USING signature (body);
CREATE INDEX fleeting_numbers ON fleeting USING signature (numbers) WITH (pending_limit = 64);
INSERT INTO fleeting SELECT id, body, numbers FROM docs;
SQL
as_server "$bindir/pg_ctl" -D "$server/data" -m immediate -w stop >/dev/null
server_up
expect_sql 'an unlogged index after a crash' '0|0' "SELECT rows, pending FROM signature_index_stats('fleeting_text')"
expect_sql 'an unlogged index works on' $'\n\nt' "INSERT INTO fleeting SELECT id, body, numbers FROM docs;
    SELECT signature_index_check('fleeting_text', true); SELECT signature_index_check('fleeting_numbers', true);
    SET enable_seqscan = off; SELECT count(*) > 0 FROM fleeting WHERE numbers && '{1,2}'"
q -c 'ALTER TABLE fleeting SET LOGGED'
as_server "$bindir/pg_ctl" -D "$server/data" -m immediate -w stop >/dev/null
server_up
expect_sql 'an index made logged after a crash' $'\n\nt' "SELECT signature_index_check('fleeting_text', true);
    SELECT signature_index_check('fleeting_numbers', true);
    SET enable_seqscan = off; SELECT count(*) > 0 FROM fleeting WHERE numbers && '{1,2}'"

# A base backup taken under load.
{ for _ in $(seq 20); do q -c 'SELECT add_docs(100)' -c 'VACUUM docs'; done >/dev/null 2>&1 || true; } &
load=$!
as_server "$bindir/pg_basebackup" -D "$server/backup" -h "$server" -U postgres -X stream -c fast
kill "$load" 2>/dev/null || true
wait "$load" 2>/dev/null || true
rm -f "$server/backup/postmaster.pid"
as_server sed -i "s|^unix_socket_directories.*|unix_socket_directories = '$server/backup'|" "$server/backup/postgresql.conf"
as_server "$bindir/pg_ctl" -D "$server/backup" -o '-p 5433' -w -l "$server/backup.log" start >/dev/null
expect_sql 'a base backup' $'\nt' 'SELECT check_all(); SELECT answers_agree()' -h "$server/backup" -p 5433
as_server "$bindir/pg_ctl" -D "$server/backup" -m fast -w stop >/dev/null

# Dump and restore keep storage parameters and operator classes.
q -c 'CREATE DATABASE restored' -c 'CREATE DATABASE plain'
pg_dump -Fc postgres >"$server/dump" && pg_restore -d restored "$server/dump"
definitions="SELECT string_agg(indexdef, '; ' ORDER BY indexname) FROM pg_indexes WHERE tablename = 'docs'"
expect 'a dump keeps the definitions' "$(q -c "$definitions")" "$(q -d restored -c "$definitions")"
expect_sql 'a restored dump' $'\nt' 'SET client_min_messages = warning; SELECT check_all(); SELECT answers_agree()' -d restored

# One bit of each kind of page of an index of sets: rows, the directory of lists, lists, the order of tokens. The check
# finds it.
q -o /dev/null <<'SQL'
CREATE TABLE hurt AS SELECT id, body FROM docs ORDER BY id LIMIT 900;
SELECT format('CREATE INDEX hurt_%s_%s ON hurt USING signature (body)', kind, n)
FROM unnest('{3,5,6,9}'::int[]) kind, generate_series(1, 4) n \gexec
CHECKPOINT;
SQL
mapfile -t hurt < <(q -c "SELECT relname, pg_relation_filepath(oid) FROM pg_class WHERE relname LIKE 'hurt\_%'")
server_down "$server"
for index in "${hurt[@]}"; do
    path=$server/data/${index#*|} kind=${index#hurt_} blocks=()
    for ((block = 0; block < $(stat -c %s "$path") / 8192; block++)); do
        # The kind is in the page's tail.
        if [[ $(od -An -tu1 -j $((block * 8192 + 8188)) -N 1 "$path") -eq ${kind%%_*} ]]; then blocks+=("$block"); fi
    done
    at=$((blocks[RANDOM % ${#blocks[@]}] * 8192))
    used=$(od -An -tu2 -j $((at + 12)) -N 2 "$path")
    at=$((at + 24 + RANDOM % (used - 24)))
    byte=$(od -An -tu1 -j $at -N 1 "$path")
    printf '%b' "\\x$(printf %02x $((byte ^ 1 << RANDOM % 8)))" | dd of="$path" bs=1 seek=$at conv=notrunc status=none
done
server_up
for index in "${hurt[@]}"; do
    index=${index%%|*}
    seen=$(q -v VERBOSITY=sqlstate -c "SELECT signature_index_check('$index', true)" 2>&1 || true)
    expect "a bit of $index is found" 'ERROR:  XX002' "${seen/XX001/XX002}"
done
q -c 'DROP TABLE hurt'

# Changed bytes: whatever they are, an error or the right answer, never a crash.
q -c 'CREATE TABLE whole AS SELECT * FROM docs' -c 'CREATE INDEX whole_text ON whole USING signature (body) WITH (pending_limit = 64)' \
    -c 'CREATE INDEX whole_numbers ON whole USING signature (numbers) WITH (pending_limit = 64)' \
    -c 'INSERT INTO whole SELECT * FROM docs LIMIT 700' -c CHECKPOINT
server_down "$server"
cp "$server/data/postgresql.conf" "$server/conf"
crashes=0 errors=0 fine=0
for file in whole_text whole_numbers; do
    server_up
    path=$server/data/$(q -c "SELECT pg_relation_filepath('$file')")
    server_down "$server"
    cp "$path" "$server/good"
    size=$(stat -c %s "$path")
    for _ in $(seq "${NEARDUP_INDEX_DAMAGES:-12}"); do
        cp "$server/good" "$path"
        for _ in 1 2 3 4 5 6; do
            # Behind the server's own page headers, which it checks itself.
            block=$((RANDOM % (size / 8192)))
            printf '%b' "\\x$(printf %02x $((RANDOM % 256)))" |
                dd of="$path" bs=1 seek=$((block * 8192 + 24 + (RANDOM * 4 + RANDOM % 4) % 8168)) conv=notrunc status=none
        done
        server_up
        for sql in "SELECT signature_index_check('$file', true)" "SELECT (signature_index_stats('$file')).rows" \
            "SET enable_seqscan = off; SELECT count(*) FROM whole WHERE body <@ near((SELECT max(body) FROM whole), 0.8)" \
            "SET enable_seqscan = off; SELECT count(*) FROM whole WHERE numbers && ARRAY(SELECT generate_series(-5, 400))::bigint[]" \
            'INSERT INTO whole (id, body, numbers) SELECT id, body, numbers FROM docs LIMIT 300' 'VACUUM whole'; do
            if seen=$(q -v VERBOSITY=verbose -c "$sql" 2>&1); then
                fine=$((fine + 1))
            elif grep -qE 'ERROR:  (XX002|XX001|0A000|53200)' <<<"$seen"; then
                errors=$((errors + 1))
            else
                crashes=$((crashes + 1))
                failed "damaged $file: $sql" "$seen"
                server_down "$server"
                break 2
            fi
        done
        server_down "$server"
    done
done
server_up
expect 'changed bytes give errors' t "$([[ $errors -gt 10 && $crashes -eq 0 ]] && echo t || echo "errors $errors, fine $fine, crashes $crashes")"
finish
