"""Parquet, and Arrow as the data sets of Hugging Face have it on disk: read and written batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files import shapes
from neardup.files.chunks import CHUNK_BYTES, CHUNK_ROWS, Bad, Chunk, FileError, Row, dumped, rows_of
from neardup.files.places import Place
from neardup.files.types import as_held, held, of_json, replaced

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
        return of_json(self._batch.column(name))

    def where(self, wanted: Sequence[bool]) -> _ArrowChunk:
        """Only the rows that are wanted."""
        return _ArrowChunk(self._batch.filter(pa.array(wanted, pa.bool_())))

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> _ArrowChunk:
        """With more columns behind the others; those of the types that the writer's schema says."""
        batch = self._batch
        for name, values in columns.items():
            batch = batch.append_column(name, _added(values))
        return _ArrowChunk(batch)

    def with_values(self, name: str, values: Mapping[int, Any]) -> _ArrowChunk:
        """With other values in a column, in the rows at some places; of the type that it has."""
        if not values:
            return self
        at = self._batch.schema.get_field_index(name)
        field = self._batch.schema.field(at)
        column = self._batch.column(at).to_pylist()
        for place, value in values.items():
            column[place] = value
        of = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        array = pa.array(column, of)
        return _ArrowChunk(self._batch.set_column(at, field, array if of == field.type else array.cast(field.type)))

    def rows(self) -> list[Row]:
        """The rows as dictionaries."""
        columns = {name: of_json(self._batch.column(name)) for name in self._batch.schema.names}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def lines(self) -> list[str]:
        """The rows as JSON."""
        return [dumped(row) for row in self.rows()]

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows, each column of the type that the schema says; NULL where another file has the column."""
        names = set(self._batch.schema.names)
        columns = []
        for field in schema:
            if field.name not in names:
                columns.append(pa.nulls(len(self), field.type))
            elif shapes.is_json(field):
                values = of_json(self._batch.column(field.name))
                columns.append(pa.array([None if value is None else dumped(value) for value in values], pa.string()))
            else:
                column = self._batch.column(field.name)
                columns.append(column if column.type == field.type else column.cast(field.type))
        return pa.record_batch(columns, schema=schema)


def _added(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        return pa.array([shapes.whole(value) for value in values])


class _Arrow:
    """A file whose columns have types."""

    is_quoted = True

    def __init__(self, place: Place) -> None:
        self.place = place
        self.name = place.name
        self.done = 0.0
        self.bad: Callable[[Bad], None] | None = None
        with self._open() as opened:
            read = self._schema_of(opened)
        if len(set(read.names)) < len(read.names):
            raise FileError(f"{self.name}: two columns have one name: {', '.join(read.names)}")
        # Types that cannot be filtered or written are read as others that hold the same values.
        self._schema: pa.Schema = pa.schema([replaced(field, held) for field in read], read.metadata)
        self.fields: dict[str, None] = dict.fromkeys(self._schema.names)

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with ExitStack() as stack:
            try:
                yield self._opened(stack)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OSError) as error:
                raise FileError(f"{self.name}: {error}") from error

    def _opened(self, stack: ExitStack) -> Any:
        raise NotImplementedError

    def _schema_of(self, opened: Any) -> pa.Schema:
        raise NotImplementedError

    def _chunk(self, batch: pa.RecordBatch) -> Chunk:
        # A text that is no UTF-8 would be found when it is too late.
        batch.validate(full=True)
        schema = pa.schema([self._schema.field(name) for name in batch.schema.names])
        columns = [
            column if column.type == field.type else as_held(column, field.type)
            for field, column in zip(schema, batch.columns, strict=True)
        ]
        return _ArrowChunk(pa.record_batch(columns, schema=schema))

    def schema(self) -> pa.Schema:
        """That of the file."""
        return self._schema

    def types(self) -> pa.Schema:
        """The same."""
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
        if not (pa.types.is_string(of) or pa.types.is_large_string(of)):
            raise FileError(f"{self.name}: the column {name!r} is of type {of}, where a string should be")

    def check_id(self, name: str) -> None:
        """Only strings and whole numbers can be ids."""
        of = self._schema.field(name).type
        if not (pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_integer(of)):
            raise FileError(f"{self.name}: the column {name!r} is of type {of}; an id is a string or a whole number")


class Parquet(_Arrow):
    """A Parquet file."""

    def _opened(self, stack: ExitStack) -> pq.ParquetFile:
        source: Any = self.place.path if self.place.system is None else stack.enter_context(self.place.open())
        # Buffered ahead would be the whole file, and read without a buffer a column of a whole row group.
        return stack.enter_context(pq.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER))

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
                yield self._chunk(batch)


class Arrow(_Arrow):
    """Batches of Arrow: a stream, as in a data set of Hugging Face, or a file, which is also called Feather."""

    def _opened(self, stack: ExitStack) -> Any:
        remote = self.place.system is not None
        raw = pa.PythonFile(self.place.open(), "r") if remote else pa.OSFile(str(self.place.path))
        self._raw = stack.enter_context(raw)
        is_file = self._raw.read(len(_MAGIC)) == _MAGIC
        self._raw.seek(0)
        return stack.enter_context(pa.ipc.open_file(self._raw) if is_file else pa.ipc.open_stream(self._raw))

    def _schema_of(self, opened: Any) -> pa.Schema:
        return opened.schema

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:  # noqa: ARG002
        """All rows from the first one on."""
        size = max(1, self.place.size())
        with self._open() as opened:
            in_file = isinstance(opened, pa.ipc.RecordBatchFileReader)
            batches = (opened.get_batch(n) for n in range(opened.num_record_batches)) if in_file else opened
            for batch in batches:
                self.done = self._raw.tell() / size
                rows = rows_of(batch.nbytes, batch.num_rows)
                for begin in range(0, batch.num_rows, rows):
                    yield self._chunk(batch.slice(begin, rows))


@contextmanager
def _as_file_errors() -> Iterator[None]:
    """Values that do not fit into the types of the columns, which come from several files."""
    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, OverflowError) as error:
        raise FileError(f"its values cannot be written: {error}. Write .jsonl instead") from error


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
        with _as_file_errors():
            batch = chunk.record_batch(self._schema)
        self._held.append(batch)
        self._rows += len(chunk)
        self._bytes += batch.nbytes
        if self._rows >= 10 * CHUNK_ROWS or self._bytes >= 4 * CHUNK_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            with _as_file_errors():
                self._out.write_table(pa.Table.from_batches(self._held, self._schema))
        self._held, self._rows, self._bytes = [], 0, 0

    def close(self) -> None:
        """Ends what is written; a second time, or after an error, nothing."""
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

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        super().__init__(schema)
        self._out = pq.ParquetWriter(file, schema, compression="zstd")

    def _end(self) -> None:
        try:
            self._out.close()
        finally:
            # Else it tries once more when it is collected, and tells standard error that it could not.
            self._out.is_open = False


class ArrowWriter(_Batches):
    """A stream of Arrow."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        super().__init__(schema)
        self._out = pa.ipc.new_stream(file, schema)
