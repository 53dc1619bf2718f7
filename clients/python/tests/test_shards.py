"""The command on more than one file: shards, data sets on disk, pipes; which rows stay, and rows of other files."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup.__main__ import main, parser
from neardup.files import Form, Place, Reading, reader
from neardup.files.chunks import CHUNK_BYTES
from neardup.outputs import Out

from .conftest import TEXTS
from .test_command import ROWS, read, run, wrong


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def unzst(path: Path) -> str:
    return zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes())).read().decode()


def read_zst(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in unzst(path).splitlines()]


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """Three files below a folder: of the pairs of texts, each has its second text in another file."""
    folder = tmp_path / "shards"
    (folder / "more").mkdir(parents=True)
    (folder / "a.jsonl.zst").write_bytes(zstandard.compress(lines(ROWS[:1])) + zstandard.compress(lines(ROWS[4:])))
    (folder / "b.json.gz").write_bytes(gzip.compress(lines(ROWS[2:3])))
    pq.write_table(pa.table({"url": ["u4", "u2"], "body": [TEXTS[4], TEXTS[2]]}), folder / "more" / "c.parquet")
    (folder / "README.md").write_text("no documents")
    (folder / ".hidden.jsonl").write_text("{")
    (folder / "empty.jsonl").write_text("")
    return folder


def test_a_folder_to_a_folder(dsn: str, shards: Path, tmp_path: Path) -> None:
    out, gone = tmp_path / "out", tmp_path / "gone.jsonl"
    assert run(dsn, shards, f"{out}/", "--removed", gone) == 0
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        "a.jsonl.zst",
        "b.json.gz",
        "empty.jsonl",
        "more/c.parquet",
    ]
    assert read_zst(out / "a.jsonl.zst") == [ROWS[0], ROWS[4]]
    assert [json.loads(line) for line in gzip.decompress((out / "b.json.gz").read_bytes()).splitlines()] == ROWS[2:3]
    assert pq.read_table(out / "more/c.parquet").to_pydict() == {"url": [], "body": []}
    assert pq.read_schema(out / "more/c.parquet") == pq.read_schema(shards / "more/c.parquet")
    assert [{name: row[name] for name in row if name not in ("body", "similarity")} for row in read(gone)] == [
        {
            "url": url,
            "file": f"{shards}/more/c.parquet",
            "file_row": file_row,
            "row": row,
            "kept_id": kept,
            "kept_file": f"{shards}/{kept_file}",
            "kept_file_row": 1,
        }
        for url, file_row, row, kept, kept_file in (("u4", 1, 4, 3, "b.json.gz"), ("u2", 2, 5, 1, "a.jsonl.zst"))
    ]
    assert run(dsn, shards, f"{out}/", "--to", "csv.zst", "--id-column", "url", "--mark") == 0
    marked = unzst(out / "more/c.csv.zst")
    assert [line.split(",")[0] for line in marked.splitlines()] == ["url", "u4", "u2"]
    assert [line.split(",")[-3:-1] for line in marked.splitlines()] == [
        ["kept", "kept_id"],
        ["false", "u3"],
        ["false", "u1"],
    ]


def test_many_files_to_one(dsn: str, shards: Path, tmp_path: Path) -> None:
    # A list of strings and numbers is of no type that Arrow has.
    plain = [lines([{name: row[name] for name in ("url", "body", "n")}]) for row in ROWS]
    (shards / "a.jsonl.zst").write_bytes(zstandard.compress(plain[0] + plain[4]))
    (shards / "b.json.gz").write_bytes(gzip.compress(plain[2]))
    out = tmp_path / "out.parquet"
    assert run(dsn, f"{shards}/*.*z*", shards / "more", out) == 0
    table = pq.read_table(out)
    assert table["url"].to_pylist() == ["u1", "u5", "u3"]
    assert table["n"].to_pylist() == [1, 5, 3]
    assert run(dsn, shards / "more", shards / "a.jsonl.zst", tmp_path / "marked.csv", "--mark") == 0
    assert [(row["url"], row["n"], row["kept"]) for row in read(tmp_path / "marked.csv")] == [
        ("u4", "", "true"),
        ("u2", "", "true"),
        ("u1", "1", "false"),
        ("u5", "5", "true"),
    ]


def test_a_data_set_on_disk(dsn: str, tmp_path: Path) -> None:
    """As save_to_disk of Hugging Face's datasets writes it: streams of Arrow, and a list of them."""
    train, valid = tmp_path / "set/train", tmp_path / "set/valid"
    for split, name, rows in (
        (train, "data-00000-of-00001.arrow", ROWS[:3]),
        (valid, "data-00000-of-00001.arrow", ROWS[3:]),
    ):
        split.mkdir(parents=True)
        table = pa.table({"url": [row["url"] for row in rows], "text": [row["body"] for row in rows]})
        with pa.OSFile(str(split / name), "wb") as out, pa.ipc.new_stream(out, table.schema) as stream:
            stream.write_table(table, max_chunksize=2)
        (split / "cache-1.arrow").write_bytes(b"of some computation")
        (split / "dataset_info.json").write_text("{}")
        (split / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}], "_split": split.name}))
    (tmp_path / "set/dataset_dict.json").write_text('{"splits": ["train", "valid"]}')
    assert run(dsn, tmp_path / "set", f"{tmp_path}/out/") == 0
    found = {path.parent.name: pq.read_table(path)["url"].to_pylist() for path in (tmp_path / "out").rglob("*.parquet")}
    assert found == {"train": ["u1", "u3"], "valid": ["u5"]}
    # A file of Arrow that is no stream is read, too, and a stream is written.
    pyarrow.feather.write_feather(pa.table({"text": list(TEXTS.values())}), tmp_path / "all.arrow")
    assert run(dsn, tmp_path / "all.arrow", tmp_path / "kept.arrow") == 0
    with pa.ipc.open_stream(str(tmp_path / "kept.arrow")) as stream:
        assert stream.read_all()["text"].to_pylist() == [TEXTS[1], TEXTS[3], TEXTS[5]]


