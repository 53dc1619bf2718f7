"""A private server for all tests, a database for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

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


@pytest.fixture(scope="session")
def server() -> Iterator[PrivateServer]:
    try:
        with PrivateServer() as running:
            with psycopg.connect(running.dsn, autocommit=True) as connection:
                connection.execute("CREATE DATABASE model_of_tests")
            with psycopg.connect(of(running, "model_of_tests")) as connection:
                connection.execute("CREATE EXTENSION neardup")
            yield running
    except ServerError as error:
        pytest.exit(str(error), returncode=3)


def of(server: PrivateServer, database: str) -> str:
    return server.dsn.replace("dbname=postgres", f"dbname={database}")


@pytest.fixture
def bare(server: PrivateServer) -> str:
    """The name of a new database without the extension."""
    return _database(server, "template1")


@pytest.fixture
def database(server: PrivateServer) -> str:
    """The name of a new database with the extension."""
    return _database(server, "model_of_tests")


def _database(server: PrivateServer, model: str) -> str:
    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {model}".encode())
    return name


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
