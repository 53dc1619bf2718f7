"""Some rows of a file: what readers give and writers take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

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


class Chunk(Protocol):
    """Some rows, one after the other in the file."""

    def __len__(self) -> int:
        """How many."""

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column; None where a row does not have it."""

    def where(self, wanted: Sequence[bool]) -> Chunk:
        """Only the rows that are wanted."""

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> Chunk:
        """With more columns behind the others."""

    def with_texts(self, name: str, texts: Mapping[int, str]) -> Chunk:
        """With other texts in a column of texts, in the rows at some places."""

    def rows(self) -> list[Row]:
        """The rows as dictionaries."""

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows as Arrow has them."""


class Columns(Protocol):
    """The columns of one file, or of several."""

    @property
    def fields(self) -> dict[str, None]:
        """Their names: those that the files say they have, and others as they are seen."""

    def schema(self) -> pa.Schema:
        """Their types, once all rows have been read."""


class Reader(Protocol):
    """A file that can be read more than once."""

    path: Path
    name: str
    """What messages call it."""
    fields: dict[str, None]
    """Its columns: those it says it has, and others as they are seen."""
    done: float
    """How much is read, from 0 to 1."""

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:
        """All rows from the first one on; with at least the columns that are named, where some are."""

    def schema(self) -> pa.Schema:
        """The types of its columns, once all rows have been read."""

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
        """Ends the file."""


class RowsChunk:
    """Rows that are dictionaries."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

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
        more = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return RowsChunk([row | added for row, added in zip(self._rows, more, strict=True)])

    def with_texts(self, name: str, texts: Mapping[int, str]) -> RowsChunk:
        """With other texts in a column of texts, in the rows at some places."""
        return RowsChunk([row | {name: texts[at]} if at in texts else row for at, row in enumerate(self._rows)])

    def rows(self) -> list[Row]:
        """The rows as they are."""
        return self._rows

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows as Arrow has them."""
        import pyarrow as pa

        return pa.RecordBatch.from_pylist(self._rows, schema)
