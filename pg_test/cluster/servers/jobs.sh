#!/usr/bin/env bash
# Jobs keep pairs and clusters equal to what a full computation gives: after any changes, in every way of noticing them,
# after kill -9 in the middle, from pg_cron, after dump and restore; as the owner of the table and nobody else.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
cron=$([[ -e $("$PG_CONFIG" --sharedir)/extension/pg_cron.control ]] && echo t || echo f)
server_start "autovacuum = off
restart_after_crash = on
$([[ $cron == f ]] || printf '%s\n' "shared_preload_libraries = 'pg_cron'" "cron.database_name = 'postgres'" \
    "cron.use_background_workers = on")"

q <<'SQL'
CREATE EXTENSION neardup;
-- What a job of TABLE has that a full computation does not, and the other way round.
CREATE FUNCTION wrong(docs text, join_call text, clusters_call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint[];
BEGIN
    EXECUTE format('SELECT ARRAY[
        (SELECT count(*) FROM ((TABLE %1$I EXCEPT SELECT * FROM near_duplicates(%2$s)) UNION ALL
            (SELECT * FROM near_duplicates(%2$s) EXCEPT TABLE %1$I)) d),
        (SELECT count(*) FROM ((TABLE %3$I EXCEPT SELECT cluster_id, id, representative FROM near_duplicate_clusters(%4$s)) UNION ALL
            (SELECT cluster_id, id, representative FROM near_duplicate_clusters(%4$s) EXCEPT TABLE %3$I)) d),
        (SELECT count(*) FROM ((SELECT id FROM %5$I WHERE change IS NULL EXCEPT SELECT id FROM %6$I) UNION ALL
            (SELECT id FROM %6$I EXCEPT SELECT id FROM %5$I WHERE change IS NULL)) d),
        (SELECT count(*) FROM %5$I WHERE change IS NOT NULL)]',
        docs || '_pairs', join_call, docs || '_clusters', clusters_call, docs || '_neardup', docs) INTO wrong;
    RETURN array_to_string(wrong, ' ');
