#!/usr/bin/env bash
# Hostile documents: every method ends, in memory, and where the answer is known it is that.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
corpora_or_skip
server_start "statement_timeout = '300s'"
# What a method tells of such codes and signatures is tested in regress.sh. A document of 100 MB has no place in the default of
# neardup.memory; what calls take of the 2 GB is checked below.
export PGOPTIONS='-c client_min_messages=warning -c neardup.memory=2GB'

q -c 'CREATE EXTENSION neardup' -c 'CREATE TABLE lines(line json)'
load_json "$corpora/nasty/nasty.jsonl.gz" lines
q -f "$corpora/nasty/generators.sql"
q <<'SQL'
CREATE TABLE nasty(id text PRIMARY KEY, body text);
INSERT INTO nasty SELECT line->>'id', line->>'text' FROM lines;
CREATE TABLE small(id text PRIMARY KEY, body text);
INSERT INTO small SELECT * FROM nasty WHERE length(body) <= 5000;
ALTER TABLE nasty_same ADD PRIMARY KEY (id);
ALTER TABLE nasty_empty ADD PRIMARY KEY (id);
ALTER TABLE nasty_hub ADD PRIMARY KEY (id);
ALTER TABLE nasty_chain ADD PRIMARY KEY (id);
ALTER TABLE nasty_boundary ADD PRIMARY KEY (id);
CREATE TABLE runs(no serial, relation text, arguments text, pairs bigint, ms bigint, peak_mb int);
-- The most memory this backend has held so far, in MB, as the kernel counts it.
CREATE FUNCTION peak_mb() RETURNS int LANGUAGE sql VOLATILE AS $$
    SELECT substring(pg_read_file('/proc/self/status', 0, 10000) from 'VmHWM:\s+(\d+)')::int / 1024
$$;
SQL

# run RELATION ID_TYPE ARGUMENTS [FUNCTION]: one call as a row of the table runs.
run() {
    cat <<SQL
INSERT INTO runs(relation, arguments, pairs, ms, peak_mb)
SELECT '$1', \$args\$${4:+$4 }$3\$args\$, count(*), extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000, peak_mb()
FROM ${4:-near_duplicates}('$1', threshold => $3, id_type => NULL::$2);
SQL
}

# Every method, tokenizer and length of shingle, from high to very low thresholds; one session for each method.
for method in jaccard cosine dice overlap containment; do
    for threshold in 0.9 0.5 0.05; do
        for variant in "tokenizer => 'words'" "tokenizer => 'whitespace'" "tokenizer => 'chars'" 'shingle => 3' 'multiset => false'; do
            run nasty text "$threshold, method => '$method', $variant"
        done
    done | q
done
for arguments in 0.8 0.5 "0.8, tokenizer => 'whitespace'" '0.2, shingle => 5' "0.5, method => 'cosine'" "0.9, method => 'containment'"; do
    run nasty_big text "$arguments" | q
done
for relation in same empty hub chain boundary; do
    if [[ $relation != same ]]; then run "nasty_$relation" int 0.5 | q; fi
done
# Character by character: a pair takes a time that grows with the square of its length.
for threshold in 0.9 0.5 0.05; do run small text "$threshold, method => 'edit'"; done | q
for relation in empty hub chain boundary; do run "nasty_$relation" int "0.9, method => 'edit'" | q; done
# By sentences and the (trustable) LCS of the first 10 KB; and of whole texts.
for method in tlcs lcs; do
    run nasty text "NULL, method => '$method'"
    run nasty text "0.05, method => '$method', options => '{\"s\": 1, \"m\": 64}'"
    run nasty_big text "0.5, method => '$method'"
    for relation in empty hub chain boundary; do run "nasty_$relation" int "0.5, method => '$method'"; done
done | q
run small text "0.05, method => 'tlcs', options => '{\"first\": 0, \"min_part\": 1, \"window\": 1}'" | q
# By SpotSigs; and passages.
run nasty text "0.3, method => 'spotsigs'" | q
run nasty_big text "0.5, method => 'spotsigs', options => '{\"antecedents\": 100}'" | q
for features in imatch shingles spotsigs; do
    run nasty text "0.9, min_sentences => 1, features => '$features'" partial_duplicates
    for relation in empty hub chain boundary; do
        run "nasty_$relation" int "0.9, min_sentences => 1, features => '$features'" partial_duplicates
    done
done | q
for features in imatch shingles spotsigs; do
    run nasty_big text "0.5, min_sentences => 1, features => '$features'" partial_duplicates
