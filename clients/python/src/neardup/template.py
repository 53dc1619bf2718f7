"""An empty cluster with the extension, kept from one private server to the next, which saves each the time of initdb.

It has one database, `postgres`: the templates of others are two thirds of the files, which are copied for each server.

It belongs to the server's user, below the cache folder of that user, and only that user's programs read and write it:
root runs them as the user postgres. Where there is no such folder, or no room, all is as without it.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "pg-"
COPY: Final = """
    umask 077
    mkdir -p "$2" && cp -Rp "$1/." "$2" || { rm -rf "$2"/*; exit 1; }
"""
"""A shell copies the cluster; what it copied of one that is not whole, it removes."""
KEEP: Final = r"""
    umask 077
    mkdir -p "${3%/*}" || exit 1
    printf '%s\n' 'CREATE EXTENSION neardup' 'UPDATE pg_database SET datistemplate = false' \
        'DROP DATABASE template0' 'DROP DATABASE template1' |
        "$1" --single -D "$2" -c fsync=off -c wal_recycle=off postgres || exit 1
    new=$3.$$
    cp -Rp "$2/." "$new" && { test -e "$3" || mv "$new" "$3"; }
    rm -rf "$new"
    ls -dt "${3%/*}"/pg-* | tail -n +4 | while read -r old; do rm -rf "$old"; done
"""
"""A shell puts the extension into a new cluster, and keeps a copy of it beside the last ones of other versions."""


def place(user: str | None, made_with: str, files: Path) -> Path | None:
    """Where the cluster of an installation is kept, or would be; None where it cannot be.

    `files`: the folder with the extension's files. Of another version or with others of them, it is another cluster.
    """
    cache = _cache(user)
    owner = os.geteuid() if user is None else pwd.getpwnam(user).pw_uid
    if cache is None or not all(_is_of(folder, owner) for folder in (cache.parent, cache)):
        return None
    # A home may be that of several machines.
    known = "\n".join([made_with, os.uname().sysname, os.uname().machine, *_seen(files)])
    found = cache / f"{PREFIX}{hashlib.sha256(known.encode()).hexdigest()[:16]}"
    return found if _is_of(found, owner) else None


def _cache(user: str | None) -> Path | None:
    if user is None and (named := os.environ.get("XDG_CACHE_HOME")):
        return Path(named, "neardup")
    with suppress(RuntimeError, KeyError):
        home = Path.home() if user is None else Path(pwd.getpwnam(user).pw_dir)
        return home / ".cache" / "neardup"
    return None


def _is_of(folder: Path, owner: int) -> bool:
    """Whether a folder is not there yet, or is one that only its owner could write."""
    try:
        state = folder.lstat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    others = state.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(state.st_mode) and state.st_uid == owner and not others


def _seen(files: Path) -> Iterator[str]:
    for path in sorted(files.glob("neardup[-.]*")):
        state = path.stat()
        yield f"{path} {state.st_size} {state.st_mtime_ns}"
