#!/usr/bin/env bash
# Brings a Debian machine to where neardup can be built, installed and tested. Installs only what is missing; silent when nothing is.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/packages.sh"

rust_version=1.95

packages=(build-essential pkg-config libclang-dev sudo ca-certificates)
# Another PostgreSQL, of PG or of PG_CONFIG, brings its own server and headers.
if [[ $PG_CONFIG == /usr/lib/postgresql/15/bin/pg_config ]]; then
    # pg_cron is for the tests of scheduled jobs.
    packages+=(postgresql-15 postgresql-server-dev-15 postgresql-15-cron)
fi
need_packages setup "${packages[@]}"
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