END
$$;
-- A text of few words, many of them alike; now and then none, or nothing.
CREATE FUNCTION a_text(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN n % 37 = 0 THEN NULL WHEN n % 31 = 0 THEN '' ELSE (
        SELECT string_agg(chr(97 + hashint4(n / 3 * 100 + j) % 6 + 6) || CASE WHEN j = n % 5 THEN 'x' ELSE '' END, ' ')
        FROM generate_series(1, 3 + n % 9) j) END
$$;
SQL

# expect_script NAME EXPECTED SQL [psql's arguments]: as expect_sql, each statement a transaction of its own.
expect_script() {
    local seen
    seen=$(q "${@:4}" <<<"$3" 2>&1) || true
    expect "$1" "$2" "$seen"
}

# The group of a row: a few large ones, some of one row, and none.
group="CASE WHEN random() < 0.8 THEN (random() * 3)::int WHEN random() < 0.7 THEN (random() * 1000)::int END"
# Any changes, and a refresh now and then: equal to a full computation. watch ARGUMENTS, THRESHOLD AND ID TYPE, TABLE KIND.
random=0
random_job() { # id type, threshold, join arguments, further arguments of the clusters, of the watch, batch_rows, kind
    local type=$1 threshold=$2 join=$3 clusters=$4 watch=$5 batch=$6 kind=$7 rows=${8:-500} typed='' seen
    random=$((random + 1))
    if [[ $type != int && $type != bigint ]]; then typed=", NULL::$type"; fi
    local cast=$type
    case $type in
        uuid) id='md5(i::text)::uuid' ;;
        date) id="'2000-01-01'::date + i" ;;
        *) id="i::$type" ;;
    esac
    q -c "CREATE TABLE base$random (id $cast PRIMARY KEY, body text, other int)"
    local base=base$random docs=docs$random
    if [[ $kind == view ]]; then
        q -c "CREATE VIEW $docs AS SELECT id, body, other FROM $base"
    else
        q -c "ALTER TABLE $base RENAME TO $docs"
        base=$docs
    fi
    {
        echo "SET client_min_messages = error; SELECT setseed($random / 100.0);"
        echo "SELECT neardup_watch('$docs', $threshold, id_column => 'id', text_column => 'body' $join $clusters $watch);"
        for round in 1 2 3 4 5 6 7 8; do
            echo "INSERT INTO $base SELECT $id, a_text((random() * 400)::int), $group FROM generate_series($round * 40, $round * 40 + (random() * 30)::int) i;"
            case $round in
                # Far more rows than change later.
                1 | 6) echo "INSERT INTO $base SELECT $id, a_text((random() * 900)::int), $group FROM generate_series($round * 1000, $round * 1000 + $rows) i;" ;;
                2) echo "DELETE FROM $base WHERE random() < 0.1;" ;;
                3) echo "UPDATE $base SET other = other + 1;" "UPDATE $base SET other = $group WHERE random() < 0.05;" ;;
                4) echo "UPDATE $base SET body = a_text((random() * 400)::int) WHERE random() < 0.05; SET datestyle = 'german';" ;;
                5) if [[ $kind == table ]]; then echo "TRUNCATE $base;"; else echo "UPDATE $base SET body = lower(body || ' x') WHERE random() < 0.5;"; fi ;;
                7) echo "UPDATE $base SET body = lower(body || ' x') WHERE random() < 0.05; UPDATE $base SET other = $group WHERE random() < 0.05; SET neardup.memory = '1MB';" ;;
                8) echo "UPDATE $base b SET id = $id FROM generate_series(9000, 9010) i WHERE b.id IN (SELECT id FROM $base ORDER BY id LIMIT 1 OFFSET i - 8990);" ;;
            esac
            if ((round % 3)); then
                echo "CALL neardup_refresh('$docs', batch_rows => $batch);"
                echo "SELECT 'wrong', wrong('$docs', \$c\$'$docs', $threshold $typed, id_column => 'id', text_column => 'body' $join\$c\$,
                    \$c\$'$docs', $threshold $typed, id_column => 'id', text_column => 'body' $join $clusters\$c\$);"
            fi
        done
        # What was not changed is not looked at again.
        echo "CALL neardup_refresh('$docs'); CALL neardup_refresh('$docs');"
        echo "SELECT 'again', rows FROM neardup_history WHERE docs = '$docs'::regclass ORDER BY started DESC LIMIT 1;"
        echo "SELECT 'pairs', count(*) > 0 FROM ${docs}_pairs;"
    } >"$server/random.sql"
    seen=$(q -f "$server/random.sql" 2>&1 | grep -v '^done$' | grep . | sort | uniq -c | sed 's/^ *//') || true
    expect "job $random: $type $threshold $join $clusters $watch, batches of $batch, $kind" \
        $'1 again|0\n1 pairs|t\n6 wrong|0 0 0 0' "$seen"
}
random_job int 0.6 '' '' '' 100000 table
random_job int 0.6 '' ", clustering => 'star'" '' 7 table
random_job bigint 0.5 ", shingle => 2" ", clustering => 'perhaps_similar'" '' 50 table
random_job text 0.7 ", method => 'cosine'" ", max_cluster_size => 4" '' 20 table
random_job uuid 0.8 ", method => 'overlap'" '' '' 11 table
random_job int 0.7 ", method => 'containment', multiset => false" '' ", detect => 'compare'" 30 table
random_job smallint 0.6 ", tokenizer => 'chars'" '' '' 30 view
random_job bigint 0.7 ", method => 'edit'" ", clustering => 'star'" '' 25 table
random_job int 0.5 ", method => 'dice', tokenizer => 'whitespace'" '' '' 3 view 20
random_job date 0.75 '' ", max_cluster_size => 6" '' 100000 table
random_job int 0.9 ", method => 'overlap', options => '{\"min_overlap\": 3}'" '' ", detect => 'compare'" 100000 table
# Methods whose pairs depend on all rows.
random_job int 0.6 ", method => 'minhash'" '' '' 100 table
random_job bigint 0.7 ", method => 'simhash'" ", clustering => 'star'" '' 100 view
random_job text NULL ", method => 'imatch'" '' '' 100000 table
random_job int 0.7 ", method => 'tlcs'" '' '' 100000 table 60

