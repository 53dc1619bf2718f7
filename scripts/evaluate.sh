#!/usr/bin/env bash
# Makes the tables and plots of docs/evaluation/ from the corpora in the folder NEARDUP_DATA: each
# evaluation is a program evaluate_NAME of the package in evaluation, whose output goes between the marks <!-- NAME --> and <!-- /NAME --> of one of
# these pages, and whose plots go beside it. Without names, all that the pages have marks for.
#
#   scripts/evaluate.sh [NAME…]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

pages=(docs/evaluation/*.md)
data=${NEARDUP_DATA:-}
if [[ ! -d $data ]]; then
    echo "evaluate.sh: no corpora at $data; NEARDUP_DATA names their folder" >&2
    exit 1
fi
if [[ $# -eq 0 ]]; then
    mapfile -t names < <(sed -n 's/^<!-- \([a-z_]*\) -->$/\1/p' "${pages[@]}")
    set -- "${names[@]}"
fi
build=(cargo build --quiet --release --package neardup-evaluation)
for name in "$@"; do
    if ! grep -qx "<!-- $name -->" "${pages[@]}"; then
        echo "evaluate.sh: no marks for $name" >&2
        exit 1
    fi
    build+=(--bin "evaluate_$name")
done
section=$(mktemp)
trap 'rm -f "$section"' EXIT

# one NAME PAGE: what the program says goes into the page.
one() {
    "${CARGO_TARGET_DIR:-target}/release/evaluate_$1" "$data" "$(dirname "$2")" >"$section"
    awk -v name="$1" -v file="$section" '
        $0 == "<!-- " name " -->" { print; print ""; while ((getline line < file) > 0) print line; skip = 1 }
        $0 == "<!-- /" name " -->" { skip = 0 }
        !skip { print }' "$2" >"$section.page"
    mv "$section.page" "$2"
}

step 'compiling (some minutes the first time)' "${build[@]}" >&2
began=$SECONDS number=0
for name in "$@"; do
    number=$((number + 1))
    page=$(grep -lx "<!-- $name -->" "${pages[@]}")
    step "$number of $#: $name, for $page" one "$name" "$page" >&2
done
echo "== $# of $#, $((SECONDS - began)) s" >&2
