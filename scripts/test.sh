#!/usr/bin/env bash
# Every check and test, from the form of the source to servers under attack. The last line counts: "N passed, 0 failed".
# Corpora, if there are any, are found through NEARDUP_DATA.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

passed=0 failed=() skipped=0

# run "name, roughly how long" command…
run() {
    local status=0
    step "$@" || status=$?
    case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed+=("${1%% (*}") ;;
    esac
}

scripts/setup.sh
run 'cargo fmt --check' cargo fmt --check
run 'names in our SQL have their schemas' scripts/qualified.sh
run 'clippy of the core (1 min)' cargo clippy --no-default-features --all-targets -- -D warnings
run 'clippy of the extension (2 min)' cargo clippy --no-default-features --features pg15,pg_test --lib -- -D warnings
run 'tests of the core (1 min)' cargo test --release --no-default-features
run 'tests inside the server (4 to 8 min the first time)' scripts/pgrx_test.sh
# Without an installed extension there is nothing left to try.
before=${#failed[@]}
run 'build and install (2 to 4 min the first time)' scripts/install.sh
if [[ ${#failed[@]} -eq $before ]]; then
    run 'pg_regress' scripts/regress.sh
    for script in pg_test/cluster/*.sh; do
        run "$script" "$script"
    done
fi

if ((${#failed[@]})); then printf 'failed: %s\n' "${failed[@]}"; fi
echo "$passed passed, ${#failed[@]} failed$( ((skipped == 0)) || echo ", $skipped skipped")"
[[ ${#failed[@]} -eq 0 ]]
