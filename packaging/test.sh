#!/usr/bin/env bash
# The packages: what is handed out is tried where there is nothing else. The last line counts.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

source scripts/packages.sh

passed=0 failed=0 skipped=0
# The Debian package is made of the files in the zip for PGXN, in one place, so that all is compiled once for both.
if git rev-parse -q --verify HEAD >/dev/null && need_packages 'zip for PGXN' git unzip python3; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    unzip -q "$(packaging/pgxn.sh)" -d "$place"
    NEARDUP_UNPACKED=$(echo "$place"/neardup-*)
    CARGO_TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-target}")
    export NEARDUP_UNPACKED CARGO_TARGET_DIR
fi
scripts=("${NEARDUP_UNPACKED:-.}/packaging/deb_test.sh" packaging/pgxn_test.sh)
# The wheel is for a 16, whatever PostgreSQL is here.
if [[ $(pg_feature) == pg16 ]]; then scripts+=(packaging/wheel_test.sh); fi
for script in "${scripts[@]}"; do
    status=0
    step "packaging/${script##*/} (a release build, 2 to 4 min the first time)" "$script" || status=$?
    case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
    esac
done
echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
((failed == 0))
