"""The folder of a call that can be gone on with: what was asked, the files of its server, and how far it is.

Which rows are loaded, and what was found about them, is told by tables of the server, in the transaction that does it;
which files are written, by their names; and that only names are missing, by the journal, a file beside the server's.
"""

from __future__ import annotations

import fcntl
import json
import os
import pwd
import secrets
import shutil
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import neardup
from neardup.files import FileError
from neardup.files.inputs import Inputs
from neardup.server import MADE
from neardup.task import Result, Task
from neardup.watchdog import PATIENCE

_FORMAT: Final = 1
_JOURNAL: Final = "journal"
_LOCK: Final = "server.lock"
_OURS: Final = (_JOURNAL, f"{_JOURNAL}.new", _LOCK, MADE)
"""The files of a folder, beside the data directory."""
_FLAGS: Final = {
    "sources": "IN",
    "kept": "OUT",
    "standard": "--format",
    "by_line": "--lines",
    "quoted": "--tsv-quotes",
    "text_columns": "--text-column",
    "against_text_columns": "--against-text-column",
}
_FREE: Final = ("settings", "force")
"""What may be another one when a call goes on."""


class Work:
    """The folder, which is of this call until the end of the `with` block; gone with it if nothing was done in it."""

    def __init__(self, folder: Path) -> None:
        # Programs of the server run elsewhere.
        self.folder = folder.absolute()
        self.names: list[tuple[Path, Path]] | None = None
        """The files that are whole, and the names that they have to get, once all are whole."""
        self.result = Result()
        """What was done, once all files are whole."""
        self.is_kept = False
        """Whether there is something to go on with."""
        self.token = secrets.token_hex(4)
        self._made = False
        self._held = self.lock = -1
        self._asked: dict[str, Any] = {}

    @property
    def data(self) -> Path:
        """The data directory of the server."""
        return self.folder / "data"

    def __enter__(self) -> Self:
        try:
            self._open()
        except OSError as error:
            self._close()
            raise FileError(f"{self.folder} (--work) cannot be used: {error.strerror or error}") from error
        except BaseException:
            self._close()
            raise
        return self

    def _open(self) -> None:
        if not self.folder.exists():
            self.folder.parent.mkdir(parents=True, exist_ok=True)
            # The server of root is of another user, who has to come to its files through it.
            self.folder.mkdir(0o700 if os.geteuid() else 0o711)
            self._made = True
        self.folder = self.folder.resolve()
        self._held = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._check_owner(os.fstat(self._held))
        if not _locked(self._held, 0):
            raise FileError(f"{self.folder} (--work) is of another call, which runs")
        strange = {path.name for path in self.folder.iterdir()} - {*_OURS, "data"}
        if strange:
            raise FileError(
                f"{self.folder} (--work) is not of an earlier call: it has {min(strange)}. Name a new folder"
            )
        self.lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        # The watchdog of an earlier call has it until the server is ended.
        if not _locked(self.lock, 2 * PATIENCE):
            raise FileError(f"{self.folder} (--work): the server of an earlier call does not end")

    def _check_owner(self, state: os.stat_result) -> None:
        """What is in the folder names files that are moved: it is believed only where nobody else could write it."""
        if state.st_uid != os.geteuid():
            raise FileError(
                f"{self.folder} (--work) belongs to {_user(state.st_uid)}, who may have put anything into it, and this"
                f" is called by {_user(os.geteuid())}. Name a folder of your own, or one that does not exist"
            )
        if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise FileError(
                f"{self.folder} (--work) can be written by other users, who may have put anything into it."
                f" Name another folder, or take their right away: chmod go-w {self.folder}"
            )

    def _read(self) -> str:
        number = os.open(self.folder / _JOURNAL, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, encoding="utf-8") as journal:
            self._check_owner(os.fstat(number))
            return journal.read()

    def begin(self, task: Task, inputs: Sequence[Inputs]) -> None:
        """Goes on with an earlier call, where there is one; an error says what is not as it was there."""
        asked = _asked(task)
        read = [[found.identity, *found.seen()] for each in inputs for found in each.files]
        now = {"format": _FORMAT, "version": neardup.__version__, "asked": asked, "inputs": read}
        # As JSON gives it back.
        now = json.loads(json.dumps(now))
        try:
            before: dict[str, Any] = json.loads(self._read())
        except FileNotFoundError:
            self._asked = now | {"token": self.token, "made": self._made}
            self._write()
            return
        except FileError:
            raise
        except (OSError, ValueError) as error:
            raise FileError(f"{self.folder / _JOURNAL} cannot be read: {error}") from error
        self.is_kept = True
        if differences := list(_differences(before, now)):
            raise FileError(
                f"{self.folder} (--work) is of a call that was another one: {'; '.join(differences)}."
                " Call it as it was, or remove the folder to start again"
            )
        self._asked, self.token, self._made = before, before["token"], before["made"]
        if "names" in before:
            self.names = [(Path(whole), Path(path)) for whole, path in before["names"]]
            self.result = Result(**before["result"])

    def keep(self) -> None:
        """Something is done."""
        self.is_kept = True

    def name(self, names: Sequence[tuple[Path, Path]], result: Mapping[str, Any]) -> None:
        """All files are whole: what is left to do is to give them their names."""
        self._asked |= {"names": [[str(whole.absolute()), str(path.absolute())] for whole, path in names]}
        self._asked["result"] = dict(result)
        self._write()

    def give_names(self) -> Result:
        """Gives files the names that an earlier call could not give any more."""
        for whole, path in self.names or []:
            with suppress(FileNotFoundError):
                whole.replace(path)
            if not path.exists():
                raise FileError(f"{path} is gone, and so is {whole}, of which it was to be made")
        return self.result

    def remove(self) -> None:
        """All is done."""
        self._remove_data()
        self.is_kept = False

    def _remove_data(self) -> None:
        # A part of it is no server to go on with.
        (self.folder / MADE).unlink(missing_ok=True)
        shutil.rmtree(self.data, ignore_errors=True)

    def _write(self) -> None:
        new = self.folder / f"{_JOURNAL}.new"
        new.unlink(missing_ok=True)
        number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as out:
            json.dump(self._asked, out)
            out.flush()
            os.fsync(out.fileno())
        new.replace(self.folder / _JOURNAL)

    def _close(self) -> None:
        for number in (self.lock, self._held):
            if number >= 0:
                os.close(number)
        self.lock = self._held = -1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # The journal of an earlier call that was not looked at stays, too.
            if not self.is_kept and (self._asked or not (self.folder / _JOURNAL).exists()):
                self._remove_data()
                for name in (f"{_JOURNAL}.new", _LOCK, _JOURNAL):
                    (self.folder / name).unlink(missing_ok=True)
                if self._made:
                    with suppress(OSError):
                        self.folder.rmdir()
        finally:
            self._close()


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user {number}"


