#!/usr/bin/env bash
# Finds the near duplicates among texts that every Debian machine has, its packages' licences, or among the text files
# below the folder DOCS. The server stays for questions of your own, until `scripts/demo.sh stop` or the next demo.
set -euo pipefail
cd "$(dirname "$0")/.."
docs=(/usr/share/doc/*/copyright /usr/share/common-licenses)
if [[ -n ${DOCS:-} ]]; then docs=("$DOCS"); fi
place=${TMPDIR:-/tmp}/neardup-demo

if [[ ${1:-start} == start ]]; then
    scripts/setup.sh
    source scripts/common.sh
    step 'build neardup (2 to 4 min the first time)' scripts/build.sh
    scripts/install.sh
fi
source scripts/server.sh

# Only a server that a demo left there is removed.
if [[ -e $place ]]; then
    if [[ ! -f $place/data/PG_VERSION || $(stat -c %U "$place") != "$server_user" ]]; then
        echo "demo: $place exists and is not an earlier demo's; remove it, or set TMPDIR" >&2
        exit 1
    fi
    server_stop "$place"
fi
if [[ ${1:-start} == stop ]]; then
    echo "no demo server is left in $place"
    exit
fi

mkdir -m 700 "$place"
if [[ $EUID -eq 0 ]]; then chown "$server_user" "$place"; fi
server_in "$place"

q -c 'CREATE EXTENSION neardup' \
    -c 'CREATE TABLE docs(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, path text, body text)'
load() {
    scripts/text_rows.sh "${docs[@]}" | q -c '\copy docs(path, body) from pstdin'
    q -c 'ANALYZE docs'
}
step "load the text files of ${DOCS:-/usr/share/doc/*/copyright and /usr/share/common-licenses}" load

folders='^/usr/share/(doc/)?|/copyright$'
if [[ -n ${DOCS:-} ]]; then folders="^$(realpath "$DOCS" | sed 's/[][\\.*^$+?(){}|]/\\&/g')/"; fi
psql -X -q -v ON_ERROR_STOP=1 -v folders="$folders" -f scripts/demo.sql

cat <<END
The server goes on. To ask it yourself, and to stop it:
    $bindir/psql -h $place -U postgres
    scripts/demo.sh stop
END
