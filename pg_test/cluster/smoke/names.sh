#!/usr/bin/env bash
# Names with quotes, percent signs, newlines, backslashes and characters beyond ASCII, in databases of several encodings:
# every call works or gives one clear error that has the name in it, and what a hint says works.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

# identifier NAME, literal TEXT: as SQL needs them.
identifier() { printf '"%s"' "${1//\"/\"\"}"; }
literal() { printf "'%s'" "${1//\'/\'\'}"; }

# error NAME SQLSTATE SQL [WORD…]: the error must have the words in it as they stand; `$seen` is all of it.
error() {
    seen=''
    if seen=$(q -d "$database" -v VERBOSITY=verbose -c "$3" 2>&1); then
        failed "$1" "expected error $2, seen: $seen"
        return
    fi
    local word
    for word in "ERROR:  $2:" "${@:4}"; do
        if [[ $seen != *"$word"* ]]; then
            failed "$1" "expected $word in: $seen"
            return
        fi
    done
    passed
}

# The call in the hint of the last error must work.
hint_works() {
    local call
    call=$(perl -0777 -ne 'print $1 if /HINT:.*?(SELECT (?:\* FROM )?\w+\(.*?\))(?=;)/s' <<<"$seen")
    if [[ -z $call ]]; then failed "$1: a hint with a call" "$seen"; return; fi
    if q -d "$database" -c "$call" >/dev/null 2>"$server/errors"; then passed; else failed "$1: $call" "$(cat "$server/errors")"; fi
}

