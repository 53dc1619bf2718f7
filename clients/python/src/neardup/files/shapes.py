"""What values of JSON are in Arrow: the narrowest type that holds all of a column, or text with JSON in it.

Text with JSON is for columns whose values no type holds: numbers beside texts, whole numbers beyond 64 bits, objects
without members, which Parquet does not have.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Final

import pyarrow as pa

from neardup.files.chunks import FileError, Row, dumped

_KINDS: Final = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "dict", type(None): "null"}
_MOST_MEMBERS: Final = 1000
"""Members of an object that get columns of their own."""
_JSON: Final = {b"neardup": b"json"}
"""Marks a column whose values are written as JSON."""
_EXACT: Final = 1 << 53
"""Whole numbers up to here are exact as floating-point numbers."""


class Shape:
    """What some values are."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._low = self._high = 0
        self._elements: Shape | None = None
        self._members: dict[str, Shape] = {}
        self._is_odd = False
        """Whether an object has members that no column can have."""
        self.is_infinite = False
        """Whether a number is infinite: it may be one that is too large for floating-point numbers."""

    def see(self, values: Sequence[Any]) -> None:
        """Looks at values."""
        types = set(map(type, values))
        self._kinds |= {_KINDS[of] for of in types}
        if int in types:
            numbers = [value for value in values if type(value) is int]
            self._low, self._high = min(self._low, *numbers), max(self._high, *numbers)
        if float in types and (math.inf in values or -math.inf in values):
            self.is_infinite = True
        if list in types:
            self._elements = self._elements or Shape()
            self._elements.see([element for value in values if type(value) is list for element in value])
            self.is_infinite |= self._elements.is_infinite
        if dict in types:
            self._see_members([value for value in values if type(value) is dict])

    def _see_members(self, objects: Iterable[Row]) -> None:
        members: dict[str, list[Any]] = defaultdict(list)
        for each in objects:
            for name, value in each.items():
                members[name].append(value)
        for name, values in members.items():
            self._is_odd = self._is_odd or len(self._members) > _MOST_MEMBERS or not _has_utf8(name)
            if not self._is_odd:
                shape = self._members.setdefault(name, Shape())
                shape.see(values)
                self.is_infinite |= shape.is_infinite

    def join(self, other: Shape) -> None:
        """Takes what another one has seen."""
        self._kinds |= other._kinds
        self._low, self._high = min(self._low, other._low), max(self._high, other._high)
        if other._elements is not None:
            self._elements = self._elements or Shape()
            self._elements.join(other._elements)
        self._is_odd = self._is_odd or other._is_odd
        for name, shape in other._members.items():
            self._members.setdefault(name, Shape()).join(shape)

    def arrow(self) -> pa.DataType | None:
        """The type that holds all values; None where there is none."""
        kinds = self._kinds - {"null"}
        if not kinds:
            return pa.null()
        if kinds == {"int"}:
            if self._low >= -(1 << 63) and self._high < 1 << 63:
                return pa.int64()
            return pa.uint64() if self._low >= 0 and self._high < 1 << 64 else None
        if kinds == {"int", "float"}:
            return pa.float64() if self._low >= -_EXACT and self._high <= _EXACT else None
        if kinds == {"list"} and self._elements is not None:
            elements = self._elements.arrow()
            return None if elements is None else pa.list_(elements)
        if kinds == {"dict"}:
            members = [(name, shape.arrow()) for name, shape in self._members.items()]
            is_held = members and not self._is_odd and all(of is not None for _, of in members)
            return pa.struct(members) if is_held else None
        simple = {"bool": pa.bool_(), "float": pa.float64(), "str": pa.string()}
        return simple.get(next(iter(kinds))) if len(kinds) == 1 else None

    def told(self) -> list[Any]:
        """What `of` makes it of again."""
        elements = self._elements.told() if self._elements is not None else None
        members = {name: shape.told() for name, shape in self._members.items()}
        return [sorted(self._kinds), self._low, self._high, elements, members, self._is_odd]

    @classmethod
    def of(cls, told: list[Any]) -> Shape:
        """What has told this."""
        shape = cls()
        kinds, shape._low, shape._high, elements, members, shape._is_odd = told
        shape._kinds = set(kinds)
        shape._elements = None if elements is None else cls.of(elements)
        shape._members = {name: cls.of(each) for name, each in members.items()}
        return shape


class Shapes:
    """What the values of columns are."""

    def __init__(self) -> None:
        self.columns: dict[str, Shape] = {}

    def see(self, rows: Sequence[Row]) -> None:
        """Looks at rows."""
        for name in dict.fromkeys(name for row in rows for name in row):
            self.columns.setdefault(name, Shape()).see([row.get(name) for row in rows])

    def too_large(self, rows: Sequence[Row], texts: Sequence[str]) -> int | None:
        """The place of a row with a number that is too large for Arrow, such as 1e400, among those just seen."""
        if not any(shape.is_infinite for shape in self.columns.values()):
            return None
        places = (at for at, text in enumerate(texts) if "Infinity" not in text)
        return next((at for at in places if any(map(_is_infinite, rows[at].values()))), None)

    def join(self, other: Shapes) -> None:
        """Takes what another one has seen."""
        for name, shape in other.columns.items():
            self.columns.setdefault(name, Shape()).join(shape)

    def schema(self, name: str) -> pa.Schema:
        """The types that hold all values; messages call the file `name`."""
        for column in self.columns:
            if not _has_utf8(column):
                raise FileError(f"{name}: Parquet and Arrow cannot name a column {column!r}: write .jsonl instead")
        return pa.schema([json_field(each) if of is None else pa.field(each, of) for each, of in self._types()])

    def _types(self) -> Iterable[tuple[str, pa.DataType | None]]:
        return ((name, shape.arrow()) for name, shape in self.columns.items())


def _is_infinite(value: Any) -> bool:
    if isinstance(value, list | dict):
        return any(map(_is_infinite, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float) and math.isinf(value)


def json_field(name: str) -> pa.Field:
    """A column of text with JSON."""
    return pa.field(name, pa.string(), metadata=_JSON)


def like(schema: pa.Schema, column: str, name: str) -> pa.Field:
    """A column for values of another one, or for none; as JSON where that is."""
    field = schema.field(column)
    return json_field(name) if is_json(field) else pa.field(name, field.type)


def is_json(field: pa.Field) -> bool:
    """Whether the values of a column are written as JSON."""
    return field.metadata is not None and field.metadata.get(b"neardup") == b"json"


def record_batch(rows: Sequence[Row], schema: pa.Schema) -> pa.RecordBatch:
    """Rows as Arrow has them."""
    return pa.record_batch([_array([row.get(field.name) for row in rows], field) for field in schema], schema=schema)


def _array(values: list[Any], field: pa.Field) -> pa.Array:
    if is_json(field):
        values = [None if value is None else dumped(value) for value in values]
    try:
        return pa.array(values, field.type)
    except UnicodeEncodeError:
        return pa.array([whole(value) for value in values], field.type)


def whole(value: Any) -> Any:
    """A value with U+FFFD in place of halves of characters, which JSON can have and UTF-8 cannot."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [whole(each) for each in value]
    return {name: whole(each) for name, each in value.items()} if isinstance(value, dict) else value


def _has_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