# Groups and sources: rows change theirs, too.
random_job int 0.6 ", within => 'other'" '' '' 100000 table
random_job text 0.6 ", within => 'other'" ", clustering => 'star'" '' 7 table
random_job bigint 0.6 ", within => 'other'" '' ", detect => 'compare'" 30 view
random_job int 0.6 ", across => 'other'" '' '' 20 table
random_job int 0.7 ", method => 'edit', within => 'other'" ", max_cluster_size => 4" '' 25 table
random_job bigint 0.7 ", method => 'simhash', across => 'other'" '' '' 100 view
random_job text NULL ", method => 'imatch', within => 'other'" '' '' 100000 table
random_job int 0.7 ", method => 'tlcs', within => 'other'" ", clustering => 'perhaps_similar'" '' 100000 table 60

# Few changes at a time of many rows, as from day to day: rows that come, change, go and come again; and their groups.
for within in '' ", within => 'tenant'" ", within => 'tenant', across => 'tenant2'"; do
    {
        echo "SET client_min_messages = error; SELECT setseed(0.7);
            DROP TABLE IF EXISTS daily, daily_pairs, daily_clusters;
            CREATE TABLE daily (id int PRIMARY KEY, body text, tenant numeric, tenant2 text);
            INSERT INTO daily SELECT i, a_text(i * 7 % 2000), i % 3, i % 5 FROM generate_series(1, 3000) i;
            SELECT neardup_watch('daily', 0.7 $within); CALL neardup_refresh('daily');"
        for _ in {1..20}; do
            echo "DELETE FROM daily WHERE random() < 0.003;
                UPDATE daily SET body = a_text((random() * 2000)::int) WHERE random() < 0.003;
                UPDATE daily SET tenant = NULLIF((random() * 6)::int, 6) + 0.0, tenant2 = NULLIF((random() * 6)::int, 6) WHERE random() < 0.003;
                INSERT INTO daily SELECT i, a_text((random() * 2000)::int), 1.00 FROM generate_series(1, 3300) i WHERE random() < 0.05 ON CONFLICT DO NOTHING;
                CALL neardup_refresh('daily');
                SELECT wrong('daily', \$c\$'daily', 0.7 $within\$c\$, \$c\$'daily', 0.7 $within\$c\$);"
        done
        echo "SELECT count(*) > 2 FROM daily_neardup_lists WHERE kind = 's'; SELECT count(*) > 100 FROM daily_pairs; SELECT neardup_unwatch('daily', true);"
    } >"$server/daily.sql"
    seen=$(q -f "$server/daily.sql" 2>&1 | grep . | sort | uniq -c | sed 's/^ *//') || true
    expect "few changes from day to day$within" $'20 0 0 0 0\n21 done\n2 t' "$seen"
done

