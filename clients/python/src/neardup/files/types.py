"""Types of Arrow: as which others their values are read, and how JSON has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Change = Callable[[pa.DataType], pa.DataType | None]
"""Another type for one; None where it stays, or is looked into."""


def replaced(field: pa.Field, change: Change) -> pa.Field:
    """A field with other types in it."""
    return field.with_type(_replaced(field.type, change))


def _replaced(of: pa.DataType, change: Change) -> pa.DataType:
    if (other := change(of)) is not None:
        return _replaced(other, change) if other != of else of
    if pa.types.is_struct(of):
        return pa.struct([replaced(field, change) for field in of])
    if pa.types.is_map(of):
        key, item = replaced(of.key_field, change), replaced(of.item_field, change)
        return pa.map_(key, item, keys_sorted=of.keys_sorted)
    if pa.types.is_large_list(of):
        return pa.large_list(replaced(of.value_field, change))
    if pa.types.is_fixed_size_list(of):
        return pa.list_(replaced(of.value_field, change), of.list_size)
    return pa.list_(replaced(of.value_field, change)) if pa.types.is_list(of) else of


def held(of: pa.DataType) -> pa.DataType | None:
    """As what a column is read: views, which few functions of Arrow know, as what they are views of."""
    types = pa.types
    if of == pa.string_view() or of == pa.binary_view():
        return pa.large_string() if of == pa.string_view() else pa.large_binary()
    if types.is_list_view(of) or types.is_large_list_view(of):
        return pa.list_(of.value_field) if types.is_list_view(of) else pa.large_list(of.value_field)
    return of.value_type if types.is_run_end_encoded(of) else None


def as_held(column: pa.Array, of: pa.DataType) -> pa.Array:
    """A column as one of the type that `held` gives."""
    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    elif pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):
        # A cast of it gives arrays that are broken.
        sizes = pc.list_value_length(column).fill_null(0)
        offsets = pa.concat_arrays([pa.array([0], sizes.type), pc.cumulative_sum(sizes)])
        lists = pa.ListArray if pa.types.is_list_view(column.type) else pa.LargeListArray
        column = lists.from_arrays(offsets, column.flatten(), mask=column.is_null())
    return column if column.type == of else column.cast(of)


def _utc(of: pa.DataType) -> pa.DataType | None:
    if isinstance(of, pa.BaseExtensionType):
        return of.storage_type
    if pa.types.is_dictionary(of):
        return of.value_type
    return pa.timestamp(of.unit, "UTC") if pa.types.is_timestamp(of) and of.tz not in (None, "UTC") else None


def _in_json(of: pa.DataType) -> pa.DataType | None:
    types = pa.types
    # Python has neither nanoseconds nor years beyond 9999.
    if types.is_timestamp(of) or types.is_date(of) or types.is_time(of):
        return pa.string()
    if types.is_duration(of):
        return pa.int64()
    return pa.float32() if types.is_float16(of) else None


def of_json(column: pa.Array) -> list[Any]:
    """Values as JSON has them, or as `chunks.plain` makes them so."""
    for change in (held, _utc, _in_json):
        of = _replaced(column.type, change)
        if of != column.type:
            column = column.cast(of)
    values: list[Any] = column.to_pylist()
    return values
