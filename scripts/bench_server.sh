# To be sourced by bench.sh: near_duplicates inside a server of its own.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# A copy of PostgreSQL with this neardup in $dir/pg: what is installed stays as it is, and peers can be added without
# being installed. PostgreSQL finds its files relative to its programs.
copy_of_postgres() {
    local option place
    for option in --bindir --pkglibdir --sharedir; do
        place=$("$PG_CONFIG" "$option")
        mkdir -p "$dir/pg${place%/*}"
        cp -r "$place" "$dir/pg$place"
    done
    timeout 600 "$project/scripts/build.sh" >&2 || return 1
    DESTDIR=$dir/pg "$project/scripts/install.sh" >&2 || return 1
    if [[ $EUID -eq 0 ]]; then chown -R "$server_user" "$dir/pg"; fi
    PG_CONFIG=$dir/pg$("$PG_CONFIG" --bindir)/pg_config
}

# Starts the server with the inputs loaded, if it does not run; fails where that cannot be.
bench_server_start() {
    if [[ -n ${bench_server:-} ]]; then return; fi
    if [[ ! -x $PG_CONFIG ]]; then
        skipped 'the server' 'no PostgreSQL at PG_CONFIG; make setup installs it'
        return 1
    fi
    progress 'build neardup, start a server (2 to 4 min the first time)'
    if ! copy_of_postgres; then
        skipped 'the server' 'neardup could not be built'
        return 1
    fi
    source "$project/scripts/server.sh"
    mkdir -m 700 "$dir/server"
    if [[ $EUID -eq 0 ]]; then chown "$server_user" "$dir/server"; fi
    bench_server=$dir/server
    if ! { server_in "$bench_server" "
shared_buffers = 1GB
maintenance_work_mem = 1GB
max_parallel_workers_per_gather = 3
max_wal_size = 8GB
statement_timeout = 120s
jit = off
" && q -c 'CREATE EXTENSION neardup' && load "$large"; }; then
        skipped 'the server' 'it could not be started or filled'
        return 1
    fi
    if [[ $small != "$large" ]]; then load "$small"; fi
}

bench_server_stop() {
    if [[ -n ${bench_server:-} ]]; then server_stop "$bench_server"; fi
}

# load NAME: a table of that name; the ids are the numbers of the lines.
load() {
    progress "load $1"
    q -c "CREATE TABLE $1(id bigint PRIMARY KEY, body text)"
    awk -F'\t' '{ print NR "\t" $2 }' "$corpora/$1.tsv" |
        q -c "\\copy $1 from pstdin with (format csv, delimiter E'\\t', quote E'\\x01')"
    q -c "VACUUM ANALYZE $1"
}

# call TABLE ARGUMENTS THREADS: a row of the table; threads 1 before others, for the ratio.
call() {
    # The texts into memory first. A failure is one row, not the end.
    q -v tab="$1" -v threads="$3" -v memcpy="$memcpy" -v alone="${alone:-0}" <<SQL || echo "$1, ${2//|/ }|$3|failed"
SET neardup.threads = :threads;
SELECT sum(octet_length(body)) AS bytes FROM :"tab" \gset
SELECT clock_timestamp() AS began \gset
SELECT count(*) AS pairs FROM near_duplicates(:'tab', $2) \gset
SELECT extract(epoch FROM clock_timestamp() - :'began')::float8 AS seconds \gset
SELECT concat_ws('|', :'tab' || ', ' || \$\$$2\$\$, :threads, :pairs, round(:seconds::numeric, 3),
    round(read_ms::numeric), round(order_ms::numeric), round(join_ms::numeric), pg_size_pretty(peak_memory),
    round((1e3 * floor)::numeric, 1), round((:seconds / floor)::numeric),
    CASE WHEN :alone > 0 THEN round((:seconds / :alone)::numeric, 2)::text ELSE '1' END)
FROM near_duplicates_stats(), LATERAL (SELECT (:bytes + 8 * tokens) / (:memcpy * 1e9) AS floor) f;
SQL
}

server() {
    bench_server_start || return 0
    progress 'near_duplicates (1 min)'
    local arguments name
    for name in $(printf '%s\n' "$large" "$small" | uniq); do
        for arguments in '0.9' '0.8' '0.8, shingle => 5'; do
            local alone=0 row
            row=$(call "$name" "$arguments" 1)
            echo "$row"
            alone=$(cut -d'|' -f4 <<<"$row")
            call "$name" "$arguments" 4
        done
    done | table 'call|threads|pairs|seconds|read ms|order ms|join ms|memory|floor ms|times floor|to 1 thread'
}
