# To be sourced: all methods that near_duplicates_into makes in parts, wherever the documents are.
#   methods_documents    fills base (id, name, body) and, with the same rows, docs (id, body), named (name, body) and sited
#                        (id, body, site)
#   methods_in_parts PARTS   compares the pairs of each method, made in so many parts, with those of near_duplicates
# shellcheck shell=bash

# Texts with sentences, some of which are equal, are parts of others, or differ in some letters, and odd ones.
methods_documents() {
    q <<'SQL'
TRUNCATE base, docs, named, sited;
INSERT INTO base SELECT n, 'd' || n * 7919 % 1000, string_agg(CASE WHEN w = 1 THEN 'The boat ' ELSE '' END
    || (ARRAY['of', 'the', 'is', 'crane', 'quay', 'rain', 'left', 'in'])[1 + abs(hashint8(n % 97 * 1000 + w)) % 8] || ' w' || abs(hashint8(n % 97 * 77 + w)) % 200
    || CASE WHEN w % 7 = 6 THEN '. ' WHEN w % 5 = 4 THEN ', ' ELSE ' ' END, '' ORDER BY w)
FROM generate_series(1, 300) n, generate_series(1, 6 + n % 31) w GROUP BY n;
INSERT INTO base SELECT 1000 + id, 'e' || id, overlay(body PLACING 'xy' FROM 1 + id::int % 20) FROM base WHERE id % 3 = 0;
INSERT INTO base SELECT 2000 + id, 'f' || id, 'Home | News | Sport. ' || body || ' Imprint, contact. ' || id FROM base WHERE id % 4 = 0 AND id < 1000;
INSERT INTO base SELECT 4000 + id, 'g' || id, body FROM base WHERE id < 40;
INSERT INTO base VALUES (5000, 'null', NULL), (5001, 'empty', ''), (5002, 'dots', '…'), (5003, 'blank', E' \n\t'), (5004, 'blank2', E' \n\t'),
    (5005, 'a', 'a'), (5006, 'a2', 'a'), (5007, 'ab', 'ab'), (5008, 'cd', 'cd'), (5009, 'quotes', E'it''s "a" \\ back'), (5010, 'quotes2', E'it''s "a" \\ back');
INSERT INTO base SELECT 6000 + n, 'h' || n, string_agg(format('The crane number %s left the old quay in the rain at %s. ', n * 3 % 20 + s, (n * 3 % 20 + s) * 7), '' ORDER BY s)
FROM generate_series(1, 40) n, generate_series(1, 6 + n % 3) s GROUP BY n;
ALTER TABLE base ADD site text;
UPDATE base SET site = nullif('s' || id % 5, 's4');
INSERT INTO docs SELECT id, body FROM base;
INSERT INTO named SELECT name, body FROM base;
INSERT INTO sited SELECT id, body, site FROM base;
SQL
}

