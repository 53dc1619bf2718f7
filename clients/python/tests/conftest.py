"""A private server for all tests, a database for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from neardup.server import PrivateServer, ServerError

TEXTS = {
    1: "The harbour of Port Ellis will stay closed until Thursday after a crane collapsed on the north quay.",
    2: "PORT ELLIS - The harbour of Port Ellis will stay closed until Friday after a crane collapsed on the north quay.",  # noqa: E501
    3: "The library is closed on public holidays. Books can be returned at any time through the box beside the door.",
    4: "THE LIBRARY IS CLOSED on public holidays - books can be returned at any time through the box beside the door!",
    5: "Soak the beans overnight. Boil them until they are soft, then add the onions and salt.",
}
_NUMBERS = itertools.count(1)
_unchanged: dict[str, object] = {}
"""Databases that tests have left as they were, and their states: most tests of files make nothing that stays."""
_STATE = """
    WITH own AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_(toast_)?temp_')
    SELECT (SELECT md5(string_agg((oid, relname, relacl)::text, ',' ORDER BY oid))
            FROM pg_class WHERE relnamespace IN (TABLE own)),
        (SELECT md5(string_agg((oid, typname)::text, ',' ORDER BY oid)) FROM pg_type WHERE typnamespace IN (TABLE own)),
        (SELECT md5(string_agg((oid, proname, proacl)::text, ',' ORDER BY oid)) FROM pg_proc),
        (SELECT array_agg(oid ORDER BY oid) FROM own),
        (SELECT array_agg((oid, extnamespace, extversion)::text ORDER BY oid) FROM pg_extension),
        (SELECT array_agg(s::text ORDER BY s::text) FROM pg_db_role_setting s)
"""


@pytest.fixture(scope="session")
def server() -> Iterator[PrivateServer]:
    try:
        with PrivateServer() as running:
            with psycopg.connect(running.dsn, autocommit=True) as connection:
                for model in ("model_of_tests", "model_without"):
                    connection.execute(f"CREATE DATABASE {model} TEMPLATE postgres".encode())
            with psycopg.connect(of(running, "model_of_tests")) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS neardup")
            with psycopg.connect(of(running, "model_without")) as connection:
                connection.execute("DROP EXTENSION IF EXISTS neardup")
            yield running
    except ServerError as error:
        pytest.exit(str(error), returncode=3)


def of(server: PrivateServer, database: str) -> str:
    return server.dsn.replace("dbname=postgres", f"dbname={database}")


@pytest.fixture
def bare(server: PrivateServer) -> Iterator[str]:
    """The name of a new database without the extension."""
    name = _database(server, "model_without")
    yield name
    _drop(server, name)


@pytest.fixture
def database(server: PrivateServer) -> Iterator[str]:
    """The name of a database with the extension, and with nothing that a test has made."""
    if not _unchanged:
        new = _database(server, "model_of_tests")
        _unchanged[new] = _state(server, new)
    name, before = _unchanged.popitem()
    yield name
    after = None
    with suppress(psycopg.Error):
        after = _state(server, name)
    if after == before:
        _unchanged[name] = before
    else:
        _drop(server, name)


def _database(server: PrivateServer, model: str) -> str:
    name = f"test_{next(_NUMBERS)}"
    _execute(server, f"CREATE DATABASE {name} TEMPLATE {model}")
    return name


def _drop(server: PrivateServer, name: str) -> None:
    _execute(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _execute(server: PrivateServer, sql: str) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(sql.encode())


def _state(server: PrivateServer, name: str) -> object:
    """What tells whether something was made in a database, but for temporary tables."""
    with psycopg.connect(of(server, name)) as connection:
        return connection.execute(_STATE).fetchone()


@pytest.fixture
def dsn(server: PrivateServer, database: str) -> str:
    return of(server, database)


@pytest.fixture
def connection(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as opened:
        yield opened


@pytest.fixture
def docs(connection: psycopg.Connection) -> psycopg.Connection:
    """A connection to a database with a table of documents."""
    connection.execute("CREATE TABLE docs (id int PRIMARY KEY, body text)")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO docs VALUES (%s, %s)", TEXTS.items())
    return connection


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The file whose tests are longest comes first: workers without work take from those that have some."""
    items.sort(key=lambda item: item.path.name != "test_work.py")