# try DATABASE ENCODING NAME WORD: a table and columns of that name, and documents with that word.
try() {
    database=$1
    local encoding=$2 name=$3 word=$4 table id text site index
    q -c "CREATE DATABASE $database TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'" 2>/dev/null
    table=$(identifier "$name") id=$(identifier "$name id") text=$(identifier "$name text") site=$(identifier "$name site")
    index=$(identifier "$name index")
    q -d "$database" <<SQL
CREATE EXTENSION neardup;
CREATE TABLE $table ($id text PRIMARY KEY, number int UNIQUE, $text text, $site text, other text);
INSERT INTO $table SELECT '$word"\\''%s ' || i, i, '$word one two three four $word five. Six seven $word eight ' || i / 2 || '. And so on.', '$word ' || i % 2, 'x'
FROM generate_series(1, 6) i;
CREATE VIEW fails AS SELECT number AS id, CASE WHEN number = 5 THEN ($text || '$word')::int::text ELSE $text END AS body FROM $table;
SQL
    local rel typed documents keys call count
    rel=$(literal "$table") documents="text_column => $(literal "$name text")" keys="id_column => $(literal 'number')"
    typed="NULL::text, id_column => $(literal "$name id")"
    local -a calls=(
        "near_duplicates($rel, 0.9, $keys, $documents)"
        "near_duplicates($rel, 0.9, $typed, $documents)"
        "near_duplicates($rel, 0.9, $keys, $documents, method => 'tlcs', site_column => $(literal "$name site"))"
        "near_duplicates($rel, 0.9, $keys, $documents, tokenizer => 'tsearch:simple')"
        "near_duplicates_between($rel, $rel, 0.9, $typed, $documents)"
        "near_duplicate_clusters($rel, 0.9, $typed, $documents)"
        "eliminate($rel, 0.9, $typed, $documents, keep => $(literal "max:$name site"))"
        "partial_duplicates($rel, 0.9, $typed, $documents, min_sentences => 1)"
        "partial_duplicates_between($rel, $rel, 0.9, $typed, $documents, min_sentences => 1)"
    )
    for function in clusters_of_pairs cluster_stats cluster_links; do
        calls+=("$function($(literal "SELECT a.$id AS left_id, b.$id AS right_id, 0.9 AS similarity FROM $table a, $table b WHERE a.$id < b.$id"), NULL::text)")
    done
    for call in "${calls[@]}"; do
        if count=$(q -d "$database" -c "SELECT count(*) > 0 FROM $call" 2>&1) && [[ $count == t ]]; then passed; else failed "$encoding: $call" "$count"; fi
    done
    expect_sql "$encoding: ids as they are" "$word\"\\'%s 2|$word\"\\'%s 3" "SELECT left_id, right_id FROM near_duplicates($rel, 0.99, $typed, $documents) ORDER BY 1 LIMIT 1" -d "$database"
    expect_sql "$encoding: a report" t "SELECT position('$word' IN duplicates_report($rel, 0.9, $typed, $documents)) > 0" -d "$database"
    expect_sql "$encoding: side by side" t "SELECT position('$word' IN diff_html(a.$text, b.$text)) > 0 FROM $table a, $table b WHERE a.number = 1 AND b.number = 2" -d "$database"
    expect_sql "$encoding: explained" t "SELECT count(*) > 10 AND bool_or(position('$word' IN evidence::text) > 0) FROM $table a, $table b, explain_pair(a.$text, b.$text) WHERE a.number = 2 AND b.number = 3" -d "$database"
    expect_sql "$encoding: spans" t "SELECT bool_and(position('$word' IN sentence) > 0) FROM sentences('$word a. $word b.')" -d "$database"
    expect_sql "$encoding: HTML" "$word" "SELECT html_text('<p>$word</p>')" -d "$database"
    expect_sql "$encoding: an index" $'6\n\n1' "CREATE INDEX $index ON $table USING signature ($text); SELECT rows FROM signature_index_stats($(literal "$index"));
        SELECT signature_index_check($(literal "$index"), true); SELECT signature_index_merge($(literal "$index"))" -d "$database"
    expect_sql "$encoding: a search" 2 "SET enable_seqscan = off; SELECT count(*) FROM $table t WHERE $text <@ near((SELECT $text FROM $table WHERE number = 2), 1)" -d "$database"

    error "$encoding: no column" 42703 "SELECT * FROM near_duplicates($rel, 0.9, $keys, text_column => $(literal "$name%d"))" "has no column \"$name%d\"" "$table" "$name id"
    hint_works "$encoding: no column"
    error "$encoding: several texts" 42702 "SELECT * FROM near_duplicates($rel, 0.9, $keys)" "$name text, $name site"
    hint_works "$encoding: several texts"
    error "$encoding: ids of another type" 42804 "SELECT * FROM near_duplicates($rel, 0.9, $documents)" "id column \"$name id\" of $table is of type text"
    hint_works "$encoding: ids of another type"
    error "$encoding: no method" 22023 "SELECT * FROM near_duplicates($rel, 0.9, $keys, $documents, method => $(literal "$name"))" "\"$name\""
    hint_works "$encoding: no method"
    error "$encoding: no tokenizer" 22023 "SELECT * FROM near_duplicates($rel, 0.9, $keys, $documents, tokenizer => $(literal "$name"))" "\"$name\""
    hint_works "$encoding: no tokenizer"
    error "$encoding: no option" 22023 "SELECT * FROM near_duplicates($rel, 0.9, $keys, $documents, options => jsonb_build_object($(literal "$word%s\\"), 1))" "$word%s"
    error "$encoding: no configuration" 42704 "SELECT * FROM near_duplicates($rel, 0.9, $keys, $documents, tokenizer => 'tsearch:$word%s')" "\"$word%s\""
    hint_works "$encoding: no configuration"
    error "$encoding: nothing to keep" 42703 "SELECT * FROM eliminate($rel, 0.9, $keys, $documents, keep => $(literal "max:$word%s"))" "\"$word%s\""
    error "$encoding: no clustering" 22023 "SELECT * FROM near_duplicate_clusters($rel, 0.9, $keys, $documents, clustering => '$word%s')" "\"$word%s\""
    error "$encoding: no features" 22023 "SELECT * FROM partial_duplicates($rel, 0.9, $keys, $documents, features => '$word%s')" "\"$word%s\""
    error "$encoding: no plan" 22023 "SELECT * FROM neardup_plan(preset => '$word%s')" "\"$word%s\""
    error "$encoding: an error of the documents" 22P02 "SELECT * FROM near_duplicates('fails', 0.9, id_column => 'id', text_column => 'body')" "$word" 'type integer'
    error "$encoding: an error of the pairs" 42703 "SELECT * FROM clusters_of_pairs('SELECT \"$word%s\"')" "\"$word%s\""
    error "$encoding: no index" 42809 "SELECT signature_index_check($rel)" "\"$name\" is no index"
    error "$encoding: an error of an index" 22P02 "CREATE FUNCTION number(text) RETURNS bigint[] IMMUTABLE LANGUAGE sql AS 'SELECT ARRAY[\$1::int]'; CREATE INDEX ON $table USING signature (number($text))" "$word"
    error "$encoding: no right" 42501 "CREATE ROLE nobody_$database; SET ROLE nobody_$database; SELECT signature_index_stats($(literal "$index"))" "permission denied for index $name index"
    error "$encoding: a sketch that is none" 22P02 "SELECT '$word'::minhash_sketch" "$word"
    q -d "$database" -c "UPDATE $table SET $site = NULL, other = 'same'"
    error "$encoding: NULL is no id" 22004 "SELECT * FROM near_duplicates($rel, 0.9, NULL::text, id_column => $(literal "$name site"), $documents)" "\"$name site\" of $table"
    error "$encoding: not one id" 23505 "SELECT * FROM near_duplicates($rel, 0.9, NULL::text, id_column => 'other', $documents)" "of $table"
}

newline=$'\n'
try utf8 UTF8 "größe 文書 \"q\" %s %n 'x' \\ë$newline;--" '文書é'
try latin LATIN1 "größe \"q\" %s %n 'x' \\ë$newline;--" 'café'
try japanese EUC_JP "文書 \"q\" %s %n 'x' \\漢$newline;--" '日本語'
try cyrillic WIN1251 "Имя \"q\" %s %n 'x' \\ё$newline;--" 'слово'

# Where the server's environment asks for backtraces, clients are not told of them.
server_down "$server"
as_server env RUST_BACKTRACE=1 "$bindir/pg_ctl" -D "$server/data" -o '-p 5432' -w -l "$server/log" start >/dev/null
q -c 'CREATE EXTENSION neardup' -c "CREATE TABLE docs AS SELECT 1 AS id, 'a text'::text AS body"
for call in "near_duplicates('docs', 2, id_column => 'id')" "near_duplicates('docs', 0.5, id_column => 'id', tokenizer => 'tsearch:a..b')" \
    "signature_index_stats(0)" "near_duplicates('docs', 0.5, id_column => 'no')"; do
    if seen=$(q -c "SELECT * FROM $call" 2>&1); then failed "no error: $call" "$seen"; fi
    expect "no backtrace: $call" 0 "$(grep -c '^DETAIL' <<<"$seen")"
done
finish
