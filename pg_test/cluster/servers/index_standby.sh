#!/usr/bin/env bash
# A streaming standby answers as the primary does, while rows come and go there and its indexes are flushed, merged and
# vacuumed under queries on the standby; each record's pages are compared with the primary's (wal_consistency_checking).
# NEARDUP_INDEX_SECONDS makes it longer.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "wal_consistency_checking = 'generic'
autovacuum = off
jit = off
max_wal_senders = 4
hot_standby_feedback = on"

q -f "$project/pg_test/index/compare.sql" -f "$project/pg_test/index/groups.sql" -c "SELECT regroup(4, 'text|runs|grams|numbers|values')" >/dev/null
q -c 'SELECT setseed(0.4)' -c 'SELECT add_docs(2000)' >/dev/null
# One that is emptied again and again: what comes first settles the order of tokens.
q -c 'CREATE TABLE young (body text)' -c 'CREATE INDEX young_text ON young USING signature (body) WITH (pending_limit = 64)'
q <<'SQL'
CREATE FUNCTION compare_young() RETURNS void LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    query text := format('SELECT count(*) FROM young WHERE body <@ near(%L, 0.7)', coalesce((SELECT max(body) FROM young), 'w1'));
    with_index bigint;
    without bigint;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true);
    PERFORM set_config('enable_bitmapscan', 'on', true);
    EXECUTE query INTO with_index;
    PERFORM set_config('enable_seqscan', 'on', true);
    PERFORM set_config('enable_bitmapscan', 'off', true);
    PERFORM set_config('enable_indexscan', 'off', true);
    EXECUTE query INTO without;
    IF with_index <> without THEN
        RAISE EXCEPTION '% finds % with the index, % without', query, with_index, without;
    END IF;
END $$;
SQL
standby=$server/standby
as_server "$bindir/pg_basebackup" -D "$standby" -h "$server" -U postgres -X stream -R -c fast
as_server sed -i "s|^unix_socket_directories.*|unix_socket_directories = '$standby'|" "$standby/postgresql.conf"
as_server "$bindir/pg_ctl" -D "$standby" -o '-p 5433' -w -l "$server/standby.log" start >/dev/null
# shellcheck disable=SC2064 # the directories as they are now
trap "as_server '$bindir/pg_ctl' -D '$standby' -m immediate -w stop >/dev/null 2>&1 || true; server_stop '$server'" EXIT
on_standby=(-h "$standby" -p 5433)

seconds=${NEARDUP_INDEX_SECONDS:-25}
# Load on the primary.
{
    end=$((SECONDS + seconds))
    while ((SECONDS < end)); do
        q -c 'SELECT add_docs(150)' -c 'SELECT change_docs(100)' -c 'SELECT drop_docs(150)' -c 'VACUUM docs' \
            -c "SELECT signature_index_merge('by_text')" -c "SELECT signature_index_merge('by_runs')" -c "SELECT signature_index_merge('by_grams')" -c "SELECT signature_index_merge('by_numbers')" \
            -c "SELECT signature_index_merge('by_minhash')" -c "SELECT signature_index_merge('by_simhash')" \
            -c "SELECT signature_index_merge('by_words')" -c 'TRUNCATE young' -c 'INSERT INTO young SELECT body FROM docs LIMIT 400' \
            -c 'INSERT INTO young SELECT body FROM docs' >/dev/null
    done
} >"$server/load.errors" 2>&1 &
load=$!

# Queries on the standby: compare() uses one snapshot for both answers (repeatable read).
{
    echo "SELECT setseed(0.7);"
    for _ in $(seq 50); do echo 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT compare(0.3); SELECT compare_young(); COMMIT;'; done
} >"$server/queries.sql"
answers=0 end=$((SECONDS + seconds))
while ((SECONDS < end)); do
    # A conflict with recovery may end a query, and may say so; anything else is wrong.
    if ! seen=$(q "${on_standby[@]}" -f "$server/queries.sql" 2>&1) && ! grep -q 'conflict with recovery' <<<"$seen"; then
        failed 'queries on the standby' "$seen"
        break
    fi
    answers=$((answers + $(grep -cE '^[0-9]+$' <<<"$seen" || true)))
done
wait "$load"
expect 'the load on the primary' '' "$(cat "$server/load.errors")"
expect 'the standby answered' t "$([[ $answers -gt 0 ]] && echo t || echo f)"

caught_up() {
    local lsn
    lsn=$(q -c 'SELECT pg_current_wal_lsn()')
    for _ in $(seq 600); do
        [[ $(q "${on_standby[@]}" -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'") == t ]] && return
        sleep 0.1
    done
    failed 'the standby does not catch up'
}
caught_up
expect_sql 'the standby is in order' $'\nt' 'SELECT check_all(); SELECT answers_agree()' "${on_standby[@]}"
for query in "SELECT string_agg(id::text, ',' ORDER BY id) FROM docs WHERE numbers && '{1,2,3}'" \
    "SELECT string_agg(id::text, ',' ORDER BY id) FROM docs WHERE body <@ near('w1 w2 w0 w0 w3', 0.5)" \
    "SELECT string_agg(d::text, ',') FROM (SELECT body <-> near('w1 w2 w0 w0 w3', 0.5) d FROM docs ORDER BY 1 LIMIT 100) x" \
    "SELECT string_agg(d::text, ',') FROM (SELECT minhash <%> minhash('w1 w2 w0 w0 w3', 2, 40) d FROM docs ORDER BY 1 LIMIT 100) x"; do
    expect_sql "as the primary: $query" "$(q -c 'SET enable_seqscan = off' -c "$query")" "SET enable_seqscan = off; $query" "${on_standby[@]}"
done
expect_error 'no merge on a standby' 25006 'during recovery' "SELECT signature_index_merge('by_text')" "${on_standby[@]}"
expect 'nothing bad in the log of the standby' '' "$(grep -nE 'PANIC|FATAL:  inconsistent|panicked|terminated by signal' "$server/standby.log" | head -n 5)"

# The standby becomes a primary.
as_server "$bindir/pg_ctl" -D "$standby" -w promote >/dev/null
expect_sql 'promoted' $'\n\nt' "SELECT add_docs(500); SELECT check_all(); SELECT answers_agree()" "${on_standby[@]}"
finish