# A row that came back while nobody told of it is found by what the lists still know of it; once it is told of, all of it
# is made anew.
seen=$(q 2>&1 <<'SQL'
SET client_min_messages = error;
CREATE TABLE untold (id int PRIMARY KEY, body text);
INSERT INTO untold SELECT i, 'own' || i || ' words' || i || ' here' || i || ' and' || i FROM generate_series(1, 100) i;
SELECT neardup_watch('untold', 0.7);
CALL neardup_refresh('untold');
DELETE FROM untold WHERE id = 50;
CALL neardup_refresh('untold');
ALTER TABLE untold DISABLE TRIGGER neardup_insert;
INSERT INTO untold VALUES (50, 'own50 words50 here50 and50');
ALTER TABLE untold ENABLE TRIGGER neardup_insert;
INSERT INTO untold VALUES (101, 'own50 words50 here50 and50');
CALL neardup_refresh('untold');
TABLE untold_pairs;
UPDATE untold SET body = 'quite another text' WHERE id = 50;
CALL neardup_refresh('untold');
SELECT wrong('untold', $c$'untold', 0.7$c$, $c$'untold', 0.7$c$);
SQL
) || true
expect 'a row that nobody told of' $'done\ndone\ndone\n50|101|1\ndone\n0 0 0 0' "$(grep . <<<"$seen")"

# Clusters that are made of signatures, not of pairs.
grouped="method => 'tlcs', id_column => 'id', text_column => 'body', options => '{\"s\": 1}'"
seen=$(q 2>&1 <<SQL
SET client_min_messages = error;
CREATE FUNCTION sentences(i int) RETURNS text LANGUAGE sql AS \$\$
    SELECT string_agg('The ' || md5((hashint8extended(i, k) % 30)::text) || ' came back. ', '' ORDER BY k) FROM generate_series(0, i % 5) k
\$\$;
CREATE TABLE grouped AS SELECT i AS id, sentences(i) AS body FROM generate_series(1, 80) i;
ALTER TABLE grouped ADD PRIMARY KEY (id);
SELECT neardup_watch('grouped', 0.5, $grouped, clustering => 'perhaps_similar');
CALL neardup_refresh('grouped', batch_rows => 7);
SELECT wrong('grouped', \$c\$'grouped', 0.5, $grouped\$c\$, \$c\$'grouped', 0.5, $grouped, clustering => 'perhaps_similar'\$c\$);
INSERT INTO grouped SELECT i, sentences(i) FROM generate_series(81, 99) i;
UPDATE grouped SET body = sentences(id + 7) WHERE id % 9 = 0;
DELETE FROM grouped WHERE id % 8 = 0;
CALL neardup_refresh('grouped');
SELECT wrong('grouped', \$c\$'grouped', 0.5, $grouped\$c\$, \$c\$'grouped', 0.5, $grouped, clustering => 'perhaps_similar'\$c\$);
SELECT count(DISTINCT cluster_id) > 3, count(*) > count(DISTINCT id) FROM grouped_clusters;
SQL
) || true
expect 'a job with sets of signatures' $'done\n0 0 0 0\ndone\n0 0 0 0\nt|t' "$(grep . <<<"$seen")"

# Names that have to be quoted, in a schema that is not in the search path.
q <<'SQL'
CREATE SCHEMA "Odd one";
CREATE TABLE "Odd one"."it's" ("the id" text PRIMARY KEY, "a text" text);
INSERT INTO "Odd one"."it's" VALUES ('a"b', 'one two three four'), ('c\d', 'one two three four five'), ('{e,''f}', 'nothing like it');
SELECT neardup_watch('"Odd one"."it''s"', 0.8);
CALL neardup_refresh('"Odd one"."it''s"');
INSERT INTO "Odd one"."it's" VALUES ('{e,''g}', 'nothing, like it');
INSERT INTO "Odd one"."it's" SELECT i, 'filler ' || i || ' ' || md5(i::text) FROM generate_series(1, 20) i;
CALL neardup_refresh('"Odd one"."it''s"');
INSERT INTO "Odd one"."it's" VALUES ('"', 'nothing like it');
CALL neardup_refresh('"Odd one"."it''s"');
SQL
expect_script 'names and ids that have to be quoted' $'",{e,\'f}\n",{e,\'g}\na"b,c\\d\n{e,\'f},{e,\'g}' \
    "SELECT left_id || ',' || right_id FROM \"Odd one\".\"it's_pairs\" ORDER BY left_id COLLATE \"C\", right_id"
