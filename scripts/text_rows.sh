#!/usr/bin/env bash
# text_rows.sh FILE_OR_FOLDER…: the text files among and below them as rows (path, text) in the text format of COPY.
# Each file once, whatever links lead to it; NUL and bytes that are not UTF-8 are dropped.
set -euo pipefail
export LC_ALL=C.UTF-8

find "$@" -type f -size +0 -print0 | xargs -0 -r realpath -z | sort -zu | while IFS= read -r -d '' path; do
    # To grep -I a file with NULs has no line that matches; in the locale C other bytes are as good as text.
    LC_ALL=C grep -Iq . "$path" 2>/dev/null || continue
    printf '%s\t' "${path//[$'\t\n\r'\\]/?}"
    # The status of iconv -c only says whether it dropped something.
    { iconv -c -f UTF-8 -t UTF-8 "$path" || true; } | tr -d '\000' |
        sed -e 's/\\/\\\\/g' -e 's/\t/\\t/g' -e 's/\r/\\r/g' -e 's/$/\\n/' | tr -d '\n'
    echo
done
