#!/usr/bin/env bash
# test_full.sh [PART… | all]: all parts, one after the other, where none is named; a runner may take each on a machine of its own.
# The last line counts the tests of all, the one before it the checks in tests of servers.
#
# test       make test with all cases, on the oldest PostgreSQL
# rest       what needs no server
# full       what make test leaves out in servers
# newest     what a version can change, on the newest PostgreSQL; that it compiles for those between
# packages   what is handed out, where there is nothing else
#
# all: everything on each version, by a new seed.
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

# tier VERSION TIER: of scripts/test.sh.
tier() { part "PostgreSQL $1, $2" env PG="$1" scripts/test.sh "$2"; }

if [[ ${1:-} == all ]]; then
    for version in 15 16 17 18; do
        for tier in test rest full; do tier "$version" "$tier"; done
    done
    set -- packages
elif (($# == 0)); then
    set -- test rest full newest packages
fi
for name in "$@"; do
    case $name in
        test | rest | full) tier 15 "$name" ;;
        newest)
            tier 18 servers
            for version in 16 17; do tier "$version" compiles; done
            ;;
        packages) part 'packages for PostgreSQL 15' env PG=15 packaging/test.sh ;;
        *)
            sed -n '2,11p' "$0" >&2
            exit 2
            ;;
    esac
done

if [[ -e $NEARDUP_FAILED/failed ]]; then cat "$NEARDUP_FAILED/failed"; fi
if ((${#broken[@]})); then printf 'failed: %s\n' "${broken[@]}"; fi
echo "$checks checks in tests of servers"
echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
[[ $failed -eq 0 && ${#broken[@]} -eq 0 ]]
