#!/usr/bin/env bash
# neardup.memory is a promise, in every method: the backend stays within it and 100 MB more, as the system tells it (VmHWM,
# with the shared memory that it touched), and gives the pairs that it gives with memory for everything. The calls of `refusable`
# may end with 53400 and a hint; with the setting of the hint they give the same.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "shared_buffers = 16MB
neardup.threads = 2
client_min_messages = warning"

q <<'SQL'
CREATE EXTENSION neardup;
-- Texts of which nearly each word is new; a fifth are changed copies.
CREATE TABLE new_words AS SELECT i AS id, (SELECT string_agg(substr(md5(format('%s %s', i - i % 5 / 4, j)), 1, 8), ' ' ORDER BY j)
    FROM generate_series(1, 60) j WHERE i > 0) || ' ' || i % 7 AS body FROM generate_series(1, 50000) i;
ALTER TABLE new_words ADD PRIMARY KEY (id);
CREATE VIEW names AS SELECT id, left(body, 40) AS body FROM new_words;
CREATE VIEW groups AS SELECT *, id / 10 AS few, id / 25000 AS many, id % 3 AS source FROM new_words;
CREATE VIEW first_words AS SELECT * FROM new_words WHERE id % 2 = 0;
CREATE VIEW second_words AS SELECT * FROM new_words WHERE id % 2 = 1;
-- Texts of 15 kB, 150 MB in all; every second one differs from the one before in its last sentence.
CREATE TABLE pages AS SELECT i AS id,
    repeat(format('The lot %s went to the house of %s. ', md5((i / 2)::text), md5((i / 2 + 7)::text)), 150) || format('Page %s.', i) AS body
FROM generate_series(1, 10000) i;
ALTER TABLE pages ADD PRIMARY KEY (id);
CREATE VIEW some_pages AS SELECT * FROM pages WHERE id <= 5000;
-- Many sentences, of which a third are in other texts.
CREATE TABLE stories AS SELECT i AS id, (
    SELECT string_agg(format('The lot %s of %s went to the house at %s.', hashint8extended(i / 3 * 7 + j / 4, 1) % 400000, i / 3 * 7 + j, j * (i / 3) % 17), ' ')
    FROM generate_series(1, 2 + i % 29) j) AS body FROM generate_series(1, 50000) i;
ALTER TABLE stories ADD PRIMARY KEY (id);
CREATE VIEW story_groups AS SELECT *, id / 30 AS few FROM stories;
CREATE TABLE sketches AS SELECT id, minhash(body) AS body FROM new_words;
ALTER TABLE sketches ADD PRIMARY KEY (id);
VACUUM ANALYZE;
SQL

calls=(
    "near_duplicates('new_words', 0.8)"
    "near_duplicates('new_words', 0.8, method => 'minhash')"
    "near_duplicates('new_words', method => 'simhash', options => '{\"distance\": 3}')"
    "near_duplicates('new_words', method => 'shingling')"
    "near_duplicates('new_words', method => 'combined')"
    "near_duplicates('new_words', method => 'combined', options => '{\"techniques\": {\"any\": [[\"minhash\", \"edit\"], [\"tlcs\", \"jaccard\"]]}}')"
    "near_duplicates('stories', method => 'imatch')"
    "near_duplicates('new_words', method => 'exact_text')"
    "near_duplicates('new_words', method => 'title')"
    "near_duplicates('new_words', method => 'spotsigs')"
    "near_duplicates('new_words', method => 'exact_code')"
    "near_duplicates('new_words', method => 'repeatability')"
    "near_duplicates('sketches', 0.9, text_column => 'body', method => 'minhash')"
    "near_duplicates('names', 0.9, id_column => 'id', method => 'edit')"
    "near_duplicates('some_pages', 0.999, id_column => 'id', method => 'edit')"
    "near_duplicates('pages', method => 'tlcs')"
    "near_duplicates('pages', method => 'tlcs', options => '{\"compare\": \"all\"}')"
    "near_duplicates('pages', method => 'tlcs', options => '{\"measure\": \"cosine\"}')"
    "near_duplicates('stories', method => 'lcs')"
    "near_duplicates_between('first_words', 'second_words', 0.8, id_column => 'id', method => 'minhash')"
    "near_duplicates('new_words', 0.5, method => 'runs')"
    "repeated_runs('pages')"
    "partial_duplicates('stories')"
    "partial_duplicates('stories', options => '{\"within_documents\": true}')"
    "nearest('new_words', 3)"
    "near_duplicates('groups', 0.8, id_column => 'id', text_column => 'body', within => 'few')"
    "near_duplicates('groups', 0.8, id_column => 'id', text_column => 'body', within => 'many', across => 'source')"
    "near_duplicates_between('groups', 'groups', 0.8, id_column => 'id', text_column => 'body', within => 'many')"
    "nearest('groups', 3, id_column => 'id', text_column => 'body', within => 'many')"
    "partial_duplicates('story_groups', id_column => 'id', within => 'few')"
    "nearest('stories', 10, shingle => 3)"
    "near_duplicate_clusters('new_words', 0.8)"
    "near_duplicate_clusters('pages', 0.8, method => 'tlcs', clustering => 'perhaps_similar')"
    "clusters_of_pairs('SELECT id AS left_id, id + 1 AS right_id, 0.9 AS similarity FROM generate_series(1, 2000000, 2) id')"
    "eliminate('new_words', 0.8)"
)
found() { echo "SELECT count(*), sum(hashtextextended(p::text, 0)::numeric) FROM $1 p"; }
peak="SELECT 'peak ' || substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int / 1024"

