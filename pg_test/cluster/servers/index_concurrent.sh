#!/usr/bin/env bash
# Eight clients insert, change, delete and search while VACUUM, merges, REINDEX CONCURRENTLY and CREATE INDEX CONCURRENTLY
# run: no error, no deadlock, no lost row. NEARDUP_INDEX_SECONDS makes it longer (minutes before a release).
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "deadlock_timeout = 200ms
jit = off
max_connections = 40"

q -f "$project/pg_test/index/compare.sql" >/dev/null
q -c 'SELECT setseed(0.9)' -c 'SELECT add_docs(1000)' >/dev/null
# A row that its own transaction has just made must be found by every index.
q <<'SQL'
CREATE SEQUENCE marks;
CREATE FUNCTION made_and_found() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mark bigint := nextval('marks') + 1000000;
    own text := 'mark ' || mark || ' of this row ' || md5(mark::text);
    mine int;
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true);
    INSERT INTO docs (body, numbers, ids) VALUES (own, ARRAY[mark], ARRAY[md5(mark::text)::uuid]) RETURNING id INTO mine;
    IF NOT EXISTS (SELECT FROM docs WHERE numbers && ARRAY[mark] AND id = mine)
        OR NOT EXISTS (SELECT FROM docs WHERE ids && ARRAY[md5(mark::text)::uuid] AND id = mine)
        OR NOT EXISTS (SELECT FROM docs WHERE body <@ near(own, 1) AND id = mine)
        OR NOT EXISTS (SELECT FROM docs WHERE body <@ near(own, 0.9, 2, method => 'cosine') AND id = mine)
        OR NOT EXISTS (SELECT FROM docs WHERE words <@ near(string_to_array(own, ' '), 1, multiset => false) AND id = mine)
        OR NOT EXISTS (SELECT FROM docs WHERE near(body, 0.8) && near(own, 0.8) AND id = mine)
        OR NOT EXISTS (SELECT FROM docs WHERE minhash <@ near(minhash(own, 2, 40), 1) AND id = mine)
        OR (SELECT body <-> near(own, 0.5) FROM docs ORDER BY body <-> near(own, 0.5) LIMIT 1) <> 0
        OR (SELECT minhash <%> minhash(own, 2, 40) FROM docs ORDER BY minhash <%> minhash(own, 2, 40) LIMIT 1) <> 0 THEN
        RAISE EXCEPTION 'row % was not found', mine;
    END IF;
END $$;
-- One that is emptied again and again: what comes first settles the order of tokens, of several writers at once.
CREATE TABLE young (id int, body text);
CREATE INDEX young_text ON young USING signature (body) WITH (pending_limit = 64);
CREATE FUNCTION young_found() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    mark text := 'mark ' || nextval('marks');
BEGIN
    PERFORM set_config('enable_seqscan', 'off', true);
    INSERT INTO young SELECT id, body || ' ' || mark FROM docs LIMIT 40;
    IF NOT EXISTS (SELECT FROM young y, LATERAL (SELECT FROM young o WHERE o.body <@ near(y.body, 1) LIMIT 1) o WHERE y.body LIKE '%' || mark) THEN
        RAISE EXCEPTION 'no row of % was found', mark;
    END IF;
END $$;
SQL
cat >"$server/write.sql" <<'SQL'
SELECT made_and_found();
SELECT young_found();
INSERT INTO docs (body, numbers, ids) VALUES (some_text(), some_numbers(), some_ids());
UPDATE docs SET body = body || ' x' WHERE id = (SELECT min(id) + (random() * 500)::int FROM docs);
DELETE FROM docs WHERE id IN (SELECT id FROM docs WHERE id >= (SELECT min(id) FROM docs) ORDER BY id LIMIT 3) AND (SELECT count(*) FROM docs) > 1500;
SQL
# Both answers in one snapshot.
cat >"$server/search.sql" <<'SQL'
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT compare(0.3);
COMMIT;
SQL
chmod 644 "$server"/*.sql

seconds=${NEARDUP_INDEX_SECONDS:-30}
pgbench -n -c 5 -j 2 -T "$seconds" -f "$server/write.sql" >"$server/write.log" 2>&1 &
write=$!
pgbench -n -c 3 -j 1 -T "$seconds" -f "$server/search.sql" >"$server/search.log" 2>&1 &
search=$!
end=$((SECONDS + seconds - 1)) rounds=0
while ((SECONDS < end)); do
    rounds=$((rounds + 1))
    for statement in 'VACUUM docs' "SELECT signature_index_merge('by_text')" "SELECT signature_index_merge('by_numbers')" \
        "SELECT signature_index_merge('by_minhash')" 'REINDEX INDEX CONCURRENTLY by_text' 'REINDEX INDEX CONCURRENTLY by_ids' \
        "SELECT signature_index_merge('by_words')" 'REINDEX INDEX CONCURRENTLY by_balls' \
        'CREATE INDEX CONCURRENTLY another ON docs USING signature (numbers) WITH (pending_limit = 64)' \
        "SELECT signature_index_check('another', true)" 'DROP INDEX another' 'REINDEX INDEX CONCURRENTLY by_minhash' \
        'SELECT check_all()' "SELECT signature_index_check('young_text', true)" 'TRUNCATE young'; do
        if ! seen=$(q -c "$statement" 2>&1); then failed "$statement" "$seen"; fi
    done
done
wait "$write" || failed 'writers' "$(tail -n 5 "$server/write.log")"
wait "$search" || failed 'searchers' "$(tail -n 5 "$server/search.log")"
for log in write search; do
    expect "no errors of the clients ($log)" '' "$(grep -E 'ERROR|FATAL|aborted|deadlock' "$server/$log.log" | head -n 5)"
    expect "there was something to do ($log)" t "$(awk '/number of transactions actually processed/ { print ($6 > 5 ? "t" : "f") }' "$server/$log.log")"
done
expect 'no deadlock' '' "$(grep -n 'deadlock detected' "$server/log" | head -n 3)"
expect 'at least one round of maintenance' t "$([[ $rounds -gt 0 ]] && echo t || echo f)"
expect_sql 'in order afterwards' $'\nt' 'SELECT check_all(); SELECT answers_agree()'
expect_sql 'also what was emptied' '' "SELECT signature_index_check('young_text', true)"
echo "$(awk '/actually processed/ { print $6 }' "$server/write.log") writes, $(awk '/actually processed/ { print $6 }' "$server/search.log") searches, $rounds rounds of maintenance"
finish
