#!/usr/bin/env bash
# What the Debian package has and asks for; then it goes into a clean root that has PostgreSQL from Debian and nothing
# else, is asked a first question there, and removed without a trace. Debian 12 has PostgreSQL 15, 13 has 17, and what comes
# after it 18: what is made here is tried there.
set -euo pipefail
source "$(dirname "$0")/root.sh"
if [[ -z ${NEARDUP_WORK:-} ]]; then
    command -v dpkg >/dev/null || skip 'no dpkg'
    need_packages 'Debian package' dpkg-dev debhelper fakeroot python3 || skip 'no tools to make a package with'
    deb=$("$project/packaging/deb.sh" | grep -v dbgsym)
    export deb
fi

failures=0
expect() {
    if [[ $3 != "$2" ]]; then
        printf 'FAILED: %s\n    expected: %s\n    seen:     %s\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}
pg=$(pg_feature) pg=${pg#pg}
version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' "$project/Cargo.toml")

# What can be said of it without installing it.
if [[ -z ${NEARDUP_WORK:-} ]]; then
    expect 'what is in it' "$({
        echo "./usr/lib/postgresql/$pg/lib/neardup.so"
        for file in neardup.control "neardup--$version.sql"; do
            echo "./usr/share/postgresql/$pg/extension/$file"
        done
    } | sort)" "$(dpkg-deb --fsys-tarfile "$deb" | tar -t | grep -v -e '/$' -e '^./usr/share/doc/' -e '^./usr/share/lintian/' | sort)"
    expect 'what it depends on' "postgresql-$pg libc6 libgcc-s1" \
        "$(dpkg-deb --field "$deb" Depends | sed 's/ ([^)]*)//g; s/,//g')"
    if command -v lintian >/dev/null; then
        # Who packs is not known here.
        expect 'lintian' '' "$(lintian --allow-root --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact "$deb" 2>&1)"
    fi
    ((failures == 0)) || exit 1
fi

in_namespace "$@"
case $pg in
    17) debian=trixie ;;
    18) debian=forky ;;
esac
if apt-cache show "postgresql-$pg" >/dev/null 2>&1; then debian=$(this_debian); fi
[[ -n ${debian:-} ]] || skip "no release of Debian has postgresql-$pg; ${deb##*/} has the files and dependencies that it should"

root=$work/root
step "a clean root of $debian with postgresql-$pg (1 min)" clean_root "$root" "postgresql-$pg"

# What is there, but for what dpkg and apt write down, and the cluster.
traces() {
    (cd "$root" && find . -xdev \( -path ./var/lib/dpkg/'*-old' -o -path ./var/lib/dpkg/status -o -path ./var/log -o -path ./var/cache \
        -o -path ./var/lib/apt -o -path ./var/lib/postgresql -o -path ./tmp -o -path ./run -o -path ./dev -o -path ./proc \) -prune \
        -o -type f -exec sha256sum {} + -o ! -type f -print | sort)
}
q() {
    in_root "$root" runuser -u postgres -- psql -X -v ON_ERROR_STOP=1 -qAt "$@" 2>&1 || true
}
before=$(traces)
in_root "$root" pg_ctlcluster "$pg" main start -o '-c listen_addresses='
expect 'nothing of neardup before' '0' "$(q -c "SELECT count(*) FROM pg_catalog.pg_available_extensions WHERE name = 'neardup'")"

cp "$deb" "$root/"
step "apt install ./${deb##*/}" in_root "$root" apt-get install -q -y "./${deb##*/}"
rm "$root/${deb##*/}"
expect 'it is as packed' '' "$(in_root "$root" dpkg --verify "postgresql-$pg-neardup")"
expect 'the first question' '1|2|0.8333333333333334' "$(q <<'SQL'
CREATE EXTENSION neardup;
CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs VALUES (1, 'one two three four five'), (2, 'one two three four five six'), (3, 'quite another text');
SELECT * FROM near_duplicates('docs', 0.8);
SQL
)"
# A role that is no superuser creates it as well: it is trusted.
expect 'a trusted extension' '1' "$(q <<'SQL'
CREATE ROLE plain LOGIN;
CREATE DATABASE plain OWNER plain;
\c plain
SET ROLE plain;
CREATE EXTENSION neardup SCHEMA public;
SELECT jaccard('same', 'same');
SQL
)"

step "apt purge postgresql-$pg-neardup" in_root "$root" apt-get purge -q -y "postgresql-$pg-neardup"
expect 'no trace' '' "$(diff <(echo "$before") <(traces))"
expect 'what is left of it in a database says so' \
    "ERROR:  could not access file \"\$libdir/neardup\": No such file or directory" "$(q -c "SELECT near_duplicates('docs', 0.8)")"
expect 'the rest of the database is there' '3' "$(q -c 'DROP EXTENSION neardup; SELECT count(*) FROM docs')"
in_root "$root" pg_ctlcluster "$pg" main stop
expect 'nothing crashed' '' "$(grep -hE 'PANIC|was terminated by signal' "$root"/var/log/postgresql/* || true)"

((failures == 0)) || exit 1
echo "${deb##*/}: installed, used and removed in a clean root of $debian"