expect_script 'and so have tables of lists' 't' "SELECT count(*) > 3 FROM \"Odd one\".\"it's_neardup_lists\""
expect_script 'a renamed table is still watched' 'done' "ALTER TABLE \"Odd one\".\"it's\" RENAME TO plain; CALL neardup_refresh('\"Odd one\".plain')"
expect_script 'and what was put into it is seen' '5' "INSERT INTO \"Odd one\".plain VALUES ('z', 'nothing like this, like it'); INSERT INTO \"Odd one\".plain VALUES ('y', 'nothing like this, like it');
    CALL neardup_refresh('\"Odd one\".plain') \\g /dev/null
    SELECT count(*) FROM \"Odd one\".\"it's_pairs\""

# A refresh of crash stops and waits in the middle of a step, once so many rows are done.
q <<'SQL'
CREATE TABLE crash (id int PRIMARY KEY, body text);
INSERT INTO crash SELECT i, a_text(i % 2000) || ' ' || i / 2 % 1000 FROM generate_series(1, 6000) i;
SELECT neardup_watch('crash', 0.9);
CREATE TABLE stop_at (done int);
CREATE FUNCTION stop_and_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    WHILE EXISTS (SELECT FROM public.stop_at WHERE done <= (SELECT count(*) FROM public.crash_neardup WHERE change IS NULL)) LOOP
        PERFORM pg_sleep(0.02);
    END LOOP;
    RETURN NULL;
END
$$;
CREATE TRIGGER stop_and_wait AFTER INSERT ON crash_pairs EXECUTE FUNCTION stop_and_wait();
SQL
# begin_refresh ROWS DONE: until it stops; its process is in $pid, its client in $client.
begin_refresh() {
    q -c 'DELETE FROM stop_at' -c "INSERT INTO stop_at VALUES ($1)"
    psql -X -qAt -c "CALL neardup_refresh('crash', batch_rows => 300)" >"$server/first" 2>&1 &
    client=$!
    pid=
    until [[ -n $pid ]]; do
        pid=$(q -c "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND query LIKE 'CALL%crash%'")
    done
}
go_on() {
    q -c 'DELETE FROM stop_at'
    wait "$client"
}

# Other arguments: the job is set up anew.
expect_script 'a job with other arguments' '0 0 0 0' "SELECT neardup_unwatch('docs1') \\g /dev/null
    SELECT neardup_watch('docs1', 0.8, method => 'cosine', clustering => 'star') \\g /dev/null
    CALL neardup_refresh('docs1') \\g /dev/null
    SELECT wrong('docs1', '''docs1'', 0.8, method => ''cosine''', '''docs1'', 0.8, method => ''cosine'', clustering => ''star''')"

# Killed in the middle, again and again: in the end complete and right.
expected_in_log='terminated by signal 9: Killed'
for done_rows in 0 900 2000 3300; do
    begin_refresh "$done_rows"
    backend_killed "$pid"
    wait "$client" || true
    q -c 'DELETE FROM stop_at'
done
expect_script 'some of it was done and stayed' 't' "SELECT count(*) > 0 FROM crash_neardup WHERE change IS NULL"
expect_script 'after kill -9 the rest is done' 'done' "CALL neardup_refresh('crash', batch_rows => 2000)"
expect_script 'and all is right' '0 0 0 0' "SELECT wrong('crash', '''crash'', 0.9', '''crash'', 0.9')"
# The first one was killed before anything of it was to be seen.
expect_script 'runs that were killed are known as such' 'done 1|interrupted 3' \
    "SELECT string_agg(s, '|') FROM (SELECT 'done ' || count(*) FROM neardup_history WHERE docs = 'crash'::regclass AND status = 'done'
        UNION ALL SELECT 'interrupted ' || count(*) FROM neardup_history WHERE docs = 'crash'::regclass AND status = 'interrupted') r(s)"

