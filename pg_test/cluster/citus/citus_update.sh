#!/usr/bin/env bash
# near_duplicates_into with incremental => true on tables of Citus, however these are distributed: after nights in which documents come,
# change and go, the result is that of a call that makes all anew; also after a worker was killed, and after shards moved. Skipped
# where Citus is not installed. On one server: into_update.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/citus.sh"
source "$(dirname "$0")/../../../scripts/nights.sh"
citus_or_skip
citus_start 3 'citus.shard_count = 6'
q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE base (id bigint PRIMARY KEY, body text);
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
SELECT create_distributed_table('docs', 'id', shard_count => 6);
CREATE TABLE ints (id int PRIMARY KEY, body text);
SELECT create_distributed_table('ints', 'id', shard_count => 4);
CREATE TABLE otherwise (id bigint, body text, of int DEFAULT 1);
SELECT create_distributed_table('otherwise', 'of', shard_count => 4);
CREATE TABLE everywhere (id bigint PRIMARY KEY, body text);
SELECT create_reference_table('everywhere');
CREATE TABLE single (id bigint, body text);
SELECT create_distributed_table('single', NULL);
SQL
for n in 1 2 3 4; do
    night $n docs
    same_night "night $n" docs 0.6 jaccard
done
same_night 'nothing has changed' docs 0.6 jaccard
expect 'nothing has changed: so it is said' t "$(grep -q 'step 2, changes: 0 rows' <<<"$last_said" && echo t || echo "$last_said")"
# What is kept is on the nodes; nothing else is left there.
expect 'kept tables' 'public.found_docs|kept|5' "$(q -c 'SELECT pairs, status, tables FROM neardup_into_calls()')"
expect 'kept tables, by their spread' 'known id
pairs r
ranks 
routed part
stored n' "$(q -c "SELECT split_part(logicalrelid::text, '_', 3) || ' ' || COALESCE(column_to_column_name(logicalrelid, partkey), '') FROM pg_dist_partition WHERE logicalrelid::text ~ '^neardup_[0-9a-f]{12}_' ORDER BY 1")"

# Other methods, and documents that are elsewhere.
for method in "minhash 0.6 options => '{\"hand_over\": false}', shingle => 1" "simhash 0.9" "edit 0.7" "cosine 0.8"; do
    read -r name threshold arguments <<<"$method"
    same_night "$name: the first" docs "$threshold" "$name" "$arguments"
    night "${#method}" docs
    same_night "$name: the second" docs "$threshold" "$name" "$arguments"
    expect "$name: it is not made anew" '' "$(grep 'made anew' <<<"$last_said")"
done
for table in ints otherwise everywhere single; do
    q -c "INSERT INTO $table (id, body) SELECT id, body FROM base"
    same_night "$table" $table 0.6 jaccard
    night "${#table}" $table docs
    same_night "$table, a night later" $table 0.6 jaccard
    expect "$table: it is not made anew" '' "$(grep 'made anew' <<<"$last_said")"
    q -c "DROP TABLE found_$table, grouped_$table" -c "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE pairs = 'public.found_$table'" >/dev/null
done

# A shard of the documents moves between two nights.
same_night 'before a shard moves' docs 0.6 jaccard
q -c "SELECT citus_move_shard_placement(s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport, 'block_writes')
    FROM (SELECT shardid, nodename, nodeport FROM pg_dist_shard JOIN pg_dist_shard_placement USING (shardid) WHERE logicalrelid = 'docs'::regclass ORDER BY shardid LIMIT 1) s,
    LATERAL (SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards AND nodename <> s.nodename LIMIT 1) n" >/dev/null
night 60 docs
same_night 'a shard was moved' docs 0.6 jaccard

# kill -9 of a worker behind a step: the next call goes on.
expected_in_log='terminated by signal 9|server closed the connection unexpectedly|postmaster was shut down'
coordinator=$server
for step in 1 3 6 8; do
    night $((60 + step)) docs
    : >"$server/killed" # of an earlier call
    q -c "CALL near_duplicates_into('docs', 0.6, 'found_docs', id_column => 'id', text_column => 'body', method => 'jaccard', clusters => 'grouped_docs', incremental => true, pause => '0.2 ms')" >"$server/killed" 2>&1 &
    calling=$!
    until grep -qs "step $step, " "$server/killed" || ! kill -0 $calling 2>/dev/null; do sleep 0.05; done
    dir=${nodes[1]}
    as_server kill -9 "$(head -n 1 "$dir/data/postmaster.pid")"
    wait $calling || true
    until=$((SECONDS + 60))
    until server=$dir server_up >/dev/null 2>&1 || ((SECONDS > until)); do :; done
    server=$coordinator
    same_night "a worker was killed behind step $step" docs 0.6 jaccard
    expect "a worker was killed behind step $step: not made anew" '' "$(grep 'made anew' <<<"$last_said")"
done
q -c 'DROP TABLE found_docs, grouped_docs'
expect 'what was kept for a table that was dropped' 'left over' "$(q -c 'SELECT status FROM neardup_into_calls()')"
q -c 'SELECT neardup_into_clean(run) FROM neardup_into_calls()' >/dev/null
for dir in "${nodes[@]}"; do
    expect 'no working table is left' '' "$(q -h "$dir" -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"
done
finish
