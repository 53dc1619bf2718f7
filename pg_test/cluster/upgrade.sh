#!/usr/bin/env bash
# A database of the first release, with everything that users make of the extension, under the present library and then
# under the present SQL: all is as before, and the catalogues are those of a fresh install. So they are after the scripts from
# every release, and a script that lacks any of its statements, or leaves anything else than it should, is found.
#
# The library of the release is built from its tag. Where that cannot be, only the catalogues are compared.
set -euo pipefail
source "$(dirname "$0")/../../scripts/common.sh"
source "$project/scripts/copies.sh"
installed=$PG_CONFIG upgrade=$project/pg_test/upgrade
place=$(private_dir)
trap 'server_stop "$place"' EXIT
PG_CONFIG=$(postgres_copy "$installed" "$place/postgres")
source "$project/scripts/expect.sh"

first=0.1.0
present=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' "$project/Cargo.toml")
library=$("$installed" --pkglibdir)/neardup.so scripts=$("$installed" --sharedir)/extension
mkdir "$place/0"
if old=$("$project/scripts/release_library.sh" "$first" 2>"$place/build.log"); then
    install -m 755 "$old" "$place/0/neardup.so"
elif [[ $? -eq 77 ]]; then
    echo "only catalogues are compared: $old"
    old=''
else
    cat "$place/build.log" >&2
    exit 1
fi
# contents NAME: what users see in their database goes to a file of this name.
contents() {
    q -d users -f "$upgrade/contents.sql" >"$place/$1" 2>&1 || true
}
# same NAME FILE FILE: the first lines that differ.
same() {
    expect "$1" '' "$(diff "$2" "$3" | head -n 20)"
}
catalogue() {
    q -d "$1" -f "$upgrade/catalogue.sql" >"$place/$2"
}

# Puts the present library and scripts in place.
put_present() {
    neardup_put "$library" "$scripts/neardup--$present.sql" "$scripts"/neardup--*--*.sql "$PG_CONFIG"
}

