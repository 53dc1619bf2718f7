#!/usr/bin/env bash
# partial_duplicates_into on one server, in one transaction and in parts: the passages are those of partial_duplicates, also after a
# call was killed; errors. Over servers: scale_out.sh. On Citus: citus_methods.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/methods_in_parts.sh"
server_start
q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE base (id bigint PRIMARY KEY, name text UNIQUE NOT NULL, body text)' -c 'CREATE TABLE docs (id bigint PRIMARY KEY, body text)' \
    -c 'CREATE TABLE named (name text PRIMARY KEY, body text)' -c 'CREATE TABLE sited (id bigint PRIMARY KEY, body text, site text)' -c 'CREATE TABLE few (id int PRIMARY KEY, body text)'
methods_documents
for in_parts in 1 4 NULL; do
    expect "passages in $in_parts parts" same "$(same_passages docs id)"
    expect "all sentences in $in_parts parts" same "$(same_passages docs id 'min_sentences => 1, options => '"'"'{"max_gap": 0}'"'")"
    expect "shingles in $in_parts parts" same "$(same_passages docs id "features => 'shingles', shingle => 2, min_sentences => 1, extend => false")"
    expect "pages in $in_parts parts" same "$(same_passages docs id "tokenizer => 'html', min_sentences => 1")"
    expect "edited passages in $in_parts parts" same "$(same_passages docs id "edits => 0.2, min_length => 12")"
    expect "within one document in $in_parts parts" same "$(PGOPTIONS='-c client_min_messages=warning' same_passages docs id 'min_sentences => 1, options => '"'"'{"within_documents": true}'"'")"
done
in_parts=NULL
expect 'ids that are texts' same "$(same_passages named name)"
in_parts=3
expect 'little memory' same "$(PGOPTIONS='-c neardup.memory=1MB -c work_mem=64kB' same_passages docs id)"
q -c 'SET client_min_messages = warning' -c "CALL partial_duplicates_into('few', passages => 'nothing', parts => 3)"
expect 'no documents' 0 "$(q -c 'SELECT count(*) FROM nothing')"
seen=$(q -c "CALL partial_duplicates_into('named', passages => 'found', parts => 3)" 2>&1)
expect 'ids whose order is not known' 1 "$(grep -c 'partial_duplicates_into: what is asked for is not made in parts, so it is made in one: the ids are not the integers of a primary key' <<<"$seen")"
q -c 'DROP TABLE found'
seen=$(q -c "CALL partial_duplicates_into('docs', passages => 'found', parts => 3, features => 'spotsigs', options => '{\"antecedents\": 20}')" 2>&1)
expect 'what depends on all documents' 1 "$(grep -c 'so it is made in one: the method with these arguments depends on all documents together' <<<"$seen")"
q -c 'DROP TABLE found'
seen=$(q -c "CALL partial_duplicates_into('docs', passages => 'found', parts => 3, options => '{\"within_documents\": true}')" 2>&1)
expect 'what looks into one document' 1 "$(grep -c 'so it is made in one: a part compares two documents, and within_documents looks into one' <<<"$seen")"
q -c 'DROP TABLE found'

# kill -9 behind a step: the next call goes on.
expected_in_log='terminated by signal 9'
for step in 0 2 4 5; do
    q -c "CALL partial_duplicates_into('docs', passages => 'found_docs', id_column => 'id', text_column => 'body', parts => 4)" >/dev/null 2>&1 &
    until=$((SECONDS + 60))
    while [[ $(q -c "SELECT COALESCE((SELECT max(step) FROM found_docs_log), -1)" 2>/dev/null || echo -1) -lt $step ]] && jobs -r | grep -q . && ((SECONDS < until)); do :; done
    pid=$(q -c "SELECT pid FROM pg_stat_activity WHERE query ~ '^CALL partial_duplicates_into' AND pid <> pg_backend_pid()")
    if [[ -n $pid ]]; then backend_killed "$pid"; fi
    wait || true
    q -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS found_docs'
    in_parts=4
    expect "killed behind step $step" same "$(same_passages docs id)"
done
expect 'no working table is left' '' "$(q -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"

expect_error 'too many passages' 54000 'partial_duplicates_into has more than max_passages = 5 passages to give' "CALL partial_duplicates_into('docs', passages => 'found', parts => 3, max_passages => 5)"
expect_error 'too many passages, in one' 54000 'has more than max_passages = 5 passages to give' "CALL partial_duplicates_into('docs', passages => 'found', max_passages => 5)"
expect 'as many as there are' 0 "$(q -c 'SET client_min_messages = warning' -c "CALL partial_duplicates_into('docs', passages => 'found', parts => 3, max_passages => $(q -c "SELECT count(*) FROM partial_duplicates('docs')" 2>/dev/null))" \
    -c "SELECT count(*) - (SELECT count(*) FROM found) FROM partial_duplicates('docs')" -c 'DROP TABLE found' 2>&1)"
expect_error 'no table' 22004 'passages must not be NULL' "CALL partial_duplicates_into('docs', 0.9)"
expect_error 'how it goes about its steps' 22023 "HINT:  CALL partial_duplicates_into\('docs', 0.9, 'docs_passages', at_once => 1\);" "CALL partial_duplicates_into('docs', 0.9, 'found', at_once => 0)"
expect_error 'a pause' 22023 "HINT:  CALL partial_duplicates_into\('docs', 0.9, 'docs_passages', pause => '2s'\);" "CALL partial_duplicates_into('docs', 0.9, 'found', pause => '-1s')"
expect_error 'no documents are named' 22004 "HINT:  CALL partial_duplicates_into\('docs', 0.9, 'docs_passages'\);" "CALL partial_duplicates_into(NULL, 0.9, 'found')"
expect_error 'another snapshot' 55000 'partial_duplicates_into in parts must see what other sessions commit' "CALL partial_duplicates_into('docs', 0.9, 'found', parts => 2)" \
    -c "SET default_transaction_isolation = 'repeatable read'"
expect_error 'a table that is there' 42P07 'relation public.few already exists' "CALL partial_duplicates_into('docs', passages => 'few')"
expect_error 'a threshold' 22023 'threshold' "CALL partial_duplicates_into('docs', 2, 'found')"
expect_error 'features' 22023 'features' "CALL partial_duplicates_into('docs', passages => 'found', features => 'none')"
expect_error 'sentences' 22023 'min_sentences must be a whole number of at least 1' "CALL partial_duplicates_into('docs', passages => 'found', min_sentences => 0)"
expect_error 'in a transaction' 2D000 'invalid transaction termination|cannot run inside a transaction' "DO \$\$ BEGIN EXECUTE 'CALL partial_duplicates_into(''docs'', passages => ''found'')'; END \$\$"
expect_error 'bytes that are no passages' 22023 'passages cannot be read: it is cut short' "SELECT * FROM neardup_internal.neardup_part_passage_rows('\\x00')"
expect_error 'a method of pairs' 0A000 'not made in parts' "SELECT neardup_internal.neardup_part_passages('\\x0161', '\\x0161', NULL, '{\"method\": \"edit\"}')"
finish
