#!/usr/bin/env bash
# Jobs on tables that Citus spreads over three workers, however these are spread: what a job has after a refresh is what
# near_duplicates and near_duplicate_clusters find. Where a table can go with the documents, hashes of rows as they were seen are
# there, are compared there, and only what changed comes to the coordinator; they follow where documents go, and nothing is lost
# where a worker is killed. Skipped where Citus is not installed.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/citus.sh"
citus_or_skip
citus_start 3 'citus.shard_count = 6'

q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE base (id bigint PRIMARY KEY, name text UNIQUE NOT NULL, body text);
INSERT INTO base SELECT n, 'd' || n * 7919 % 1000, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 300) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, 'e' || id, body || ' and ' || id FROM base WHERE id % 3 = 0;
INSERT INTO base SELECT 2000 + id, 'f' || id, body FROM base WHERE id < 50;
INSERT INTO base VALUES (5000, 'null', NULL), (5001, 'empty', ''), (5002, 'dots', '…');
-- The same rows of each kind: spread by numbers and by texts, on all nodes, on one, on one with its schema, in partitions; by another
-- column than the ids, and by ids of a collation of their own.
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
SELECT create_distributed_table('docs', 'id', shard_count => 6);
CREATE TABLE named (name text, body text);
SELECT create_distributed_table('named', 'name', shard_count => 4);
CREATE TABLE everywhere (id bigint PRIMARY KEY, body text);
SELECT create_reference_table('everywhere');
CREATE TABLE single (id bigint, body text);
SELECT create_distributed_table('single', NULL);
SET citus.enable_schema_based_sharding = on;
CREATE SCHEMA tenant;
CREATE TABLE tenant.docs (id bigint PRIMARY KEY, body text);
CREATE TABLE parted (id bigint, body text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (MINVALUE) TO (300);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (300) TO (MAXVALUE);
SELECT create_distributed_table('parted', 'id', shard_count => 5);
CREATE TABLE otherwise (id bigint, body text, by int DEFAULT 1);
SELECT create_distributed_table('otherwise', 'by', shard_count => 3);
CREATE TABLE collated (name text COLLATE "C", body text);
SELECT create_distributed_table('collated', 'name', shard_count => 3);
SQL

# differences TABLE ID: how many pairs, and how many rows of clusters, only one of both has, or differ.
differences() {
    local type=bigint
    if [[ $2 == name ]]; then type=text; fi
    q -c 'SET client_min_messages = error' -c "SELECT (SELECT count(*) FROM $1_pairs f FULL JOIN near_duplicates('$1', 0.8, NULL::$type, id_column => '$2') p USING (left_id, right_id)
            WHERE f.similarity IS DISTINCT FROM p.similarity),
        (SELECT count(*) FROM $1_clusters f FULL JOIN near_duplicate_clusters('$1', 0.8, NULL::$type, id_column => '$2') p USING (id)
            WHERE f.cluster_id IS DISTINCT FROM p.cluster_id)" 2>&1
}
refresh() {
    q -c 'SET client_min_messages = warning' -c "CALL neardup_refresh('$1'${2:+, batch_rows => $2})" >/dev/null
}
# place TABLE: where hashes are, whether there are as many as rows, and whether they are in one place. One query each: Citus takes
# tables of its own with none of what it keeps of these.
place() {
    local hashes
    hashes=$(q -c "SELECT hashes FROM neardup_jobs WHERE docs = '$1'::regclass")
    q -c "SELECT CASE WHEN count(*) = 2 AND count(DISTINCT colocationid) = 1 THEN 'with the documents' ELSE 'here' END
            FROM pg_dist_partition WHERE logicalrelid IN ('$1'::regclass, '${hashes:-$1_neardup}'::regclass)" \
        -c "SELECT count(*) FROM $1" -c "SELECT count(*) FROM ${hashes:-$1_neardup}" -c "SELECT count(*) FROM $1_neardup" | awk -v apart="$hashes" '
            { of[NR] = $0 } END { print of[1] "|" (of[2] == of[3] ? "all" : "not all") "|" (of[4] == (apart ? 0 : of[2]) ? "once" : "twice") }'
}
there='with the documents|all|once'
here='here|all|once'

