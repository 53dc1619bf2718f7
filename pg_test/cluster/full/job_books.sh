#!/usr/bin/env bash
# The books of jobs in the hands of the owner of the database, who is no superuser: dump and restore carry jobs over, whole
# or in part, and rows that such a one writes by hand harm nobody else.
# shellcheck disable=SC2154 # server, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start 'autovacuum = off'

q <<'SQL'
CREATE ROLE maker LOGIN;
CREATE ROLE taker LOGIN;
CREATE ROLE victim LOGIN;
CREATE DATABASE made OWNER maker;
SQL
as() { # DATABASE ROLE SQL…
    local database=$1 role=$2 statements=()
    shift 2
    for sql in "$@"; do statements+=(-c "$sql"); done
    q -d "$database" -U "$role" "${statements[@]}"
}
expect_as() { # NAME EXPECTED DATABASE ROLE SQL…
    local seen
    seen=$(as "${@:3}" 2>&1 | grep . || true)
    expect "$1" "$2" "$seen"
}

# --- Rows written by hand ---

# The extension is trusted: its owner, and the database's, is maker.
as made maker 'CREATE EXTENSION neardup' 'CREATE SCHEMA v' 'GRANT ALL ON SCHEMA v TO victim' 'CREATE SCHEMA m' 'GRANT USAGE ON SCHEMA m TO PUBLIC'
docs="(id int PRIMARY KEY, body text)"
rows="VALUES (1, 'one two three four'), (2, 'one two three four five'), (3, 'something else')"
as made victim "CREATE TABLE v.docs $docs" "INSERT INTO v.docs $rows" "SELECT neardup_watch('v.docs', 0.8)" "CALL neardup_refresh('v.docs')" \
    "CREATE TABLE v.other $docs" "INSERT INTO v.other $rows" "CREATE TABLE v.plain AS TABLE v.docs_pairs" >/dev/null
as made maker "CREATE TABLE m.docs $docs" "INSERT INTO m.docs $rows" "SELECT neardup_watch('m.docs', 0.8)" >/dev/null
as made maker 'GRANT ALL ON m.docs TO victim'
entry=$(q -d made -c "SELECT row_to_json(j) FROM neardup_all_jobs j WHERE docs = 'm.docs'::regclass")
expect 'a job was written down' t "$([[ $entry == *settings* ]] && echo t)"

# What victim has, in full.
victims() {
    q -d made <<'SQL'
SELECT relname, relfilenode, relowner::regrole, relacl FROM pg_class WHERE relnamespace = 'v'::regnamespace AND relname !~ '^other' ORDER BY 1;
TABLE v.docs_pairs; TABLE v.docs_clusters; TABLE v.plain; SELECT id, change FROM v.docs_neardup ORDER BY 1; SELECT kind, segment, part FROM v.docs_neardup_lists ORDER BY 1, 2, 3;
SELECT docs, pairs, clusters, state, lists, settings FROM neardup_all_jobs WHERE docs::text LIKE 'v.docs';
SQL
}
before=$(victims)

