#!/usr/bin/env bash
# near_duplicates_into on three servers, tables of which are partitions of one here: the pairs and similarities are those of
# near_duplicates of the same rows in an ordinary table, join_part is made by all three, nothing is left. With NEARDUP_DATA
# also on documents of corpora.
set -euo pipefail
source "$(dirname "$0")/../../scripts/expect.sh"

workers=()
stop_all() {
    for dir in "${workers[@]}"; do server_stop "$dir"; done
}
trap stop_all EXIT
for n in 1 2 3; do
    workers+=("$(private_dir)")
    server_in "${workers[-1]}" $'log_statement = all\nlog_parameter_max_length = 0'
    createdb documents
    q -d documents -c 'CREATE EXTENSION neardup'
done
workers+=("$(private_dir)")
server_in "${workers[3]}"

q <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION neardup;
CREATE EXTENSION postgres_fdw;
CREATE EXTENSION dblink;
-- The same rows in an ordinary table, and with ids that are numbers and texts on the servers.
CREATE TABLE base (id bigint PRIMARY KEY, name text UNIQUE NOT NULL, body text);
CREATE TABLE docs (id bigint NOT NULL, body text) PARTITION BY HASH (id);
CREATE TABLE named (name text NOT NULL, body text) PARTITION BY HASH (name);
SQL
for n in 1 2 3; do
    q -v n=$n -v host="${workers[n - 1]}" <<'SQL'
CREATE SERVER :"n" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'host', port '5432', dbname 'documents', extensions 'neardup');
CREATE USER MAPPING FOR CURRENT_USER SERVER :"n" OPTIONS (user 'postgres');
SQL
    q -h "${workers[n - 1]}" -d documents -c 'CREATE TABLE docs (id bigint, body text); CREATE TABLE named (name text, body text)'
    for table in docs named; do
        q -c "CREATE FOREIGN TABLE ${table}_$n PARTITION OF $table FOR VALUES WITH (MODULUS 3, REMAINDER $((n - 1)))
            SERVER \"$n\" OPTIONS (table_name '$table', batch_size '1000')"
    done
done

# differ TABLE ID THRESHOLD METHOD [ARGUMENTS]: pairs that only one of both has, or that differ in their similarity; and
# whether there are any.
differ() {
    local type=bigint
    if [[ $2 == name ]]; then type=text; fi
    q -c "SET client_min_messages = warning" \
        -c "CALL near_duplicates_into('$1', $3, 'found', id_column => '$2', text_column => 'body', method => '$4'${5:+, $5})" \
        -c "SELECT count(*) FROM found FULL JOIN near_duplicates('base', $3, NULL::$type, id_column => '$2', text_column => 'body',
                method => '$4'${5:+, $5}) USING (left_id, right_id)
            WHERE found.similarity IS DISTINCT FROM near_duplicates.similarity" \
        -c "DROP TABLE found" 2>&1
}

# compare CORPUS: all of base.
compare() {
    local method threshold
    q -c 'TRUNCATE docs; TRUNCATE named; INSERT INTO docs SELECT id, body FROM base; INSERT INTO named SELECT name, body FROM base'
    for method in jaccard cosine dice overlap; do
        for threshold in 0.5 0.8 0.9; do
            expect "$1: $method $threshold, numbers" 0 "$(differ docs id $threshold $method)"
            expect "$1: $method $threshold, texts" 0 "$(differ named name $threshold $method)"
        done
    done
}

# Words of a few, from rare to frequent, and copies with some of them changed.
q <<'SQL'
INSERT INTO base SELECT n, 'd' || n * 7919 % 1000, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 600) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, 'e' || id, body || ' and ' || id FROM base WHERE id % 3 = 0;
INSERT INTO base SELECT 2000 + id, 'f' || id, body FROM base WHERE id < 100;
INSERT INTO base VALUES (5000, 'null', NULL), (5001, 'empty', ''), (5002, 'dots', '…');
SQL
compare words
expect 'sets of two words' 0 "$(differ docs id 0.5 jaccard 'shingle => 2')"
expect 'no repeats' 0 "$(differ named name 0.7 cosine 'multiset => false')"
expect 'characters' 0 "$(differ docs id 0.7 jaccard "tokenizer => 'chars'")"
expect 'lexemes' 0 "$(differ docs id 0.7 jaccard "tokenizer => 'tsearch:simple'")"
expect 'containment' 0 "$(differ docs id 0.7 containment)"
expect 'a method that is not made in parts' 0 "$(differ docs id 0.7 minhash)"
expect 'another one' 0 "$(differ docs id 0.7 minhash)"
expect 'another one' 0 "$(differ docs id 0.7 edit)"
for n in 1 2 3; do
    expect "server $n joins parts" t "$(grep -aq 'SELECT .*public.join_part(' "${workers[n - 1]}/log" && echo t)"
    expect "server $n compares sets" t "$(grep -aq 'SELECT .*public.token_similarity(' "${workers[n - 1]}/log" && echo t)"
