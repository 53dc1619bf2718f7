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
finish
