#!/usr/bin/env bash
# Jobs of tables, columns and schemas of any name, in databases of several encodings, with ids that have to be quoted; and of
# relations that cannot have one.
# shellcheck disable=SC2154 # server, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'autovacuum = off'
export PGOPTIONS='-c client_min_messages=warning'

identifier() { printf '"%s"' "${1//\"/\"\"}"; }
literal() { printf "'%s'" "${1//\'/\'\'}"; }

# a_job DATABASE NAME WORD: a whole life of a job where everything has that name, and documents that word.
a_job() {
    local database=$1 name=$2 word schema table id text docs other seen
    word=$(sed "s/[%'\\\\\"]//g" <<<"$3")
    schema=$(identifier "$name in") table=$(identifier "$name") id=$(identifier "$name i") text=$(identifier "$name t") other=$(identifier "$name 2")
    docs=$(literal "$schema.$table")
    q -d "$database" -c "CREATE SCHEMA $schema" -c "CREATE TABLE $schema.$table ($id text PRIMARY KEY, $text text)" \
        -c "INSERT INTO $schema.$table VALUES (E'a\"\\\\\\\\{,$word', '$word one two three'), ('b%s', '$word one two three'), ('', 'nothing $word like it')"
    seen=$(
        q -d "$database" 2>&1 <<SQL
SELECT neardup_watch($docs, 0.8) IS NULL;
CALL neardup_refresh($docs);
INSERT INTO $schema.$table SELECT '{' || i || ',''$word''}', '$word filler ' || i || md5(i::text) FROM generate_series(1, 30) i;
INSERT INTO $schema.$table VALUES ('$word%', 'nothing $word like it');
CALL neardup_refresh($docs, batch_rows => 5);
UPDATE $schema.$table SET $id = $id || '$word', $text = $text || ' $word' WHERE $id LIKE 'b%';
DELETE FROM $schema.$table WHERE $id LIKE '{2_,%';
CALL neardup_refresh($docs);
SELECT count(*) > 0 FROM $schema.$(identifier "${name}_pairs");
SELECT count(*) FROM ((TABLE $schema.$(identifier "${name}_pairs") EXCEPT SELECT * FROM near_duplicates($docs, 0.8, NULL::text)) UNION ALL
    (SELECT * FROM near_duplicates($docs, 0.8, NULL::text) EXCEPT TABLE $schema.$(identifier "${name}_pairs"))) d;
ALTER TABLE $schema.$table RENAME $text TO $other;
ALTER TABLE $schema.$table RENAME TO $other;
UPDATE $schema.$other SET $other = 'nothing $word like it';
CALL neardup_refresh($(literal "$schema.$other"));
SELECT count(*) = (SELECT n * (n - 1) / 2 FROM (SELECT count(*) AS n FROM $schema.$other) c) FROM $schema.$(identifier "${name}_pairs");
SELECT neardup_unwatch($(literal "$schema.$other")) IS NULL;
SELECT count(*) FROM pg_class WHERE relnamespace = $(literal "$schema")::regnamespace AND relkind = 'r';
SQL
    ) || true
    # The function is of type void, so what it gives is not NULL.
    expect "a job of $name in $database" $'f\ndone\ndone\ndone\nt\n0\ndone\nt\nf\n1' "$seen"
    # What an error says has the name in it, and its hint works.
    seen=$(q -d "$database" -v VERBOSITY=verbose -c "CALL neardup_refresh($(literal "$schema.$other"))" 2>&1) || true
    expect "the error names $name in $database" 1 "$(grep -c "ERROR:  42704: $(sed 's/[][\\.*^$]/\\&/g' <<<"${schema%%$'\n'*}")" <<<"$seen")"
    q -d "$database" -c "DROP TABLE $schema.$other"
}

longest=$(printf 'n%.0s' {1..49})
q -c 'CREATE EXTENSION neardup'
longest=$(printf 'n%.0s' {1..49})
for name in 'a%b' '%s%n%I%L' "it's" 'say "so"' 'back\slash' $'new\nline' ' ' 'docs.docs' '$1' "$longest" 'été' '文書' "{},;--/* \$\$"; do
    a_job postgres "$name" 'mot'
done
for database in latin1 euc_jp sql_ascii; do
    q -c "CREATE DATABASE $database TEMPLATE template0 ENCODING '$database' LOCALE 'C'" 2>/dev/null
    q -d $database -c 'CREATE EXTENSION neardup'
