#!/usr/bin/env bash
# What an install copies and an uninstall removes; what a build says where something is missing; what the library shows to
# the server; and the extension that ours stands on.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start
profile=$([[ -e ${CARGO_TARGET_DIR:-$project/target}/quick/$(pg_feature)/neardup.so ]] && echo quick || echo release)
library=$("$PG_CONFIG" --pkglibdir) extension=$("$PG_CONFIG" --sharedir)/extension
version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' "$project/Cargo.toml")
there=$server/there

# With nothing in the environment but a path without cargo, as below sudo.
bare() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/nowhere CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$project/target}" PG_CONFIG="$PG_CONFIG" "$@"
}
bare DESTDIR="$there" "$project/scripts/install.sh" "$profile" >/dev/null
expect 'the library, the control file and each script are installed, and nothing else' "$(printf '%s\n' "$library/neardup.so" "$extension/neardup.control" "$extension/neardup--$version.sql" | sort)" "$(cd "$there" && find . -type f -printf '/%P\n' | sort)"
bare DESTDIR="$there" "$project/scripts/uninstall.sh" >/dev/null
expect 'nothing of it stays' '' "$(find "$there" -type f)"
expect 'an install of what was never built says how' \
    "install: nothing is built for $("$PG_CONFIG" --version) in $there/release/$(pg_feature); first, without root: make PG_CONFIG=$PG_CONFIG" \
    "$(bare CARGO_TARGET_DIR="$there" "$project/scripts/install.sh" 2>&1 || true)"

# said WORDS PROGRAM SCRIPT [VARIABLE=VALUE]: a build with a program that is this script says so first.
said() {
    mkdir -p "$server/fake"
    rm -f "$server/fake"/*
    printf '#!/bin/sh\n%s\n' "$3" >"$server/fake/$2"
    chmod +x "$server/fake/$2"
    local seen
    seen=$(env PATH="$server/fake:$PATH" "${@:4}" "$project/scripts/build.sh" 2>&1 || true)
    expect "$1" "$1" "$(head -n 1 <<<"$seen")"
}
said "build: needs Rust $(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$project/Cargo.toml") or newer, found: 1.63.0" rustc 'echo rustc 1.63.0'
said "build: no pg_config at /nowhere/pg_config" true : PG= PG_CONFIG=/nowhere/pg_config
said "build: no server headers of $("$PG_CONFIG" --version) in /nowhere" pg_config \
    "if [ \"\$1\" = --includedir-server ]; then echo /nowhere; else exec '$PG_CONFIG' \"\$@\"; fi" PG= PG_CONFIG="$server/fake/pg_config"

# Those of tests are called ..._wrapper.
expect 'the server finds its functions and nothing else in the library' '' \
    "$(nm -D --defined-only "$library/neardup.so" | cut -d' ' -f3 | grep -vE '^(pg_finfo_)?(neardup_|pg_)|^Pg_magic_func$|^_PG_init$|_wrapper$' || true)"
expect 'debug symbols are beside the library, not in it' '' "$(objdump -h "$library/neardup.so" | grep -oE '\.(debug_|symtab)[a-z]*' || true)"

q -c 'CREATE ROLE plain' -c 'CREATE DATABASE plain OWNER plain'
q -d plain -c 'DROP EXTENSION plpgsql'
expect_error 'a database without PL/pgSQL' 42704 'Use CREATE EXTENSION ... CASCADE' 'SET ROLE plain; CREATE EXTENSION neardup' -d plain
expect_sql 'a role that is no superuser creates both' '1' 'SET client_min_messages = warning; SET ROLE plain; CREATE SCHEMA own;
    CREATE EXTENSION neardup SCHEMA own CASCADE; SELECT own.jaccard('"'a', 'a'"')' -d plain
# Settings of the caller change how SQL is read and how names are written: the objects are the same under all of them.
shape="SELECT md5(string_agg(d, E'\n' ORDER BY d)) FROM (SELECT pg_describe_object(classid, objid, objsubid) || COALESCE(CASE WHEN classid = 'pg_class'::regclass THEN pg_get_viewdef(objid) END, '')
    FROM pg_depend WHERE refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'neardup')) d(d)"
for setting in work_mem=4MB quote_all_identifiers=on standard_conforming_strings=off escape_string_warning=on; do
    q -c "CREATE DATABASE set"
    PGOPTIONS="-c client_min_messages=error -c $setting" psql -XqAt -d set -c 'CREATE EXTENSION neardup' >"$server/created" 2>&1 || true
    made=$(psql -XqAt -d set -c "$shape")
    expect "CREATE EXTENSION with $setting" "${usual:=$made}" "$made$(<"$server/created")"
    q -c 'DROP DATABASE set'
done
expect_error 'PL/pgSQL stays as long as it' 2BP01 'extension neardup depends on extension plpgsql' 'DROP EXTENSION plpgsql' -d plain
finish
