#!/usr/bin/env bash
# bench_before.sh COMMIT [rows=NAME,…] [documents=N] [runs=N]: an earlier commit beside the present tree in one run, by the
# same SQL in two servers that are set up alike and never work at the same time. Within about 20 minutes, and some more the
# first time, when that commit is built.
#
# rows: words, shingle, minhash, simhash, tlcs, passages, index, refresh, peers; all of them where none is named.
# documents: the first N of the input only, from 1000 on; whatever else has a size shrinks with it.
# runs: each figure is the least of so many (3) in turn, but of one where that takes more than 20 s.
# The tables go to the output and to target/bench_before.md. Inputs as of bench.sh.
# shellcheck disable=SC2154 # variables of what is sourced
set -euo pipefail
source "$(dirname "$0")/common.sh"
source "$project/scripts/bench_tables.sh"
source "$project/scripts/bench_inputs.sh"
source "$project/scripts/bench_server.sh"
source "$project/scripts/bench_index.sh"
source "$project/scripts/bench_peers.sh"
source "$project/scripts/bench_before_rows.sh"
source "$project/scripts/server.sh"
cd "$project"

usage() {
    echo "usage: scripts/bench_before.sh COMMIT [rows=words,shingle,minhash,simhash,tlcs,passages,index,refresh,peers] [documents=N] [runs=N]" >&2
    exit 1
}
commit=$(git rev-parse -q --verify "${1:-}^{commit}") || usage
rows='words,shingle,minhash,simhash,tlcs,passages,index,refresh,peers' documents='' runs=3
for option in "${@:2}"; do
    case $option in
        rows=*) rows=${option#*=} ;;
        documents=[1-9]???*) documents=${option#*=} ;;
        runs=[1-9]*) runs=${option#*=} ;;
        *) usage ;;
    esac
done
for row in ${rows//,/ }; do
    case $row in
        words | shingle | minhash | simhash | tlcs | passages | index | refresh | peers) ;;
        *) usage ;;
    esac
done

target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
kept=$target/bench
mkdir -p "$kept"
report=$target/bench_before.md
: >"$report"
declare -A home=([before]=$(private_dir) [now]=$(private_dir))
dir=${home[now]}
trap 'for side in before now; do bench_server=${home[$side]}/server bench_server_stop; rm -rf "${home[$side]}"; done' EXIT

# The tree of the commit, kept with all that is built of it until cargo clean.
earlier=$kept/before-${commit:0:7}
if [[ $(git -C "$earlier" rev-parse HEAD 2>/dev/null) != "$commit" ]]; then
    rm -rf "$earlier"
    git worktree add -q -f --detach "$earlier" "$commit"
fi

# The first documents, as both servers and the peers are to have them.
find_corpora
small=$large
all=$corpora
corpora=$dir/inputs
mkdir "$corpora"
head -n "${documents:-$(wc -l <"$all/$large.tsv")}" "$all/$large.tsv" >"$corpora/$large.tsv"
documents=$(wc -l <"$corpora/$large.tsv")

# of N: so many where the input has 200,000 documents.
of() { echo $(($1 * documents / 200000)); }

# set_up SIDE TREE TARGET: the server of that side, with the neardup of that tree, idle until it is asked.
set_up() {
    bench_server='' project=$2 dir=${home[$1]} PG_CONFIG=$installed
    progress "the server of $2"
    CARGO_TARGET_DIR=$3 bench_server_start
    # jit: the planner holds searches by an index with enable_seqscan = off for dear and compiles them for a second.
    q -c 'ALTER SYSTEM SET autovacuum = off' -c 'ALTER SYSTEM SET jit = off' -c "ALTER SYSTEM SET checkpoint_timeout = '1h'" -c 'SELECT pg_reload_conf()' >/dev/null
}
installed=$PG_CONFIG here=$project
set_up before "$earlier" "$earlier/target"
set_up now "$here" "$target"

# both ARGUMENTS OF psql: on each server, the earlier one first.
both() {
    local side
    for side in before now; do PGHOST=${home[$side]}/server q -c 'SET client_min_messages = warning' -c 'SET statement_timeout = 0' "$@" >/dev/null; done
}

