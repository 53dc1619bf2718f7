"""Files that are written: each has its name once all are whole, and where they do not become so, nothing stays of them.

Of a call that can be gone on with, those that are whole stay beside their places, with a name of their own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Self

from neardup.files import JSON_LINES, Chunk, Columns, FileError, Form, require_form, require_written, writer
from neardup.files.forms import READ_ONLY, without_suffix
from neardup.files.inputs import STANDARD, Inputs
from neardup.files.places import is_remote


def is_folder(out: str) -> bool:
    """Whether an argument names a folder to write to: one that is there, or one that ends with a slash."""
    return out != STANDARD and (out.endswith("/") or Path(out).is_dir())


def targets(out: str, inputs: Inputs, to: Form | None) -> list[tuple[Path | None, Form]]:
    """Where rows go, and in which form: a file for all of them, or one for each input. None is the standard output."""
    first = require_form(inputs.files[0].path)
    if out == STANDARD:
        return [(None, to or (JSON_LINES if first.is_arrow or first.kind in READ_ONLY else Form(first.kind)))]
    if is_remote(out):
        raise FileError(f"{out}: what is written is written to this machine; name a file or a folder")
    if not is_folder(out):
        if not Path(out).suffix:
            raise FileError(
                f"{out} is not there: should it be a folder, with a file for each input, or a file?"
                f" Write {out}/ for a folder; the name of a file says its form, such as {out}.jsonl or {out}.parquet"
            )
        if to is not None:
            raise FileError(f"{out}: the end of its name says its form; --to is for a folder, or for -")
        return [(Path(out), require_written(Path(out)))]
    found: list[tuple[Path | None, Form]] = []
    for each in inputs.files:
        own = require_form(each.path)
        form = to or own
        # What reads Arrow reads Parquet, and a folder of Arrow without its state.json is no data set.
        form = Form("parquet") if form.kind == "arrow" and to is None else form
        form = JSON_LINES if form.kind in READ_ONLY else form
        place = each.below if form == own else Path(f"{without_suffix(each.below)}{form.suffix}")
        found.append((Path(out, place), form))
    taken: set[Path | None] = set()
    for path, _ in found:
        if path in taken:
            raise FileError(f"two of the inputs would be written to {path}")
        taken.add(path)
    return found


class Part:
    """A file on its way to its name; `path` is None for the standard output, to which it goes when it is whole.

    `token`, of a call that can be gone on with, is in the name that it has until then.
    """

    def __init__(self, path: Path | None, token: str | None) -> None:
        self.path = path
        self._name = "standard output" if path is None else str(path)
        self._held: TemporaryDirectory[str] | None = None
        self._lasting = path is not None and token is not None
        self._folders: list[Path] = []
        if path is None:
            self._held = TemporaryDirectory(prefix="neardup_stdout_")
            self.part = self.whole = Path(self._held.name, "stdout")
        else:
            self.part = path.with_name(f"{path.name}.{token or os.getpid()}.part")
            self.whole = self.part.with_suffix(".whole") if self._lasting else self.part

    def create(self) -> IO[bytes]:
        """Creates the file, and the folders above it; what another user may have put in its place is not written to."""
        missing = [folder for folder in self.part.parents if not folder.exists()]
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self._folders = missing
        # Of an earlier call.
        self.part.unlink(missing_ok=True)
        number = os.open(self.part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        return os.fdopen(number, "wb")

    def cannot(self, error: OSError) -> FileError:
        """The error of a file that cannot be written."""
        # Arrow's words are a paragraph.
        return FileError(f"{self._name} cannot be written: {os.strerror(error.errno) if error.errno else error}")

    @property
    def is_whole(self) -> bool:
        """Whether an earlier call has written it."""
        return self._lasting and self.whole.is_file() and not self.whole.is_symlink()

    def finish(self) -> None:
        """Ends the file, all of which is written; once more, nothing."""
        try:
            self._close()
            if self._lasting and self.part.exists():
                with self.part.open("rb") as written:
                    os.fsync(written.fileno())
                self.part.replace(self.whole)
        except OSError as error:
            raise self.cannot(error) from error

    def publish(self) -> None:
        """Gives it its name."""
        try:
            if self.path is not None:
                self.whole.replace(self.path)
                return
            with self.whole.open("rb") as whole:
                shutil.copyfileobj(whole, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        except OSError as error:
            raise self.cannot(error) from error

    def _close(self) -> None:
        """Ends what is written."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # What could not be written cannot be written now, either.
        with suppress(Exception):
            self._close()
        with suppress(OSError):
            self.part.unlink(missing_ok=True)
        if self._held is not None:
            self._held.cleanup()
        for folder in self._folders:
            with suppress(OSError):
                folder.rmdir()


class Page(Part):
    """A file with a text."""

    def __init__(self, path: Path, token: str | None, text: str) -> None:
        super().__init__(path, token)
        try:
            with self.create() as out:
                out.write(text.encode())
        except BaseException as error:
            self.__exit__()
            if isinstance(error, OSError):
                raise self.cannot(error) from error
            raise


class Out(Part):
    """A file with rows."""

    def __init__(self, path: Path | None, token: str | None, form: Form) -> None:
        super().__init__(path, token)
        self._form = form
        self._file: IO[bytes] | None = None
        self._out: Any = None

    def begin(self, source: Columns, more: Mapping[str, str]) -> Self:
        """Opens it, for rows with the columns of a source and more."""
        try:
            self._file = self.create()
            self._out = writer(self._file, self._form, source, more)
        except FileError as error:
            raise FileError(f"{self._name}: {error}") from error
        except OSError as error:
            raise self.cannot(error) from error
        return self

    def write(self, chunk: Chunk) -> None:
        """Appends rows."""
        try:
            self._out.write(chunk)
        except FileError as error:
            raise FileError(f"{self._name}: {error}") from error
        except OSError as error:
            raise self.cannot(error) from error

    def _close(self) -> None:
        # Once more, nothing: also of a file whose end could not be written.
        out, self._out = self._out, None
        file, self._file = self._file, None
        try:
            if out is not None:
                out.close()
        finally:
            if file is not None:
                file.close()


def check(outs: Sequence[Path], inputs: Sequence[Inputs], *, force: bool) -> None:
    """Whether files may be written: none that is there, unless `force`, none that is read, none twice."""
    read = {found.path.resolve() for each in inputs for found in each.files if found.system is None}
    for path in outs:
        if path.exists() and not force:
            raise FileError(f"{path} is there already: --force writes over it")
        if path.resolve() in read:
            raise FileError(f"{path} is a file that is read")
    if len({path.resolve() for path in outs}) < len(outs):
        raise FileError(f"{outs[0]} cannot take more than one kind of output")
