#!/usr/bin/env bash
# The packages: what is handed out is tried where there is nothing else. The last line counts.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

passed=0 failed=0 skipped=0
scripts=(packaging/deb_test.sh packaging/pgxn_test.sh)
# The wheel is for a 16, whatever PostgreSQL is here.
if [[ $(pg_feature) == pg16 ]]; then scripts+=(packaging/wheel_test.sh); fi
for script in "${scripts[@]}"; do
    status=0
    step "$script (a release build, 2 to 4 min the first time)" "$script" || status=$?
    case $status in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *) failed=$((failed + 1)) ;;
    esac
done
echo "$passed passed, $failed failed$( ((skipped == 0)) || echo ", $skipped skipped")"
((failed == 0))
