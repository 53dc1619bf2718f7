#!/usr/bin/env bash
# near_duplicates_into on three servers, tables of which are partitions of one here: the pairs and similarities are those of
# near_duplicates of the same rows in an ordinary table, join_part is made by all three, nothing is left. With NEARDUP_DATA
# also on documents of corpora, 1200 of each; NEARDUP_DOCUMENTS says how many, ALL takes five minutes more. What happens to calls is in into.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/shards.sh"
source "$(dirname "$0")/../../../scripts/methods_in_parts.sh"
source "$(dirname "$0")/../../../scripts/nights.sh"
shards_start 3 "shared_preload_libraries = 'pg_stat_statements'"

# The same rows in an ordinary table, and with ids that are numbers and texts on the servers.
q -c 'CREATE TABLE base (id bigint PRIMARY KEY, name text UNIQUE NOT NULL, body text)'
shard docs 'id bigint, body text' id
shard named 'name text, body text' name

# differ TABLE ID THRESHOLD METHOD [ARGUMENTS]: pairs that only one of both has, or that differ in their similarity; and
# whether there are any.
parts=''
differ() {
    local type=bigint
    if [[ $2 == name ]]; then type=text; fi
    q -c "SET client_min_messages = warning" \
        -c "CALL near_duplicates_into('$1', $3, 'found_$1', id_column => '$2', text_column => 'body', method => '$4'${5:+, $5}${parts:+, parts => $parts})" \
        -c "SELECT count(*) FROM found_$1 FULL JOIN near_duplicates('base', $3, NULL::$type, id_column => '$2', text_column => 'body',
                method => '$4'${5:+, $5}) USING (left_id, right_id)
            WHERE found_$1.similarity IS DISTINCT FROM near_duplicates.similarity" \
        -c "DROP TABLE found_$1" 2>&1
}

# all_methods TABLE ID THRESHOLD…: what differs, a line for each method and threshold.
all_methods() {
    local method threshold
    for method in jaccard cosine dice overlap; do
        for threshold in "${@:3}"; do
            echo "$method $threshold: $(differ "$1" "$2" "$threshold" $method)"
        done
    done
}
nothing() {
    local method
    for method in jaccard cosine dice overlap; do printf "$method %s: 0\n" "$@"; done
}

# compare CORPUS THRESHOLD…: all of base, with both kinds of ids at the same time.
compare() {
    q -c 'TRUNCATE docs; TRUNCATE named; INSERT INTO docs SELECT id, body FROM base; INSERT INTO named SELECT name, body FROM base' -c 'ANALYZE base'
    all_methods named name "${@:2}" >"$server/texts" &
    expect "$1: numbers" "$(nothing "${@:2}")" "$(all_methods docs id "${@:2}")"
    wait $!
    expect "$1: texts" "$(nothing "${@:2}")" "$(cat "$server/texts")"
}

# Words of a few, from rare to frequent, and copies with some of them changed.
q <<'SQL'
INSERT INTO base SELECT n, 'd' || n * 7919 % 1000, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
FROM generate_series(1, 600) n, generate_series(1, 5 + n % 40) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, 'e' || id, body || ' and ' || id FROM base WHERE id % 3 = 0;
INSERT INTO base SELECT 2000 + id, 'f' || id, body FROM base WHERE id < 100;
INSERT INTO base VALUES (5000, 'null', NULL), (5001, 'empty', ''), (5002, 'dots', '…');
SQL
compare words 0.5 0.8 0.9
expect 'sets of two words' 0 "$(differ docs id 0.5 jaccard 'shingle => 2')"
expect 'no repeats' 0 "$(differ named name 0.7 cosine 'multiset => false')"
expect 'characters' 0 "$(differ docs id 0.7 jaccard "tokenizer => 'chars'")"
expect 'lexemes' 0 "$(differ docs id 0.7 jaccard "tokenizer => 'tsearch:simple'")"
expect 'containment' 0 "$(differ docs id 0.7 containment)"
expect 'minhash' 0 "$(differ docs id 0.8 minhash "options => '{\"hand_over\": false}'")"
expect 'minhash of single words' 0 "$(differ named name 0.5 minhash "options => '{\"hand_over\": false, \"bands\": 20, \"rows\": 5}', shingle => 1")"
for n in 1 2 3; do
    expect "server $n joins parts" t "$(grep -aq 'SELECT .*neardup_internal.neardup_part_join(' "${workers[n - 1]}/log" && echo t)"
    expect "server $n compares sets" t "$(grep -aq 'SELECT .*neardup_internal.neardup_part_similarity(' "${workers[n - 1]}/log" && echo t)"
