#!/usr/bin/env bash
# The #[pg_test] functions of pg_test/in_server/*.rs, each called in a server in a transaction of its own. They are in the library
# that test.sh installs, by the feature pg_test, and in no script of the extension.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
server_start
export PGOPTIONS='-c client_min_messages=warning'

mapfile -t names < <(sed -n '/#\[pg_test\]/ { n; s/^ *fn \([a-z0-9_]*\)().*/\1/p }' "$project"/pg_test/in_server/*.rs)
expect 'every #[pg_test] is found' "$(cat "$project"/pg_test/in_server/*.rs | grep -c '#\[pg_test\]')" "${#names[@]}"
q -c 'CREATE EXTENSION neardup; CREATE SCHEMA tests'
for name in "${names[@]}"; do
    q -c "CREATE FUNCTION tests.$name() RETURNS void LANGUAGE c AS '\$libdir/neardup', '${name}_wrapper'"
    expect_sql "$name" '' "BEGIN; SELECT tests.$name(); ROLLBACK"
done
finish
