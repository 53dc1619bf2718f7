#!/usr/bin/env bash
# Answers to the pairs of a report: the file that its script writes is what \copy loads into a table that suggest reads, whatever
# is in the ids. No browser is needed: the lines are made here as the script makes them, and the script is checked to make them so.
# report.sh gives answers in a browser.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

q <<'SQL'
CREATE EXTENSION neardup;
-- Forty versions of a text, more and less similar, whose ids are what files and pages may get wrong.
CREATE TABLE docs AS
SELECT CASE n % 8 WHEN 0 THEN '' WHEN 1 THEN '\.' WHEN 2 THEN '\N' WHEN 3 THEN E'a\tb\\tc' WHEN 4 THEN E'first\nsecond\r\nthird' WHEN 5 THEN '"<&>''&amp;&#13;'
    WHEN 6 THEN 'ключ 鍵' ELSE ' ' END || repeat('x', n / 8) AS id,
    (SELECT string_agg(CASE WHEN w <= n THEN 'new' || n * 100 + w ELSE 'word' || w END, ' ') FROM generate_series(1, 40) w) AS body, n
FROM generate_series(0, 39) n;
ALTER TABLE docs ADD PRIMARY KEY (id);
CREATE TABLE answers (left_id text, right_id text, duplicate boolean);
SQL

q -c "SELECT duplicates_report('docs', 0.3, NULL::text, text_column => 'body', max_samples => 20)" >"$server/page.html"
# One line for each answer, as in the script: the two ids and the value of the chosen button, separated by tabs.
expect 'the script makes a line of what the page has for it' 1 \
    "$(grep -cF 'return chosen ? `${pair.dataset.a}\t${pair.dataset.b}\t${chosen.value}\n` : "";' "$server/page.html")"
expect 'the buttons have the values of booleans' 't f' "$(grep -oP 'type="radio" name="answer-p0" value="\K[^"]' "$server/page.html" | paste -sd ' ')"
perl -CSD -0ne '
    sub plain { my $text = shift; $text =~ s/&lt;/</g; $text =~ s/&gt;/>/g; $text =~ s/&quot;/"/g; $text =~ s/&#39;/\x27/g; $text =~ s/&amp;/&/g; $text }
    while (/<fieldset class="nd-answer" data-a="([^"]*)" data-b="([^"]*)" hidden>/g) { print plain($1), "\t", plain($2), "\t", ($n++ % 2 ? "f" : "t"), "\n" }' \
    "$server/page.html" >"$server/answers.tsv"
expect 'what a page may change in an id is escaped' 0 "$(grep -c $'\r' "$server/answers.tsv" || true)"
q -c "\\copy answers FROM '$server/answers.tsv' WITH (ENCODING 'UTF8')"
expect_sql 'each pair that is shown can be answered, and comes back with its ids' t "
    SELECT count(*) = $(grep -o '<details class="nd-compare" open><summary>[01]' "$server/page.html" | wc -l) AND count(*) > 30 AND bool_and(p.left_id IS NOT NULL)
    FROM answers a LEFT JOIN near_duplicates('docs', 0.3, NULL::text, text_column => 'body') p ON (p.left_id, p.right_id) IN ((a.left_id, a.right_id), (a.right_id, a.left_id))"
expect_sql 'with ids of each kind' 8 "SELECT count(DISTINCT d.n % 8) FROM docs d WHERE d.id IN (SELECT left_id FROM answers UNION SELECT right_id FROM answers)"
# What a reader would say who calls texts with at least half of the words in common duplicates.
q -c "UPDATE answers SET duplicate = jaccard(a.body, b.body) >= 0.5 FROM docs a, docs b WHERE a.id = left_id AND b.id = right_id"
expect_sql 'suggest finds the threshold of the answers' '0.5|t|1' "
    SELECT threshold, fits, \"precision\" FROM suggest('docs', text_column => 'body', labels => 'answers', min_precision => 0.95) LIMIT 1"
expect_sql 'and counts all of them' t "
    SELECT reason LIKE (SELECT count(*) FROM answers) || ' answers, of which %' FROM suggest('docs', text_column => 'body', labels => 'answers') LIMIT 1"
finish
