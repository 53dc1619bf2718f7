#!/usr/bin/env bash
# crates.sh: the Rust crates that are linked into the library, with the texts of their licences: they ask that
# these go wherever the library goes. That of Apache is on every Debian, and nowhere the only choice.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
cd "$project"

echo 'Crates of Rust that are linked into the library of neardup, each with the texts of its licence.'
cargo metadata --locked --format-version 1 --no-default-features --features "$(pg_feature)" | python3 -c '
import json, pathlib, sys
meta = json.load(sys.stdin)
nodes = {node["id"]: node for node in meta["resolve"]["nodes"]}
packages = {package["id"]: package for package in meta["packages"]}
top = meta["resolve"]["root"]
linked, ahead = set(), [top]
while ahead:
    one = ahead.pop()
    # What runs while compiling is not in the library.
    if one in linked or any("proc-macro" in target["kind"] for target in packages[one]["targets"]):
        continue
    linked.add(one)
    ahead += [dep["pkg"] for dep in nodes[one]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
# What has no source is of this project.
for package in sorted((packages[one] for one in linked if packages[one]["source"]), key=lambda package: (package["name"], package["version"])):
    folder = pathlib.Path(package["manifest_path"]).parent
    names = (name for name in folder.iterdir() if name.is_file() and name.name.upper().startswith(("LICEN", "COPYING", "COPYRIGHT")))
    authors = ", ".join(package["authors"]) or "the authors of " + package["name"]
    print("\n" + "=" * 72, "{name} {version}, {license}, by ".format(**package) + authors, sep="\n")
    for name in sorted(names):
        if "APACHE" not in name.name.upper():
            print("-" * 72, name.read_text(errors="replace").strip(), sep="\n")
'
