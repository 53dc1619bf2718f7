# To be sourced: a private PostgreSQL server, reached only through a Unix socket in a directory of its own.
#   server_start ['configuration lines']   in a new directory; stopped and removed when the script ends
#   server_in DIRECTORY ['configuration lines']   in that directory; stays until server_stop DIRECTORY
#   server_down DIRECTORY, server_up   stop it, and start the present one again
#   backend_killed PID   kill -9 of a backend, which takes its server down, and back when that has begun anew
#   q …   psql with bare output, stopping at the first error; psql, pg_dump, createdb … reach the server as well
# shellcheck shell=bash

source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bindir=$("$PG_CONFIG" --bindir)
PATH=$bindir:$PATH

# new_cluster FOLDER: makes the files of a cluster.
new_cluster() {
    as_server "$bindir/initdb" -D "$1" -U postgres -A trust -N --encoding=UTF8 --locale=C.UTF-8 >/dev/null
}

# NEARDUP_CLUSTER names such a folder to copy instead: test.sh makes one for all.
server_in() {
    server=$1
    if [[ -n ${NEARDUP_CLUSTER:-} ]]; then
        as_server cp -r "$NEARDUP_CLUSTER" "$server/data"
    else
        new_cluster "$server/data"
    fi
    as_server tee -a "$server/data/postgresql.conf" >/dev/null <<CONF
listen_addresses = ''
unix_socket_directories = '$server'
fsync = off
shared_buffers = 64MB
log_line_prefix = '%m [%p] %e '
${2:-}
CONF
    # Variables of the caller's shell must not lead us to another server.
    unset PGHOSTADDR PGSERVICE PGOPTIONS
    export PGHOST=$server PGPORT=5432 PGUSER=postgres PGDATABASE=postgres PGCLIENTENCODING=UTF8
    server_up
}

# With RUST_BACKTRACE, which must not be seen in any error of a client.
export RUST_BACKTRACE=1
server_up() {
    as_server "$bindir/pg_ctl" -D "$server/data" -o '-p 5432' -w -l "$server/log" start >/dev/null || {
        cat "$server/log" >&2
        return 1
    }
}

server_start() {
    local dir
    dir=$(private_dir)
    # shellcheck disable=SC2064 # the directory as it is now
    trap "server_stop '$dir'" EXIT
    server_in "$dir" "$@"
}

# A backend that hangs in a call must not keep the machine: after a while it is cut off. A server that was killed has left its
# file, and nothing to stop.
server_down() {
    local ctl=("$bindir/pg_ctl" -D "$1/data" -w -t 20 stop)
    if [[ -f $1/data/postmaster.pid ]] && as_server "$bindir/pg_ctl" -D "$1/data" status >/dev/null; then
        as_server "${ctl[@]}" -m fast >/dev/null 2>&1 || as_server "${ctl[@]}" -m immediate >/dev/null
    fi
}

# Clients are told of the death before the server knows of it, and new ones may connect in between. A backend that has ended
# before it could be killed is no failure.
checkpointer() { q -c "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'" 2>/dev/null || true; }
backend_killed() {
    local before now='' until=$((SECONDS + 60))
    before=$(checkpointer)
    as_server kill -9 "$1" 2>/dev/null || return 0
    until [[ -n $now && $now != "$before" ]] || ((SECONDS > until)); do now=$(checkpointer); done
}

server_stop() {
    server_down "$1"
    rm -rf "$1"
}

q() {
    psql -X -v ON_ERROR_STOP=1 -qAt "$@"
}
