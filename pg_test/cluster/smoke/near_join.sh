#!/usr/bin/env bash
# Joins by <@ near(...) as one batch. On data of different skew, the plan that is chosen costs at most three times as much as
# the better one. And joins of several tables at random, of all kinds and within each other, have the rows that they have by
# loops: NEARDUP_JOINS of them, as NEARDUP_SEED says. Rows that others change meanwhile are in full/near_join_locks.sh.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'jit = off'
q -c 'CREATE EXTENSION neardup'

# Joins by a text and an equality, of different skew: the same rows by each plan, and the chosen one does at most three times the
# work of the better one. Work is counted, in microseconds that were measured once: of a text that is read for a batch, of two
# distinct texts that are compared in it, of a pair that comes of it, and of two texts that a hash join or a loop compares.
q <<'SQL'
CREATE TABLE skewed AS
SELECT i AS id, i / 2 AS household, i % 5 AS few, i % 50 AS some, CASE WHEN i % 10 > 0 THEN i ELSE 0 END AS mostly, 1 AS one,
    'person ' || md5(i::text) AS distinct_name, 'name unknown' AS same_name,
    CASE WHEN i % 10 = 0 THEN 'name unknown' ELSE 'person ' || md5(i::text) END AS tenth,
    CASE WHEN i % 2 = 0 THEN 'name unknown' ELSE 'person ' || md5(i::text) END AS half,
    'person of group ' || i % 40 AS grouped,
    'one two three four five six seven eight nine ' || i AS template
FROM generate_series(1, 600) i;
ANALYZE skewed;
CREATE FUNCTION work(plan json) RETURNS float8 LANGUAGE sql AS $$
    SELECT CASE
        WHEN plan->>'Custom Plan Provider' = 'NearJoin' THEN
            7 * (SELECT sum((side->>'Actual Rows')::float8) FROM json_array_elements(plan->'Plans') side) + 2 * (plan->>'Candidates')::float8 +
            0.5 * ((plan->>'Actual Rows')::float8 + coalesce((plan->>'Rows Removed by Join Filter')::float8, 0))
        WHEN plan->>'Node Type' IN ('Hash Join', 'Merge Join', 'Nested Loop') THEN
            10 * (plan->>'Actual Loops')::float8 * ((plan->>'Actual Rows')::float8 + coalesce((plan->>'Rows Removed by Join Filter')::float8, 0))
        ELSE 0 END + coalesce((SELECT sum(work(part)) FROM json_array_elements(plan->'Plans') part), 0)
$$;
-- What a plan with these settings does, and what it returns.
CREATE FUNCTION done(query text, settings text[], OUT work float8, OUT rows bigint, OUT sum bigint, OUT provider text) LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    PERFORM set_config(name, 'off', true) FROM unnest(settings) name;
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING OFF) ' || query INTO plan;
    work := work(plan->0->'Plan');
    provider := coalesce(plan->0->'Plan'->>'Custom Plan Provider', plan->0->'Plan'->>'Node Type');
    EXECUTE 'SELECT count(*), sum(hashtext(q::text)) FROM (' || query || ') q' INTO rows, sum;
    PERFORM set_config(name, 'on', true) FROM unnest(settings) name;
END $$;
CREATE TABLE compared AS
SELECT q.query, chosen.work AS chosen, least(batch.work, other.work) AS best, chosen.provider,
    (chosen.rows, chosen.sum) IS DISTINCT FROM (batch.rows, batch.sum) OR (chosen.rows, chosen.sum) IS DISTINCT FROM (other.rows, other.sum) AS differ
FROM (VALUES ('distinct_name', 'household'), ('distinct_name', 'few'), ('same_name', 'household'), ('same_name', 'some'), ('tenth', 'household'), ('tenth', 'one'),
        ('half', 'some'), ('half', 'mostly'), ('grouped', 'household'), ('grouped', 'few'), ('template', 'household'), ('template', 'mostly')) c(name, key),
    LATERAL (SELECT format(kind, c.name, c.key) FROM unnest(ARRAY[
        'SELECT a.id, b.id AS other FROM skewed a JOIN skewed b ON a.%1$I <@ near(b.%1$I, 0.8) AND a.%2$I = b.%2$I AND a.id < b.id',
        'SELECT a.id FROM skewed a WHERE EXISTS (SELECT FROM skewed b WHERE a.%1$I <@ near(b.%1$I, 0.8) AND a.%2$I = b.%2$I AND a.id <> b.id)']) kind) q(query),
    done(q.query, '{}') chosen, done(q.query, '{enable_nestloop,enable_hashjoin,enable_mergejoin}') batch, done(q.query, '{neardup.enable_near_join}') other;
SQL
expect_sql 'the same rows by each plan of skewed data' '' 'SELECT query FROM compared WHERE differ'
expect_sql 'the chosen plan of skewed data' '' "SELECT round(chosen), round(best), provider, query FROM compared WHERE chosen > 3 * best"
expect_sql 'both plans are chosen' t "SELECT count(*) FILTER (WHERE provider = 'NearJoin') >= 3 AND count(*) FILTER (WHERE provider <> 'NearJoin') >= 3 FROM compared"

