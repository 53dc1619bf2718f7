#!/usr/bin/env bash
# Ids that repeat: at neardup_watch, and later, in a view and in a table whose unique index was dropped. A refresh then fails with
# one error that names the id and shows how to find its rows, changes nothing, and goes on when the id is in one row again.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
export PGOPTIONS='-c client_min_messages=warning'
q -c 'CREATE EXTENSION neardup'

# repeats NAME RELATION TABLE KEY SHOWN ARGUMENTS: repeats the id of the first row of TABLE, whose pairs stay as they are.
# RELATION is as SQL has it, KEY and SHOWN are the id as a literal of SQL and as the message has it.
repeats() {
    local name=$1 relation=$2 table=$3 key=$4 shown=$5 arguments=${6:-} pairs before seen hint
    pairs=$(q -c "SELECT pairs FROM neardup_jobs WHERE docs = '${relation//\'/\'\'}'::regclass")
    before=$(q -c "SELECT * FROM $pairs ORDER BY 1, 2")
    q -c "INSERT INTO $table VALUES ($key, 'quite another text with the same id')"
    if seen=$(q -v VERBOSITY=verbose -c "CALL neardup_refresh('${relation//\'/\'\'}'$arguments)" 2>&1); then
        failed "$name: it fails" "$seen"
        return
    fi
    expect "$name: the message" "ERROR:  23505: id $shown stands in more than one row of $relation" "$(head -n 1 <<<"$seen")"
    hint=$(sed -n 's/^HINT: .* The rows: //p' <<<"$seen")
    expect "$name: the statement of the hint finds both ($hint)" 2 "$(q -c "$hint" | wc -l)"
    expect "$name: nothing has changed" "$before" "$(q -c "SELECT * FROM $pairs ORDER BY 1, 2")"
    q -c "DELETE FROM $table WHERE body LIKE 'quite another%'"
    expect "$name: it goes on" "done"$'\n'"$before" "$(q -c "CALL neardup_refresh('${relation//\'/\'\'}')" -c "SELECT * FROM $pairs ORDER BY 1, 2")"
}

# A table whose changes triggers note.
q -o /dev/null <<'SQL'
CREATE TABLE docs (id int CONSTRAINT one UNIQUE NOT NULL, body text);
INSERT INTO docs VALUES (1, 'one two three four five'), (2, 'five four three two one'), (3, 'something else');
SELECT neardup_watch('docs', 0.8, id_column => 'id');
CALL neardup_refresh('docs') \g /dev/null
ALTER TABLE docs DROP CONSTRAINT one;
SQL
repeats 'a table' docs docs 1 1
repeats 'in batches of one row' docs docs 2 2 ', batch_rows => 1'
expect_error 'watched anew' 23505 'id 3 stands in more than one row of docs' "INSERT INTO docs VALUES (3, 'and more'); SELECT neardup_unwatch('docs'); SELECT neardup_watch('docs', 0.8, id_column => 'id')"
q -c "DELETE FROM docs WHERE body = 'and more'"
q -c 'CALL neardup_refresh($$docs$$)' >/dev/null

# A view, whose rows are compared; it repeats an id before the first refresh, too.
q -o /dev/null <<'SQL'
CREATE TABLE texts (k text, body text);
INSERT INTO texts VALUES ('it''s (a)=(b)', 'one two three four five'), ('b', 'five four three two one'), ('c', 'something else');
CREATE SCHEMA "My ""schema";
CREATE VIEW "My ""schema"."the docs" AS SELECT k AS "Its id", body FROM texts;
SELECT neardup_watch('"My ""schema"."the docs"', 0.8, id_column => 'Its id');
INSERT INTO texts VALUES ('b', 'from the first');
SQL
view='"My ""schema"."the docs"'
expect_error 'a view, at the first refresh' 23505 'id b stands in more than one row of "My ' "CALL neardup_refresh('$view')"
q -c "DELETE FROM texts WHERE body = 'from the first'" -c "CALL neardup_refresh('$view')" >/dev/null
repeats 'a view' "$view" texts "'it''s (a)=(b)'" "it's (a)=(b)"
repeats 'a view, in batches of one row' "$view" texts "'c'" c ', batch_rows => 1'

q -o /dev/null <<'SQL'
CREATE TABLE parted (id uuid, part int, body text, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2);
CREATE VIEW second AS SELECT id, part, body FROM parted_2;
INSERT INTO parted VALUES ('00000000-0000-4000-8000-000000000001', 1, 'one two three'), ('00000000-0000-4000-8000-000000000002', 2, 'ONE two three');
SELECT neardup_watch('parted', 0.8, id_column => 'id', method => 'minhash', clustering => 'star');
CALL neardup_refresh('parted') \g /dev/null
INSERT INTO parted VALUES ('00000000-0000-4000-8000-000000000001', 2, 'quite another');
SQL
expect_error 'two partitions' 23505 "id 00000000-0000-4000-8000-000000000001 stands in more than one row of parted" "CALL neardup_refresh('parted')"
q -c "DELETE FROM parted WHERE body = 'quite another'"
expect 'it goes on' $'done\n1' "$(q -c "CALL neardup_refresh('parted')" -c 'SELECT count(*) FROM parted_pairs' 2>&1)"

# Equal rows of one id, as a join of a view makes them, are noticed when a pair has this id.
q -o /dev/null <<'SQL'
CREATE TABLE tags (doc text, tag text);
INSERT INTO tags VALUES ('b', 'red');
CREATE VIEW tagged AS SELECT k AS id, body FROM texts LEFT JOIN tags ON doc = k;
SELECT neardup_watch('tagged', 0.8, id_column => 'id');
CALL neardup_refresh('tagged') \g /dev/null
INSERT INTO tags VALUES ('b', 'blue');
INSERT INTO texts VALUES ('d', 'one two three five four');
SQL
expect_error 'equal rows of one id' 23505 'an id stands in more than one row of tagged' "CALL neardup_refresh('tagged')"
expect_sql 'the statement of the hint finds it' 'b|2' 'SELECT id, count(*) FROM tagged GROUP BY id HAVING count(*) > 1;'
q -c "DELETE FROM tags WHERE tag = 'blue'"
expect 'and then it goes on' $'done\n3' "$(q -c "CALL neardup_refresh('tagged')" -c 'SELECT count(*) FROM tagged_pairs' 2>&1)"
finish
