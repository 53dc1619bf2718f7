#!/usr/bin/env bash
# install.sh [PROFILE [ARGUMENTS OF cargo build]]: builds the extension and installs it into the PostgreSQL of PG_CONFIG,
# with DESTDIR into the same folders below that. All of its SQL is written by hand: the library, the control
# file and the scripts are all there is to copy.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"
profile=${1:-release}
if (($# < 2)); then set -- "$profile" --no-default-features --features pg15; fi

cargo build --lib --profile "$profile" "${@:2}"

version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' Cargo.toml)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
sed "s/@CARGO_VERSION@/$version/" neardup.control >"$made/neardup.control"
# In the order of the declarations, which is that of what uses what.
grep -rhoP '^extension_sql_file!\("(\.\./)*\K[^"]+' src | xargs cat >"$made/neardup--$version.sql"
# What leads there from every version before: docs/operations/upgrading.md.
cp sql/upgrades/neardup--*--*.sql "$made"

libraries=${DESTDIR:-}$("$PG_CONFIG" --pkglibdir)
extensions=${DESTDIR:-}$("$PG_CONFIG" --sharedir)/extension
# The nearest folder that is there says whether this user may write.
place=$libraries
until [[ -d $place ]]; do place=$(dirname "$place"); done
as=()
if [[ ! -w $place ]]; then as=(sudo); fi
"${as[@]}" mkdir -p "$libraries" "$extensions"
# install makes new files: a server that has the old library loaded keeps it.
"${as[@]}" install -m 755 "${CARGO_TARGET_DIR:-target}/$profile/libneardup.so" "$libraries/neardup.so"
"${as[@]}" install -m 644 "$made"/neardup* "$extensions"
