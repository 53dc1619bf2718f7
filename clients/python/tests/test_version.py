"""The version is that of the extension: of its source beside this, and of what is installed."""

import os
import re
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest

import neardup
from neardup import session

CARGO = Path(os.environ.get("NEARDUP_PROJECT", Path(__file__).parents[3])) / "Cargo.toml"


def test_it_is_that_of_the_server(connection: psycopg.Connection) -> None:
    assert session.version(connection)["sql"] == neardup.__version__
    assert version("neardup") == neardup.__version__


@pytest.mark.skipif(not CARGO.exists(), reason="not in the repository of the extension")
def test_it_is_that_of_the_source() -> None:
    found = re.search(r'^version = "(.*)"', CARGO.read_text(), re.MULTILINE)
    assert found is not None, CARGO
    assert found[1] == neardup.__version__
