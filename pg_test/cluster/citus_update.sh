#!/usr/bin/env bash
# near_duplicates_into with update => true on tables of Citus, however these are distributed: after nights in which documents come,
# change and go, the result is that of a call that makes all anew; also after a worker was killed, and after shards moved. Skipped
# where Citus is not installed. On one server: into_update.sh.
set -euo pipefail
source "$(dirname "$0")/../../scripts/expect.sh"
source "$(dirname "$0")/../../scripts/citus.sh"
source "$(dirname "$0")/../../scripts/nights.sh"
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
finish
