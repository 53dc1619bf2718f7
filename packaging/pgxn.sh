#!/usr/bin/env bash
# pgxn.sh: makes the zip of this commit for PGXN in target/packages, and prints its path. The validator of PGXN, where it
# is installed (cargo install pgxn_meta), has to accept META.json.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
cd "$project"

version=$(sed -n '/^version = "\(.*\)"/ { s//\1/p; q }' Cargo.toml)
packages=${CARGO_TARGET_DIR:-target}/packages
mkdir -p "$packages"
zip=$(realpath "$packages")/neardup-$version.zip
rm -f "$zip"
git archive --format=zip --prefix="neardup-$version/" -o "$zip" HEAD
# What PGXN shows and what is installed have to be of one version, and what META.json names has to be there.
python3 - "$zip" "neardup-$version/" "$version" <<'END'
import json, sys, zipfile
zip, top, version = zipfile.ZipFile(sys.argv[1]), *sys.argv[2:]
meta = json.loads(zip.read(top + "META.json"))
provided = meta["provides"]["neardup"]
faults = [f"META.json is of version {seen}, Cargo.toml of {version}" for seen in (meta["version"], provided["version"]) if seen != version]
faults += [f"META.json names {provided[key]}, which is not there" for key in ("file", "docfile") if top + provided[key] not in zip.namelist()]
sys.exit("\n".join(faults) or None)
END
if command -v pgxn_meta >/dev/null; then
    pgxn_meta META.json >&2
else
    echo 'pgxn: META.json was not validated; the validator comes by: cargo install pgxn_meta' >&2
fi
echo "$zip"
