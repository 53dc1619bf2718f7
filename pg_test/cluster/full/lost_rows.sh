#!/usr/bin/env bash
# No row is lost, and no write fails or waits: writers of all kinds that commit late, refreshes in batches beside them, and
# whatever can be done to a table meanwhile. After each round, and one refresh, a job has what a join of the table gives.
# NEARDUP_SEED says what is done in which order, NEARDUP_ROUNDS how many rounds there are (by default one of each kind), and
# NEARDUP_KINDS of which kinds; NEARDUP_VERBOSE tells of each.
# shellcheck disable=SC2154 # server, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'autovacuum = off
max_connections = 60'
RANDOM=${NEARDUP_SEED:-13}
export PGOPTIONS='-c client_min_messages=error'
# Rows are a writer's by their ids modulo 4; those of the last one are changed by what is done to the table.
writers=3 classes=4

# Texts that differ in case are equal to this collation, where the server was built with ICU.
if ! q -c "CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)" 2>/dev/null; then
    echo 'skipped: case-insensitive collations, which this PostgreSQL does not have'
    q -c "CREATE COLLATION ci (provider = libc, locale = 'C')"
fi
q <<'SQL'
CREATE EXTENSION neardup;
CREATE ROLE other LOGIN;
-- A text of few words, many of them alike, in upper and lower case.
CREATE FUNCTION a_text(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN n % 37 = 0 THEN NULL WHEN n % 31 = 0 THEN '' ELSE (
        SELECT string_agg(CASE WHEN n % 4 = 0 THEN upper(w) ELSE w END, ' ')
        FROM (SELECT chr(97 + hashint4(n / 3 * 100 + j) % 6 + 6) || CASE WHEN j = n % 5 THEN 'x' ELSE '' END AS w FROM generate_series(1, 3 + n % 9) j) t) END
$$;
-- What a job has that a full computation does not, and the other way round: pairs, clusters, known rows, rows that wait.
CREATE FUNCTION wrong(docs regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    j neardup_all_jobs;
    arguments text;
    wrong bigint[];
BEGIN
    SELECT * INTO STRICT j FROM neardup_all_jobs a WHERE a.docs = wrong.docs;
    SELECT format('%L, %s, %s, id_column => %L, text_column => %L, method => %L, site_column => %L, options => %L', docs, j.settings->>'threshold',
        CASE WHEN i.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype) THEN 'NULL::bigint' ELSE format('NULL::%s', i.atttypid::regtype) END, i.attname, t.attname,
        j.settings->>'method', s.attname, coalesce(j.settings->>'options', '{}'))
    INTO STRICT arguments
    FROM pg_attribute i JOIN pg_attribute t ON i.attrelid = docs AND t.attrelid = docs AND i.attnum = (j.settings#>>'{columns,id}')::int AND t.attnum = (j.settings#>>'{columns,text}')::int
        LEFT JOIN pg_attribute s ON s.attrelid = docs AND s.attnum = (j.settings#>>'{columns,site}')::int;
    EXECUTE format('SELECT ARRAY[
        (SELECT count(*) FROM ((TABLE %1$s EXCEPT SELECT * FROM near_duplicates(%2$s)) UNION ALL
            (SELECT * FROM near_duplicates(%2$s) EXCEPT TABLE %1$s)) d),
        (SELECT count(*) FROM ((TABLE %3$s EXCEPT SELECT cluster_id, id, representative FROM near_duplicate_clusters(%2$s)) UNION ALL
            (SELECT cluster_id, id, representative FROM near_duplicate_clusters(%2$s) EXCEPT TABLE %3$s)) d),
        (SELECT count(*) FROM ((SELECT id::text COLLATE "C" FROM %4$s WHERE change IS NULL EXCEPT SELECT %6$I::text COLLATE "C" FROM %5$s) UNION ALL
            (SELECT %6$I::text COLLATE "C" FROM %5$s EXCEPT SELECT id::text COLLATE "C" FROM %4$s WHERE change IS NULL)) d),
        (SELECT count(*) FROM %4$s WHERE change IS NOT NULL)]',
        j.pairs, arguments, j.clusters, j.state, docs,
        (SELECT attname FROM pg_attribute WHERE attrelid = docs AND attnum = (j.settings#>>'{columns,id}')::int)) INTO wrong;
    RETURN array_to_string(wrong, ' ');
END
$$;
SQL

# The table, and how it is called just now: docs, its columns, and the type of its ids.
docs=docs id=id body=body type=int
new_table() {
    q -c "DROP TABLE IF EXISTS $docs"
    docs=docs id=id body=body type=int
    q <<'SQL'
DROP TABLE IF EXISTS owners CASCADE;
CREATE TABLE owners (owner int PRIMARY KEY);
INSERT INTO owners SELECT i FROM generate_series(0, 29) i;
CREATE TABLE docs (id int PRIMARY KEY, body text COLLATE ci, site text COLLATE ci, counter int DEFAULT 0,
    owner int DEFAULT 0 REFERENCES owners ON UPDATE CASCADE ON DELETE CASCADE);
INSERT INTO docs SELECT i, a_text(i * 7 % 400), 'site' || i % 3, 0, i % 30 FROM generate_series(1, 240) i;
SELECT neardup_watch('docs', 0.7, id_column => 'id', text_column => 'body');
SQL
}

# a_write WRITER: one statement or more on rows that are this writer's, so that none waits for another.
a_write() {
    local w=$1 n=$RANDOM key="$id::int" mine
    mine="$key % $classes = $w"
    local some="$mine AND hashint4($key + $n) % 7 = 0"
    case $((RANDOM % 16)) in
        0) echo "INSERT INTO $docs ($id, $body, owner) SELECT i::$type, a_text(i + $n), $w FROM generate_series(1000 + $w, 1200, $classes * 5) i ON CONFLICT DO NOTHING;" ;;
        1) echo "INSERT INTO $docs ($id, $body, owner) SELECT i::$type, a_text($n % 300 + i), $w FROM generate_series($w, 300, $classes * 9) i ON CONFLICT ($id) DO UPDATE SET $body = excluded.$body;" ;;
        2) echo "UPDATE $docs SET $body = a_text($n % 400) WHERE $some;" ;;
        3) echo "UPDATE $docs SET $body = upper($body) WHERE $some;" ;;
        4) echo "UPDATE $docs SET $body = lower($body) WHERE $some;" ;;
        5) echo "DELETE FROM $docs WHERE $some;" ;;
        6) echo "UPDATE $docs SET counter = counter + 1 WHERE $mine;" ;;
        7) echo "UPDATE $docs SET $id = ($key + $classes * 1000 * $((n + 1)))::$type WHERE $some AND $key < 1000;" ;;
        8) echo "MERGE INTO $docs d USING (SELECT i::$type AS i FROM generate_series($w, 330, $classes * 7) i) s ON d.$id = s.i
                WHEN MATCHED AND d.counter % 3 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET $body = a_text($n % 300), counter = counter + 1
                WHEN NOT MATCHED THEN INSERT ($id, $body, owner) VALUES (s.i, a_text($n % 400), $w);" ;;
        9) echo "COPY $docs ($id, $body, owner) FROM stdin;"
            for k in 1 2 3; do printf '%s\tcopied words of %s and %s\t%s\n' $((20000 + (n * 10 + k) * writers + w)) $((n % 5)) $k "$w"; done
            echo '\.' ;;
        10) echo "WITH gone AS (DELETE FROM $docs WHERE $some RETURNING $id, $body, owner), more AS (INSERT INTO $docs ($id, $body, owner) SELECT ($id::int + $classes * 40000)::$type, $body || ' x', owner FROM gone ON CONFLICT DO NOTHING)
                UPDATE $docs SET $body = a_text($n % 300) WHERE $mine AND hashint4($key + $n) % 7 = 1;" ;;
        11) echo "SAVEPOINT one; UPDATE $docs SET $body = 'never' WHERE $mine; ROLLBACK TO one; UPDATE $docs SET $body = a_text($n % 200) WHERE $some; RELEASE one;" ;;
        12) echo "INSERT INTO owners VALUES ($((100 + w + n * writers))) ON CONFLICT DO NOTHING; INSERT INTO $docs ($id, $body, owner) SELECT i::$type, a_text($n % 400), $((100 + w + n * writers)) FROM generate_series($((100000 + w + n * writers)), $((100000 + w + n * writers)) + $classes * 4, $classes) i ON CONFLICT DO NOTHING;
                $( ((n % 2)) && echo "DELETE FROM owners WHERE owner = $((100 + w + n * writers));")" ;;
        13) echo "DO \$\$BEGIN BEGIN DELETE FROM $docs WHERE $mine; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN UPDATE $docs SET $body = $body || ' y' WHERE $some; END; END\$\$;" ;;
        14) echo "PREPARE p AS UPDATE $docs SET $body = a_text($n % 400) WHERE $id = \$1::$type; EXECUTE p(($w)::text::$type); EXECUTE p(($w + $classes)::text::$type); DEALLOCATE p;" ;;
        15) echo "SET session_replication_role = replica; UPDATE $docs SET $body = a_text($n % 300) WHERE $some; RESET session_replication_role;" ;;
    esac
}
# A writer's transactions, some of which commit late, or not at all, or see the past.
a_writer() {
    local w=$1 t k
    for t in 1 2 3; do
        case $((RANDOM % 4)) in
            0) echo 'BEGIN ISOLATION LEVEL REPEATABLE READ;' ;;
            *) echo 'BEGIN;' ;;
        esac
        # The order in which locks are taken is the same for all.
        echo "LOCK TABLE $docs IN ROW EXCLUSIVE MODE;"
        for ((k = RANDOM % 3; k >= 0; k--)); do a_write "$w"; done
        case $((RANDOM % 4)) in
            0) echo "SELECT pg_sleep(0.0$((RANDOM % 9)));" ;;
            1) echo "SELECT pg_sleep(0.2);" ;;
        esac
        if ((RANDOM % 6)); then echo 'COMMIT;'; else echo 'ROLLBACK;'; fi
    done
}

