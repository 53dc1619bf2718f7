"""Documents in memory without their near duplicates: those of LangChain, of LlamaIndex, or any others that have a text.

from neardup.distinct import distinct
chunks = distinct("dbname=rag", chunks, 0.8, text=lambda chunk: chunk.page_content)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, Unpack

from psycopg.rows import tuple_row

from neardup.calls import percent, table_call
from neardup.named import Distinct, named
from neardup.plain import plain
from neardup.session import Source, connection_of, encoded, extension

T = TypeVar("T")
_TABLE = "pg_temp.neardup_distinct"


@named
def distinct(
    source: Source,
    documents: Iterable[T],
    threshold: float | None = None,
    *,
    text: Callable[[T], str | None] = str,
    **more: Unpack[Distinct],
) -> list[T]:
    """The documents that `eliminate` keeps, in their order; `text` says what the text of one is, None for none.

    The other arguments are those of `eliminate`: `keep="longest"`, `method="containment"`, `shingle=5` and so on. The
    first of documents that are alike is kept unless `keep` says otherwise. The texts go to a temporary table of the
    connection, which is dropped afterwards; in them, NUL is a space and half of a surrogate pair a question mark, which
    PostgreSQL does not have.
    """
    given = list(documents)
    with connection_of(source) as connection, connection.transaction():
        connection.execute(f"CREATE TEMP TABLE {_TABLE.split('.')[1]} (id int8 PRIMARY KEY, body text) ON COMMIT DROP")
        with connection.cursor(row_factory=tuple_row) as cursor:
            with cursor.copy(f"COPY {_TABLE} (id, body) FROM STDIN") as copy:
                for place, document in enumerate(given):
                    body = text(document)
                    copy.write_row((place, None if body is None else plain(body)))
            call = {"docs": _TABLE, "threshold": threshold, "keep": "first", **more}
            sql, values = table_call(extension(connection), "eliminate", call, percent)
            gone = {row[0] for row in cursor.execute(encoded(connection, sql), values)}
        connection.execute(f"DROP TABLE {_TABLE}")
    return [document for place, document in enumerate(given) if place not in gone]