# What users have goes on through an update.
users_go_on() {
createdb users
q -d users <<SQL
CREATE SCHEMA tools;
CREATE EXTENSION neardup SCHEMA tools VERSION '$first';
ALTER DATABASE users SET search_path = public, tools;
SQL
q -d users -f "$upgrade/world.sql" >/dev/null
pg_dump users >"$place/dump"
q -d users -f "$upgrade/first.sql"
contents before
expect 'no query fails' '' "$(grep ERROR "$place/before" || true)"
expect 'each index is used by its query' 12 "$(sed -n '/^-- indexes/,$p' "$place/before" | grep -cE '^[0-9]+\|(using|on) (by_|no_shared_tags)')"

# A session that loaded the old library keeps it.
mkfifo "$place/session"
q -d users <"$place/session" >"$place/session.out" 2>&1 &
session=$!
exec 9>"$place/session"
printf '%s\n' "SELECT jaccard('a', 'a');" "\\! touch $place/loaded" >&9
until [[ -e $place/loaded ]]; do sleep 0.05; done
put_present
echo 'ALTER EXTENSION neardup UPDATE;' >&9
exec 9>&-
wait "$session" || true
expect 'a session that has the old library is told so' '1
ERROR:  the library neardup that this session has loaded is older than its SQL
HINT:  Start a new session; if that does not help, install the library of the same version.' "$(grep -v CONTEXT "$place/session.out" | head -n 3)"

as_server "$bindir/pg_ctl" -D "$server/data" -m fast -w stop >/dev/null
server_up
contents library
same 'the present library with the SQL of before: all as before' "$place/before" "$place/library"

expect 'indexes that the update would change the meaning of are named, with what to do' 'ERROR:  indexes of the operator class text_minhash_ops, which is no more, are in the way: public.by_text, public.by_text_options
DETAIL:  CREATE INDEX by_text ON public.docs USING signature (body);
CREATE INDEX by_text_options ON public.docs USING signature (body text_minhash_ops (k='\''2'\'', permutations='\''64'\'')) WITH (threshold='\''0.7'\'')
HINT:  Before the update: DROP INDEX public.by_text, public.by_text_options; after it make them anew, for exact searches by words: CREATE INDEX ON docs USING signature (body); or for what they were, by sketches: CREATE INDEX ON docs USING signature (minhash(body)); k and permutations become arguments of minhash and options of minhash_jaccard_ops.' "$(q -d users -c 'ALTER EXTENSION neardup UPDATE' 2>&1 | grep -v '^CONTEXT' || true)"
q -d users -c 'DROP INDEX by_text, by_text_options'
contents dropped
# near() of a text has other arguments and means another thing: what calls it is in the way.
expect 'what the update would change the meaning of is named' 'ERROR:  cannot drop function near(text,double precision,integer,integer) because other objects depend on it
DETAIL:  view public.estimated depends on function near(text,double precision,integer,integer)' "$(q -d users -c 'ALTER EXTENSION neardup UPDATE' 2>&1 | grep -E '^(ERROR|DETAIL)' || true)"
q -d users -c 'DROP VIEW estimated'
expect_sql 'the update' '' 'ALTER EXTENSION neardup UPDATE' -d users
contents after
same 'the present SQL: all as before' "$place/dropped" "$place/after"
expect_sql 'the version' "$present" "SELECT extversion FROM pg_extension WHERE extname = 'neardup'" -d users

createdb fresh
q -d fresh <<SQL
CREATE SCHEMA tools;
CREATE EXTENSION neardup SCHEMA tools;
SET search_path = tools;
$(grep -E '^(GRANT|REVOKE) .* ON (FUNCTION|TYPE|neardup)' "$upgrade/world.sql")
SQL
catalogue users catalogue.users
catalogue fresh catalogue.fresh
same 'the catalogues are those of a fresh install' "$place/catalogue.fresh" "$place/catalogue.users"

# The same from a dump that was made before: into the definitions of this version, and into those of the first one, with an
# update then. Indexes are made anew by it.
dumped() { sed '/^-- indexes/,/^-- privileges/d' "$place/$1"; }
for version in "$present" "$first"; do
    createdb "restored_$version"
    q -d "restored_$version" -c 'CREATE SCHEMA tools' -c "CREATE EXTENSION neardup SCHEMA tools VERSION '$version'" -c "ALTER DATABASE \"restored_$version\" SET search_path = public, tools"
    seen=$(q -d "restored_$version" -o /dev/null -f <(grep -v '^CREATE SCHEMA tools;$' "$place/dump") 2>&1) || true
    expect "a dump of $first, restored beside $version" '' "$(grep -v '^$' <<<"$seen" || true)"
    if [[ $version != "$present" ]]; then q -d "restored_$version" -c 'ALTER EXTENSION neardup UPDATE'; fi
    q -d "restored_$version" -f "$upgrade/contents.sql" >"$place/restored" 2>&1 || true
    expect "all of it is there, beside $version" '' "$(diff <(dumped before) <(dumped restored) | head -n 20)"
    expect_sql "its jobs go on, beside $version" 'done' "CALL neardup_refresh('job_sets')" -d "restored_$version"
    expect_sql "with what waited, beside $version" 't' "SELECT count(*) = 0 FROM (TABLE job_sets_pairs EXCEPT SELECT * FROM near_duplicates('job_sets', 0.8, id_column => 'id', text_column => 'body')) d" -d "restored_$version"
done

# Jobs go on where they were.
for job in sets compared sketches pages edits unborn; do
    expect_sql "job_$job is refreshed" done "CALL neardup_refresh('job_$job')" -d users
done
# $1: the table of the job, $2: what it was watched with but for ways to detect changes and clusters, $3: for clusters.
right() {
    local call="'$1', 0.8, id_column => 'id', text_column => 'body'$2"
    expect_sql "$1 has the pairs and clusters of a full computation" '0|0|t' "SET client_min_messages = error;
        SELECT (SELECT count(*) FROM ((TABLE $1_pairs EXCEPT SELECT * FROM near_duplicates($call)) UNION ALL
                (SELECT * FROM near_duplicates($call) EXCEPT TABLE $1_pairs)) d),
            (SELECT count(*) FROM ((TABLE $1_clusters EXCEPT SELECT cluster_id, id, representative FROM near_duplicate_clusters($call$3)) UNION ALL
                (SELECT cluster_id, id, representative FROM near_duplicate_clusters($call$3) EXCEPT TABLE $1_clusters)) d),
            (SELECT count(*) > 20 FROM $1_pairs)" -d users
}
right job_sets '' ''
right job_compared '' ", clustering => 'star'"
right job_sketches ", method => 'minhash'" ''
right job_pages ", method => 'tlcs', site_column => 'site'" ", clustering => 'perhaps_similar'"
right job_edits ", method => 'edit'" ', max_cluster_size => 3'
right job_unborn ", method => 'cosine', shingle => 2" ''
expect_sql 'one run more each, with only what had changed' '12|12|12|12|12' \
    "SELECT string_agg((SELECT r.rows::text FROM neardup_runs r WHERE r.docs = ('job_' || name)::regclass ORDER BY started DESC LIMIT 1), '|')
    FROM unnest('{sets,compared,sketches,pages,edits}'::text[]) name" -d users
# Indexes take rows, and can be made anew.
q -d users -c "INSERT INTO docs (id, site, body) SELECT id + 2000, site, body FROM docs WHERE id <= 20" -c 'VACUUM docs'
contents more
q -d users -c 'REINDEX TABLE docs; REINDEX TABLE tagged'
contents reindexed
same 'indexes answer as new ones do' <(grep -v '^by_' "$place/more") <(grep -v '^by_' "$place/reindexed")
expect_error 'constraints hold' 23P01 no_shared_tags "INSERT INTO tagged VALUES (100, ARRAY[md5('7')::uuid])" -d users
expect_error 'domains hold' 23514 is_near "INSERT INTO kept (id, sample) VALUES (101, minhash('far away from it'))" -d users
}

