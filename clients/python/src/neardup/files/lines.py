"""JSON Lines and CSV, also compressed: read and written row by row."""

from __future__ import annotations

import base64
import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from neardup.files.chunks import CHUNK_BYTES, CHUNK_ROWS, Chunk, FileError, Row, RowsChunk
from neardup.files.forms import Form, compressed, decompressed

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS: Final = {"csv": ",", "tsv": "\t"}


class _Lines:
    """A file of text that knows how much of it is read."""

    def __init__(self, path: Path, form: Form, name: str) -> None:
        self.path = path
        self.name = name
        self.fields: dict[str, None] = {}
        self.done = 0.0
        self._form = form

    @contextmanager
    def _open(self) -> Iterator[tuple[IO[str], IO[bytes]]]:
        try:
            with (
                self.path.open("rb") as raw,
                decompressed(raw, self._form, self.name) as plain,
                io.TextIOWrapper(plain, encoding="utf-8-sig", newline="") as lines,
            ):
                yield lines, raw
        except (UnicodeDecodeError, csv.Error) as error:
            raise FileError(f"{self.name}: {error}") from error

    def _rows(self, lines: IO[str]) -> Iterator[tuple[Row, int]]:
        """Each row, and about how many bytes it has."""
        raise NotImplementedError

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:  # noqa: ARG002
        """All rows from the first one on."""
        size = max(1, self.path.stat().st_size)
        with self._open() as (lines, raw):
            some: list[Row] = []
            held = 0
            for row, length in self._rows(lines):
                some.append(row)
                held += length
                if len(some) == CHUNK_ROWS or held >= CHUNK_BYTES:
                    self.done = raw.tell() / size
                    yield self._chunk(some)
                    some, held = [], 0
            self.done = 1.0
            if some:
                yield self._chunk(some)

    def _chunk(self, rows: list[Row]) -> Chunk:
        for row in rows:
            self.fields.update(dict.fromkeys(row))
        self._seen(rows)
        return RowsChunk(rows)

    def _seen(self, rows: list[Row]) -> None:
        """Looks at rows on their way."""

    def seen(self) -> str:
        """The columns, and their types where these are wanted."""
        schema = self._types()
        types = None if schema is None else base64.b64encode(schema.serialize()).decode()
        return json.dumps({"fields": list(self.fields), "types": types})

    def recall(self, seen: str) -> None:
        """Knows them without reading."""
        read = json.loads(seen)
        self.fields.update(dict.fromkeys(read["fields"]))
        if read["types"] is not None:
            import pyarrow as pa

            self._recall_types(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(read["types"]))))

    def _types(self) -> pa.Schema | None:
        return None

    def _recall_types(self, schema: pa.Schema) -> None:
        """Takes what `_types` gave."""

    def check_text(self, name: str) -> None:
        """Any column may have texts: values are looked at when they are read."""

    def check_id(self, name: str) -> None:
        """Any column may be an id."""


class JsonLines(_Lines):
    """A JSON object a line."""

    def __init__(self, path: Path, form: Form, name: str, *, infer: bool) -> None:
        super().__init__(path, form, name)
        self._infer = infer
        self._schema: pa.Schema | None = None
        # The keys of the first object are what the file says it has.
        with self._open() as (lines, _):
            first: tuple[Row, int] = next(self._rows(lines), ({}, 0))
        self.fields.update(dict.fromkeys(first[0]))

    def _rows(self, lines: IO[str]) -> Iterator[tuple[Row, int]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                pretty = line.strip() in ("{", "[")
                told = "a JSON value of several lines, where each line should be a JSON object" if pretty else error
                raise FileError(f"{self.name}, line {number}: {told}") from error
            if not isinstance(row, dict):
                raise FileError(f"{self.name}, line {number}: {type(row).__name__} where a JSON object should be")
            yield row, len(line)

    def _seen(self, rows: list[Row]) -> None:
        if not self._infer:
            return
        import pyarrow as pa

        try:
            schemas = [_inferred(rows)] if self._schema is None else [self._schema, _inferred(rows)]
            self._schema = pa.unify_schemas(schemas, promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise FileError(
                f"{self.name}: Parquet needs columns of one type: {error}. Write .jsonl or .csv instead."
            ) from error

    def _types(self) -> pa.Schema | None:
        return self._schema

    def _recall_types(self, schema: pa.Schema) -> None:
        self._schema = schema

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

    def __init__(self, path: Path, form: Form, name: str) -> None:
        super().__init__(path, form, name)
        self._delimiter = delimiter = DELIMITERS[form.kind]
        csv.field_size_limit(sys.maxsize)
        with self._open() as (lines, _):
            names = next(csv.reader(lines, delimiter=delimiter), [])
        if len(set(names)) < len(names):
            raise FileError(f"{name}: two columns have one name: {', '.join(names)}")
        self.fields.update(dict.fromkeys(names))

    def _rows(self, lines: IO[str]) -> Iterator[tuple[Row, int]]:
        names = list(self.fields)
        read = csv.reader(lines, delimiter=self._delimiter)
        next(read, None)
        for values in read:
            if len(values) > len(names):
                raise FileError(f"{self.name}, line {read.line_num}: {len(values)} values for {len(names)} columns")
            if values:
                row = dict(zip(names, values + [""] * (len(names) - len(values)), strict=True))
                yield row, sum(map(len, values))

    def schema(self) -> pa.Schema:
        """All columns are strings."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self.fields])


def _create(path: Path, form: Form) -> IO[str]:
    # Half a character, which JSON can have and UTF-8 cannot, is written as JSON does: \\ud800.
    return io.TextIOWrapper(compressed(path, form), encoding="utf-8", errors="backslashreplace", newline="")


class JsonLinesWriter:
    """A JSON object a line."""

    def __init__(self, path: Path, form: Form) -> None:
        self._out = _create(path, form)

    def write(self, chunk: Chunk) -> None:
        """Appends rows; what JSON does not have, such as dates, is written as text."""
        self._out.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in chunk.rows())

    def close(self) -> None:
        """Ends the file."""
        self._out.close()


class CsvWriter:
    """Comma-separated values, or tab-separated ones, with a line of names."""

    def __init__(self, path: Path, form: Form, names: Sequence[str]) -> None:
        self._out = _create(path, form)
        self._csv = csv.DictWriter(self._out, names, delimiter=DELIMITERS[form.kind], lineterminator="\n")
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
