#!/usr/bin/env bash
# Long texts are unpacked by the threads that read them: stored in every way that there is, the same texts give the same
# answers; damaged ones, and those that are no text, an error that names the row.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
export PGOPTIONS='-c client_min_messages=warning'

# Texts of 30 words to 1.3 MB, of which the fourth is like the third of four; some hard to pack, some easy, one in two HTML.
q <<'SQL'
CREATE EXTENSION neardup;
CREATE FUNCTION a_text(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN n % 29 = 0 THEN NULL WHEN n % 31 = 0 THEN '' ELSE (
        SELECT string_agg(CASE WHEN n % 3 = 0 THEN 'wörter ' || i % 50 ELSE md5(hashint4(n / 4 * 4 - n / 4 % 2 + i)::text) END, ' ' ORDER BY i)
        FROM generate_series(1, CASE WHEN n = 100 THEN 40000 ELSE 30 + n % 7 * 150 END + n % 4) i) END
$$;
CREATE TABLE texts AS SELECT i AS id, CASE WHEN i % 2 = 0 THEN '<p>' || a_text(i) || '</p>' ELSE a_text(i) END AS body FROM generate_series(1, 240) i;
CREATE TABLE docs(id int PRIMARY KEY, body text);
CREATE DOMAIN words AS text CHECK (VALUE <> 'none');
CREATE TABLE domains(id int PRIMARY KEY, body words);
INSERT INTO domains SELECT id, body FROM texts;
CREATE VIEW seen AS SELECT id, body FROM domains;
CREATE VIEW chars AS SELECT id, body::bpchar AS body FROM domains;
SQL
methods=("'docs', 0.7" "'docs', 0.7, method => 'minhash'" "'docs', 0.6, method => 'tlcs'"
    "'docs', 0.7, tokenizer => 'html'" "'docs', 1, method => 'exact_text'")
# pairs ARGUMENTS: what near_duplicates and partial_duplicates give, in few bytes.
pairs() { echo "SELECT count(*), md5(string_agg(p::text, ' ' ORDER BY p::text)) FROM near_duplicates($1) p"; }
passages="SELECT count(*), md5(string_agg(p::text, ' ' ORDER BY p::text)) FROM partial_duplicates('docs') p"

# Runs in common, of texts that are unpacked only as far as they are read.
runs="SELECT count(*) > 500, md5(string_agg(concat_ws(' ', q.id, d.id, n), ' ' ORDER BY q.id, d.id, n))
    FROM texts q, unnest('{1,8,40,150}'::int[]) n, docs d WHERE q.id % 8 < 2 AND d.body && shared_run(q.body, n)"

# store STORAGE [COMPRESSION]: the texts in the table, stored so.
store() {
    q -c 'TRUNCATE docs' -c "ALTER TABLE docs ALTER body SET STORAGE $1" \
        -c "ALTER TABLE docs ALTER body SET COMPRESSION ${2:-pglz}" -c "INSERT INTO docs SELECT id, body || '' FROM texts"
}
ways=('extended pglz' 'main pglz')
if q -c 'CREATE TABLE with_lz4(body text COMPRESSION lz4)' 2>/dev/null; then
    ways+=('extended lz4' 'main lz4')
else
    echo 'skipped: lz4, which this PostgreSQL does not have'
fi
declare -A wanted
# As they are.
store external
for arguments in "${methods[@]}"; do wanted[$arguments]=$(q -c "$(pairs "$arguments")"); done
wanted_passages=$(q -c "$passages")
wanted_runs=$(q -c "$runs")
expect 'runs of all kinds of texts' t "${wanted_runs%%|*}"
for way in "${ways[@]}"; do
    # shellcheck disable=SC2086 # two words
    store $way
    expect_sql "texts are stored by $way" t "SELECT count(*) > 20 FROM docs WHERE pg_column_compression(body) = '${way#* }'"
    for threads in 1 3; do
        for arguments in "${methods[@]}"; do
            expect_sql "$arguments, $way, $threads threads" "${wanted[$arguments]}" "SET neardup.threads = $threads; $(pairs "$arguments")"
        done
        expect_sql "passages, $way, $threads threads" "$wanted_passages" "SET neardup.threads = $threads; $passages"
    done
    expect_sql "runs, $way" "$wanted_runs" "$runs"
    # With so little memory many of the texts are long, and sets go through files.
    expect_sql "$way, with little memory" "${wanted[${methods[0]}]}" "SET neardup.memory = '64kB'; $(pairs "${methods[0]}")"
done
for relation in domains seen chars; do
    expect_sql "of $relation" "${wanted[${methods[0]}]}" "$(pairs "'$relation', 0.7, id_column => 'id'")"
done

# Bytes of the packed texts that are of no text: inline, and out of line.
damage() {
    local path=$server/data/$1
    as_server test -s "$path"
    # The first row of a page stands at its end.
    head -c 400 /dev/zero | tr '\0' '\377' | dd of="$path" bs=1 seek=$((8192 - 900)) conv=notrunc status=none
}
paths=()
for way in "${ways[@]}"; do
    table=damaged_${way/ /_}
    q -c "CREATE TABLE $table(id int PRIMARY KEY, body text COMPRESSION ${way#* })" -c "ALTER TABLE $table ALTER body SET STORAGE ${way% *}" \
        -c "INSERT INTO $table SELECT 7, string_agg(md5(i::text), ' ' ORDER BY i) || repeat(' and', 3000) FROM generate_series(1, CASE WHEN '$way' LIKE 'main%' THEN 60 ELSE 400 END) i" \
        -c "INSERT INTO $table SELECT i, repeat('some words ', 9) FROM generate_series(8, 20) i" -c CHECKPOINT
    case $way in
    main*) paths+=("$(q -c "SELECT pg_relation_filepath('$table')")") ;;
    *) paths+=("$(q -c "SELECT pg_relation_filepath(reltoastrelid) FROM pg_class WHERE relname = '$table'")") ;;
    esac
