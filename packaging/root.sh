# To be sourced: clean roots of Debian, in which packages are tried. Nothing of the machine itself is touched.
#   in_namespace "$@"   first: begins the script again with mounts and processes of its own, which end with it
#   clean_root FOLDER PACKAGE…   makes one with these packages, from the mirrors that apt is set to here; of the release
#       of Debian that $debian names, by default of this machine's
#   in_root FOLDER command…   runs a command there, without any network
# Where that cannot be had the script ends with 77 and the reason.
# shellcheck shell=bash

source "$(dirname "${BASH_SOURCE[0]}")/../scripts/common.sh"
source "$project/scripts/packages.sh"

skip() {
    echo "skipped: $*"
    exit 77
}

# Sets $work, a folder that goes when the script ends. It is removed by the outer script, for which nothing is mounted there.
in_namespace() {
    if [[ -n ${NEARDUP_WORK:-} ]]; then
        work=$NEARDUP_WORK
        return
    fi
    [[ $EUID -eq 0 ]] || skip 'only root can make a clean root'
    unshare --mount --pid --ipc --fork true 2>/dev/null || skip 'mounts of its own are not allowed here'
    local status=0
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder as it is now
    trap "rm -rf --one-file-system '$work'" EXIT
    # A signal ends the script inside first.
    NEARDUP_WORK=$work unshare --mount --pid --ipc --fork --kill-child --mount-proc "$0" "$@" || status=$?
    exit "$status"
}

this_debian() { (. /etc/os-release && echo "${VERSION_CODENAME:-}"); }

clean_root() {
    local root=$1 codename here sources
    shift
    need_packages 'clean root' mmdebstrap || true
    command -v mmdebstrap >/dev/null || skip 'no mmdebstrap'
    here=$(this_debian) codename=${debian:-$here}
    # shellcheck disable=SC2016 # fields of apt
    sources=$(apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        sed -n "s/^Debian \(deb [^ ]* \)$here\(.*\)/\1$codename\2/p" | sort -u)
    [[ -n $sources ]] || skip 'apt knows no mirror of Debian'
    apt-config dump | grep -iE '^Acquire::[a-z]+::Proxy' >"$work/proxies" || true
    # A mirror that does not answer is told of soon.
    echo "$sources" | mmdebstrap --quiet --mode=root --variant=minbase --aptopt="$work/proxies" \
        --aptopt='Acquire::http::Timeout "20"' --aptopt='Acquire::https::Timeout "20"' --aptopt='Acquire::Retries "1"' \
        --include="$(IFS=,; echo "$*")" "$codename" "$root" - >"$work/mmdebstrap.log" 2>&1 || {
        tail -n 5 "$work/mmdebstrap.log"
        skip "no clean root of $codename with $*"
    }
    mount -t proc proc "$root/proc"
    mount -t devpts devpts "$root/dev/pts" -o newinstance,ptmxmode=666
    mount -t tmpfs tmpfs "$root/dev/shm"
}

in_root() {
    local root=$1
    shift
    unshare --net chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
