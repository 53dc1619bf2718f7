#!/usr/bin/env bash
# What an administrator meets: functions of the same names in other schemas, plans that can be read, a log that stays short,
# refreshes seen from other sessions, locks, and a server where no extension can be installed.
# shellcheck disable=SC2154 # server and bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

# expect_script NAME EXPECTED SQL [psql's arguments]: as expect_sql, each statement a transaction of its own.
expect_script() {
    local seen
    seen=$(q "${@:4}" <<<"$3" 2>&1) || true
    expect "$1" "$2" "$seen"
}

# --- Beside others' functions of the same names: pg_similarity has these ---
createdb beside
q -d beside <<'SQL'
CREATE SCHEMA similarity;
CREATE SCHEMA neardup;
SELECT format('CREATE FUNCTION similarity.%s(text, text) RETURNS float8 LANGUAGE sql IMMUTABLE AS %L', name, 'SELECT -1.0::float8')
FROM unnest('{jaccard,cosine,dice,overlap}'::text[]) name \gexec
CREATE EXTENSION neardup SCHEMA neardup;
SQL
for name in jaccard cosine dice overlap; do
    expect_script "$name: the first schema in the path answers" $'-1\n1' "SET search_path = similarity, neardup; SELECT $name('a', 'a'); SET search_path = neardup, similarity; SELECT $name('a', 'a')" -d beside
    expect_script "$name: with its schema it is always ours" '1' "SET search_path = similarity; SELECT neardup.$name('a', 'a')" -d beside
    expect_script "$name: and with k" '1' "SET search_path = similarity, neardup; SELECT $name('a', 'a', 1)" -d beside
done
expect_script 'joins do not ask the path' '1|2|1' "CREATE TABLE public.docs (id int PRIMARY KEY, body text); INSERT INTO public.docs VALUES (1, 'a b'), (2, 'b a');
    SET search_path = similarity, public; SELECT * FROM neardup.near_duplicates('docs', 0.8)" -d beside
# In one schema both are equally good.
q -d beside -c "CREATE FUNCTION neardup.jaccard(text, text) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT -1.0::float8'"
expect_error 'in one schema it is not unique' 42725 'function neardup.jaccard\(unknown, unknown\) is not unique' "SELECT neardup.jaccard('a', 'a')" -d beside
expect_script 'but with k it is' 1 "SELECT neardup.jaccard('a', 'a', 1)" -d beside
expect_script 'the cure: a schema of its own' 1 "DROP TABLE docs; CREATE SCHEMA own; ALTER EXTENSION neardup SET SCHEMA own; SELECT own.jaccard('a', 'a')" -d beside

# --- Plans ---
q <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'document ' || i / 2 || ' of ' || md5((i / 2)::text) || ' and some words more' FROM generate_series(1, 300) i;
CREATE INDEX by_body ON docs USING signature (body);
CREATE INDEX by_sketch ON docs USING signature (minhash(body));
CREATE INDEX by_bits ON docs USING signature (simhash(body, 384) simhash_hamming_ops (bits = 384));
ANALYZE docs;
SQL
ball="near(repeat('document 7 of a few words more ', 30), 0.8)"
# Each in a session that has not loaded the library.
for explain in 'EXPLAIN' 'EXPLAIN (ANALYZE)' 'EXPLAIN (VERBOSE, FORMAT json)' 'EXPLAIN (ANALYZE, FORMAT yaml)'; do
    for query in "SELECT id FROM docs WHERE body <@ $ball" "SELECT id, $ball FROM docs WHERE minhash(body) <@ near(minhash('a few words'), 0.5)" \
        "SELECT id FROM docs ORDER BY minhash(body) <%> minhash('a few words') LIMIT 3" "SELECT id FROM docs WHERE simhash(body, 384) <@ near(simhash('a few words', 384), 9)"; do
        plan=$(q -c "SET enable_seqscan = off" -c "$explain $query")
        expect "$explain $query: short" t "$([[ $plan == *...* && ! $plan =~ [0-9a-f]{33} ]] && echo t || echo "$plan")"
    done
