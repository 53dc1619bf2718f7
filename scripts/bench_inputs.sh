# To be sourced by bench.sh and bench_before.sh: where the inputs are.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of bench.sh

# Sets: corpora, the folder of the inputs; large and small, which of these to take for what.
find_corpora() {
    local data=${NEARDUP_DATA:-}
    local generator=$data/../bench/make_corpora.py
    large=big200k
    small=reuters
    if [[ -n ${NEARDUP_BENCH:-} ]]; then
        corpora=$NEARDUP_BENCH
    elif [[ -e $kept/corpora/complete ]]; then
        corpora=$kept/corpora
    elif [[ -f $generator ]] && python3 -c 'import numpy' 2>/dev/null; then
        corpora=$kept/corpora
        progress 'make the inputs (2 min, once)'
        timeout 600 python3 "$generator" "$corpora" >&2
        touch "$corpora/complete"
    else
        skipped 'the generated inputs' 'no generator beside NEARDUP_DATA, or no python3 with numpy; texts of this machine instead'
        large=licences
        small=licences
        corpora=$dir
        scripts/text_rows.sh /usr/share/doc/*/copyright /usr/share/common-licenses |
            sed 's/\\[nrt]/ /g; s/\\\\/\\/g' | awk -F'\t' '{ print NR "\t" $2 }' >"$dir/licences.tsv"
    fi
}
