#!/usr/bin/env bash
# test_all.sh [brief]: test.sh on each version of PostgreSQL that is supported, then the packages; brief: whole on the oldest
# version, and on the others what a version of the server can change. The last line counts the tests of all.
set -euo pipefail
cd "$(dirname "$0")/.."

said=$(mktemp)
# The ends of what failed, to be shown once more after all.
NEARDUP_FAILED=$(mktemp -d)
export NEARDUP_FAILED
trap 'rm -rf "$said" "$NEARDUP_FAILED"' EXIT
passed=0 failed=0 skipped=0 broken=()

# part NAME command…: of which the last line counts.
part() {
    local name=$1 began=$SECONDS status=0
    shift
    echo "==== $name"
    "$@" 2>&1 | tee "$said" || status=$?
    if [[ $(tail -n 1 "$said") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
        passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2])) skipped=$((skipped + ${BASH_REMATCH[4]:-0}))
    else
        failed=$((failed + 1))
    fi
    if ((status)); then broken+=("$name"); fi
    echo "==== $name: $(((SECONDS - began) / 60)) min"
}

for version in 15 16 17 18; do
    how=()
    if [[ ${1:-} == brief && $version != 15 ]]; then how=(brief); fi
    part "PostgreSQL $version${how[*]:+, brief}" env PG="$version" scripts/test.sh "${how[@]}"
done
part 'packages for PostgreSQL 15' env PG=15 packaging/test.sh

if [[ -e $NEARDUP_FAILED/failed ]]; then cat "$NEARDUP_FAILED/failed"; fi
if ((${#broken[@]})); then printf 'failed: %s\n' "${broken[@]}"; fi
echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
[[ $failed -eq 0 && ${#broken[@]} -eq 0 ]]
