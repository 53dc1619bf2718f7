"""asyncpg: sketches and balls as values, and what is called with autocommit.

await neardup.asyncpg.register(connection)        # or create_pool(…, init=neardup.asyncpg.register)
await connection.fetch("SELECT id FROM docs WHERE sketch <@ near($1, 0.8)", sketch)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, Unpack

import asyncpg

from neardup.balls import MinhashBall, SimhashBall
from neardup.calls import dollar, procedure_call
from neardup.catalog import EXTENSION, Extension, MissingExtensionError
from neardup.documents import TextBall
from neardup.named import Into, named
from neardup.progress import SETTING, Bar, Progress
from neardup.sketches import MinhashSketch, SimhashSketch


async def extension(connection: asyncpg.Connection) -> Extension:
    """The extension in the database of a connection."""
    row = await connection.fetchrow(EXTENSION)
    if row is None:
        raise MissingExtensionError
    return Extension(row[0], row[1])


async def register(connection: asyncpg.Connection, *, format: Literal["binary", "text"] = "binary") -> None:  # noqa: A002
    """Makes a connection read and write the extension's types; arrays of them, too. Texts are taken for values."""
    schema = (await extension(connection)).schema
    for of in (MinhashSketch, SimhashSketch, MinhashBall, SimhashBall, TextBall):
        encoder, decoder = _binary(of) if format == "binary" else (str, of.from_text)
        await connection.set_type_codec(of.type_name, schema=schema, encoder=encoder, decoder=decoder, format=format)


def _binary(of: Any) -> tuple[Callable[[Any], bytes], Callable[[bytes], Any]]:
    def encode(value: Any) -> bytes:
        return bytes(of.from_text(value) if isinstance(value, str) else value)

    return encode, getattr(of, "from_bytes", of)


async def refresh(connection: asyncpg.Connection, docs: str, *, batch_rows: int | None = None) -> str:
    """Brings the pairs and clusters of a watched relation up to date, in batches that commit: `done` or `skipped`."""
    given = {"docs": docs, "batch_rows": batch_rows}
    sql, values = procedure_call(await _committing(connection), "neardup_refresh", given, dollar)
    status: str = await connection.fetchval(sql, *values)
    return status


@named
async def near_duplicates_into(
    connection: asyncpg.Connection, docs: str, threshold: float, pairs: str, **more: Unpack[Into]
) -> None:
    """Makes a table of all pairs, and one of clusters where `clusters` names it; it commits."""
    given = {"docs": docs, "threshold": threshold, "pairs": pairs, **more}
    sql, values = procedure_call(await _committing(connection), "near_duplicates_into", given, dollar)
    await connection.execute(sql, *values)


async def _committing(connection: asyncpg.Connection) -> Extension:
    if connection.is_in_transaction():
        raise RuntimeError(
            "this commits its batches, so it cannot run inside a transaction: leave connection.transaction()"
        )
    return await extension(connection)


@asynccontextmanager
async def progress(connection: asyncpg.Connection, bar: Bar | None = None) -> AsyncIterator[Progress]:
    """While it is open, calls on this connection say where they are, on a bar of tqdm where none is given."""
    showing = Progress(bar)
    before = await connection.fetchval("SELECT pg_catalog.current_setting($1, true)", SETTING)

    def listen(_: object, message: Any) -> None:
        showing.notice(message.message)

    connection.add_log_listener(listen)
    try:
        await connection.execute("SELECT pg_catalog.set_config($1, 'on', false)", SETTING)
        try:
            yield showing
        finally:
            # In a transaction that failed nothing can be set; NOTICEs go on then, and are not shown.
            with suppress(asyncpg.InFailedSQLTransactionError, asyncpg.InterfaceError):
                await connection.execute("SELECT pg_catalog.set_config($1, $2, false)", SETTING, before or "off")
    finally:
        connection.remove_log_listener(listen)
        showing.close()