# Calls that have data without a place in files.
refusable='^(clusters_of_pairs|nearest|partial_duplicates|near_duplicates\(.sketches)'
# Calls that ended with the error at least once.
refused=()
for call in "${calls[@]}"; do
    whole=$(q -c "SET neardup.memory = '4GB'" -c "$(found "$call")")
    memory=8 said=
    for round in 1 2 3 4 5; do
        # One backend a call, so that its peak is that of the call.
        said=$(q -v ON_ERROR_STOP=0 -v VERBOSITY=verbose -c "SET neardup.memory = '${memory}MB'" -c "$(found "$call")" -c "$peak" 2>&1)
        high=$(sed -n 's/^peak //p' <<<"$said")
        expect "$call: within $memory MB and 100 more" t "$([[ $high -le $((memory + 100)) ]] && echo t || echo "$high MB")"
        [[ $said == *'ERROR:  53400: '* ]] || break
        if [[ $round == 1 ]]; then refused+=("${call%%,*}"); fi
        expect "$call: may be refused" t "$([[ $call =~ $refusable ]] && echo t || echo f)"
        enough=$(sed -n "s/^HINT:  SET neardup.memory = '\([0-9]*\)MB'; .*/\1/p" <<<"$said")
        expect "$call: the hint of round $round asks for more" t "$([[ ${enough:-0} -gt $memory ]] && echo t || echo "$said")"
        memory=${enough:-4096}
    done
    expect "$call: the same in $memory MB" "$whole" "${said%%$'\n'*}"
done
echo "${#refused[@]} of ${#calls[@]} calls have no place in 8 MB: ${refused[*]}"
expect 'some calls were refused' t "$([[ ${#refused[@]} -ge 1 ]] && echo t || echo f)"

# Calls that run a method, and give something else than its pairs; and one with very many rows, which a timeout ends.
for statement in "SELECT count(*) FROM near_duplicates_plan('some_pages', 0.99, id_column => 'id', method => 'edit')" \
    "SELECT count(*) FROM near_duplicates_plan('some_pages', 0.99, id_column => 'id', method => 'edit', by_node => true)" \
    "SELECT length(duplicates_report('some_pages', 0.99, id_column => 'id', method => 'edit'))" \
    "CALL near_duplicates_into('some_pages', 0.99, 'some_pairs', id_column => 'id', method => 'edit')" \
    "SELECT count(*) FROM suggest('some_pages', id_column => 'id')" "SELECT count(*) FROM suggest_pairs('some_pages', 10, id_column => 'id')" \
    "SELECT count(*) FROM shared_runs(repeat('a b c ', 8000), repeat('a b c d e ', 5000), 1)"; do
    said=$(q -v ON_ERROR_STOP=0 -v VERBOSITY=sqlstate -c "SET neardup.memory = '1MB'" -c "SET statement_timeout = '20s'" -c "$statement" -c "$peak" 2>&1)
    high=$(sed -n 's/^peak //p' <<<"$said")
    expect "$statement: within 1 MB and 100 more" t "$([[ $high -le 101 && ${said%%$'\n'*} =~ ^([0-9]+|peak.*|ERROR:  (53400|57014))$ ]] && echo t || echo "$said")"
done

# One long document: its shingles are counted in files; the text of `edit` has no place there, and the setting of the hint is
# enough, whether the table was ever analysed, and however many short ones there are.
q <<'SQL'
CREATE TABLE one_long (id int PRIMARY KEY, body text) WITH (autovacuum_enabled = off);
INSERT INTO one_long SELECT 1, string_agg('x' || i || ' y' || i % 1000, ' ') FROM generate_series(1, 350000) i;
INSERT INTO one_long VALUES (2, 'x1 y1 x2 y2');
CREATE TABLE one_of_many (id int PRIMARY KEY, body text);
INSERT INTO one_of_many TABLE one_long;
INSERT INTO one_of_many SELECT i, 'a b c ' || i % 5 FROM generate_series(3, 20000) i;
ANALYZE one_of_many;
CREATE VIEW long_ones AS SELECT * FROM one_long WHERE id < 3;
SQL
within="SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int < 101 * 1024"
for table in one_long one_of_many long_ones; do
    expect "$table: the shingles of a long document" $'0\nt' "$(q -c "SET neardup.memory = '1MB'" \
        -c "SELECT count(*) FROM near_duplicates('$table', 0.999, id_column => 'id') p WHERE left_id < 3" -c "$within")"
