#!/usr/bin/env bash
# A cluster of an older PostgreSQL, with everything that users make of the extension, goes to the present one by pg_upgrade,
# copied and linked: all is as before, no index has to be made anew, and jobs go on.
#
# NEARDUP_OLD_PG_CONFIG: pg_config of the older one, with neardup installed; by default Debian's of 15.
# shellcheck disable=SC2154 # bindir, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/common.sh"
source "$project/scripts/copies.sh"
old=${NEARDUP_OLD_PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config} new=$PG_CONFIG upgrade=$project/pg_test/upgrade
skip() {
    echo "skipped: $*"
    exit 77
}
major() { "$1" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'; }
script=neardup--$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' "$project/Cargo.toml").sql
[[ -x $old ]] || skip "no older PostgreSQL at $old; NEARDUP_OLD_PG_CONFIG names another one"
(($(major "$old") < $(major "$new"))) || skip "$("$new" --version) is not newer than $("$old" --version)"
for config in "$old" "$new"; do
    [[ -e $("$config" --pkglibdir)/neardup.so ]] || skip "neardup is not installed for $("$config" --version)"
done
cmp -s "$("$old" --sharedir)/extension/$script" "$("$new" --sharedir)/extension/$script" ||
    skip "another neardup is installed for $("$old" --version) than for $("$new" --version)"

place=$(private_dir)
trap 'server_down "$place/old"; server_stop "$place/new"; rm -rf "$place"' EXIT
# With the libraries as they are now, whatever other tests install.
copy() {
    local config
    config=$(postgres_copy "$1" "$2")
    neardup_put "$("$1" --pkglibdir)/neardup.so" "$("$1" --sharedir)"/extension/neardup.control "$("$1" --sharedir)/extension/$script" "$config"
    echo "$config"
}
old=$(copy "$old" "$place/postgres.old")
PG_CONFIG=$(copy "$new" "$place/postgres.new")
source "$project/scripts/expect.sh"
unset NEARDUP_CLUSTER # of one version only
newer=$bindir older=$("$old" --bindir)
at() {
    bindir=$1
    PATH=$bindir:$PATH
}
contents() {
    q -d users -f "$upgrade/contents.sql" >"$place/$1" 2>&1 || true
}
stop() {
    as_server "$bindir/pg_ctl" -D "$server/data" -m fast -w stop >/dev/null
}

as_server mkdir "$place/old" "$place/new"
at "$older"
server_in "$place/old"
createdb users
q -d users -c 'CREATE SCHEMA tools' -c 'CREATE EXTENSION neardup SCHEMA tools' -c 'ALTER DATABASE users SET search_path = public, tools'
q -d users -f "$upgrade/world.sql" >/dev/null
contents before
expect 'no query fails' '' "$(grep ERROR "$place/before" || true)"
# The releases of November 2026 keep a version among the options of columns, which earlier ones refuse as unknown: to go to
# such a one is no matter of ours, and what can be had of newer versions may be older.
if ! grep -q pg_attver "$newer/pg_dump"; then
    q -d users -c 'SET allow_system_table_mods = on' -c "UPDATE pg_attribute SET attoptions = NULL WHERE attoptions::text LIKE '{pg_attver=%}'"
fi
stop

at "$newer"
checksums=$(if (($(major "$PG_CONFIG") >= 18)); then echo --no-data-checksums; fi)
# Linking comes last: after it the old cluster can no longer be started.
for way in copy link; do
    rm -rf "$place/new/data"
    as_server "$newer/initdb" -D "$place/new/data" -U postgres -A trust -N --encoding=UTF8 --locale=C.UTF-8 $checksums >/dev/null
    options=()
    if [[ $way == link ]]; then options=(--link); fi
    if ! as_server bash -c 'cd "$0" && exec "$@"' "$place/new" "$newer/pg_upgrade" -b "$older" -B "$newer" -d "$place/old/data" -D "$place/new/data" \
        -U postgres -s "$place/new" "${options[@]}" >"$place/pg_upgrade.log" 2>&1; then
        failed "pg_upgrade, $way" "$(tail -n 30 "$place/pg_upgrade.log"; tail -n 8 "$place"/new/data/pg_upgrade_output.d/*/log/pg_upgrade_dump_*.log 2>/dev/null || true)"
        break
    fi
    passed
    server=$place/new
    as_server tee -a "$server/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$server'
fsync = off
CONF
    PGHOST=$server
    server_up
    contents after
    expect "$way: all is as before" '' "$(diff "$place/before" "$place/after" | head -n 20)"
    for job in sets compared sketches pages edits unborn; do
        expect_sql "$way: job_$job is refreshed" done "CALL neardup_refresh('job_$job')" -d users
    done
    expect_sql "$way: the job has the pairs of a full computation" '0|t' "SELECT count(*), (SELECT count(*) > 20 FROM job_sets_pairs)
        FROM ((TABLE job_sets_pairs EXCEPT SELECT * FROM near_duplicates('job_sets', 0.8, id_column => 'id', text_column => 'body')) UNION ALL
            (SELECT * FROM near_duplicates('job_sets', 0.8, id_column => 'id', text_column => 'body') EXCEPT TABLE job_sets_pairs)) d" -d users
    q -d users -c "INSERT INTO docs (id, site, body) SELECT id + 2000, site, body FROM docs WHERE id <= 20" -c 'VACUUM docs'
    contents more
    q -d users -c 'REINDEX TABLE docs'
    contents reindexed
    expect "$way: indexes answer as new ones do" '' "$(diff <(grep -v '^by_' "$place/more") <(grep -v '^by_' "$place/reindexed") | head -n 20)"
    stop
done
finish