# burst FILES: runs such transactions in the background; their errors are in errors.N.
begin_writers() {
    local w
    running=()
    for ((w = 0; w < writers; w++)); do
        a_writer $w >"$server/writer.$w.sql"
        psql -X -qAt -f "$server/writer.$w.sql" >"$server/writer.$w.out" 2>&1 &
        running+=($!)
    done
}
end_writers() {
    wait "${running[@]}" || true
    local w errors
    for ((w = 0; w < writers; w++)); do
        errors=$(grep -E 'ERROR|FATAL' "$server/writer.$w.out" | head -n 3) || true
        if [[ -n $errors ]]; then failed "a write failed: $round" "$errors"; else passed; fi
    done
}
refreshing=
# Refreshes in small batches until told to stop; what they answer is in refreshes. It may be that they are refused where a
# round says so.
begin_refreshes() {
    rm -f "$server/stop"
    # By number: whatever the table is called by then.
    local oid
    oid=$(q -c "SELECT '$docs'::regclass::oid")
    while [[ ! -e $server/stop ]]; do
        psql -X -qAt -v VERBOSITY=verbose -c "CALL neardup_refresh($oid::regclass, batch_rows => $((1 + RANDOM % 60)))" || true
    done >"$server/refreshes" 2>&1 &
    refreshing=$!
}
end_refreshes() {
    touch "$server/stop"
    wait "$refreshing" || true
    refreshing=
    local errors
    errors=$(grep -E 'ERROR|FATAL' "$server/refreshes" | grep -vE "${1:-^$}" | sort | uniq -c | head -n 3) || true
    expect "refreshes beside it: $round" '' "$errors"
}
do_sql() {
    local seen
    seen=$(q 2>&1 <<<"$1") || true
    expect "what is done to the table: $round" '' "$(grep -v '^$' <<<"$seen" || true)"
}
write_now() { # as do_sql, of the last writer
    # Not in a subshell, where random numbers begin anew.
    a_write "$writers" >"$server/write.sql"
    do_sql "BEGIN; $(cat "$server/write.sql")
COMMIT"
}
# One that is not skipped because of those beside it.
refresh() {
    local seen
    while seen=$(q -c "CALL neardup_refresh('$docs', batch_rows => $((20 + RANDOM % 400)))" 2>&1) && [[ $seen == skipped ]]; do :; done
    echo "$seen"
}
refresh_now() {
    if ((RANDOM % 2)); then expect "a refresh in between: $round" done "$(refresh)"; fi
}
check_now() {
    expect "all is right: $round" $'done\n0 0 0 0' "$(refresh; q -c "SELECT wrong('$docs')" 2>&1)"
}
new_parent() { echo "CREATE TABLE parent (LIKE $docs) PARTITION BY RANGE ($id); CREATE TABLE far PARTITION OF parent FOR VALUES FROM ('999999990') TO (MAXVALUE); "; }
# Rounds: what is done, with writers beside it where names stay what they are.
beside() { # SQL…: each a transaction, among writers and refreshes
    begin_writers
    for sql in "$@"; do do_sql "$sql"; done
    end_writers
}
round_plain() { beside ''; }
round_attach() {
    local base=$((500000 + n * 1000))
    do_sql "$(new_parent)"
    begin_writers
    do_sql "ALTER TABLE parent ATTACH PARTITION $docs FOR VALUES FROM (MINVALUE) TO ('999999990')"
    do_sql "INSERT INTO parent ($id, $body) SELECT i, a_text(i) FROM generate_series($((base + 3)), $((base + 200)), 4) i; UPDATE parent SET $body = a_text(3) WHERE $id = $((base + 3)); DELETE FROM parent WHERE $id = $((base + 7))"
    refresh_now
    do_sql "INSERT INTO parent ($id, $body) SELECT i, a_text(i) FROM generate_series($((base + 303)), $((base + 360)), 4) i; UPDATE parent SET $body = a_text(3) WHERE $id = $((base + 11)); DELETE FROM parent WHERE $id = $((base + 15));
        INSERT INTO far ($id, $body) VALUES (999999991, 'far away'); UPDATE parent SET $id = $((base + 403)) WHERE $id = 999999991; UPDATE parent SET $id = 999999992 WHERE $id = $((base + 19))"
    end_writers
    if ((RANDOM % 2)); then do_sql "ALTER TABLE parent DETACH PARTITION $docs"; else do_sql "ALTER TABLE parent DETACH PARTITION $docs CONCURRENTLY"; fi
    # Which leaves what it proved.
    local check left
    mapfile -t left < <(q -c "SELECT quote_ident(conname) FROM pg_constraint WHERE conrelid = '$docs'::regclass AND contype = 'c'")
    for check in "${left[@]}"; do do_sql "ALTER TABLE $docs DROP CONSTRAINT $check"; done
    do_sql 'DROP TABLE parent'
}
round_attach_quickly() {
    do_sql "$(new_parent)"
    do_sql "ALTER TABLE parent ATTACH PARTITION $docs FOR VALUES FROM (MINVALUE) TO ('999999990'); INSERT INTO parent ($id, $body) SELECT i, a_text(i % 100) FROM generate_series(510003, 510083, 4) i ON CONFLICT DO NOTHING; DELETE FROM parent WHERE $id < 40 AND $id % 4 = 3; ALTER TABLE parent DETACH PARTITION $docs; DROP TABLE parent"
    begin_writers
    end_writers
}
round_inherit() {
    do_sql "CREATE TABLE up ($id int, $body text COLLATE ci)"
    beside "ALTER TABLE $docs INHERIT up" "UPDATE up SET $body = a_text($RANDOM % 300) WHERE $id % 12 = 3" "DELETE FROM up WHERE $id % 20 = 7"
    refresh_now
    do_sql "UPDATE up SET $body = a_text($RANDOM % 300) WHERE $id % 12 = 7; ALTER TABLE $docs NO INHERIT up; DROP TABLE up"
}
round_inherit_quickly() {
    do_sql "CREATE TABLE up ($id int); BEGIN; ALTER TABLE $docs INHERIT up; DELETE FROM up WHERE $id % 28 = 3; ALTER TABLE $docs NO INHERIT up; COMMIT; DROP TABLE up"
}
round_child() {
    local base=$((2000000 + n * 1000))
    do_sql "CREATE TABLE kid (LIKE $docs INCLUDING DEFAULTS); INSERT INTO kid ($id, $body) SELECT i, a_text(i % 200) FROM generate_series($((base + 3)), $((base + 103)), 4) i"
    beside "ALTER TABLE kid INHERIT $docs" "INSERT INTO kid ($id, $body) SELECT i, a_text(i % 200) FROM generate_series($((base + 203)), $((base + 240)), 4) i" "UPDATE kid SET $body = a_text(7) WHERE $id = $((base + 203)); DELETE FROM kid WHERE $id = $((base + 207))"
    refresh_now
    do_sql "INSERT INTO kid ($id, $body) SELECT i, a_text(i % 200) FROM generate_series($((base + 303)), $((base + 320)), 4) i; DELETE FROM $docs WHERE $id = $((base + 211))"
    if ((RANDOM % 2)); then check_now; fi
    do_sql "ALTER TABLE kid NO INHERIT $docs; DROP TABLE kid"
}
round_rename_body() {
    do_sql "ALTER TABLE $docs RENAME $body TO ${body}_2"
    body=${body}_2
    write_now
    begin_writers
    end_writers
}
round_rename_id() {
    do_sql "ALTER TABLE $docs RENAME $id TO \"the $n id\""
    id="\"the $n id\""
    write_now
    begin_writers
    end_writers
}
round_swap_names() {
    do_sql "BEGIN; ALTER TABLE $docs RENAME $body TO t; ALTER TABLE $docs RENAME site TO $body; ALTER TABLE $docs RENAME t TO site; COMMIT; UPDATE $docs SET site = a_text(9) WHERE $id::int % 10 = 3; UPDATE $docs SET $body = 'no text of the job'"
    do_sql "BEGIN; ALTER TABLE $docs RENAME $body TO t; ALTER TABLE $docs RENAME site TO $body; ALTER TABLE $docs RENAME t TO site; COMMIT"
}
round_rename_table() {
    do_sql "ALTER TABLE $docs RENAME TO docs_$n"
    docs=docs_$n
    begin_writers
    end_writers
}
round_schema() {
    do_sql "CREATE SCHEMA s$n; ALTER TABLE $docs SET SCHEMA s$n"
    docs=s$n.$docs
    write_now
    refresh_now
    do_sql "ALTER TABLE $docs SET SCHEMA public"
    docs=${docs#*.}
}
retype() { # TYPE
    do_sql "ALTER TABLE $docs ALTER $id TYPE $1 USING $id::$1"
    type=$1
    write_now
    begin_writers
    end_writers
    check_now
}
round_widen() {
    retype bigint
    retype text
    retype int
}
round_ids_of_text() {
    retype text
    do_sql "ALTER TABLE $docs ALTER $id TYPE text COLLATE ci"
    do_sql "INSERT INTO $docs ($id, $body) SELECT '-' || i, a_text(i) FROM generate_series(1, 20) i ON CONFLICT DO NOTHING"
    do_sql "INSERT INTO $docs ($id, $body) VALUES ('0x' || repeat('a', 5), a_text(5))"
    refresh_now
    do_sql "UPDATE $docs SET $id = upper($id) WHERE $id = '0xaaaaa'"
    check_now
    do_sql "UPDATE $docs SET $id = repeat('b', 2300) WHERE $id = '0xaaaaa'; DELETE FROM $docs WHERE length($id) > 2000"
    retype int
}
round_owner() {
    do_sql "ALTER TABLE $docs OWNER TO other"
    begin_writers
    end_writers
    expect_error "a refresh of another owner: $round" 55000 'OWNER TO other' "CALL neardup_refresh('$docs')"
    do_sql "ALTER TABLE $docs OWNER TO postgres"
}
round_owner_of_all() {
    local table
    do_sql "GRANT ALL ON SCHEMA public TO other; ALTER TABLE $docs OWNER TO other"
    for table in $(q -c "SELECT unnest(ARRAY[pairs, clusters, state, lists]) FROM neardup_all_jobs WHERE docs = '$docs'::regclass"); do do_sql "ALTER TABLE $table OWNER TO other"; done
    begin_writers
    end_writers
    check_now
    do_sql "ALTER TABLE $docs OWNER TO postgres"
    for table in $(q -c "SELECT unnest(ARRAY[pairs, clusters, state, lists]) FROM neardup_all_jobs WHERE docs = '$docs'::regclass"); do do_sql "ALTER TABLE $table OWNER TO postgres"; done
}
round_columns() { beside "ALTER TABLE $docs ADD COLUMN more text DEFAULT 'x'" "ALTER TABLE $docs DROP COLUMN more" "ALTER TABLE $docs ADD COLUMN more int"  "ALTER TABLE $docs DROP COLUMN more"; }
round_drop_body() {
    do_sql "ALTER TABLE $docs ADD COLUMN fresh text COLLATE ci; UPDATE $docs SET fresh = $body; ALTER TABLE $docs DROP COLUMN $body; ALTER TABLE $docs RENAME fresh TO $body"
    begin_writers
    end_writers
    expect_error "a column that is gone: $round" 55000 'a column of the job of .* is gone' "CALL neardup_refresh('$docs')"
    do_sql "SELECT neardup_unwatch('$docs'); $(watch_again)"
}
round_triggers() {
    do_sql "ALTER TABLE $docs DISABLE TRIGGER USER"
    write_now
    refresh_now
    write_now
    do_sql "ALTER TABLE $docs ENABLE TRIGGER USER"
    write_now
    refresh_now
    # Enabled for ordinary sessions only.
    do_sql "SET session_replication_role = replica; UPDATE $docs SET $body = a_text($RANDOM % 100) WHERE $id::int % 8 = 0; DELETE FROM $docs WHERE $id::int % 17 = 1"
    check_now
    for event in insert update delete; do do_sql "ALTER TABLE $docs ENABLE ALWAYS TRIGGER neardup_$event"; done
    do_sql "SET session_replication_role = replica; UPDATE $docs SET $body = a_text($RANDOM % 100) WHERE $id::int % 8 = 1"
}
round_trigger_gone() {
    do_sql "DROP TRIGGER neardup_update ON $docs"
    begin_writers
    end_writers
    check_now
    do_sql "SELECT neardup_unwatch('$docs'); $(watch_again)"
}
round_using() { beside "ALTER TABLE $docs ALTER $body TYPE text COLLATE ci USING $( ((RANDOM % 2)) && echo lower || echo upper)($body)"; }
round_collation() { beside "ALTER TABLE $docs ALTER $body TYPE text COLLATE \"C\"" "UPDATE $docs SET counter = 0 WHERE false" "ALTER TABLE $docs ALTER $body TYPE text COLLATE ci"; }
round_rewrite() { beside "VACUUM FULL $docs" "CREATE INDEX by_$n ON $docs (counter)" "CLUSTER $docs USING by_$n" "DROP INDEX by_$n" "CREATE INDEX CONCURRENTLY by_$n ON $docs (counter)" "DROP INDEX by_$n" "ANALYZE $docs" "REINDEX TABLE $docs"; }
round_logged() {
    do_sql "ALTER TABLE $docs SET UNLOGGED"
    begin_writers
    end_writers
    refresh_now
    do_sql "ALTER TABLE $docs SET LOGGED"
}
round_truncate() { beside "BEGIN; TRUNCATE $docs; INSERT INTO $docs ($id, $body, owner) SELECT i::$type, a_text(i * 7 % 400), i % 30 FROM generate_series(1, 200) i; COMMIT"; }
# past BESIDE SQL: in a transaction that sees what was there before something was done beside it.
past() {
    echo "$1" >"$server/beside.sql"
    do_sql "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1 \\g /dev/null
\\! psql -X -qAt -f '$server/beside.sql' >/dev/null
$2
COMMIT"
}
watch_again() { echo "SELECT neardup_watch('$docs', 0.7, id_column => \$\$${id//\"/}\$\$, text_column => '$body');"; }
round_truncate_past() {
    # What a refresh knows is not yet there for a transaction that sees the past.
    refresh >/dev/null
    past "INSERT INTO $docs ($id, $body) VALUES (700000, 'one two three'), (700001, 'one two three'); CALL neardup_refresh('$docs');" \
        "TRUNCATE $docs; INSERT INTO $docs ($id, $body) VALUES (700002, 'one two three');"
}
round_watch_past() {
    # Nor is a job that began after it.
    do_sql "SELECT neardup_unwatch('$docs')"
    past "$(watch_again) CALL neardup_refresh('$docs');" "INSERT INTO $docs ($id, $body) SELECT i::$type, a_text(i % 50) FROM generate_series(710000, 710020) i;"
}
round_job_tables() {
    local state
    # Where rows cannot be put into it, or it is not as it was made, a refresh says so.
    allowed='23514: new row for relation|55000: .* is not as the job of .* made it'
    state=$(q -c "SELECT state FROM neardup_all_jobs WHERE docs = '$docs'::regclass")
    beside "VACUUM FULL $state" "ALTER TABLE $state ADD COLUMN more int" "REINDEX TABLE $state" "ALTER TABLE $state DROP COLUMN more"
    do_sql "ALTER TABLE $state ADD CHECK (id IS NULL) NOT VALID"
    begin_writers
    end_writers
    do_sql "ALTER TABLE $state DROP CONSTRAINT $(q -c "SELECT conname FROM pg_constraint WHERE conrelid = '$state'::regclass AND contype = 'c'")"
    # Who has it for himself does not make writers wait.
    echo "SET lock_timeout = '10s'; UPDATE $docs SET $body = a_text(77) WHERE $id::int % 9 = 2; DELETE FROM $docs WHERE $id::int % 19 = 2;" >"$server/beside.sql"
    do_sql "BEGIN; LOCK TABLE $state IN ACCESS EXCLUSIVE MODE;
\\! psql -X -qAt -f '$server/beside.sql'
COMMIT"
}
round_recreate() {
    do_sql "DROP TABLE $docs"
    new_table
}
round_site() {
    # With the columns of ids, texts and sites under a collation that does not tell case.
    q >/dev/null <<'SQL'
DROP TABLE IF EXISTS sites;
CREATE TABLE sites (id text COLLATE ci PRIMARY KEY, body text COLLATE ci, site text COLLATE ci);
INSERT INTO sites SELECT 'row' || i, a_text(i * 7 % 200), 'site' || i % 3 FROM generate_series(1, 60) i;
SELECT neardup_watch('sites', NULL, '{"techniques": ["exact_text"], "same_site": "none"}', method => 'combined', text_column => 'body', site_column => 'site');
CALL neardup_refresh('sites');
UPDATE sites SET id = upper(id) WHERE id LIKE '%1' COLLATE "C";
UPDATE sites SET site = upper(site) WHERE id LIKE '%2' COLLATE "C";
UPDATE sites SET body = upper(body) WHERE id LIKE '%3' COLLATE "C";
CALL neardup_refresh('sites');
SQL
    expect_sql "collations: $round" t "SELECT count(*) = (SELECT count(*) FROM sites) FROM sites s JOIN sites_neardup n ON n.id COLLATE \"C\" = s.id COLLATE \"C\"
        AND n.hash = neardup_internal.neardup_job_hash(concat(s.body, E'\\x01', 'v' || s.site)) AND n.change IS NULL"
}
# A refresh that stops in the middle, as long as there is a row in stop.
q -c 'CREATE TABLE stop (x int)' -c "CREATE FUNCTION stop_and_wait() RETURNS trigger LANGUAGE plpgsql AS \$\$
    BEGIN WHILE EXISTS (SELECT FROM public.stop) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END\$\$"
new_table
for stop in first later retyped; do
    round="a refresh that is stopped, $stop"
    q -c 'DELETE FROM stop'
    case $stop in
        later) for _ in 1 2 3; do write_now; done ;;
        retyped)
            # It has the tables for itself.
            do_sql "ALTER TABLE $docs ALTER $id TYPE bigint"
            type=bigint
            ;;
    esac
    do_sql "CREATE TRIGGER stop_and_wait AFTER INSERT ON docs_pairs EXECUTE FUNCTION stop_and_wait(); INSERT INTO stop VALUES (1); UPDATE $docs SET $body = a_text($id::int * 7 % 300)"
    psql -X -qAt -c "CALL neardup_refresh('$docs', batch_rows => 100)" >"$server/stopped" 2>&1 &
    stopped=$!
    until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'CALL%'") == 1 ]]; do :; done
    for _ in {1..40}; do
        echo 'BEGIN;'
        a_write $((RANDOM % classes))
        echo 'COMMIT;'
    done >"$server/writes.sql"
    expect "writes wait for nothing: $round" '' "$(PGOPTIONS='-c lock_timeout=10s -c client_min_messages=error' psql -X -qAt -f "$server/writes.sql" 2>&1 | head -n 5)"
    # Between two naps it is awake for a moment, and for longer where processors are few.
    expect "which is still at it: $round" 1 "$(q -c "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL%'")"
    q -c 'DELETE FROM stop'
    wait "$stopped" || true
    expect "and goes on: $round" done "$(cat "$server/stopped")"
    q -c 'DROP TRIGGER stop_and_wait ON docs_pairs'
    check_now
