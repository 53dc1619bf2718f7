#!/usr/bin/env bash
# near_duplicates_into over three servers that fail for a while: what near_duplicates_plan says beforehand, statements that
# have a deadline, steps that are repeated. After each the pairs are those of one server, and no working table is left.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
source "$(dirname "$0")/../../../scripts/shards.sh"
shards_start 3

q -c 'CREATE TABLE base (id bigint PRIMARY KEY, body text)'
shard docs 'id bigint, body text' id
q <<'SQL'
INSERT INTO base SELECT n, (SELECT string_agg('w' || abs(hashint8(n - n % 5 / 4 + 100000 * w)) % 30000, ' ') FROM generate_series(1, 20 + n % 5 / 4) w)
FROM generate_series(1, 6000) n;
INSERT INTO docs TABLE base;
ANALYZE base;
SQL
into="near_duplicates_into('docs', 0.8, 'found', id_column => 'id', text_column => 'body'"
same() {
    expect "$1: pairs" '0|1200' "$(q -c "SELECT count(*) FILTER (WHERE f.similarity IS DISTINCT FROM n.similarity), count(*)
        FROM found f FULL JOIN near_duplicates('base', 0.8, id_column => 'id', text_column => 'body') n USING (left_id, right_id)" -c 'DROP TABLE found, found_log' 2>&1)"
    left_behind "$1"
}

# The estimate: by node, of all documents and of a sample of them, which servers choose; nothing is written.
plan="near_duplicates_plan('docs', 0.8, id_column => 'id', text_column => 'body', by_node => true"
expect 'the nodes of an estimate' '|0|t,1|2000|t,2|2000|t,3|2000|t' "$(q -c "SELECT string_agg(concat_ws('|', COALESCE(node, ''), round(documents, -3), sent > 0 AND received > 0 AND temporary > 0 AND cpu_seconds > 0), ','
    ORDER BY node NULLS FIRST) FROM $plan)")"
expect 'an estimate of all documents' '1200|1200|6000' "$(q -c "SELECT candidates, pairs, sampled FROM $plan) WHERE node IS NULL")"
expect 'an estimate of a sample' 't|t' "$(q -c "SELECT pairs BETWEEN 800 AND 1700, sampled BETWEEN 2700 AND 3300 FROM $plan, sample => 3000) WHERE node IS NULL")"
for n in 1 2 3; do
    expect "server $n chooses the sample" t "$(grep -aq 'SELECT .* FROM public.docs WHERE .*hash_array_extended' "${workers[n - 1]}/log" && echo t)"
    expect "server $n counts its documents" t "$(grep -aq 'SELECT count(\*) FROM public.docs' "${workers[n - 1]}/log" && echo t)"
done
expect 'what the servers send is what the others receive' t "$(q -c "SELECT abs(sum(sent) - sum(received)) < 100 FROM $plan)")"
expect 'an estimate of one server in parts' '|6000|0|0|t' "$(q -c "SELECT node, documents, sent, received, temporary > 0 FROM near_duplicates_plan('base', 0.8, parts => 4)")"
expect 'an estimate of one transaction' '|6000|1200' "$(q -c "SELECT node, documents, pairs FROM near_duplicates_plan('base', 0.8, by_node => true)")"
for method in minhash edit tlcs imatch runs simhash; do
    threshold=0.8
    case $method in tlcs | imatch) threshold=NULL ;; esac
    expect "an estimate by $method" 4 "$(q -c "SELECT count(*) FROM near_duplicates_plan('docs', $threshold, id_column => 'id', text_column => 'body', method => '$method', sample => 500, by_node => true)")"
done
expect 'an estimate by what is read here' '|t' "$(q -c "SELECT node, cpu_seconds > 0 FROM near_duplicates_plan('docs', 0.5, id_column => 'id', text_column => 'body', method => 'runs', options => '{\"max_documents\": 9}', by_node => true) WHERE node IS NULL")"
q -c "CREATE TABLE none (id bigint PRIMARY KEY, body text)" -c "CREATE TABLE equal AS SELECT n AS id, 'the same three words'::text AS body FROM generate_series(1, 2000) n"
expect 'an estimate of nothing' '0|0|0' "$(q -c "SELECT documents, pairs, sampled FROM near_duplicates_plan('none', 0.8, parts => 4)")"
expect 'an estimate of equal documents' '0|1999000' "$(q -c "SELECT candidates, pairs FROM near_duplicates_plan('equal', 0.8, id_column => 'id', parts => 4)")"
expect_error 'a sample of none' 22023 'sample must be a whole number of at least 1, not 0' "SELECT * FROM $plan, sample => 0)"
expect_error 'too many parts' 22023 'parts must be between 1 and 256' "SELECT * FROM near_duplicates_plan('base', 0.8, parts => 1000)"
left_behind 'an estimate'

