#!/usr/bin/env bash
# near_duplicates_into on tables that Citus spreads over three workers: the pairs and similarities are those of near_duplicates
# of the same rows in an ordinary table, and the clusters those of near_duplicate_clusters; no rows but the order of tokens pass the
# coordinator, nothing is left, also not after a worker was killed. Jobs on such tables: citus_jobs.sh; other methods: citus_methods.sh. Skipped where Citus is not
# installed. With NEARDUP_DATA also on documents of corpora, 200 of each; NEARDUP_DOCUMENTS says how many.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/citus.sh"
citus_or_skip
# Two shards for each node are enough to tell what is of a node from what is of a shard, and each more takes time at every step.
citus_start 3 'citus.shard_count = 6'

q -c 'CREATE TABLE base (id bigint PRIMARY KEY, name text UNIQUE NOT NULL, body text)'
# The same rows of each kind: spread by numbers and by texts, on all nodes, on one, on one with its schema, in columns, in partitions.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
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
SQL
kinds=(docs everywhere single tenant.docs parted)

# What base has in all of them.
fill() {
    local table
    for table in "${kinds[@]}"; do q -c "TRUNCATE $table" -c "INSERT INTO $table SELECT id, body FROM base"; done
    q -c 'TRUNCATE named' -c 'INSERT INTO named SELECT name, body FROM base' -c 'ANALYZE base'
}
# difference TABLE ID THRESHOLD METHOD [ARGUMENTS]: a script that prints how many pairs only one of both has, or differ in their
# similarity.
parts=''
difference() {
    local type=bigint
    if [[ $2 == name ]]; then type=text; fi
    cat <<SQL
CALL near_duplicates_into('$1', $3, 'found_$2', id_column => '$2', text_column => 'body', method => '$4'${5:+, $5}${parts:+, parts => $parts});
SELECT count(*) FROM found_$2 f FULL JOIN near_duplicates('base', $3, NULL::$type, id_column => '$2', text_column => 'body',
    method => '$4'${5:+, $5}) p USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM p.similarity;
DROP TABLE found_$2;
DROP TABLE IF EXISTS found_$2_log;
SQL
}
differ() {
    (echo 'SET client_min_messages = warning;' && difference "$@") | q 2>&1
}
# all_methods TABLE ID: what differs, a line for each method and threshold; in one session, whose connections to the nodes stay.
all_methods() {
    local method threshold
    for method in jaccard cosine dice overlap; do
        for threshold in 0.5 0.8 0.9; do
            echo "\\echo -n '$method $threshold: '"
            difference "$1" "$2" $threshold $method
        done
    done | (echo 'SET client_min_messages = warning;' && cat) | q 2>&1
}
# differ_clusters TABLE ID THRESHOLD [ARGUMENTS]: documents whose cluster, or what it is told of it, is another than that of one server,
# of the pairs that were found; what is said of chains is of no interest.
differ_clusters() {
    local type=bigint
    if [[ $2 == name ]]; then type=text; fi
    q -c "SET client_min_messages = error" \
        -c "CALL near_duplicates_into('$1', $3, 'found_$2', id_column => '$2', text_column => 'body', clusters => 'grouped_$2'${4:+, $4})" \
        -c "SELECT count(*) FROM grouped_$2 g FULL JOIN clusters_of_pairs('TABLE found_$2', NULL::$type) c USING (id)
                WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" \
        -c "DROP TABLE found_$2, grouped_$2, found_$2_log" 2>&1
}
nothing=$(for method in jaccard cosine dice overlap; do for threshold in 0.5 0.8 0.9; do echo "$method $threshold: 0"; done; done)
# compare NAME: all of base, with both kinds of ids at the same time.
compare() {
    all_methods named name >"$server/texts" &
    expect "$1: numbers" "$nothing" "$(all_methods docs id)"
    wait $!
    expect "$1: texts" "$nothing" "$(cat "$server/texts")"
    expect "$1: clusters of texts" 0 "$(differ_clusters named name 0.3)"
}
# No working table is left on any node.
left_behind() {
    local dir
    for dir in "${nodes[@]}"; do
        expect "$1: no working table is left" '' "$(q -h "$dir" -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"
    done
}