# crafted NAME DOCS PAIRS CLUSTERS STATE LISTS [SETTINGS [HASHES]]: maker writes such a row; then everybody does what they do.
crafted() {
    local settings seen role
    settings=${7:-$(sed 's/.*"settings":\({.*}\),"created.*/\1/' <<<"$entry")}
    q -d made -c "DELETE FROM neardup_all_jobs WHERE docs::oid = '$2'::regclass::oid"
    if ! seen=$(q -d made -U maker -v "settings=$settings" 2>&1 <<<"INSERT INTO neardup_all_jobs (docs, pairs, clusters, state, lists, settings, seen, hashes) VALUES ('$2', $3, $4, $5, $6, :'settings', 'x', ${8:-NULL})"); then
        failed "maker writes: $1" "$seen"
        return
    fi
    for role in maker victim postgres; do
        if [[ $2 == v.* && $role == maker ]]; then continue; fi
        expect_as "$1: $role writes" '' made $role "INSERT INTO $2 VALUES (40, 'one two three four')" "UPDATE $2 SET body = body || ' x', id = 41 WHERE id = 40" "DELETE FROM $2 WHERE id = 41" "TRUNCATE $2" "INSERT INTO $2 $rows"
        seen=$(q -d made -U $role -v VERBOSITY=verbose -c "CALL neardup_refresh('$2', batch_rows => 2)" 2>&1) || true
        expect "$1: $role refreshes, and hears what is wrong" '' "$(grep -E 'ERROR:  XX|ERROR:  .....: (relation|column|operator)|server closed' <<<"$seen")"
        # Nothing of others is even locked.
        expect_as "$1: $role's write locks nothing of others" 0 made postgres "SET ROLE $role; BEGIN; UPDATE $2 SET body = body || ' y'; RESET ROLE;
            SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_class d ON d.oid = '$2'::regclass
            WHERE l.pid = pg_backend_pid() AND c.relkind = 'r' AND c.relowner <> d.relowner AND c.relnamespace IN ('v'::regnamespace, 'm'::regnamespace) AND l.mode <> 'AccessShareLock'"
    done
    expect "$1: what victim has is as before" "$before" "$(victims)"
    seen=$(q -d made -v VERBOSITY=verbose -c "SELECT neardup_unwatch('$2')" 2>&1) || true
    expect "$1: and unwatch works" '' "$(grep ERROR <<<"$seen")"
    q -d made -c "DELETE FROM neardup_all_jobs WHERE docs::oid = '$2'::regclass::oid"
    expect "$1: what victim has is as before, after all" "$before" "$(victims)"
    # For the next one.
    if [[ $(q -d made -c "SELECT count(*) FROM pg_class WHERE relname ~ '^docs_(pairs|clusters|neardup|neardup_lists)$' AND relnamespace = 'm'::regnamespace") != 4 ]]; then
        as made maker 'SET client_min_messages = error' 'DROP TABLE IF EXISTS m.docs_pairs, m.docs_clusters, m.docs_neardup, m.docs_neardup_lists' "SELECT neardup_watch('m.docs', 0.8)" >/dev/null
    fi
}
own=("'m.docs_pairs'" "'m.docs_clusters'" "'m.docs_neardup'" "'m.docs_neardup_lists'")
victim=("'v.docs_pairs'" "'v.docs_clusters'" "'v.docs_neardup'" "'v.docs_neardup_lists'")
crafted 'all tables are another role'\''s' m.docs "${victim[@]}"
crafted 'one is' m.docs "${own[0]}" "${own[1]}" "${victim[2]}" "${own[3]}"
crafted 'pairs are' m.docs "${victim[0]}" "${own[@]:1}"
crafted 'a table of the server'\''s' m.docs "'pg_authid'" "'pg_class'" "'pg_proc'" "'pg_type'"
crafted 'the books themselves' m.docs "'neardup_all_jobs'" "'neardup_all_history'" "'neardup_unnoted'" NULL
crafted 'no tables' m.docs 4000000000::oid 4000000001::oid 4000000002::oid NULL
crafted 'no lists' m.docs "${own[0]}" "${own[1]}" "${own[2]}" NULL
crafted 'the same table for all' m.docs "${own[0]}" "${own[0]}" "${own[0]}" "${own[0]}"
crafted 'the relation itself' m.docs "'m.docs'" "'m.docs'" "'m.docs'" "'m.docs'"
crafted 'an index, a view, a sequence' m.docs "'m.docs_pkey'" "'neardup_jobs'" "'m.docs_pairs_pkey'" "'neardup_history'"
# These depend on it as a job's tables do, but nobody made them for a job.
as made maker 'CREATE INDEX by_body ON m.docs (body)' 'CREATE SEQUENCE m.counts OWNED BY m.docs.id'
crafted 'an index of its own' m.docs "'m.by_body'" "'m.counts'" "'m.by_body'" "'m.counts'"
as made maker 'INSERT INTO neardup_all_jobs (docs, pairs, clusters, state, settings) VALUES ($$m.docs$$, $$m.by_body$$, $$m.counts$$, $$m.by_body$$, $${}$$)'
expect_as 'unwatch leaves it alone' "NOTICE:  left as they are, since they are not the caller's or not of this job: m.by_body" made maker "SELECT neardup_unwatch('m.docs', keep_results => true)"
expect_as 'and it goes with its table still' 0 made maker 'BEGIN; DROP TABLE m.docs; SELECT count(*) FROM pg_class WHERE relname IN ($$by_body$$, $$counts$$); ROLLBACK'
as made maker 'CREATE TABLE m.parted (id int, body text) PARTITION BY LIST (id)' 'CREATE TABLE m.parts PARTITION OF m.parted DEFAULT'
as made maker 'INSERT INTO neardup_all_jobs (docs, pairs, clusters, state, settings) VALUES ($$m.parted$$, $$m.parts$$, $$m.parts$$, $$m.parts$$, $${}$$)'
expect_as 'so are partitions' "NOTICE:  left as they are, since they are not the caller's or not of this job: m.parts" made maker "SELECT neardup_unwatch('m.parted', keep_results => true)"
expect_as 'which go with their table still' 0 made maker 'DROP TABLE m.parted' 'SELECT count(*) FROM pg_class WHERE relname = $$parts$$'
crafted 'tables of the victim'\''s other job' v.other "${victim[@]}"
# A table of hashes is dropped where it is not needed: none that has more, or is of another job or another role.
as made victim 'CREATE TABLE v.files (id int, hash uuid, name text)' 'INSERT INTO v.files VALUES (1, NULL, $$a file$$)'
before=$(victims)
crafted 'hashes are another role'\''s' m.docs "${own[@]}" '' "'v.files'"
crafted 'hashes are pairs' m.docs "${own[@]}" '' "${own[0]}"
crafted 'hashes are the relation' m.docs "${own[@]}" '' "'m.docs'"
others=("'v.other_pairs'" "'v.other_clusters'" "'v.other_neardup'" "'v.other_neardup_lists'")
q -d made -U victim -c "SELECT neardup_watch('v.other', 0.8)" >/dev/null
crafted 'hashes are a table with more' v.other "${others[@]}" '' "'v.files'"
expect 'a table with more stays' '1||a file' "$(q -d made -c 'TABLE v.files')"
# A table with a parent depends on that of itself, and still does after all of this.
as made maker 'CREATE TABLE m.child () INHERITS (m.docs)'
crafted 'hashes are a child' m.docs "${own[@]}" '' "'m.child'"
q -d made -c "DELETE FROM neardup_all_jobs WHERE docs = 'm.docs'::regclass"
as made maker "INSERT INTO neardup_all_jobs (docs, pairs, clusters, state, settings, hashes) VALUES ('m.docs', 'm.child', 'm.child', 'm.child', '{}', 'm.child')" \
    "SELECT neardup_unwatch('m.docs', keep_results => true)" >/dev/null 2>&1
