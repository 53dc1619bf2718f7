# To be sourced: private copies of PostgreSQL, so that a test can put another neardup into one while others run beside it.
#   postgres_copy PG_CONFIG FOLDER   makes one in FOLDER; prints the pg_config of it
#   neardup_put FILE… PG_CONFIG   puts libraries (*.so) and scripts of neardup there, instead of those of the same names
#   neardup_clear PG_CONFIG   takes all of neardup out
# shellcheck shell=bash

# A server finds its folders from where its program is (PostgreSQL is relocatable, but for links to the program). So
# programs are copied, and everything else is a link to what is there.
postgres_copy() {
    local config=$1 copy=$2 bin lib share top folder
    bin=$("$config" --bindir) lib=$("$config" --pkglibdir) share=$("$config" --sharedir)
    # What the three have in common is what may be another one.
    top=$bin
    until [[ $lib/ == "$top"/* && $share/ == "$top"/* ]]; do top=$(dirname "$top"); done
    top=${top%/}
    mkdir -p "$copy${bin#"$top"}" "$copy${lib#"$top"}" "$copy${share#"$top"}/extension"
    cp "$bin"/* "$copy${bin#"$top"}"
    for folder in "$lib" "$share" "$share/extension"; do
        find "$folder" -mindepth 1 -maxdepth 1 ! -name 'neardup*' ! -path "$share/extension" -exec ln -s -t "$copy${folder#"$top"}" {} +
    done
    # Libraries that programs look for beside themselves.
    folder=$("$config" --libdir)
    if [[ $lib == "$folder"/* ]]; then
        find "$folder" -maxdepth 1 -name '*.so*' -exec ln -s -t "$copy${folder#"$top"}" {} +
    fi
    echo "$copy${bin#"$top"}/pg_config"
}

# A new file each: a server that has the old library loaded keeps it.
neardup_put() {
    local config=${!#} file folder
    for file in "${@:1:$#-1}"; do
        case $file in
            *.so) folder=$("$config" --pkglibdir) ;;
            *) folder=$("$config" --sharedir)/extension ;;
        esac
        install -m 644 "$file" "$folder"
    done
}

neardup_clear() {
    rm -f "$("$1" --pkglibdir)"/neardup* "$("$1" --sharedir)"/extension/neardup*
}