# Rows that come, change and go are found by comparing, as there are no triggers; at once, and in batches, between which rows may change
# again. Rows without a text are rows, too.
job() {
    local table=$1 id=id number=id new='id + 100000' newer='id + 200000' where=$2
    if [[ $table == named || $table == collated ]]; then id=name number='abs(hashtext(name))' new="'new ' || name" newer="'newer ' || name"; fi
    differ_job() { expect "$table: a job, $1" '0|0' "$(differences "$table" $id)"; }
    q -c "INSERT INTO $table ($id, body) SELECT $id, body FROM base"
    q -c 'SET client_min_messages = warning' -c "SELECT neardup_watch('$table', 0.8, id_column => '$id')" >/dev/null
    refresh "$table"
    differ_job 'at first'
    expect "$table: where hashes are" "$where" "$(place "$table")"
    q -c "INSERT INTO $table ($id, body) SELECT $new, body FROM base WHERE $number % 7 = 0" -c "UPDATE $table SET body = body || ' changed' WHERE $number % 11 = 0" \
        -c "DELETE FROM $table WHERE $number % 13 = 0" -c "UPDATE $table SET body = NULL WHERE $number % 29 = 0"
    refresh "$table"
    differ_job 'all at once'
    q -c "INSERT INTO $table ($id, body) SELECT $newer, body FROM base WHERE $number % 17 = 0"
    q -c "DELETE FROM $table WHERE $number % 19 = 0" -c "UPDATE $table SET body = 'one text for all of these rows' WHERE $number % 23 = 0 OR body IS NULL"
    refresh "$table" 20
    differ_job 'in batches'
    expect "$table: where hashes are after that" "$where" "$(place "$table")"
    expect "$table: nothing is left to do" 0 "$(q -c 'SET client_min_messages = warning' -c "CALL neardup_refresh('$table')" \
        -c "SELECT rows FROM neardup_history WHERE docs = '$table'::regclass ORDER BY started DESC LIMIT 1" | tail -n 1)"
    q -c "SELECT neardup_unwatch('$table')" >/dev/null
    expect "$table: nothing is left" '' "$(q -c "SELECT relname FROM pg_class WHERE relname ~ '_neardup'")"
}
for table in docs named single parted; do job "$table" "$there"; done
for table in everywhere tenant.docs otherwise collated; do job "$table" "$here"; done
expect_error 'triggers' 22023 'triggers see every change of plain tables only' "SELECT neardup_watch('docs', 0.8, detect => 'triggers')"

# begun TABLE: a job on a table of such documents, refreshed once.
begun() {
    q >/dev/null <<SQL
SET client_min_messages = warning;
CREATE TABLE $1 (id bigint PRIMARY KEY, body text);
SELECT create_distributed_table('$1', 'id', shard_count => 6, colocate_with => 'none');
INSERT INTO $1 SELECT id, body FROM base;
SELECT neardup_watch('$1', 0.8);
CALL neardup_refresh('$1');
SQL
}

