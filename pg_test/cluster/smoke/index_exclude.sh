#!/usr/bin/env bash
# Incoming texts (docs/recipes/incoming.md): constraints against near duplicates and triggers, while eight sessions insert
# texts of which many are near. Of a group in which all are near one another a constraint lets exactly one in, whoever comes
# first; what the trigger does not see is shown. Another constraint takes another line `constraint`.
# What is near is said by near_duplicates where texts are compared as they are, else by comparing all pairs.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start "deadlock_timeout = 100ms
autovacuum = off"

writers=8
q <<'SQL'
CREATE EXTENSION neardup;
CREATE FUNCTION words(seed bigint, first int, last int) RETURNS text LANGUAGE sql IMMUTABLE AS
    $$SELECT string_agg('w' || abs(hashint8extended(j, seed)) % 20000, ' ' ORDER BY j) FROM generate_series(first, last) j$$;
-- Texts of groups 1 to 60 differ in the last word, so that all of a group are near one another. In the groups from 61 on more
-- words at the end are others, so that some are near and some are not. The writers come to a group at about the same time.
CREATE TABLE texts AS
SELECT row_number() OVER (ORDER BY grp, n)::int AS id, grp, body FROM (
    SELECT grp, n, words(grp, 1, 400) || ' x' || n AS body FROM generate_series(1, 60) grp, generate_series(1, 16) n
    UNION ALL
    SELECT grp, n, words(grp, 1, 150 - n % 4 * 12) || ' ' || words(1000 * grp + n, 1, n % 4 * 12 + 1)
    FROM generate_series(61, 100) grp, generate_series(1, 8) n
) t;
ALTER TABLE texts ADD PRIMARY KEY (id);
CREATE TABLE outcomes (id int, state text, rows int);
SQL
count=$(q -c 'SELECT count(*) FROM texts')

# run INSERT: each writer runs the statement for its share of the ids and notes how it ended. $1 has the place of an id, @.
run() {
    local writer pids=()
    for writer in $(seq "$writers"); do
        for ((id = writer; id <= count; id += writers)); do
            printf '%s;\n' "${1//@/$id}" "INSERT INTO outcomes VALUES ($id, :'SQLSTATE', :ROW_COUNT)"
        done >"$server/writer$writer.sql"
        psql -X -qAt -f "$server/writer$writer.sql" >"$server/writer$writer.log" 2>&1 &
        pids+=($!)
    done
    wait "${pids[@]}"
    expect "all came to an end: $1" "$count" "$(q -c 'SELECT count(*) FROM outcomes')"
}

# near_by SQL: notes which texts are near, by a query of both orders of each pair.
near_by() {
    q -c 'DROP TABLE IF EXISTS near' -c "CREATE TABLE near (id, other) AS $1" -c 'ANALYZE near' 2>/dev/null
    expect_sql 'the first groups are near one another, the others in part' 't|t' \
        'SELECT (SELECT count(*) FROM near WHERE id <= 960) = 60 * 16 * 15, (SELECT count(*) FROM near WHERE id > 960) BETWEEN 80 AND 40 * 8 * 7 - 80'
}

# fresh [CONSTRAINT]: an empty table.
fresh() {
    q -c 'DROP TABLE IF EXISTS kept' -c 'TRUNCATE outcomes' -c "CREATE TABLE kept (id int, grp int, body text${1:+, CONSTRAINT apart $1})" 2>/dev/null
}

# What is in, against what is near to what: alone, no two of those in are near; each that was refused is near to one that is in.
two_in='SELECT count(*) FROM near n JOIN kept a ON a.id = n.id JOIN kept b ON b.id = n.other'
refused_alone="SELECT count(*) FROM outcomes o WHERE rows = 0 AND state <> '40P01' AND NOT EXISTS (SELECT FROM near n JOIN kept k ON k.id = n.other WHERE n.id = o.id)"
ones='SELECT count(*), min(in_it) = 1, max(in_it) = 1 FROM (SELECT count(*) AS in_it FROM kept WHERE grp <= 60 GROUP BY grp) g'
states="SELECT coalesce(string_agg(DISTINCT state, ' ' ORDER BY state), '') FROM outcomes"

# in_order INDEX: after VACUUM the index has what the table has.
in_order() {
    q -c 'VACUUM kept' -c "SELECT signature_index_check('$1', true)" >/dev/null
    expect_sql "$1: rows that were refused are gone from the index" t \
        "SELECT rows = (SELECT count(*) FROM kept) FROM signature_index_stats('$1')"
}

# waits: until a session waits for another's transaction.
waits() {
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted") == 1 ]]; do sleep 0.05; done
}

