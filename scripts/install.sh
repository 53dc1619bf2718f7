#!/usr/bin/env bash
# install.sh [PROFILE]: copies what build.sh made into the PostgreSQL of PG_CONFIG, with DESTDIR into the same folders
# below that. Compiles nothing and needs no cargo, so that root can run it.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/tools.sh"
cd "$project"
if (($# > 1)); then
    echo "install: copies only; first run scripts/build.sh $*" >&2
    exit 2
fi
built=${CARGO_TARGET_DIR:-target}/${1:-release}/$(pg_feature)
if [[ ! -e $built/neardup.so ]]; then
    echo "install: nothing is built for $("$PG_CONFIG" --version) in $built; first, without root: make PG_CONFIG=$PG_CONFIG" >&2
    exit 1
fi
newer=$(find src sql Cargo.toml Cargo.lock neardup.control -newer "$built/neardup.so" -type f -print -quit)
if [[ -n $newer ]]; then
    echo "install: $newer has changed since neardup was built; first, without root: make PG_CONFIG=$PG_CONFIG" >&2
    exit 1
fi

libraries=${DESTDIR:-}$("$PG_CONFIG" --pkglibdir)
extensions=${DESTDIR:-}$("$PG_CONFIG" --sharedir)/extension
writing_to "$libraries" mkdir -p "$libraries" "$extensions"
# install makes new files: a server that has the old library loaded keeps it.
writing_to "$libraries" install -m 755 "$built/neardup.so" "$libraries"
writing_to "$extensions" install -m 644 "$built"/neardup.control "$built"/neardup--*.sql "$extensions"
echo "installed neardup into $libraries and $extensions"
