"""What README.md and the page of the manual show is run, in order, in a database `news`, and what it prints compared.

Blocks of `python` and `sql` are run; those of `py` need a project around them and are only to be Python.
"""

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from neardup.server import PrivateServer

HERE = Path(__file__).parents[1]
PROJECT = Path(os.environ.get("NEARDUP_PROJECT", HERE.parents[1]))
PAGES = [HERE / "README.md", PROJECT / "docs/clients/python.md"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, server: PrivateServer, bare: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGHOST": str(server.folder), "PGPORT": "5432", "PGUSER": "postgres"}.items():
        monkeypatch.setenv(name, value)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS news WITH (FORCE)")
        connection.execute(f"ALTER DATABASE {bare} RENAME TO news".encode())
    names: dict[str, Any] = {"__name__": "page"}
    try:
        ran = [run(language, code, expected, names) for language, code, expected in BLOCK.findall(page.read_text())]
    finally:
        if "connection" in names:
            names["connection"].close()
    assert sum(ran) >= 2


def run(language: str, code: str, expected: str, names: dict[str, Any]) -> bool:
    if language == "sql":
        with psycopg.connect("dbname=news") as connection:
            connection.execute(code.encode())
    elif language == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "page", "exec"), names)
        assert printed.getvalue().rstrip() == expected.rstrip()
    elif language == "py":
        compile(code, "page", "exec")
    return language in ("sql", "python")


@pytest.mark.skipif(not (PROJECT / "packaging").exists(), reason="not in the repository of the extension")
def test_compose_file() -> None:
    """The page shows the files, and what the file of Compose refers to is there."""
    folder, page = PROJECT / "packaging/compose", (PROJECT / "docs/installing.md").read_text()
    for file in (folder / "compose.yaml", *sorted((folder / "init").iterdir())):
        assert f"\n{file.read_text()}```\n" in page, file
    read = yaml.safe_load((folder / "compose.yaml").read_text())
    (service,) = read["services"].values()
    top = (folder / service["build"]["context"]).resolve()
    assert top == PROJECT.resolve()
    dockerfile = (top / service["build"]["dockerfile"]).read_text()
    assert f" AS {service['build']['target']}\n" in dockerfile
    assert f"ARG PG={service['build']['args']['PG']}\n" in dockerfile
    for volume in service["volumes"]:
        source = volume.split(":")[0]
        assert source in read["volumes"] or (folder / source).is_dir(), volume
    assert f"cron.database_name={service['environment']['POSTGRES_DB']}" in service["command"]