done
server_down "$server"
as_server "$bindir/pg_checksums" -D "$server/data" --disable >/dev/null 2>&1 || true
for path in "${paths[@]}"; do damage "$path"; done
server_up
for way in "${ways[@]}"; do
    table=damaged_${way/ /_}
    for threads in 1 3; do
        expect_error "a damaged text, $way" XX001 'the document with id 7 of damaged' \
            "SET neardup.threads = $threads; SELECT count(*) FROM near_duplicates('$table', 0.5)"
    done
    expect_error "runs of a damaged text, $way" XX001 'a packed text is damaged' "SELECT count(*) FROM $table WHERE body && shared_run('no such words', 3)"
    q -c "CREATE VIEW without_$table AS SELECT * FROM $table WHERE id <> 7"
    expect_sql "and without it, $way" 78 "SELECT count(*) FROM near_duplicates('without_$table', 0.5, id_column => 'id')"
done

# In SQL_ASCII bytes need not be text, packed neither.
q -c "CREATE DATABASE bytes TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'"
q -d bytes -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE docs(id int PRIMARY KEY, body text)' \
    -c "INSERT INTO docs SELECT i, repeat('some words ', 1000) || CASE WHEN i IN (300, 17, 290) THEN E'caf\\xe9' ELSE '' END FROM generate_series(1, 300) i"
for threads in 1 3; do
    expect_error "bytes that are no text, packed" 22021 'the document with id 17 of docs is not valid UTF-8' \
        "SET neardup.threads = $threads; SELECT count(*) FROM near_duplicates('docs', 0.5)" -d bytes
done
expect_error "runs of bytes that are no text" 22021 'not valid UTF-8' "SELECT count(*) FROM docs WHERE body && shared_run('no such words', 3)" -d bytes
# Where the server converts texts, it unpacks them, too.
q -c "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
q -d latin -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE docs(id int PRIMARY KEY, body text)' \
    -c "INSERT INTO docs SELECT i, repeat('café ', 1000) || i / 2 FROM generate_series(1, 100) i"
expect_sql 'packed texts of another encoding' 49 "SELECT count(*) FROM near_duplicates('docs', 1)" -d latin
expect_sql 'runs of another encoding' '100|2' "SELECT count(*) FILTER (WHERE body && shared_run('CAFÉ, CAFÉ, CAFÉ', 3)),
    count(*) FILTER (WHERE body && shared_run((SELECT body FROM docs WHERE id = 40), 1001)) FROM docs" -d latin
finish
