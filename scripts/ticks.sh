# To be sourced by benches of several servers.
#   ticks DIR…   the processor time that all processes of the servers in these directories took, those that have ended too
ticks() {
    local dir parent
    for dir in "$@"; do
        parent=$(head -n 1 "$dir/data/postmaster.pid")
        ps -o pid= -p "$parent" --ppid "$parent" | while read -r pid; do cat "/proc/$pid/stat" 2>/dev/null || true; done |
            sed 's/.*) //' | awk -v parent="$parent" '{ sum += $12 + $13 } $2 != parent { sum += $14 + $15 } END { print sum }'
    done | awk '{ sum += $1 } END { print sum }'
}