done
left_behind methods

shard sited 'id bigint, body text, site text' id
methods_documents
methods_in_parts 5
for n in 1 2 3; do
    expect "server $n joins parts by keys" t "$(grep -aq 'SELECT .*neardup_internal.neardup_part_join(' "${workers[n - 1]}/log" && echo t)"
    expect "server $n compares documents" t "$(grep -aq 'SELECT .*neardup_internal.neardup_part_similarity(' "${workers[n - 1]}/log" && echo t)"
    expect "server $n finds passages" t "$(grep -aq 'SELECT .*neardup_internal.neardup_part_passages(' "${workers[n - 1]}/log" && echo t)"
done
left_behind 'all methods'

# What depends on all documents together is made here, and a NOTICE says why.
here() { q -c "CALL near_duplicates_into('$1', $2, 'found', id_column => 'id', method => '$3'${4:+, $4})" -c 'DROP TABLE found' 2>&1 | grep -o 'all documents are read here: .*'; }
expect 'runs that many documents have' 'all documents are read here: the method with these arguments depends on all documents together' \
    "$(here docs 0.5 runs "options => '{\"max_documents\": 9}'")"
expect 'far apart' 'all documents are read here: the method with these arguments depends on all documents together' "$(here docs NULL edit "options => '{\"distance\": 11}'")"
expect 'whole sets' 'all documents are read here: the method with these arguments depends on all documents together' "$(here docs NULL tlcs "options => '{\"compare\": \"all\"}'")"
expect 'sites' 'all documents are read here: the rules of sites depend on all documents together' "$(here sited NULL tlcs "site_column => 'site'")"

# The rest is on the words of before.
q -c 'TRUNCATE base, docs, named' -c "INSERT INTO base SELECT n, 'd' || n, string_agg('w' || (400 * pow(hashint8(n * 1000 + w)::bigint % 1000 / 1000.0, 3))::int, ' ' ORDER BY w)
    FROM generate_series(1, 600) n, generate_series(1, 5 + n % 40) w GROUP BY n" -c "INSERT INTO base SELECT 1000 + id, 'e' || id, body || ' and ' || id FROM base WHERE id % 3 = 0" \
    -c "INSERT INTO base SELECT 2000 + id, 'f' || id, body FROM base WHERE id < 100" -c "INSERT INTO base VALUES (5000, 'null', NULL), (5001, 'empty', ''), (5002, 'dots', '…')" \
    -c 'INSERT INTO docs SELECT id, body FROM base' -c 'INSERT INTO named SELECT name, body FROM base'

# What postgres_fdw sends of a search for what is near to a text of another query.
sent() { q -c "EXPLAIN (VERBOSE, COSTS OFF) SELECT count(*) FROM docs WHERE $1" | grep -c 'Remote SQL: .*<@' || true; }
expect 'near of a constant is sent' 3 "$(sent "body <@ near('w1 w2 w3 w4 w5 w6', 0.8)")"
expect 'a query for what is near is sent' 3 "$(sent "body <@ (SELECT near(b.body, 0.8) FROM base b WHERE b.id = 7)")"
expect 'near of a query for a sketch is sent' 3 "$(sent "minhash(body) <@ near((SELECT minhash(b.body) FROM base b WHERE b.id = 7), 0.8)")"
expect 'near of a query for a text is not' 0 "$(sent "body <@ near((SELECT b.body FROM base b WHERE b.id = 7), 0.8)")"
expect_sql 'what is near' t "SELECT array_agg(id ORDER BY id) = (SELECT array_agg(b.id ORDER BY b.id) FROM base b WHERE b.body <@ (SELECT near(c.body, 0.8) FROM base c WHERE c.id = 9))
    FROM docs WHERE body <@ (SELECT near(b.body, 0.8) FROM base b WHERE b.id = 9)"