# A statement that waits for a lock on a server is ended there, with an error that says so; the next call goes on.
q -c "CALL $into)" >/dev/null 2>&1
same 'before all'
mkfifo "$server/fifo"
chmod 666 "$server/fifo"
far 2 <"$server/fifo" >/dev/null &
exec 3>"$server/fifo"
echo 'BEGIN; LOCK TABLE docs;' >&3
until [[ $(far 2 -c "SELECT count(*) FROM pg_locks WHERE relation = 'docs'::regclass AND granted") == 1 ]]; do sleep 0.02; done
fails() { expect "$1" 1 "$(psql -X -qAt -v VERBOSITY=verbose -c "CALL $into, retries => 0, node_timeout => '$2')" 2>&1 | grep -c "ERROR:  $3")"; }
fails 'a deadline' 1500ms '08006: a statement on other nodes has not ended within 1500 ms: all nodes answer'
expect 'the server works on nothing any more' 0 "$(far 2 -c "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND wait_event_type = 'Lock'")"
# With retries the step is repeated, until the lock is gone.
: >"$server/said" # of an earlier call
q -c "CALL $into, node_timeout => '1500ms', retries => 10)" >"$server/said" 2>&1 &
call=$!
until grep -qs 'the step is repeated in 1 s (1 of 10), because of an error (08006): a statement' "$server/said" || ! kill -0 $call 2>/dev/null; do sleep 0.05; done
echo "COMMIT;" >&3
exec 3>&-
wait "$call" || true
expect 'a deadline and retries' t "$(grep -q 'pairs in public.found' "$server/said" && echo t || cat "$server/said")"
same 'a deadline and retries'

# A server that is frozen, with all its processes: a request ends, and names it.
mapfile -t frozen < <(head -n 1 "${workers[1]}/data/postmaster.pid" | xargs -I{} ps -o pid= -p {} --ppid {} | tr -d ' ')
# A process may have ended since it was listed.
as_server kill -STOP "${frozen[@]}" 2>/dev/null || true
fails 'a frozen server' 2s '08001: server "2" is not reached: '
as_server kill -CONT "${frozen[@]}" 2>/dev/null || true

# A server that is down: so many retries, and the error; one that comes back in between does not end the call.
as_server "${bindir:?}/pg_ctl" -D "${workers[2]}/data" -w stop -m immediate >/dev/null
seen=$(q -c "CALL $into, retries => 1)" 2>&1) || true
expect 'a server that is down: repeated once' 1 "$(grep -c 'NOTICE:  near_duplicates_into: the step is repeated' <<<"$seen")"
expect 'a server that is down: the error' 1 "$(grep -c 'ERROR:  server "3" is not reached' <<<"$seen")"
: >"$server/said" # of an earlier call
q -c "CALL $into, retries => 10)" >"$server/said" 2>&1 &
call=$!
until grep -qs 'the step is repeated' "$server/said"; do sleep 0.05; done
(server=${workers[2]} server_up)
wait "$call" || true
expect 'a server that comes back' t "$(grep -q 'pairs in public.found' "$server/said" && echo t || cat "$server/said")"
same 'a server that comes back'

# One that crashes in the middle: what was done before stays.
: >"$server/said" # of an earlier call
q -c "CALL $into, resume => false, retries => 10, pause => '0.3 ms')" >"$server/said" 2>&1 &
call=$!
until grep -qs 'step 3, ranks' "$server/said"; do sleep 0.02; done
as_server "$bindir/pg_ctl" -D "${workers[0]}/data" -w stop -m immediate >/dev/null
(server=${workers[0]} server_up)
wait "$call" || true
expect 'a server that crashes' t "$(grep -qzP '(?s)step 3, ranks(?!.*lost rows).*the step is repeated.*pairs in public.found' "$server/said" && echo t || cat "$server/said")"
same 'a server that crashes'