# once SIDE SETUP TIMED AFTER: one run in a session of its own, "seconds|pairs|bytes of WAL"; TIMED or AFTER sets :pairs.
once() {
    PGHOST=${home[$1]}/server q <<SQL
SET client_min_messages = warning;
SET statement_timeout = '10min';
SET neardup.threads = $threads;
SET neardup.memory = '1GB';
SET max_parallel_workers_per_gather = $((threads - 1));
\set pairs 0
\o /dev/null
$2
SELECT neardup_version();
SELECT clock_timestamp() AS began, pg_current_wal_insert_lsn() AS lsn \gset
$3
SELECT round(extract(epoch FROM clock_timestamp() - :'began'), 3) AS seconds, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), :'lsn') AS wal \gset
$4
\o
SELECT concat_ws('|', :seconds, :pairs, :wal);
SQL
}

# quickest SETUP TIMED: the least run on the server of the present tree, as of once.
quickest() {
    local n
    for ((n = 0; n < runs; n++)); do once now "$1" "$2" ''; done | sort -t '|' -n | sed -n 1p
}

# row WHAT SETUP TIMED AFTER WHAT-THE-FLOOR-IS [COMMAND…]: a row of the table; COMMAND prints the floor and finds in $wal
# the bytes of WAL that TIMED wrote.
row() {
    local n side sides=(before now) seconds pairs bytes wal=0 floor=- ratio=- long=0
    local -A least=() found=()
    progress "$1"
    for ((n = 0; n < runs && !long; n++)); do
        for side in "${sides[@]}"; do
            # What one side cannot do is told as such; psql says why.
            if ! IFS='|' read -r seconds pairs bytes < <(once "$side" "$2" "$3" "$4"); then
                least[$side]=failed found[$side]=failed long=1
                continue
            fi
            found[$side]=$pairs
            least[$side]=$(printf '%s\n' "$seconds" "${least[$side]:-$seconds}" | sort -n | sed -n 1p)
            if ((${seconds%.*} >= 20)); then long=1; fi
            if [[ $side == now ]]; then wal=$bytes; fi
        done
        sides=("${sides[1]}" "${sides[0]}")
    done
    pairs=${found[now]}
    if [[ $pairs != "${found[before]}" ]]; then pairs="$pairs (before: ${found[before]})"; fi
    if [[ "${least[*]}" != *failed* ]]; then ratio=$(awk -v a="${least[now]}" -v b="${least[before]}" 'BEGIN { printf "%.2f", a / b }'); fi
    if (($# > 5)) && [[ ${least[now]} != failed ]]; then floor=$("${@:6}"); fi
    echo "$1|$pairs|${least[before]}|${least[now]}|$ratio|$floor|$5" | tee -a "$dir/rows" >&2
}

say <<END
neardup $(git describe --always --dirty) beside $(git describe --always "$commit"), $("$installed" --version), $documents documents of $large.
$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sed -n 1p), $(nproc) processors, load before the run $(cut -d' ' -f1 /proc/loadavg).

END
: >"$dir/rows"
threads=2
for row in ${rows//,/ }; do
    if [[ $row != peers ]]; then "before_$row" || skipped "the rest of $row" 'it failed'; fi
done
if [[ -s $dir/rows ]]; then table 'what|pairs|before, s|now, s|now to before|floor, s|what the floor is' <"$dir/rows"; fi
if [[ ,$rows, == *,peers,* ]]; then
    # The sets are sorted by their sizes, so that the first would be the shortest.
    if [[ -f $all/$large.sets ]]; then awk -v each="$((1 + 1800000 / documents))" 'NR % each == 0' "$all/$large.sets" >"$corpora/${large}_part.sets"; fi
    # In a folder of its own: what cargo bench makes of the library takes the place of what build.sh made, which would be
    # compiled again by the next run.
    CARGO_TARGET_DIR=$kept/join peer_programs "${large}_part"
    peer_table
fi
progress "the tables are in $report, too"
