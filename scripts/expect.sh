# To be sourced by the test scripts: a private server, what is expected of it, and how it went.
# shellcheck shell=bash

source "$(dirname "${BASH_SOURCE[0]}")/server.sh"

checks=0
failures=0

# A command that ends the script says where, since its own message may be thrown away.
set -E
trap '((BASH_SUBSHELL)) || echo "FAILED: ended by ${BASH_SOURCE[0]##*/}:$LINENO: $BASH_COMMAND" >&2' ERR

# cases WHOLE LEAST: how many cases by chance are tried: as many fewer than WHOLE as PROPTEST_CASES is fewer than 256, but LEAST.
cases() {
    local few=$(($1 * ${PROPTEST_CASES:-256} / 256))
    echo $((few > $2 ? few : $2))
}

# passed: counts a check. failed NAME [what was seen]: counts and reports one that failed.
passed() { checks=$((checks + 1)); }
failed() {
    checks=$((checks + 1))
    failures=$((failures + 1))
    echo "FAILED: $1"
    if [[ -n ${2:-} ]]; then echo "    ${2//$'\n'/$'\n'    }"; fi
}

# expect NAME EXPECTED ACTUAL
expect() {
    if [[ $2 == "$3" ]]; then
        passed
    else
        failed "$1" "expected: $2"$'\n'"seen:     $3"
    fi
}

# expect_sql NAME EXPECTED SQL [psql's arguments]: the statements' bare output, errors included.
expect_sql() {
    local seen
    seen=$(q "${@:4}" -c "$3" 2>&1) || true
    expect "$1" "$2" "$seen"
}

# expect_error NAME SQLSTATE PATTERN SQL [psql's arguments]: the message, with detail and hint, must match the
# pattern (extended regular expression).
expect_error() {
    local seen
    if seen=$(q -v VERBOSITY=verbose "${@:5}" -c "$4" 2>&1); then
        failed "$1" "expected error $2, seen: $seen"
    elif [[ $seen != *"ERROR:  $2:"* ]]; then
        failed "$1" "expected error $2, seen: $seen"
    elif ! grep -qE -- "$3" <<<"$seen"; then
        failed "$1" "expected a message like /$3/, seen: $seen"
    else
        passed
    fi
}

# To end a script with: nothing may have crashed or panicked behind our back, nor any error have been an internal one,
# except for what a script provokes and names in expected_in_log (a pattern), and every check must have passed.
finish() {
    local bad
    bad=$(grep -anE 'PANIC|XX000 (ERROR|FATAL)|ERROR:  XX000|panicked|terminated by signal|ABORT$|memory allocation of' "$server/log" | grep -vE "${expected_in_log:-^$}" | head -n 5 || true)
    expect "nothing bad in the server's log" '' "$bad"
    echo "$checks checks, $failures failed"
    if ((failures)); then exit 1; fi
}

# The folder of the corpora, or the end of the script: 77 is "skipped" to tally.sh.
corpora_or_skip() {
    local data=${NEARDUP_DATA:-}
    if [[ ! -d $data ]]; then
        echo "skipped: no corpora; NEARDUP_DATA names their folder"
        exit 77
    fi
    corpora=$data
}

# load_json FILE.gz TABLE: appends a file of one JSON object a line to a table of one json column. The quote and
# the delimiter are characters that JSON never holds unescaped, so that CSV takes the line as it is.
load_json() {
    zcat "$1" | q -c "\\copy $2 from pstdin with (format csv, quote E'\\x01', delimiter E'\\x02')"
}