done | q
# By feature codes, also of whole texts: codes of up to 200,000 characters.
q -c "INSERT INTO nasty VALUES ('marks', repeat('a,b.', 50000)), ('many_marks', repeat('甲、', 100000)), ('fibonacci', (
    WITH RECURSIVE words(a, b) AS (SELECT 'b', 'a' UNION ALL SELECT b, b || a FROM words WHERE length(b) < 100000) SELECT max(b) FROM words))"
whole='options => '"'"'{"cut": 1000000, "unit_length": 1, "fallback": 1000000, "min_length": 10}'"'"
for method in repeatability exact_code; do
    for function in near_duplicates eliminate; do
        run nasty text "NULL, method => '$method'" "$function"
        run nasty text "NULL, method => '$method', $whole" "$function"
        run nasty_big text "NULL, method => '$method', $whole" "$function"
        for relation in empty hub chain boundary; do run "nasty_$relation" int "NULL, method => '$method'" "$function"; done
    done
done | q
for threshold in 0.5 0.05; do run small text "$threshold, method => 'repeatability', $whole" eliminate; done | q
# By signatures of documents; and of pages, which they may be taken for. One session for each method.
for method in minhash simhash shingling combined imatch spotsigs exact_text title repeatability exact_code; do
    {
        run nasty text "NULL, method => '$method'"
        case $method in imatch | exact_text | title | exact_code) ;; *) run nasty text "0.3, method => '$method'" ;; esac
        case $method in minhash | simhash | shingling | combined | imatch | exact_text) run nasty text "NULL, method => '$method', tokenizer => 'html'" ;; esac
        case $method in minhash | simhash | shingling | imatch) run nasty text "NULL, method => '$method', tokenizer => 'chars'" ;; esac
        for relation in empty hub chain boundary; do run "nasty_$relation" int "NULL, method => '$method'"; done
        run nasty_big text "NULL, method => '$method'"
        if [[ $method == simhash ]]; then run nasty_big text "NULL, method => '$method', tokenizer => 'html'"; fi
    } | q
done
# What all methods say of a document beside the next one and itself; sets of signatures.
q <<'SQL'
INSERT INTO runs(relation, arguments, pairs, ms, peak_mb)
SELECT 'small', 'explain_pair', count(e.*), extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000, peak_mb()
FROM (SELECT body AS a, lead(body) OVER (ORDER BY id) AS b FROM small) pairs, unnest(array[a, b]) other, explain_pair(a, other) e;
INSERT INTO runs(relation, arguments, pairs, ms, peak_mb)
SELECT 'nasty', 'near_duplicate_clusters, ' || method, count(c.*), extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000, peak_mb()
FROM unnest(array['tlcs', 'lcs']) method, near_duplicate_clusters('nasty', NULL, NULL::text, method => method, clustering => 'perhaps_similar', options => '{"s": 1}') c
GROUP BY method;
SQL
psql -X -P footer=off -c 'SELECT relation, arguments, pairs, ms, peak_mb FROM runs ORDER BY no'
expect_sql 'memory for documents of 1 MB' '' "SELECT * FROM runs WHERE relation = 'nasty' AND peak_mb > 768"
expect_sql 'memory for a document of 100 MB' '' "SELECT * FROM runs WHERE relation = 'nasty_big' AND peak_mb > 1024"

# What is known: pairs exactly at a threshold are in, and out one step of float8 above it (1.2e-16 between 0.5 and 1).
expect_sql 'a similarity equal to the threshold is enough' $'1|2|t\n2|3|t\n4|5|t\n7|10|t\n9|10|t' "
    SELECT a, b, similarity = a::float8 / b
    FROM (VALUES (4, 5), (9, 10), (1, 2), (2, 3), (7, 10)) known(a, b), near_duplicates('small', a::float8 / b, NULL::text)
    WHERE left_id = format('boundary_%s_%s_x', a, b) AND right_id = format('boundary_%s_%s_y', a, b) ORDER BY b, a"
expect_sql 'a similarity one step under the threshold is not' 0 "
    SELECT count(*)
    FROM (VALUES (4, 5), (9, 10), (1, 2), (2, 3), (7, 10)) known(a, b), near_duplicates('small', a::float8 / b + 1.2e-16, NULL::text)
    WHERE left_id = format('boundary_%s_%s_x', a, b)"
dups="left_id LIKE 'dup\_%' AND right_id LIKE 'dup\_%'"
expect_sql 'words in another order or case are the same words' '6|1' \
    "SELECT count(*), min(similarity) FROM near_duplicates('small', 0.8, NULL::text) WHERE $dups"
