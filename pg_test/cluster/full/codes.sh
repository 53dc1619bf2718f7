#!/usr/bin/env bash
# Pairs and elimination by feature codes: the same with any number of threads and any memory, within the memory, and
# with too little of it the error 53200.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "neardup.memory = '1GB'
neardup.threads = 1"

q <<'SQL'
CREATE EXTENSION neardup;
-- Pages of one paragraph; every fifth is a part or a continuation of an earlier one, with a notice in front or not.
CREATE TABLE docs AS
SELECT i AS id, CASE WHEN i % 15 = 5 THEN '转载，' ELSE '' END || (
    SELECT string_agg(chr(19968 + (abs(hashint8extended(CASE WHEN i % 5 = 0 THEN i - 7 ELSE i END, k)) % 400)::int) || CASE WHEN k % 4 = 0 THEN '，' ELSE '' END, '' ORDER BY k)
    FROM generate_series(1, 40 + i * 7919 % 160) k) AS body
FROM generate_series(1, 6000) i;
INSERT INTO docs SELECT 6000 + i, '同样的文字，很多次。第' || i % 3 || '次，也是如此。' FROM generate_series(1, 300) i;
INSERT INTO docs SELECT 7000 + i, repeat('甲，', i % 9) FROM generate_series(1, 100) i;
ALTER TABLE docs ADD PRIMARY KEY (id);
CREATE VIEW odd AS SELECT * FROM docs WHERE id % 2 = 1;
CREATE VIEW even AS SELECT * FROM docs WHERE id % 2 = 0;
SQL

calls=(
    "eliminate('docs', 0.75, method => 'repeatability')"
    "eliminate('docs', 0.5, method => 'repeatability')"
    "eliminate('docs', 0.3, method => 'repeatability')"
    "eliminate('docs', 0.8, method => 'repeatability', keep => 'first')"
    "eliminate('docs', method => 'exact_code')"
    "near_duplicates('docs', 0.75, method => 'repeatability')"
    "near_duplicates('docs', method => 'exact_code')"
    "near_duplicates_between('odd', 'even', 0.6, id_column => 'id', method => 'repeatability')"
)
for call in "${calls[@]}"; do
    q -c "CREATE TABLE whole AS SELECT * FROM $call"
    expect_sql "$call finds some" t 'SELECT count(*) > 100 FROM whole'
    for setting in '1GB 2' '1GB 3' '1GB 8' '1MB 1' '1MB 4'; do
        read -r memory threads <<<"$setting"
        expect_sql "$call with $memory and $threads threads" '0' "
            SET neardup.memory = '$memory';
            SET neardup.threads = $threads;
            CREATE TEMP TABLE pieces AS SELECT * FROM $call;
            SELECT count(*) FROM ((TABLE whole EXCEPT ALL TABLE pieces) UNION ALL (TABLE pieces EXCEPT ALL TABLE whole)) d"
    done
    q -c 'DROP TABLE whole'
done
for threshold in 0.75 0.3; do
    expect_sql "memory is kept at $threshold" t "
        SET neardup.memory = '4MB';
        CREATE TEMP TABLE found AS SELECT * FROM eliminate('docs', $threshold, method => 'repeatability');
        SELECT peak_memory < 1.1 * 4 * 1024 * 1024 FROM near_duplicates_stats()"
done
expect_sql 'no kept page repeats a kept one' 0 "
    CREATE TEMP TABLE gone AS SELECT * FROM eliminate('docs', 0.75, method => 'repeatability');
    CREATE TEMP TABLE rest AS SELECT * FROM docs WHERE id NOT IN (SELECT id FROM gone);
    SELECT count(*) FROM near_duplicates('rest', 0.75, method => 'repeatability', id_column => 'id')"
expect_sql 'what goes has one that stays' 0 "
    CREATE TEMP TABLE gone AS SELECT * FROM eliminate('docs', 0.75, method => 'repeatability');
    SELECT count(*) FROM gone WHERE kept_id IN (SELECT id FROM gone) OR similarity < 0.75
        OR similarity <> (SELECT repeatability(k.body, d.body) FROM docs k, docs d WHERE k.id = kept_id AND d.id = gone.id)"

# Too little address space, in MB: the call ends in an error or not at all, and the session goes on.
for limit in 240 260 300 400; do
    server_down "$server"
    (ulimit -v "${limit}000" && server_up)
    for call in "${calls[@]:0:6}"; do
        seen=$(q -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 -c "SET neardup.threads = 2" -c "SELECT count(*) FROM $call" -c "SELECT 'goes on'" 2>&1 || true)
        case $seen in
            $'ERROR:  53200\ngoes on' | [0-9]*$'\ngoes on') passed ;;
            *) failed "$limit MB: $call" "$seen" ;;
        esac
    done
done
finish