def _locked(number: int, patience: float) -> bool:
    """Whether the lock of a file could be had."""
    ends = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends:
                return False
            time.sleep(0.05)
        else:
            return True


def _asked(task: Task) -> dict[str, Any]:
    """What was asked, by flags; the class of the task tells the command."""
    asked: dict[str, Any] = {"command": type(task).__name__, "the current folder": str(Path.cwd())}
    for each in fields(task):
        if each.name in _FREE:
            continue
        value = getattr(task, each.name)
        if each.name == "arguments":
            asked |= {_flag(name): argument for name, argument in value.items()}
        else:
            asked[_flag(each.name)] = str(value) if isinstance(value, Path) else value
    return asked


def _flag(name: str) -> str:
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What is not as it was, in words."""
    if before.get("format") != now["format"] or before.get("version") != now["version"]:
        return [f"of neardup {before.get('version')}, and this is {now['version']}"]
    said = []
    for flag in sorted(before["asked"].keys() | now["asked"].keys()):
        was, is_now = (json.dumps(asked["asked"].get(flag), ensure_ascii=False) for asked in (before, now))
        if was != is_now:
            said.append(f"{flag} was {was} and is {is_now}")
    files = [{name: seen for name, *seen in asked["inputs"]} for asked in (before, now)]
    for name in sorted(files[0].keys() | files[1].keys()):
        if name not in files[1]:
            said.append(f"{name} was read, too")
        elif name not in files[0]:
            said.append(f"{name} was not there")
        elif files[0][name] != files[1][name]:
            said.append(f"{name} has changed")
    if not said and before["inputs"] != now["inputs"]:
        said.append("the files are in another order")
    return said
