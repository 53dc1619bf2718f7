#!/usr/bin/env bash
# test.sh [brief]: every check and test, from the form of the source to servers under attack, on the PostgreSQL of PG=16 or of
# PG_CONFIG. The last line counts: "N passed, 0 failed". Corpora, if there are any, are found through NEARDUP_DATA.
#
# brief: what another version of the server can change, and no more: that it compiles, the tests inside the server, the SQL
# surface, the manual, what only some versions have, crashes.
#
# All is built once, with the same profile and features, so that cargo shares what it compiles; the tests of servers are
# for what this installs. `make install` puts a release in its place again.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh

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

# run "name, roughly how long" command…
run() {
    local status=0 said
    said=$(mktemp)
    step "$@" 2>&1 | tee "$said" || status=$?
    count "$status" "$1" "$said"
    rm "$said"
}

# several SCRIPT…: one more at a time than there are processors, since they also wait, but three to five; each has a server of
# its own. What one says is shown as a whole, in the order of the list.
several() {
    local out script status at_once
    at_once=$(($(nproc) + 1))
    out=$(mktemp -d)
    export -f step
    # shellcheck disable=SC2016 # variables of the shell inside
    printf '%s\0' "$@" | xargs -0 -P "$((at_once < 3 ? 3 : at_once > 5 ? 5 : at_once))" -I {} bash -c '
        said=$0/${1##*/} status=0
        step "$1" "$1" >"$said" 2>&1 || status=$?
        echo "$status" >"$said.part" && mv "$said.part" "$said.status"' "$out" {} &
    for script in "$@"; do
        status=$out/${script##*/}.status
        until [[ -e $status ]]; do sleep 0.1; done
        cat "$out/${script##*/}"
        count "$(<"$status")" "$script" "$out/${script##*/}"
    done
    wait
    rm -r "$out"
}

brief=$([[ ${1:-} == brief ]] && echo t || echo f)
scripts/setup.sh
built=(--profile quick --no-default-features --features "$(pg_feature),pg_test")
echo "== $("$PG_CONFIG" --version), $PG_CONFIG"

# put ARGUMENTS OF cargo build: what all tests of servers are for.
put() {
    scripts/build.sh quick "$@" && scripts/install.sh quick
}

# serve SCRIPTS…: the tests of servers; the two that stand on their own first, then these side by side.
serve() {
    local clusters
    clusters=$(private_dir)
    # shellcheck disable=SC2064 # the directory as it is now
    trap "rm -rf '$clusters'" EXIT
    (source scripts/server.sh && new_cluster "$clusters/new")
    export NEARDUP_CLUSTER=$clusters/new
    run 'tests inside the server' scripts/pgrx_test.sh
    run 'pg_regress' scripts/regress.sh
    several "$@"
}

if [[ $brief == t ]]; then
    before=${#failed[@]}
    run 'build and install (4 min the first time)' put "${built[@]:2}"
    if ((${#failed[@]} == before)); then
        serve pg_test/cluster/{readme,reference,versions,index_crash,upgrade,pg_upgrade}.sh
    fi
else
    run 'cargo fmt --check' cargo fmt --check
    run 'names in our SQL have their schemas' scripts/qualified.sh
    run 'links of the documents' scripts/links.sh
    run 'clippy of everything (1 to 2 min the first time)' cargo clippy --workspace "${built[@]}" --all-targets -- -D warnings
    run 'documentation' env RUSTDOCFLAGS='-D warnings' cargo doc --workspace "${built[@]}" --features neardup-core/internals --no-deps --document-private-items
    run 'the core as a crate' cargo package -p neardup-core --allow-dirty --no-verify --offline --quiet
    # Without an installed extension there is nothing left to try but the core.
    before=${#failed[@]}
    run 'build and install (4 min the first time)' put --workspace "${built[@]:2}" --tests --bins --examples
    installed=$((${#failed[@]} == before))
    run 'tests of the core (1 min)' cargo test "${built[@]}" --no-fail-fast
    run 'the same without vectors' env NEARDUP_TEST_INSTRUCTIONS=portable cargo test --profile quick -p neardup-core --no-fail-fast --lib --test oracle
    run 'evaluations, in small (2 min)' scripts/evaluate_small.sh
    if ((installed)); then
        # A line "# Alone: …" says why a script cannot share the processors.
        mapfile -t alone < <(grep -l '^# Alone: ' pg_test/cluster/*.sh)
        mapfile -t together < <(grep -L '^# Alone: ' pg_test/cluster/*.sh)
        serve "${together[@]}"
        for script in "${alone[@]}"; do
            run "$script" "$script"
        done
    fi
fi

if [[ -z ${NEARDUP_FAILED:-} && -e $ends/failed ]]; then cat "$ends/failed"; fi
if ((${#failed[@]})); then printf 'failed: %s\n' "${failed[@]}"; fi
echo "$passed passed, ${#failed[@]} failed$( ((skipped == 0)) || echo ", $skipped skipped")"
[[ ${#failed[@]} -eq 0 ]]
