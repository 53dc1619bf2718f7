#!/usr/bin/env bash
# Databases of other encodings: the same texts give the same words and pairs, and bytes that are no text an error.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

# compare ENCODING TEXT…: the texts, as rows of a table, in a UTF8 database and in one of that encoding. psql converts
# on the way in and out, so that equal answers look equal.
compare() {
    local encoding=$1 database texts
    for database in utf8 other; do
        if [[ $database == utf8 ]]; then encoding=UTF8; else encoding=$1; fi
        q -c "DROP DATABASE IF EXISTS $database" \
            -c "CREATE DATABASE $database TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'" 2>/dev/null
        {
            echo "CREATE EXTENSION neardup; CREATE TABLE docs(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text);"
            printf "INSERT INTO docs(body) VALUES ('%s');\n" "${@:2}"
        } | q -d "$database"
    done
    for texts in 'words(body)' 'shingles(body, 2)' 'minhash(body, 2, 8)' 'simhash(body)' 'simhash(words(body))' "body <@ near(body, 1)" \
        "(SELECT array_agg(s.span) FROM sentences(body) s)" "(SELECT array_agg(p.left_span) FROM shared_runs(body, body, 2) p)"; do
        expect_sql "$texts in $encoding" "$(q -d utf8 -c "SELECT id, $texts FROM docs ORDER BY id")" \
            "SELECT id, $texts FROM docs ORDER BY id" -d other
    done
    for arguments in 0.3 '0.1, shingle => 2' "0.3, tokenizer => 'chars'" "0.3, tokenizer => 'whitespace'"; do
        texts="SELECT left_id, right_id, round(similarity::numeric, 6) FROM near_duplicates('docs', $arguments) ORDER BY 1, 2"
        expect_sql "pairs by $arguments in $encoding" "$(q -d utf8 -c "$texts")" "$texts" -d other
    done
    expect_sql "the measures in $encoding" "$(q -d utf8 -c 'SELECT jaccard(a.body, b.body) FROM docs a, docs b')" \
        'SELECT jaccard(a.body, b.body) FROM docs a, docs b' -d other
}

compare LATIN1 'Café au lait, s il vous plaît' 'CAFÉ AU LAIT, S IL VOUS PLAÎT!' 'Ein Kaffee für Zoë' 'Zwei Kaffee für Zoë' \
    'un café noir' 'cafe au lait'
compare EUC_JP '日本語の文書を比べる' '日本語の文書をくらべる' 'カタカナとひらがな' 'カタカナと漢字' 'ABC 東京 123' 'abc 東京 123'
compare EUC_CN '近似网页检测方法' '近似网页检测的方法' '完全不同' '网页 abc' '网页 ABC'
compare WIN1251 'Съешь ещё этих мягких булок' 'СЪЕШЬ ЕЩЁ ЭТИХ МЯГКИХ БУЛОК' 'Съешь ещё этих булок' 'другое'
compare SQL_ASCII 'plain ascii text' 'plain ASCII text here' 'naïve café' 'NAÏVE CAFÉ noir' '中文 文本' '中文 文字'

# SQL_ASCII takes any bytes. What is not UTF-8 cannot be read as text: the error says in which row.
q -d other -c "INSERT INTO docs(body) VALUES (E'caf\\xe9 au lait')"
bad=$(q -d other -c 'SELECT max(id) FROM docs')
expect_error 'bytes that are not text' 22021 "\\b$bad\\b" "SELECT * FROM near_duplicates('docs', 0.5)" -d other
expect_error 'also for words' 22021 . "SELECT words(body) FROM docs WHERE id = $bad" -d other
q -d other -c "DELETE FROM docs WHERE id = $bad"
expect_sql 'and without that row' t "SELECT count(*) > 0 FROM near_duplicates('docs', 0.3)" -d other
finish
