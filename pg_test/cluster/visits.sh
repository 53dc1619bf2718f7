#!/usr/bin/env bash
# First visits (examples/visits/*.sql): a newcomer of each kind goes from the first page to the aim in at most ten commands, and
# types nothing that does not stand on a page. A visit has, by marks at the beginnings of lines:
#
#     -- Given                      what the visitor has; it is not counted
#     -- N. PAGE, PAGE              the Nth command, which stands on the last page word for word, but for white space; each page
#                                   is linked from the one before, and README.md begins
#     -- Reached: ANSWER            the last mark: what the query behind it gives
# shellcheck disable=SC2154 # server and project, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../scripts/expect.sh"
server_start 'wal_level = logical'

# One line, with single blanks.
flat() { tr -s '[:space:]' ' ' | sed -E 's/^ //; s/ $//'; }

# linked FROM TO: whether the page FROM has a link to the page TO.
linked() {
    local target
    while read -r target; do
        if [[ $(cd "$project" && realpath -m --relative-to=. "$(dirname "$1")/${target%%#*}") == "$2" ]]; then return; fi
    done < <(grep -oE '\]\([^)#:]+\.md[^)]*\)' "$project/$1" | sed -E 's/^\]\(//; s/\)$//')
    return 1
}

# visit FILE
visit() {
    local name out at='' commands=0 pages before part mark answer
    name=$(basename "$1" .sql)
    out=$server/$name
    mkdir "$out"
    # Cuts the file at the marks into $out/N.mark and $out/N.part.
    awk -v out="$out" '
        /^-- (Given$|[0-9]+\. |Reached: )/ { n++; print > (out "/" sprintf("%02d", n) ".mark"); next }
        n { print > (out "/" sprintf("%02d", n) ".part") }
    ' "$1"
    for mark in "$out"/*.mark; do
        part=${mark%.mark}.part
        case $(<"$mark") in
            '-- Given') continue ;;
            '-- Reached: '*) answer=$(sed 's/^-- Reached: //' "$mark") ;;
            *)
                commands=$((commands + 1))
                expect "$name: commands are numbered" "$commands" "$(sed -E 's/^-- ([0-9]+)\..*/\1/' "$mark")"
                IFS=', ' read -ra pages < <(sed -E 's/^-- [0-9]+\. //' "$mark")
                for page in "${pages[@]}"; do
                    before=$at at=$page
                    if [[ -z $before ]]; then
                        expect "$name: begins at the first page" README.md "$page"
                    elif [[ $before != "$page" ]]; then
                        expect "$name: $before leads to $page" t "$(linked "$before" "$page" && echo t || echo f)"
                    fi
                done
                # A pattern in quotes is taken as it is.
                if [[ "$(flat <"$project/$at")" == *"$(flat <"$part")"* ]]; then
                    passed
                else
                    failed "$name: command $commands stands on $at" "$(<"$part")"
                fi
                ;;
        esac
    done
    expect "$name: at most ten commands, of $commands" t "$( ((commands >= 1 && commands <= 10)) && echo t || echo f)"
    createdb "visit_$name"
    # The whole file, as a reader would run it, in a folder that is there for it.
    if ! (cd "$out" && q -d "visit_$name" -f "$1" >"$out/said" 2>"$out/errors"); then
        failed "$name: runs" "$(grep -E '^psql:|ERROR|DETAIL|HINT' "$out/errors")"
    else
        expect "$name: reached" "${answer:-nothing}" "$(tail -n 1 "$out/said")"
    fi
}

found=0
for file in "$project"/examples/visits/*.sql; do
    found=$((found + 1))
    visit "$file"
done
expect 'visits' 5 "$found"
finish
