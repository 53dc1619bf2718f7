"""Files that are written: each has its name once it is whole, and where it does not become so, nothing stays of it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from neardup.files import JSON_LINES, Chunk, Columns, FileError, Form, require_form, writer
from neardup.files.forms import without_suffix
from neardup.files.inputs import STANDARD, Inputs


def is_folder(out: str) -> bool:
    """Whether an argument names a folder to write to: one that is there, or one that ends with a slash."""
    return out != STANDARD and (out.endswith("/") or Path(out).is_dir())


def targets(out: str, inputs: Inputs, to: Form | None) -> list[tuple[Path | None, Form]]:
    """Where rows go, and in which form: a file for all of them, or one for each input. None is the standard output."""
    first = require_form(inputs.files[0].path)
    if out == STANDARD:
        return [(None, to or (JSON_LINES if first.is_arrow else Form(first.kind)))]
    if not is_folder(out):
        if to is not None:
            raise FileError(f"{out}: the end of its name says its form; --to is for a folder, or for -")
        return [(Path(out), require_form(Path(out)))]
    found: list[tuple[Path | None, Form]] = []
    for each in inputs.files:
        form = to or require_form(each.path)
        # What reads Arrow reads Parquet, and a folder of Arrow without its state.json is no data set.
        form = Form("parquet") if to is None and form.kind == "arrow" else form
        own = require_form(each.path)
        place = each.place if form == own else Path(f"{without_suffix(each.place)}{form.suffix}")
        found.append((Path(out, place), form))
    taken: set[Path | None] = set()
    for path, _ in found:
        if path in taken:
            raise FileError(f"two of the inputs would be written to {path}")
        taken.add(path)
    return found


class Out(AbstractContextManager["Out"]):
    """A file that is written; `path` is None for the standard output, to which it goes when it is whole."""

    def __init__(self, path: Path | None, form: Form, source: Columns, more: Mapping[str, str]) -> None:
        self._path = path
        self._name = "standard output" if path is None else str(path)
        self._held: TemporaryDirectory[str] | None = None
        self._out: Any = None
        try:
            if path is None:
                self._held = TemporaryDirectory(prefix="neardup_stdout_")
                self._part = Path(self._held.name, "stdout")
            else:
                self._part = path.with_name(path.name + f".{os.getpid()}.part")
                path.parent.mkdir(parents=True, exist_ok=True)
            self._out = writer(self._part, form, source, more)
        except BaseException as error:
            self._discard()
            if isinstance(error, OSError):
                raise self._cannot(error) from error
            raise

    def _cannot(self, error: OSError) -> FileError:
        # Arrow's words are a paragraph.
        return FileError(f"{self._name} cannot be written: {os.strerror(error.errno) if error.errno else error}")

    def write(self, chunk: Chunk) -> None:
        """Appends rows."""
        try:
            self._out.write(chunk)
        except OSError as error:
            raise self._cannot(error) from error

    def finish(self) -> None:
        """Ends the file, all of which is written."""
        try:
            self._out.close()
        except OSError as error:
            raise self._cannot(error) from error

    def _discard(self) -> None:
        with suppress(OSError):
            self._part.unlink(missing_ok=True)
        if self._held is not None:
            self._held.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None and self._path is not None:
                self._part.replace(self._path)
            elif kind is None:
                with self._part.open("rb") as whole:
                    shutil.copyfileobj(whole, sys.stdout.buffer)
                sys.stdout.buffer.flush()
        except OSError as error:
            raise self._cannot(error) from error
        finally:
            # What could not be written cannot be written now, either.
            with suppress(Exception):
                self._out.close()
            self._discard()


def check(outs: Sequence[Path], inputs: Sequence[Inputs], *, force: bool) -> None:
    """Whether files may be written: none that is there, unless `force`, none that is read, none twice."""
    read = {found.path.resolve() for each in inputs for found in each.files}
    for path in outs:
        if path.exists() and not force:
            raise FileError(f"{path} is there already: --force writes over it")
        if path.resolve() in read:
            raise FileError(f"{path} is a file that is read")
    if len({path.resolve() for path in outs}) < len(outs):
        raise FileError(f"{outs[0]} cannot take more than one kind of output")


@contextmanager
def text_file(path: Path, text: str) -> Iterator[None]:
    """A file with a text, which has its name if what follows goes well."""
    part = path.with_name(path.name + f".{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        yield
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