# beside BEGIN SECOND WAITS END: a session begins a transaction with a text of group 1; SECOND runs meanwhile, and if WAITS is not
# empty has to wait for it; then the first ends by END. What SECOND said is in $second, what the first said in $first.
mkfifo "$server/session"
beside() {
    psql -X -qAt -v VERBOSITY=sqlstate <"$server/session" >"$server/first" 2>&1 &
    local session=$! other
    exec 3>"$server/session"
    echo "$1; INSERT INTO kept SELECT * FROM texts WHERE id = 1; SELECT pg_advisory_lock(1);" >&3
    until [[ $(q -c "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted") == 1 ]]; do sleep 0.05; done
    psql -X -At -v VERBOSITY=sqlstate -c "$2" >"$server/second" 2>&1 &
    other=$!
    if [[ -n $3 ]]; then waits; else wait "$other" || true; fi
    echo "$4;" >&3
    exec 3>&-
    wait "$session" "$other" || true
    first=$(grep . "$server/first" || true) second=$(<"$server/second")
}

# A constraint on an expression that is compared by &&: constraint NAME KEY [CLASS WITH ITS OPTIONS [SQL for near_by]].
constraint() {
    local name=$1 key=$2 what exclude
    exclude="EXCLUDE USING signature ($key ${3:-} WITH &&) WITH (pending_limit = 64)"
    near_by "${4:-WITH keys AS MATERIALIZED (SELECT id, $key AS key FROM texts)
        SELECT a.id, b.id FROM keys a JOIN keys b ON a.key && b.key AND a.id <> b.id}"
    # ON CONFLICT DO NOTHING: no error at all.
    fresh "$exclude"
    run 'INSERT INTO kept SELECT * FROM texts WHERE id = @ ON CONFLICT DO NOTHING'
    what="$name, ON CONFLICT DO NOTHING"
    expect_sql "$what: no error" 00000 "$states"
    expect_sql "$what: one of each group" '60|t|t' "$ones"
    expect_sql "$what: no two that are near" 0 "$two_in"
    expect_sql "$what: nothing is refused that is near to none" 0 "$refused_alone"
    in_order apart

    # A plain INSERT: the error of the constraint, or of a deadlock, of which another of the group is the winner.
    fresh "$exclude"
    run 'INSERT INTO kept SELECT * FROM texts WHERE id = @'
    what="$name, plain INSERT"
    expect "$what: 23P01, or 40P01" t "$(q -c "$states" | grep -qxE '00000 23P01( 40P01)?' && echo t || echo f)"
    expect_sql "$what: one of each group" '60|t|t' "$ones"
    expect_sql "$what: no two that are near" 0 "$two_in"
    expect_sql "$what: nothing is refused that is near to none" 0 "$refused_alone"
    in_order apart

    # A text that is near to one of a transaction in progress waits for its end.
    local near='INSERT INTO kept SELECT * FROM texts WHERE id = 2'
    q -c 'TRUNCATE kept'
    beside BEGIN "$near" waits COMMIT
    expect "$what: what commits first is in" 'ERROR:  23P01' "$second"
    q -c 'TRUNCATE kept'
    beside BEGIN "$near" waits ROLLBACK
    expect "$what: what rolls back is not in the way" 'INSERT 0 1' "$second"
    q -c 'TRUNCATE kept'
    beside BEGIN "$near ON CONFLICT DO NOTHING" waits COMMIT
    expect "$name, ON CONFLICT DO NOTHING: what commits first is in" 'INSERT 0 0' "$second"
    q -c 'TRUNCATE kept'
    beside BEGIN 'INSERT INTO kept SELECT * FROM texts WHERE grp = 2 ON CONFLICT DO NOTHING' '' COMMIT
    expect "$name: one of a statement that has several; other texts do not wait" 'INSERT 0 1' "$second"
}
constraint 'two of six signatures' 'megashingles(minhash(body, 3, 84))'
constraint 'one of twelve signatures' 'supershingles(minhash(body, 3, 84), 12)'
both_orders() {
    echo "WITH pairs AS MATERIALIZED (SELECT * FROM near_duplicates('texts', $1, id_column => 'id', text_column => 'body'))
        SELECT left_id, right_id FROM pairs UNION ALL SELECT right_id, left_id FROM pairs"
}
constraint 'exact, shingles' 'near(body, 0.6, 5)' 'text_ball_set_ops (shingle = 5, threshold = 0.6)' "$(both_orders '0.6, shingle => 5')"
constraint 'exact' 'near(body, 0.8)' '' "$(both_orders 0.8)"