# What a refresh does, by EXPLAIN as it has run: rows of documents and hashes are joined in the shards, and what comes to the coordinator
# for that are the ids of three rows, not those of hundreds.
begun big
explained="LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice; SET client_min_messages = debug1"
q -c "UPDATE big SET body = body || ' changed' WHERE id IN (3, 30)" -c 'DELETE FROM big WHERE id = 100'
# Hashes of the batch go from node to node, which EXPLAIN ANALYZE cannot run; that comes later, and takes all back.
q -c "$explained" -c 'SET auto_explain.log_analyze = on' -c "CALL neardup_refresh('big')" >"$server/debug" 2>&1 || true
expect 'how far EXPLAIN ANALYZE came' 1 "$(grep -c 'ERROR:  EXPLAIN ANALYZE is currently not supported for INSERT ... SELECT' "$server/debug")"
# received PATTERN: of the statement whose text matches, the bytes that came from the nodes for each of its parts.
received() {
    awk -v pattern="$1" '/^Query Text: / { on = $0 ~ pattern } /^psql:|^[A-Z]+:  / { on = 0 } on && /Tuple data received from nodes: / { sub(/.*nodes: /, ""); print }' "$server/debug" | tr '\n' ' '
}
# Ids of rows that differ; these with the number that says in which batch they are, as they go on to the table of marks.
expect 'what comes to be compared' '24 bytes 30 bytes 30 bytes ' "$(received 'FULL JOIN')"
expect 'where that is compared' 6 "$(grep -A 60 'Query Text: .*FULL JOIN' "$server/debug" | grep -B 40 'Seq Scan on big_[0-9]' | grep -m 1 -oP 'Task Count: \K6')"
expect 'a number of each shard says how many rows are known' '48 bytes ' "$(received 'SELECT LEAST.count')"
# shipped: the queries whose rows Citus took elsewhere to go on with them, of documents or hashes; but for a row that says whether there
# are any, the ids of rows that differ, as above, and the texts of rows that may be similar to changed ones.
shipped() {
    grep -oP 'generating subplan \S+ for \K.*' "$server/debug" | grep 'public\.big\( \|_neardup_hash\)' | grep -vE '^CTE differ: .*(FULL|RIGHT) JOIN|^subquery SELECT 1 AS .* LIMIT 1$|^subquery SELECT id AS key, body AS document, .* ANY \('\''\{[0-9,]*\}'\''::bigint\[\]\)\) OFFSET 0$' | cut -c 1-300
}
expect 'no rows are taken elsewhere' '' "$(shipped)"
refresh big
expect 'without EXPLAIN ANALYZE' '0|0' "$(differences big id)"
for how in few 'all that differ' most; do
    case $how in
        few) q -c "UPDATE big SET body = body || ' and again' WHERE id < 20" ;;
        'all that differ') q -c "UPDATE big SET body = 'another text, which many have' WHERE id % 4 = 0" ;;
        most) q -c "UPDATE big SET body = body || ' more'" ;;
    esac
    q -c "$explained" -c "CALL neardup_refresh('big', batch_rows => 30)" >"$server/debug" 2>&1
    expect "$how: answers" '0|0' "$(differences big id)"
    expect "$how: no rows are taken elsewhere" '' "$(shipped)"
    expect "$how: hashes go from node to node" t "$(grep -q 'performing repartitioned INSERT' "$server/debug" && echo t)"
    expect "$how: none by the coordinator" 0 "$(grep -c 'Collecting INSERT ... SELECT results on coordinator' "$server/debug")"
done

# A shard that moves takes its hashes along.
q -c "UPDATE big SET body = 'a text that was moved' WHERE id % 5 = 0" -c "SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'block_writes')
    FROM (SELECT shardid, nodename, nodeport FROM pg_dist_shard JOIN pg_dist_shard_placement USING (shardid) WHERE logicalrelid = 'big'::regclass ORDER BY shardid LIMIT 1) s,
    LATERAL (SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards AND nodename <> s.nodename LIMIT 1) n" >/dev/null
refresh big
expect 'a shard was moved' '0|0' "$(differences big id)"
expect 'its hashes, too' "$there" "$(place big)"

