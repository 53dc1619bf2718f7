#!/usr/bin/env bash
# uninstall.sh: removes what install.sh copies, of every version, from the PostgreSQL of PG_CONFIG, or from below DESTDIR.
# Databases that still have the extension keep its data; its functions fail until it is there again.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/tools.sh"

libraries=${DESTDIR:-}$("$PG_CONFIG" --pkglibdir)
extensions=${DESTDIR:-}$("$PG_CONFIG" --sharedir)/extension
writing_to "$libraries" rm -f "$libraries/neardup.so"
shopt -s nullglob
writing_to "$extensions" rm -f "$extensions"/neardup.control "$extensions"/neardup--*.sql
echo "removed neardup from $libraries and $extensions"
