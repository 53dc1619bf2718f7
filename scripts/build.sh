#!/usr/bin/env bash
# build.sh [PROFILE [ARGUMENTS OF cargo build]]: compiles the extension for the PostgreSQL of PG_CONFIG, and lays down in
# target/PROFILE/pgNN what install.sh copies. Needs no rights but to its own folder.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/tools.sh"
cd "$project"
profile=${1:-release}

need_server_headers
need_rust
need_rustfmt
need_compiler
feature=$(pg_feature)
compile=(cargo build --locked --package neardup --lib --no-default-features --features "$feature")
if (($# > 1)); then compile=(cargo build --lib "${@:2}"); fi
if ! "${compile[@]}" --profile "$profile"; then
    if libclang_is_missing; then
        missing 'no libclang, which reads the headers of PostgreSQL' 'make setup, or on Debian: apt-get install libclang-dev'
    fi
    exit 1
fi

target=${CARGO_TARGET_DIR:-target}/$profile
made=$target/$feature.part
rm -rf "$made"
mkdir "$made"
# Three quarters of the library are for debuggers: they find these beside it, or in the package -dbgsym.
objcopy --only-keep-debug "$target/libneardup.so" "$made/neardup.so.debug"
objcopy --strip-unneeded --add-gnu-debuglink="$made/neardup.so.debug" "$target/libneardup.so" "$made/neardup.so"
version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' Cargo.toml)
sed "s/@CARGO_VERSION@/$version/" neardup.control >"$made/neardup.control"
# In the order of the declarations, which is that of what uses what.
mapfile -t declarations < <(perl -0777 -ne 'print "$1\n" while m{^extension_sql_file!\(\s*"(?:\.\./)*([^"]+)"}gm' src/pg/mod.rs)
if [[ ${#declarations[@]} -ne $(find sql -name '*.sql' ! -path 'sql/upgrades/*' | wc -l) ]]; then
    echo 'src/pg/mod.rs does not name every file of sql' >&2
    exit 1
fi
cat "${declarations[@]}" >"$made/neardup--$version.sql"
# What leads there from every version before, when there is one: RELEASING.md.
find sql -path 'sql/upgrades/neardup--*--*.sql' -exec cp -t "$made" {} +
rm -rf "${target:?}/$feature"
mv "$made" "$target/$feature"
