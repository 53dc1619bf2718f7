#!/usr/bin/env bash
# bench_results.sh [FILE]: puts the tables of the last run of bench.sh between the markers of benches/README.md.
set -euo pipefail
source "$(dirname "$0")/common.sh"
tables=${1:-${CARGO_TARGET_DIR:-$project/target}/bench.md}
page=$project/benches/README.md

if [[ ! -s $tables ]]; then
    echo "bench_results: no tables in $tables; scripts/bench.sh makes them" >&2
    exit 1
fi
for marker in '<!-- results -->' '<!-- /results -->'; do
    if [[ $(grep -cxF -- "$marker" "$page") -ne 1 ]]; then
        echo "bench_results: $page has not exactly one line $marker" >&2
        exit 1
    fi
done
new=$(mktemp)
trap 'rm -f "$new"' EXIT
{
    sed '/^<!-- results -->$/q' "$page"
    # Neither empty lines at the end nor two in a row.
    cat -s "$tables" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
    sed -n '/^<!-- \/results -->$/,$p' "$page"
} >"$new"
cat "$new" >"$page"