# Parts in groups: a call that is killed in the middle, and a server that crashes then, leave those that are done as they are.
expect 'groups' 6 "$(q -c "CALL $into, at_once => 8)" 2>&1 | grep -c 'step 5, candidates: [0-9]* of 48 parts')"
same 'groups'
for method in minhash runs; do
    q -c 'SET client_min_messages = warning' -c "CALL $into, method => '$method', options => '$([[ $method == minhash ]] && echo '{"hand_over": false}' || echo '{}')', at_once => 5)"
    expect "groups by $method" 0 "$(q -c "SELECT count(*) FROM found f FULL JOIN near_duplicates('base', 0.8, id_column => 'id', text_column => 'body', method => '$method',
        options => '$([[ $method == minhash ]] && echo '{"hand_over": false}' || echo '{}')') n USING (left_id, right_id) WHERE f.similarity IS DISTINCT FROM n.similarity" -c 'DROP TABLE found, found_log')"
done
# rows: how many rows of candidates each transaction wrote, on all servers.
candidates() {
    local n
    for n in 1 2 3; do
        far "$n" <<<"SELECT format('SELECT xmin, ctid, l, r FROM %s ORDER BY ctid;', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_candidates\$' \gexec"
    done
}
: >"$server/said" # of an earlier call
q -c "CALL $into, retries => 0, at_once => 6, pause => '0.3 ms')" >"$server/said" 2>&1 &
call=$!
until grep -qs 'step 5, candidates: 18 of 48 parts' "$server/said" || ! kill -0 $call 2>/dev/null; do sleep 0.02; done
q -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^CALL near_duplicates_into' AND pid <> pg_backend_pid()" >/dev/null
wait "$call" || true
before=$(candidates)
as_server "$bindir/pg_ctl" -D "${workers[1]}/data" -w stop -m immediate >/dev/null
(server=${workers[1]} server_up)
# The next call is killed one group later.
: >"$server/said" # of an earlier call
q -c "CALL $into, at_once => 6, pause => '0.3 ms')" >"$server/said" 2>&1 &
call=$!
until grep -qs 'step 5, candidates: 24 of 48 parts' "$server/said" || ! kill -0 $call 2>/dev/null; do sleep 0.02; done
q -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^CALL near_duplicates_into' AND pid <> pg_backend_pid()" >/dev/null
wait "$call" || true
after=$(candidates)
expect 'candidates that were there stay' "t|t" "$([[ -n $before && -z $(comm -23 <(sort <<<"$before") <(sort <<<"$after")) ]] && echo t)|$([[ $(wc -l <<<"$after") -gt $(wc -l <<<"$before") ]] && echo t)"
expect 'groups that were done are not done again' t "$(grep -qzP '(?s)goes on with(?!.*step [1-4],)(?!.*(6|12|18) of 48)' "$server/said" && echo t || cat "$server/said")"
# Rows that only one server has, of a transaction that the others rolled back.
far 1 <<<"SELECT format('INSERT INTO %s VALUES (1, 2);', oid::regclass) FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_candidates\$' \gexec"
expect 'rows without a note are dropped' 8 "$(q -c "CALL $into, at_once => 6)" 2>&1 | grep -c 'step 5, candidates: [0-9]* of 48 parts')"
same 'groups after crashes'

# Other errors are not repeated.
q <<'SQL'
CREATE FUNCTION stop_at() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE object_identity ~ 'neardup_[0-9a-f]{12}_routes$') THEN
        RAISE 'stopped';
    END IF;
END $$;
CREATE EVENT TRIGGER stop_at ON ddl_command_end EXECUTE FUNCTION stop_at();
SQL
seen=$(q -c "CALL $into)" 2>&1) || true
expect 'other errors are not repeated' 't|0' "$(grep -q 'ERROR:  stopped' <<<"$seen" && echo t || echo "$seen")|$(grep -c 'the step is repeated' <<<"$seen" || true)"
q -c 'DROP EVENT TRIGGER stop_at' -c 'DROP FUNCTION stop_at()' -c "CALL $into)" >/dev/null 2>&1
same 'other errors are not repeated'

# Inside a transaction, and inside a block with an exception handler, a call fails before it does anything.
expect_error 'in a block of a caller' 2D000 'cannot run inside a transaction' "DO \$\$ BEGIN BEGIN CALL $into); EXCEPTION WHEN division_by_zero THEN NULL; END; END \$\$"
left_behind 'in a block of a caller'
finish