done

# Each kind once, in any order, and again.
mapfile -t kinds < <(declare -F | sed -n 's/^declare -f round_//p')
read -ra kinds <<<"${NEARDUP_KINDS:-${kinds[*]}}"
rounds=${NEARDUP_ROUNDS:-${#kinds[@]}} order=()
while ((${#order[@]} < rounds)); do
    left=("${kinds[@]}")
    while ((${#left[@]})); do
        place=$((RANDOM % ${#left[@]}))
        order+=("${left[place]}")
        left=("${left[@]:0:place}" "${left[@]:place + 1}")
    done
done
new_table
n=0
for kind in "${order[@]:0:rounds}"; do
    n=$((n + 1)) round="round $n, $kind"
    began=$SECONDS
    allowed=
    case $kind in
        # Refreshes beside it are refused, or the table is another one.
        owner | owner_of_all | drop_body | recreate | watch_past | truncate_past | schema | trigger_gone) "round_$kind" ;;
        *)
            begin_refreshes
            "round_$kind"
            end_refreshes "$allowed"
            ;;
    esac
    check_now
    if [[ -n ${NEARDUP_VERBOSE:-} ]]; then echo "$round: $((SECONDS - began)) s, $failures failures"; fi
done
expect 'no deadlock' '' "$(grep -nE '\] 40P01 ' "$server/log" | head -n 5)"
finish
