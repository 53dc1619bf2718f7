"""What a command line names to be read: files, folders, patterns, URLs, data sets of Hugging Face, standard input."""

from __future__ import annotations

import glob
import json
import os
import shutil
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from fnmatch import fnmatch
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from neardup.files import FileError, Form, Place, Reader, Reading, form_of, reader
from neardup.files.places import is_remote, remote

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD: Final = "-"
"""Standard input, or output."""
_STATE: Final = "state.json"
_BESIDE: Final = (_STATE, "dataset_info.json", "dataset_dict.json", "dataset_infos.json")
"""Files beside the rows that `save_to_disk` of Hugging Face writes, and that its hub has."""
_NOT_READ: Final = (".", "_")
"""Beginnings of names that are no documents: hidden ones, and _temporary, _delta_log and _SUCCESS of Spark."""


class Inputs(AbstractContextManager["Inputs"]):
    """The files that arguments name, in the order of the arguments, those of a folder in the order of their names."""

    def __init__(self, arguments: Sequence[str], *, standard: Form, how: Reading, exclude: Sequence[str] = ()) -> None:
        self._held: TemporaryDirectory[str] | None = None
        self.files: list[Place] = []
        self.readers: list[Reader] = []
        self.starts: list[int] = []
        """How many rows are before those of each file, once all have been read."""
        try:
            seen: set[str] = set()
            for argument in arguments:
                for place in self._spooled(standard) if argument == STANDARD else _found(argument, exclude):
                    if place.identity in seen:
                        raise FileError(f"{place.name} is named twice")
                    seen.add(place.identity)
                    self.files.append(place)
            self.readers += [reader(place, how) for place in self.files]
            self._sizes = [max(1, place.size()) for place in self.files]
        except BaseException:
            self.close()
            raise

    def _spooled(self, form: Form) -> list[Place]:
        # It is read twice.
        if self._held is None:
            self._held = TemporaryDirectory(prefix="neardup_stdin_")
        path = Path(self._held.name, f"stdin{form.suffix}")
        with path.open("xb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        return [Place.of(path, "standard input")]

    @property
    def fields(self) -> dict[str, None]:
        """The columns of all files."""
        return {name: None for each in self.readers for name in each.fields}

    @property
    def name(self) -> str:
        """What messages call them."""
        return self.files[0].name if len(self.files) == 1 else f"{self.files[0].name} and {len(self.files) - 1} more"

    @property
    def done(self) -> float:
        """How much is read, from 0 to 1."""
        read = sum(each.done * size for each, size in zip(self.readers, self._sizes, strict=True))
        return read / sum(self._sizes)

    def begin(self) -> None:
        """Before they are read once more."""
        for each in self.readers:
            each.done = 0.0

    def having(self, column: str, option: str) -> Iterator[Reader]:
        """The files, each of which must have the column; those without any row have none."""
        for each in self.readers:
            if column in each.fields:
                yield each
            elif each.fields or len(self.readers) == 1:
                names = ", ".join(each.fields) or "none"
                raise FileError(f"{each.name} has no column {column!r} ({option}); it has: {names}")

    @property
    def is_quoted(self) -> bool:
        """Whether values can have tabs and ends of lines."""
        return any(each.is_quoted for each in self.readers)

    def schema(self) -> pa.Schema:
        """The types of the columns of all files, once all rows have been read."""
        import pyarrow as pa

        from neardup.files.shapes import Shapes

        shapes, schemas = Shapes(), []
        for each in self.readers:
            types = each.types()
            if isinstance(types, Shapes):
                shapes.join(types)
            else:
                schemas.append(types)
        if shapes.columns:
            schemas.append(shapes.schema(self.name))
        if len(schemas) == 1:
            return schemas[0]
        fields: dict[str, pa.Field] = {}
        for schema in schemas:
            for field in schema:
                before = fields.setdefault(field.name, field)
                fields[field.name] = before if before.equals(field, check_metadata=True) else _unified(before, field)
        # A file without a column has NULL there.
        return pa.schema(
            [
                field if all(field.name in schema.names for schema in schemas) else field.with_nullable(True)
                for field in fields.values()
            ]
        )

    def as_json(self) -> list[str]:
        """The columns that are written as JSON where types are wanted."""
        from neardup.files.shapes import is_json

        return [field.name for field in self.schema() if is_json(field)]

    def place_of(self, number: int) -> tuple[str, int]:
        """The name of the file that has the row with this number, and its number there."""
        at = bisect_left(self.starts, number) - 1
        return self.files[at].name, number - self.starts[at]

    def file_of(self, number: int) -> str:
        """The name of the file that has the row with this number."""
        return self.files[bisect_left(self.starts, number) - 1].name

    def close(self) -> None:
        """Removes the copy of the standard input."""
        if self._held is not None:
            self._held.cleanup()
            self._held = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _unified(one: pa.Field, other: pa.Field) -> pa.Field:
    """A column that holds the values of two; as JSON where no type does."""
    import pyarrow as pa

    from neardup.files.shapes import is_json, json_field

    if not is_json(one) and not is_json(other):
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            return pa.unify_schemas([pa.schema([one]), pa.schema([other])], promote_options="permissive").field(0)
    return json_field(one.name)


def _found(argument: str, exclude: Sequence[str]) -> list[Place]:
    path = Path(argument)
    if is_remote(argument):
        found = [place for place in remote(argument) if _is_read(place.below, exclude)]
        if not found:
            raise FileError(f"{argument}: no files of documents are there")
        return found
    if path.is_dir():
        found = _in_folder(path, exclude)
        if not found:
            raise FileError(f"{path}: the folder has no files of documents")
        return found
    if not path.exists() and any(sign in argument for sign in "*?["):
        matches = [Path(match) for match in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207
        found = [Place.of(match) for match in matches if match.is_file() and not _is_excluded(match, exclude)]
        if not found:
            raise FileError(f"{argument}: no file has such a name")
        return found
    if not path.exists():
        raise FileError(f"{argument} cannot be read: there is no such file or folder")
    return [Place.of(path, argument)]


def _is_read(below: PurePath, exclude: Sequence[str]) -> bool:
    """Whether a file of a folder is one of documents."""
    beside = below.name in _BESIDE or any(part.startswith(_NOT_READ) for part in below.parts)
    return not beside and form_of(below) is not None and not _is_excluded(below, exclude)


def _is_excluded(path: PurePath, exclude: Sequence[str]) -> bool:
    return any(fnmatch(str(path), pattern) or fnmatch(path.name, pattern) for pattern in exclude)


def _in_folder(top: Path, exclude: Sequence[str]) -> list[Place]:
    found: list[Place] = []
    # In the cache of Hugging Face files are links, and one may be in several revisions.
    seen: set[Path] = set()
    for folder in _folders(top, set()):
        data = _data_set(folder)
        for path in sorted(folder.iterdir()) if data is None else data:
            below = path.relative_to(top)
            if path.is_dir() or not _is_read(below, exclude):
                continue
            if not path.exists():
                link = f" is a link to {path.readlink()}, which" if path.is_symlink() else ""
                raise FileError(f"{path}{link} is not there")
            if path.resolve() not in seen and path.is_file():
                seen.add(path.resolve())
                found.append(Place(path, str(path), below))
    kinds = [form_of(place.path) for place in found]
    # A README.txt beside files with columns is no document.
    others = [place for place, form in zip(found, kinds, strict=True) if form is not None and form.kind != "txt"]
    return others or found


def _folders(folder: Path, above: set[tuple[int, int]]) -> Iterator[Path]:
    """A folder and those below it, in the order of their names; also by links, but not around in a circle."""
    state = folder.stat()
    if (state.st_dev, state.st_ino) in above:
        return
    yield folder
    with os.scandir(folder) as entries:
        below = sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(_NOT_READ))
    for name in below:
        yield from _folders(folder / name, above | {(state.st_dev, state.st_ino)})


def _data_set(folder: Path) -> list[Path] | None:
    """The files of a data set that `save_to_disk` wrote: others beside them are what it computed at some time."""
    state: Any = None
    with suppress(OSError, ValueError):
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    try:
        return [folder / Path(file["filename"]).name for file in state["_data_files"]]
    except (KeyError, TypeError):
        return None