expect_sql 'shingles tell the order' 'dup_case dup_exact_1, dup_case dup_exact_2, dup_exact_1 dup_exact_2' \
    "SELECT string_agg(left_id || ' ' || right_id, ', ' ORDER BY left_id, right_id)
     FROM near_duplicates('small', 0.8, NULL::text, shingle => 5) WHERE $dups AND similarity = 1"
expect_sql 'repeated words count' '1|0' "
    SELECT count(*) FILTER (WHERE similarity = 99999 / 100001::float8), count(*) FILTER (WHERE similarity <> 99999 / 100001::float8)
    FROM near_duplicates('nasty', 0.5, NULL::text) WHERE left_id = 'one_word_100k' AND right_id = 'one_word_100k_b'"
expect_sql 'texts of 10 MB' '0.818182' "
    SELECT round(similarity::numeric, 6) FROM near_duplicates('nasty_big', 0.8, NULL::text)
    WHERE left_id = 'text_10mb' AND right_id = 'text_10mb_near'"
expect_sql 'what was skipped' $'t\n1|t' "
    SELECT count(*) > 0 FROM near_duplicates('nasty', 0.8, NULL::text);
    SELECT skipped_null, skipped_empty > 0 FROM near_duplicates_stats()"

# What is known of signatures: equal texts, of any kind, are equal by all of them that find anything in a text.
expect_sql 'equal texts' $'combined\nexact_code\nexact_text\nminhash\nrepeatability\nshingling\nsimhash\ntitle\ntlcs' "
    SELECT method FROM unnest(array['combined', 'exact_code', 'exact_text', 'minhash', 'repeatability', 'shingling', 'simhash', 'title', 'tlcs']) method
    WHERE EXISTS (SELECT FROM near_duplicates('small', NULL, NULL::text, method => method)
        WHERE left_id = 'dup_exact_1' AND right_id = 'dup_exact_2' AND similarity = 1) ORDER BY 1"
expect_sql 'what explain_pair says is a pair is one, and nothing else' '0|t' "
    WITH said AS MATERIALIZED (
            SELECT e.method, a, b, (e.evidence->>'pair')::bool AS pair
            FROM (SELECT id AS a, lead(id) OVER w AS b, body AS one, lead(body) OVER w AS other FROM small WINDOW w AS (ORDER BY id)) pairs,
                explain_pair(one, other) e WHERE e.evidence ? 'pair'),
        found AS MATERIALIZED (
            SELECT method, left_id AS a, right_id AS b
            FROM (SELECT DISTINCT method FROM said) methods, near_duplicates('small', NULL, NULL::text, method => method))
    SELECT count(*) FILTER (WHERE pair <> (found.a IS NOT NULL)), count(*) FILTER (WHERE pair) > 20
    FROM said LEFT JOIN found USING (method, a, b) WHERE method <> 'imatch'"

# Tables that break a naive join.
expect_sql 'empty documents have no pair' 0 "SELECT count(*) FROM near_duplicates('nasty_empty', 0.8)"
expect_sql 'one word in all documents makes no pair' 0 "SELECT count(*) FROM near_duplicates('nasty_hub', 0.5)"
expect_sql 'a chain has one pair a link' '9999|t|t' \
    "SELECT count(*), bool_and(right_id = left_id + 1), bool_and(similarity = 9 / 11::float8) FROM near_duplicates('nasty_chain', 0.8)"
expect_sql 'of equal documents the first stays' '49999|1|1|1' "
    SELECT count(*), min(kept_id), max(kept_id), min(similarity) FROM eliminate('nasty_same', method => 'repeatability')"
expect_sql 'a part of a code of 200,000 characters' $'marks_part|marks|1' "
    INSERT INTO nasty VALUES ('marks_part', repeat('a,b.', 40000));
    SELECT id, kept_id, similarity FROM eliminate('nasty', 0.75, NULL::text, method => 'repeatability', $whole) WHERE id LIKE 'marks%'"
expect_sql '10,000 pairs at the threshold' '10000|t|t' \
    "SELECT count(*), bool_and(right_id = left_id + 1), bool_and(similarity = 0.8) FROM near_duplicates('nasty_boundary', 0.8)"
expect_error 'a thousand million pairs are refused' 54000 'max_pairs' "SELECT count(*) FROM near_duplicates('nasty_same', 0.8)"
expect_error 'with a hint' 54000 '^HINT: .*LIMIT' "SELECT count(*) FROM near_duplicates('nasty_same', 0.8, max_pairs => 1000)"
expect_sql 'but some of them are given at once' 10 "SELECT count(*) FROM (SELECT near_duplicates('nasty_same', 0.8) LIMIT 10) pairs"
finish