expect 'a child depends on its parent' 1 "$(q -d made -c "SELECT count(*) FROM pg_depend WHERE objid = 'm.child'::regclass AND refobjid = 'm.docs'::regclass AND deptype = 'n'")"
as made maker 'DROP TABLE m.child'
for settings in null '[]' '"x"' 7 '{}' '{"relation": 99999999999}' '{"columns": {"id": -3, "text": 32767}}' '{"threshold": "x"}' '{"threshold": 1e400}' \
    '{"threshold": 7}' '{"shingle": 2147483647}' '{"shingle": 0}' '{"method": "magic"}' "{\"text_column\": \"body'; DROP TABLE v.docs; --\"}" \
    '{"options": {"stop": [[[[]]]]}}' '{"tokenizer": "tsearch:\u0022; x"}' '{"max_cluster_size": -1}' '{"clustering": "'"'"'||pg_sleep(1)||'"'"'"}' \
    '{"id_column": "body", "text_column": "id", "columns": null}' '{"detect": 3}' '{"method": null, "options": "x"}'; do
    crafted "settings $settings" m.docs "${own[@]}" "$settings"
    # The like, where all else is as it should be.
    if [[ $settings == '{'* && $settings != '{}' ]]; then
        merged=$(q -d made -v "a=$(sed 's/.*"settings":\({.*}\),"created.*/\1/' <<<"$entry")" -v "b=$settings" <<<"SELECT :'a'::jsonb || :'b'" 2>/dev/null) || continue
        crafted "good settings with $settings" m.docs "${own[@]}" "$merged"
    fi
done
q -d made -c "UPDATE neardup_all_jobs SET settings = settings || '{\"shingles\": 3}' WHERE docs = 'm.docs'::regclass"
expect_error 'a setting that there is not' 55000 'the settings of the job of .* cannot be read: unknown field `shingles`, expected one of `threshold`, `options`, `id_column`' \
    "CALL neardup_refresh('m.docs')" -d made -U maker
q -d made -c "UPDATE neardup_all_jobs SET settings = settings - 'shingles' WHERE docs = 'm.docs'::regclass"
expect_as "the victim's job goes on" $'done\n0' made victim "CALL neardup_refresh('v.docs')" \
    "SELECT count(*) FROM ((TABLE v.docs_pairs EXCEPT SELECT * FROM near_duplicates('v.docs', 0.8)) UNION ALL (SELECT * FROM near_duplicates('v.docs', 0.8) EXCEPT TABLE v.docs_pairs)) d"
for write in 'UPDATE neardup_all_jobs SET pairs = docs' 'DELETE FROM neardup_all_jobs' 'TRUNCATE neardup_all_jobs' 'ALTER TABLE neardup_all_jobs ADD x int' \
    'CREATE TRIGGER t AFTER INSERT ON neardup_all_jobs EXECUTE FUNCTION neardup_internal.neardup_changed()' 'CREATE RULE r AS ON INSERT TO neardup_all_jobs DO NOTHING' \
    'ALTER EXTENSION neardup DROP TABLE neardup_all_jobs' 'INSERT INTO neardup_unnoted VALUES (1)'; do
    expect_error "more than that maker may not: $write" 42501 '(permission denied|must be owner)' "$write" -d made -U maker
done

# --- Dump and restore ---

out=$server/out
mkdir "$out"
chmod 777 "$out"
# A database as people have it, with work that waits. Its owner dumps and restores it, and is no superuser.
q -c 'CREATE DATABASE source OWNER maker'
as source maker 'CREATE EXTENSION neardup' "CREATE TABLE docs $docs" "INSERT INTO docs $rows" "SELECT neardup_watch('docs', 0.8)" "CALL neardup_refresh('docs')" \
    "INSERT INTO docs VALUES (4, 'something else')" 'CREATE SCHEMA "Odd %s"' "CREATE TABLE \"Odd %s\".\"it's\" (\"the id\" text PRIMARY KEY, \"a text\" text)" \
    "SELECT neardup_watch('\"Odd %s\".\"it''s\"', 0.8, clustering => 'star', detect => 'compare')" "CALL neardup_refresh('\"Odd %s\".\"it''s\"')" \
    "INSERT INTO \"Odd %s\".\"it's\" VALUES ('a', 'one two three'), ('b', 'one two three')" >/dev/null
for format in plain custom directory; do
    pg_dump -U maker -F $format -f "$out/$format" source
    q -c "CREATE DATABASE $format OWNER maker"
    if [[ $format == plain ]]; then
        expect "a $format dump restores without an error" '' "$(q -d $format -U maker -f "$out/$format" -o /dev/null 2>&1)"
    else
        # In two at a time as well.
        expect "a $format dump restores without an error" '' "$(pg_restore -U maker --exit-on-error $([[ $format == directory ]] && echo -j 2) -d $format "$out/$format" 2>&1)"
    fi
    expect_as "both jobs go on in the $format copy" $'docs|docs_pairs|docs_clusters|docs_neardup|docs_neardup_lists\n"Odd %s"."it\'s"|"Odd %s"."it\'s_pairs"|"Odd %s"."it\'s_clusters"|"Odd %s"."it\'s_neardup"|"Odd %s"."it\'s_neardup_lists"
done\n1|2|0.8\n3|4|1\ndone\na|b|1' $format maker 'SELECT docs, pairs, clusters, state, lists FROM neardup_jobs ORDER BY docs::text DESC' "CALL neardup_refresh('docs')" 'TABLE docs_pairs' \
        "CALL neardup_refresh('\"Odd %s\".\"it''s\"')" "TABLE \"Odd %s\".\"it's_pairs\""
    expect_as "and notices changes in the $format copy" $'done\n3|4|1\n5|6|1' $format maker "INSERT INTO docs VALUES (5, 'all new here'), (6, 'all new here')" 'DELETE FROM docs WHERE id = 1' "CALL neardup_refresh('docs')" 'TABLE docs_pairs'
    expect_as "the log came along to the $format copy" t $format maker "SELECT count(*) = 3 FROM neardup_history WHERE docs = 'docs'::regclass"
    expect_as "a second refresh in the $format copy has nothing to do" $'done\n0' $format maker "CALL neardup_refresh('docs')" "SELECT rows FROM neardup_history WHERE docs = 'docs'::regclass ORDER BY started DESC LIMIT 1"
    expect_as "a table dropped in the $format copy takes its job along" 0 $format maker 'DROP TABLE docs' "SELECT count(*) FROM pg_class WHERE relname ~ '^docs_'"
done
# Restored twice: what is there is what is said to be there, and stays as it is.
expect 'a second restore changes nothing' 0 "$(pg_restore -U maker -d custom "$out/custom" 2>&1 | grep -ci 'neardup_job_\|server closed\|XX000' || true)"

# Parts of it: the tables without the books. Watch takes them over.
q -c 'CREATE DATABASE part OWNER maker'
as part maker 'CREATE EXTENSION neardup'
pg_dump -U maker -t 'docs*' source >"$out/part.sql"
expect 'a part restores without an error' '' "$(q -d part -U maker -f "$out/part.sql" -o /dev/null 2>&1)"
expect_as 'writes go on, though there is no job' '' part maker "INSERT INTO docs VALUES (5, 'all new here'), (6, 'all new here')" 'UPDATE docs SET body = body' 'DELETE FROM docs WHERE id = 1'
expect_error 'and a refresh says so' 42704 "docs is not watched" "CALL neardup_refresh('docs')" -d part -U maker
expect_as 'watch takes the tables over' $'NOTICE:  the tables of a job of docs that is not known here are made anew: the next refresh compares all rows\ndone\n3|4|1\n5|6|1' part maker \
    "SELECT neardup_watch('docs', 0.8)" "CALL neardup_refresh('docs')" 'TABLE docs_pairs'
expect_as 'with all of its triggers' $'done\n3|4|1\n5|6|1\n5|7|1\n6|7|1' part maker "INSERT INTO docs VALUES (7, 'all new here')" "CALL neardup_refresh('docs')" 'TABLE docs_pairs'
q -c 'CREATE DATABASE schemas OWNER maker'
as schemas maker 'CREATE EXTENSION neardup'
pg_dump -U maker -n '"Odd %s"' source >"$out/schema.sql"
expect 'a schema restores without an error' '' "$(q -d schemas -U maker -f "$out/schema.sql" -o /dev/null 2>&1)"
expect_as 'and is taken over' $'NOTICE:  the tables of a job of "Odd %s"."it\'s" that is not known here are made anew: the next refresh compares all rows\ndone\na|b|1' schemas maker \
    "SELECT neardup_watch('\"Odd %s\".\"it''s\"', 0.8)" "CALL neardup_refresh('\"Odd %s\".\"it''s\"')" "TABLE \"Odd %s\".\"it's_pairs\""
# Only what is a job's, and its owner's, is taken over.
as part maker "SELECT neardup_unwatch('docs')" 'CREATE TABLE docs_pairs (left_id int, right_id int, similarity float8)' "INSERT INTO docs_pairs VALUES (1, 2, 3)"
expect_error 'one table of the name is not a job' 42P07 'docs_pairs.* already exists' "SELECT neardup_watch('docs', 0.8)" -d part -U maker
expect_as 'and stays as it is' '1|2|3' part maker 'TABLE docs_pairs'
as part maker 'CREATE TABLE docs_clusters (x int)' 'CREATE TABLE docs_neardup (y int)'
expect_error 'nor are three of other columns' 42P07 'already exists' "SELECT neardup_watch('docs', 0.8)" -d part -U maker

# As somebody else's.
q -c 'CREATE DATABASE taken OWNER taker'
pg_dump -U maker --no-owner --no-privileges -F custom -f "$out/free" source
expect 'without owners it restores for another one' '' "$(pg_restore -U taker --no-owner --exit-on-error -d taken "$out/free" 2>&1)"
expect_as 'whose job it is then' $'done\n1|2|0.8\n3|4|1\ntaker' taken taker "CALL neardup_refresh('docs')" 'TABLE docs_pairs' "SELECT relowner::regrole FROM pg_class WHERE relname = 'docs_neardup'"
expect_error 'and nobody else'\''s' 42501 'must be owner of docs' "CALL neardup_refresh('docs')" -d taken -U maker
# By a superuser, as whose.
q -c 'CREATE DATABASE again OWNER maker'
expect 'a superuser restores it' '' "$(pg_restore --exit-on-error -d again "$out/custom" 2>&1)"
expect_as 'for its owner' $'done\n1|2|0.8\n3|4|1' again maker "CALL neardup_refresh('docs')" 'TABLE docs_pairs'
# In parts: first what there is, then the rows, triggers off meanwhile.
q -c 'CREATE DATABASE pieces OWNER maker'
seen=$(for section in pre-data data post-data; do pg_restore -U maker --exit-on-error --section=$section -d pieces "$out/custom" 2>&1; done)
expect 'section by section' '' "$seen"
expect_as 'it goes on, too' $'done\n1|2|0.8\n3|4|1' pieces maker "CALL neardup_refresh('docs')" 'TABLE docs_pairs'

finish
