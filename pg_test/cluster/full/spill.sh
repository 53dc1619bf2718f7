#!/usr/bin/env bash
# Calls with too little neardup.memory: the same pairs through temporary files, which go away however a call ends.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "neardup.memory = '1GB'
log_min_messages = warning"

q <<'SQL'
CREATE EXTENSION neardup;
-- Documents of 20 to 300 words of a language with few frequent and many rare words; a fifth are changed copies.
SELECT setseed(0.5);
CREATE TABLE docs AS
SELECT i AS id, (
    SELECT string_agg('w' || floor(exp(random() * 9))::int, ' ') FROM generate_series(1, 20 + (i * 7919) % 280) WHERE i > 0
) AS body FROM generate_series(1, 8000) i;
UPDATE docs SET body = regexp_replace(d.body, 'w\d(\d)', 'w\1', 'g') FROM docs d WHERE docs.id % 5 = 0 AND d.id = docs.id - 3;
UPDATE docs SET body = d.body || ' one two' FROM docs d WHERE docs.id % 5 = 1 AND d.id = docs.id - 2;
UPDATE docs SET body = 'the same text for many of them' WHERE id % 50 = 7;
ALTER TABLE docs ADD PRIMARY KEY (id);
CREATE VIEW first_half AS SELECT * FROM docs WHERE id <= 4000;
CREATE VIEW second_half AS SELECT * FROM docs WHERE id > 4000;
SQL
q <<'SQL'
-- Documents of 2 to 30 sentences of which many are in others, too, some in very many.
CREATE TABLE stories AS
SELECT i AS id, (
    SELECT string_agg(CASE (i * 31 + j) % 11 WHEN 0 THEN 'All rights are reserved.' ELSE
        format('The lot %s of %s went to the house at %s.', hashint8extended((i / 3 * 7) % 900 + j / 4, 1) % 4000, (i / 3 * 7) % 900 + j, j * (i / 3) % 17) END, ' ')
    FROM generate_series(1, 2 + i % 29) j) AS body FROM generate_series(1, 3000) i;
ALTER TABLE stories ADD PRIMARY KEY (id);
CREATE VIEW first_stories AS SELECT * FROM stories WHERE id % 2 = 0;
CREATE VIEW second_stories AS SELECT * FROM stories WHERE id % 2 = 1;
SQL

# temporary_files: how many there are, of anybody on this server.
temporary_files() {
    q -c "SELECT count(*) FROM pg_ls_tmpdir()"
}

calls=(
    "near_duplicates('docs', 0.8)"
    "near_duplicates('docs', 0.5)"
    "near_duplicates('docs', 0.9, method => 'cosine')"
    "near_duplicates('docs', 0.9, method => 'overlap', options => '{\"min_overlap\": 30}')"
    "near_duplicates('docs', 0.7, shingle => 3)"
    "near_duplicates('docs', 0.8, 0::numeric)"
    "near_duplicates_between('first_half', 'second_half', 0.7, id_column => 'id')"
    "near_duplicates_between('first_half', 'second_half', 0.9, id_column => 'id', method => 'containment')"
    "partial_duplicates('stories')"
    "partial_duplicates('stories', edits => 0.2, min_length => 10)"
    "partial_duplicates('stories', 0.6, features => 'shingles', shingle => 2, min_sentences => 2)"
    "partial_duplicates('stories', 0.6, features => 'spotsigs', min_sentences => 2, options => '{\"antecedents\": 50}')"
    "partial_duplicates_between('first_stories', 'second_stories', id_column => 'id', features => 'shingles', options => '{\"max_similar\": 100}')"
    "near_duplicates('stories', 0.5, method => 'spotsigs')"
    "near_duplicates('docs', 0.5, method => 'repeatability', options => '{\"min_length\": 100, \"fallback\": 60}')"
    "near_duplicates('docs', method => 'exact_code')"
    "eliminate('docs', 0.4, method => 'repeatability', options => '{\"min_length\": 100, \"fallback\": 60}')"
    "eliminate('docs', 0.75, method => 'repeatability', options => '{\"min_length\": 100, \"fallback\": 60}')"
)
for call in "${calls[@]}"; do
    q -c "CREATE TABLE whole AS SELECT * FROM $call"
    expect_sql "$call finds pairs" t 'SELECT count(*) > 100 FROM whole'
    for setting in '512kB 1' '1MB 3'; do
        read -r memory threads <<<"$setting"
        expect_sql "$call with $memory and $threads threads" '0' "
            SET client_min_messages = warning;
            SET neardup.memory = '$memory';
            SET neardup.threads = $threads;
            CREATE TEMP TABLE pieces AS SELECT * FROM $call;
            SELECT count(*) FROM ((TABLE whole EXCEPT ALL TABLE pieces) UNION ALL (TABLE pieces EXCEPT ALL TABLE whole)) d"
    done
    q -c 'DROP TABLE whole'
done
expect 'no temporary file is left' 0 "$(temporary_files)"

