"""Ends a private server when the process that started it is gone, however it went: also by kill -9.

`python -I -S watchdog.py FOLDER`, with the read end of a pipe as its input: the process that has the other end lives,
or says by a byte that it is done. The lock of the folder's marker is held here, too, so that no sweep takes the folder
meanwhile. It runs in a session of its own and imports nothing of this package.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

PATIENCE = 60.0
"""Seconds that a server has to end by itself. It takes less than six: after five it kills those that hang."""

_PROGRAMS = ("initdb", "pg_ctl", "postgres", "cp")


def remove(folder: Path) -> None:
    """Ends what runs in a folder of a private server, and removes it; but not a data directory that it links to.

    A process belongs to it by the directory that it works in, and not by a number that another may have by now. Where
    the system does not tell that, the server finds within a minute that its files are gone, and ends itself.
    """
    _end(folder, _removed)


def end(folder: Path) -> None:
    """Ends what runs in a folder of a private server."""
    _end(folder, lambda _: True)


def text_of(path: Path, last: int) -> str:
    """The last bytes of a file in a folder of the server's user, who could put a link or a pipe in its place."""
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        file.seek(max(0, state.st_size - last))
        return file.read(last).decode(errors="replace")


def _end(folder: Path, then: Callable[[Path], bool]) -> None:
    began = time.monotonic()
    while (waited := time.monotonic() - began) < 2 * PATIENCE:
        running = list(_running_in(folder))
        if not running and then(folder):
            return
        server = _postmaster(folder) if waited < PATIENCE else None
        if server in running:
            # It ends its processes, and gives back memory that is shared.
            _signal(server, folder, signal.SIGQUIT)
        else:
            for number in running:
                _signal(number, folder, signal.SIGKILL)
        time.sleep(0.01)


def _removed(folder: Path) -> bool:
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _running_in(folder: Path) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*"):
        if _is_in(int(entry.name), folder):
            yield int(entry.name)


def _is_in(number: int, folder: Path) -> bool:
    # The folder itself is not followed, should it be a link by now; the data directory of one whose files stay is.
    places = [Path(os.path.realpath(folder.parent), folder.name)]
    with suppress(OSError):
        places.append(Path(os.path.realpath((folder / "data").readlink())))
    process = Path("/proc", str(number))
    try:
        works_in = str((process / "cwd").readlink()).removesuffix(" (deleted)")
        is_here = any(f"{works_in}/".startswith(f"{place}/") for place in places)
        return is_here and (process / "comm").read_text().strip() in _PROGRAMS
    except OSError:
        return False


def _postmaster(folder: Path) -> int | None:
    with suppress(OSError, ValueError):
        return int(text_of(folder / "data" / "postmaster.pid", 1000).split("\n", 1)[0])
    return None


def _signal(number: int, folder: Path, what: signal.Signals) -> None:
    with suppress(OSError):
        try:
            # Through a handle, so that it is still the process that was looked at.
            handle = os.pidfd_open(number)
        except OSError as error:
            if error.errno == errno.ENOSYS and _is_in(number, folder):
                os.kill(number, what)
            return
        try:
            if _is_in(number, folder):
                signal.pidfd_send_signal(handle, what)
        finally:
            os.close(handle)


def main() -> None:
    """Waits, and removes."""
    # What ends the parent must not end this one before it.
    for name in ("SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    os.read(0, 1)
    remove(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
