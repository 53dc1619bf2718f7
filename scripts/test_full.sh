#!/usr/bin/env bash
# test_full.sh [all]: everything on the oldest PostgreSQL, that it compiles for the others, and the packages; all: everything on
# each version. The last line counts the tests of all, the one
# before it the checks in tests of servers.
set -euo pipefail
cd "$(dirname "$0")/.."

said=$(mktemp)
# The ends of what failed, to be shown once more after all.
NEARDUP_FAILED=$(mktemp -d)
# All cases of property tests.
export NEARDUP_FAILED PROPTEST_CASES=256
if [[ ${1:-} == all ]]; then
    export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-$SRANDOM}
    echo "PROPTEST_RNG_SEED=$PROPTEST_RNG_SEED"
fi
trap 'rm -rf "$said" "$NEARDUP_FAILED"' EXIT
passed=0 failed=0 skipped=0 checks=0 broken=()

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
    checks=$((checks + $(awk '/^[0-9]+ checks, / { sum += $1 } END { print sum + 0 }' "$said")))
    if ((status)); then broken+=("$name"); fi
    echo "==== $name: $(((SECONDS - began) / 60)) min"
}

for version in 15 16 17 18; do
    case ${1:-} in all) tiers=(test rest) ;; *)
        case $version in
            15) tiers=(test rest) ;;
            *) tiers=(compiles) ;;
        esac ;;
    esac
    for tier in "${tiers[@]}"; do
        part "PostgreSQL $version, $tier" env PG="$version" scripts/test.sh "$tier"
    done
done
part 'packages for PostgreSQL 15' env PG=15 packaging/test.sh

if [[ -e $NEARDUP_FAILED/failed ]]; then cat "$NEARDUP_FAILED/failed"; fi
if ((${#broken[@]})); then printf 'failed: %s\n' "${broken[@]}"; fi
echo "$checks checks in tests of servers"
echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
[[ $failed -eq 0 && ${#broken[@]} -eq 0 ]]
