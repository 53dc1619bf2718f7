"""The tables of a call on its server, and which steps are done.

They are temporary ones, which no other session sees and which go with this one; of a call that can be gone on with
they stay, and that a step is done is told in the transaction that does it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row

from neardup.calls import Value, percent, table_call
from neardup.session import encoded, extension

_SCHEMA: Final = "neardup_work"
_MADE: Final = """
    CREATE SCHEMA IF NOT EXISTS neardup_work;
    CREATE TABLE IF NOT EXISTS neardup_work.done (step pg_catalog.text PRIMARY KEY, told pg_catalog.text);
    CREATE TABLE IF NOT EXISTS neardup_work.loaded (
        docs pg_catalog.text, file pg_catalog.int4, rows pg_catalog.int8, empty pg_catalog.int8,
        characters pg_catalog.int8, seen pg_catalog.text, bad pg_catalog.int8, PRIMARY KEY (docs, file))
"""
_LOADED: Final = """
    INSERT INTO neardup_work.loaded AS l VALUES (%s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (docs, file) DO UPDATE SET rows = excluded.rows, empty = excluded.empty,
        characters = excluded.characters, seen = excluded.seen, bad = excluded.bad
"""


@dataclass(slots=True)
class Loaded:
    """How much of a file is in a table."""

    rows: int = 0
    empty: int = 0
    characters: int = 0
    seen: str | None = None
    """What its reader knows of its columns once all of it is there."""
    bad: int = 0
    """Lines that are no rows."""


class Store:
    """What a call has on its server, through a connection in autocommit."""

    def __init__(self, connection: psycopg.Connection[Any], *, lasting: bool, begun: Callable[[], None]) -> None:
        self.connection = connection
        self._lasting = lasting
        self._begun = begun
        self.schema = _SCHEMA if lasting else "pg_temp"
        self._done: dict[str, str] = {}
        self._loaded: dict[tuple[str, int], Loaded] = {}
        if lasting:
            connection.execute(_MADE.encode())
            with connection.cursor(row_factory=tuple_row) as cursor:
                self._done = dict(cursor.execute("TABLE neardup_work.done").fetchall())
                for docs, file, *rest in cursor.execute("TABLE neardup_work.loaded").fetchall():
                    self._loaded[docs, file] = Loaded(*rest)

    def name(self, table: str) -> str:
        """A table with its schema."""
        return f"{self.schema}.{table}"

    @property
    def kind(self) -> str:
        """What stands before TABLE where one is made."""
        return "" if self._lasting else "TEMP "

    @contextmanager
    def step(self) -> Iterator[None]:
        """A transaction in which a step, or a part of one, is done and told."""
        with self.connection.transaction():
            yield
        if self._lasting:
            self._begun()

    def once(self, step: str, work: Callable[[], str]) -> str:
        """Does a step that is not done, and returns what it tells; of one that is done, what it told."""
        if step not in self._done:
            with self.step():
                told = work()
                if self._lasting:
                    self.connection.execute("INSERT INTO neardup_work.done VALUES (%s, %s)", [step, told])
            self._done[step] = told
        return self._done[step]

    def loaded(self, docs: str, file: int) -> Loaded:
        """How much of a file is in a table."""
        return self._loaded.get((docs, file), Loaded())

    def tell_loaded(self, docs: str, file: int, now: Loaded) -> None:
        """Tells, in the transaction of its rows, how much of a file is in a table."""
        if self._lasting:
            values = [docs, file, now.rows, now.empty, now.characters, now.seen, now.bad]
            self.connection.execute(_LOADED, values)

    @property
    def is_begun(self) -> bool:
        """Whether an earlier call has done something."""
        return bool(self._loaded or self._done)

    def call(self, function: str, given: dict[str, Value]) -> tuple[str, list[Value]]:
        """All rows that a function of the extension gives."""
        call, values = table_call(extension(self.connection), function, given, percent)
        return call, list(values)

    def execute(self, sql: str, values: list[Value] | None = None) -> psycopg.Cursor[Any]:
        """A statement with names of the database in it."""
        return self.connection.execute(encoded(self.connection, sql), values)

    def row(self, sql: str, values: list[Value] | None = None) -> tuple[Any, ...]:
        """The one row that a statement gives."""
        with self.connection.cursor(row_factory=tuple_row) as cursor:
            row = cursor.execute(encoded(self.connection, sql), values).fetchone()
        assert row is not None
        return row