done
expect_script 'what is measured is written whole' $'964\n964' "EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) CREATE TABLE balls AS SELECT $ball AS b, $ball::text AS t \\g /dev/null
SELECT length(b::text) FROM balls UNION ALL SELECT length(t) FROM balls"
expect_script 'input takes what output gives' t "SELECT b::text::text_ball = b AND t::text_ball = b AND b = $ball FROM balls"
expect_script 'after a plan all is whole' $'964\n964\n964' "EXPLAIN SELECT $ball \\g /dev/null
SELECT length($ball::text);
DO \$\$ BEGIN EXECUTE 'EXPLAIN ANALYZE SELECT 1 / (length($(printf %s "$ball" | sed "s/'/''/g")::text) - 964)'; EXCEPTION WHEN division_by_zero THEN NULL; END \$\$;
SELECT length($ball::text);
COPY (SELECT b FROM balls) TO '$server/ball';
SELECT length(pg_read_file('$server/ball')) - 1"
expect_script 'a function that a plan runs sees it whole' $'f\n964' "CREATE FUNCTION seen() RETURNS int LANGUAGE plpgsql IMMUTABLE AS \$\$ BEGIN RETURN (SELECT length(b::text) FROM balls); END \$\$;
CREATE TEMP TABLE plan (line text);
DO \$\$ DECLARE l text; BEGIN FOR l IN EXECUTE 'EXPLAIN (ANALYZE) SELECT b, seen() FROM balls WHERE b = near(''a'', 0.5) OR true' LOOP INSERT INTO plan VALUES (l); END LOOP; END \$\$;
SELECT bool_or(line ~ '[0-9a-f]{33}') FROM plan;
SELECT seen()"
expect_script 'a prepared statement with a ball' '14' "PREPARE found AS SELECT count(*) + 12 FROM docs WHERE body <@ near('document 7 of ' || md5('7') || ' and some words more', 0.8);
EXPLAIN EXECUTE found \\g /dev/null
EXECUTE found"
q -c "CREATE VIEW like_it AS SELECT id FROM docs WHERE body <@ '$(q -c "SELECT b FROM balls")'::text_ball"
createdb restored
pg_dump | q -d restored >/dev/null
for object in "SELECT md5(string_agg(b::text, '')) FROM balls" "SELECT pg_get_viewdef('like_it')" 'SELECT count(*) FROM like_it'; do
    expect "restored: $object" "$(q -c "$object")" "$(q -d restored -c "$object")"
done

# --- The log of a job stays short ---
q -c "SELECT neardup_watch('docs', 0.8)" -c "CREATE TABLE others (id int PRIMARY KEY, body text)" -c "SELECT neardup_watch('others', 0.8)" >/dev/null
expect_script 'as many runs stay as are asked for, of each job' 'docs|3
others|1' "SET client_min_messages = error;
CALL neardup_refresh('others') \\g /dev/null
SET neardup.keep_history = 3;
$(for i in 1 2 3 4 5; do echo "INSERT INTO docs VALUES ($((1000 + i)), 'run $i'); CALL neardup_refresh('docs') \\g /dev/null"; done)
SELECT docs, count(*) FROM neardup_history GROUP BY docs ORDER BY 1"
expect_script 'they are the last ones' 't|1,1,1' "SELECT max(started) = (SELECT max(started) FROM neardup_history), string_agg(rows::text, ',') FROM neardup_history WHERE docs = 'docs'::regclass"
expect_error 'at least one' 22023 'neardup.keep_history' "LOAD '\$libdir/neardup'; SET neardup.keep_history = 0"

