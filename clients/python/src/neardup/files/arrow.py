"""Parquet, and Arrow as the data sets of Hugging Face have it on disk: read and written batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.chunks import CHUNK_BYTES, CHUNK_ROWS, Chunk, FileError, Row, rows_of

_BUFFER = 1 << 20
"""Bytes of a column that are read at a time."""
_MAGIC = b"ARROW1"
"""The beginning of a file of Arrow that is not a stream."""


class _ArrowChunk:
    """Rows that Arrow holds."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self._batch = batch

    def __len__(self) -> int:
        return int(self._batch.num_rows)

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column."""
        values: list[Any] = self._batch.column(name).to_pylist()
        return values

    def where(self, wanted: Sequence[bool]) -> _ArrowChunk:
        """Only the rows that are wanted."""
        return _ArrowChunk(self._batch.filter(pa.array(wanted, pa.bool_())))

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> _ArrowChunk:
        """With more columns behind the others; those of the types that the writer's schema says."""
        batch = self._batch
        for name, values in columns.items():
            batch = batch.append_column(name, pa.array(values))
        return _ArrowChunk(batch)

    def with_texts(self, name: str, texts: Mapping[int, str]) -> _ArrowChunk:
        """With other texts in a column of texts, in the rows at some places; of the type that it has."""
        if not texts:
            return self
        at = self._batch.schema.get_field_index(name)
        field = self._batch.schema.field(at)
        values = self._batch.column(at).to_pylist()
        for place, text in texts.items():
            values[place] = text
        of = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        column = pa.array(values, of)
        return _ArrowChunk(self._batch.set_column(at, field, column if of == field.type else column.cast(field.type)))

    def rows(self) -> list[Row]:
        """The rows as dictionaries."""
        rows: list[Row] = self._batch.to_pylist()
        return rows

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows, each column of the type that the schema says; NULL where another file has the column."""
        names = set(self._batch.schema.names)
        columns = [
            self._batch.column(field.name).cast(field.type) if field.name in names else pa.nulls(len(self), field.type)
            for field in schema
        ]
        return pa.record_batch(columns, schema=schema)


class _Arrow:
    """A file whose columns have types."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self.name = name
        self.done = 0.0
        with self._open() as opened:
            self._schema: pa.Schema = self._schema_of(opened)
        self.fields: dict[str, None] = dict.fromkeys(self._schema.names)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with ExitStack() as stack:
            try:
                yield self._opened(stack)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
                raise FileError(f"{self.name}: {error}") from error

    def _opened(self, stack: ExitStack) -> Any:
        raise NotImplementedError

    def _schema_of(self, opened: Any) -> pa.Schema:
        raise NotImplementedError

    def schema(self) -> pa.Schema:
        """That of the file."""
        return self._schema

    def seen(self) -> str:
        """Nothing: the file itself tells its types."""
        return ""

    def recall(self, seen: str) -> None:
        """Knows them already."""

    def check_text(self, name: str) -> None:
        """Only strings are texts."""
        of = self._schema.field(name).type
        of = of.value_type if pa.types.is_dictionary(of) else of
        if not (pa.types.is_string(of) or pa.types.is_large_string(of) or of == pa.string_view()):
            raise FileError(f"{self.name}: the column {name!r} is of type {of}, where a string should be")

    def check_id(self, name: str) -> None:
        """Only strings and whole numbers can be ids."""
        of = self._schema.field(name).type
        if not (pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_integer(of)):
            raise FileError(f"{self.name}: the column {name!r} is of type {of}; an id is a string or a whole number")


class Parquet(_Arrow):
    """A Parquet file."""

    def _opened(self, stack: ExitStack) -> pq.ParquetFile:
        # Buffered ahead would be the whole file, and read without a buffer a column of a whole row group.
        return stack.enter_context(pq.ParquetFile(self.path, pre_buffer=False, buffer_size=_BUFFER))

    def _schema_of(self, opened: pq.ParquetFile) -> pa.Schema:
        return opened.schema_arrow

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:
        """All rows from the first one on; only the columns that are named, where some are."""
        read = 0
        with self._open() as file:
            total = max(1, file.metadata.num_rows)
            groups = [file.metadata.row_group(n) for n in range(file.metadata.num_row_groups)]
            # The row group whose rows are longest decides.
            rows = min([rows_of(group.total_byte_size, group.num_rows) for group in groups], default=CHUNK_ROWS)
            for batch in file.iter_batches(rows, columns=list(only) if only is not None else None):
                read += batch.num_rows
                self.done = read / total
                yield _ArrowChunk(batch)


class Arrow(_Arrow):
    """Batches of Arrow: a stream, as in a data set of Hugging Face, or a file, which is also called Feather."""

    def _opened(self, stack: ExitStack) -> Any:
        self._raw = stack.enter_context(pa.OSFile(str(self.path)))
        is_file = self._raw.read(len(_MAGIC)) == _MAGIC
        self._raw.seek(0)
        return stack.enter_context(pa.ipc.open_file(self._raw) if is_file else pa.ipc.open_stream(self._raw))

    def _schema_of(self, opened: Any) -> pa.Schema:
        return opened.schema

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:  # noqa: ARG002
        """All rows from the first one on."""
        size = max(1, self.path.stat().st_size)
        with self._open() as opened:
            in_file = isinstance(opened, pa.ipc.RecordBatchFileReader)
            batches = (opened.get_batch(n) for n in range(opened.num_record_batches)) if in_file else opened
            for batch in batches:
                self.done = self._raw.tell() / size
                rows = rows_of(batch.nbytes, batch.num_rows)
                for begin in range(0, batch.num_rows, rows):
                    yield _ArrowChunk(batch.slice(begin, rows))


class _Batches:
    """Holds some chunks, so that what is written at a time is neither small nor large."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._held: list[pa.RecordBatch] = []
        self._rows = 0
        self._bytes = 0
        self._out: Any = None
        self._is_open = True

    def write(self, chunk: Chunk) -> None:
        """Appends rows, some batches to a row group."""
        batch = chunk.record_batch(self._schema)
        self._held.append(batch)
        self._rows += len(chunk)
        self._bytes += batch.nbytes
        if self._rows >= 10 * CHUNK_ROWS or self._bytes >= 4 * CHUNK_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._out.write_table(pa.Table.from_batches(self._held, self._schema))
        self._held, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        """Ends the file; a second time, or after an error, nothing."""
        if self._is_open:
            self._is_open = False
            try:
                self._flush()
            finally:
                self._end()

    def _end(self) -> None:
        self._out.close()


class ParquetWriter(_Batches):
    """A Parquet file, compressed by zstd."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(schema)
        self._out = pq.ParquetWriter(path, schema, compression="zstd")

    def _end(self) -> None:
        try:
            self._out.close()
        finally:
            # Else it tries once more when it is collected, and tells standard error that it could not.
            self._out.is_open = False


class ArrowWriter(_Batches):
    """A stream of Arrow."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(schema)
        self._file = pa.OSFile(str(path), "wb")
        self._out = pa.ipc.new_stream(self._file, schema)

    def _end(self) -> None:
        try:
            self._out.close()
        finally:
            self._file.close()
