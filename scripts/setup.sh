#!/usr/bin/env bash
# Brings a Debian machine to where neardup can be built, installed and tested. Installs only what is missing; silent when nothing is.
set -euo pipefail
source "$(dirname "$0")/common.sh"

rust_version=1.95

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "setup: as root, or with sudo, please run: $*" >&2
        return 1
    fi
}

install_packages() {
    as_root apt-get update -q
    # The packages would create and start a cluster on port 5432; nobody here needs it.
    if [[ ! -e /etc/postgresql-common ]]; then
        as_root mkdir /etc/postgresql-common
        echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    # --force-confold: dpkg must keep that file without asking.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        -o Dpkg::Options::=--force-confold "$@"
}

installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

packages=(build-essential pkg-config libclang-dev sudo ca-certificates)
# Another PostgreSQL of which PG_CONFIG was given brings its own server and headers.
if [[ $PG_CONFIG == /usr/lib/postgresql/15/bin/pg_config ]]; then
    # pg_cron is for the tests of scheduled jobs.
    packages+=(postgresql-15 postgresql-server-dev-15 postgresql-15-cron)
fi
missing=()
if command -v dpkg-query >/dev/null; then
    for package in "${packages[@]}"; do
        installed "$package" || missing+=("$package")
    done
fi
if ((${#missing[@]})); then
    step "Debian packages ${missing[*]} (1 to 3 min)" install_packages "${missing[@]}"
fi
if [[ ! -x $PG_CONFIG ]]; then
    echo "setup: no pg_config at $PG_CONFIG; set PG_CONFIG to that of a PostgreSQL with server headers" >&2
    exit 1
fi

found=$(rustc --version 2>/dev/null | cut -d' ' -f2 || true)
if ! command -v cargo >/dev/null || [[ $(printf '%s\n' "$rust_version" "${found:-0}" | sort -V | head -n 1) != "$rust_version" ]]; then
    echo "setup: needs Rust $rust_version or newer, found: ${found:-none}; install it with rustup (or: rustup update stable)" >&2
    exit 1
fi
for component in fmt clippy; do
    if ! cargo "$component" --version >/dev/null 2>&1; then
        step "rustup component $component (10 s)" rustup component add "${component/fmt/rustfmt}"
    fi
done
