#!/usr/bin/env bash
# The mistakes of pg_test/mistakes.md: readme.sh compares the messages; here each statement in a hint of ours runs, and
# each statement that the page gives instead.
set -euo pipefail
source "$(dirname "$0")/../../../scripts/expect.sh"
server_start

# The page as parts with zero bytes between them: M mistake, I instead, or S setup, each before its statements.
parts() {
    perl -0777 -ne '
        while (/```sql\n(.*?)```\n(?:```text\nERROR.*?```\n)?/sg) {
            my ($sql, $all) = ($1, $&);
            print $first++ ? ($all =~ /```text/ ? "M" : "I") : "S", $sql, "\0";
        }' "$project/pg_test/mistakes.md"
}
# The statements in the hints of an output.
hinted() {
    perl -0777 -ne 'while (/^HINT:  (.*)$/mg) { my $hint = $1; print "$1\n" while $hint =~ /((?:SELECT|CALL|CREATE TEMP VIEW|ALTER TABLE) [^;]*;)/g }' <<<"$1"
}

mistakes=0 hints=0
while IFS= read -r -d '' part; do
    kind=${part:0:1} sql=${part:1}
    # Each part has a session of its own, so that a transaction or a setting of one does not matter to the next.
    case $kind in
    S) q -c "$sql" ;;
    I) if seen=$(q <<<"$sql" 2>&1); then passed; else failed "instead: $sql" "$seen"; fi ;;
    M)
        mistakes=$((mistakes + 1))
        if seen=$(q <<<"$sql" 2>&1); then failed "no error: $sql" "$seen"; fi
        statements=$(hinted "$seen")
        if [[ -z $statements ]]; then continue; fi
        hints=$((hints + 1))
        if [[ $statements == CALL* ]]; then run=$statements; else run="BEGIN; $statements ROLLBACK;"; fi
        if seen=$(q <<<"$run" 2>&1); then passed; else failed "the hint of: $sql" "$statements"$'\n'"$seen"; fi
        ;;
    esac
done < <(parts)
expect 'sixty mistakes' t "$([[ $mistakes -ge 60 ]] && echo t || echo "$mistakes")"
expect 'most have a hint with a statement' t "$([[ $hints -ge 35 ]] && echo t || echo "$hints")"
finish