done
for table in one_long one_of_many; do
    q -c "UPDATE $table SET body = (SELECT string_agg('x' || i || ' y' || i % 1000, ' ') FROM generate_series(1, 700000) i) WHERE id = 1"
done
for table in one_long one_of_many long_ones; do
    call="near_duplicates('$table', 0.999, id_column => 'id', method => 'edit') p WHERE left_id < 3"
    whole=$(q -c "SET neardup.memory = '4GB'" -c "SELECT count(*) FROM $call")
    memory=4
    for round in 1 2 3 4; do
        said=$(q -v ON_ERROR_STOP=0 -c "SET neardup.memory = '${memory}MB'" -c "SELECT count(*) FROM $call" 2>&1) || true
        [[ $said == *'may need'* ]] || break
        memory=$(sed -n "s/^HINT:  SET neardup.memory = '\([0-9]*\)MB'; .*/\1/p" <<<"$said")
        expect "$table: the hint of round $round is no more than it takes" t "$([[ ${memory:-10000} -le 400 ]] && echo t || echo "$said")"
    done
    expect "$table: asked for more, and then the same" "t $whole" "$([[ $round -gt 1 ]] && echo t || echo "$said") $said"
done

# From a wrong number of rows the need comes out greater than the setting can be. Then the hint names what to do, and no setting.
q <<'SQL'
CREATE FUNCTION few() RETURNS SETOF int LANGUAGE plpgsql ROWS 1000000000 AS 'BEGIN RETURN QUERY SELECT generate_series(1, 40); END';
CREATE VIEW few_texts AS SELECT i AS id, repeat(md5(i::text) || ' x', 300000) AS body FROM few() i;
SQL
expect_error 'a need that no setting covers' 53400 'HINT:  The need is computed .*: ANALYZE the tables' \
    "SET neardup.memory = '8MB'; SELECT count(*) FROM near_duplicates('few_texts', 0.9, id_column => 'id', method => 'edit')"

# The server compiles queries that it takes for expensive, and its compiler takes 50 MB: not those that read documents.
# Of a view the call itself is not taken for expensive.
q -c "CREATE TABLE many AS SELECT * FROM new_words WHERE id <= 100" -c 'VACUUM many' -c "UPDATE pg_class SET reltuples = 1e8 WHERE relname = 'many'" -c 'CREATE VIEW many_words AS TABLE many'
compiled="SELECT pg_read_file('/proc/self/maps') ~ 'llvmjit'"
expect 'a query that the server compiles' $'100\nt' "$(q -c 'SET jit = on' -c 'SELECT count(*) FROM many WHERE length(body) > 0' -c "$compiled OR NOT pg_jit_available()")"
expect 'documents are read without the compiler' $'20\nf' "$(q -c 'SET jit = on' -c "SELECT count(*) FROM near_duplicates('many_words', 0.8, id_column => 'id')" -c "$compiled")"

# Calls that run beside each other have the sum of what they may use.
expect_sql 'two cursors and a call between them' '2|10000' "
    SET neardup.memory = '64MB';
    BEGIN;
    DECLARE a CURSOR FOR SELECT near_duplicates('new_words', 0.8, method => 'minhash');
    DECLARE b CURSOR FOR SELECT near_duplicates('new_words', 0.8, method => 'minhash');
    MOVE 3 FROM a;
    MOVE 3 FROM b;
    SELECT 2, count(*) FROM near_duplicates('new_words', 0.8);
    COMMIT"
# An error leaves no limit behind, and nothing counted.
refused="SELECT count(*) FROM clusters_of_pairs('SELECT id AS left_id, id + 1 AS right_id, 0.9 AS similarity FROM generate_series(1, 2000000, 2) id')"
said=$(q -v ON_ERROR_STOP=0 -v VERBOSITY=sqlstate -c "SET neardup.memory = '8MB'" -c "$refused" -c "$refused" \
    -c "SELECT count(*) FROM near_duplicates('new_words', 0.8)" -c "SELECT sum(cardinality(words(body))) FROM (SELECT repeat(body, 400) AS body FROM pages LIMIT 20) p" 2>&1)
expect 'after errors a session works as before' $'ERROR:  53400\nERROR:  53400\n10000\n' "${said%$'\n'*}"$'\n'
finish
