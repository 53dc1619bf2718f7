# To be sourced: nights in which documents come, change and go, after each of which a result that is brought up to date is compared
# with one that is made anew of the same rows in the ordinary table $of (id, body), which is base unless it is set.
#   night N TABLE…       changes base at random, and the same rows of these tables, which have the same columns
#   same_night NAME TABLE THRESHOLD METHOD [ARGUMENTS]   brings found_TABLE and grouped_TABLE up to date, in $in_parts parts if set, and compares them
# shellcheck shell=bash

of=${of:-base}

# Texts of few words, so that many are similar and some are equal; ids of rows that went come back.
night() {
    local table statements
    statements=$(q -v ON_ERROR_STOP=1 <<SQL
SELECT setseed($1 / 1000.0);
SELECT format('DELETE FROM %%1\$s WHERE id IN (%s)', string_agg(id::text, ',')) FROM (SELECT id FROM $of WHERE random() < 0.1) d HAVING count(*) > 0;
SELECT format('UPDATE %%1\$s SET body = %L WHERE id = %s', CASE WHEN random() < 0.2 THEN NULL ELSE body || ' w' || (random() * 9)::int END, id) FROM $of WHERE random() < 0.04;
SELECT format('UPDATE %%1\$s SET body = %L WHERE id = %s', (SELECT body FROM $of o WHERE o.id % 50 = b.id % 50 ORDER BY id LIMIT 1), id) FROM $of b WHERE random() < 0.02;
SELECT format('INSERT INTO %%1\$s SELECT * FROM (VALUES %s) v(id, body) WHERE v.id NOT IN (SELECT id FROM %%1\$s)', string_agg(format('(%s::bigint, %L::text)', id, body), ','))
FROM (SELECT DISTINCT ON (id) (random() * 900)::int AS id, COALESCE(CASE WHEN n % 3 > 0 THEN (SELECT body || CASE n % 4 WHEN 0 THEN '' ELSE ' w' || n % 9 END FROM $of o WHERE o.id % 17 = n % 17 AND length(body) BETWEEN 20 AND 60 ORDER BY id LIMIT 1) END,
    (SELECT string_agg('w' || (30 * pow(random(), 2))::int, ' ') FROM generate_series(1, 4 + n % 12))) AS body FROM generate_series(1, 90) n) d;
SQL
)
    for table in "$of" "${@:2}"; do
        grep . <<<"$statements" | sed "s/%1\\\$s/$table/g; s/\$/;/" | q >/dev/null
    done
}

same_night() {
    local table=$2 said
    said=$(q -c "CALL near_duplicates_into('$table', $3, 'found_${table}', id_column => 'id', text_column => 'body', method => '$4'${5:+, $5}, parts => ${in_parts:-NULL}, clusters => 'grouped_${table}', incremental => true)" 2>&1) || true
    if grep -q ERROR <<<"$said"; then echo "$said"; fi
    expect "$1" '0 0' "$(q -c 'SET client_min_messages = error' -c "SELECT (SELECT count(*) FROM found_$table f FULL JOIN near_duplicates('$of', $3, id_column => 'id', text_column => 'body', method => '$4'${5:+, $5}) n USING (left_id, right_id)
            WHERE f.similarity IS DISTINCT FROM n.similarity) || ' ' || (SELECT count(*) FROM grouped_$table g FULL JOIN clusters_of_pairs('TABLE found_$table', NULL::bigint) c USING (id)
            WHERE (g.cluster_id, g.representative, g.size, g.similarity) IS DISTINCT FROM (c.cluster_id, c.representative, c.size, c.similarity))" 2>&1)"
    last_said=$said
}
