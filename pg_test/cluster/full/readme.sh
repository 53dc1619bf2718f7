#!/usr/bin/env bash
# Does what README.md and the pages of the manual say. Each page has a database of its own, in which all its ```sql blocks
# run in order, in one session, from nothing. Where a block without a language or of ```text follows one directly, that
# must be what psql prints (without NOTICEs and command tags). Of an output that begins with ERROR only that and the DETAIL
# and HINT lines count, and only such a block may fail.
# readme.sh N/OF: every OF-th page, from the Nth.
#
# Shards: 4
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
# Pages on replication subscribe to tables. ONLY=replication runs the pages whose path has a match of this pattern.
server_start 'wal_level = logical'

# Spaces at the ends of lines and empty lines at the end are nothing a reader sees.
tidy() {
    sed -E 's/ +$//' "$1" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}
errors() {
    grep -E '^ *(ERROR|DETAIL|HINT): ' "$1" || true
}

# page FILE DATABASE
page() {
    local page=$1 database=$2 out=$server/$2 blocks n name seen expected difference
    mkdir "$out"
    # Cuts the file into $out/N.sql and, where an output is shown, $out/N.expected; prints nothing.
    awk -v out="$out" '
        !inside && /^ *```/ {
            inside = 1
            language = $0
            sub(/^ *```/, "", language)
            file = "/dev/null"
            if (language == "sql") {
                n++
                file = out "/" n ".sql"
                print "line " NR > (out "/" n ".where")
                after_sql = 1
            } else if ((language == "" || language == "text") && after_sql) {
                file = out "/" n ".expected"
                after_sql = 0
            } else {
                after_sql = 0
            }
            printf "" > file
            next
        }
        inside && /^ *```$/ { inside = 0; close(file); next }
        inside { print > file; next }
        # Prose between the two: the output is of something else.
        /[^ ]/ { after_sql = 0 }
    ' "$project/$page"

    blocks=$(find "$out" -name '*.sql' | wc -l)
    if [[ $blocks -eq 0 ]]; then
        expect "$page has sql blocks" t "$([[ $page =~ $prose ]] && echo t || echo f)"
        return
    fi
    createdb "$database"
    for n in $(seq "$blocks"); do
        # psql reads its standard input, so that messages carry no file name; the marks part the blocks' outputs.
        printf '%s\n' "\echo '--block $n--'"
        cat "$out/$n.sql"
    done | psql -X -q -d "$database" -v ON_ERROR_STOP=0 >"$out/all" 2>&1 || true
    awk -v out="$out" '/^--block [0-9]+--$/ { file = out "/" $2 + 0 ".seen"; printf "" > file; next } { print > file }' "$out/all"

    for n in $(seq "$blocks"); do
        name="$page, block $n ($(cat "$out/$n.where"))"
        seen=$out/$n.seen expected=$out/$n.expected
        if [[ ! -f $seen ]]; then
            failed "$name" 'psql was gone before'
        elif [[ -f $expected ]] && grep -q '^ERROR: ' "$expected"; then
            expect "$name" "$(errors "$expected")" "$(errors "$seen")"
        elif grep -q '^ERROR: ' "$seen"; then
            failed "$name" "$(errors "$seen")"
        elif [[ -f $expected ]]; then
            grep -vE '^(NOTICE|DETAIL|HINT): ' "$seen" >"$out/shown" || true
            if difference=$(diff <(tidy "$expected") <(tidy "$out/shown")); then
                passed
            else
                failed "$name (<: $page, >: psql)" "$difference"
            fi
        else
            passed
        fi
    done
}

# Pages that may have nothing to run.
prose='^docs/(README|SUMMARY|comparison|limits|recipes/files|design/.*)\.md$'
shard=${1:-1/1} pages=0
while read -r file; do
    pages=$((pages + 1))
    if [[ ! $file =~ ${ONLY:-.} ]] || ((pages % ${shard#*/} != ${shard%/*} % ${shard#*/})); then continue; fi
    # Tables that a program wrote.
    if [[ $file == docs/evaluation.md ]]; then continue; fi
    name=${file%.md}
    page "$file" "${name//[^a-z]/_}"
done < <(cd "$project" && find README.md pg_test/mistakes.md docs -name '*.md' | sort)
finish