q <<'SQL'
INSERT INTO base SELECT n, 'd' || n * 7919 % 1000, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 300) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, 'e' || id, body || ' and ' || id FROM base WHERE id % 3 = 0;
INSERT INTO base SELECT 2000 + id, 'f' || id, body FROM base WHERE id < 50;
INSERT INTO base VALUES (5000, 'null', NULL), (5001, 'empty', ''), (5002, 'dots', '…');
SQL
fill
expect 'there are pairs' t "$(q -c "SELECT count(*) > 100 FROM near_duplicates('base', 0.8, id_column => 'id', text_column => 'body')")"
compare words
for table in everywhere single tenant.docs parted; do
    expect "$table" 0 "$(differ $table id 0.5 jaccard)"
    expect "$table by minhash" 0 "$(differ $table id 0.8 minhash "options => '{\"hand_over\": false}'")"
done
expect 'minhash' 0 "$(differ docs id 0.5 minhash "shingle => 1, options => '{\"hand_over\": false}'")"
expect 'minhash of characters' 0 "$(differ docs id 0.6 minhash "tokenizer => 'chars', options => '{\"hand_over\": false}'")"
expect 'sets of two words' 0 "$(differ docs id 0.5 jaccard 'shingle => 2')"
expect 'lexemes' 0 "$(differ docs id 0.7 jaccard "tokenizer => 'tsearch:simple'")"
parts=2
expect 'fewer parts than shards' 0 "$(differ docs id 0.8 cosine)"
parts=1
expect 'one part of a reference table' 0 "$(differ everywhere id 0.8 jaccard)"
parts=100
expect 'many parts' 0 "$(differ docs id 0.8 cosine)"
parts=''
expect 'a method that is not made in parts' 0 "$(differ docs id 0.5 runs "options => '{\"max_documents\": 900, \"min_run\": 3}'")"
expect 'an ordinary table' 0 "$(differ base id 0.8 jaccard)"
left_behind methods