def test_pipes(dsn: str) -> None:
    def piped(data: bytes, *arguments: str) -> bytes:
        command = [sys.executable, "-m", "neardup", "dedup", "-", "-", "--dsn", dsn, "--keep", "first", *arguments]
        ran = subprocess.run([*command, "--threshold", "0.75"], input=data, capture_output=True, check=True)
        assert ran.stderr.endswith(b" s\n")
        return ran.stdout

    assert piped(lines(ROWS)) == lines([ROWS[0], ROWS[2], ROWS[4]])
    csv = b"url,text\n" + b"".join(f'u{n},"{text}"\n'.encode() for n, text in TEXTS.items())
    kept = pa.BufferReader(piped(gzip.compress(csv), "--format", "csv.gz", "--to", "parquet"))
    assert pq.read_table(kept)["url"].to_pylist() == ["u1", "u3", "u5"]


def test_which_rows_stay(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers are compared as numbers, also those of CSV; all else as text; a row without a value goes."""
    text = TEXTS[5]

    def stays(values: list[Any], rule: str, kind: str = "jsonl") -> Any:
        source, out = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
        if kind == "jsonl":
            source.write_bytes(lines([{"text": text, "v": value} for value in values]))
        elif kind == "csv":
            source.write_text("v,text\n" + "".join(f'{value},"{text}"\n' for value in values))
        else:
            pq.write_table(pa.table({"text": [text] * len(values), "v": values}), source)
        arguments = ["dedup", "--dsn", dsn, "--quiet", str(source), str(out), "--force", "--keep", rule]
        assert main(arguments) == 0, capsys.readouterr().err
        (row,) = read(out)
        return row["v"]

    assert stays([9, 10, 8], "max:v") == 10
    assert stays([9, 10.5, None, 8], "min:v") == 8
    assert stays(["9", "10", "8"], "max:v", "csv") == "10"
    # Numbers before texts, whichever is wanted.
    assert stays(["b", "10", "9", "n/a"], "max:v", "csv") == "10"
    assert stays(["b", "10", "9", "n/a"], "min:v", "csv") == "9"
    assert stays(["0.93", "1e-05", "n/a", "1e999999"], "max:v", "csv") == "0.93"
    assert stays(["b", "a", " c"], "max:v", "csv") == " c"
    # What is not a number is no value, and not the greatest one.
    assert stays([1.5, float("nan"), 0.5], "max:v", "parquet") == 1.5
    assert stays(["1.5", "NaN", "nan"], "max:v", "csv") == "1.5"
    assert stays(["a", "B"], "min:v") == "B"
    assert stays([1e-7, float("inf"), 2.0], "min:v", "parquet") == 1e-7
    assert stays([False, True], "max:v", "parquet") is True
    import datetime

    days = [datetime.date(2025, 12, 31), datetime.date(2026, 1, 1), None]
    assert stays(days, "max:v", "parquet") == days[1]
    assert "has no column 'w' (--keep); it has: v, text" in wrong(
        capsys, dsn, tmp_path / "in.csv", tmp_path / "x.csv", "--keep", "min:w"
    )
    (tmp_path / "list.jsonl").write_text('{"text": "a", "v": [1]}\n')
    assert "row 1: 'v' is list, which --keep cannot compare" in wrong(
        capsys, dsn, tmp_path / "list.jsonl", tmp_path / "x.csv", "--keep", "min:v"
    )


def test_against_tests(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rows that contain a test are removed, and compared with nothing else; SQL says which."""
    corpus, tests = tmp_path / "corpus.jsonl", tmp_path / "tests.jsonl"
    around = "Some words of a page before it. {} Some words of a page after it."
    rows = [{"url": f"u{n}", "text": around.format(text)} for n, text in TEXTS.items()]
    corpus.write_bytes(lines([*rows, rows[0]]))
    tests.write_bytes(lines([{"question": "q", "body": ""}, {"body": TEXTS[5]}, {"body": TEXTS[2], "url": "t2"}]))
    out, gone = tmp_path / "out.jsonl", tmp_path / "gone.jsonl"
    arguments = [
        "dedup",
        "--dsn",
        dsn,
        "--quiet",
        str(corpus),
        str(out),
        "--against",
        str(tests),
        "--removed",
        str(gone),
    ]
    arguments += ["--method", "containment"]
    assert main([*arguments, "--threshold", "0.8"]) == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE c (id bigint PRIMARY KEY, body text); CREATE TABLE t (LIKE c INCLUDING ALL)")
        for number, row in enumerate([*rows, rows[0]], 1):
            connection.execute("INSERT INTO c VALUES (%s, %s)", [number, row["text"]])
        connection.execute("INSERT INTO t VALUES (2, %s), (3, %s)", [TEXTS[5], TEXTS[2]])
        expected = connection.execute(
            "SELECT right_id, left_id, similarity"
            " FROM near_duplicates_between('t', 'c', 0.8, method => 'containment') ORDER BY 1"
        ).fetchall()
    assert [number for number, *_ in expected] == [1, 2, 5, 6]
    assert [(row["row"], row["against"], row["similarity"]) for row in read(gone)] == expected
    assert [row["url"] for row in read(out)] == ["u3", "u4"]
    more = ["--threshold", "0.8", "--force", "--mark", "--against", str(tmp_path / "more.jsonl")]
    (tmp_path / "more.jsonl").write_bytes(lines([{"text": TEXTS[4]}]))
    assert main([*arguments, *more]) == 0
    marked = read(out)
    assert [row["against"] for row in marked] == [3, 3, 4, 4, 2, 3]
    assert marked[2]["against_file"] == str(tmp_path / "more.jsonl")
    assert "no --report and no --keep" in wrong(capsys, dsn, corpus, tmp_path / "x.jsonl", "--against", tests)


def test_against_tests_by_runs(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A test counts as far as its words stand in a row: in a page, in other letters, cut in half, but not reworded."""
    test = "the quick brown fox jumps over the lazy dog while seven old wizards watch"
    half = " ".join(test.split()[:7])
    mixed = " ".join(reversed(test.split()))
    pages = [test, f"Before it. {test.upper()}! And after it, too.", f"said {half}, and no more", mixed, "none of it"]
    corpus, tests, gone = tmp_path / "corpus.jsonl", tmp_path / "tests.jsonl", tmp_path / "gone.jsonl"
    corpus.write_bytes(lines([{"url": f"u{n}", "text": page} for n, page in enumerate(pages)]))
    tests.write_bytes(lines([{"body": "another test of five words and more of them"}, {"body": test}]))
    arguments = [str(corpus), str(tmp_path / "out.jsonl"), "--against", str(tests), "--removed", str(gone), "--force"]

    def found(*more: str) -> list[tuple[str, int, float]]:
        assert main(["dedup", "--dsn", dsn, "--quiet", *arguments, *more]) == 0, capsys.readouterr().err
        return [(row["url"], row["against"], round(row["similarity"], 3)) for row in read(gone)]

    runs = ["--method", "runs", "--min-run", "5"]
    both = [("u0", 2, 1.0), ("u1", 2, 1.0)]
    assert found(*runs, "--threshold", "0.8") == both
    assert found(*runs, "--threshold", "0.5") == [*both, ("u2", 2, 0.5)]
    assert found("--method", "runs", "--threshold", "0.5") == both
    # The share is of the test, unless another one is asked for.
    assert found(*runs, "--threshold", "0.8", "--options", '{"direction": "right"}') == [("u0", 2, 1.0)]
    # By words without their order, the one that is reworded is found, too.
    assert [url for url, *_ in found("--method", "containment", "--threshold", "0.8")] == ["u0", "u1", "u3"]
    assert found("--min-run", "5", "--threshold", "0.5") == [*both, ("u2", 2, 0.5)]
    assert "--min-run is for --method runs" in wrong(capsys, dsn, *arguments[:2], "--force", "--min-run", "5")
    assert main(["dedup", "--dsn", dsn, "--quiet", *arguments, "--method", "runs", "--min-run", "0"]) == 1
    said = capsys.readouterr().err
    assert "min_run" in said
    assert "SELECT" not in said
    plain = [str(corpus), str(tmp_path / "plain.jsonl"), "--method", "runs", "--min-run", "5", "--threshold", "0.9"]
    assert main(["dedup", "--dsn", dsn, "--quiet", *plain]) == 0
    assert [row["url"] for row in read(tmp_path / "plain.jsonl")] == ["u1", "u2", "u3", "u4"]


def test_a_report(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(ROWS))
    page = tmp_path / "report.html"
    assert run(dsn, tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--report", page) == 0
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "Port Ellis" in page.read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl", "report.html"]


def test_long_rows_are_read_few_at_a_time(tmp_path: Path) -> None:
    """Of whatever kind, and however large a row group or a batch is; and written in row groups that are not larger."""
    table = pa.table({"text": [f"{n:04} " + "x" * 100_000 for n in range(900)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=900)
    pyarrow.feather.write_feather(table, tmp_path / "a.arrow", chunksize=900)
    (tmp_path / "a.jsonl").write_bytes(lines(table.to_pylist()))
    for path in sorted(tmp_path.iterdir()):
        read_again: list[str] = []
        with Out(tmp_path / "out.parquet", None, Form("parquet")) as out:
            source = reader(Place.of(path), Reading(for_arrow=True))
            for chunk in source.chunks():
                texts = chunk.column("text")
                assert sum(map(len, texts)) <= CHUNK_BYTES + 100_100
                if not read_again:
                    out.begin(source, {})
                out.write(chunk)
                read_again += texts
            assert read_again == table["text"].to_pylist()
            out.finish()
            out.publish()
        written = pq.ParquetFile(tmp_path / "out.parquet")
        assert written.num_row_groups > 1
        assert written.read()["text"].to_pylist() == read_again
        (tmp_path / "out.parquet").unlink()


def test_what_is_wrong_with_shards(dsn: str, shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert "is named twice" in wrong(capsys, dsn, shards, shards / "a.jsonl.zst", f"{out}/")
    assert "no file has such a name" in wrong(capsys, dsn, f"{shards}/*.parquet", f"{out}/")
    assert "--to is for a folder" in wrong(capsys, dsn, shards, tmp_path / "x.csv", "--to", "csv")
    (tmp_path / "none").mkdir()
    assert "has no files of documents" in wrong(capsys, dsn, tmp_path / "none", f"{out}/")
    (shards / "b.csv").write_text("body\na\n")
    assert "two of the inputs would be written to" in wrong(capsys, dsn, shards, f"{out}/", "--to", "csv")
    (shards / "b.csv").write_text("url\na\n")
    assert "b.csv: which column has the texts?" in wrong(capsys, dsn, shards, f"{out}/")
    assert "no column 'body' (--text-column)" in wrong(capsys, dsn, shards, f"{out}/", "--text-column", "body")
    (shards / "b.csv").unlink()
    whole = (shards / "a.jsonl.zst").read_bytes()
    (shards / "a.jsonl.zst").write_bytes(whole[:-3])
    assert "a.jsonl.zst: Compressed file ended" in wrong(capsys, dsn, shards, f"{out}/")
    (shards / "a.jsonl.zst").write_bytes(b"no" + whole)
    assert "a.jsonl.zst: " in wrong(capsys, dsn, shards, f"{out}/")
    (shards / "a.jsonl.zst").unlink()
    (shards / "array.json").write_text("{\n}\n")
    assert "line 1: a JSON object of several lines" in wrong(capsys, dsn, shards, f"{out}/")
    assert not list(out.rglob("*.part"))
    for arguments in (["--keep", "shortest"], ["--to", "docx"], ["--format", "zip"]):
        with pytest.raises(SystemExit, match="2"):
            main(["dedup", "a", "b", *arguments])


def test_the_help_tells_of_each_flag() -> None:
    (commands,) = (action for action in parser()._actions if action.dest == "command")
    assert isinstance(commands.choices, dict)
    for name in ("dedup", "cut"):
        for action in commands.choices[name]._actions:
            assert action.help, action