# Two tenants, for which all writers come to a group at about the same time: of each group, one text of each of them is in.
near_by "$(both_orders 0.8)"
q -c 'DELETE FROM near WHERE id / 8 % 2 <> other / 8 % 2'
of_tenants="SELECT count(*), min(in_it), max(in_it) FROM (SELECT count(*) AS in_it FROM kept WHERE grp <= 60 GROUP BY grp, id / 8 % 2) g"
for end in ' ON CONFLICT DO NOTHING' ''; do
    fresh 'EXCLUDE USING signature ((id / 8 % 2) WITH =, near(body, 0.8) WITH &&) WITH (pending_limit = 64)'
    run "INSERT INTO kept SELECT * FROM texts WHERE id = @$end"
    expect "by tenant$end: how inserts end" t "$(q -c "$states" | grep -qxE '00000( 23P01( 40P01)?)?' && echo t || echo f)"
    expect_sql "by tenant$end: one of each tenant's group" '120|1|1' "$of_tenants"
    expect_sql "by tenant$end: no two that are near" 0 "$two_in"
    expect_sql "by tenant$end: nothing is refused that is near to none of its tenant" 0 "$refused_alone"
    in_order apart
done
near_by "$(both_orders 0.8)"

# The trigger: refuses what is near to a row that it sees. What is near is what it was for the last constraint.
fresh
q <<'SQL'
CREATE INDEX by_body ON kept USING signature (body) WITH (pending_limit = 64);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF EXISTS (SELECT FROM kept WHERE body <@ near(NEW.body, 0.8)) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION refuse();
SQL
run 'INSERT INTO kept SELECT * FROM texts WHERE id = @'
expect_sql 'trigger: no error' 00000 "$states"
expect_sql 'trigger: at least one of each group' '60|t' "SELECT count(*), min(in_it) >= 1 FROM (SELECT count(*) AS in_it FROM kept WHERE grp <= 60 GROUP BY grp) g"
expect_sql 'trigger: nothing is refused that is near to none' 0 "$refused_alone"
echo "the trigger let $(q -c "SELECT count(*) - 60 FROM kept WHERE grp <= 60") of 900 in that are near to another, by $writers writers"
in_order by_body

near='INSERT INTO kept SELECT * FROM texts WHERE id = 2'
q -c 'TRUNCATE kept'
beside BEGIN "$near" '' COMMIT
expect_sql 'trigger: the rows of a transaction in progress are not seen' 'INSERT 0 1|2' "SELECT '$second', count(*) FROM kept"
q -c 'TRUNCATE kept'
expect_sql 'trigger: those of its own statement are' 1 'INSERT INTO kept SELECT * FROM texts WHERE grp = 3 ORDER BY id; SELECT count(*) FROM kept'
q -c 'TRUNCATE kept'
beside 'BEGIN ISOLATION LEVEL SERIALIZABLE' "BEGIN ISOLATION LEVEL SERIALIZABLE; $near; COMMIT" '' COMMIT
expect 'trigger, SERIALIZABLE: one of the two has to try again' 'ERROR:  40001' "$first"
expect_sql 'trigger, SERIALIZABLE: one is in' 1 'SELECT count(*) FROM kept'

# With a lock, one transaction after the other.
q -c 'TRUNCATE kept, outcomes' -c "CREATE FUNCTION one_by_one() RETURNS trigger LANGUAGE plpgsql AS \$\$BEGIN PERFORM pg_advisory_xact_lock('kept'::regclass::int8); RETURN NEW; END\$\$" \
    -c 'CREATE TRIGGER a_lock BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION one_by_one()'
run 'INSERT INTO kept SELECT * FROM texts WHERE id = @'
expect_sql 'trigger and lock: no error' 00000 "$states"
expect_sql 'trigger and lock: one of each group' '60|t|t' "$ones"
expect_sql 'trigger and lock: no two that are near' 0 "$two_in"
expect_sql 'trigger and lock: nothing is refused that is near to none' 0 "$refused_alone"
in_order by_body

# The curve of the page: of pairs of a similarity j those are found of which at least `needed` of `groups` signatures of so many
# values are equal. Found are as many as that says, within four standard deviations.
q <<'SQL'
CREATE FUNCTION found(j float8, groups int, width int, needed int) RETURNS float8 LANGUAGE sql IMMUTABLE AS
    $$SELECT 1 - (1 - j ^ width) ^ groups - CASE needed WHEN 2 THEN groups * j ^ width * (1 - j ^ width) ^ (groups - 1) ELSE 0 END$$;
