#!/usr/bin/env bash
# The #[pg_test] functions, inside a server of their own. Leaves a test build installed: install again afterwards.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

out=$(private_dir)
trap 'rm -rf "$out"' EXIT
# pg_ is how the names of these functions begin; the other tests need no server. Through --runas pgrx uses sudo: to run
# the server as that user, and to install where only root may write.
cargo pgrx test pg15 pg_ --no-default-features --features pg15 --runas "$server_user" --pgdata "$out/data"
