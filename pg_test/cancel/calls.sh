# To be sourced: a call of each function that the extension has, of what takes it long (world.sql, calls.sql).
# shellcheck shell=bash disable=SC2154 # server and project, of server.sh

# make_calls SHARE: makes the tables of the server, all of them and their texts divided by SHARE, and the table "made" of the calls. A
# function without a call fails the test.
make_calls() {
    local cancel=$project/pg_test/cancel type
    q -v share="$1" -f "$cancel/world.sql" >/dev/null
    q >/dev/null <<SQL
CREATE TABLE methods(method text, threshold text);
INSERT INTO methods VALUES ('jaccard', '0.8'), ('containment', '0.8'), ('edit', '0.8'), ('minhash', '0.8'), ('simhash', '0.8'), ('imatch', 'NULL'), ('spotsigs', '0.5'), ('tlcs', 'NULL'), ('lcs', 'NULL'),
    ('repeatability', '0.8'), ('exact_text', 'NULL'), ('exact_code', 'NULL'), ('combined', 'NULL');
SQL
    q -f "$cancel/calls.sql" >/dev/null
    expect_sql 'each function has a call' '' "SELECT 'no call for it: ' || signature FROM functions f WHERE NOT EXISTS (SELECT FROM calls c WHERE f.signature ~ ('^(' || c.pattern || ')\$')) ORDER BY 1"

    # What types receive.
    while read -r type; do
        q -c "CREATE TABLE received_$type AS SELECT $type FROM big WITH NO DATA" -c "COPY (SELECT $type FROM big) TO '$server/$type' (FORMAT binary)"
    done < <(q -c "SELECT substring(name FROM '^(.*)_recv\$') FROM functions WHERE name ~ '_recv\$'")

    # The calls as they are made, each once.
    q <<SQL
CREATE TABLE made(no int GENERATED ALWAYS AS IDENTITY, signature text, call text, fails text);
INSERT INTO made(signature, call, fails) SELECT min(signature), call, min(fails) FROM (
    SELECT no, signature, fails, replace(replace(replace(replace(replace(c.call,
        '{f}', name),
        '{t}', coalesce(substring(name || '(' FROM '^(\w*?)_(?:in|out|send|recv|eq|ne|lt|le|gt|ge|cmp|hash|hash_extended)\('), '')),
        '{a}', coalesce(substring(signature FROM '\((\w+)'), '')),
        ':file', quote_literal('$server/' || coalesce(substring(name FROM '^(.*)_recv\$'), ''))),
        '{docs}', CASE WHEN name ~ '_between' THEN '''same'', ''mixed''' ELSE '''same''' END) AS call
    FROM calls c JOIN functions f ON f.signature ~ ('^(' || c.pattern || ')\$')) made
GROUP BY call ORDER BY min(no), call;
SQL
}
