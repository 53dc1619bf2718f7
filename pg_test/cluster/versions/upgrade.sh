#!/usr/bin/env bash
# The update of the extension from an older version, which is made up: the present definitions without what the update brings.
# The catalogues are then those of a fresh install, and a script that lacks any of its statements, or leaves anything else than
# it should, is found.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/common.sh"
source "$project/scripts/copies.sh"
installed=$PG_CONFIG
place=$(private_dir)
trap 'server_stop "$place"' EXIT
PG_CONFIG=$(postgres_copy "$installed" "$place/postgres")
source "$project/scripts/expect.sh"

present=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' "$project/Cargo.toml")
older=0.0.1
full=$("$installed" --sharedir)/extension/neardup--$present.sql
extension=$("$PG_CONFIG" --sharedir)/extension
neardup_put "$("$installed" --pkglibdir)/neardup.so" "$full" "$("$installed" --sharedir)/extension/neardup.control" "$PG_CONFIG"

# statement BEGINNING: the statement of the definitions that begins so.
statement() {
    perl -0777 -ne 'BEGIN { $beginning = shift } print "$1\n" if /^(\Q$beginning\E.*?;)$/ms or die "no statement $beginning\n"' "$1" "$full"
}
# What the update brings: a function that is replaced, one that is dropped, the estimate of an operator, a column, a view that
# is replaced, a comment, a privilege, the function that sends a type.
mapfile -d '' -t statements < <(printf '%s\0' 'SELECT neardup_internal.neardup_check_library();' \
    "$(statement 'CREATE FUNCTION words(' | sed 's/^CREATE/& OR REPLACE/')" \
    'DROP FUNCTION neardup_former();' \
    'ALTER OPERATOR <@ (minhash_sketch, minhash_ball) SET (RESTRICT = neardup_internal.near_selectivity);' \
    'ALTER TABLE neardup_all_jobs ADD COLUMN hashes pg_catalog.regclass;' "$(statement 'COMMENT ON TABLE neardup_all_jobs')" \
    "$(statement 'CREATE VIEW neardup_jobs' | sed 's/^CREATE/& OR REPLACE/')" \
    "$(statement 'GRANT SELECT, INSERT ON neardup_all_jobs')" \
    'ALTER TYPE text_runs SET (SEND = neardup_internal.text_runs_send);')
# The moves to neardup_internal come last in the definitions: what this appends is behind them.
{
    perl -0777 -pe 's/,\n    hashes pg_catalog\.regclass\n/\n/ or die; s/, j\.hashes// or die; s/^GRANT SELECT, INSERT ON neardup_all_jobs[^;]*;//m or die;
        s/^COMMENT ON TABLE neardup_all_jobs .*//m or die; s/^SELECT neardup_check_library\(\);//m or die' "$full"
    cat <<'SQL'
ALTER FUNCTION words(pg_catalog.text) COST 7;
CREATE FUNCTION neardup_former() RETURNS pg_catalog.int4 LANGUAGE sql AS 'SELECT 1';
ALTER OPERATOR <@ (minhash_sketch, minhash_ball) SET (RESTRICT = NONE);
ALTER TYPE text_runs SET (SEND = NONE);
SQL
} >"$extension/neardup--$older.sql"
script=$extension/neardup--$older--$present.sql
# script_without [NUMBER]: the update, without that statement.
script_without() {
    rm -f "$script"
    for n in "${!statements[@]}"; do
        if [[ $n != "${1:-}" ]]; then printf '%s\n' "${statements[n]}"; fi
    done >"$script"
}
script_without
server_in "$place"

# A database of users, through the update.
createdb users
q -d users -c 'CREATE SCHEMA tools' -c "CREATE EXTENSION neardup SCHEMA tools VERSION '$older'" -c 'ALTER DATABASE users SET search_path = public, tools'
# Jobs cannot be made by the older definitions.
sed '/^SELECT job(/,$d' "$project/pg_test/upgrade/world.sql" >"$place/world.sql"
q -d users -f "$place/world.sql" >/dev/null
q -d users -c "CREATE TABLE watched (id int PRIMARY KEY, body text)"
expect_error 'what needs the newer definitions says so' 55000 'ALTER EXTENSION neardup UPDATE' "SELECT neardup_watch('watched', 0.8)" -d users
asked="SELECT count(*) FROM docs a, docs b WHERE a.m <@ near(b.m, 0.8)"
before=$(q -d users -c "$asked")
expect_sql 'the update' '' 'ALTER EXTENSION neardup UPDATE' -d users
expect_sql 'the version' "$present" "SELECT extversion FROM pg_extension WHERE extname = 'neardup'" -d users
expect_sql 'indexes answer as before' "$before" "$asked" -d users
q -d users -o /dev/null -c "SELECT neardup_watch('watched', 0.8)"
expect_sql 'and jobs can be made' done "CALL neardup_refresh('watched')" -d users
createdb fresh
q -d fresh <<SQL
CREATE SCHEMA tools;
CREATE EXTENSION neardup SCHEMA tools;
SET search_path = tools;
$(grep -E '^(GRANT|REVOKE) .* ON (FUNCTION|TYPE|neardup)' "$project/pg_test/upgrade/world.sql")
SQL
for name in users fresh; do q -d "$name" -f "$project/pg_test/upgrade/catalogue.sql" >"$place/catalogue.$name"; done
expect 'the catalogues are those of a fresh install' '' "$(diff "$place/catalogue.fresh" "$place/catalogue.users" | head -n 20)"

