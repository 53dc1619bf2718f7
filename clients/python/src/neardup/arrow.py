"""Answers as Arrow tables: rows come from a cursor in batches, so that Python never holds them as objects all at once.

from neardup.arrow import near_duplicates
table = near_duplicates(connection, "docs", 0.8)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Unpack

import psycopg
import pyarrow as pa
from psycopg.rows import tuple_row

from neardup.calls import Value, percent, table_call
from neardup.named import Between, Clustering, Comparison, Elimination, Passages, named
from neardup.session import Source, connection_of, encoded, extension, id_type_of

BATCH_ROWS: Final = 50_000

_ARROW: Final = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int16(),
    23: pa.int32(),
    700: pa.float32(),
    701: pa.float64(),
    1082: pa.date32(),
    1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"),
}
"""The types of columns by PostgreSQL's numbers; all others come as strings, as the server writes them."""


@named
def near_duplicates(source: Source, docs: str, threshold: float | None = None, **more: Unpack[Comparison]) -> pa.Table:
    """All pairs of rows of a relation whose texts are at least so similar: `left_id`, `right_id`, `similarity`."""
    return _table(source, "near_duplicates", docs, threshold=threshold, **more)


@named
def near_duplicates_between(
    source: Source, left: str, right: str, threshold: float | None = None, **more: Unpack[Between]
) -> pa.Table:
    """All pairs of a row of one relation and a row of another whose texts are at least so similar."""
    return _table(source, "near_duplicates_between", left, right, threshold=threshold, **more)


@named
def near_duplicate_clusters(
    source: Source, docs: str, threshold: float | None = None, **more: Unpack[Clustering]
) -> pa.Table:
    """Clusters of rows: `cluster_id`, `id`, `representative`, `size`, `similarity`."""
    return _table(source, "near_duplicate_clusters", docs, threshold=threshold, **more)


@named
def eliminate(source: Source, docs: str, threshold: float | None = None, **more: Unpack[Elimination]) -> pa.Table:
    """Rows that would be removed: `id`, `kept_id`, `similarity`. It removes nothing."""
    return _table(source, "eliminate", docs, threshold=threshold, **more)


@named
def partial_duplicates(source: Source, docs: str, threshold: float = 0.9, **more: Unpack[Passages]) -> pa.Table:
    """The passages that two rows share, with their places in both texts."""
    return _table(source, "partial_duplicates", docs, threshold=threshold, **more)


@contextmanager
def batches(
    source: Source, function: str, *docs: str, threshold: float | None = None, **more: Value
) -> Iterator[Iterator[pa.RecordBatch]]:
    """The rows of a function of one relation, or of two, in batches, for answers that are too large for one table."""
    given: dict[str, Value] = dict(zip(("left", "right") if len(docs) > 1 else ("docs",), docs, strict=True))
    given |= {"threshold": threshold, **more}
    with connection_of(source) as connection:
        id_type = id_type_of(connection, docs[0], more.get("id_column"))
        sql, values = table_call(extension(connection), function, given, percent, id_type)
        with connection.transaction(), connection.cursor("neardup_rows", row_factory=tuple_row) as cursor:
            cursor.execute(encoded(connection, sql), values)
            yield _batches(cursor)


def _batches(cursor: psycopg.ServerCursor[tuple[Any, ...]]) -> Iterator[pa.RecordBatch]:
    columns = cursor.description or []
    schema = pa.schema([(column.name, _ARROW.get(column.type_code, pa.string())) for column in columns])
    while True:
        rows = cursor.fetchmany(BATCH_ROWS)
        arrays = zip(*rows, strict=True) if rows else ((),) * len(columns)
        yield pa.record_batch(
            [_array(values, field.type) for values, field in zip(arrays, schema, strict=True)], schema=schema
        )
        if not rows:
            return


def _array(values: tuple[Any, ...], of: pa.DataType) -> pa.Array:
    if of == pa.string():
        values = tuple(None if value is None else str(value) for value in values)
    return pa.array(values, of)


def _table(source: Source, function: str, *docs: str, threshold: float | None, **more: Value) -> pa.Table:
    with batches(source, function, *docs, threshold=threshold, **more) as found:
        return pa.Table.from_batches(found)