# Two at a time: one works, one is told so.
q -c "UPDATE crash SET body = body || ' more'"
begin_refresh 0
expect 'a second refresh is skipped' 'skipped' "$(q -c "CALL neardup_refresh('crash')")"
go_on
expect 'the first one works' 'done' "$(cat "$server/first")"
expect_script 'and is right' '0 0 0 0' "SELECT wrong('crash', '''crash'', 0.9', '''crash'', 0.9')"
# One that fails, or is cancelled, gives way.
q -c "UPDATE crash SET body = body || ' again'" -c 'INSERT INTO stop_at VALUES (0)'
# Not by SET in the same message: that would make a transaction block of both.
PGOPTIONS='-c statement_timeout=300ms' \
    expect_error 'a timeout ends it' 57014 'canceling' "CALL neardup_refresh('crash', batch_rows => 300)"
q -c 'DELETE FROM stop_at'
expect_script 'and the next one goes on' 'done' "CALL neardup_refresh('crash')"
expect_script 'to the end' '0 0 0 0' "SELECT wrong('crash', '''crash'', 0.9', '''crash'', 0.9')"
expect_error 'not inside a transaction' 2D000 'invalid transaction termination' "BEGIN; CALL neardup_refresh('crash')"
# Changes while it works wait for the next time, and no writer waits for it.
q -c "UPDATE crash SET body = body || ' once more' WHERE id % 3 = 0"
begin_refresh 0
for n in $(seq 20); do q -c "UPDATE crash SET body = 'changed meanwhile $n' WHERE id % 100 = $n" -c "DELETE FROM crash WHERE id % 1000 = $n"; done
go_on
expect_script 'changes meanwhile are not lost' $'done\n0 0 0 0' "CALL neardup_refresh('crash'); SELECT wrong('crash', '''crash'', 0.9', '''crash'', 0.9')"

# Who may: the owner, and for whom it works: the owner, whoever calls.
q <<'SQL'
CREATE ROLE alice LOGIN;
CREATE ROLE bob LOGIN;
CREATE SCHEMA alices AUTHORIZATION alice;
GRANT USAGE ON SCHEMA alices TO bob;
SET ROLE alice;
CREATE TABLE alices.docs (id int PRIMARY KEY, body text, secret bool DEFAULT false);
INSERT INTO alices.docs VALUES (1, 'one two three four'), (2, 'one two three four five'), (3, 'something else');
GRANT SELECT, INSERT, UPDATE, DELETE ON alices.docs TO bob;
SELECT neardup_watch('alices.docs', 0.8);
CALL neardup_refresh('alices.docs');
SQL
for call in "SELECT neardup_watch('alices.docs', 0.8)" "SELECT neardup_unwatch('alices.docs')" "CALL neardup_refresh('alices.docs')" \
    "SELECT neardup_internal.neardup_refresh_step('alices.docs', now(), 1000)"; do
    expect_error "not bob: $call" 42501 'must be owner of (alices\.)?docs' "SET ROLE bob; $call"
done
expect_script 'others change the table without rights on the tables of the job' '' \
    "SET ROLE bob; INSERT INTO alices.docs VALUES (4, 'something else'); UPDATE alices.docs SET body = 'no more' WHERE id = 1; DELETE FROM alices.docs WHERE id = 2"
expect_error 'which they cannot read' 42501 'permission denied' "SET ROLE bob; TABLE alices.docs_pairs"
expect_error 'nor the books change' 42501 'permission denied' "SET ROLE bob; DELETE FROM neardup_jobs"
expect_script 'a superuser may, and it runs as alice' $'done\n3|4|1' "CALL neardup_refresh('alices.docs'); SELECT * FROM alices.docs_pairs"
expect_script 'no function of the table can act as the caller' $'done\nalice' "
    SET ROLE alice;
    CREATE TABLE alices.who (name text);
    CREATE FUNCTION alices.spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO alices.who VALUES (current_user); RETURN NEW; END';
    CREATE TRIGGER spy AFTER INSERT ON alices.docs_pairs FOR EACH ROW EXECUTE FUNCTION alices.spy();
    RESET ROLE;
    INSERT INTO alices.docs VALUES (5, 'something else, else');
    INSERT INTO alices.docs VALUES (6, 'something else, else');
    CALL neardup_refresh('alices.docs');
    SELECT DISTINCT name FROM alices.who"