# Documents that are not where they were: hashes follow them, with a notice, and only what changed is made anew.
follow() {
    local name=$1 table=$2 pattern=$3
    q -c "UPDATE $table SET body = 'a text of rows that follow: $name' WHERE id % 10 = 0"
    expect "$name: a notice" 1 "$(q -c "CALL neardup_refresh('$table')" 2>&1 | grep -c "NOTICE:  what was seen of the rows of $table is not where it is to be: $pattern")"
    expect "$name: only what changed is looked at" t "$(q -c "SELECT rows BETWEEN 1 AND 60 FROM neardup_history WHERE docs = '$table'::regclass ORDER BY started DESC LIMIT 1")"
    expect "$name: answers" '0|0' "$(differences "$table" id)"
    expect "$name: hashes" "$4" "$(place "$table")"
    expect "$name: no more to say" '' "$(q -c "CALL neardup_refresh('$table')" 2>&1 | grep NOTICE)"
}
q -c "SELECT update_distributed_table_colocation('big', 'none')" >/dev/null
follow 'another place' big '[0-9]* hashes are put in public.big_neardup_hash, spread as these are' "$there"
# A job of version 0.1 has them beside the marks.
q -c 'INSERT INTO big_neardup (id, hash) SELECT id, hash FROM big_neardup_hash' -c 'DROP TABLE big_neardup_hash' \
    -c "UPDATE neardup_all_jobs SET hashes = NULL WHERE docs = 'big'::regclass"
follow 'a job of before' big '[0-9]* hashes are put in public.big_neardup_hash, spread as these are' "$there"
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE plain (id bigint PRIMARY KEY, body text);
INSERT INTO plain SELECT id, body FROM base;
SELECT neardup_watch('plain', 0.8, detect => 'compare');
CALL neardup_refresh('plain');
SELECT create_distributed_table('plain', 'id', shard_count => 6);
SQL
follow 'a table that is spread' plain '[0-9]* hashes are put in public.plain_neardup_hash, spread as these are' "$there"
# As a dump leaves it that is restored where there is no Citus: all are ordinary tables.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE restored (id bigint PRIMARY KEY, body text);
INSERT INTO restored SELECT id, body FROM base;
SELECT neardup_watch('restored', 0.8, detect => 'compare');
CALL neardup_refresh('restored');
CREATE TABLE restored_neardup_hash (id bigint PRIMARY KEY, hash uuid);
INSERT INTO restored_neardup_hash SELECT id, hash FROM restored_neardup;
DELETE FROM restored_neardup;
UPDATE neardup_all_jobs SET hashes = 'restored_neardup_hash' WHERE docs = 'restored'::regclass;
SQL
follow 'a table that was restored' restored '[0-9]* hashes are put in public.restored_neardup' "$here"
expect 'no table of hashes is left' '' "$(q -c "SELECT to_regclass('restored_neardup_hash')")"
# Ids of another type, of documents that are on one node: all is made anew, in tables of that type.
q -c 'SET client_min_messages = warning' -c "SELECT neardup_watch('single', 0.8, id_column => 'id')" -c "CALL neardup_refresh('single')" -c 'ALTER TABLE single ALTER id TYPE int' >/dev/null
expect 'ids of another type' 1 "$(q -c "CALL neardup_refresh('single')" 2>&1 | grep -c 'NOTICE:  ids of single are of type integer now')"
expect 'ids of another type: answers' '0|0' "$(differences single id)"
expect 'ids of another type: hashes' "$there" "$(place single)"
expect 'the type of hashes' integer "$(q -c "SELECT atttypid::regtype FROM pg_attribute WHERE attrelid = 'single_neardup_hash'::regclass AND attname = 'id'")"
# What makes another table of the documents ends their job, and leaves nothing.
q -c 'SET client_min_messages = warning' -c "SELECT undistribute_table('plain')" >/dev/null
expect_error 'another table' 42704 'plain is not watched' "CALL neardup_refresh('plain')"
# leftovers NAME: tables of jobs on any node.
leftovers() {
    local dir
    for dir in "${nodes[@]}"; do q -h "$dir" -c "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname ~ '^$1_(pairs|clusters|neardup)'"; done
}
expect 'another table, and nothing is left' '' "$(leftovers plain)"

