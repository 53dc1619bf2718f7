# To be sourced: a coordinator of Citus, which q reaches, and its workers, all on this machine, each on a socket of its own.
#   citus_or_skip        ends the script (77 is "skipped" to tally.sh) where Citus is not installed in this PostgreSQL
#   citus_start COUNT ['configuration lines']   nodes[0] and so on are the directories of the workers, the last one is the
#                        coordinator's; all are stopped when the script ends
#   worker N …           psql on worker N
# shellcheck shell=bash

citus_or_skip() {
    if [[ ! -e $("$PG_CONFIG" --sharedir)/extension/citus.control ]]; then
        echo "skipped: Citus is not installed in the PostgreSQL of $PG_CONFIG"
        exit 77
    fi
}

nodes=()
citus_stop() {
    for dir in "${nodes[@]}"; do server_stop "$dir"; done
}

worker() {
    q -h "${nodes[$1 - 1]}" "${@:2}"
}

citus_start() {
    local n count=$1
    trap citus_stop EXIT
    for n in $(seq $((count + 1))); do
        nodes+=("$(private_dir)")
        server_in "${nodes[-1]}" "shared_preload_libraries = 'citus'
max_prepared_transactions = 200
max_connections = 200
wal_level = logical
citus.node_conninfo = 'sslmode=disable'
citus.local_hostname = '${nodes[-1]}'
citus.enable_statistics_collection = off
citus.max_cached_conns_per_worker = 4
${2:-}"
        q -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION citus' -c 'CREATE EXTENSION neardup'
    done
    q -c "SELECT citus_set_coordinator_host('${nodes[-1]}', 5432)" >/dev/null
    for n in $(seq "$count"); do q -c "SELECT citus_add_node('${nodes[n - 1]}', 5432)" >/dev/null; done
}