expect_script 'row-level security does not bind the owner, and readers get what the owner grants' '1' "
    ALTER TABLE alices.docs ENABLE ROW LEVEL SECURITY;
    UPDATE alices.docs SET body = 'something else' WHERE id = 6;
    CALL neardup_refresh('alices.docs') \\g /dev/null
    GRANT SELECT ON alices.docs_pairs TO bob;
    SET ROLE bob;
    SELECT count(*) FROM alices.docs_pairs WHERE right_id = 6 AND left_id = 3"

# Arguments.
q -c 'CREATE TABLE plain_docs (id int PRIMARY KEY, body text)' -c 'CREATE TABLE taken (id int PRIMARY KEY, body text)' -c 'CREATE TABLE taken_pairs (x int)' \
    -c "CREATE TABLE $(printf 'n%.0s' {1..60}) (id int PRIMARY KEY, body text)" -c 'CREATE TABLE no_key (body text)'
expect_error 'a bad threshold' 22023 'threshold must be' "SELECT neardup_watch('plain_docs', 7)"
expect_error 'an unknown method' 22023 'unknown method' "SELECT neardup_watch('plain_docs', 0.8, method => 'magic')"
expect_error 'an unknown clustering' 22023 'unknown clustering' "SELECT neardup_watch('plain_docs', 0.8, clustering => 'magic')"
expect_error 'an unknown way' 22023 'unknown way' "SELECT neardup_watch('plain_docs', 0.8, detect => 'magic')"
expect_error 'a foreign table of the name' 42P07 'already exists' "SELECT neardup_watch('taken', 0.8)"
expect_error 'a long name' 42622 'over 63 bytes' "SELECT neardup_watch('$(printf 'n%.0s' {1..60})', 0.8)"
expect_error 'no key' 42703 'primary key' "SELECT neardup_watch('no_key', 0.8)"
expect_error 'twice' 42710 'watched already' "SELECT neardup_watch('crash', 0.8)"
expect_error 'not watched' 42704 "neardup_watch\('plain_docs', 0.8\)" "CALL neardup_refresh('plain_docs')"
expect_error 'no batch' 22023 'batch_rows must be at least 1, not 0' "CALL neardup_refresh('crash', batch_rows => 0)"
expect_error 'unwatch what is not' 42704 'not watched' "SELECT neardup_unwatch('plain_docs')"
expect_script 'nothing is left of what failed' '' "SELECT relname FROM pg_class WHERE relname ~ '^(plain_docs|taken|no_key)_(clusters|neardup)'"
expect_script 'unwatch, results kept' 't||' "SELECT neardup_unwatch('docs1', keep_results => true) \\g /dev/null
    SELECT to_regclass('docs1_pairs') IS NOT NULL, to_regclass('docs1_neardup'), (SELECT tgname FROM pg_trigger WHERE tgrelid = 'docs1'::regclass)"
expect_script 'a table that is dropped takes its job along' '' "DROP TABLE docs2;
    SELECT relname FROM pg_class WHERE relname ~ '^docs2_';
    SELECT neardup_watch('plain_docs', 0.8) \\g /dev/null
    SELECT docs FROM neardup_all_jobs j WHERE NOT EXISTS (SELECT FROM pg_class WHERE oid = j.docs)"

