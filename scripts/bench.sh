#!/usr/bin/env bash
# The benchmarks of the core, which need no server.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"
cargo bench --no-default-features "$@"
