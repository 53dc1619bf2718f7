"""The command: files of every kind in and out, what is wrong with them, and that nothing is left behind."""

import csv
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.__main__ import main

from .conftest import TEXTS

ROWS = [{"url": f"u{number}", "body": body, "n": number, "tags": ["a", number]} for number, body in TEXTS.items()]
GONE = [(2, 1), (4, 3)]
"""The numbers of rows that go, where the first ones stay, and of those that stay for them."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress((tmp_path / "in.jsonl").read_bytes()))
    with (tmp_path / "in.csv").open("w", newline="") as out:
        written = csv.DictWriter(out, ["url", "body", "n"], extrasaction="ignore")
        written.writeheader()
        written.writerows(ROWS)
    (tmp_path / "in.tsv").write_text("url\tbody\n" + "".join(f"{row['url']}\t{row['body']}\n" for row in ROWS))
    rows = [{**row, "tags": [str(tag) for tag in row["tags"]]} for row in ROWS]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    return tmp_path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.splitlines(), delimiter="\t" if ".tsv" in path.name else ","))


def run(dsn: str, *arguments: object) -> int:
    return main(["dedup", "--dsn", dsn, "--quiet", "--keep", "first", "--threshold", "0.75", *map(str, arguments)])


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz", "csv", "tsv"])
@pytest.mark.parametrize("to", ["parquet", "jsonl", "csv.gz"])
def test_files(dsn: str, folder: Path, kind: str, to: str) -> None:
    source, out, gone = (folder / f"{name}" for name in (f"in.{kind}", f"out.{to}", f"gone.{to}"))
    if kind.startswith("jsonl") and to == "parquet":
        # A list of strings and numbers is of no type that Arrow has.
        rows = [{name: value for name, value in row.items() if name != "tags"} for row in ROWS]
        text = "".join(json.dumps(row) + "\n" for row in rows).encode()
        source.write_bytes(gzip.compress(text) if kind.endswith("gz") else text)
    assert run(dsn, source, out, "--removed", gone) == 0
    kept, removed = read(out), read(gone)
    assert [row["url"] for row in kept] == ["u1", "u3", "u5"]
    assert [(int(row["row"]), int(row["kept_id"])) for row in removed] == GONE
    assert [row["body"] for row in removed] == [TEXTS[2], TEXTS[4]]
    assert float(removed[1]["similarity"]) == 1
    if kind == to:
        assert kept == [row for row in read(source) if row["url"] in ("u1", "u3", "u5")]
    if kind == to == "parquet":
        assert pq.read_schema(out) == pq.read_schema(source)


def test_marked_rows(dsn: str, folder: Path) -> None:
    for kind, id_column, expected in (("jsonl", "url", "u1"), ("parquet", "n", 1), ("csv", "n", "1")):
        out = folder / f"marked.{kind}"
        assert run(dsn, folder / f"in.{kind}", out, "--mark", "--id-column", id_column, "--prefix", "nd_") == 0
        rows = read(out)
        assert [row["url"] for row in rows] == [row["url"] for row in ROWS]
        assert [str(row["nd_kept"]).lower() for row in rows] == ["true", "false", "true", "false", "true"]
        assert rows[1]["nd_kept_id"] == expected
        assert rows[0]["nd_similarity"] in (None, "")
    assert pq.read_schema(folder / "marked.parquet").field("nd_kept_id").type == pa.int64()


def test_texts_that_postgresql_does_not_have(dsn: str, folder: Path) -> None:
    source, out = folder / "odd.jsonl", folder / "out.jsonl"
    lines = ['{"text": "one\\u0000two three \\ud800"}', '{"text": "one two three"}', '{"text": null}', ""]
    lines += ['{"other": 1}', '{"text": "caf\u00e9"}', '{"text": ""}', '{"text": "Caf\u00c9!"}']
    source.write_text("\n".join(lines))
    assert run(dsn, source, out) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows == [json.loads(line) for line in [lines[0], lines[2], *lines[4:7]]]


def wrong(capsys: pytest.CaptureFixture[str], dsn: str, *arguments: object) -> str:
    assert run(dsn, *arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_what_is_wrong_with_files(dsn: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.jsonl"
    said = wrong(capsys, dsn, folder / "in.parquet", out, "--text-column", "content")
    assert "has no column 'content' (--text-column); it has: url, body, n, tags" in said
    assert "no column 'id' (--id-column)" in wrong(capsys, dsn, folder / "in.csv", out, "--id-column", "id")
    assert "'n' is of type int64" in wrong(capsys, dsn, folder / "in.parquet", out, "--text-column", "n")
    assert "row 1: 'n' is int" in wrong(capsys, dsn, folder / "in.jsonl", out, "--text-column", "n")
    assert "cannot be read" in wrong(capsys, dsn, folder / "missing.jsonl", out)
    assert "the name should end with .parquet" in wrong(capsys, dsn, folder / "in.jsonl", folder / "out.docx")
    assert ".txt is read, not written" in wrong(capsys, dsn, folder / "in.jsonl", folder / "out.txt")
    assert "is a file that is read" in wrong(capsys, dsn, folder / "in.csv", folder / "in.csv", "--force")
    (folder / "two.csv").write_text("body,text\na,b\n")
    assert "it has more than one" in wrong(capsys, dsn, folder / "two.csv", out)
    (folder / "none.csv").write_text("a,b\na,b\n")
    assert "it has none. It has: a, b. Name it: --text-column" in wrong(capsys, dsn, folder / "none.csv", out)
    (folder / "taken.csv").write_text("body,kept\na,b\n")
    assert "--prefix" in wrong(capsys, dsn, folder / "taken.csv", out, "--mark")
    (folder / "torn.jsonl").write_text('{"body": "a"}\n{"body": \n')
    assert "torn.jsonl, line 2: Expecting value (at byte 23 of the file)" in wrong(
        capsys, dsn, folder / "torn.jsonl", out
    )
    (folder / "list.jsonl").write_text("1\n")
    assert "line 1: int where a JSON object should be" in wrong(capsys, dsn, folder / "list.jsonl", out)
    (folder / "wide.csv").write_text("body,n\na,b,c\n")
    assert "line 2: 3 values for 2 columns" in wrong(capsys, dsn, folder / "wide.csv", out)
    (folder / "no.parquet").write_text("no")
    assert "no.parquet: " in wrong(capsys, dsn, folder / "no.parquet", out)
    (folder / "cut.jsonl.gz").write_bytes((folder / "in.jsonl.gz").read_bytes()[:-20])
    assert "cut.jsonl.gz: " in wrong(capsys, dsn, folder / "cut.jsonl.gz", out)
    (folder / "latin.jsonl").write_bytes('{"body": "caf\u00e9"}'.encode("latin-1"))
    assert "latin.jsonl" in wrong(capsys, dsn, folder / "latin.jsonl", out)
    (folder / "no_id.jsonl").write_text('{"body": "a", "n": 1}\n{"body": "b"}\n')
    assert "row 2: it has no 'n'" in wrong(capsys, dsn, folder / "no_id.jsonl", out, "--id-column", "n")
    assert sorted(path.name for path in folder.glob("*out*")) == []
    out.write_text("mine")
    assert "--force" in wrong(capsys, dsn, folder / "in.jsonl", out)
    assert out.read_text() == "mine"


def test_what_the_server_says(dsn: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = folder / "out.jsonl"
    said = wrong(capsys, dsn, folder / "in.jsonl", out, "--method", "jacard")
    assert "jacard" in said
    assert "HINT: " in said
    assert "neardup.memory" in wrong(capsys, dsn, folder / "in.jsonl", out, "--memory", "9999999G")
    assert "connection" in wrong(capsys, "host=/nowhere", folder / "in.jsonl", out)
    with psycopg.connect(dsn) as connection:
        connection.execute("DROP EXTENSION neardup")
    assert "CREATE EXTENSION neardup" in wrong(capsys, dsn, folder / "in.jsonl", out)
    for odd in (["--options", "[]"], ["--memory", "much"], ["--memory", "256"]):
        with pytest.raises(SystemExit, match="2"):
            main(["dedup", "a", "b", *odd])
    assert "'256' has no unit; such as 512M or 2G" in capsys.readouterr().err
    assert not out.exists()


def generated(path: Path, rows: int) -> None:
    """Documents of which every third one is a copy of an earlier one with a word changed."""
    drawn = random.Random(20)
    bodies: list[str] = []
    for number in range(rows):
        new = [f"w{drawn.randrange(5000)}" for _ in range(40)]
        words = new if number % 3 else drawn.choice(bodies or ["w"]).split()
        words[drawn.randrange(len(words))] = f"x{number}"
        bodies.append(" ".join(words))
    pq.write_table(pa.table({"url": [f"u{n}" for n in range(rows)], "text": bodies}), path, row_group_size=3000)


def test_a_private_server_and_many_rows(tmp_path: Path, dsn: str) -> None:
    source, out, gone = tmp_path / "in.parquet", tmp_path / "out.parquet", tmp_path / "gone.parquet"
    generated(source, 12_000)
    command = [sys.executable, "-m", "neardup", "dedup", str(source), str(out), "--removed", str(gone)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    kept, removed = pq.read_table(out), pq.read_table(gone)
    assert f"12,000 rows: {kept.num_rows:,} kept, {removed.num_rows:,} removed, in " in ran.stderr
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE docs (id int PRIMARY KEY, body text)")
        with connection.cursor().copy("COPY docs FROM STDIN") as copy:
            for number, body in enumerate(pq.read_table(source)["text"].to_pylist(), 1):
                copy.write_row((number, body))
        expected = connection.execute("SELECT * FROM eliminate('docs', 0.8)").fetchall()
    assert len(expected) > 3000
    assert removed.select(["row", "kept_id", "similarity"]).to_pydict() == dict(
        zip(("row", "kept_id", "similarity"), map(list, zip(*expected, strict=True)), strict=True)
    )
    going = {number for number, *_ in expected}
    assert kept["url"].to_pylist() == [f"u{n - 1}" for n in range(1, 12_001) if n not in going]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gone.parquet", "in.parquet", "out.parquet"]


def test_a_server_that_is_ended_leaves_nothing(tmp_path: Path) -> None:
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    generated(source, 6_000)
    command = [sys.executable, "-m", "neardup", "dedup", str(source), str(out), "--quiet"]
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        Path(place).chmod(0o755)
        running = subprocess.Popen(command, env={**os.environ, "TMPDIR": place})
        while not list(Path(place).glob("*/log")):
            assert running.poll() is None
            time.sleep(0.01)
        running.send_signal(signal.SIGTERM)
        assert running.wait() == 128 + signal.SIGTERM
        assert list(Path(place).iterdir()) == []
    assert not out.exists()


def test_where(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert main(["where"]) == 0
    assert "has neardup" in capsys.readouterr().out
    told = tmp_path / "pg_config"
    told.write_text(f"#!/bin/sh\necho PostgreSQL 15.0\necho {tmp_path}\necho {tmp_path}\n")
    told.chmod(0o755)
    (tmp_path / "in.csv").write_text("text\na\n")
    command = ["dedup", str(tmp_path / "in.csv"), str(tmp_path / "out.csv")]
    assert main([*command, "--pg-config", str(told)]) == 1
    said = capsys.readouterr().err
    assert f"PostgreSQL 15.0, {told}: does not have neardup" in said
    assert f"make PG_CONFIG={told}" in said
    assert main([*command, "--pg-config", str(tmp_path / "none")]) == 1
    monkeypatch.setattr("neardup.server.installations", lambda: iter(()))
    assert main(command) == 1
    assert "No PostgreSQL was found" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out.strip() == neardup.__version__
