#!/usr/bin/env bash
# Makes the tables and plots of evaluation/pages/ from the corpora in the folder NEARDUP_DATA: each
# evaluation is a program evaluate_NAME of the package in evaluation, whose output goes between the
# marks <!-- NAME --> and <!-- /NAME --> of one of these pages, with a line that says where it was made,
# and whose plots go beside it. Without names, all that the pages have marks for.
#
# Without corpora it says what to put where, and runs the same programs on made texts
# (evaluation/src/made_corpora.rs): their tables go to target/evaluation, and the pages stay as they are.
#
#   scripts/evaluate.sh [NAME…]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

pages=(evaluation/pages/*.md)
data=${NEARDUP_DATA:-}
programs=${CARGO_TARGET_DIR:-target}/release
if [[ $# -eq 0 ]]; then
    mapfile -t names < <(sed -n 's/^<!-- \([a-z_]*\) -->$/\1/p' "${pages[@]}")
    set -- "${names[@]}"
fi
build=(cargo build --quiet --release --package neardup-evaluation --bin make_corpora)
for name in "$@"; do
    if ! grep -qx "<!-- $name -->" "${pages[@]}"; then
        echo "evaluate.sh: no marks for $name" >&2
        exit 1
    fi
    build+=(--bin "evaluate_$name")
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# made_at: where and when tables are made; "and changes" where the sources are not those of a commit.
made_at() {
    local commit processor
    commit=$(git rev-parse --short=8 HEAD 2>/dev/null || echo 'of a release')
    if [[ -n $(git status --porcelain -- core evaluation/src benches/common 2>/dev/null) ]]; then commit+=' and changes'; fi
    processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
    echo "Made at commit $commit on $(date -u +%F), on $(nproc) processors (${processor:-unknown}) with $(rustc --version | cut -d' ' -f1,2)."
}

# one NAME PAGE: what the program says goes into the page; of made texts, into a file of its own.
one() {
    local folder
    if [[ $made == t ]]; then folder=target/evaluation; else folder=$(dirname "$2"); fi
    made_at >"$work/section"
    echo >>"$work/section"
    "$programs/evaluate_$1" "$data" "$folder" >>"$work/section"
    if [[ $made == t ]]; then
        mv "$work/section" "$folder/$1.md"
        return
    fi
    awk -v name="$1" -v file="$work/section" '
        $0 == "<!-- " name " -->" { print; print ""; while ((getline line < file) > 0) print line; skip = 1 }
        $0 == "<!-- /" name " -->" { skip = 0 }
        !skip { print }' "$2" >"$work/page"
    mv "$work/page" "$2"
}

step 'compiling (some minutes the first time)' "${build[@]}" >&2
made=f
if [[ ! -d $data ]]; then
    echo "== no corpora: NEARDUP_DATA is \"$data\", which is no folder. evaluation/pages/data.md says which corpora go there,"
    echo '   where they are from, and how to build them. This run is on made texts: its tables, in target/evaluation,'
    echo '   show that the programs work, and say nothing of texts that people wrote.'
    made=t data=$work/corpora
    mkdir -p target/evaluation
    "$programs/make_corpora" "$data"
fi >&2
began=$SECONDS number=0
for name in "$@"; do
    number=$((number + 1))
    page=$(grep -lx "<!-- $name -->" "${pages[@]}")
    step "$number of $#: $name, for $page" one "$name" "$page" >&2
done
echo "== $# of $#, $((SECONDS - began)) s" >&2
