# To be sourced by bench.sh: what it prints.
# shellcheck shell=bash disable=SC2154 # variables of bench.sh

# What is being done, to standard error.
progress() { echo "== $*" >&2; }

# say <<<"text": to the output and to the report.
say() { tee -a "$report"; }

heading() {
    case $1 in
        kernels) printf '### Kernels\n\n' ;;
        sketches) printf '### Sketches\n\n' ;;
        hamming) printf '### All pairs of simhashes\n\n' ;;
        join) printf '### The join on ready sets\n\n' ;;
        server) printf '### Inside PostgreSQL\n\n' ;;
        jobs) printf '### Refreshes of jobs\n\n' ;;
        index) printf '### The signature index\n\n' ;;
        sets) printf '### Exact search of texts\n\n' ;;
        incoming) printf '### Incoming texts\n\n' ;;
        runs) printf '### Repeated runs\n\n' ;;
        runs_growth) printf '### Repeated runs of four million documents\n\n' ;;
        peers) printf '### Peers\n\n' ;;
        dedup) printf '### Programs that deduplicate\n\n' ;;
    esac | say
}

# skipped WHAT WHY
skipped() { printf 'Skipped: %s (%s).\n\n' "$1" "$2" | say; }

# table 'HEAD|HEAD': rows "cell|cell" from standard input as a Markdown table with straight columns, the first to the
# left, the others to the right.
table() {
    { echo "$1" && cat; } | awk -F'|' '
        { for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) }
          if (NF > columns) columns = NF }
        END {
            for (row = 1; row <= NR; row++) {
                line = "|"; rule = "|"
                for (i = 1; i <= columns; i++) {
                    line = line sprintf(" %" (i == 1 ? "-" : "") width[i] "s |", cell[row, i])
                    dashes = sprintf("%" (width[i] + 1) "s", ""); gsub(/ /, "-", dashes)
                    rule = rule dashes (i == 1 ? "-|" : ":|")
                }
                print line
                if (row == 1) print rule
            }
        }' | { cat && echo; } | say
}
