"""Files with rows of what the server found: pairs, clusters, repeated runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg.rows import tuple_row

from neardup.files import Columns, require_written
from neardup.files.chunks import CHUNK_BYTES, RowsChunk
from neardup.outputs import Out
from neardup.store import Store

if TYPE_CHECKING:
    import pyarrow as pa


class Listed:
    """The columns of such a file, and their types; `=NAME` is the type of a column of the rows that are read."""

    is_quoted = True

    def __init__(self, types: Mapping[str, str], rows: Columns) -> None:
        self.types = types
        self.fields: dict[str, None] = dict.fromkeys(types)
        self._rows = rows

    def schema(self) -> pa.Schema:
        """Their types."""
        import pyarrow as pa

        from neardup.files.shapes import like

        rows: Any = self._rows.schema() if any(of.startswith("=") for of in self.types.values()) else None
        return pa.schema(
            [like(rows, of[1:], name) if of.startswith("=") else pa.field(name, of) for name, of in self.types.items()]
        )


def write_listed(
    store: Store,
    stack: ExitStack,
    path: Path,
    token: str | None,
    columns: Listed,
    sql: str,
    row: Callable[[tuple[Any, ...]], Mapping[str, Any]],
) -> Out:
    """Writes what a statement gives, each row of it as `row` makes it."""
    out = stack.enter_context(Out(path, token, require_written(path)))
    if out.is_whole:
        return out
    out.begin(columns, {})
    with store.connection.transaction(), store.connection.cursor("neardup_listed", row_factory=tuple_row) as cursor:
        cursor.itersize = 200
        cursor.execute(sql.encode())
        for rows in in_parts(dict(row(found)) for found in cursor):
            out.write(RowsChunk(rows))
    return out


def in_parts(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows in parts that memory holds."""
    held: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        held.append(row)
        characters += len(row.get("text") or "")
        if len(held) == 5_000 or characters >= CHUNK_BYTES:
            yield held
            held, characters = [], 0
    if held:
        yield held
