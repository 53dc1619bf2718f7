#!/usr/bin/env bash
# Every function on a standby: it answers as on the primary, or says in one clear error that it cannot.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'max_wal_senders = 4'
# The texts are short; what a NOTICE says of that is the same on both, and no answer.
export PGOPTIONS='-c client_min_messages=warning'

q <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE docs(id int PRIMARY KEY, body text);
INSERT INTO docs SELECT i, 'one two three four five. Six seven eight nine ' || i / 2 || '.' FROM generate_series(1, 50) i;
CREATE INDEX by_body ON docs USING signature (body);
CREATE UNLOGGED TABLE unlogged(id int PRIMARY KEY, body text);
CREATE INDEX unlogged_body ON unlogged USING signature (body);
SELECT FROM neardup_watch('docs', 0.9);
CALL neardup_refresh('docs') \g /dev/null
SQL
standby=$server/standby
as_server "$bindir/pg_basebackup" -D "$standby" -h "$server" -U postgres -X stream -R -c fast
as_server sed -i "s|^unix_socket_directories.*|unix_socket_directories = '$standby'|" "$standby/postgresql.conf"
as_server env -u RUST_BACKTRACE "$bindir/pg_ctl" -D "$standby" -o '-p 5433' -w -l "$server/standby.log" start >/dev/null
# shellcheck disable=SC2064 # the directories as they are now
trap "as_server '$bindir/pg_ctl' -D '$standby' -m immediate -w stop >/dev/null 2>&1 || true; server_stop '$server'" EXIT
on_standby=(-h "$standby" -p 5433)

# The report says when it was made and how long that took, in which no two calls are alike.
report="regexp_replace(duplicates_report('docs', 0.9), '[^>]* by neardup [^<]*[.]</p>', '</p>')"
pairs="'SELECT * FROM near_duplicates(''docs'', 0.9)'"
for query in "near_duplicates('docs', 0.9)" "near_duplicates('docs', 0.9, method => 'minhash')" "near_duplicates('docs', 0.9, method => 'tlcs')" \
    "near_duplicates_between('docs', 'docs', 0.9)" "near_duplicate_clusters('docs', 0.9)" "eliminate('docs', 0.9)" \
    "partial_duplicates('docs', 0.9, min_sentences => 1)" "clusters_of_pairs($pairs)" "cluster_stats($pairs)" "cluster_links($pairs)" \
    "$report" "explain_pair('a b', 'a c')" "explain_pair_text('a b', 'a c')" "diff_html('a b', 'a c')" "neardup_plan(0.8)" \
    "signature_index_stats('by_body')" "signature_index_check('by_body', true)" "(SELECT id FROM docs WHERE body <@ near('one two three four five', 0.1))"; do
    # Spilling to temporary files, too.
    expect_sql "as the primary: $query" "$(q -c "SET neardup.memory = '1MB'" -c "SELECT x::text FROM $query x ORDER BY 1")" \
        "SET neardup.memory = '1MB'; SELECT x::text FROM $query x ORDER BY 1" "${on_standby[@]}"
done
expect_error 'no merge on a standby' 25006 'during recovery' "SELECT signature_index_merge('by_body')" "${on_standby[@]}"
for function in stats check; do
    expect_error "$function of an unlogged index" 0A000 'unlogged index "unlogged_body" during recovery' \
        "SELECT * FROM signature_index_$function('unlogged_body')" "${on_standby[@]}"
    expect_error "$function of nothing" 42P01 'OID 0 does not exist' "SELECT * FROM signature_index_$function(0)" "${on_standby[@]}"
done
expect_error 'an unlogged table' 0A000 'during recovery' "SELECT * FROM near_duplicates('unlogged', 0.9)" "${on_standby[@]}"
expect_sql 'jobs are read on a standby' "$(q -c 'TABLE docs_pairs' -c 'TABLE neardup_jobs')" 'TABLE docs_pairs; TABLE neardup_jobs' "${on_standby[@]}"
for call in "SELECT neardup_watch('docs', 0.8)" "SELECT neardup_unwatch('docs')" "CALL neardup_refresh('docs')"; do
    function=$(grep -oE 'neardup_[a-z]+' <<<"$call")
    expect_error "and worked at on the primary: $call" 25006 "cannot execute $function during recovery" "$call" "${on_standby[@]}"
done
expect 'nothing bad in the log of the standby' '' "$(grep -nE 'PANIC|XX000|panicked|terminated by signal' "$server/standby.log" | head -n 5)"
finish
