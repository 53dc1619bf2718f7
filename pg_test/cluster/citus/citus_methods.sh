#!/usr/bin/env bash
# All methods that near_duplicates_into makes in parts, on tables that Citus spreads over three workers: the pairs and similarities
# are those of near_duplicates of the same rows in an ordinary table. Skipped where Citus is not installed. More of such tables: citus.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/citus.sh"
source "$(dirname "$0")/../../../scripts/methods_in_parts.sh"
citus_or_skip
citus_start 3 'citus.shard_count = 6'

q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE TABLE base (id bigint PRIMARY KEY, name text UNIQUE NOT NULL, body text);
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
SELECT create_distributed_table('docs', 'id', shard_count => 6);
CREATE TABLE named (name text, body text);
SELECT create_distributed_table('named', 'name', shard_count => 3);
CREATE TABLE sited (id bigint PRIMARY KEY, body text, site text);
SELECT create_distributed_table('sited', 'id', shard_count => 3);
SQL
methods_documents
methods_in_parts 7
for dir in "${nodes[@]}"; do
    expect 'no working table is left' '' "$(q -h "$dir" -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"
done

# On all nodes, on one of them.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
DROP TABLE docs, named;
CREATE TABLE docs (id bigint PRIMARY KEY, body text);
SELECT create_reference_table('docs');
INSERT INTO docs SELECT id, body FROM base;
CREATE TABLE named (name text, body text);
SELECT create_distributed_table('named', NULL);
INSERT INTO named SELECT name, body FROM base;
SQL
in_parts=6
expect 'edit of a reference table' same "$(same docs id 0.7 edit)"
expect 'tlcs of a reference table' same "$(same docs id NULL tlcs)"
expect 'imatch of a reference table' same "$(same docs id NULL imatch)"
expect 'tlcs on one node' same "$(same named name 0.5 tlcs)"
expect 'imatch on one node' same "$(same named name NULL imatch)"
expect 'spotsigs on one node' same "$(same named name 0.3 spotsigs)"
# Ids of a type that has no hash.
q >/dev/null <<'SQL'
SET client_min_messages = warning;
DROP TABLE named;
CREATE TABLE named (shard int, name bit varying, body text);
SELECT create_distributed_table('named', 'shard', shard_count => 3);
INSERT INTO named SELECT id, id::int4::bit(16)::bit varying, body FROM base;
ALTER TABLE base ADD bits bit varying;
UPDATE base SET bits = id::int4::bit(16)::bit varying;
SQL
q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('named', 0.7, 'found', id_column => 'name', text_column => 'body', method => 'edit')"
expect 'ids without a hash' '0|t' "$(q -c "SELECT count(*) FILTER (WHERE f.similarity IS DISTINCT FROM n.similarity), count(*) > 100
    FROM found f FULL JOIN near_duplicates('base', 0.7, NULL::bit varying, id_column => 'bits', text_column => 'body', method => 'edit') n USING (left_id, right_id)")"
q -c 'DROP TABLE found, found_log'

# Nothing but the order of tokens passes the coordinator, or a row that says that there is none.
q -c 'SET client_min_messages = warning' -c 'DROP TABLE docs' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)' \
    -c "SELECT create_distributed_table('docs', 'id', shard_count => 6)" -c 'INSERT INTO docs SELECT id, body FROM base' >/dev/null
for how in 'tlcs NULL' 'edit 0.7' 'imatch NULL' 'exact_text NULL'; do
    q -c 'SET client_min_messages = debug1' -c "CALL near_duplicates_into('docs', ${how#* }, 'found', method => '${how% *}')" >"$server/debug" 2>&1
    expect "${how% *}: what passes the coordinator" 1 "$(grep -c 'Collecting INSERT ... SELECT results on coordinator' "$server/debug")"
    expect "${how% *}: no query is answered by way of the coordinator" 0 "$(grep -c 'generating subplan' "$server/debug")"
    q -c 'DROP TABLE found, found_log'
done

# A worker that was killed behind a step: what is lost is made anew, also what was counted of all documents.
expected_in_log='terminated by signal 9'
for table in routes halves; do
    q -c "CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
        BEGIN
            IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_$table\$') THEN RAISE 'stopped'; END IF;
        END \$\$" -c 'CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at()'
    expect_error "stopped before $table" P0001 stopped "CALL near_duplicates_into('docs', NULL, 'found_docs', id_column => 'id', text_column => 'body', method => 'imatch', parts => 6)"
    q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()'
    as_server kill -9 "$(head -n 1 "${nodes[1]}/data/postmaster.pid")"
    until=$((SECONDS + 60))
    until server=${nodes[1]} server_up >/dev/null 2>&1 || ((SECONDS > until)); do :; done
    expect "a worker that was killed before $table" same "$(same docs id NULL imatch)"
done
finish
