#!/usr/bin/env bash
# Carries out packaging/Dockerfile where there is no Docker: each instruction as it is written, in clean roots of Debian.
# In place of the image postgres stands Debian's PostgreSQL, in place of the image rust the Rust of this machine.
# A first query is asked in what comes out. By hand, before a release: it compiles everything anew, without a network of its own.
set -euo pipefail
source "$(dirname "$0")/root.sh"
in_namespace "$@"
cd "$project"
toolchain=$(rustc --print sysroot)
trusted=/etc/ssl/certs/ca-certificates.crt

declare -A value=() stage=()
environment=() roots=0 root='' folder=/

# expand TEXT: with the values of ${NAME}, as ARG and ENV gave them; what is the shell's own stays.
expand() {
    local text=$1 name
    for name in "${!value[@]}"; do text=${text//"\${$name}"/${value[$name]}}; done
    echo "$text"
}
# image NAME: the root that a stage begins with; '' for Rust's.
image() {
    case $1 in
        rust:*) root=rust ;;
        postgres:*)
            root=$work/$((++roots)) folder=/ environment=()
            local pg=${1#postgres:}
            # Of a second stage of the same image only PostgreSQL counts: neither may see what the other one did.
            clean_root "$root" "postgresql-${pg%%-*}"
            cp /etc/resolv.conf /etc/hosts "$root/etc/"
            ;;
        *) skip "what is the image $1?" ;;
    esac
}
copy() {
    local from=$project
    if [[ $1 == --from=* ]]; then
        from=${stage[${1#--from=}]} && shift
    fi
    case $from:$1 in
        # Only what runs rustc: its proxies are of another place.
        rust:*/rustup) mkdir -p "$root$2" && mount --bind -o ro "$toolchain" "$root$2" ;;
        rust:*/cargo) mkdir -p "$root$2" "$root/usr/local/bin" && ln -s /usr/local/rustup/bin/{cargo,rustc,rustfmt} "$root/usr/local/bin" ;;
        "$project":.) git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$root$folder" ;;
        *) cp -a "$from$1." "$root$2" ;;
    esac
}
while read -r instruction rest; do
    rest=$(expand "$rest")
    [[ -n $instruction && $instruction != '#'* ]] || continue
    echo "== $instruction $rest"
    read -ra words <<<"$rest"
    case $instruction in
        ARG) if [[ $rest == *=* ]]; then value[${rest%%=*}]=${rest#*=}; fi ;;
        FROM)
            image "${words[0]}"
            if [[ ${words[1]:-} == AS ]]; then stage[${words[2]}]=$root; fi
            ;;
        ENV)
            value[${rest%%=*}]=${rest#*=}
            environment+=("$rest")
            ;;
        WORKDIR) folder=$rest && mkdir -p "$root$folder" ;;
        COPY) copy "${words[@]}" ;;
        RUN)
            # The Rust of this machine has its parts already.
            if [[ $root == rust ]]; then continue; fi
            chroot "$root" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
                DEBIAN_FRONTEND=noninteractive "${environment[@]}" sh -ec "cd '$folder' && $rest" </dev/null
            # Whom this machine trusts when it fetches crates.
            if [[ -e $root/$trusted && -e $trusted ]]; then cp "$trusted" "$root/$trusted"; fi
            ;;
        *) skip "what is $instruction?" ;;
    esac
done <packaging/Dockerfile

in_root "$root" pg_ctlcluster "${value[PG]}" main start -o '-c listen_addresses='
seen=$(in_root "$root" runuser -u postgres -- psql -X -qAt -c 'CREATE EXTENSION neardup' -c "SELECT jaccard('a b c', 'a b c d')")
in_root "$root" pg_ctlcluster "${value[PG]}" main stop
[[ $seen == 0.75 ]] || {
    echo "expected 0.75, seen: $seen"
    exit 1
}
echo 'the steps of the Dockerfile: built, installed and used'
