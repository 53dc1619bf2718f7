#!/usr/bin/env bash
# release_library.sh VERSION: builds the library of a released version from its tag, and prints where it is. 77, with the
# reason, where that cannot be: the history is not there, or that version knows nothing of this PostgreSQL.
#
# It is compiled under a library name of its own into the folder that everything is compiled to: what it stands on is
# there already, and no file of the present version is touched.
set -euo pipefail
source "$(dirname "$0")/common.sh"
version=$1 tag=v$1
cannot() {
    echo "$*"
    exit 77
}

cd "$project"
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
commit=$(git rev-parse -q --verify "$tag^{commit}" 2>/dev/null) || cannot "no tag $tag here"
feature=pg$("$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
# 0.1.0 has features for 16 and 17 that never compiled.
if ! git show "$commit:Cargo.toml" | grep -q "^$feature = " || [[ $version == 0.1.0 && $feature != pg15 ]]; then
    cannot "neardup $version is not for $("$PG_CONFIG" --version)"
fi

source=$target/released/$version name=neardup_${version//./_}
if [[ ! -e $source/$commit ]]; then
    rm -rf "$source"
    mkdir -p "$source.part"
    # With the times of the commit, so that cargo sees next time that nothing has changed.
    git archive "$commit" | tar -x -C "$source.part"
    sed -i "s/^\[lib\]\$/&\nname = \"$name\"/" "$source.part/Cargo.toml"
    touch "$source.part/$commit"
    mv "$source.part" "$source"
fi
(cd "$source" && CARGO_TARGET_DIR=$target cargo build --locked --quiet --lib --profile quick --no-default-features --features "$feature" >&2)
echo "$target/quick/lib$name.so"
