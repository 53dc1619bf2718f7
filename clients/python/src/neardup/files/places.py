"""Where the bytes of a file are: on this machine, or where fsspec reaches them."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import IO, Any, Final

from neardup.files.chunks import FileError

_ENDS: Final = 1 << 16
"""Bytes of the beginning and of the end of a file that are looked at."""


@dataclass(frozen=True, slots=True)
class Place:
    """A file to read."""

    path: Path
    """Where it is, on this machine, or in its file system."""
    name: str
    """What messages call it."""
    below: PurePath
    """Its path below what was named: what is made of it has the same below another folder."""
    system: Any = None
    """A file system of fsspec; None of this machine."""

    @classmethod
    def of(cls, path: Path, name: str | None = None) -> Place:
        """A file of this machine."""
        return cls(path, name or str(path), PurePath(path.name))

    @property
    def identity(self) -> str:
        """What is the same of the same file under another name."""
        return str(self.path.resolve()) if self.system is None else self.name

    def open(self) -> IO[bytes]:
        """Opens it."""
        if self.system is None:
            return self.path.open("rb")
        opened: IO[bytes] = io.BufferedReader(self.system.open(str(self.path), "rb"))
        return opened

    def size(self) -> int:
        """Its bytes."""
        return self.path.stat().st_size if self.system is None else int(self.system.size(str(self.path)))

    def state(self) -> tuple[int, int] | None:
        """What changes when it is written to; None where that is not known."""
        if self.system is not None:
            return None
        state = self.path.stat()
        return state.st_size, state.st_mtime_ns

    def seen(self) -> tuple[int, int, str]:
        """Its size, its time, and a hash of its beginning and its end, where it is on this machine."""
        with self.open() as file:
            size = self.size()
            time = os.fstat(file.fileno()).st_mtime_ns if self.system is None else 0
            read = hashlib.sha256(file.read(_ENDS))
            file.seek(max(0, size - _ENDS))
            read.update(file.read(_ENDS))
        return size, time, read.hexdigest()


def is_remote(argument: str) -> bool:
    """Whether an argument is a URL."""
    return "://" in argument


def remote(argument: str) -> Sequence[Place]:
    """The files of a URL: of a file, a folder or a pattern."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise FileError(f"{argument}: URLs need fsspec: pip install 'neardup[command]' fsspec") from error
    try:
        system, path = url_to_fs(argument)
        if any(sign in path for sign in "*?["):
            found, top = sorted(system.glob(path)), PurePath(path).parent
            found = [each for each in found if system.isfile(each)]
        elif system.isdir(path):
            found, top = sorted(system.find(path)), PurePath(path)
        elif system.exists(path):
            found, top = [path], PurePath(path).parent
        else:
            raise FileError(f"{argument}: there is no such file or folder")
    except FileError:
        raise
    except ImportError as error:
        # It names the package that reaches such URLs.
        raise FileError(f"{argument}: {error}") from error
    except Exception as error:
        # Each file system has errors of its own.
        raise FileError(f"{argument} cannot be read: {error or type(error).__name__}") from error
    places = []
    for each in found:
        below = PurePath(each).relative_to(top) if PurePath(each).is_relative_to(top) else PurePath(PurePath(each).name)
        places.append(Place(Path(each), system.unstrip_protocol(each), below, system))
    return places
