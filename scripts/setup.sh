#!/usr/bin/env bash
# Brings a Debian machine to where neardup can be built, installed and tested. Installs only what is missing; silent when nothing is.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/packages.sh"
source "$project/scripts/tools.sh"

packages=(build-essential pkg-config libclang-dev sudo ca-certificates)
# Another PostgreSQL, of PG or of PG_CONFIG, brings its own server and headers.
if [[ $PG_CONFIG == /usr/lib/postgresql/15/bin/pg_config ]]; then
    # pg_cron is for the tests of scheduled jobs.
    packages+=(postgresql-15 postgresql-server-dev-15 postgresql-15-cron)
fi
# For pg_test/cluster/full/report.sh, which is skipped without one: a few hundred megabytes, so only where it is asked for.
if [[ -n ${BROWSER:-} ]]; then packages+=(chromium); fi
need_packages setup "${packages[@]}"
need_server_headers
need_rust
for component in fmt clippy; do
    if ! cargo "$component" --version >/dev/null 2>&1; then
        step "rustup component $component (10 s)" rustup component add "${component/fmt/rustfmt}"
    fi
done
