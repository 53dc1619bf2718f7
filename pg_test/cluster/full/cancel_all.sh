#!/usr/bin/env bash
# Every function that the extension has, of what takes it long: equal rows, half a million pairs, a text of 25 MB. A timeout ends
# each call, or it ends by itself before. It is late if it ends more than half a second after that by the clock, and works for more
# than half a second meanwhile, a second for twice as much: by the clock alone it could be other work of the machine that it waits
# for. A function without a call in pg_test/cancel/calls.sql fails the test.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
cancel=$project/pg_test/cancel
server_start "max_parallel_workers_per_gather = 2
max_wal_size = 4GB
wal_level = minimal
max_wal_senders = 0
autovacuum = off
neardup.threads = 2"

source "$cancel/calls.sh"
make_calls 2

# In one session, with timeouts that meet calls in several phases.
{
    echo '\set ON_ERROR_STOP off'
    while IFS=$'\t' read -r no call; do
        timeout=$((100 + no * 7 % 4 * 150)) rollback=
        printf 'SELECT extract(epoch FROM clock_timestamp()) AS began, worked() AS before \\gset\n'
        # What a call makes is undone; that takes none of its time.
        if [[ $call == 'CREATE INDEX'* || $call == *_*watch\(* ]]; then
            rollback='ROLLBACK;'
            printf 'BEGIN;\n'
        fi
        printf 'SET statement_timeout = %s;\n%s;\n\\set state :SQLSTATE\n%s\nSET statement_timeout = 0;\n' "$timeout" "$call" "$rollback"
        printf "INSERT INTO seen SELECT signature, call, fails, %s, :'state', 1000 * (extract(epoch FROM clock_timestamp()) - :began) - %s, worked() - :before FROM made WHERE no = %s;\n" \
            "$timeout" "$timeout" "$no"
    done < <(q -F $'\t' -c "SELECT no, call FROM made ORDER BY no")
} >"$server/script"
psql -X -qAt -v VERBOSITY=terse -f "$server/script" >"$server/said" 2>&1 || cat "$server/said"

# The session of what makes clusters of equal rows ends where it is asked to.
for call in "near_duplicate_clusters('million', 0.8, id_column => 'id')" "eliminate('million', 0.8, id_column => 'id', method => 'edit')" \
    "clusters_of_pairs('SELECT * FROM pairs UNION ALL SELECT left_id, right_id + 7, 0.5 FROM pairs', clustering => 'perhaps_similar')" "cluster_stats('TABLE pairs')"; do
    PGAPPNAME=ended psql -X -qAt -v VERBOSITY=sqlstate -c "SELECT count(*) FROM $call" >"$server/said" 2>&1 &
    until [[ $(q -c "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'ended' AND state = 'active'") == 1 ]] || ! kill -0 $! 2>/dev/null; do sleep 0.01; done
    sleep 0.2
    expect_sql "$call is there no more 20 seconds after its termination" 0 \
        "WITH ended AS MATERIALIZED (SELECT pid FROM pg_stat_activity WHERE application_name = 'ended') SELECT count(*) FROM ended WHERE NOT pg_terminate_backend(pid, 20000)"
    wait $! || true
    expect "$call was ended, not over before" 1 "$(grep -c 'FATAL:  57P01' "$server/said" || true)"
done

# Half a million equal rows, to the end.
# In 128 MB: what some methods keep of so many rows does not fit in the default and is refused there.
ends() { PGOPTIONS='-c statement_timeout=5min -c client_min_messages=warning -c neardup.memory=128MB' expect_sql "$1" "$2" "$1"; }
ends "SELECT count(*), max(size), count(DISTINCT cluster_id), bool_and(similarity = 1) FROM near_duplicate_clusters('million', 0.8, id_column => 'id')" '500000|500000|1|t'
ends "SELECT count(*), bool_and(kept_id = 1) FROM eliminate('million', 0.8, id_column => 'id', keep => 'first')" '499999|t'
ends "SELECT duplicates_report('million', 0.8, id_column => 'id') LIKE '%124,999,750,000%'" t
ends "SELECT count(*), bool_and(similarity = 1) FROM (SELECT (near_duplicates('million', 0.8, id_column => 'id')).* LIMIT 10) p" '10|t'
for method in edit exact_text exact_code minhash simhash imatch repeatability tlcs; do
    threshold=0.8
    case $method in exact* | imatch | tlcs) threshold=NULL ;; esac
    ends "SELECT count(*), max(size), bool_and(similarity = 1) FROM near_duplicate_clusters('million', $threshold, id_column => 'id', method => '$method')" '500000|500000|t'
done

psql -X -P footer=off -c "SELECT signature, left(call, 150) AS call, timeout, state, late, worked FROM seen WHERE state = '57014' ORDER BY late DESC LIMIT 15"
q -c "SELECT count(DISTINCT signature) || ' functions, ' || count(*) || ' calls, ' || count(*) FILTER (WHERE state = '57014') || ' ended by their timeout; the worst of these ' || max(late) FILTER (WHERE state = '57014') || ' ms after it' FROM seen"
expect_sql 'each call ends by itself or by its timeout' '' "SELECT state, call FROM seen WHERE state NOT IN ('00000', '57014', fails)"
expect_sql 'each call ends within half a second' '' "SELECT late, call FROM seen WHERE late > 500 AND worked > timeout + 500"
expect_sql 'no call waits' '' "SELECT late, call FROM seen WHERE late > 20000"
finish
