# To be sourced: Debian packages that a script needs, installed where they are missing.
#   as_root command…   as root, by sudo where there is need
#   need_packages what, package…   silent where all of them are there, and on a system without dpkg
# shellcheck shell=bash

as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "as root, or with sudo, please run: $*" >&2
        return 1
    fi
}

install_packages() {
    as_root apt-get update -q
    # The packages would create and start a cluster on port 5432; nobody here needs it.
    if [[ ! -e /etc/postgresql-common ]]; then
        as_root mkdir /etc/postgresql-common
        echo 'create_main_cluster = false' | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    # --force-confold: dpkg must keep that file without asking.
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
        -o Dpkg::Options::=--force-confold "$@"
}

need_packages() {
    local what=$1 package missing=()
    shift
    command -v dpkg-query >/dev/null || return 0
    for package in "$@"; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done
    ((${#missing[@]} == 0)) || step "$what: Debian packages ${missing[*]} (1 to 3 min)" install_packages "${missing[@]}"
}
