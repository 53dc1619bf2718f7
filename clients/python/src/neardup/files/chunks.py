"""Some rows of a file: what readers give and writers take."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.places import Place
    from neardup.files.shapes import Shapes

Row = dict[str, Any]
CHUNK_ROWS = 5_000
"""The most rows that are held at one time."""
CHUNK_BYTES = 16 << 20
"""About the most bytes of rows that are held at one time, if a row has no more."""


def rows_of(size: int, rows: int) -> int:
    """How many rows are held at one time, where so many rows have so many bytes."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES * max(1, rows) // max(1, size)))


class FileError(ValueError):
    """A file that cannot be read or written as it is asked for; the message names the file."""


@dataclass(frozen=True, slots=True)
class Bad:
    """A line that is no row."""

    line: int
    """Its number, from 1."""
    byte: int
    """Where in the file what is wrong stands, or the line where that is not known, from 0."""
    why: str
    text: str
    """The line."""

    def __str__(self) -> str:
        return f"line {self.line}: {self.why} (at byte {self.byte} of the file)"


class Chunk(Protocol):
    """Some rows, one after the other in the file."""

    def __len__(self) -> int:
        """How many."""

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column, as JSON has them; None where a row does not have it."""

    def where(self, wanted: Sequence[bool]) -> Chunk:
        """Only the rows that are wanted."""

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> Chunk:
        """With more columns behind the others."""

    def with_values(self, name: str, values: Mapping[int, Any]) -> Chunk:
        """With other values in a column, in the rows at some places."""

    def rows(self) -> list[Row]:
        """The rows as dictionaries, with values as JSON has them."""

    def lines(self) -> list[str]:
        """The rows as JSON, each on a line."""

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows as Arrow has them."""


class Columns(Protocol):
    """The columns of one file, or of several."""

    @property
    def fields(self) -> dict[str, None]:
        """Their names: those that the files say they have, and others as they are seen."""

    @property
    def is_quoted(self) -> bool:
        """Whether values can have tabs and ends of lines: not where they come from lines without quotes."""

    def schema(self) -> pa.Schema:
        """Their types, once all rows have been read."""


class Reader(Protocol):
    """A file that can be read more than once."""

    place: Place
    name: str
    """What messages call it."""
    fields: dict[str, None]
    """Its columns: those it says it has, and others as they are seen."""
    is_quoted: bool
    done: float
    """How much is read, from 0 to 1."""
    bad: Callable[[Bad], None] | None
    """Takes lines that are no rows, which are passed over then; None where they are errors."""

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:
        """All rows from the first one on; with at least the columns that are named, where some are."""

    def schema(self) -> pa.Schema:
        """The types of its columns, once all rows have been read."""

    def types(self) -> pa.Schema | Shapes:
        """Its schema, or what it is made of where that depends on the values."""

    def seen(self) -> str:
        """What reading all rows has told of the columns, for `recall`."""

    def recall(self, seen: str) -> None:
        """Knows what another reader of the same file has seen."""

    def check_text(self, name: str) -> None:
        """Raises FileError for a column that has no texts."""

    def check_id(self, name: str) -> None:
        """Raises FileError for a column that cannot be an id."""


class Writer(Protocol):
    """A file that is written."""

    def write(self, chunk: Chunk) -> None:
        """Appends rows."""

    def close(self) -> None:
        """Ends what is written."""


def plain(value: object) -> object:
    """A value that JSON does not have, as one that it has: bytes as base64, times as in ISO 8601, others as text."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, date | time) else str(value)


def dumped(value: object) -> str:
    """A value as JSON."""
    return json.dumps(value, ensure_ascii=False, default=plain)


class RowsChunk:
    """Rows that are dictionaries."""

    def __init__(self, rows: list[Row]) -> None:
        self._held = rows

    @property
    def _rows(self) -> list[Row]:
        return self._held

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column."""
        return [row.get(name) for row in self._rows]

    def where(self, wanted: Sequence[bool]) -> RowsChunk:
        """Only the rows that are wanted."""
        return RowsChunk([row for row, want in zip(self._rows, wanted, strict=True) if want])

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> RowsChunk:
        """With more columns behind the others."""
        return RowsChunk([row | added for row, added in zip(self._rows, rows_of_columns(columns), strict=True)])

    def with_values(self, name: str, values: Mapping[int, Any]) -> RowsChunk:
        """With other values in a column, in the rows at some places."""
        return RowsChunk([row | {name: values[at]} if at in values else row for at, row in enumerate(self._rows)])

    def rows(self) -> list[Row]:
        """The rows as they are."""
        return self._rows

    def lines(self) -> list[str]:
        """The rows as JSON."""
        return [dumped(row) for row in self._rows]

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows as Arrow has them."""
        from neardup.files.shapes import record_batch

        return record_batch(self._rows, schema)


def rows_of_columns(columns: Mapping[str, Sequence[Any]]) -> list[Row]:
    """Columns as rows."""
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
