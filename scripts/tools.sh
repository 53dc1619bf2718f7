# To be sourced, after common.sh: what a build needs, and the command that brings what is missing.
# shellcheck shell=bash disable=SC2154 # variables of common.sh

# missing WHAT HOW: to standard error; false.
missing() {
    printf '%s: %s\n    %s\n' "$(basename "$0" .sh)" "$1" "$2" >&2
    return 1
}

need_server_headers() {
    local headers
    if [[ ! -x $PG_CONFIG ]]; then
        missing "no pg_config at $PG_CONFIG" 'make setup, or name another PostgreSQL: make PG_CONFIG=/path/to/pg_config'
        return
    fi
    headers=$("$PG_CONFIG" --includedir-server)
    if [[ ! -e $headers/postgres.h ]]; then
        missing "no server headers of $("$PG_CONFIG" --version) in $headers" \
            "make setup, or on Debian: apt-get install postgresql-server-dev-$("$PG_CONFIG" --version | grep -oE '[0-9]+' | head -n 1)"
    fi
}

# As Cargo.toml says. Asked before cargo is: an old one cannot even read that file.
need_rust() {
    local wanted found
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$project/Cargo.toml")
    found=$(rustc --version 2>/dev/null | cut -d' ' -f2 || true)
    if ! command -v cargo >/dev/null || [[ $(printf '%s\n' "$wanted" "${found:-0}" | sort -V | head -n 1) != "$wanted" ]]; then
        missing "needs Rust $wanted or newer, found: ${found:-none}" \
            "$(if command -v rustup >/dev/null; then echo 'rustup update stable'; else echo 'install it with rustup, in your home folder'; fi)"
    fi
}

need_rustfmt() {
    if ! rustfmt --version >/dev/null 2>&1; then
        missing 'no rustfmt, which pgrx calls while it is compiled' 'make setup, or: rustup component add rustfmt'
    fi
}

need_compiler() {
    command -v cc >/dev/null ||
        missing 'no C compiler (cc), which also links' 'make setup, or on Debian: apt-get install build-essential'
}

# Only after a build failed: where a libclang may be is known to the build alone.
libclang_is_missing() {
    [[ -z ${LIBCLANG_PATH:-} ]] && ! command -v llvm-config >/dev/null && ! ldconfig -p 2>/dev/null | grep -q libclang &&
        ! compgen -G '/usr/lib*/llvm*/lib*/libclang*.so*' >/dev/null
}

# writing_to FOLDER command…: by sudo where this user may not write there, or where it would be made.
writing_to() {
    local place=$1
    shift
    until [[ -d $place ]]; do place=$(dirname "$place"); done
    if [[ -w $place ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        missing "no right to write in $place" "as root: $*"
    fi
}