if [[ -n $old ]]; then
    neardup_put "$place/0/neardup.so" "$project"/sql/releases/*.sql "$scripts/neardup.control" "$PG_CONFIG"
    server_in "$place"
    users_go_on
else
    put_present
    neardup_put "$project"/sql/releases/*.sql "$scripts/neardup.control" "$PG_CONFIG"
    server_in "$place"
    q -c 'CREATE ROLE reader'
fi

# From every release, by the scripts that are there; nothing of it stays, so that one database is enough.
createdb mutants
extension=$("$PG_CONFIG" --sharedir)/extension
# updated FROM [SQL]: the catalogues after an update from there, then SQL; prints what went wrong.
updated() {
    echo 'none' >"$place/catalogue"
    q -d mutants -o /dev/null -c 'BEGIN' -c 'CREATE SCHEMA tools' -c "CREATE EXTENSION neardup SCHEMA tools ${1:+VERSION '$1'}" \
        ${1:+-c 'ALTER EXTENSION neardup UPDATE'} -c "SET LOCAL search_path = tools${2:+; $2}" -c "\\o $place/catalogue" -f "$upgrade/catalogue.sql" 2>&1 || true
}
updated '' >/dev/null
mv "$place/catalogue" "$place/fresh"
for snapshot in "$project"/sql/releases/*.sql; do
    from=${snapshot##*--}
    from=${from%.sql}
    expect "the update from $from works" '' "$(updated "$from")"
    same "the update from $from leads to a fresh install" "$place/fresh" "$place/catalogue"
done

# Each statement of the last script is left out in turn: the update fails, or the comparison finds it. Those that only move
# data or ask are another matter, and a type without a form comes into being by itself.
last=$(printf '%s\n' "$project"/sql/upgrades/neardup--*--"$present".sql)
from=${last##*/neardup--}
from=${from%--*}
script=$extension/${last##*/}
split() {
    perl -0777 -ne 'while (/\G((?>(?:--[^\n]*\n|\x27(?:[^\x27]|\x27\x27)*\x27|\$(\w*)\$.*?\$\2\$|BEGIN ATOMIC\b.*?\bEND(?=;)|[^;])*);)/gs) { print $1, "\0" }' "$1"
}
mapfile -d '' -t statements < <(split "$last")
quiet='^(--[^'$'\n'']*|[[:space:]])*((DO|UPDATE|INSERT|DELETE)[[:space:]]|SELECT neardup_check_library|CREATE TYPE [a-z_]+;)'
for left_out in "${!statements[@]}"; do
    if [[ ${statements[left_out]} =~ $quiet ]]; then continue; fi
    rm "$script"
    for n in "${!statements[@]}"; do
        if ((n != left_out)); then printf '%s' "${statements[n]}"; fi
    done >"$script"
    if [[ -z $(updated "$from") ]] && cmp -s "$place/fresh" "$place/catalogue"; then
        failed "a script without its statement $left_out is found" "${statements[left_out]}"
    else
        passed
    fi
done
rm "$script"
cp "$last" "$script"

# What a script cannot keep it tells.
expect 'privileges on functions that are made anew are told to be lost' 'WARNING:  these functions are made anew, without the privileges that were granted or revoked: near_duplicates_stats(), neardup_job_hash(text)
HINT:  Grant and revoke them again.' "$(q -d mutants -o /dev/null -c 'BEGIN' -c 'CREATE SCHEMA tools' -c "CREATE EXTENSION neardup SCHEMA tools VERSION '$first'" -c 'SET LOCAL search_path = tools' \
    -c 'REVOKE EXECUTE ON FUNCTION near_duplicates_stats() FROM PUBLIC' -c 'GRANT EXECUTE ON FUNCTION neardup_job_hash(text), words(text) TO reader' -c 'ALTER EXTENSION neardup UPDATE' 2>&1)"
expect 'what was made of the text of HTML pages is told to be another one' 'WARNING:  the text of HTML pages is another one than before, and was made use of by the column shown of pages, the index pages_text, the job of pages
HINT:  REINDEX indexes, write columns anew, and begin jobs anew: neardup_unwatch, drop the tables of pairs and clusters, neardup_watch.' "$(q -d mutants -o /dev/null -c 'BEGIN' -c 'CREATE SCHEMA tools' -c "CREATE EXTENSION neardup SCHEMA tools VERSION '$first'" -c 'SET LOCAL search_path = tools' \
    -c "CREATE TABLE pages (id int PRIMARY KEY, page text, shown text GENERATED ALWAYS AS (html_text(page)) STORED, plain text GENERATED ALWAYS AS (page) STORED)" \
    -c 'CREATE INDEX pages_text ON pages (md5(html_text(page)))' -c "INSERT INTO neardup_all_jobs (docs, pairs, clusters, state, settings) VALUES ('pages', 'pages', 'pages', 'pages', '{\"tokenizer\": \"html\"}')" \
    -c 'SET LOCAL search_path = pg_catalog' -c 'ALTER EXTENSION neardup UPDATE' 2>&1)"

# Another superuser than the one who made it may update it, and be none any more.
q -c 'CREATE ROLE maker SUPERUSER' -c 'CREATE ROLE updater SUPERUSER'
createdb owners
q -d owners -c 'SET ROLE maker' -c "CREATE EXTENSION neardup VERSION '$first'" -c 'SET ROLE updater' -c 'ALTER EXTENSION neardup UPDATE' -c 'RESET ROLE' -c 'ALTER ROLE updater NOSUPERUSER'
expect_sql 'what an update brings belongs to who owns the rest' maker "SELECT DISTINCT s.refobjid::regrole FROM pg_depend d JOIN pg_shdepend s USING (classid, objid)
    WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND s.deptype = 'o' AND s.dbid = (SELECT oid FROM pg_database WHERE datname = 'owners')" -d owners
if [[ -n $old ]]; then
    q -d owners -c "CREATE TABLE docs (id int PRIMARY KEY, body text); INSERT INTO docs VALUES (1, 'a b c'), (2, 'c b a')" -c "SELECT neardup_watch('docs', 0.8)" >/dev/null
    expect_sql 'and jobs work' done "CALL neardup_refresh('docs')" -d owners
    # Also where only the functions are another one's.
    q -d owners -c 'ALTER FUNCTION neardup_internal.neardup_refresh_step OWNER TO updater' -c 'ALTER FUNCTION neardup_changed OWNER TO updater' -c "INSERT INTO docs VALUES (3, 'b a c')"
    expect_sql 'whoever owns the functions' done "CALL neardup_refresh('docs')" -d owners
    expect_sql 'and has what there is' '3|done' "SELECT (SELECT count(*) FROM docs_pairs), (SELECT status FROM neardup_progress)" -d owners
fi

# What a script may get wrong otherwise.
while read -r mutation; do
    seen=$(updated "$from" "$mutation")
    if [[ -n $seen ]] || cmp -s "$place/fresh" "$place/catalogue"; then failed "found: $mutation" "$seen"; else passed; fi
done <<'SQL'
ALTER EXTENSION neardup DROP FUNCTION words(text)
ALTER EXTENSION neardup DROP FUNCTION words(text); DROP FUNCTION words(text)
CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER EXTENSION neardup ADD FUNCTION more()
COMMENT ON FUNCTION words(text) IS 'another'
COMMENT ON OPERATOR <@ (text, text_ball) IS NULL
COMMENT ON COLUMN neardup_all_jobs.seen IS 'one more'
REVOKE EXECUTE ON FUNCTION words(text) FROM PUBLIC
GRANT SELECT ON neardup_all_jobs TO PUBLIC
REVOKE SELECT ON neardup_runs FROM PUBLIC
ALTER FUNCTION words(text) VOLATILE
ALTER FUNCTION words(text) COST 7
ALTER FUNCTION words(text) CALLED ON NULL INPUT
ALTER FUNCTION words(text) PARALLEL UNSAFE
ALTER FUNCTION words(text) SET work_mem = '1MB'
ALTER FUNCTION words(text) RENAME TO more_words
ALTER FUNCTION words(text) OWNER TO reader
ALTER FUNCTION shares(bigint[], bigint[], int) SUPPORT pg_catalog.textlike_support
ALTER OPERATOR <@ (text, text_ball) SET (RESTRICT = contsel)
ALTER OPERATOR CLASS minhash_jaccard_ops USING signature RENAME TO other_ops
ALTER TYPE minhash_sketch SET (STORAGE = main)
ALTER TABLE neardup_all_jobs ADD COLUMN more int
ALTER TABLE neardup_all_jobs ALTER COLUMN created DROP DEFAULT
ALTER TABLE neardup_all_jobs ALTER COLUMN pairs DROP NOT NULL
ALTER TABLE neardup_all_runs DROP CONSTRAINT neardup_all_runs_pkey
ALTER TABLE neardup_all_runs ADD CHECK (rows > 0)
ALTER VIEW neardup_runs RESET (security_barrier)
ALTER VIEW neardup_runs RENAME COLUMN rows TO lines
CREATE INDEX ON neardup_all_runs (started)
UPDATE pg_extension SET extconfig = NULL, extcondition = NULL WHERE extname = 'neardup'
UPDATE pg_init_privs SET initprivs = '{reader=X/reader}' WHERE objoid = 'neardup_jobs'::regclass
SQL
expect 'what is right is found right' '' "$(updated "$from" && diff "$place/fresh" "$place/catalogue")"

# What SQL of a release calls stays in the library as long as the first number of the version is the same.
for snapshot in "$project/sql/releases/neardup--${present%%.*}".*.sql; do
    # %1$I: a type; all have the same.
    missing=$(comm -23 <(grep -oE "'MODULE_PATHNAME', '[^']+'" "$snapshot" | cut -d"'" -f4 | sed 's/%1$I/minhash_sketch/' | sort -u) \
        <(nm -D --defined-only "$library" | awk '{ print $3 }' | sort))
    expect "the library has all that $(basename "$snapshot") calls" '' "$missing"
done
expected_in_log='SELECT 1 FROM nothing'
finish