# Many groups are joined some at a time: a join of any kind has the same rows, and one that ends early compares few of them.
q <<'SQL'
CREATE TABLE many AS SELECT i AS id, nullif(i / 4, 7) AS household, 'person ' || i / 8 || repeat(' of it', i % 3) AS name FROM generate_series(1, 20000) i;
ANALYZE many;
CREATE FUNCTION candidates(query text) RETURNS int LANGUAGE plpgsql SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, FORMAT json, TIMING OFF) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan::jsonb, '$.**."Candidates"');
END $$;
SQL
on='ON a.name <@ near(b.name, 0.5) AND a.household = b.household AND a.id < b.id'
for query in "SELECT a.id, b.id AS other FROM many a JOIN many b $on" "SELECT a.id, b.id AS other FROM many a LEFT JOIN many b $on" \
    "SELECT a.id, b.id AS other FROM many a RIGHT JOIN many b $on" "SELECT a.id FROM many a WHERE EXISTS (SELECT FROM many b WHERE ${on#ON })" \
    "SELECT b.id FROM many b WHERE NOT EXISTS (SELECT FROM many a WHERE ${on#ON })"; do
    expect_sql "groups, some at a time: $query" 'NearJoin|t|t' "SELECT one.provider, one.rows > 4096, (one.rows, one.sum) = (other.rows, other.sum)
        FROM done(\$q\$$query\$q\$, '{enable_nestloop,enable_hashjoin,enable_mergejoin}') one, done(\$q\$$query\$q\$, '{neardup.enable_near_join}') other"
done
expect_sql 'a join that ends early compares few groups' t \
    "SELECT 4 * candidates('SELECT FROM many a JOIN many b $on LIMIT 1') < candidates('SELECT FROM many a JOIN many b $on')"

