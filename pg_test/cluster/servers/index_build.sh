#!/usr/bin/env bash
# CREATE INDEX … USING signature: what another session sees of it in pg_stat_progress_create_index, and that its bytes do not
# depend on the number of threads, nor on memory.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "autovacuum = off
max_wal_size = 4GB"

q >/dev/null <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE docs (numbers bigint[]);
INSERT INTO docs SELECT ARRAY(SELECT hashint8extended(row * 40 + n, 1) FROM generate_series(1, 30) n) FROM generate_series(1, 60000) row;
CREATE TABLE seen (n serial, build int, phase text, blocks_total bigint, blocks_done bigint, tuples_total bigint, tuples_done bigint);
CREATE PROCEDURE watch(build int) LANGUAGE plpgsql AS $$
BEGIN
    -- The lock is the builder's as long as it builds.
    WHILE NOT pg_try_advisory_lock(1) LOOP
        PERFORM pg_stat_clear_snapshot();
        INSERT INTO seen (build, phase, blocks_total, blocks_done, tuples_total, tuples_done)
        SELECT watch.build, p.phase, p.blocks_total, p.blocks_done, p.tuples_total, p.tuples_done
        FROM pg_stat_progress_create_index p;
        COMMIT;
        PERFORM pg_sleep(0.001);
    END LOOP;
    PERFORM pg_advisory_unlock(1);
END $$;
SQL

# The first statement stops in the middle of the scan until it is let go on: so that is seen however fast the machine is.
q <<'SQL'
CREATE FUNCTION stopping(numbers bigint[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF numbers[1] = hashint8extended(40000 * 40 + 1, 1) THEN
        PERFORM pg_advisory_xact_lock_shared(2);
    END IF;
    RETURN numbers;
END $$;
SQL
mkfifo "$server/holder"
q <"$server/holder" >/dev/null &
holder=$!
exec 3>"$server/holder"
echo 'SELECT pg_advisory_lock(2);' >&3
until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND granted") == 1 ]]; do sleep 0.05; done
q -c 'CREATE INDEX stopped ON docs USING signature (stopping(numbers))' &
builder=$!
until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND NOT granted") == 1 ]]; do sleep 0.05; done
expect_sql 'in the middle of the scan' 'CREATE INDEX|building index: scanning table|t|t' \
    "SELECT command, phase, blocks_done > 0, blocks_done < blocks_total FROM pg_stat_progress_create_index"
echo '\q' >&3
wait "$holder" "$builder"
exec 3>&-
expect_sql 'nothing to be seen afterwards' 0 'SELECT count(*) FROM pg_stat_progress_create_index'

# The other phases are short: several builds, until each was seen.
phases='building index: logging pages,building index: scanning table,building index: writing signatures'
for build in $(seq 20); do
    q -c 'SELECT pg_advisory_lock(1)' -c 'DROP INDEX IF EXISTS docs_numbers' -c 'CREATE INDEX docs_numbers ON docs USING signature (numbers)' >/dev/null 2>&1 &
    builder=$!
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND granted") == 1 ]] || ! kill -0 "$builder" 2>/dev/null; do
        sleep 0.01
    done
    q -c "CALL watch($build)"
    wait "$builder"
    seen=$(q -c "SELECT string_agg(DISTINCT phase, ',' ORDER BY phase) FROM seen WHERE phase LIKE 'building index: %' AND phase <> 'building index: initializing'")
    if [[ $seen == "$phases" ]]; then break; fi
done
expect 'all phases were seen' "$phases" "$seen"
expect_sql 'in this order' t "SELECT bool_and(at >= before) FROM (
    SELECT at, coalesce(lag(at) OVER (PARTITION BY build ORDER BY n), 0) AS before
    FROM (SELECT n, build, array_position(ARRAY['initializing', 'building index: initializing', 'building index: scanning table',
        'building index: writing signatures', 'building index: logging pages'], phase) AS at FROM seen) s) t"
expect_sql 'all signatures are counted' '1800000|t|t' "SELECT max(tuples_total), max(tuples_done) > 0, bool_and(tuples_done <= tuples_total)
    FROM seen WHERE phase = 'building index: writing signatures'"
expect_sql 'counts never go back' t "SELECT bool_and(tuples_done >= before) FROM (
    SELECT tuples_done, coalesce(lag(tuples_done) OVER (PARTITION BY build ORDER BY n), 0) AS before
    FROM seen WHERE phase = 'building index: writing signatures') s"

# Texts are sketched on threads. Pages of unlogged indexes have no place in the log that could differ.
q <<'SQL'
CREATE UNLOGGED TABLE texts (body text);
INSERT INTO texts SELECT CASE WHEN n % 97 = 0 THEN NULL WHEN n % 89 = 0 THEN '' ELSE
    (SELECT string_agg('w' || abs(hashint8extended(n * 300 + w, 3)) % 4000, ' ') FROM generate_series(1, 5 + n % 120) w) END
FROM generate_series(1, 20000) n;
INSERT INTO texts SELECT string_agg(body, ' ') FROM texts;
SET neardup.threads = 1;
CREATE INDEX texts_1 ON texts USING signature (body);
SET neardup.threads = 4;
CREATE INDEX texts_4 ON texts USING signature (body);
-- Sorted in memory, and in a temporary file; a frequent element and rare ones.
CREATE UNLOGGED TABLE arrays AS SELECT numbers || ARRAY[7, numbers[1] % 100] AS numbers FROM docs;
SET maintenance_work_mem = '512MB';
CREATE INDEX arrays_memory ON arrays USING signature (numbers);
SET maintenance_work_mem = '1MB';
CREATE INDEX arrays_file ON arrays USING signature (numbers);
SQL
# A checkpoint leaves out unlogged pages, but for that of a shutdown.
paths=$(q -c "SELECT format('%s=%s', name, pg_relation_filepath(name)) FROM unnest('{texts_1,texts_4,arrays_memory,arrays_file}'::text[]) name")
server_down "$server"
# same INDEX INDEX: whether their files are equal.
same() {
    local one two
    one=$(sed -n "s/^$1=//p" <<<"$paths")
    two=$(sed -n "s/^$2=//p" <<<"$paths")
    cmp "$server/data/$one" "$server/data/$two" 2>&1
    # The first page but one is a page of ours.
    if [[ $(od -An -tx1 -j 16382 -N 2 "$server/data/$one") != ' 44 53' ]]; then echo 'not written'; fi
}
expect 'the same bytes with 1 and with 4 threads' '' "$(same texts_1 texts_4)"
expect 'the same bytes sorted in memory and in a file' '' "$(same arrays_memory arrays_file)"
server_up
expect_sql 'arrays in order' '' "SELECT signature_index_check('arrays_file', true)"
expect_sql 'every row is there' '20001|t' "SELECT rows, nulls > 100 FROM signature_index_stats('texts_4')"
expect_sql 'texts in order' '' "SELECT signature_index_check('texts_4', true)"
expect_sql 'in order' '' "SELECT signature_index_check('docs_numbers', true)"
finish
