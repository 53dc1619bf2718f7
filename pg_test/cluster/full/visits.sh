#!/usr/bin/env bash
# visits.sh [sh]: first visits (examples/visits): a newcomer of each kind goes from the first page to the aim over at most four
# pages, in at most ten commands, and types nothing that does not stand on a page. A visit has, by marks at the beginnings of lines:
#
#     -- Given                      what the visitor has; it is not counted
#     -- N. PAGE, PAGE              the Nth command, which stands on the last page word for word, but for white space; each page
#                                   is linked from the one before, and README.md begins
#     -- Reached: ANSWER            the last mark: what the query behind it gives
#
# The visits that end with .sh begin these lines with # and are run by a shell in whose path python has the client: python.sh
# runs them, with `visits.sh sh`.
# shellcheck disable=SC2154 # server and project, of server.sh
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
which=${1:-sql}
# The visit of Docker Compose schedules a refresh; in a folder of its own a PostgreSQL may be without pg_cron.
cron=$("$PG_CONFIG" --pkglibdir)/pg_cron.so
if [[ $which == sql && ! -e $cron && $PG_CONFIG == /usr/lib/postgresql/* ]]; then
    source "$project/scripts/packages.sh"
    need_packages 'visit of Docker Compose' "postgresql-$("$PG_CONFIG" --version | grep -oE '[0-9]+' | head -n 1)-cron" || true
fi
server_start "wal_level = logical
$(if [[ -e $cron ]]; then printf '%s\n' 'shared_preload_libraries = pg_cron' 'cron.database_name = visit_compose'; fi)"

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
    local name out at='' commands=0 seen=0 pages before part mark answer run
    name=$(basename "${1%.*}")
    out=$server/$name
    mkdir "$out"
    # Cuts the file at the marks into $out/N.mark and $out/N.part.
    awk -v out="$out" '
        /^(--|#) (Given$|[0-9]+\. |Reached: )/ { n++; sub(/^#/, "--"); print > (out "/" sprintf("%02d", n) ".mark"); next }
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
                    if [[ $before != "$at" ]]; then seen=$((seen + 1)); fi
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
    expect "$name: at most four pages, of $seen" t "$( ((seen <= 4)) && echo t || echo f)"
    expect "$name: at most ten commands, of $commands" t "$( ((commands >= 1 && commands <= 10)) && echo t || echo f)"
    # The whole file, as a reader would run it, in a folder that is there for it.
    if [[ $1 == *.sql ]]; then
        createdb "visit_$name"
        run=(q -d "visit_$name" -f "$1")
    else
        run=(bash -euo pipefail "$1")
    fi
    if ! (cd "$out" && "${run[@]}" >"$out/said" 2>"$out/errors"); then
        failed "$name: runs" "$(if [[ $1 == *.sql ]]; then grep -E '^psql:|ERROR|DETAIL|HINT' "$out/errors"; else tail -n 5 "$out/errors"; fi)"
    else
        expect "$name: reached" "${answer:-nothing}" "$(tail -n 1 "$out/said")"
    fi
}

declare -A expected=([sql]=8 [sh]=3)
found=0
for file in "$project"/examples/visits/*."$which"; do
    found=$((found + 1))
    if [[ $file == */compose.sql && ! -e $cron ]]; then
        echo 'the visit of Docker Compose is left out: no pg_cron'
        continue
    fi
    visit "$file"
done
expect 'visits' "${expected[$which]}" "$found"
finish