# --- A refresh, seen from another session ---
q <<'SQL'
CREATE ROLE owner;
CREATE ROLE stranger;
GRANT CREATE ON SCHEMA public TO owner;
CREATE TABLE slow (id int PRIMARY KEY, body text);
INSERT INTO slow SELECT i, 'slow row ' || i || ' with more words ' || i / 2 FROM generate_series(1, 50) i;
-- It can be read only while nobody holds the lock.
CREATE VIEW waits AS SELECT id, body || pg_advisory_xact_lock_shared(7)::text AS body FROM slow;
ALTER TABLE slow OWNER TO owner;
ALTER VIEW waits OWNER TO owner;
SELECT neardup_watch('waits', 0.8, id_column => 'id', text_column => 'body');
SQL
progress="SELECT status, step, batches, rows, total, last_finished IS NOT NULL FROM neardup_progress WHERE docs = 'waits'::regclass"
expect_script 'a job that has never run' 'new|||||f' "$progress"
mkfifo "$server/holds"
q <"$server/holds" >/dev/null 2>&1 &
holder=$!
exec 9>"$server/holds"
printf '%s\n' 'SELECT pg_advisory_lock(7);' "\\! touch $server/held" >&9
until [[ -e $server/held ]]; do sleep 0.05; done
q -c "CALL neardup_refresh('waits', batch_rows => 20)" >"$server/called" 2>&1 9>&- &
caller=$!
until [[ $(q -c "SELECT count(*) FROM neardup_progress WHERE status = 'running' AND step IS NOT NULL AND pid IN (SELECT pid FROM pg_locks WHERE NOT granted AND locktype = 'advisory')") == 1 ]]; do sleep 0.05; done
expect_script 'it says where it is' 'running|looking for changed rows|0|0||f' "$progress"
expect_script 'and since when, in which session' 't|t' "SELECT started <= now(), query ~ '^CALL neardup_refresh.* /\\* neardup_refresh: [a-z ]+ \\*/\$' FROM neardup_progress JOIN pg_stat_activity USING (pid)"
expect_script 'a member of the owner sees the job' 'running' "SET ROLE owner; SELECT status FROM neardup_progress"
expect_script 'but not what sessions of others do' 't' "SET ROLE owner; SELECT step IS NULL FROM neardup_progress"
expect_script 'others see nothing' 0 "SET ROLE stranger; SELECT count(*) FROM neardup_progress"
exec 9>&-
wait "$holder" "$caller"
expect_script 'then it is done' 'done||3|50|50|t' "$progress"
expect_script 'a session shows its query again' '' "DO \$\$ DECLARE s text; BEGIN CALL neardup_refresh('docs', s); ASSERT s = 'done' AND (SELECT query LIKE 'DO %' FROM pg_stat_activity WHERE pid = pg_backend_pid()); END \$\$"
expect_script 'and its number all the time' '' "SET compute_query_id = on;
DO \$\$ DECLARE s text; before bigint; BEGIN
    SELECT query_id INTO STRICT before FROM pg_stat_activity WHERE pid = pg_backend_pid();
    CALL neardup_refresh('docs', s);
    ASSERT before IS NOT NULL AND before = (SELECT query_id FROM pg_stat_activity WHERE pid = pg_backend_pid());
END \$\$"
q -c "UPDATE neardup_all_history SET status = 'running', finished = NULL WHERE docs = 'waits'::regclass AND started = (SELECT max(started) FROM neardup_all_history WHERE docs = 'waits'::regclass)"
expect_script 'one that has no session any more' interrupted "SELECT status FROM neardup_progress WHERE docs = 'waits'::regclass"

# --- Locks ---
locks="SELECT string_agg(DISTINCT mode, ', ' ORDER BY mode) FROM pg_locks WHERE pid = pg_backend_pid() AND relation ="
q -c 'CREATE TABLE locked (id int PRIMARY KEY, body text)'
expect_script 'locks of neardup_watch' 'AccessShareLock, ShareRowExclusiveLock, ShareUpdateExclusiveLock' \
    "BEGIN; SELECT neardup_watch('locked', 0.8) \\g /dev/null
$locks 'locked'::regclass; COMMIT"
expect_script 'locks of an insert' $'AccessShareLock, RowExclusiveLock\nRowExclusiveLock\nAccessShareLock' "BEGIN; INSERT INTO locked VALUES (1, 'a');
$locks 'locked'::regclass;
$locks 'locked_neardup'::regclass;
$locks 'neardup_all_jobs'::regclass; COMMIT"
# Which another session changes, in a transaction that goes on.
expect_script 'a session that has written nothing yet waits neither for the log' '' "BEGIN; LOCK TABLE neardup_all_history IN ACCESS EXCLUSIVE MODE;
\\! psql -X -qAt -c \"SET lock_timeout = '20s'\" -c \"INSERT INTO locked VALUES (2, 'b')\"
COMMIT"
expect_script 'nor does one that updates and deletes' '1' "BEGIN; LOCK TABLE neardup_all_history IN ACCESS EXCLUSIVE MODE;
\\! psql -X -qAt -c \"SET lock_timeout = '20s'\" -c \"UPDATE locked SET body = 'c'\" -c 'DELETE FROM locked WHERE id = 2'
SELECT count(*) FROM locked; COMMIT"
expect_script 'locks of neardup_unwatch' 'AccessExclusiveLock, AccessShareLock' "BEGIN; SELECT neardup_unwatch('locked') \\g /dev/null
$locks 'locked'::regclass; COMMIT"