# Dump and restore: jobs, their tables, and what waits.
q -c "INSERT INTO plain_docs VALUES (1, 'one two three'), (2, 'three two one')" -c "CREATE EXTENSION IF NOT EXISTS neardup"
createdb restored
if [[ $cron == t ]]; then skip=(--exclude-schema=cron --exclude-extension=pg_cron); fi
pg_dump postgres >"$server/dump"
expect 'a dump restores' '' "$(q -d restored -f "$server/dump" -o /dev/null 2>&1)"
expect_script 'and the jobs go on' $'done\n1|2|1' "CALL neardup_refresh('plain_docs'); TABLE plain_docs_pairs" -d restored
expect_script 'also with new changes' $'done\n1|2|1\n1|3|1\n2|3|1' "INSERT INTO plain_docs VALUES (3, 'one three two');
    CALL neardup_refresh('plain_docs'); TABLE plain_docs_pairs" -d restored
expect_script 'the log came along' 't' "SELECT count(*) > 10 FROM neardup_history" -d restored
expect_script 'what was done is not done again' $'done\n0' "CALL neardup_refresh('crash'); SELECT rows FROM neardup_history WHERE docs = 'crash'::regclass ORDER BY started DESC LIMIT 1" -d restored

# From pg_cron, on a real schedule.
if [[ $cron == t ]]; then
    # As docs/recipes/nightly.md says.
    q -c 'CREATE TABLE posts (id int PRIMARY KEY, body text)' -c "SELECT neardup_watch('posts', 0.8)"
    sed -n '/^With pg_cron/,/^Without/p' "$project/docs/recipes/nightly.md" | sed '1,/^```/d; /^```/,$d' >"$server/nightly.sql"
    q -o /dev/null -f "$server/nightly.sql"
    expect_script 'the schedule of the page is known' '0 3 * * *|postgres' "SELECT schedule, database FROM cron.job WHERE jobname = 'dedup'"
    expect 'and its command is one' 'done' "$(q -c "$(q -c "SELECT command FROM cron.job WHERE jobname = 'dedup'")")"
    q -c "SELECT cron.schedule('dedup', '1 second', \$\$CALL neardup_refresh('plain_docs')\$\$)" >/dev/null 2>&1 ||
        q -c "SELECT cron.schedule('dedup', '* * * * *', \$\$CALL neardup_refresh('plain_docs')\$\$)" >/dev/null
    # pg_cron before 1.5 begins jobs at full minutes only.
    for _ in $(seq 90); do
        if [[ $(q -c 'SELECT count(*) FROM plain_docs_pairs') == 1 ]]; then break; fi
        sleep 1
    done
    expect_script 'pg_cron refreshes' '1|2|1' 'TABLE plain_docs_pairs'
    expect_script 'and says so' 'succeeded' "SELECT DISTINCT status FROM cron.job_run_details WHERE status <> 'running'"
    q -c "SELECT cron.unschedule('dedup')" >/dev/null
else
    echo 'skipped: jobs from pg_cron, which this PostgreSQL does not have'
fi
# A batch is joined with what another row is meanwhile; before that one's turn it is again what it was, and rows are compared.
expect_script 'a row that is what it was waited nevertheless' $'1\ndone\n0' "CREATE TABLE meanwhile (id int PRIMARY KEY, body text);
INSERT INTO meanwhile VALUES (1, 'one two three four five'), (2, 'six seven eight nine ten');
SELECT neardup_watch('meanwhile', 0.8) \\g /dev/null
CALL neardup_refresh('meanwhile') \\g /dev/null
UPDATE meanwhile SET body = 'the same words in both rows';
DO \$\$BEGIN PERFORM neardup_internal.neardup_refresh_step('meanwhile', clock_timestamp(), 1); COMMIT; END\$\$;
SELECT count(*) FROM meanwhile_pairs;
UPDATE meanwhile SET body = CASE id WHEN 1 THEN 'one two three four five' ELSE 'six seven eight nine ten' END
    WHERE id IN (SELECT id FROM meanwhile_neardup WHERE change = 1);
ALTER TABLE meanwhile ADD COLUMN more int;
CALL neardup_refresh('meanwhile');
SELECT count(*) FROM meanwhile_pairs;"

finish
