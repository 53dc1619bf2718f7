"""What a command line names to be read: files, folders, patterns, data sets of Hugging Face, the standard input."""

from __future__ import annotations

import glob
import json
import shutil
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, Self

from neardup.files import FileError, Form, Reader, form_of, reader

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD: Final = "-"
"""Standard input, or output."""
_STATE: Final = "state.json"
_OF_A_DATA_SET: Final = (_STATE, "dataset_info.json", "dataset_dict.json")
"""Files beside the rows that `save_to_disk` of Hugging Face writes."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was found."""

    path: Path
    name: str
    """What messages call it."""
    place: PurePath
    """Its path below what was named: what is made of it has the same below another folder."""


class Inputs(AbstractContextManager["Inputs"]):
    """The files that arguments name, in the order of the arguments, those of a folder in the order of their names."""

    def __init__(self, arguments: Sequence[str], *, standard: Form, for_arrow: bool = False) -> None:
        self._held: TemporaryDirectory[str] | None = None
        self.files: list[Found] = []
        self.readers: list[Reader] = []
        self.starts: list[int] = []
        """How many rows are before those of each file, once all have been read."""
        try:
            for argument in arguments:
                self.files += self._spooled(standard) if argument == STANDARD else _found(argument)
            seen: set[Path] = set()
            for found in self.files:
                if found.path.resolve() in seen:
                    raise FileError(f"{found.name} is named twice")
                seen.add(found.path.resolve())
                self.readers.append(reader(found.path, found.name, for_arrow=for_arrow))
        except BaseException:
            self.close()
            raise
        self._sizes = [max(1, found.path.stat().st_size) for found in self.files]

    def _spooled(self, form: Form) -> list[Found]:
        # It is read twice.
        if self._held is None:
            self._held = TemporaryDirectory(prefix="neardup_stdin_")
        path = Path(self._held.name, f"stdin{form.suffix}")
        with path.open("xb") as out:
            shutil.copyfileobj(sys.stdin.buffer, out)
        return [Found(path, "standard input", PurePath(path.name))]

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

    def schema(self) -> pa.Schema:
        """The types of the columns of all files, once all rows have been read."""
        import pyarrow as pa

        try:
            return pa.unify_schemas([each.schema() for each in self.readers], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise FileError(f"{self.name}: the files have columns of one name that do not fit: {error}") from error

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


def _found(argument: str) -> list[Found]:
    path = Path(argument)
    if path.is_dir():
        found = list(_in_folder(path))
        if not found:
            raise FileError(f"{path}: the folder has no files of documents")
        return found
    if not path.exists() and any(sign in argument for sign in "*?["):
        matches = [Path(match) for match in sorted(glob.glob(argument, recursive=True))]  # noqa: PTH207
        found = [Found(match, str(match), PurePath(match.name)) for match in matches if match.is_file()]
        if not found:
            raise FileError(f"{argument}: no file has such a name")
        return found
    return [Found(path, argument, PurePath(path.name))]


def _in_folder(top: Path) -> Iterator[Found]:
    for folder in [top, *sorted(path for path in top.rglob("*") if path.is_dir())]:
        data = _data_set(folder)
        for path in sorted(folder.iterdir()) if data is None else data:
            hidden = any(part.startswith(".") for part in path.relative_to(top).parts)
            if hidden or path.name in _OF_A_DATA_SET or not path.is_file() or form_of(path) is None:
                continue
            yield Found(path, str(path), path.relative_to(top))


def _data_set(folder: Path) -> list[Path] | None:
    """The files of a data set that `save_to_disk` wrote: others beside them are what it computed at some time."""
    state: Any = None
    with suppress(OSError, ValueError):
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    try:
        return [folder / Path(file["filename"]).name for file in state["_data_files"]]
    except (KeyError, TypeError):
        return None
