#!/usr/bin/env bash
# A refresh that is stopped between two of its steps, while a row changes of which no trigger tells, and changes back before
# the next one: pairs, clusters and lists are of what the job knows of rows, or the next refresh makes them so.
# shellcheck disable=SC2154 # server, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'autovacuum = off'
export PGOPTIONS='-c client_min_messages=error'

q <<'SQL'
CREATE EXTENSION neardup;
-- Steps that write marks wait as long as another session holds this lock.
CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NULL; END $$;
-- What a job has that a full computation has not, and the other way round: pairs, members of clusters, known rows.
CREATE FUNCTION wrong(arguments text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    wrong bigint[];
BEGIN
    EXECUTE format('SELECT ARRAY[
        (SELECT count(*) FROM ((TABLE docs_pairs EXCEPT SELECT * FROM near_duplicates(''docs'', %2$s)) UNION ALL
            (SELECT * FROM near_duplicates(''docs'', %2$s) EXCEPT TABLE docs_pairs)) d),
        (SELECT count(*) FROM ((TABLE docs_clusters EXCEPT SELECT cluster_id, id, representative FROM near_duplicate_clusters(''docs'', %1$s)) UNION ALL
            (SELECT cluster_id, id, representative FROM near_duplicate_clusters(''docs'', %1$s) EXCEPT TABLE docs_clusters)) d),
        (SELECT count(*) FROM ((SELECT id FROM docs_neardup WHERE change IS NULL EXCEPT SELECT id FROM docs) UNION ALL
            (SELECT id FROM docs EXCEPT SELECT id FROM docs_neardup WHERE change IS NULL)) d),
        (SELECT count(*) FROM docs_neardup WHERE change IS NOT NULL)]',
        arguments, replace(arguments, $a$, clustering => 'star'$a$, '')) INTO wrong;
    RETURN array_to_string(wrong, ' ');
END
$$;
SQL

one='one two three four five six seven eight'
other='alpha beta gamma delta epsilon zeta eta theta'

# expect_script NAME EXPECTED SQL: as expect_sql, each statement a transaction of its own.
expect_script() {
    local seen
    seen=$(q <<<"$3" 2>&1) || true
    expect "$1" "$2" "$seen"
}

# stopped BATCH_ROWS SQL: a refresh that stops when it has marked the rows that changed, SQL, and then the rest of it.
stopped() {
    local holder refresh
    rm -f "$server/held"
    mkfifo "$server/holds"
    q <"$server/holds" >/dev/null 2>&1 &
    holder=$!
    exec 9>"$server/holds"
    printf '%s\n' 'SELECT pg_advisory_lock(7);' "\\! touch $server/held" >&9
    until [[ -e $server/held ]]; do sleep 0.05; done
    psql -X -qAt -c "CALL neardup_refresh('docs', batch_rows => $1)" >"$server/refreshed" 2>&1 9>&- &
    refresh=$!
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'") == 1 ]]; do sleep 0.05; done
    q -c "$2"
    exec 9>&-
    wait "$holder" "$refresh" || true
    rm "$server/holds"
    expect "$name: it goes on" 'done' "$(cat "$server/refreshed")"
}

# flip NAME ROWS BATCH_ROWS ARGUMENTS [DETECT [MEANWHILE]]: with so many known rows, of which one is changed while rows come
# that are like what it is meanwhile, or like what it was before and after.
flip() {
    local rows=$2 batch=$3 arguments=$4 detect=${5:-", detect => 'compare'"} meanwhile=${6:-} text
    for text in "$one" "$other"; do
        name="$1, rows like '${text%% *}'"
        q -c 'DROP TABLE IF EXISTS docs CASCADE' -c "CREATE TABLE docs (id int PRIMARY KEY, body text)" \
            -c "INSERT INTO docs SELECT i, CASE i WHEN 1 THEN '$other' ELSE 'row ' || md5(i::text) || ' ' || md5((i + 1000)::text) END FROM generate_series(1, $rows) i" \
            -c "SELECT neardup_watch('docs', $arguments $detect)" -c "CALL neardup_refresh('docs')" \
            -c "CREATE TRIGGER stop AFTER INSERT ON docs_neardup EXECUTE FUNCTION stop()" \
            -c "INSERT INTO docs VALUES (1000, '$text'), (1001, '$text')" >/dev/null
        stopped "$batch" "BEGIN; SET LOCAL session_replication_role = replica; UPDATE docs SET body = '$one' WHERE id = 1; $meanwhile COMMIT"
        q -c "UPDATE docs SET body = '$other' WHERE id = 1"
        expect_script "$name: the next refresh" $'done\n0 0 0 0' "CALL neardup_refresh('docs'); SELECT wrong(\$\$$arguments\$\$)"
        q -c "INSERT INTO docs VALUES (1002, '$other'), (1003, '$one')"
        expect_script "$name: and the lists" $'done\n0 0 0 0' "CALL neardup_refresh('docs'); SELECT wrong(\$\$$arguments\$\$)"
    done
}

sets='0.7'
edit="0.7, method => 'edit'"
whole="0.7, method => 'minhash'"
stars="0.7, clustering => 'star'"
for batch in 1000 1; do
    flip "looked up, $batch a batch" 30 $batch "$sets"
    flip "looked up, stars, $batch a batch" 30 $batch "$stars"
    flip "joined with all, $batch a batch" 3 $batch "$sets"
    flip "joined with all by edit distance, $batch a batch" 30 $batch "$edit"
    flip "all anew, $batch a batch" 30 $batch "$whole"
    flip "lists that are damaged meanwhile, $batch a batch" 30 $batch "$sets" '' "UPDATE docs_neardup_lists SET data = '' WHERE kind = 'o';"
done
# A row in doubt is looked at by the next refresh, not by this one, so that a refresh ends.
name='doubt' text=$one
q -c 'DROP TABLE docs' -c "CREATE TABLE docs (id int PRIMARY KEY, body text)" -c "INSERT INTO docs SELECT i, CASE i WHEN 1 THEN '$other' ELSE md5(i::text) END FROM generate_series(1, 30) i" \
    -c "SELECT neardup_watch('docs', 0.7, detect => 'compare')" -c "CALL neardup_refresh('docs')" \
    -c "CREATE TRIGGER stop AFTER INSERT ON docs_neardup EXECUTE FUNCTION stop()" -c "INSERT INTO docs VALUES (1000, '$one'), (1001, '$other')" >/dev/null
stopped 1 "UPDATE docs SET body = '$one' WHERE id = 1"
expect_sql 'a row in doubt' '1|2' 'SELECT id, change FROM docs_neardup WHERE change IS NOT NULL'
expect_script 'is looked at next' $'done\n0 0 0 0' "CALL neardup_refresh('docs'); SELECT wrong('0.7')"
# A relation that is another one each time it is read.
q -c "CREATE VIEW others AS SELECT id, body || random()::text || random()::text AS body FROM docs" -c "SELECT neardup_watch('others', 0.7, id_column => 'id', text_column => 'body')" >/dev/null
for _ in 1 2; do expect_sql 'a refresh ends in any case' 'done' "CALL neardup_refresh('others', batch_rows => 5)"; done

# In transactions that see the past by default.
export PGOPTIONS='-c client_min_messages=error -c default_transaction_isolation=repeatable\ read'
flip 'repeatable read' 30 1 "$sets"
flip 'repeatable read, with triggers' 30 1 "$sets" ', detect => NULL'
export PGOPTIONS='-c client_min_messages=error -c default_transaction_isolation=serializable'
flip 'serializable' 30 1000 "$sets"
finish
