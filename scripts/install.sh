#!/usr/bin/env bash
# Builds the extension and installs it into the PostgreSQL of PG_CONFIG.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

sudo=()
if [[ ! -w $("$PG_CONFIG" --pkglibdir) ]]; then sudo=(--sudo); fi
cargo pgrx install --release --pg-config "$PG_CONFIG" "${sudo[@]}" --no-default-features --features pg15
