#!/usr/bin/env bash
# Makes the tables and plots of docs/evaluation.md and docs/evaluation/ from the corpora in the folder NEARDUP_DATA: each
# evaluation is an example program evaluate_NAME, whose output goes between the marks <!-- NAME --> and <!-- /NAME --> of one of
# these pages, and whose plots go beside it. Without names, all that the pages have marks for.
#
#   scripts/evaluate.sh [NAME…]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

pages=(docs/evaluation.md docs/evaluation/*.md)
data=${NEARDUP_DATA:-}
if [[ ! -d $data ]]; then
    echo "evaluate.sh: no corpora at $data; NEARDUP_DATA names their folder" >&2
    exit 1
fi
if [[ $# -eq 0 ]]; then
    mapfile -t names < <(sed -n 's/^<!-- \([a-z_]*\) -->$/\1/p' "${pages[@]}")
    set -- "${names[@]}"
fi
section=$(mktemp)
trap 'rm -f "$section"' EXIT
for name in "$@"; do
    if ! page=$(grep -lx "<!-- $name -->" "${pages[@]}"); then
        echo "evaluate.sh: no marks for $name" >&2
        exit 1
    fi
    echo "== $name, for $page" >&2
    cargo run --quiet --release --no-default-features --example "evaluate_$name" -- "$data" "$(dirname "$page")" >"$section"
    awk -v name="$name" -v file="$section" '
        $0 == "<!-- " name " -->" { print; print ""; while ((getline line < file) > 0) print line; skip = 1 }
        $0 == "<!-- /" name " -->" { skip = 0 }
        !skip { print }' "$page" >"$section.page"
    mv "$section.page" "$page"
done
