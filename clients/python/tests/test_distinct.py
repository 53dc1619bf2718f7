"""Documents in memory without their near duplicates, and what the page on frameworks shows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psycopg
import pytest

from neardup.distinct import distinct
from neardup.server import PrivateServer

from .conftest import TEXTS
from .test_docs import BLOCK, PROJECT, run


def test_the_first_of_each_group_is_kept(dsn: str) -> None:
    assert distinct(dsn, TEXTS.items(), 0.75, text=lambda item: item[1]) == [
        item for item in TEXTS.items() if item[0] in (1, 3, 5)
    ]
    assert distinct(dsn, TEXTS.values(), 0.75) == [TEXTS[1], TEXTS[3], TEXTS[5]]
    assert distinct(dsn, reversed(TEXTS.values()), 0.75) == [TEXTS[5], TEXTS[4], TEXTS[2]]
    assert distinct(dsn, TEXTS.values(), 0.75, keep="longest") == [TEXTS[2], TEXTS[4], TEXTS[5]]


def test_few_and_odd_texts(dsn: str) -> None:
    assert distinct(dsn, []) == []
    assert distinct(dsn, ["one\t\\N\n", None, "one \\N", None, "tab"], 0.8, text=lambda text: text) == [
        "one\t\\N\n",
        None,
        None,
        "tab",
    ]
    # As PDFs give them, and as the command reads them.
    odd = ["page one\0 of the report", "half \ud83d of a sign", "page one of the report", "half of a sign"]
    assert distinct(dsn, odd, 0.8) == odd[:2]
    assert distinct(dsn, ["a b c d e f", "d e f"], 1, method="containment", keep="longest") == ["a b c d e f"]


def test_the_connection_stays_as_it_was(dsn: str) -> None:
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE mine (id int)")
        for _ in range(2):
            assert distinct(connection, ["a b", "A, b"]) == ["a b"]
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            distinct(connection, ["a b", "A, b"], 7)
        assert connection.execute("SELECT to_regclass('pg_temp.neardup_distinct')").fetchone() == (None,)
        connection.execute("TABLE mine")


@pytest.mark.skipif(not (PROJECT / "docs").exists(), reason="not in the repository of the extension")
def test_page_on_frameworks(
    server: PrivateServer, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the page shows is run where the frameworks are installed."""
    for framework in ("langchain_core", "llama_index.core", "datasets"):
        pytest.importorskip(framework)
    for name, value in {"PGHOST": str(server.folder), "PGPORT": "5432", "PGUSER": "postgres"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {database} RENAME TO rag".encode())
    names: dict[str, Any] = {"__name__": "page"}
    page = Path(os.environ.get("NEARDUP_PROJECT", PROJECT)) / "docs/recipes/rag.md"
    blocks = [block for block in BLOCK.findall(page.read_text()) if block[0] == "python"]
    for language, code, expected in blocks:
        assert run(language, code, expected, names)
    assert len(blocks) >= 3
