#!/usr/bin/env bash
# Builds and installs from the zip for PGXN as its client does, by make and make install, below a folder. What is there
# then has to be the library, the control file and every script.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
source "$project/scripts/packages.sh"
cd "$project"
git rev-parse -q --verify HEAD >/dev/null || {
    echo 'skipped: no history here to make a zip of'
    exit 77
}
need_packages 'zip for PGXN' git unzip python3 || {
    echo 'skipped: no tools to make a zip with'
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zip=$(packaging/pgxn.sh)
unzip -q "$zip" -d "$work"
unpacked=$work/$(basename "$zip" .zip)

# What is tried is what the zip holds, not how fast it is.
mkdir "$work/.cargo"
for name in neardup neardup-core; do printf '[profile.release.package.%s]\nopt-level = 0\n' "$name"; done >"$work/.cargo/config.toml"
# What it stands on is compiled already where this is not the first build.
CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR
make -C "$unpacked" PG_CONFIG="$PG_CONFIG"
make -C "$unpacked" install PG_CONFIG="$PG_CONFIG" DESTDIR="$work/there"
version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' Cargo.toml)
expected=$({
    echo neardup.control
    echo "neardup--$version.sql"
    echo neardup.so
} | sort)
diff <(echo "$expected") <(find "$work/there" -type f -printf '%f\n' | sort)
make -C "$unpacked" uninstall PG_CONFIG="$PG_CONFIG" DESTDIR="$work/there"
diff /dev/null <(find "$work/there" -type f)
echo "$(basename "$zip"): built, installed and removed"
