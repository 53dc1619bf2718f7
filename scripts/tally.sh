# To be sourced, after common.sh: runs tests, and counts how they end.
#   run "name" command…   one after another
#   several "script arguments"…   some at a time, what takes longest first (scripts/durations)
#   tally                 what failed, and the line that counts; false if anything failed
# shellcheck shell=bash

passed=0 failed=() skipped=0
# What failed says its end once more at the end of all, where it is found: here, or where the caller collects it.
ends=${NEARDUP_FAILED:-$(mktemp -d)}

# count STATUS NAME FILE: which has what was said.
count() {
    case $1 in
        0) passed=$((passed + 1)) ;;
        77) skipped=$((skipped + 1)) ;;
        *)
            failed+=("${2%% (*}")
            {
                echo "---- PostgreSQL ${PG:-}: ${2%% (*}"
                grep -nE '^not ok|^FAIL|FAILED|panicked|^ERROR|error(\[|:)' "$3" | tail -n 15 || true
                echo "..."
                tail -n 20 "$3"
            } | cut -c 1-300 >>"$ends/failed"
            ;;
    esac
}

run() {
    local status=0 said
    said=$(mktemp)
    step "$@" 2>&1 | tee "$said" || status=$?
    count "$status" "$1" "$said"
    rm "$said"
}

# longest_first ITEMS…: in the order of what scripts/durations says of their seconds; what it does not know comes first.
longest_first() {
    printf '%s\n' "$@" | awk 'NR == FNR { seconds[$2 ($3 == "" ? "" : " " $3)] = $1; next }
        { print ($0 in seconds ? seconds[$0] : 1000000) "\t" $0 }' "$project/scripts/durations" - | sort -t $'\t' -k 1,1rn | cut -f 2
}

# One more at a time than there are processors, since they also wait, but three to five; each has a server of its own. What one
# says is shown as a whole, when it ends.
several() {
    local out item status at_once
    at_once=$(($(nproc) + 1))
    at_once=$((at_once < 3 ? 3 : at_once > 5 ? 5 : at_once))
    out=$(mktemp -d)
    export -f step
    mapfile -t ordered < <(longest_first "$@")
    # shellcheck disable=SC2016 # variables of the shell inside
    printf '%s\0' "${ordered[@]}" | xargs -0 -P "$at_once" -I {} bash -c '
        said=$0/${1//\//_} status=0
        step "$1" $1 >"$said" 2>&1 || status=$?
        echo "$status" >"$said.part" && mv "$said.part" "$said.status"' "$out" {} &
    for item in "${ordered[@]}"; do
        status=$out/${item//\//_}.status
        until [[ -e $status ]]; do sleep 0.1; done
        cat "$out/${item//\//_}"
        count "$(<"$status")" "$item" "$out/${item//\//_}"
    done
    wait
    rm -r "$out"
}

tally() {
    if [[ -z ${NEARDUP_FAILED:-} && -e $ends/failed ]]; then cat "$ends/failed"; fi
    if ((${#failed[@]})); then printf 'failed: %s\n' "${failed[@]}"; fi
    echo "$passed passed, ${#failed[@]} failed$( ((skipped == 0)) || echo ", $skipped skipped")"
    [[ ${#failed[@]} -eq 0 ]]
}