# Joins of several tables at random, by a batch wherever there can be one and by loops.
q <<'SQL'
CREATE TABLE a AS SELECT i AS id, CASE WHEN i % 7 > 0 THEN 'one two three four w' || i % 4 END AS body, i % 3 AS k FROM generate_series(1, 12) i;
CREATE TABLE b AS SELECT i AS id, CASE WHEN i % 5 > 0 THEN 'one two three four w' || i % 6 END AS body, i % 3 AS k FROM generate_series(1, 9) i;
CREATE TABLE c AS SELECT i AS id, 'one two three w' || i % 3 || ' four' AS body, nullif(i % 4, 0) AS k FROM generate_series(1, 8) i;
CREATE TABLE d(id int, body text, k int) PARTITION BY LIST (k);
CREATE TABLE d0 PARTITION OF d FOR VALUES IN (0);
CREATE TABLE d1 PARTITION OF d DEFAULT;
INSERT INTO d SELECT id, body, k FROM c;
CREATE VIEW v AS SELECT a.id, b.body, coalesce(b.k, 9) AS k FROM a LEFT JOIN b ON a.body <@ near(b.body, 1);
ANALYZE;
CREATE FUNCTION any_of(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT choices[1 + floor(random() * cardinality(choices))::int] $$;
CREATE FUNCTION value(tables text[]) RETURNS text LANGUAGE sql VOLATILE AS
$$ SELECT replace(any_of('T.body', 'T.body', 'T.body', 'coalesce(T.body, ''none'')', '''x '' || T.body'), 'T', any_of(VARIADIC tables)) $$;
CREATE FUNCTION near_condition(tables text[], others text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT format(any_of('%1$s <@ near(%2$s, ', '%2$s <@ near(%1$s, '), one, two) || any_of('1)', '0.7)', '0.6)') FROM value(tables) one, value(others) two $$;
CREATE FUNCTION condition(tables text[], others text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    text text := CASE WHEN random() < 0.9 THEN near_condition(tables, others) ELSE 'true' END;
BEGIN
    IF text = 'true' OR random() < 0.3 THEN
        text := text || ' AND ' || format(any_of('%s.k = %s.k', '%s.id <> %s.id', '%s.id < %s.id', 'coalesce(%s.k, 0) = coalesce(%s.k, 0)'), any_of(VARIADIC tables), any_of(VARIADIC others));
    END IF;
    IF random() < 0.2 THEN text := text || ' AND ' || any_of(VARIADIC tables || others) || any_of('.k = 1', '.k IS NULL', '.k < 2'); END IF;
    IF random() < 0.15 THEN text := text || ' AND ' || near_condition(tables, others); END IF;
    RETURN text;
END $$;
-- A join of some depth, and the names in it, which are numbered from `last` on.
CREATE FUNCTION some_join(depth int, INOUT last int, OUT text text, OUT tables text[]) LANGUAGE plpgsql AS $$
DECLARE
    one record;
    two record;
BEGIN
    IF depth <= 0 OR random() < 0.15 THEN
        last := last + 1;
        tables := ARRAY['t' || last];
        text := any_of('a', 'b', 'c', 'd', 'a', 'b', 'v', '(SELECT id, body, coalesce(k, 5) AS k FROM b)', '(SELECT id, lower(body) AS body, 7 AS k FROM d)') || ' t' || last;
        RETURN;
    END IF;
    SELECT * INTO one FROM some_join(depth - 1, last);
    SELECT * INTO two FROM some_join(CASE WHEN random() < 0.3 THEN depth - 1 ELSE 0 END, one.last);
    last := two.last;
    tables := one.tables || two.tables;
    text := format('(%s %s JOIN %s ON %s)', one.text, any_of('LEFT', 'LEFT', 'RIGHT', 'INNER', 'FULL'), two.text, condition(one.tables, two.tables));
END $$;
CREATE FUNCTION some_query() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    joined record;
    sub record;
    selected text;
    filters text[] := '{}';
BEGIN
    SELECT * INTO joined FROM some_join(1 + floor(random() * 3)::int, 0);
    SELECT 'SELECT ' || string_agg(format(any_of('%s.id', '%s.k', '%s.body', 'coalesce(%s.k, -1)', '%s.id IS NULL'), name) || ' AS c' || n, ', ') INTO selected
    FROM unnest(joined.tables) WITH ORDINALITY t(name, n) WHERE n = 1 OR random() < 0.6;
    IF random() < 0.4 THEN filters := filters || (any_of(VARIADIC joined.tables) || any_of('.id', '.k', '.body') || any_of(' IS NULL', ' IS NULL', ' IS NOT NULL')); END IF;
    IF random() < 0.2 THEN filters := filters || format('coalesce(%s.k, 1) = 1', any_of(VARIADIC joined.tables)); END IF;
    IF random() < 0.4 THEN
        SELECT * INTO sub FROM some_join(floor(random() * 2)::int, 100);
        filters := filters || format('%s (SELECT FROM %s WHERE %s)', any_of('EXISTS', 'NOT EXISTS'), sub.text, condition(ARRAY[any_of(VARIADIC joined.tables)], sub.tables));
    END IF;
    RETURN selected || ' FROM ' || joined.text || coalesce(' WHERE ' || nullif(array_to_string(filters, ' AND '), ''), '');
END $$;
-- The kinds of batch joins in a query, and what is wrong with it. A full join may have no other plan, or none at all.
CREATE FUNCTION differ(query text, OUT kinds text, OUT wrong text) LANGUAGE plpgsql AS $$
DECLARE
    line text;
    rows bigint;
BEGIN
    kinds := '';
    PERFORM set_config(name, 'off', true) FROM unnest('{enable_nestloop,enable_hashjoin,enable_mergejoin}'::text[]) name;
    FOR line IN EXECUTE 'EXPLAIN (VERBOSE, FORMAT yaml) ' || query LOOP
        kinds := coalesce((SELECT string_agg(m[1], ' ') FROM regexp_matches(line, '"NearJoin".*?Join Type: "(\w+)"', 'g') m), '');
    END LOOP;
    EXECUTE 'CREATE TEMP TABLE batch AS ' || query;
    PERFORM set_config(name, 'on', true) FROM unnest('{enable_nestloop,enable_hashjoin,enable_mergejoin}'::text[]) name;
    PERFORM set_config('neardup.enable_near_join', 'off', true);
    EXECUTE 'CREATE TEMP TABLE loops AS ' || query;
    EXECUTE 'SELECT count(*) FROM ((TABLE batch EXCEPT ALL TABLE loops) UNION ALL (TABLE loops EXCEPT ALL TABLE batch)) d' INTO rows;
    wrong := nullif(rows, 0) || ' rows: ' || query;
    DROP TABLE batch, loops;
    PERFORM set_config('neardup.enable_near_join', 'on', true);
EXCEPTION
    WHEN feature_not_supported THEN
        kinds := 'none';
    WHEN OTHERS THEN
        wrong := SQLERRM || ': ' || query;
END $$;
CREATE TABLE random_joins(kinds text, wrong text);
SQL
q >/dev/null <<SQL
SET client_min_messages = warning;
SELECT setseed((${NEARDUP_SEED:-1} % 1000) / 1000.0);
INSERT INTO random_joins SELECT d.* FROM generate_series(1, ${NEARDUP_JOINS:-$(cases 400 120)}) n, LATERAL (SELECT some_query() WHERE n > 0 OFFSET 0) s(query), differ(query) d;
SQL
expect_sql 'joins at random' '' 'SELECT wrong FROM random_joins WHERE wrong IS NOT NULL LIMIT 5'
expect_sql 'joins of each kind' $'Anti|t\nFull|t\nInner|t\nLeft|t\nSemi|t' \
    "SELECT kind, count(*) >= $(cases 5 1) FROM random_joins, regexp_split_to_table(kinds, ' ') kind WHERE kind NOT IN ('', 'none') GROUP BY 1 ORDER BY 1"
finish
