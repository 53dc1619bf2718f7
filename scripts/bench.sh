#!/usr/bin/env bash
# bench.sh [kernels] [sketches] [hamming] [join] [server] [jobs] [index] [sets] [incoming] [runs] [peers] [dedup]: the benchmarks, all of them where none is named, within about an hour. runs_growth only where it is named (4 GB of disk, half an hour).
# Tables go to the output and to target/bench.md, what is done meanwhile to standard error.
# NEARDUP_BENCH names a folder of inputs NAME.tsv and NAME.sets. Without it they are made by the generator beside
# the folder NEARDUP_DATA; without that the texts that this machine has are taken. See benches/README.md.
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/bench_tables.sh"
source "$project/scripts/bench_inputs.sh"
source "$project/scripts/bench_server.sh"
source "$project/scripts/bench_jobs.sh"
source "$project/scripts/bench_index.sh"
source "$project/scripts/bench_sets.sh"
source "$project/scripts/bench_incoming.sh"
source "$project/scripts/bench_runs.sh"
source "$project/scripts/bench_peers.sh"
source "$project/scripts/bench_dedup.sh"
cd "$project"

sections=("$@")
if ((${#sections[@]} == 0)); then sections=(kernels sketches hamming join server jobs index sets incoming runs peers dedup); fi
for section in "${sections[@]}"; do
    case $section in
        kernels | sketches | hamming | join | server | jobs | index | sets | incoming | runs | runs_growth | peers | dedup) ;;
        *) echo "usage: scripts/bench.sh [kernels] [sketches] [hamming] [join] [server] [jobs] [index] [sets] [incoming] [runs] [runs_growth] [peers] [dedup]" >&2 && exit 1 ;;
    esac
done

# What is made once and used again, until cargo clean.
kept=${CARGO_TARGET_DIR:-$project/target}/bench
mkdir -p "$kept"
report=${CARGO_TARGET_DIR:-$project/target}/bench.md
: >"$report"
dir=$(private_dir)
trap 'bench_server_stop; rm -rf "$dir"' EXIT

# A line for each kernel, of criterion's output the middle of the three throughputs.
kernels() {
    progress 'kernels (2 min)'
    timeout 300 cargo bench -p neardup-benches --bench kernels -- --noplot 2>/dev/null |
        awk '
            /^[a-z].*\// { name = $0; sub(/ *time:.*/, "", name) }
            /thrpt:.*\/s/ { sub(/elem/, " calls", $5); print name "|" $4 " " $5 }' | table 'kernel|speed'
}

# Sketches of the documents of one input, on one core, beside other programs on the same token sets.
sketches() {
    local input=$corpora/$small.tsv seconds
    progress 'sketches (1 min)'
    timeout 120 cargo bench -p neardup-benches --bench sketches -- "$input" >"$dir/sketches"
    seconds=$(awk -F'|' '/^minhash of ready sets/ { print $2 }' "$dir/sketches")
    {
        awk -F'|' -v OFS='|' '{ print "neardup", $1, $2, int($3 / $2), "" }' "$dir/sketches"
        sketch_peers "$input" | awk -v OFS='|' -v ours="$seconds" -v documents="$(wc -l <"$input")" '
            { print $1, "minhash of ready sets, 128 permutations", $2, int(documents / $2), sprintf("%.1f", $2 / ours) }'
    } | table 'program|task|seconds|documents/s|times as long as neardup'
}

# All pairs of simhashes at a distance of at most 3, beside sorted blocks in plain Rust.
hamming() {
    progress 'all pairs at a Hamming distance of at most 3, up to 10 million vectors (2 min)'
    timeout 400 cargo bench -p neardup-benches --bench hamming -- 1 10 | sed -n '/^|/p; $s/.*//p' | say
}

join() {
    if [[ ! -f $corpora/$large.sets ]]; then
        skipped 'the join on ready sets' "no $large.sets; it comes with the generated inputs"
        return
    fi
    progress 'join on ready sets beside a textbook PPJoin (3 min)'
    join_table 300
    progress 'candidates by algorithm (2 min)'
    # The longest inputs would take minutes with All-Pairs.
    join_table 200 algorithms reuters:0.8 reuters:0.5 rules:0.8 big200k:0.9 big200k:0.8 big200k_sh5:0.8
}

# join_table SECONDS ARGUMENTS…
join_table() {
    timeout "$1" cargo bench -p neardup-benches --bench join -- "$corpora" "${@:2}" | sed -n '/^|/p; $s/.*//p' | say ||
        skipped 'the rest of this table' "an error, or its $1 s were up"
}

progress 'build the benchmarks (1 min)'
cargo bench -p neardup-benches --bench join --bench kernels --bench sketches --bench hamming --no-run
find_corpora
machine=$(cargo bench -p neardup-benches --bench join -- machine)
say <<END
$machine.
neardup $(git describe --always --dirty 2>/dev/null || echo '(no git)'), load before the run $(cut -d' ' -f1 /proc/loadavg).

END
memcpy=${machine#*memcpy }
memcpy=${memcpy%% GB*}

for section in "${sections[@]}"; do
    heading "$section"
    # A section that fails must not take the others with it.
    "$section" || skipped "the rest of $section" 'it failed or its time was up'
done
progress "the tables are in $report; scripts/bench_results.sh puts them into benches/README.md"