# --- Formats of other versions ---
q -c 'CREATE TABLE formats (id int PRIMARY KEY, body text)' -c "INSERT INTO formats SELECT i, 'some words of row ' || i FROM generate_series(1, 50) i" -c 'CREATE INDEX of_format ON formats USING signature (body)' -c CHECKPOINT
# Where the metapage has them, behind the header of a page and four bytes that say what it is.
format=28 hashes=33
# stored OFFSET BYTE: puts a byte into the file of the index.
stored() {
    local path
    path=$(q -c "SELECT pg_relation_filepath('of_format')")
    server_down "$server"
    as_server "$bindir/pg_checksums" -D "$server/data" --disable >/dev/null 2>&1 || true
    printf "%b" "\\x$2" | dd of="$server/data/$path" bs=1 seek="$1" conv=notrunc status=none
    server_up
}
search="SET enable_seqscan = off; SELECT count(*) FROM formats WHERE body <@ near('some words of row 7', 0.9)"
found=$(q -c "$search")
while read -r -u 3 what at byte version hint; do
    stored "$at" "$byte"
    expect_error "a search in an index of version $version of its $what" 0A000 "index \"of_format\" has version $version of its $what, this neardup reads version [19]" "$search"
    expect_error "and what is to be done" 0A000 "$hint.*REINDEX INDEX (public\.)?of_format;" "$search"
    expect_error "a write to it" 0A000 "has version $version of its $what" "INSERT INTO formats VALUES (51, 'a few words more')"
    q -c 'REINDEX INDEX of_format' -c CHECKPOINT
    expect_sql "made anew it answers" "$found" "$search"
done 3<<MUTATIONS
format $format 00 0 Build it anew
format $format 03 3 Build it anew
format $format 08 8 Build it anew
format $format 0a 10 A newer neardup made it
hash $hashes 00 0 Build it anew
hash $hashes 02 2 A newer neardup made it
MUTATIONS

# --- A server where nothing can be installed, and a small one of one's own ---
managed=$server
q -c 'DROP EXTENSION neardup CASCADE' >/dev/null 2>&1
q -c 'CREATE ROLE reader LOGIN' -c 'GRANT SELECT ON docs TO reader'
own=$(private_dir)
# shellcheck disable=SC2064 # the directories as they are now
trap "server_stop '$own'; server_stop '$managed'" EXIT
server_in "$own"
q <<SQL
CREATE EXTENSION neardup;
CREATE EXTENSION postgres_fdw;
CREATE SERVER managed FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$managed', port '5432', dbname 'postgres', fetch_size '1000');
CREATE USER MAPPING FOR CURRENT_USER SERVER managed OPTIONS (user 'reader', password_required 'false');
IMPORT FOREIGN SCHEMA public LIMIT TO (docs) FROM SERVER managed INTO public;
SELECT neardup_watch('docs', 0.8, id_column => 'id', text_column => 'body');
SQL
expect_script 'foreign tables are compared' compare "SELECT settings ->> 'detect' FROM neardup_jobs"
# compared NAME: the job's pairs are those of a join, on the foreign table and on a copy of it.
compared() {
    q -c "DROP TABLE IF EXISTS copied; CREATE TABLE copied AS TABLE docs; ALTER TABLE copied ADD PRIMARY KEY (id)" 2>/dev/null
    expect_script "$1" $'done\n0' "CALL neardup_refresh('docs');
SELECT count(*) FROM ((TABLE docs_pairs EXCEPT SELECT * FROM near_duplicates('copied', 0.8)) UNION ALL (SELECT * FROM near_duplicates('copied', 0.8) EXCEPT TABLE docs_pairs)) d"
}
compared 'what is there at first'
expect_script 'there are pairs' t 'SELECT count(*) > 100 FROM docs_pairs'
psql -X -q -h "$managed" -c "INSERT INTO docs SELECT 5000 + i, body FROM docs, generate_series(1, 1) i WHERE id = 11" -c "UPDATE docs SET body = 'no more' WHERE id = 20" -c 'DELETE FROM docs WHERE id = 30'
compared 'what has changed there'
expect_script 'as many rows as changed' 3 'SELECT rows FROM neardup_history ORDER BY started DESC LIMIT 1'
server=$managed
finish