small="SET neardup.memory = '1MB'; SET client_min_messages = warning;"
expect_sql 'a query that ends early closes its files' '5' "
    $small SELECT count(*) FROM (SELECT near_duplicates('docs', 0.5) LIMIT 5) p"
expect 'no temporary file is left by LIMIT' 0 "$(temporary_files)"
expect_sql 'a cursor that is closed closes its files' '0' "
    $small BEGIN;
    DECLARE c CURSOR FOR SELECT near_duplicates('docs', 0.5);
    MOVE 3 FROM c;
    CLOSE c;
    SELECT count(*) FROM pg_ls_tmpdir();
    COMMIT"
expect_sql 'an error in the middle leaves nothing' '0' "
    $small DO \$\$
    DECLARE p record;
    BEGIN
        FOR p IN SELECT near_duplicates('docs', 0.5) LOOP
            RAISE EXCEPTION 'enough';
        END LOOP;
    EXCEPTION WHEN raise_exception THEN NULL;
    END \$\$;
    SELECT count(*) FROM pg_ls_tmpdir()"
expect_sql 'a rolled back savepoint leaves nothing' '0' "
    $small BEGIN;
    DECLARE outer_cursor CURSOR FOR SELECT 1;
    SAVEPOINT s;
    DECLARE c CURSOR FOR SELECT near_duplicates('docs', 0.5);
    MOVE 3 FROM c;
    ROLLBACK TO s;
    SELECT count(*) FROM pg_ls_tmpdir();
    COMMIT"
expect 'temp_file_limit is kept' 'ERROR:  53400' "$(q -v VERBOSITY=sqlstate -v ON_ERROR_STOP=0 \
    -c "SET neardup.memory = '1MB'" -c "SET temp_file_limit = '2MB'" \
    -c "SELECT count(*) FROM near_duplicates('docs', 0.8)" 2>&1)"
expect 'no temporary file is left by an error' 0 "$(temporary_files)"
expect_sql 'the account of memory is near the limit' t "
    SET neardup.memory = '8MB';
    CREATE TEMP TABLE found AS SELECT * FROM near_duplicates('docs', 0.8);
    SELECT peak_memory < 1.1 * 8 * 1024 * 1024 FROM near_duplicates_stats()"
expect 'the server had nothing to warn of' '' \
    "$(grep -E 'WARNING|PANIC|leak|panicked|terminated by signal' "$server/log" || true)"
# Texts of which nearly each word, and nearly each run of words, is new: the dictionary of tokens alone would take 20 times
# the setting. The peak is what the system says of the backend, with the shared memory that it touched.
q <<'SQL'
CREATE TABLE new_words AS SELECT i AS id, (SELECT string_agg(substr(md5(format('%s %s', i - i % 5 / 4, j)), 1, 8), ' ' ORDER BY j)
    FROM generate_series(1, 60) j WHERE i > 0) || ' ' || i % 7 AS body FROM generate_series(1, 60000) i;
ALTER TABLE new_words ADD PRIMARY KEY (id);
-- Many short texts of frequent words, so that entries of partitions take most of the memory.
CREATE TABLE short AS SELECT i AS id, (SELECT string_agg('w' || (hashint8extended(i - i % 5 / 4, j) & 1023), ' ' ORDER BY j)
    FROM generate_series(1, 12) j WHERE i > 0) || ' ' || i % 7 AS body FROM generate_series(1, 100000) i;
ALTER TABLE short ADD PRIMARY KEY (id);
CREATE VIEW first_words AS SELECT * FROM new_words WHERE id % 2 = 0;
CREATE VIEW second_words AS SELECT * FROM new_words WHERE id % 2 = 1;
SQL
peak="SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024"
for call in "near_duplicates('new_words', 0.8)" "near_duplicates('new_words', 0.8, shingle => 5)" \
    "near_duplicates_between('first_words', 'second_words', 0.8, id_column => 'id')"; do
    found="SELECT count(*), sum(left_id * 31 + right_id), sum(similarity::numeric) FROM $call"
    mapfile -t said < <(q -c "SET neardup.memory = '16MB'" -c "$found" -c "$peak")
    expect "$call: the same pairs at 16 MB" "$(q -c "$found")" "${said[0]}"
    expect "$call: 12,000 of them" 12000 "${said[0]%%|*}"
    expect "$call: at most 16 MB and 100 more" t "$([[ ${said[1]} -le 116 ]] && echo t || echo "${said[1]} MB")"
done
found="SELECT count(*), sum(left_id * 31 + right_id), sum(similarity::numeric) FROM near_duplicates('short', 0.8)"
mapfile -t said < <(q -c "SET neardup.memory = '4MB'" -c "$found" -c "$peak")
expect 'short texts: the same pairs at 4 MB' "$(q -c "$found")" "${said[0]}"
expect 'short texts: a fifth of them has one' t "$([[ ${said[0]%%|*} -ge 20000 ]] && echo t || echo "${said[0]}")"
expect 'short texts: at most 4 MB and 100 more' t "$([[ ${said[1]} -le 104 ]] && echo t || echo "${said[1]} MB")"
finish
