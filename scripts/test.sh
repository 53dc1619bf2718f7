#!/usr/bin/env bash
# test.sh [check | test | rest | full | servers | compiles]: checks and tests on the PostgreSQL of PG=16 or of PG_CONFIG. The last line
# counts: "N passed, 0 failed". Corpora, if there are any, are found through NEARDUP_DATA.
#
# check     form, links, clippy, rules of the house, unit tests of the core with few cases: what needs no server
# test      (the default) check without clippy, all tests of the core, with few cases, and in servers pg_regress but for what
#           takes longest, and the tests of pg_test/cluster/smoke
# rest      what test leaves out and needs no server: clippy of everything, unit tests of the extension, documentation, the core
#           as a package and without vectors, evaluations
# full      what test leaves out in servers: the rest of pg_regress, pg_test/cluster/{full,servers,versions,citus}
# servers   what a version of the server can change: pg_regress, pg_test/cluster/{servers,versions}, dumps
# compiles  that it compiles for that version
#
# PROPTEST_CASES=256 tries all cases of tests by chance, and tests of the core read the corpora then. They are chosen by
# PROPTEST_RNG_SEED, so that what fails once fails again; test_full.sh all takes a new one.
#
# All is built once, with the same profile and features, so that cargo shares what it compiles; the tests of servers are
# for what this installs. `make install` puts a release in its place again.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/common.sh
source scripts/tally.sh

tier=${1:-test}
scripts/setup.sh
built=(--profile quick --no-default-features --features "$(pg_feature),pg_test")
few=${PROPTEST_CASES:-16}
case $tier in check | test) export PROPTEST_CASES=$few ;; esac
export PROPTEST_RNG_SEED=${PROPTEST_RNG_SEED:-1}
export CARGO_TERM_PROGRESS_WHEN=never

# of FOLDERS…: the tests of servers there. A line "# Shards: N" cuts a script into as many parts.
of() {
    local script n shards
    for script in $(printf 'pg_test/cluster/%s/*.sh\n' "$@"); do
        shards=$(sed -n 's/^# Shards: //p' "$script")
        for ((n = 1; n <= ${shards:-1}; n++)); do echo "$script${shards:+ $n/$shards}"; done
    done
}

# serve ITEMS…: the tests of servers, after those that come with the server.
serve() {
    local clusters
    clusters=$(private_dir)
    # shellcheck disable=SC2064 # the directory as it is now
    trap "rm -rf '$clusters'" EXIT
    (source scripts/server.sh && new_cluster "$clusters/new")
    export NEARDUP_CLUSTER=$clusters/new
    if [[ $tier != full ]]; then run 'tests inside the server' scripts/pgrx_test.sh; fi
    case $tier in
        test) run 'pg_regress' scripts/regress.sh quick ;;
        full) run 'pg_regress, what takes longest' scripts/regress.sh slow ;;
        *) run 'pg_regress' scripts/regress.sh ;;
    esac
    several "$@"
}

form() {
    run 'cargo fmt --check' cargo fmt --check
    run 'names in our SQL have their schemas' scripts/qualified.sh
    run 'links of the documents' scripts/links.sh
}

# put [--tests]: builds and installs what all tests of servers are for; false where that fails. With the tests of the core
# in the same command of cargo, both processors have work until the end.
put() {
    local before=${#failed[@]}
    run 'build and install (5 min the first time)' bash -c 'scripts/build.sh quick "$@" && scripts/install.sh quick' - "${built[@]:2}" "$@"
    ((${#failed[@]} == before))
}

# Corpora make tests of the core long: only where all cases are tried.
corpora=$( ((few < 256)) && echo -u NEARDUP_DATA || true)
case $tier in
    check)
        form
        run 'clippy' cargo clippy "${built[@]}" -- -D warnings
        run 'rules of the house' cargo test "${built[@]}" --test house
        # shellcheck disable=SC2086 # none or two words
        run 'unit tests of the core' env $corpora cargo test --profile quick --package neardup-core --lib
        ;;
    test)
        form
        installed=f
        if put --tests; then installed=t; fi
        # shellcheck disable=SC2086 # none or two words
        run 'rules of the house, tests of the core' env $corpora cargo test "${built[@]}" --no-fail-fast
        if [[ $installed == t ]]; then
            mapfile -t items < <(of smoke)
            serve "${items[@]}"
        fi
        ;;
    rest)
        run 'clippy of everything' cargo clippy --workspace "${built[@]}" --all-targets -- -D warnings
        run 'documentation' env RUSTDOCFLAGS='-D warnings' cargo doc --workspace "${built[@]}" --features neardup-core/internals --no-deps --document-private-items
        run 'the core as a crate' cargo package -p neardup-core --allow-dirty --no-verify --offline --quiet
        run 'examples' cargo build "${built[@]}" --examples
        # Unit tests of the extension need no fast code, and compile in a quarter of the time so.
        run 'unit tests of the extension, and the core without vectors' env NEARDUP_TEST_INSTRUCTIONS=portable PROPTEST_CASES=16 \
            cargo test "${built[@]}" --config 'profile.quick.package.neardup.opt-level=0' --no-fail-fast --lib --test oracles
        run 'evaluations, in small' scripts/evaluate_small.sh
        ;;
    full)
        # As test has built it; without the tests, features of dependencies are others, and it would be compiled again.
        if put --tests; then
            mapfile -t items < <(of full servers versions citus)
            serve "${items[@]}"
        fi
        ;;
    servers)
        if put; then
            mapfile -t items < <(of servers versions && echo pg_test/cluster/smoke/dump.sh)
            serve "${items[@]}"
        fi
        ;;
    compiles) run 'cargo check' cargo check "${built[@]}" ;;
    *)
        sed -n '2,12p' "$0" >&2
        exit 2
        ;;
esac
tally