# near_duplicates reads every kind of tables, by every method, as it reads an ordinary one.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS citus_columnar;
CREATE MATERIALIZED VIEW seen AS SELECT * FROM docs;
CREATE TABLE packed (id bigint, body text) USING columnar;
SELECT create_distributed_table('packed', 'id', shard_count => 3);
INSERT INTO packed SELECT id, body FROM base;
SQL
names=$(printf "('%s')," "${kinds[@]}" seen packed)
for how in 'jaccard 0.8' 'cosine 0.8' 'dice 0.8' 'overlap 0.9' 'containment 0.9' 'edit 0.8' 'tlcs 0.7' 'lcs 0.7' 'minhash 0.8' 'simhash 0.97' \
    'shingling 0.3' 'combined NULL' 'imatch NULL' 'spotsigs 0.5' 'exact_text NULL' 'title NULL' 'repeatability 0.8' 'exact_code NULL'; do
    expect "all kinds of tables by ${how% *}" 1 "$(q -c 'SET client_min_messages = warning' -c "SELECT count(DISTINCT d.digest) FROM (VALUES $names ('base')) k(name),
        LATERAL (SELECT COALESCE(md5(string_agg(p::text, ' ' ORDER BY p.left_id, p.right_id)), '') AS digest
            FROM near_duplicates(k.name::regclass, ${how#* }, id_column => 'id', text_column => 'body', method => '${how% *}') p) d" 2>&1)"
done
q -c 'DROP MATERIALIZED VIEW seen' -c 'DROP TABLE packed'

# Where the pairs are: with the documents, if these are spread by their ids; and pairs in a schema that is on one node.
seen=$(q -c "CALL near_duplicates_into('docs', 0.8, 'found', max_pairs => 100000)" 2>&1)
# model METHOD ROW: the bytes that docs/design/scale-out.md says that a method, as JSON, moves, from what the functions for parts make of the
# documents on one server, where ROW is what a row of a part has.
model() {
    q -c 'SET search_path = public, neardup_internal' \
        -c "CREATE TEMPORARY TABLE sets AS SELECT id, neardup_part_document(body, NULL, NULL, NULL, '$1') AS set FROM base WHERE body IS NOT NULL" \
        -c 'CREATE TEMPORARY TABLE once AS SELECT DISTINCT ON (set) id AS n, set FROM sets ORDER BY set, id' \
        -c "CREATE TEMPORARY TABLE ranks AS SELECT neardup_part_ranks(set, '$1', NULL) AS ranks FROM once" \
        -c "CREATE TEMPORARY TABLE routes AS SELECT g.part, s.n, g.size, g.bitmap, g.prefix FROM once s, ranks r, neardup_part_rows(s.set, r.ranks, '$1', 3) g WHERE s.set <> ''" \
        -c "CREATE TEMPORARY TABLE candidates AS SELECT p.left_id, p.right_id
            FROM (SELECT neardup_part_join(p.n, p.size, p.bitmap, p.prefix, '$1', NULL) AS ids FROM routes p GROUP BY part) j, neardup_part_candidates(j.ids) p" \
        -c "SELECT ((SELECT sum(octet_length(set) + 56) FROM sets) + (SELECT sum($2) FROM routes) + 16 * (SELECT count(*) FROM candidates)
            + (SELECT sum(octet_length(set) + 20) FROM (SELECT DISTINCT left_id, right_id FROM candidates) c JOIN once s ON s.n = c.left_id))::bigint"
}
# is_near SAID MODEL: whether a call says that it moved as much, or a fifth more or less.
is_near() {
    local told
    told=$(grep -oE '[0-9]+ bytes of rows went from shard to shard, [0-9]+ a document' <<<"$1" | cut -d ' ' -f 1)
    if ((told * 5 > $2 * 4 && told * 5 < $2 * 6)); then echo near; else echo "$1: the model says $2"; fi
}
expect 'bytes are told, and near the model' near "$(is_near "$seen" "$(model '{"method": "jaccard", "threshold": 0.8}' '47 + octet_length(prefix)')")"
expect 'few documents have a part for each node' t "$(q -c "SELECT r.rows <= 3 * m.rows FROM found_log r, found_log m WHERE r.name = 'routes' AND m.name = 'members'")"
expect 'pairs are where the documents are' t "$(q -c "SELECT count(*) = 1 FROM (SELECT DISTINCT colocationid FROM pg_dist_partition WHERE logicalrelid IN ('docs'::regclass, 'found'::regclass)) c")"
q -c 'DROP TABLE found, found_log'
seen=$(q -c "CALL near_duplicates_into('docs', 0.8, 'found', method => 'minhash', options => '{\"hand_over\": false}')" 2>&1)
expect 'bytes are told by minhash, too' near "$(is_near "$seen" "$(model '{"method": "minhash", "threshold": 0.8}' '45 + octet_length(prefix)')")"
q -c 'DROP TABLE found, found_log'
expect 'pairs in such a schema' 0 "$(q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('docs', 0.8, 'tenant.found')" \
    -c "SELECT count(*) FROM tenant.found f FULL JOIN near_duplicates('base', 0.8, id_column => 'id', text_column => 'body') p USING (left_id, right_id)
        WHERE f.similarity IS DISTINCT FROM p.similarity" -c 'DROP TABLE tenant.found, tenant.found_log' 2>&1)"

# Clusters: by stars where tables can be spread by ids, and then where the documents are; else of the pairs, here.
seen=$(q -c "CALL near_duplicates_into('docs', 0.3, 'found', clusters => 'grouped', max_pairs => 100000)" 2>&1)
expect 'clusters of documents' 0 "$(q -c 'SET client_min_messages = error' -c "SELECT count(*) FROM grouped g FULL JOIN near_duplicate_clusters('base', 0.3, id_column => 'id', text_column => 'body') c USING (id)
    WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" 2>&1)"
expect 'there are large clusters, and small ones' t "$(q -c 'SELECT max(size) > 100 AND min(size) = 2 AND bool_or(similarity IS NULL) FROM grouped')"
expect 'clusters are where the documents are' t "$(q -c "SELECT count(*) = 1 FROM (SELECT DISTINCT colocationid FROM pg_dist_partition WHERE logicalrelid IN ('docs'::regclass, 'grouped'::regclass)) c")"
expect 'rounds are told' t "$(q -c "SELECT count(*) BETWEEN 2 AND 10 AND min((about->>'unsettled')::int8) = 0 FROM found_log WHERE name ~ '^stars, round '")"
q -c 'DROP TABLE found, grouped, found_log'
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE DOMAIN named_id AS text CHECK (VALUE <> '');
CREATE TABLE typed (uuid uuid, domain named_id, bits bit varying, body text);
SELECT create_distributed_table('typed', 'uuid', shard_count => 4);
INSERT INTO typed SELECT md5(id::text)::uuid, name, id::int4::bit(16)::bit varying, body FROM base;
SQL
for column in uuid domain bits; do
    type=$(q -c "SELECT COALESCE(NULLIF(t.typbasetype, 0), t.oid)::regtype
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE attrelid = 'typed'::regclass AND attname = '$column'")
    expect "clusters by ids of type $type" 0 "$(q -c 'SET client_min_messages = error' -c "CALL near_duplicates_into('typed', 0.3, 'found', id_column => '$column', text_column => 'body', clusters => 'grouped')" \
        -c "SELECT count(*) FROM grouped g FULL JOIN clusters_of_pairs('TABLE found', NULL::$type) c USING (id)
            WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" 2>&1)"
    expect "whether these are by stars" "$(test $column != bits && echo t || echo f)" "$(q -c "SELECT count(*) > 0 FROM found_log WHERE name ~ '^stars'")"
    q -c 'DROP TABLE found, grouped, found_log'
done
for table in everywhere single tenant.docs parted; do expect "clusters of $table" 0 "$(differ_clusters $table id 0.3)"; done
expect 'clusters by minhash' 0 "$(differ_clusters docs id 0.3 "method => 'minhash', shingle => 1, options => '{\"hand_over\": false}'")"
expect 'clusters in a schema on one node' 0 "$(q -c 'SET client_min_messages = error' -c "CALL near_duplicates_into('docs', 0.3, 'found', clusters => 'tenant.grouped')" \
    -c "SELECT count(*) FROM tenant.grouped g FULL JOIN near_duplicate_clusters('base', 0.3, id_column => 'id', text_column => 'body') c USING (id)
        WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" -c 'DROP TABLE found, tenant.grouped, found_log' 2>&1)"
expect_error 'too many pairs, before there are edges' 54000 'more than max_pairs = 20 pairs' "CALL near_duplicates_into('docs', 0.8, 'found', max_pairs => 20, clusters => 'grouped')"

# A chain: rounds grow with the digits of its length, and the warning is that of one server.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE chain (id bigint PRIMARY KEY, body text);
SELECT create_distributed_table('chain', 'id', shard_count => 6);
INSERT INTO chain SELECT n, string_agg('w' || n + w, ' ') FROM generate_series(1, 3000) n, generate_series(1, 10) w GROUP BY n;
SQL
seen=$(q -c "CALL near_duplicates_into('chain', 0.8, 'found', clusters => 'grouped')" 2>&1)
expect 'one chain' '3000|1|1' "$(q -c 'SELECT count(*), count(DISTINCT cluster_id), min(cluster_id) FROM grouped')"
expect 'rounds of a chain' t "$(q -c "SELECT count(*) BETWEEN 4 AND 14 FROM found_log WHERE name ~ '^stars'")"
expect 'a chain is told of' "$(q -c "SELECT count(*) FROM near_duplicate_clusters('chain', 0.8)" 2>&1 | grep -A1 '^WARNING')" "$(grep -A1 '^WARNING' <<<"$seen")"
q -c 'DROP TABLE found, grouped, found_log, chain, typed'

# How each statement on working tables is made, as EXPLAIN says of it when it has run: where its rows are (pushdown), or from node
# to node (repartition). The order of tokens alone is collected on the coordinator; of documents that are on all nodes also the keys
# of shards come from there, and of those that are on one node with their schema sets, as a function can make no tables of such a
# schema. That is also what the executor says at its work, as EXPLAIN tells what the planner wants.
# how_made: the kinds of statements of a log of auto_explain, each once: what it does, the table that is filled or read, and how.
# Not those on the log, which is here; nor what Citus does for itself: it asks whether a table that it spreads is empty, and what
# there is in the shards of this node.
how_made() {
    awk '
        function told() {
            if (query ~ /neardup_[0-9a-f]+_|found|grouped/ && query !~ /found_log|create_(distributed|reference)_table|^SELECT TRUE FROM|_[a-z]+_[0-9]+ / && plan != "") {
                what = query ~ /^INSERT/ ? "fills" : "reads"
                match(query, /neardup_[0-9a-f]+_[a-z]+|found|grouped/)
                table = substr(query, RSTART, RLENGTH)
                sub(/^neardup_[0-9a-f]+_/, "", table)
                how = plan ~ /Distributed Subplan/ ? "subplan" : plan ~ /INSERT\/SELECT method: / ? plan : plan ~ /Citus Adaptive/ ? "pushdown" : "here"
                sub(/.*INSERT\/SELECT method: /, "", how)
                sub(/\n.*/, "", how)
                print what, table ":", how
            }
            query = plan = ""
        }
        /^[A-Z]+:  / { told() }
        /^Query Text: / { query = substr($0, 13); next }
        query != "" { plan = plan $0 "\n" }
        END { told() }' "$1" | sort -u
}
explained="LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice; SET client_min_messages = debug1"
for table in docs parted everywhere tenant.docs; do
    # Only the coordinator notes which parts are done.
    elsewhere=$'fills parts: here\nfills ranks: pull to coordinator'
    # Only ids that no index makes unique are moved to be checked.
    filled='candidates clusters counted edges found grouped halves joined larger members named neighbours pairs parts ranks routes samples sets vertices '
    case $table in
        parted) filled=${filled/halves/halves ids} ;;
        everywhere) elsewhere+=$'\nfills slots: pull to coordinator' filled=${filled/sets/sets slots} ;;
        tenant.docs) elsewhere+=$'\nfills sets: pull to coordinator' ;;
    esac
    elsewhere+=$'\nreads parts: here'
    q -c "$explained" -c "CALL near_duplicates_into('$table', 0.3, 'found', id_column => 'id', max_pairs => 100000, clusters => 'grouped')" >"$server/debug" 2>&1
    how_made "$server/debug" >"$server/how"
    # All of which is made in another way.
    expect "$table: by EXPLAIN all is made where it is, or goes from node to node" "$elsewhere" "$(grep -vE ': (pushdown|repartition)$' "$server/how")"
    expect "$table: what was filled" "$filled" "$(sed -n 's/^fills \(.*\):.*/\1/p' "$server/how" | sort -u | tr '\n' ' ')"
    expect "$table: what was read" t "$(test "$(grep -c '^reads' "$server/how")" -ge 8 && echo t)"
    expect "$table: what passes the coordinator" "$(grep -vc ': here$' <<<"$elsewhere")" "$(grep -c 'Collecting INSERT ... SELECT results on coordinator' "$server/debug")"
    expect "$table: no query is answered by way of the coordinator" 0 "$(grep -c 'generating subplan' "$server/debug")"
    q -c 'DROP TABLE found, grouped, found_log'
done

# An index of such a table is empty here: what is asked of it is an error whose hint asks all shards.
q -c 'SET client_min_messages = warning' -c 'CREATE INDEX docs_body ON docs USING signature (body)'
for call in "signature_index_stats('docs_body')" "signature_index_check('docs_body')" "signature_index_merge('docs_body')"; do
    expect_error "shards by ${call%(*}" 0A000 'Ask all shards: SELECT shardid, result FROM run_command_on_shards' "SELECT $call"
    hint=$(q -c "SELECT $call" 2>&1 | grep -oP '^HINT:  Ask all shards: \K.*' || true)
    expect "all shards by ${call%(*}" 6 "$(q -c "$hint" 2>&1 | grep -cE '^[0-9]+\|.')"
done
expect 'all rows are in the indexes of shards' t "$(q -c "SELECT sum(result::int8) = (SELECT count(*) FROM docs) FROM run_command_on_shards('docs', \$\$SELECT s.rows FROM pg_index i
    JOIN pg_class c ON c.oid = i.indexrelid, signature_index_stats(c.oid::regclass) s WHERE i.indrelid = '%s'::regclass AND starts_with(c.relname, 'docs_body_')\$\$)" 2>&1)"
q -c 'DROP INDEX docs_body'

# Errors that are the user's leave nothing.
q -c "INSERT INTO parted SELECT 5000, 'the id of another document'"
expect_error 'an id twice' 23505 'id 5000 stands in more than one row' "CALL near_duplicates_into('parted', 0.8, 'found', id_column => 'id')"
q -c "DELETE FROM parted WHERE body = 'the id of another document'"
# Not every unique index makes ids unique.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE partly (id bigint, body text);
SELECT create_distributed_table('partly', 'id', shard_count => 4);
CREATE UNIQUE INDEX ON partly (id) WHERE id < 5000;
CREATE UNIQUE INDEX ON partly (id, body);
CREATE INDEX ON partly (id);
INSERT INTO partly VALUES (1, 'one document'), (6000, 'another document'), (6000, 'a third document');
SQL
expect_error 'an id twice beside indexes' 23505 'id 6000 stands in more than one row' "CALL near_duplicates_into('partly', 0.8, 'found', id_column => 'id')"
q -c 'DROP TABLE partly'
expect_error 'too many pairs' 54000 'more than max_pairs = 20 pairs' "CALL near_duplicates_into('docs', 0.8, 'found', max_pairs => 20)"
expect_error 'too few parts' 22023 'parts must be between 1 and 65536, not 0' "CALL near_duplicates_into('docs', 0.8, 'found', parts => 0)"
left_behind errors

# Shards of the documents move while they are written to (which needs logical replication, and so keys of all that moves with them),
# beside results, and beside what a call has left.
q -c 'CREATE SEQUENCE moves' >/dev/null
move() {
    q -c 'SET client_min_messages = warning' -c "SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, shard_transfer_mode => 'force_logical')
        FROM (SELECT shardid, nodename, nodeport FROM pg_dist_shard JOIN pg_dist_shard_placement USING (shardid) WHERE logicalrelid = 'docs'::regclass
            ORDER BY shardid OFFSET nextval('moves') % 6 LIMIT 1) s,
        LATERAL (SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards AND nodename <> s.nodename ORDER BY nodename LIMIT 1) n" 2>&1
}
q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('docs', 0.8, 'found', id_column => 'id', clusters => 'grouped')"
expect 'keys of results' 'found|PRIMARY KEY (left_id, right_id)
grouped|PRIMARY KEY (id)' "$(q -c "SELECT conrelid::regclass, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('found'::regclass, 'grouped'::regclass) ORDER BY 1")"
said=$(q -c "SELECT md5(string_agg(f::text, ' ' ORDER BY f.left_id, f.right_id)) FROM found f" -c "SELECT md5(string_agg(g::text, ' ' ORDER BY g.id)) FROM grouped g")
expect 'a shard moves while results are there' '' "$(move)"
expect 'results are as they were' "$said" "$(q -c "SELECT md5(string_agg(f::text, ' ' ORDER BY f.left_id, f.right_id)) FROM found f" -c "SELECT md5(string_agg(g::text, ' ' ORDER BY g.id)) FROM grouped g")"
q -c 'DROP TABLE found, grouped, found_log'
expect 'pairs after the move' 0 "$(differ docs id 0.8 jaccard)"

# kill -9 of a worker behind each step: what is lost is made anew.
expected_in_log='terminated by signal 9'
coordinator=$server
dead() {
    local step=$1 until victim=${nodes[$1 % 3]}
    q -c "CREATE OR REPLACE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
        BEGIN
            IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_$2\$') THEN RAISE 'stopped'; END IF;
        END \$\$" -c 'CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at()'
    # The same call that differ makes, or differ_clusters.
    expect_error "stopped before $2" P0001 stopped "CALL near_duplicates_into('docs', 0.8, 'found_id'${3:+, $3})"
    q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()'
    expect "what is left before $2" 't|waiting|t|t' "$(q -c 'SELECT node IS NULL, status, tables > 0, bytes > 0 FROM neardup_into_calls()')"
    if [[ $2 == ranks ]]; then expect 'a shard moves beside it' '' "$(move)"; fi
    as_server kill -9 "$(head -n 1 "$victim/data/postmaster.pid")"
    until=$((SECONDS + 60))
    # Its backends go when they see that it is gone.
    until server=$victim server_up >/dev/null 2>&1 || ((SECONDS > until)); do :; done
}
n=0
for table in members ranks routes candidates halves; do
    n=$((n + 1))
    dead $n $table
    expect "a worker that was killed before $table: nothing is lost" '' "$(q -c "CALL near_duplicates_into('docs', 0.8, 'found_id', id_column => 'id', text_column => 'body', method => 'jaccard')" 2>&1 | grep 'has lost rows')"
    q -c 'SET client_min_messages = warning' -c 'DROP TABLE found_id'
    expect "a worker that was killed before $table" 0 "$(differ docs id 0.8 jaccard)"
    left_behind "a worker that was killed before $table"
done
# Parts in groups: a call that is ended in the middle goes on with those that are not done, and a statement has a deadline.
: >"$server/said" # of an earlier call
q -c "CALL near_duplicates_into('docs', 0.8, 'found_id', id_column => 'id', text_column => 'body', parts => 6, at_once => 2, pause => '0.5 ms')" >"$server/said" 2>&1 &
call=$!
until grep -qs 'candidates: 4 of 6 parts' "$server/said" || ! kill -0 $call 2>/dev/null; do sleep 0.02; done
q -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^CALL near_duplicates_into' AND pid <> pg_backend_pid()" >/dev/null
wait "$call" || true
seen=$(q -c "CALL near_duplicates_into('docs', 0.8, 'found_id', id_column => 'id', text_column => 'body', parts => 6, at_once => 2)" 2>&1) || true
expect 'groups that were done are not done again' 't|6 of 6' "$(grep -q 'goes on with' <<<"$seen" && echo t || echo "$seen")|$(grep -o '[0-9] of 6' <<<"$seen" | tr '\n' ',' | sed 's/,$//')"
expect_sql 'groups' 0 "SELECT count(*) FROM found_id FULL JOIN near_duplicates('base', 0.8, id_column => 'id', text_column => 'body') USING (left_id, right_id)
    WHERE found_id.similarity IS DISTINCT FROM near_duplicates.similarity"
q -c 'DROP TABLE found_id, found_id_log'
left_behind groups
expect 'an estimate by node' 4 "$(q -c "SELECT count(*) FROM near_duplicates_plan('docs', 0.8, id_column => 'id', text_column => 'body', by_node => true)")"
expect 'an estimate: what is sent is received' t "$(q -c "SELECT abs(sum(sent) - sum(received)) < 100 AND sum(sent) > 0 AND bool_and(node IS NULL OR documents > 0 AND temporary > 0) FROM near_duplicates_plan('docs', 0.8, id_column => 'id', text_column => 'body', by_node => true)")"
# Of these documents few are in one cluster; what is between are stars of a chain.
q -c "INSERT INTO docs SELECT 10000 + n, string_agg('v' || n + w, ' ') FROM generate_series(1, 50) n, generate_series(1, 10) w GROUP BY n"
for table in larger clusters; do
    n=$((n + 1))
    dead $n $table "clusters => 'grouped_id'"
    expect "a worker that was killed before $table" 0 "$(differ_clusters docs id 0.8)"
    left_behind "a worker that was killed before $table"
done
q -c 'DELETE FROM docs WHERE id > 10000'
server=$coordinator

# What a call has left, and tables of a worker that the coordinator does not know, are listed and dropped.
q -c "CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
    BEGIN
        IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_routes\$') THEN RAISE 'stopped'; END IF;
    END \$\$" -c 'CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at()'
expect_error 'stopped' P0001 stopped "CALL near_duplicates_into('docs', 0.8, 'found')"
q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()' -c 'DROP TABLE found_log'
expect 'tables without a log' 't|left over|3' "$(q -c 'SELECT node IS NULL, status, tables FROM neardup_into_calls()')"
expect 'these are dropped' 3 "$(q -c 'SELECT neardup_into_clean(run) FROM neardup_into_calls()')"
left_behind 'cleaned'
worker 2 -c 'CREATE TABLE neardup_00000000000a_sets_102999 (n int)'
expect 'a table of a worker' "${nodes[1]}:5432|00000000000a|left over|1" "$(q -c 'SELECT node, run, status, tables FROM neardup_into_calls()')"
expect 'it is dropped' 1 "$(q -c "SELECT neardup_into_clean('00000000000a')")"
expect 'and gone' 0 "$(q -c 'SELECT count(*) FROM neardup_into_calls()')"

# Documents of other kinds: bibliographic records, mails, addresses, sentences.
if [[ -d ${NEARDUP_DATA:-} ]]; then
    # One shard for each node, which takes two thirds of the time: more of them are above.
    q -c 'SET client_min_messages = warning' -c 'DROP TABLE docs, named' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)' \
        -c "SELECT create_distributed_table('docs', 'id', shard_count => 3)" -c 'CREATE TABLE named (name text, body text)' \
        -c "SELECT create_distributed_table('named', 'name', shard_count => 3)" -c 'CREATE UNLOGGED TABLE lines (line json)' >/dev/null
    for name in bib_cora_a bib_dblp_acm_a en_enron_spam_a rec_census_a zh_sts_a; do
        q -c 'TRUNCATE lines, base'
        load_json "$NEARDUP_DATA/$name/docs.jsonl.gz" lines
        q -c "INSERT INTO base SELECT row_number() OVER (), line->>'id', line->>'text' FROM lines LIMIT ${NEARDUP_DOCUMENTS:-200}"
        q -c 'TRUNCATE docs' -c 'TRUNCATE named' -c 'INSERT INTO docs SELECT id, body FROM base' -c 'INSERT INTO named SELECT name, body FROM base' -c 'ANALYZE base'
        compare "$name"
    done
    left_behind corpora
fi
finish
