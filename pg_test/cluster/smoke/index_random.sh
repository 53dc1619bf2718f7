#!/usr/bin/env bash
# Thousands of random steps (inserts, updates, deletes, failed transactions, VACUUM, merges, REINDEX, crashes); after each,
# some queries of every form must give the same answers with the signature indexes and without. NEARDUP_SEED repeats a run, or
# PROPTEST_RNG_SEED as for all tests by chance; NEARDUP_INDEX_STEPS makes it longer.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "wal_consistency_checking = 'generic'
autovacuum = off
jit = off
max_wal_size = 4GB"

seed=${NEARDUP_SEED:-${PROPTEST_RNG_SEED:-$((RANDOM * 32768 + RANDOM))}}
steps=${NEARDUP_INDEX_STEPS:-$(cases 120 36)}
rounds=6
indexes=(by_text by_weights by_squares by_shingles by_words by_lexemes by_number_sets by_balls by_minhash by_simhash by_values by_grams by_runs by_numbers by_ids)
echo "NEARDUP_SEED=$seed NEARDUP_INDEX_STEPS=$steps"
q -f "$project/pg_test/index/compare.sql" >/dev/null
expect_sql 'every index is used' '' 'SELECT * FROM unused_indexes()'

RANDOM=$((seed % 32768))
for round in $(seq "$rounds"); do
    # From the fourth round on with group columns, other ones each time.
    if ((round == 4)); then q -f "$project/pg_test/index/groups.sql" >/dev/null; fi
    if ((round >= 4)); then q -c "SELECT regroup($((RANDOM % 11)))" >/dev/null; fi
    {
        echo "SELECT setseed($(((seed + round) % 1000)) / 1000.0);"
        # A round before may have ended with rows that are pending only.
        if ((round == rounds)); then printf "SELECT signature_index_merge('%s');\n" "${indexes[@]}"; fi
        for _ in $(seq $((steps / rounds))); do
            index=${indexes[RANDOM % ${#indexes[@]}]}
            case $((RANDOM % 100)) in
                [0-9] | [1-2][0-9]) echo "SELECT add_docs($((RANDOM % 30 + 1)));" ;;
                3[0-9] | 4[0-9]) echo "SELECT change_docs($((RANDOM % 20 + 1)));" ;;
                5[0-9] | 6[0-4]) echo "SELECT drop_docs($((RANDOM % 25 + 1)));" ;;
                6[5-9] | 7[0-1]) echo "SELECT fail_docs($((RANDOM % 20 + 1)));" ;;
                7[2-9]) echo "VACUUM docs;" ;;
                8[0-1]) echo "VACUUM (INDEX_CLEANUP off) docs;" ;;
                8[2-7]) echo "SELECT signature_index_merge('$index');" ;;
                8[8-9]) echo "REINDEX INDEX $index;" ;;
                9[0-1]) echo "REINDEX INDEX CONCURRENTLY $index;" ;;
                92) echo "VACUUM FULL docs;" ;;
                93) echo "CHECKPOINT;" ;;
                94) echo "INSERT INTO docs (body, numbers, ids) SELECT some_text(), some_numbers(), some_ids() FROM generate_series(1, 600);" ;;
                95) echo "DELETE FROM docs WHERE id IN (SELECT id FROM docs ORDER BY id DESC OFFSET 400);" ;;
                96) echo "BEGIN; SELECT add_docs(20); SELECT compare(0.3); SAVEPOINT s; SELECT change_docs(20); SELECT compare(0.3); ROLLBACK TO s; SELECT compare(0.3); COMMIT;" ;;
                # Indexes that are empty again: what comes first settles the order of tokens. Not at the end, which wants segments.
                97) if ((round < rounds)); then echo "TRUNCATE docs; SELECT add_docs(60); SELECT compare(0.3); SELECT add_docs(700);"; fi ;;
                *) echo "SELECT check_all();" ;;
            esac
            echo "SELECT compare(0.3);"
        done
        echo "SELECT check_all();"
    } >"$server/steps.sql"
    if ! seen=$(q -f "$server/steps.sql" 2>&1 >/dev/null); then
        failed "round $round, seed $seed" "$seen"
        break
    fi
    passed
    as_server "$bindir/pg_ctl" -D "$server/data" -m immediate -w stop >/dev/null
    server_up
    expect_sql "round $round: in order after a crash" $'\nt' 'SELECT check_all(); SELECT answers_agree()'
done
expect_sql 'the indexes had segments' t "SELECT bool_and(segments > 0) FROM regexp_split_to_table('${indexes[*]}', ' ') i, signature_index_stats(i::regclass)"
finish
