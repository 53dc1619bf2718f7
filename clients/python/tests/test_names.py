"""Names with whatever is in them: none becomes SQL, a placeholder of psycopg, or a parameter of SQLAlchemy."""

import asyncio
import os
import tempfile
from pathlib import Path

import asyncpg
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import Column, Computed, MetaData, Table, Text, create_engine, literal_column, select

import neardup.alembic
import neardup.arrow
from neardup import session
from neardup.asyncpg import refresh
from neardup.calls import dollar, percent, table_call
from neardup.catalog import Extension, TypeName
from neardup.server import PrivateServer
from neardup.sqlalchemy import MINHASH_SKETCH, SIMHASH_SKETCH, minhash_sql, signature_index, simhash_sql

from .conftest import TEXTS, of
from .test_sqlalchemy import url

NAMES = [
    "a%b",
    "%s",
    "%(docs)s",
    " :name",
    "a:b",
    "%% :x%s",
    'quo"te',
    "it's",
    "); SELECT 1; --",
    "$1",
    "{x}",
    "back\\:s",
]
WORST = "%s :x\"'; -- \\ %(a)s {b} $1"


def test_a_type_of_ids_is_no_sql() -> None:
    hostile = "text) UNION SELECT * FROM secrets --"
    with pytest.raises(TypeError, match="TypeName"):
        table_call(Extension("public", "1"), "near_duplicates", {"docs": "docs", "threshold": 1}, percent, hostile)  # type: ignore[arg-type]
    for placeholder, name in ((percent, '"a""b%%s"'), (dollar, '"a""b%s"')):
        made, _ = table_call(
            Extension("p%", "1"), "eliminate", {"docs": "d", "threshold": 1}, placeholder, TypeName("s:", 'a"b%s')
        )
        assert f'id_type => NULL::"s:".{name})' in made


@pytest.mark.parametrize("name", [*NAMES, WORST])
def test_types_and_tables_of_any_name(docs: psycopg.Connection, name: str) -> None:
    for statement in (
        "CREATE SCHEMA {0}",
        "CREATE TYPE {0}.{0} AS ENUM ('1', '2', '3', '4', '5')",
        "CREATE TABLE {0} ({0} {0}.{0} PRIMARY KEY, body text)",
        "INSERT INTO {0} SELECT id::text::{0}.{0}, body FROM docs",
    ):
        docs.execute(sql.SQL(statement).format(sql.Identifier(name)))
    relation = sql.Identifier(name).as_string(docs)
    for more in ({}, {"id_column": name}):
        found = neardup.arrow.near_duplicates(docs, relation, 0.75, text_column="body", **more)
        assert sorted(found["left_id"].to_pylist()) == ["1", "3"]
    assert session.duplicates_report(docs, relation, 0.75).startswith("<!")


@pytest.mark.parametrize("name", [*NAMES, WORST])
def test_the_extension_in_a_schema_of_any_name(server: PrivateServer, bare: str, name: str) -> None:
    with psycopg.connect(of(server, bare), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        connection.execute(sql.SQL("CREATE EXTENSION neardup SCHEMA {}").format(sql.Identifier(name)))
        connection.execute("CREATE TABLE docs (id int PRIMARY KEY, body text)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO docs VALUES (%s, %s)", TEXTS.items())
        assert session.version(connection)["sql"]
        session.watch(connection, "docs", 0.75)
        assert session.refresh(connection, "docs") == "done"
        assert neardup.arrow.near_duplicates(connection, "docs", 0.75).num_rows == 2

    async def refreshed() -> str:
        opened = await asyncpg.connect(host=str(server.folder), port=5432, user="postgres", database=bare)
        try:
            return await refresh(opened, "docs")
        finally:
            await opened.close()

    assert asyncio.run(refreshed()) == "done"
    engine = create_engine(url(server, bare, "psycopg"))
    with engine.connect() as connection:
        passes = neardup.alembic.leave_alone(connection)
        assert not passes("neardup_all_jobs", "table", {"schema_name": name})
        assert not passes("docs_pairs", "table", {"schema_name": None})
        assert passes("docs", "table", {"schema_name": None})
    engine.dispose()


@pytest.mark.parametrize("name", [*NAMES, WORST])
def test_columns_of_any_name_in_models(server: PrivateServer, database: str, name: str) -> None:
    table = Table(
        "models",
        MetaData(),
        Column("id", Text, primary_key=True),
        Column(name, Text),
        Column("minhashed", MINHASH_SKETCH, Computed(minhash_sql(name, 1), persisted=True)),
        Column("simhashed", SIMHASH_SKETCH, Computed(simhash_sql(name), persisted=True)),
        signature_index("of_minhash", minhash_sql(name)),
        signature_index("of_simhash", simhash_sql(name)),
    )
    engine = create_engine(url(server, database, "psycopg"))
    table.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), [{"id": "1", name: "some words"}])
        expected = connection.scalar(select(literal_column("minhash('some words', 1)::text")))
        assert str(connection.scalar(select(table.c.minhashed))) == expected
    engine.dispose()


def test_a_private_server_below_a_folder_of_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="it's a b %s", dir="/tmp") as place:
        Path(place).chmod(0o755 if os.geteuid() else 0o777)
        monkeypatch.setattr(tempfile, "tempdir", place)
        with PrivateServer() as server, psycopg.connect(server.dsn) as connection:
            assert server.folder.parent == Path(place)
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert list(Path(place).iterdir()) == []
