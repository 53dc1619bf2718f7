#!/usr/bin/env bash
# deb.sh: makes the Debian package of neardup for the PostgreSQL of PG_CONFIG, and that of its debug symbols, in
# target/packages, and prints their paths. debhelper strips, finds the dependencies and follows the rest of Debian's policy.
#
# The files go where Debian's PostgreSQL has them, whichever PostgreSQL of that major version lent its headers. Who packs
# is DEBFULLNAME and DEBEMAIL, as for all tools of Debian.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
source "$project/scripts/packages.sh"
need_packages 'Debian package' dpkg-dev debhelper fakeroot python3 >&2
"$project/scripts/build.sh" >&2
cd "$project"

pg=$(pg_feature) pg=${pg#pg}
name=postgresql-$pg-neardup
target=$(realpath "${CARGO_TARGET_DIR:-target}")
packages=$target/packages
made=$packages/debian-$pg/neardup
rm -rf "$packages/debian-$pg"
mkdir -p "$made/debian"

cp "$target/release/pg$pg"/neardup.control "$target/release/pg$pg"/neardup--*.sql README.md "$made"
# dh_strip takes the debug symbols out of this one.
install -m 644 "$target/release/libneardup.so" "$made/neardup.so"
packaging/crates.sh >"$made/crates"
cp CHANGELOG.md "$made/changelog"

version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' Cargo.toml)
maintainer="${DEBFULLNAME:-neardup developers} <${DEBEMAIL:-$(id -un)@$(hostname -f)}>"
for file in control rules copyright; do
    sed "s/@PG@/$pg/g; s/@MAINTAINER@/$maintainer/" "packaging/debian/$file" >"$made/debian/$file"
done
for file in install docs lintian-overrides; do
    sed "s/@PG@/$pg/g" "packaging/debian/$file" >"$made/debian/$name.$file"
done
chmod +x "$made/debian/rules"
# The same package from the same commit: the times in it are this one.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md)}
cat >"$made/debian/changelog" <<END
neardup ($version-1) unstable; urgency=medium

  * neardup $version: what is new in it is said in changelog.gz beside this file.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
(cd "$made" && dpkg-buildpackage --build=binary --no-sign >&2)
rm -f "$packages/$name"_* "$packages/$name-dbgsym"_*
mv "$packages/debian-$pg/$name"*.deb "$packages"
ls "$packages/$name"*.deb