# The library refuses definitions that are newer than it is.
newer=$present.1
cp "$full" "$extension/neardup--$newer.sql"
createdb newer
expect_error 'an older library is told' 55000 "older than its SQL, $newer" "CREATE EXTENSION neardup VERSION '$newer'" -d newer

# Nothing of what follows stays, so that one database is enough.
createdb mutants
# updated VERSION [SQL]: the catalogues after an update from there, then SQL; prints what went wrong.
updated() {
    echo 'none' >"$place/catalogue"
    q -d mutants -o /dev/null -c 'BEGIN' -c 'CREATE SCHEMA tools' -c "CREATE EXTENSION neardup SCHEMA tools ${1:+VERSION '$1'}" \
        ${1:+-c 'ALTER EXTENSION neardup UPDATE'} -c "SET LOCAL search_path = tools${2:+; $2}" -c "\\o $place/catalogue" -f "$project/pg_test/upgrade/catalogue.sql" 2>&1 || true
}
updated '' >/dev/null
mv "$place/catalogue" "$place/fresh"
expect 'what is right is found right' '' "$(updated "$older" && diff "$place/fresh" "$place/catalogue" | head -n 20)"
# found NAME SQL: a mistake is seen, by an error or by the comparison.
found() {
    local seen
    seen=$(updated "$older" "${2:-}")
    if [[ -n $seen ]] || ! cmp -s "$place/fresh" "$place/catalogue"; then passed; else failed "found: $1"; fi
}
for ((left_out = 1; left_out < ${#statements[@]}; left_out++)); do
    script_without "$left_out"
    found "a script without ${statements[left_out]}"
done
script_without
while read -r mutation; do
    found "$mutation" "$mutation"
done <<'SQL'
ALTER EXTENSION neardup DROP FUNCTION words(text)
CREATE FUNCTION more() RETURNS int LANGUAGE sql AS 'SELECT 1'; ALTER EXTENSION neardup ADD FUNCTION more()
COMMENT ON FUNCTION words(text) IS 'another'
COMMENT ON OPERATOR <@ (text, text_ball) IS NULL
COMMENT ON COLUMN neardup_all_jobs.seen IS 'one more'
REVOKE EXECUTE ON FUNCTION words(text) FROM PUBLIC
GRANT SELECT ON neardup_all_jobs TO PUBLIC
ALTER FUNCTION words(text) VOLATILE
ALTER FUNCTION words(text) CALLED ON NULL INPUT
ALTER FUNCTION words(text) PARALLEL UNSAFE
ALTER FUNCTION words(text) SET work_mem = '1MB'
ALTER FUNCTION shares(bigint[], bigint[], int) SUPPORT pg_catalog.textlike_support
ALTER OPERATOR <@ (text, text_ball) SET (RESTRICT = contsel)
ALTER OPERATOR CLASS minhash_jaccard_ops USING signature RENAME TO other_ops
ALTER TYPE minhash_sketch SET (STORAGE = main)
ALTER TABLE neardup_all_jobs ADD COLUMN more int
ALTER TABLE neardup_all_jobs ALTER COLUMN created DROP DEFAULT
ALTER TABLE neardup_all_jobs ALTER COLUMN pairs DROP NOT NULL
ALTER TABLE neardup_all_history DROP CONSTRAINT neardup_all_runs_pkey
ALTER VIEW neardup_history RESET (security_barrier)
ALTER VIEW neardup_history RENAME COLUMN rows TO lines
CREATE INDEX ON neardup_all_history (started)
UPDATE pg_extension SET extconfig = NULL, extcondition = NULL WHERE extname = 'neardup'
UPDATE pg_init_privs SET initprivs = '{reader=X/reader}' WHERE objoid = 'neardup_jobs'::regclass
SQL

# Another superuser than the one who made it may update it, and be none any more.
q -c 'CREATE ROLE maker SUPERUSER' -c 'CREATE ROLE updater SUPERUSER'
createdb owners
q -d owners -c 'SET ROLE maker' -c "CREATE EXTENSION neardup VERSION '$older'" -c 'SET ROLE updater' -c 'ALTER EXTENSION neardup UPDATE' -c 'RESET ROLE' -c 'ALTER ROLE updater NOSUPERUSER'
q -d owners -c "CREATE TABLE docs (id int PRIMARY KEY, body text); INSERT INTO docs VALUES (1, 'a b c'), (2, 'c b a')" -c "SELECT neardup_watch('docs', 0.8)" >/dev/null
expect_sql 'and jobs work' done "CALL neardup_refresh('docs')" -d owners
finish
