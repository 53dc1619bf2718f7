#!/usr/bin/env bash
# Indexes with group columns, of every class before every class: while rows and their groups change, queries within a group give
# the same answers with the indexes and without. index_random.sh does the same at random, with crashes.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "wal_consistency_checking = 'generic'
autovacuum = off
jit = off"

q -f "$project/pg_test/index/compare.sql" -f "$project/pg_test/index/groups.sql" >/dev/null
for shift in $(seq 0 10); do
    q -c "SELECT regroup($shift)" >/dev/null
    expect_sql "columns $shift: the indexes are used" '' 'SELECT * FROM unused_indexes()'
    expect_sql "columns $shift: built" t 'SELECT compare(0.5) > 0'
    q -c 'SELECT change_docs(60)' -c 'SELECT add_docs(60)' -c 'SELECT fail_docs(20)' >/dev/null
    expect_sql "columns $shift: rows are pending" t 'SELECT compare(0.5) > 0'
    q -c 'SELECT signature_index_merge(index_name::regclass) FROM grouped' -c 'SELECT drop_docs(50)' -c 'VACUUM docs' >/dev/null
    expect_sql "columns $shift: merged" t 'SELECT compare(0.5) > 0'
    q -c 'SELECT check_all()' >/dev/null
done

# The rows of a group stand together, so a search among all of them reads few pages: 600 rows are in two pages of the index.
q <<'SQL'
CREATE TABLE bits (id int, tenant int, h simhash_sketch);
CREATE FUNCTION pages_read() RETURNS int LANGUAGE plpgsql SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)
        SELECT * FROM bits WHERE tenant = 7 ORDER BY h <~> 5::bit(64)::simhash_sketch LIMIT 1' INTO plan;
    RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::int + (plan #>> '{0,Plan,Shared Read Blocks}')::int;
END $$;
CREATE FUNCTION add_bits() RETURNS void LANGUAGE SQL AS
    'INSERT INTO bits SELECT n, n % 100, hashint8extended(n, 1)::bit(64)::simhash_sketch FROM generate_series(1, 60000) n';
SELECT add_bits();
CREATE INDEX of_bits ON bits USING signature (tenant, h) WITH (pending_limit = 1024);
SQL
expect_sql 'the rows of a group are together when the index is built' t 'SELECT pages_read() < 60'
q -c 'TRUNCATE bits' -c 'SELECT add_bits()' -c "SELECT signature_index_merge('of_bits')" >/dev/null
expect_sql 'and when rows are moved to segments' t 'SELECT pages_read() < 60'
# A table that was not analyzed, whose rows have another index without groups.
q <<'SQL'
CREATE INDEX of_all ON bits USING signature (h);
CREATE FUNCTION plan_in_tenant() RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) SELECT * FROM bits WHERE tenant = 7
        ORDER BY h <~> (SELECT 5::bit(64)::simhash_sketch) LIMIT 10' INTO plan;
    RETURN plan;
END $$;
SQL
expect_sql 'the index by groups costs less than that of all rows' t "SELECT plan_in_tenant() ~ '\"Index Name\": \"of_bits\"'"
finish