done
a_job latin1 'Café à la %s' 'déjà'
a_job latin1 "Zoë's \"Öl\"" 'über'
a_job euc_jp '文書' '日本語'
a_job euc_jp 'カタカナ%' '東京'
a_job sql_ascii 'naïve' 'café'
# In bytes of the database.
expect_error 'a name that is too long' 42622 'over 63 bytes' "CREATE TABLE \"${longest}x\" (id int PRIMARY KEY, body text); SELECT neardup_watch('${longest}x', 0.8)"
expect_error 'also with letters of three bytes' 42622 'over 63 bytes' "CREATE TABLE \"文書文書文書文書文書文書文書文書文書\" (id int PRIMARY KEY, body text); SELECT neardup_watch('文書文書文書文書文書文書文書文書文書', 0.8)"
expect_error 'which are two here' 42622 'over 63 bytes' "CREATE TABLE \"文書文書文書文書文書文書文書文書文書文書文書文書文書\" (id int PRIMARY KEY, body text); SELECT neardup_watch('文書文書文書文書文書文書文書文書文書文書文書文書文書', 0.8)" -d euc_jp
# Documents with letters that the database has, and bytes that are no text.
q -d sql_ascii -c 'CREATE TABLE bytes (id int PRIMARY KEY, body text)' -c "SELECT neardup_watch('bytes', 0.8)" -c "INSERT INTO bytes VALUES (1, E'caf\\xe9 au lait')" >/dev/null
expect_error 'bytes that are not text, in a refresh' 22021 '\b1\b' "CALL neardup_refresh('bytes')" -d sql_ascii
expect_sql 'which do not end a write' '' "UPDATE bytes SET body = body || E'\\xe8'; DELETE FROM bytes; INSERT INTO bytes VALUES (2, 'cafe')" -d sql_ascii
expect_sql 'and are gone then' done "CALL neardup_refresh('bytes')" -d sql_ascii
q -d sql_ascii -c "CREATE TABLE named (id text PRIMARY KEY, body text)" -c "SELECT neardup_watch('named', 0.8)" -c "CALL neardup_refresh('named')" >/dev/null
expect_sql 'nor do ids that are not' '' "INSERT INTO named VALUES (E'\\xe9', 'x y z'), (E'\\xe8', 'x y z'); UPDATE named SET body = 'x y'" -d sql_ascii
expect_sql 'whose pairs are found' $'done\n1' 'SELECT count(*) FROM named_pairs' -d sql_ascii -c "CALL neardup_refresh('named')"

# Long ids, and ids of many types.
q -c "CREATE TABLE long_ids (id text, body text)" -c "SELECT neardup_watch('long_ids', 0.8, id_column => 'id')" -c "CALL neardup_refresh('long_ids')" >/dev/null
expect_sql 'no id is too long to be written' '' "INSERT INTO long_ids SELECT string_agg(md5(i::text || n), ''), 'one two three' FROM generate_series(1, 300) i, generate_series(1, 3) n GROUP BY n; INSERT INTO long_ids VALUES ('a', 'one two three')"
expect_error 'only to be refreshed' 54000 'index row size|maximum' "CALL neardup_refresh('long_ids')"
expect_sql 'until it is gone' $'done\n0' 'SELECT count(*) FROM long_ids_pairs' -c 'DELETE FROM long_ids WHERE length(id) > 1000' -c "CALL neardup_refresh('long_ids')"

# What cannot have a job.
expect_error 'a temporary table' 0A000 'is temporary.*|HINT.*near_duplicates' "CREATE TEMP TABLE passing (id int PRIMARY KEY, body text); SELECT neardup_watch('passing', 0.8)"
expect_error 'a temporary view' 0A000 'is temporary' "CREATE TABLE lasting (id int PRIMARY KEY, body text); CREATE TEMP VIEW seen AS TABLE lasting; SELECT neardup_watch('seen', 0.8, id_column => 'id', text_column => 'body')"
expect_error 'an index' 42809 'is not a table' "SELECT neardup_watch('long_ids_neardup_id_idx', 0.8)"
expect_error 'nothing' 22004 'must not be NULL' 'SELECT neardup_watch(NULL)'
expect_error 'no relation' 42P01 'does not exist' 'SELECT neardup_watch(0::oid::regclass)'
expect_error 'no relation, to end it' 42P01 'does not exist' 'SELECT neardup_unwatch(4000000000::oid::regclass)'
# Types of ids that have no order, or no arrays.
expect_error 'ids without an order' 42883 'no default ordering' "CREATE TABLE points (id json, body text); SELECT neardup_watch('points', 0.8, id_column => 'id')"

finish
