# To be sourced: servers whose tables are partitions of tables of one more, the coordinator, which q reaches.
#   shards_start COUNT ['configuration lines of the servers']   workers[0] and so on are the directories of the servers, database documents; the last one is the
#   coordinator's, whose servers are called 1 to COUNT; all are stopped when the script ends
#   shard TABLE COLUMNS KEY   a table, and one of that name on each server, spread by a hash of the key
#   far N …   psql in the database of server N
# shellcheck shell=bash

workers=()
shards_stop() {
    for dir in "${workers[@]}"; do server_stop "$dir"; done
}

far() {
    q -h "${workers[$1 - 1]}" -d documents "${@:2}"
}

shards_start() {
    local n
    shards=$1
    trap shards_stop EXIT
    for n in $(seq "$shards"); do
        workers+=("$(private_dir)")
        server_in "${workers[-1]}" "log_statement = all
log_parameter_max_length = 0
${2:-}"
        createdb documents
        q -d documents -c 'CREATE EXTENSION neardup'
    done
    workers+=("$(private_dir)")
    server_in "${workers[-1]}"
    q -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION neardup' -c 'CREATE EXTENSION postgres_fdw'
    for n in $(seq "$shards"); do
        q -v n="$n" -v host="${workers[n - 1]}" <<'SQL'
CREATE SERVER :"n" FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'host', port '5432', dbname 'documents', extensions 'neardup');
CREATE USER MAPPING FOR CURRENT_USER SERVER :"n" OPTIONS (user 'postgres');
SQL
    done
}

shard() {
    local n
    q -c "CREATE TABLE $1 ($2) PARTITION BY HASH ($3)"
    for n in $(seq "$shards"); do
        far "$n" -c "CREATE TABLE $1 ($2)"
        q -c "CREATE FOREIGN TABLE ${1}_$n PARTITION OF $1 FOR VALUES WITH (MODULUS $shards, REMAINDER $((n - 1)))
            SERVER \"$n\" OPTIONS (table_name '$1', batch_size '1000')"
    done
}

# No working table is left on any of them.
left_behind() {
    local dir database
    for dir in "${workers[@]}"; do
        database=documents
        if [[ $dir == "${workers[-1]}" ]]; then database=postgres; fi
        expect "$1: no working table is left" '' "$(q -h "$dir" -d "$database" -c "SELECT relname FROM pg_class WHERE relname ~ '^neardup_[0-9a-f]{12}_'")"
    done
}
