"""psycopg 3: sketches and balls as values, in text and in binary, and as elements of arrays.

    import neardup.psycopg
    neardup.psycopg.register(connection)
    connection.execute("SELECT id FROM docs WHERE sketch <@ near(%s, 0.8)", [sketch])

In SQL that has parameters psycopg reads `%` as the beginning of one: the operator `<%>` is written `<%%>` there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.types import TypeInfo

from neardup.balls import Ball, MinhashBall, SimhashBall
from neardup.catalog import TYPE_OIDS, TYPES, MissingExtensionError
from neardup.documents import TextBall
from neardup.sketches import MinhashSketch, SimhashSketch, Sketch

VALUES: dict[str, type[Sketch] | type[Ball]] = {
    cls.type_name: cls for cls in (MinhashSketch, SimhashSketch, MinhashBall, SimhashBall, TextBall)
}


def _encoding(connection: psycopg.BaseConnection[Any] | None) -> str:
    """That of the client, as texts come and go: a ball of a document has whatever characters that has."""
    return connection.info.encoding if connection else "utf-8"


class _TextDumper(Dumper):
    def dump(self, obj: object) -> Buffer:
        return str(obj).encode(_encoding(self.connection))


class _BinaryDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Sketch | Ball) -> Buffer:
        return bytes(obj)


class _TextLoader(Loader):
    of: ClassVar[type[Sketch] | type[Ball]]

    def load(self, data: Buffer) -> Sketch | Ball:
        return self.of.from_text(bytes(data).decode(_encoding(self.connection)))


class _BinaryLoader(Loader):
    format = Format.BINARY
    of: ClassVar[type[Sketch] | type[Ball]]

    def load(self, data: Buffer) -> Sketch | Ball:
        return self.of(bytes(data)) if issubclass(self.of, Sketch) else self.of.from_bytes(bytes(data))


def register(connection: psycopg.Connection[Any], context: AdaptContext | None = None) -> None:
    """Makes a connection, or all of a context, read and write the types of this connection's database."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        cursor.execute(TYPE_OIDS)
        _register(cursor.fetchall(), context or connection)


async def register_async(connection: psycopg.AsyncConnection[Any], context: AdaptContext | None = None) -> None:
    """As `register`, for a connection that is awaited."""
    async with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        await cursor.execute(TYPE_OIDS)
        _register(await cursor.fetchall(), context or connection)


def _register(rows: Iterable[tuple[Any, ...]], context: AdaptContext) -> None:
    found = {name: (oid, array) for name, oid, array in rows if name in TYPES}
    if not found:
        raise MissingExtensionError
    for name, (oid, array) in found.items():
        of = VALUES[name]
        TypeInfo(name, oid, array).register(context)
        adapters = context.adapters
        adapters.register_loader(oid, type("TextLoader", (_TextLoader,), {"of": of}))
        adapters.register_loader(oid, type("BinaryLoader", (_BinaryLoader,), {"of": of}))
        # The last one that is registered is what is taken where the statement does not say.
        adapters.register_dumper(of, type("TextDumper", (_TextDumper,), {"oid": oid}))
        adapters.register_dumper(of, type("BinaryDumper", (_BinaryDumper,), {"oid": oid}))
