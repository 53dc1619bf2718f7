"""Calls through psycopg 3, whatever holds the connection: a string, psycopg, SQLAlchemy, Django.

from neardup.session import refresh
refresh("dbname=news", "docs")
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, Unpack

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row, tuple_row

from neardup.calls import Value, percent, procedure_call, table_call
from neardup.catalog import EXTENSION, ID_TYPE, INTEGERS, Extension, MissingExtensionError, TypeName
from neardup.named import Into, Reporting, Watching, named
from neardup.progress import SETTING, Bar, Progress, Report

Source: TypeAlias = Any
"""A conninfo string, a connection of psycopg 3, or what holds one: an Engine, Connection or Session of SQLAlchemy, or
`django.db.connection`."""


class HtmlPage(str):
    """An HTML page, which Jupyter shows as one."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        # In a frame, since it is a whole page with styles of its own.
        page = html.escape(self, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width: 100%; height: 40em; border: 0"></iframe>'


@contextmanager
def connection_of(source: Source) -> Iterator[psycopg.Connection[Any]]:
    """The connection of psycopg in a source; one that is opened here is closed at the end."""
    if isinstance(source, str):
        with psycopg.connect(source) as opened:
            yield opened
    elif isinstance(source, psycopg.Connection):
        yield source
    elif hasattr(source, "raw_connection"):  # an Engine
        held = source.raw_connection()
        try:
            yield _psycopg(held.driver_connection)
        finally:
            held.close()
    elif hasattr(source, "ensure_connection"):  # of Django
        source.ensure_connection()
        yield _psycopg(source.connection)
    elif hasattr(source, "connection"):  # a Connection, or a Session, which makes one
        held = source.connection() if callable(source.connection) else source
        yield _psycopg(held.connection.driver_connection)
    else:
        yield _psycopg(source)


def _psycopg(connection: object) -> psycopg.Connection[Any]:
    if isinstance(connection, psycopg.Connection):
        return connection
    raise TypeError(
        f"this needs a connection of psycopg 3, not {type(connection).__module__}.{type(connection).__name__};"
        " with SQLAlchemy, an engine of postgresql+psycopg://"
    )


@contextmanager
def committing(source: Source) -> Iterator[psycopg.Connection[Any]]:
    """A connection in autocommit, which it leaves as it was: for procedures that commit."""
    if getattr(source, "in_atomic_block", False):
        raise RuntimeError(
            "this commits its batches, so it cannot run inside a transaction: call it outside of atomic()"
        )
    with connection_of(source) as connection:
        if connection.info.transaction_status != TransactionStatus.IDLE:
            raise RuntimeError(
                "this commits its batches, so it cannot run inside a transaction, and this connection is in one:"
                " commit() or rollback() before"
            )
        before = connection.autocommit
        connection.autocommit = True
        try:
            yield connection
        finally:
            if not connection.closed:
                connection.autocommit = before


def extension(connection: psycopg.Connection[Any]) -> Extension:
    """The extension in the database of a connection."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(EXTENSION).fetchone()
    if row is None:
        raise MissingExtensionError
    return Extension(*row)


def encoded(connection: psycopg.Connection[Any], sql: str) -> bytes:
    """A statement with names of the database in it, as psycopg would encode one that stands in the program."""
    return sql.encode(connection.info.encoding)


def refresh(source: Source, docs: str, *, batch_rows: int | None = None) -> str:
    """Brings the pairs and clusters of a watched relation up to date, in batches that commit: `done` or `skipped`."""
    with committing(source) as connection:
        sql, values = procedure_call(
            extension(connection), "neardup_refresh", {"docs": docs, "batch_rows": batch_rows}, percent
        )
        with connection.cursor(row_factory=tuple_row) as cursor:
            row = cursor.execute(encoded(connection, sql), values).fetchone()
    assert row is not None
    status: str = row[0]
    return status


@named
def near_duplicates_into(source: Source, docs: str, threshold: float | None, pairs: str, **more: Unpack[Into]) -> None:
    """Makes a table of all pairs, and one of clusters where `clusters` names it; it commits."""
    with committing(source) as connection:
        given = {"docs": docs, "threshold": threshold, "pairs": pairs, **more}
        sql, values = procedure_call(extension(connection), "near_duplicates_into", given, percent)
        connection.execute(encoded(connection, sql), values)


@named
def watch(source: Source, docs: str, threshold: float | None = None, **more: Unpack[Watching]) -> None:
    """Sets up a job that keeps the near duplicates of a relation in tables beside it."""
    _select(source, "neardup_watch", {"docs": docs, "threshold": threshold, **more})


def unwatch(source: Source, docs: str, *, keep_results: bool = False) -> None:
    """Ends a job and drops its tables, or only what is not its results."""
    _select(source, "neardup_unwatch", {"docs": docs, "keep_results": keep_results})


def stats(source: Source) -> dict[str, Any] | None:
    """What the last call of `near_duplicates` or its like in this session did; None before the first one."""
    rows = _select(source, "near_duplicates_stats", {})
    return rows[0] if rows else None


def version(source: Source) -> dict[str, Any]:
    """The versions of the library, of its SQL in this database, and of what is stored."""
    return _select(source, "neardup_version", {})[0]


def explain_pair(source: Source, a: str, b: str) -> list[dict[str, Any]]:
    """What every method says of two texts: `method`, `similarity`, `evidence`."""
    return _select(source, "explain_pair", {"a": a, "b": b})


@named
def duplicates_report(source: Source, docs: str, threshold: float | None = None, **more: Unpack[Reporting]) -> HtmlPage:
    """One HTML page about the near duplicates of a relation; a notebook shows it."""
    with connection_of(source) as connection:
        id_type = id_type_of(connection, docs, more.get("id_column"))
        given = {"docs": docs, "threshold": threshold, **more}
        rows = _rows(connection, "duplicates_report", given, id_type)
    return HtmlPage(rows[0]["duplicates_report"])


def id_type_of(connection: psycopg.Connection[Any], docs: str, id_column: Value = None) -> TypeName | None:
    """The type of a relation's ids; None of integers, and where there is no such id."""
    sql = ID_TYPE.format(relation="%(docs)s", column="%(column)s")
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(sql, {"docs": docs, "column": id_column}).fetchone()
    return None if row is None or row[2] in INTEGERS else TypeName(row[0], row[1])


@contextmanager
def progress(
    source: Source, bar: Bar | None = None, tell: Callable[[Report], None] | None = None, title: str | None = None
) -> Iterator[Progress]:
    """While it is open, calls on this connection say where they are, on a bar of tqdm where none is given.

    `title` stands before what is done, in place of the function's name.
    """
    with connection_of(source) as connection, Progress(bar, tell, title) as showing:

        def listen(diagnostic: psycopg.errors.Diagnostic) -> None:
            showing.notice(diagnostic.message_primary or "")

        connection.add_notice_handler(listen)
        try:
            _set(connection, "on")
            yield showing
        finally:
            connection.remove_notice_handler(listen)
            # In a transaction that failed nothing can be set; NOTICEs go on then, and are not shown.
            if connection.info.transaction_status in (TransactionStatus.IDLE, TransactionStatus.INTRANS):
                _set(connection, "off")


def _set(connection: psycopg.Connection[Any], value: str) -> None:
    # By a transaction of its own where there is none: the caller's next one begins as it would have.
    idle = connection.info.transaction_status == TransactionStatus.IDLE
    connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [SETTING, value])
    if idle and not connection.autocommit:
        connection.commit()


def _rows(
    connection: psycopg.Connection[Any], function: str, given: dict[str, Value], id_type: TypeName | None = None
) -> list[dict[str, Any]]:
    sql, values = table_call(extension(connection), function, given, percent, id_type)
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(encoded(connection, sql), values).fetchall()


def _select(source: Source, function: str, given: dict[str, Value]) -> list[dict[str, Any]]:
    with connection_of(source) as connection:
        return _rows(connection, function, given)
