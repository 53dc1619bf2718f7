# To be sourced, by every script: where the project is, which PostgreSQL is meant, as whom its programs run.
# shellcheck shell=bash

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# PG=16 means a PostgreSQL 16 that scripts/postgres.sh finds or fetches; a PG_CONFIG of that version goes before it.
if [[ -n ${PG:-} ]] && ! "${PG_CONFIG:-false}" --version 2>/dev/null | grep -q "^PostgreSQL ${PG}[^0-9]"; then
    PG_CONFIG=$("$project/scripts/postgres.sh" "$PG")
    unset PGRX_PG_CONFIG_PATH
fi
export PG_CONFIG=${PG_CONFIG:-/usr/lib/postgresql/15/bin/pg_config}
# Which PostgreSQL pgrx is compiled for.
export PGRX_PG_CONFIG_PATH=${PGRX_PG_CONFIG_PATH:-$PG_CONFIG}
# rustup puts cargo here; a shell that is no login shell may not have it in its path.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin
# Corpora with known answers, for tests, benchmarks and evaluations: no part of the project, but perhaps beside it.
if [[ -z ${NEARDUP_DATA:-} && -d $project/../shared/data ]]; then export NEARDUP_DATA=$project/../shared/data; fi

# Prints the feature of Cargo.toml for the PostgreSQL of PG_CONFIG: pg15, pg16, …
pg_feature() {
    local version feature
    version=$("$PG_CONFIG" --version)
    feature=pg$(grep -oE '[0-9]+' <<<"$version" | head -n 1)
    if ! grep -q "^$feature = " "$project/Cargo.toml"; then
        echo "$PG_CONFIG is of $version; neardup has no build for it" >&2
        return 1
    fi
    echo "$feature"
}

# PostgreSQL refuses to run as root.
if [[ $EUID -eq 0 ]]; then server_user=postgres; else server_user=$(id -un); fi

# Runs a program of the server, as its user; in / because that user may not be allowed to enter the current folder.
as_server() {
    if [[ $EUID -eq 0 ]]; then (cd / && runuser -u "$server_user" -- "$@"); else "$@"; fi
}

# Prints a new directory of the server's user. Short, because the socket's path may have 107 bytes only, and not
# below a TMPDIR which that user cannot enter.
private_dir() {
    local parent dir
    for parent in "${TMPDIR:-/tmp}" /tmp; do
        dir=$(TMPDIR=$parent mktemp -d)
        if [[ $EUID -eq 0 ]]; then chown "$server_user" "$dir"; fi
        if [[ ${#dir} -le 80 ]] && as_server test -w "$dir"; then
            echo "$dir"
            return
        fi
        rmdir "$dir"
    done
    echo "no directory for a server below ${TMPDIR:-/tmp} or /tmp" >&2
    return 1
}

# makes_environments PYTHON: whether it is 3.11 or newer, and makes virtual environments.
makes_environments() { "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# step "what, roughly how long" command…: a line before, the seconds after; the status is the command's.
step() {
    local what=$1 began=$SECONDS status=0
    shift
    echo "== $what"
    "$@" || status=$?
    echo "   $((SECONDS - began)) s"
    return "$status"
}