# same TABLE ID THRESHOLD METHOD [ARGUMENTS]: whether the pairs are those of near_duplicates, of which there are some, and no
# NOTICE says that documents are read here.
same() {
    local type=bigint said parts=$in_parts
    if [[ $2 == name ]]; then type=text; fi
    said=$(q -c "CALL near_duplicates_into('$1', $3, 'found_$1', id_column => '$2', text_column => 'body', method => '$4'${5:+, $5}, parts => $parts)" 2>&1)
    if grep -q 'not made in parts\|ERROR' <<<"$said"; then echo "$said"; fi
    q -c 'SET client_min_messages = warning' -c "SELECT CASE WHEN count(*) < 5 THEN count(*) || ' pairs' WHEN bool_or(f.similarity IS DISTINCT FROM n.similarity)
            THEN 'differ: ' || string_agg(concat_ws(' ', left_id, right_id, f.similarity, n.similarity), '; ' ORDER BY left_id, right_id) FILTER (WHERE f.similarity IS DISTINCT FROM n.similarity)
            ELSE 'same' END
        FROM found_$1 f FULL JOIN near_duplicates('base', $3, NULL::$type, id_column => '$2', text_column => 'body', method => '$4'${5:+, $5}) n USING (left_id, right_id)" \
        -c "DROP TABLE found_$1" 2>&1 | cut -c1-2000
}
# same_passages TABLE ID [ARGUMENTS]: the same of partial_duplicates_into and partial_duplicates.
same_passages() {
    local type=bigint said parts=$in_parts
    if [[ $2 == name ]]; then type=text; fi
    said=$(q -c "CALL partial_duplicates_into('$1', passages => 'found_$1', id_column => '$2', text_column => 'body'${3:+, $3}, parts => $parts)" 2>&1)
    if grep -q 'not made in parts\|ERROR' <<<"$said"; then echo "$said"; fi
    q -c 'SET client_min_messages = warning' -c "WITH n AS (SELECT n::text AS row FROM partial_duplicates('base', 0.9, NULL::$type, id_column => '$2', text_column => 'body'${3:+, $3}) n), f AS (SELECT f::text AS row FROM found_$1 f)
        SELECT CASE WHEN (SELECT count(*) FROM n) < 5 THEN (SELECT count(*) FROM n) || ' passages'
            ELSE COALESCE('differ: ' || string_agg(d.row, '; ' ORDER BY d.row), 'same') END
        FROM ((TABLE n EXCEPT ALL TABLE f) UNION ALL (SELECT 'more: ' || m.row FROM (TABLE f EXCEPT ALL TABLE n) m)) d" \
        -c "DROP TABLE found_$1" 2>&1 | cut -c1-2000
}
methods_in_parts() {
    local in_parts=$1
    expect 'passages' same "$(same_passages docs id)"
    expect 'passages by names' same "$(same_passages named name 'min_sentences => 1')"
    expect 'passages of shingles' same "$(same_passages docs id "features => 'shingles', min_sentences => 1, extend => false")"
    expect 'passages of spot signatures' same "$(same_passages docs id "features => 'spotsigs', min_sentences => 1")"
    expect 'passages of pages' same "$(same_passages named name "tokenizer => 'html', min_sentences => 2")"
    expect 'edit' same "$(same docs id 0.7 edit)"
    expect 'edit by names' same "$(same named name 0.9 edit)"
    expect 'edit of single characters' same "$(same docs id 0.45 edit)"
    expect 'edit within a distance' same "$(same docs id NULL edit "options => '{\"distance\": 3}'")"
    expect 'edit by both' same "$(same docs id 0.6 edit "options => '{\"distance\": 4}'")"
    expect 'tlcs' same "$(same docs id NULL tlcs)"
    expect 'tlcs by names' same "$(same named name 0.5 tlcs)"
    expect 'tlcs by words' same "$(same docs id NULL tlcs "options => '{\"measure\": \"cosine\"}'")"
    expect 'lcs' same "$(same docs id NULL lcs)"
    expect 'runs' same "$(same docs id 0.4 runs "options => '{\"min_run\": 5}'")"
    expect 'runs of the larger text' same "$(same named name 0.4 runs "options => '{\"min_run\": 3, \"direction\": \"larger\"}'")"
    expect 'simhash' same "$(same docs id NULL simhash)"
    expect 'simhash of many bits' same "$(same named name 0.8 simhash "options => '{\"bits\": 128}', shingle => 2")"
    expect 'simhash of all with all' same "$(same docs id 0.7 simhash)"
    expect 'shingling' same "$(same docs id NULL shingling)"
    expect 'megashingles' same "$(same docs id NULL shingling "options => '{\"megashingles\": true}', shingle => 3, multiset => false")"
    expect 'combined' same "$(same docs id NULL combined)"
    expect 'combined by sites' same "$(same sited id NULL combined "site_column => 'site', options => '{\"same_site\": \"exact_text\", \"different_site\": [\"shingling\", \"simhash\"]}'")"
    local limits
    for limits in "within => 'site'" "across => 'site'" "within => 'site', across => 'body'"; do
        expect "sets $limits" same "$(same sited id 0.6 jaccard "$limits")"
        expect "edit $limits" same "$(same sited id 0.7 edit "$limits")"
        expect "runs $limits" same "$(same sited id 0.4 runs "$limits, options => '{\"min_run\": 5}'")"
        expect "passages $limits" same "$(same_passages sited id "features => 'shingles', min_sentences => 1, $limits")"
    done
    expect 'combined of groups' same "$(same sited id NULL combined "within => 'site'")"
    expect 'imatch' same "$(same docs id NULL imatch)"
    expect 'imatch without rare words' same "$(same named name NULL imatch "options => '{\"lo\": 0.2, \"hi\": 0.7}'")"
    expect 'spotsigs' same "$(same docs id 0.3 spotsigs)"
    expect 'exact_text' same "$(same docs id NULL exact_text)"
    expect 'exact_text of pages' same "$(same named name NULL exact_text "tokenizer => 'html'")"
    expect 'title' same "$(same docs id NULL title)"
    expect 'repeatability' same "$(same docs id 0.6 repeatability "options => '{\"min_length\": 2, \"unit_length\": 20}'")"
    expect 'exact_code' same "$(same named name NULL exact_code)"
    expect 'shared words' same "$(same docs id 0.3 overlap "options => '{\"min_overlap\": 5}'")"
    expect 'minhash by values' same "$(same docs id 0.5 minhash "options => '{\"verify\": false}', shingle => 2")"
    expect 'pages' same "$(same docs id 0.5 tlcs "tokenizer => 'html'")"
}