# Little memory: candidates are compared in rounds, and parts are joined run by run.
seen=$(q -c "SET neardup.memory = '1MB'" -c "CALL near_duplicates_into('docs', 0.3, 'found_docs', id_column => 'id', method => 'overlap', parts => 3)" 2>&1)
expect 'rounds' t "$(grep -q 'round 2 of' <<<"$seen" && echo t || echo "$seen")"
expect_sql 'pairs of rounds' 0 "SELECT count(*) FROM found_docs FULL JOIN near_duplicates('base', 0.3, id_column => 'id', text_column => 'body', method => 'overlap')
    USING (left_id, right_id) WHERE found_docs.similarity IS DISTINCT FROM near_duplicates.similarity; DROP TABLE found_docs"

# Clusters, of tables here and on servers.
for table in base docs; do
    expect "clusters of $table" 0 "$(q -c 'SET client_min_messages = warning' -c "CALL near_duplicates_into('$table', 0.8, 'found', id_column => 'id', text_column => 'body', clusters => 'grouped')" \
        -c "SELECT count(*) FROM grouped g FULL JOIN near_duplicate_clusters('base', 0.8, id_column => 'id', text_column => 'body') c USING (id)
            WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity)" \
        -c 'DROP TABLE found, grouped' 2>&1)"
done

# Ordinary tables, with ids of both kinds, and by other methods.
expect 'an ordinary table' 0 "$(differ base id 0.8 jaccard)"
expect 'an ordinary table by names' 0 "$(differ base name 0.8 cosine)"
expect 'an ordinary table by minhash' 0 "$(differ base id 0.8 minhash)"
left_behind clusters

# Nights in which documents come, change and go; the servers compute the hashes.
q -c 'CREATE TABLE plain (id bigint PRIMARY KEY, body text)'
shard nightly 'id bigint, body text' id
of=plain
for n in 1 2 3; do
    night $n nightly
    same_night "night $n" nightly 0.6 jaccard
done
same_night 'nothing has changed' nightly 0.6 jaccard
expect 'nothing has changed: so it is said' t "$(grep -q 'step 2, changes: 0 rows' <<<"$last_said" && echo t || echo "$last_said")"
for n in 1 2 3; do
    expect "server $n computes hashes" t "$(grep -aq 'SELECT id, neardup_internal.neardup_job_hash(' "${workers[n - 1]}/log" && echo t)"
    expect "server $n sends changed texts" t "$(grep -aq 'SELECT id, body FROM public.nightly WHERE .*ANY' "${workers[n - 1]}/log" && echo t)"
    expect "server $n keeps sets and rows" 'routes sets' "$(far "$n" -c "SELECT string_agg(split_part(relname, '_', 3), ' ' ORDER BY relname) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_' AND relkind = 'r'")"
done
# A server that has lost a table of these.
far 2 -c "DO \$\$ BEGIN EXECUTE 'DROP TABLE ' || (SELECT oid::regclass FROM pg_class WHERE relname ~ '^neardup_.*_routes\$'); END \$\$"
same_night 'a server has lost a table' nightly 0.6 jaccard
expect 'a server has lost a table: it is said' t "$(grep -q 'is made anew: a table that was kept is gone' <<<"$last_said" && echo t || echo "$last_said")"
q -c 'DROP TABLE found_nightly, grouped_nightly' -c "SELECT count(neardup_into_clean(run)) FROM (SELECT DISTINCT run FROM neardup_into_calls() WHERE pairs ~ 'nightly') r" >/dev/null
left_behind nights

# Ten thousand documents, by a role that may do no more than read them on the servers: how often it asks a server, and what a
# server does that stops in the middle.
q -c "TRUNCATE base, docs" -c "INSERT INTO base SELECT n, n::text, (SELECT string_agg('w' || abs(hashint8(n - n % 5 / 4 + 100000 * w)) % 30000, ' ') FROM generate_series(1, 20 + n % 5 / 4) w)
    FROM generate_series(1, 10000) n" -c 'INSERT INTO docs SELECT id, body FROM base' -c 'ANALYZE base' -c 'CREATE ROLE app LOGIN' -c 'CREATE SCHEMA work AUTHORIZATION app' \
    -c 'GRANT SELECT ON docs, base TO app' -c 'GRANT USAGE ON FOREIGN SERVER "1", "2", "3" TO app'
