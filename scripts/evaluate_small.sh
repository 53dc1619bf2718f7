#!/usr/bin/env bash
# evaluate_small.sh [NAME…]: runs all evaluations, evaluation/src/bin/evaluate_*, in their small form (NEARDUP_EVALUATE=small: a share of
# the corpora, within seconds), and compares key figures of their tables with evaluation/bounds.tsv, in which each has at least one
# line. Takes programs as `make test` has compiled them. Without corpora they run on made texts, for which there are no bounds:
# each has to end well, and to print tables.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$project"

if (($# == 0)); then
    mapfile -t names < <(find evaluation/src/bin -mindepth 1 -maxdepth 1 -name 'evaluate_*' | sed 's/.*evaluate_//; s/\.rs$//' | sort)
    set -- "${names[@]}"
fi
# With the extension, so that both take the same build of the core.
cargo build --quiet --profile quick --no-default-features --features "$(pg_feature),pg_test" --package neardup --package neardup-core --package neardup-evaluation --lib --bins
plots=$(mktemp -d)
trap 'rm -rf "$plots"' EXIT
export NEARDUP_EVALUATE=small
programs=${CARGO_TARGET_DIR:-target}/quick
made=f
if [[ ! -d ${NEARDUP_DATA:-} ]]; then
    echo '   no corpora, NEARDUP_DATA names their folder: made texts take their place'
    made=t NEARDUP_DATA=$plots/corpora
    "$programs/make_corpora" "$NEARDUP_DATA"
fi

# within NAME: compares the tables on standard input with the bounds of that program.
within() {
    awk -F'\t' -v program="$1" -v made="$made" '
        function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
        # A bound of a row: a number, another column of it after "=", or "-" for none.
        function bound(text) { return text ~ /^=/ ? value(substr(text, 2)) : text }
        # What stands in a column; the second of a name is "name#2".
        function value(column,    name, occurrence, n, seen, cell) {
            occurrence = 1; name = column
            if (match(column, /#[0-9]+$/)) { occurrence = substr(column, RSTART + 1); name = substr(column, 1, RSTART - 1) }
            for (n = 1; n <= columns; n++) if (head[n] == name && ++seen == occurrence) {
                cell = cells[n]; sub(/ %$/, "", cell); return cell
            }
            return "no column"
        }
        function fail(text) { print "   " program ": " text; failed++ }
        function check(b,    got, least, most, what) {
            found[b]++
            got = value(column[b]); least = bound(low[b]); most = bound(high[b])
            what = table[b] ": " cells[1] ": " column[b] " is " got
            if (got !~ /^[0-9.]+$/) fail(what ", no number")
            else if (least != "-" && (least !~ /^[0-9.]+$/ || got + 0 < least + 0)) fail(what ", less than " low[b] (least == low[b] ? "" : ", " least))
            else if (most != "-" && (most !~ /^[0-9.]+$/ || got + 0 > most + 0)) fail(what ", more than " high[b] (most == high[b] ? "" : ", " most))
        }
        FNR == NR {
            if ($1 == program) { n = ++bounds; table[n] = $2; row[n] = $3; column[n] = $4; low[n] = $5; high[n] = $6 }
            next
        }
        /^#/ { heading = $0; sub(/^#+ /, "", heading) }
        $0 !~ /^\|/ { inside = 0; if ($0 != "") { title = $0; sub(/^#+ /, "", title) }; next }
        {
            gsub(/\\\|/, "/")
            columns = split($0, cells, "|") - 2
            for (n = 1; n <= columns; n++) cells[n] = trimmed(cells[n + 1])
            if (++inside == 1) { for (n = 1; n <= columns; n++) head[n] = cells[n]; tables++ }
            if (inside < 3) next
            if (made == "t") next
            for (b = 1; b <= bounds; b++) if (index(title, table[b]) == 1 || index(heading, table[b]) == 1)
                if (row[b] == "*" || row[b] == cells[1] || row[b] == cells[1] " | " cells[2]) check(b)
        }
        END {
            if (!bounds) fail("no line in evaluation/bounds.tsv")
            if (!tables) fail("no table")
            if (made == "t") bounds = 0
            for (b = 1; b <= bounds; b++) if (!found[b]) fail("no such figure: " table[b] ", " row[b])
            print "   " tables + 0 " tables, " bounds + 0 " bounds, " failed + 0 " failed"
            exit failed > 0
        }' evaluation/bounds.tsv -
}

# one NAME: runs it, and looks at what it says.
one() {
    local said=$plots/said
    "$programs/evaluate_$1" "$NEARDUP_DATA" "$plots" >"$said" && within "$1" <"$said"
}

failed=() number=0
for name in "$@"; do
    number=$((number + 1))
    step "$number of $#: evaluate_$name, in small" one "$name" || failed+=("$name")
done
if ((${#failed[@]})); then
    echo "failed: ${failed[*]}"
    exit 1
fi
