"""asyncpg: values in both formats, procedures that commit, progress."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import asyncpg
import psycopg
import pytest

import neardup.asyncpg
from neardup import MinhashBall, MinhashSketch, SimhashBall, SimhashSketch, TextBall
from neardup.catalog import MissingExtensionError
from neardup.server import PrivateServer

from .bars import Silent
from .conftest import TEXTS


def connected(server: PrivateServer, database: str, work: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(host=str(server.folder), port=5432, user="postgres", database=database)
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(run())


@pytest.mark.parametrize("form", ["binary", "text"])
def test_values_come_and_go(server: PrivateServer, database: str, form: Literal["binary", "text"]) -> None:
    async def work(connection: Any) -> None:
        await neardup.asyncpg.register(connection, format=form)
        for text in (TEXTS[1], ""):
            sql = "SELECT minhash($1), simhash($1), near(minhash($1), 0.8), near(simhash($1), 3), near($1, 0.5)"
            row = await connection.fetchrow(sql, text)
            assert [type(value) for value in row] == [MinhashSketch, SimhashSketch, MinhashBall, SimhashBall, TextBall]
            for value in row:
                name = value.type_name
                back = await connection.fetchrow(f"SELECT $1::{name}, $1::{name}::text, ARRAY[$1, NULL]", value)
                assert tuple(back) == (value, str(value), [value, None])
                assert await connection.fetchval(f"SELECT $1::{name}", str(value)) == value

    connected(server, database, work)


def test_without_the_extension(server: PrivateServer, bare: str) -> None:
    async def work(connection: Any) -> None:
        with pytest.raises(MissingExtensionError):
            await neardup.asyncpg.register(connection)

    connected(server, bare, work)


def test_procedures_commit(server: PrivateServer, database: str, docs: psycopg.Connection) -> None:
    docs.execute("SELECT neardup_watch('docs', 0.75)")

    async def work(connection: Any) -> None:
        assert await neardup.asyncpg.refresh(connection, "docs") == "done"
        assert await connection.fetchval("SELECT count(*) FROM docs_pairs") == 2
        await neardup.asyncpg.near_duplicates_into(connection, "docs", 0.75, "found", method="dice")
        assert await connection.fetchval("SELECT count(*) FROM found") == 2
        async with connection.transaction():
            with pytest.raises(RuntimeError, match="inside a transaction"):
                await neardup.asyncpg.refresh(connection, "docs")

    connected(server, database, work)


def test_progress(server: PrivateServer, database: str) -> None:
    async def work(connection: Any) -> None:
        bar = Silent()
        async with neardup.asyncpg.progress(connection, bar):
            await connection.execute("DO $$ BEGIN RAISE NOTICE 'near_duplicates: joining, 45 %%, 12 pairs'; END $$")
            assert await connection.fetchval("SHOW neardup.progress") == "on"
        assert (bar.n, bar.description, bar.postfix, bar.closed) == (45, "near_duplicates: joining", "12 pairs", True)
        assert await connection.fetchval("SHOW neardup.progress") == "off"
        await connection.execute("SELECT simhash('loads the library')")

    connected(server, database, work)