# Who is no superuser may have such a job, too; and a table of that name may be in the way.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE ROLE writer LOGIN;
CREATE SCHEMA writer AUTHORIZATION writer;
SET ROLE writer;
CREATE TABLE writer.texts (id int PRIMARY KEY, body text);
SELECT create_distributed_table('writer.texts', 'id', shard_count => 3);
INSERT INTO writer.texts VALUES (1, 'one two three four'), (2, 'one two three four'), (3, NULL);
SELECT neardup_watch('writer.texts', 0.8);
CREATE TABLE writer.texts_neardup_hash (id int);
SQL
expect_error 'in the way' 42P07 'relation "texts_neardup_hash" already exists, and the job needs a table of this name' "CALL neardup_refresh('writer.texts')" -U writer
q -U writer -c 'DROP TABLE writer.texts_neardup_hash' -c "CALL neardup_refresh('writer.texts')" >/dev/null
expect 'the job of a role' '1|2|1' "$(q -U writer -c 'TABLE writer.texts_pairs')"
expect 'whose hashes these are' 'writer' "$(q -c "SELECT tableowner FROM pg_tables WHERE tablename = 'texts_neardup_hash'")"
q -U writer -c "UPDATE writer.texts SET body = 'one two three four' WHERE id = 3" -c "CALL neardup_refresh('writer.texts')" >/dev/null
expect 'the job of a role, after changes' 3 "$(q -U writer -c 'SELECT count(*) FROM writer.texts_pairs')"
q -U writer -c 'SET client_min_messages = warning' -c 'DROP TABLE writer.texts'
expect 'the job of a role, dropped with its documents' '' "$(leftovers texts)"

# An id that stands in two rows with different texts is an error, as it is elsewhere.
q -c 'SET client_min_messages = warning' -c "SELECT neardup_watch('parted', 0.8, id_column => 'id')" -c "CALL neardup_refresh('parted')" \
    -c "INSERT INTO parted VALUES (3, 'the id of another row')" >/dev/null
expect_error 'an id twice' 23505 'id 3 stands in more than one row of parted' "CALL neardup_refresh('parted')"
q -c "DELETE FROM parted WHERE body = 'the id of another row'"
refresh parted
expect 'the id once more' '0|0' "$(differences parted id)"

# kill -9 of a worker within a batch, whose hashes are written and not committed: nothing is lost, and nothing is half done. A trigger
# of the owner's waits there.
expected_in_log='terminated by signal 9|EXPLAIN ANALYZE is currently not supported'
coordinator=$server
begun victim
q -c "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN IF to_regclass('public.slow') IS NOT NULL THEN PERFORM pg_sleep(120); END IF; RETURN NULL; END\$\$" \
    -c 'CREATE TRIGGER wait AFTER INSERT ON victim_pairs EXECUTE FUNCTION wait()' -c 'CREATE TABLE slow ()'
for n in 1 2; do
    q -c "UPDATE victim SET body = 'a text of the victims $n' WHERE id % 9 = $n"
    before=$(q -c "SELECT count(*), md5(string_agg(f::text, ' ' ORDER BY f.left_id, f.right_id)) FROM victim_pairs f")
    q -c "CALL neardup_refresh('victim', batch_rows => $((n * 50)))" >"$server/killed" 2>&1 &
    refreshing=$!
    until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == 1 ]]; do sleep 0.1; done
    dir=${nodes[n]}
    as_server kill -9 "$(head -n 1 "$dir/data/postmaster.pid")"
    until=$((SECONDS + 60))
    # Its backends go when they see that it is gone.
    until server=$dir server_up >/dev/null 2>&1 || ((SECONDS > until)); do :; done
    q -c 'SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = '"'PgSleep'" >/dev/null
    wait $refreshing && failed 'a refresh whose worker was killed ends with an error' "$(cat "$server/killed")"
    expect "what there was before worker $n was killed" "$before" "$(q -c "SELECT count(*), md5(string_agg(f::text, ' ' ORDER BY f.left_id, f.right_id)) FROM victim_pairs f")"
    q -c 'DROP TABLE slow'
    refresh victim 50
    expect "worker $n was killed: answers" '0|0' "$(differences victim id)"
    expect "worker $n was killed: hashes" "$there" "$(place victim)"
    q -c 'CREATE TABLE slow ()'
done
server=$coordinator
q -c 'SET client_min_messages = warning' -c 'DROP TABLE victim'
expect 'dropped with the documents' '' "$(leftovers victim)"
finish
