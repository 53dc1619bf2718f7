"""Parquet: read and written batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.files.chunks import CHUNK_ROWS, Chunk, FileError, Row


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

    def rows(self) -> list[Row]:
        """The rows as dictionaries."""
        rows: list[Row] = self._batch.to_pylist()
        return rows

    def record_batch(self, schema: pa.Schema) -> pa.RecordBatch:
        """The rows, each column of the type that the schema says."""
        columns = [self._batch.column(field.name).cast(field.type) for field in schema]
        return pa.record_batch(columns, schema=schema)


class Parquet:
    """A Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done = 0.0
        with self._open() as file:
            self._schema: pa.Schema = file.schema_arrow
            self._total = max(1, file.metadata.num_rows)
        self.fields: dict[str, None] = dict.fromkeys(self._schema.names)

    def _open(self) -> pq.ParquetFile:
        try:
            # Buffered ahead would be the whole file.
            return pq.ParquetFile(self.path, pre_buffer=False)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise FileError(f"{self.path}: {error}") from error

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:
        """All rows from the first one on; only the columns that are named, where some are."""
        read = 0
        with self._open() as file:
            try:
                for batch in file.iter_batches(CHUNK_ROWS, columns=list(only) if only is not None else None):
                    read += batch.num_rows
                    self.done = read / self._total
                    yield _ArrowChunk(batch)
            except (pa.ArrowInvalid, OSError) as error:
                raise FileError(f"{self.path}: {error}") from error

    def schema(self) -> pa.Schema:
        """That of the file."""
        return self._schema

    def check_text(self, name: str) -> None:
        """Only strings are texts."""
        of = self._schema.field(name).type
        of = of.value_type if pa.types.is_dictionary(of) else of
        if not (pa.types.is_string(of) or pa.types.is_large_string(of) or of == pa.string_view()):
            raise FileError(f"{self.path}: the column {name!r} is of type {of}, where a string should be")

    def check_id(self, name: str) -> None:
        """Only strings and whole numbers can be ids."""
        of = self._schema.field(name).type
        if not (pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_integer(of)):
            raise FileError(f"{self.path}: the column {name!r} is of type {of}; an id is a string or a whole number")


class ParquetWriter:
    """A Parquet file, compressed by zstd."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._out = pq.ParquetWriter(path, schema, compression="zstd")
        self._held: list[pa.RecordBatch] = []
        self._rows = 0

    def write(self, chunk: Chunk) -> None:
        """Appends rows, some batches to a row group."""
        self._held.append(chunk.record_batch(self._schema))
        self._rows += len(chunk)
        if self._rows >= 10 * CHUNK_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._out.write_table(pa.Table.from_batches(self._held, self._schema))
        self._held, self._rows = [], 0

    def close(self) -> None:
        """Ends the file; a second time, or after an error, nothing."""
        if self._out.is_open:
            try:
                self._flush()
                self._out.close()
            finally:
                # Else it tries once more when it is collected, and tells standard error that it could not.
                self._out.is_open = False