CREATE TABLE pairs AS
SELECT resemblance(a, b, 3) AS j, megashingles(minhash(a, 3, 84)) && megashingles(minhash(b, 3, 84)) AS two_of_six,
    supershingles(minhash(a, 3, 84), 12) && supershingles(minhash(b, 3, 84), 12) AS one_of_twelve
FROM generate_series(1, 4000) i, LATERAL (SELECT words(i, 1, 150) AS a) a, LATERAL (SELECT string_agg(
    CASE WHEN abs(hashint8extended(n, -i)) % 1000 < i % 200 THEN 'y' || n ELSE word END, ' ' ORDER BY n) AS b
    FROM string_to_table(a, ' ') WITH ORDINALITY w(word, n)) b;
SQL
curve() {
    expect_sql "the curve: $1" '' "SELECT concat_ws(' ', 'similarity', round(min(j)::numeric, 2), 'to', round(max(j)::numeric, 2), 'found', count(*) FILTER (WHERE $1), 'of', count(*), 'expected', round(sum(p)::numeric, 1))
        FROM pairs, LATERAL (SELECT found(j, $2) AS p) f GROUP BY floor(j * 10)
        HAVING abs(count(*) FILTER (WHERE $1) - sum(p)) > 1 + 4 * sqrt(sum(p * (1 - p)))"
}
curve two_of_six '6, 14, 2'
curve one_of_twelve '12, 7, 1'
expect_sql 'pairs of all similarities' t 'SELECT count(*) >= 8 AND min(pairs) >= 50 FROM (SELECT count(*) AS pairs FROM pairs GROUP BY floor(j * 10)) g'

# On real texts: what is kept by signatures shares none, and how many pairs of at least 0.8 are left; what is kept exactly has
# no pair at all, and each that was refused is near to one that is in.
if [[ -d ${NEARDUP_DATA:-} ]]; then
    q -c 'CREATE TABLE lines (line json)'
    load_json "$NEARDUP_DATA/en_bible_a/docs.jsonl.gz" lines
    q -c 'TRUNCATE texts, outcomes' -c "INSERT INTO texts SELECT row_number() OVER (), 0, line->>'text' FROM lines" \
        -c 'CREATE TABLE verses (id int, grp int, body text, EXCLUDE USING signature (megashingles(minhash(body, 3, 84)) WITH &&))' \
        -c 'INSERT INTO verses SELECT * FROM texts ORDER BY id ON CONFLICT DO NOTHING'
    expect_sql 'verses: each that was refused shares a signature with one that is in' 0 "SET enable_seqscan = off;
        SELECT count(*) FROM texts t WHERE NOT EXISTS (SELECT FROM verses v WHERE megashingles(minhash(v.body, 3, 84)) && megashingles(minhash(t.body, 3, 84)))"
    q -F ' ' -c "SELECT (SELECT count(*) FROM verses), 'of', (SELECT count(*) FROM texts), 'verses kept; pairs of at least 0.8 left',
        (SELECT count(*) FROM near_duplicates('verses', 0.8, shingle => 3, id_column => 'id')), 'of', (SELECT count(*) FROM near_duplicates('texts', 0.8, shingle => 3, id_column => 'id', text_column => 'body'))"
    q -c 'CREATE TABLE exact (id int, grp int, body text, EXCLUDE USING signature (near(body, 0.8) WITH &&))' \
        -c 'INSERT INTO exact SELECT * FROM texts ORDER BY id ON CONFLICT DO NOTHING' -c 'CREATE VIEW refused AS SELECT * FROM texts WHERE id NOT IN (SELECT id FROM exact)'
    expect_sql 'verses, exactly: no two that are near' 0 "SELECT count(*) FROM near_duplicates('exact', 0.8, id_column => 'id', text_column => 'body')"
    expect_sql 'verses, exactly: each that was refused is near to one that is in' 0 "SELECT (SELECT count(*) FROM refused) - count(DISTINCT left_id)
        FROM near_duplicates_between('refused', 'exact', 0.8, id_column => 'id', text_column => 'body', right_id_column => 'id', right_text_column => 'body')"
    q -F ' ' -c "SELECT count(*), 'verses kept exactly' FROM exact"
fi
# A statement that inserts many long texts holds what it needs for one of them, not for each two that are compared.
for value in 'near(body, 0.8)' 'megashingles(minhash(body, 3, 84))'; do
    fresh "EXCLUDE USING signature ($value WITH &&)"
    expect_sql "long texts in one statement: $value" $'60\nt' "INSERT INTO kept SELECT n, n, words(n, 1, 3000) FROM generate_series(1, 60) n;
        SELECT count(*) FROM kept; SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int < 300000"
done
finish
