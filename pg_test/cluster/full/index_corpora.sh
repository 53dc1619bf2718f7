#!/usr/bin/env bash
# Queries of every form about real texts give the same answers with the signature indexes and without, while the texts
# come, change and go. Corpora: the folder NEARDUP_DATA. NEARDUP_SEED repeats a run, NEARDUP_INDEX_STEPS makes it longer.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
corpora_or_skip
server_start 'autovacuum = off
jit = off'

seed=${NEARDUP_SEED:-$((RANDOM * 32768 + RANDOM))}
steps=${NEARDUP_INDEX_STEPS:-8}
echo "NEARDUP_SEED=$seed NEARDUP_INDEX_STEPS=$steps"
q -f "$project/pg_test/index/compare.sql" >/dev/null
q <<'SQL'
CREATE UNLOGGED TABLE lines(line json);
CREATE UNLOGGED TABLE texts(no int, body text);
CREATE OR REPLACE FUNCTION some_text() RETURNS text LANGUAGE sql VOLATILE AS
    'SELECT body FROM texts WHERE no = floor(random() * (SELECT count(*) FROM texts))';
SQL
for set in en_reuters_a lic_scancode_a zh_news_a zh_poetry_a html_kafka_a; do
    q -c 'TRUNCATE lines, texts, docs'
    load_json "$corpora/$set/docs.jsonl.gz" lines
    # All texts of the smaller corpora, a part of the larger ones.
    q -c "INSERT INTO texts SELECT row_number() OVER () - 1, left(line->>'text', 20000) FROM (SELECT line FROM lines LIMIT 1500) l" \
        -c 'INSERT INTO docs (body, numbers, ids) SELECT body, some_numbers(), some_ids() FROM texts' -c 'VACUUM ANALYZE docs'
    {
        echo "SELECT setseed($((seed % 1000)) / 1000.0);"
        for step in $(seq "$steps"); do
            case $((step % 4)) in
                0) echo 'SELECT change_docs(100);' ;;
                1) echo 'SELECT add_docs(50);' ;;
                2) echo 'SELECT drop_docs(50);' ;;
                3) echo 'VACUUM docs;' ;;
            esac
            echo 'SELECT compare(0.3);'
        done
        echo 'SELECT check_all();'
    } >"$server/steps.sql"
    if seen=$(q -f "$server/steps.sql" 2>&1 >/dev/null); then passed; else failed "$set, seed $seed" "${seen:0:2000}"; fi
done
finish
