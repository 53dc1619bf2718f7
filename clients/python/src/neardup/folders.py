"""Folders of private servers: each known by its marker, whose lock is held while it is in use.

The data directory of a server whose files stay is elsewhere: `data` in its folder is a link to it, and beside that
directory is a lock of its own.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from neardup import watchdog

LOCK: Final = "server.lock"
"""Beside a data directory that stays: held by the call that has a server there, and by its watchdog."""

_PREFIX: Final = "neardup-"
_MARKER: Final = "of-neardup"
"""The file in a folder whose lock says that the folder is in use."""
_LONGEST_FOLDER: Final = 80
"""The path of a socket may have 107 bytes only."""


class FolderError(RuntimeError):
    """There is no folder for a server."""


def _parents() -> list[Path]:
    return [Path(parent) for parent in dict.fromkeys([tempfile.gettempdir(), "/tmp"])]


def private_folder(user: str | None, data: Path | None = None) -> tuple[Path, int]:
    """A new folder of the server's user: short, and not below a TMPDIR which that user cannot enter; and its lock.

    `data` is what `data` in it links to. All that is written there as another user than the server's is written before
    the folder is of the server's user, who could put links in the place of files.
    """
    for parent in _parents():
        try:
            folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        except OSError as error:
            raise FolderError(f"no folder for a server below {parent}: {os.strerror(error.errno or 0)}") from error
        marker = -1
        try:
            marker = _mark(folder)
            if data is not None:
                (folder / "data").symlink_to(data)
            if user is not None:
                shutil.chown(folder, user)
            if len(os.fsencode(folder)) <= _LONGEST_FOLDER and may_enter(folder, user):
                return folder, marker
        except BaseException:
            _discard(folder, marker)
            raise
        _discard(folder, marker)
    raise FolderError(f"no folder for a server below {tempfile.gettempdir()} or /tmp")


def _discard(folder: Path, marker: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if marker >= 0:
        os.close(marker)


def _mark(folder: Path) -> int:
    """Puts the marker into a folder, and its lock on it; the lock is there before the marker has its name."""
    new = folder / f"{_MARKER}.new"
    marker = os.open(new, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
    new.rename(folder / _MARKER)
    return marker


def sweep(user: str | None) -> None:
    """Removes folders of runs that are dead: ours, and with a marker whose lock nobody holds."""
    owner = os.geteuid() if user is None else pwd.getpwnam(user).pw_uid
    for parent in _parents():
        for folder in parent.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                found = folder.lstat()
                if stat.S_ISDIR(found.st_mode) and found.st_uid == owner:
                    _remove_stale(folder)


def _remove_stale(folder: Path) -> None:
    path = folder / _MARKER
    marker = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        opened = os.fstat(marker)
        if not stat.S_ISREG(opened.st_mode) or opened.st_uid != os.geteuid():
            return
        # Refused where it is held. Where another sweep was faster, the file is not there any more.
        fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(opened, path.lstat()):
            _remove_dead(folder)
    finally:
        os.close(marker)


def _remove_dead(folder: Path) -> None:
    lock = -1
    try:
        if (folder / "data").is_symlink():
            # Where the lock is held, the server that runs there is of a call that goes on with the files.
            lock = os.open((folder / "data").resolve().with_name(LOCK), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        (folder / "data").unlink()
    try:
        watchdog.remove(folder)
    finally:
        if lock >= 0:
            os.close(lock)


def may_enter(folder: Path, user: str | None) -> bool:
    """Whether a user may write into a folder."""
    if user is None:
        return os.access(folder, os.W_OK | os.X_OK)
    asked = ["/bin/sh", "-c", 'test -w "$1"', "sh", str(folder.absolute())]
    return subprocess.run(asked, cwd="/", user=user, check=False).returncode == 0
