# To be sourced by bench.sh: what a refresh costs when few rows are new.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# refresh DETECT: a row of the table; median of three refreshes, each after 1 % new rows that go again.
refresh() {
    local round=":come;
SELECT clock_timestamp() AS began \\gset
CALL neardup_refresh('job') \\g /dev/null
INSERT INTO took SELECT extract(epoch FROM clock_timestamp() - :'began');
DELETE FROM job WHERE id % 100 = 7;
CALL neardup_refresh('job') \\g /dev/null"
    q -v tab="$large" -v detect="$1" <<SQL || echo "$1|failed"
SET client_min_messages = error;
SET neardup.threads = 4;
CREATE TABLE job (id bigint PRIMARY KEY, body text);
INSERT INTO job SELECT id, body FROM :"tab" WHERE id % 100 <> 7;
VACUUM ANALYZE job;
CREATE TEMP TABLE took (seconds float8);
SELECT neardup_watch('job', 0.8, detect => :'detect') \\g /dev/null
SELECT clock_timestamp() AS began \\gset
CALL neardup_refresh('job') \\g /dev/null
SELECT extract(epoch FROM clock_timestamp() - :'began') AS first \\gset
SELECT \$\$INSERT INTO job SELECT id, body FROM \$\$ || quote_ident(:'tab') || \$\$ WHERE id % 100 = 7\$\$ AS come \\gset
$(for _ in 1 2 3; do echo "$round"; done)
SELECT concat_ws('|', :'detect', :'tab', (SELECT count(*) FROM job), round(:first, 2),
    (SELECT count(*) FROM :"tab" WHERE id % 100 = 7), round(s::numeric, 3), round((100 * s / :first)::numeric, 1))
FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS s FROM took) t;
SELECT neardup_unwatch('job') \\g /dev/null
DROP TABLE job, took;
SQL
}

jobs() {
    bench_server_start || return 0
    progress 'refreshes of jobs (1 min)'
    local detect
    for detect in triggers compare; do
        refresh "$detect"
    done | table 'changes noticed by|input|documents|first refresh, s|new|refresh, s|% of the first'
}
