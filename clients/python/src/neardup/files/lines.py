"""JSON Lines and CSV, also compressed by gzip: read and written row by row."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from neardup.files.chunks import CHUNK_ROWS, Chunk, FileError, Row, RowsChunk

if TYPE_CHECKING:
    import pyarrow as pa


class _Lines:
    """A file of text that knows how much of it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fields: dict[str, None] = {}
        self.done = 0.0

    def _open(self) -> IO[str]:
        self._raw = self.path.open("rb")
        opened: Any = gzip.GzipFile(fileobj=self._raw) if self.path.suffix == ".gz" else self._raw
        return io.TextIOWrapper(opened, encoding="utf-8-sig", newline="")

    def _rows(self, lines: IO[str]) -> Iterator[Row]:
        raise NotImplementedError

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:  # noqa: ARG002
        """All rows from the first one on."""
        size = max(1, self.path.stat().st_size)
        with self._open() as lines, self._raw:
            rows = self._rows(lines)
            try:
                while some := list(islice(rows, CHUNK_ROWS)):
                    for row in some:
                        self.fields.update(dict.fromkeys(row))
                    self._seen(some)
                    self.done = self._raw.tell() / size
                    yield RowsChunk(some)
            except (UnicodeDecodeError, EOFError, gzip.BadGzipFile, csv.Error) as error:
                raise FileError(f"{self.path}: {error}") from error

    def _seen(self, rows: list[Row]) -> None:
        """Looks at rows on their way."""

    def check_text(self, name: str) -> None:
        """Any column may have texts: values are looked at when they are read."""

    def check_id(self, name: str) -> None:
        """Any column may be an id."""


class JsonLines(_Lines):
    """A JSON object a line."""

    def __init__(self, path: Path, *, infer: bool) -> None:
        super().__init__(path)
        self._infer = infer
        self._schema: pa.Schema | None = None
        # The keys of the first object are what the file says it has.
        with self._open() as lines, self._raw:
            self.fields.update(dict.fromkeys(next(self._rows(lines), {})))

    def _rows(self, lines: IO[str]) -> Iterator[Row]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise FileError(f"{self.path}, line {number}: {error}") from error
            if not isinstance(row, dict):
                raise FileError(f"{self.path}, line {number}: {type(row).__name__} where a JSON object should be")
            yield row

    def _seen(self, rows: list[Row]) -> None:
        if not self._infer:
            return
        import pyarrow as pa

        try:
            schemas = [_inferred(rows)] if self._schema is None else [self._schema, _inferred(rows)]
            self._schema = pa.unify_schemas(schemas, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise FileError(
                f"{self.path}: Parquet needs columns of one type: {error}. Write .jsonl or .csv instead."
            ) from error

    def schema(self) -> pa.Schema:
        """The types that hold all values."""
        import pyarrow as pa

        return self._schema if self._schema is not None else pa.schema([])


def _inferred(rows: list[Row]) -> pa.Schema:
    import pyarrow as pa

    names = dict.fromkeys(name for row in rows for name in row)
    return pa.schema([(name, pa.array([row.get(name) for row in rows]).type) for name in names])


class Csv(_Lines):
    """Comma-separated values, or tab-separated ones, with a line of names."""

    def __init__(self, path: Path, delimiter: str) -> None:
        super().__init__(path)
        self._delimiter = delimiter
        csv.field_size_limit(sys.maxsize)
        with self._open() as lines, self._raw:
            names = next(csv.reader(lines, delimiter=delimiter), [])
        if len(set(names)) < len(names):
            raise FileError(f"{path}: two columns have one name: {', '.join(names)}")
        self.fields.update(dict.fromkeys(names))

    def _rows(self, lines: IO[str]) -> Iterator[Row]:
        names = list(self.fields)
        read = csv.reader(lines, delimiter=self._delimiter)
        next(read, None)
        for values in read:
            if len(values) > len(names):
                raise FileError(f"{self.path}, line {read.line_num}: {len(values)} values for {len(names)} columns")
            if values:
                yield dict(zip(names, values + [""] * (len(names) - len(values)), strict=True))

    def schema(self) -> pa.Schema:
        """All columns are strings."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self.fields])


def _create(path: Path, kind: Path) -> IO[str]:
    # Half a character, which JSON can have and UTF-8 cannot, is written as JSON does: \\ud800.
    if kind.suffix == ".gz":
        return gzip.open(path, "wt", 6, encoding="utf-8", errors="backslashreplace", newline="")
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="")


class JsonLinesWriter:
    """A JSON object a line."""

    def __init__(self, path: Path, kind: Path) -> None:
        self._out = _create(path, kind)

    def write(self, chunk: Chunk) -> None:
        """Appends rows; what JSON does not have, such as dates, is written as text."""
        self._out.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in chunk.rows())

    def close(self) -> None:
        """Ends the file."""
        self._out.close()


class CsvWriter:
    """Comma-separated values, or tab-separated ones, with a line of names."""

    def __init__(self, path: Path, kind: Path, delimiter: str, names: Sequence[str]) -> None:
        self._out = _create(path, kind)
        self._csv = csv.DictWriter(self._out, names, delimiter=delimiter, lineterminator="\n")
        try:
            self._csv.writeheader()
        except BaseException:
            self._out.close()
            raise

    def write(self, chunk: Chunk) -> None:
        """Appends rows; lists and objects are written as JSON."""
        self._csv.writerows({name: _plain(value) for name, value in row.items()} for row in chunk.rows())

    def close(self) -> None:
        """Ends the file."""
        self._out.close()


def _plain(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else value