for n in 1 2 3; do
    # A role without a password is nobody to a server.
    as_server sed -i '1i local all app scram-sha-256' "${workers[n - 1]}/data/pg_hba.conf"
    far "$n" <<SQL
CREATE EXTENSION pg_stat_statements;
CREATE ROLE app LOGIN PASSWORD 'app of $n';
GRANT SELECT ON docs TO app;
SELECT format('CREATE SCHEMA neardup_into_%s AUTHORIZATION app', 'app'::regrole::oid) \gexec
SELECT FROM pg_reload_conf();
SELECT FROM pg_stat_statements_reset();
SQL
    q -c "CREATE USER MAPPING FOR app SERVER \"$n\" OPTIONS (user 'app', password 'app of $n')"
done
as_app="near_duplicates_into('docs', 0.8, 'work.found', id_column => 'id', text_column => 'body'"
same_as_app() {
    expect "$1" '0|2000' "$(q -c "SELECT count(*) FILTER (WHERE f.similarity IS DISTINCT FROM n.similarity), count(*)
        FROM work.found f FULL JOIN near_duplicates('base', 0.8, id_column => 'id', text_column => 'body') n USING (left_id, right_id)" -c 'DROP TABLE work.found, work.found_log' 2>&1)"
}
q -U app -c 'SET client_min_messages = warning' -c "CALL $as_app)"
same_as_app 'a role that may only read the documents'
for n in 1 2 3; do
    # 100 documents a request are the default of postgres_fdw; sets go back and forth 50 at a time.
    expect "server $n is asked at most 600 times for 3333 documents" t "$(far "$n" -c "SELECT CASE WHEN sum(calls) BETWEEN 100 AND 600 THEN 't' ELSE sum(calls)::text END FROM pg_stat_statements")"
done

# The sessions of a server stop answering in the middle of the call, which is then cancelled: the next call goes on.
: >"$server/stopped" # of an earlier call
q -U app -c "CALL $as_app, pause => '0.2 ms')" >"$server/stopped" 2>&1 &
call=$!
until grep -qs 'step 2, members' "$server/stopped"; do sleep 0.02; done
mapfile -t sessions < <(far 2 -c "SELECT pid FROM pg_stat_activity WHERE usename = 'app'")
# A process may have ended since it was listed.
as_server kill -STOP "${sessions[@]}" 2>/dev/null || true
sleep 0.5
q -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'app'" >/dev/null
sleep 0.5
as_server kill -CONT "${sessions[@]}" 2>/dev/null || true
wait "$call" || true
expect 'a server that stopped: cancelled' t "$(grep -q 'canceling statement' "$server/stopped" && echo t || cat "$server/stopped")"
seen=$(q -U app -c "CALL $as_app)" 2>&1) || true
expect 'a server that stopped: the next call goes on' t "$(grep -q 'goes on with the documents as they were read' <<<"$seen" && echo t || echo "$seen")"
same_as_app 'a server that stopped'
left_behind 'ten thousand documents'

# Documents of other kinds: bibliographic records, mails, addresses, sentences.
if [[ -d ${NEARDUP_DATA:-} ]]; then
    # Fewer than there would be, as there are many calls.
    parts=6
    q -c 'CREATE UNLOGGED TABLE lines (line json)'
    for name in bib_cora_a bib_dblp_acm_a en_enron_spam_a rec_census_a zh_sts_a; do
        q -c 'TRUNCATE lines, base'
        load_json "$NEARDUP_DATA/$name/docs.jsonl.gz" lines
        q -c "INSERT INTO base SELECT row_number() OVER (), line->>'id', line->>'text' FROM lines LIMIT ${NEARDUP_DOCUMENTS:-1200}"
        compare "$name" 0.6
    done
    left_behind corpora
fi
finish