done
# No working table is left anywhere.
left_behind() {
    local dir database
    for dir in "${workers[@]}"; do
        database=documents
        if [[ $dir == "${workers[3]}" ]]; then database=postgres; fi
        expect 'no working table is left' '' "$(q -h "$dir" -d "$database" -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"
    done
}
left_behind

# Clusters, of tables here and on servers.
for table in base docs; do
    expect "clusters of $table" 0 "$(q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('$table', 0.8, 'found', id_column => 'id', text_column => 'body', clusters => 'grouped')" \
        -c "SELECT count(*) FROM grouped g FULL JOIN near_duplicate_clusters('base', 0.8, id_column => 'id', text_column => 'body') c USING (id)
            WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" \
        -c 'DROP TABLE found, grouped' 2>&1)"
done

# Clusters, of tables here and on servers.
for table in base docs; do
    expect "clusters of $table" 0 "$(q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('$table', 0.8, 'found', id_column => 'id', text_column => 'body', clusters => 'grouped')" \
        -c "SELECT count(*) FROM grouped g FULL JOIN near_duplicate_clusters('base', 0.8, id_column => 'id', text_column => 'body') c USING (id)
            WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" \
        -c 'DROP TABLE found, grouped' 2>&1)"
done

# An ordinary table.
expect 'an ordinary table' 0 "$(differ base id 0.8 jaccard)"
expect_error 'a table that is there' 42P07 'already exists' "CALL near_duplicates_into('base', 0.8, 'docs')"
expect_error 'no name' 22004 'pairs must not be NULL' "CALL near_duplicates_into('base', 0.8)"
expect_error 'three names' 42602 'not the name of a table' "CALL near_duplicates_into('base', 0.8, 'a.b.c')"
expect_error 'too few parts' 22023 'parts must be between' "CALL near_duplicates_into('docs', 0.8, 'found', id_column => 'id', parts => 2)"

# An id twice; a call that ends there leaves tables to the next one.
q -c "INSERT INTO docs VALUES (1, 'the id of another document')"
expect_error 'an id twice' 23505 'stands in more than one row' "CALL near_duplicates_into('docs', 0.8, 'found', id_column => 'id')"
q -c "DELETE FROM docs WHERE body = 'the id of another document'"
expect 'after a call that failed' 0 "$(differ docs id 0.8 jaccard)"

# A call that ended behind step 5 goes on; one that asks for something else begins anew, as one does where a server lost
# the rows of its tables.
fails() {
    expect_error "$1" 54000 'more than max_pairs = 1 pairs' "CALL near_duplicates_into('docs', 0.8, 'found', id_column => 'id', text_column => 'body', max_pairs => 1)"
}
# again NAME THRESHOLD PATTERN: the call again, whose messages match the pattern, and its pairs.
again() {
    local seen
    seen=$(q -c "CALL near_duplicates_into('docs', $2, 'found', id_column => 'id', text_column => 'body')" 2>&1)
    expect "$1: what is done again" t "$(grep -qzP "$3" <<<"$seen" && echo t || echo "$seen")"
    expect "$1: pairs" 0 "$(q -c "SELECT count(*) FROM found FULL JOIN near_duplicates('base', $2, id_column => 'id', text_column => 'body')
            USING (left_id, right_id) WHERE found.similarity IS DISTINCT FROM near_duplicates.similarity" -c 'DROP TABLE found')"
}
fails 'too many pairs'
again 'the same call' 0.8 '^(?!.*step 1 of 7)(?s:.*)step 6 of 7'
fails 'too many pairs again'
again 'another call' 0.7 'step 1 of 7'
fails 'too many pairs, once more'
as_server "$bindir/pg_ctl" -D "${workers[0]}/data" -w stop -m immediate >/dev/null
server=${workers[0]} server_up
again 'a server that was killed' 0.8 'lost rows(?s:.*)step 1 of 7'
left_behind

# Documents of other kinds: bibliographic records, mails, addresses, sentences.
if [[ -d ${NEARDUP_DATA:-} ]]; then
    q -c 'CREATE UNLOGGED TABLE lines (line json)'
    for name in bib_cora_a bib_dblp_acm_a en_enron_spam_a rec_census_a zh_sts_a; do
        q -c 'TRUNCATE lines, base'
        load_json "$NEARDUP_DATA/$name/docs.jsonl.gz" lines
        q -c "INSERT INTO base SELECT row_number() OVER (), line->>'id', line->>'text' FROM lines"
        compare "$name"
    done
fi
finish
