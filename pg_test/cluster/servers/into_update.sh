#!/usr/bin/env bash
# near_duplicates_into with incremental => true on one server: after nights in which documents come, change and go, the result is that of
# a call that makes all anew, by each method; kills, other arguments, what was lost; what is kept, and how it goes. Over servers:
# scale_out.sh. On Citus: citus_update.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/nights.sh"
server_start
q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE base (id bigint PRIMARY KEY, body text)' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)'

last_said=''
same_night 'no documents' docs 0.6 jaccard
for n in 1 2 3 4 5 6; do
    night $n docs
    same_night "night $n" docs 0.6 jaccard
    same_night "night $n, and again" docs 0.6 jaccard
    expect "night $n: nothing has changed" t "$(grep -q 'step 2, changes: 0 rows' <<<"$last_said" && echo t || echo "$last_said")"
done
expect 'there are pairs' t "$(q -c 'SELECT count(*) > 50 FROM found_docs')"

# What is kept, and is no left-over; a view on the table of pairs stays.
expect 'kept tables' 'public.found_docs|kept|5|t' "$(q -c 'SELECT pairs, status, tables, bytes > 0 FROM neardup_into_calls()')"
q -c 'CREATE VIEW similar_docs AS SELECT * FROM found_docs WHERE similarity > 0.9' -c 'CREATE ROLE reader' -c 'GRANT SELECT ON found_docs TO reader'
q -c "CREATE TABLE before AS SELECT p.*, xmin::text AS written FROM found_docs p"
night 7 docs
same_night 'night 7' docs 0.6 jaccard
expect 'rows that stay are not written' t "$(q -c "SELECT count(*) > 5 AND bool_and(f.xmin::text = b.written) FROM found_docs f JOIN before b USING (left_id, right_id, similarity)")"
expect 'rights stay' t "$(q -c "SELECT has_table_privilege('reader', 'found_docs', 'SELECT')")"

# The same by other methods, which begin anew; that is said.
for method in "cosine 0.8" "dice 0.6 shingle => 2" "overlap 0.7" "jaccard 0.5 tokenizer => 'chars'" "minhash 0.6 options => '{\"hand_over\": false}', shingle => 1" "simhash 0.9" "shingling NULL" \
    "edit 0.7" "exact_text NULL" "combined NULL" "runs 0.5 options => '{\"min_run\": 3}'" "spotsigs 0.3" "containment 0.8"; do
    read -r name threshold arguments <<<"$method"
    in_parts=$((${#method} % 4 + 1))
    same_night "$method: the first" docs "$threshold" "$name" "$arguments"
    expect "$method: it is made anew" t "$(grep -q 'public.found_docs is made anew: it was made with other arguments' <<<"$last_said" && echo t || echo "$last_said")"
    night "${#method}" docs
    same_night "$method: the second" docs "$threshold" "$name" "$arguments"
    expect "$method: it is not made anew" '' "$(grep 'made anew' <<<"$last_said")"
done
in_parts=''
# There were no documents at first: what is counted of none is no order of what they have.
q -c 'CREATE TABLE later (id bigint PRIMARY KEY, body text)'
of=later
for method in "edit 0.7" "spotsigs 0.3 options => '{\"antecedents\": [\"w1\", \"w5\"]}'" "overlap NULL options => '{\"min_overlap\": 3}'" "jaccard 0.6" "runs 0.5 options => '{\"min_run\": 3}'"; do
    read -r name threshold arguments <<<"$method"
    q -c 'TRUNCATE later'
    for time in first second; do same_night "$method: none, the $time" later "$threshold" "$name" "$arguments"; done
    q -c 'INSERT INTO later TABLE base'
    for time in third fourth; do
        same_night "$method: some, the $time" later "$threshold" "$name" "$arguments"
        expect "$method: some, the $time: it is not made anew" '' "$(grep 'made anew' <<<"$last_said")"
    done
    expect "$method: there are pairs" t "$(q -c 'SELECT count(*) > 0 FROM found_later')"
done
of=base
q -c 'DROP TABLE later, found_later, grouped_later' -c "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE status = 'left over'" >/dev/null
# Sites are compared by their values, for which servers have only texts: such a call is made as one.
q -c 'CREATE TABLE priced (id int PRIMARY KEY, body text, price numeric)' -c "INSERT INTO priced VALUES (1, 'a b c', 1.0), (2, 'a b c', 1.00), (3, 'a b c', 2)"
by_price="method => 'combined', text_column => 'body', site_column => 'price', options => '{\"techniques\": [\"exact_text\"], \"same_site\": \"none\"}'"
expect 'sites by their values: pairs' '1 3,2 3' "$(q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('priced', NULL, 'found_priced', $by_price)" -c "SELECT string_agg(left_id || ' ' || right_id, ',' ORDER BY 1) FROM found_priced" | tail -n 1)"
expect_error 'sites by their values: no update' 0A000 'cannot be brought up to date: equal sites may be written in different ways' "CALL near_duplicates_into('priced', NULL, 'found_priced_too', $by_price, incremental => true)"
# Rows that change their group or their source are changed rows.
q -c 'CREATE TABLE tenants (id int PRIMARY KEY, body text, tenant text, source int)' -c "INSERT INTO tenants SELECT i, 'one two three four ' || i % 7, 't' || i % 5, i % 3 FROM generate_series(1, 90) i"
in_groups="'tenants', 0.6, id_column => 'id', text_column => 'body', within => 'tenant', across => 'source'"
for change in '' 'tenant = NULL WHERE id % 9 = 0' 'source = NULL WHERE id % 7 = 0' "tenant = '', source = 4 WHERE id % 9 = 0" "tenant = 't1' WHERE id < 10" 'source = 1 WHERE id % 7 = 0'; do
    if [[ -n $change ]]; then q -c "UPDATE tenants SET $change"; fi
    said=$(q -c "CALL near_duplicates_into($in_groups, pairs => 'found_tenants', incremental => true)" 2>&1) || true
    expect "groups: ${change:-the first}" 0 "$(q -c "SELECT count(*) FROM found_tenants f FULL JOIN near_duplicates($in_groups) n USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM n.similarity")"
    expect "groups: ${change:-the first}: it is not made anew" '' "$(grep 'made anew' <<<"$said")"
done
q -c 'DROP TABLE tenants, found_tenants' -c "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE status = 'left over'" >/dev/null
refuses() { expect_error "$1 $2" 0A000 "$3" "CALL near_duplicates_into('docs', NULL, 'found_docs', method => '$1', $2 incremental => true)"; }
refuses imatch '' 'the pairs of docs cannot be brought up to date: the method depends on all documents together'
refuses tlcs '' 'the pairs of docs cannot be brought up to date: the method depends on the order of ids'
refuses runs "options => '{\"max_documents\": 9}'," 'the pairs of docs cannot be brought up to date: the method with these arguments depends on all documents together'

# Errors leave what there was.
same_night 'before errors' docs 0.6 jaccard
night 8 docs
expect_error 'too many pairs' 54000 'has more than max_pairs = 3 pairs to give' "CALL near_duplicates_into('docs', 0.6, 'found_docs', id_column => 'id', text_column => 'body', max_pairs => 3, clusters => 'grouped_docs', incremental => true)"
same_night 'after too many pairs' docs 0.6 jaccard
q -c 'CREATE VIEW twice AS SELECT * FROM docs UNION ALL SELECT id, body || $$ again$$ FROM docs WHERE id = (SELECT min(id) FROM docs) AND to_regclass($$more$$) IS NOT NULL'
twice="near_duplicates_into('twice', 0.6, 'found_twice', id_column => 'id', incremental => true)"
q -c 'SET client_min_messages = warning' -c "CALL $twice" -c 'CREATE TABLE more ()'
expect_error 'an id twice' 23505 'stands in more than one row of twice' "CALL $twice"
q -c 'DROP TABLE more' -c 'SET client_min_messages = warning' -c "CALL $twice" -c 'DROP TABLE found_twice'
expect 'the table of pairs was dropped' 'left over' "$(q -c "SELECT status FROM neardup_into_calls() WHERE pairs = 'public.found_twice'")"
expect 'what was kept for it goes' 6 "$(q -c "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE status = 'left over'")"
expect 'and its log' '' "$(q -c "SELECT to_regclass('found_twice_log')")"
q -c 'CREATE TABLE taken (a int)'
expect_error 'a table that is there' 42P07 'relation public.taken already exists' "CALL near_duplicates_into('docs', 0.6, 'taken', incremental => true)"

# What was kept is gone, or most of it is of no use.
q -c "DO \$\$ BEGIN EXECUTE 'DROP TABLE ' || (SELECT oid::regclass FROM pg_class WHERE relname ~ '^neardup_.*_routes$'); END \$\$"
same_night 'a kept table is gone' docs 0.6 jaccard
expect 'a kept table is gone: it is said' t "$(grep -q 'is made anew: a table that was kept is gone' <<<"$last_said" && echo t || echo "$last_said")"
for n in 1 2 3 4 5 6; do
    for table in base docs; do q -c "UPDATE $table SET body = 'v$n ' || body"; done
    q -c "INSERT INTO base SELECT 10000 * $n + i, 'many ' || i || ' ' || $n FROM generate_series(1, 300) i" -c "INSERT INTO docs SELECT * FROM base WHERE id > 10000 * $n" >/dev/null
    same_night "all has changed, $n" docs 0.6 jaccard
    if grep -q 'is made anew: most of the texts' <<<"$last_said"; then break; fi
done
expect 'it is made anew at last' t "$(grep -q 'is made anew: most of the texts that were kept have changed or are gone' <<<"$last_said" && echo t || echo "$last_said")"
q -c 'TRUNCATE docs, base'
same_night 'no documents any more' docs 0.6 jaccard
for n in 11 12 13; do night $n docs; done
same_night 'again documents' docs 0.6 jaccard

# Ids that are texts.
q -c 'CREATE TABLE named (name text PRIMARY KEY, body text)'
for n in 1 2 3; do
    q -c "INSERT INTO named SELECT 'n ''' || id || E'\\\\', body FROM base ON CONFLICT (name) DO UPDATE SET body = excluded.body" -c "DELETE FROM named WHERE NOT EXISTS (SELECT FROM base WHERE name = 'n ''' || id || E'\\\\')" \
        -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('named', 0.6, 'found_named', incremental => true)"
    expect_sql "names, night $n" 0 "SELECT count(*) FROM found_named f FULL JOIN near_duplicates('named', 0.6, NULL::text) n USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM n.similarity"
    night $((20 + n)) docs
done

# kill -9 behind each step: the next call goes on, and one more finds what has changed since.
expected_in_log='terminated by signal 9'
for step in 0 1 2 3 4 5 6 7 8 9; do
    night $((30 + step)) docs
    q -c "CALL near_duplicates_into('docs', 0.6, 'found_docs', id_column => 'id', text_column => 'body', method => 'jaccard', clusters => 'grouped_docs', incremental => true, pause => '0.05 ms')" >/dev/null 2>&1 &
    until=$((SECONDS + 60))
    while [[ $(q -c "SELECT COALESCE((SELECT max(step) FROM found_docs_log), -1)" 2>/dev/null || echo -1) != "$step" ]] && jobs -r | grep -q . && ((SECONDS < until)); do :; done
    pid=$(q -c "SELECT pid FROM pg_stat_activity WHERE query ~ '^CALL near_duplicates_into' AND pid <> pg_backend_pid()")
    if [[ -n $pid ]]; then backend_killed "$pid"; fi
    wait || true
    same_night "killed behind step $step" docs 0.6 jaccard
    expect "killed behind step $step: not made anew" '' "$(grep 'made anew' <<<"$last_said")"
done
night 50 docs
q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('docs', 0.6, 'found_docs', id_column => 'id', text_column => 'body', method => 'jaccard', clusters => 'grouped_docs', incremental => true, resume => false)"
same_night 'resume => false' docs 0.6 jaccard
expect 'only what is kept is left' 'known,pairs,ranks,routes,sets' "$(q -c "SELECT string_agg(split_part(relname, '_', 3), ',' ORDER BY relname) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r' AND relname ~ (SELECT about->>'token' FROM found_docs_log WHERE step = 0)")"
finish
