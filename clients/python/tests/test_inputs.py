"""What the command reads beside a file with a column of texts, and what it writes beside OUT."""

import bz2
import io
import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import psycopg
import pyarrow.parquet as pq
import pytest

from neardup import bars
from neardup.__main__ import main
from neardup.arguments import arguments_of, parser
from neardup.bars import Lines
from neardup.files.forms import Form

from .conftest import TEXTS
from .test_command import ROWS, read, run, wrong
from .test_shards import lines

KEPT = [TEXTS[1], TEXTS[3], TEXTS[5]]


def found(dsn: str, out: Path, *arguments: object) -> list[dict[str, Any]]:
    assert run(dsn, *arguments[:1], out, "--force", *arguments[1:]) == 0
    return read(out)


def test_texts_without_columns(dsn: str, tmp_path: Path) -> None:
    """A document a file, or a line; in a folder, only where it has nothing else."""
    out, top = tmp_path / "out.jsonl", tmp_path / "in"
    (top / "more").mkdir(parents=True)
    for n, text in TEXTS.items():
        (top / "more" / f"{n}.txt").write_text(text)
    (top / "_SUCCESS").write_text("")
    assert found(dsn, out, top) == [{"name": f"{top}/more/{n}.txt", "text": TEXTS[n]} for n in (1, 3, 5)]
    (top / "all.txt.xz").write_bytes(lzma.compress("\n".join(TEXTS.values()).encode()))
    assert [row["text"] for row in found(dsn, out, top / "all.txt.xz", "--lines")] == KEPT
    assert [row["text"] for row in found(dsn, out, top, "--lines", "--exclude", "more/*")] == KEPT
    (top / "rows.jsonl.bz2").write_bytes(bz2.compress(lines(ROWS)) + bz2.compress(b'{"body": "x"}'))
    assert [row["body"] for row in found(dsn, out, top)] == [*KEPT, "x"]
    (top / "rows.jsonl.bz2").write_bytes(bz2.compress(lines(ROWS))[:-9])
    assert run(dsn, top, out, "--force") == 1
    (top / "rows.jsonl.bz2").unlink()
    assert run(dsn, top, f"{tmp_path}/folder/", "--lines") == 0
    assert (tmp_path / "folder/all.jsonl").exists()


# What warcio writes by leaves files of its own open.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("compress", [False, True])
def test_archives_of_the_web(dsn: str, tmp_path: Path, compress: bool) -> None:
    warcio = pytest.importorskip("warcio.warcwriter")
    headers = pytest.importorskip("warcio.statusandheaders")
    path = tmp_path / ("a.warc.wet.gz" if compress else "a.warc")
    with path.open("wb") as out:
        made = warcio.WARCWriter(out, gzip=compress)
        made.write_record(made.create_warcinfo_record("a", {"software": "x"}))
        for n, text in TEXTS.items():
            kind = {"warc_headers_dict": {"WARC-Date": "2026-11-28T00:00:00Z"}}
            if not compress:
                kind["http_headers"] = headers.StatusAndHeaders(
                    "200 OK", [("Content-Type", "text/html; charset=latin-1")], "HTTP/1.1"
                )
            body = f"<p>{text} caf\u00e9".encode("utf-8" if compress else "latin-1")
            made.write_record(
                made.create_warc_record(
                    f"http://a/{n}", "conversion" if compress else "response", io.BytesIO(body), **kind
                )
            )
    rows = found(dsn, tmp_path / "out.jsonl", path, "--tokenizer", "html")
    assert [(row["url"], row["date"]) for row in rows] == [(f"http://a/{n}", "2026-11-28T00:00:00Z") for n in (1, 3, 5)]
    assert [row["text"] for row in rows] == [f"<p>{text} caf\u00e9" for text in KEPT]
    path.write_bytes(b"no archive")
    assert run(dsn, path, tmp_path / "o.jsonl") == 1


def test_texts_in_several_columns_and_in_parts(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    half = {n: text.split(" ", 5) for n, text in TEXTS.items()}
    rows = [
        {"n": n, "title": " ".join(words[:5]), "a": {"b": [{"c": words[5]}, {}, None]}} for n, words in half.items()
    ]
    source.write_bytes(lines([*rows, {"n": 6, "title": None}]))
    both = ["--text-column", "title", "--text-column", "a.b[].c", "--text-column", "raw_content"]
    assert [row["n"] for row in found(dsn, out, source, *both)] == [1, 3, 5, 6]
    (tmp_path / "other.jsonl").write_bytes(lines([{"raw_content": TEXTS[1]}]))
    assert run(dsn, source, tmp_path / "other.jsonl", out, "--force", *both) == 0
    assert [row.get("n") for row in read(out)] == [1, 3, 5, 6]
    # Each is cut by itself, and only what is cut changes.
    (tmp_path / "two.jsonl").write_text('{"a": "1 2 3 4 5 6", "b": 1.50, "c": ["x", "1 2 3 4 5 6 7"]}\n')
    arguments = ["cut", "--dsn", dsn, "--quiet", "--min-length", "5", "--text-column", "a", "--text-column", "c[]"]
    runs = ["--runs", str(tmp_path / "runs.jsonl")]
    assert main([*arguments, str(tmp_path / "two.jsonl"), str(tmp_path / "cut.jsonl"), *runs]) == 0
    assert (tmp_path / "cut.jsonl").read_text() == '{"a": "1 2 3 4 5 6", "b": 1.50, "c": ["x", " 7"]}\n'
    (found_run,) = read(tmp_path / "runs.jsonl")
    assert [found_run[name] for name in ("id", "piece", "start", "end", "of_id", "of_piece")] == [1, 2, 0, 11, 1, 0]
    assert main([*arguments, str(tmp_path / "two.jsonl"), str(tmp_path / "x.jsonl"), "--min-left", "3"]) == 1
    assert "--min-left is for rows with one text" in capsys.readouterr().err
    (tmp_path / "odd.jsonl").write_text('{"a": [1]}\n')
    assert "row 1: 'a[]' is int, where a string" in wrong(
        capsys, dsn, tmp_path / "odd.jsonl", out, "--force", "--text-column", "a[]"
    )
    assert "has no column 'q' (--text-column)" in wrong(capsys, dsn, source, out, "--force", "--text-column", "q")


def test_urls(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    memory = fsspec.filesystem("memory")
    pq_bytes = io.BytesIO()
    import pyarrow as pa

    pq.write_table(pa.table({"body": [TEXTS[4], TEXTS[5]]}), pq_bytes)
    memory.pipe("/set/a/one.jsonl.bz2", bz2.compress(lines(ROWS[:3])))
    memory.pipe("/set/b/two.parquet", pq_bytes.getvalue())
    memory.pipe("/set/_temporary/x.jsonl", b"{")
    out = tmp_path / "out.jsonl"
    assert [row["body"] for row in found(dsn, out, "memory://set")] == KEPT
    assert [row["body"] for row in found(dsn, out, "memory://set/*/*.jsonl.bz2")] == KEPT[:2]
    assert run(dsn, "memory://set", f"{tmp_path}/folder/", "--work", tmp_path / "w") == 1
    capsys.readouterr()
    assert run(dsn, "memory://set", f"{tmp_path}/folder/") == 0
    assert pq.read_table(tmp_path / "folder/b/two.parquet").to_pydict() == {"body": [TEXTS[5]]}
    assert "no such file or folder" in wrong(capsys, dsn, "memory://none", out, "--force")
    assert "is written to this machine" in wrong(capsys, dsn, "memory://set", "memory://out")
    assert "Protocol not known" in wrong(capsys, dsn, "nosuch://set", out, "--force")
    # The error names the package that reaches such URLs.
    assert "s3fs" in wrong(capsys, dsn, "s3://bucket/a.jsonl", out, "--force")
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert "pip install" in wrong(capsys, dsn, "memory://set", out, "--force")


def test_lines_that_are_no_rows(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, bad = tmp_path / "a.jsonl", tmp_path / "out.jsonl", tmp_path / "bad.jsonl"
    source.write_bytes(b"oh\n" + lines(ROWS) + b'{"body": "caf\xe9"}\n' + b"[]\n")
    assert "a.jsonl, line 1: Expecting value (at byte 0 of the file)" in wrong(capsys, dsn, source, out)
    assert [row["body"] for row in found(dsn, out, source, "--skip-bad")] == KEPT
    capsys.readouterr()
    command = ["dedup", "--dsn", dsn, str(source), str(out), "--force", "--bad-lines", str(bad), "--keep", "first"]
    assert main(command) == 0
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("5 rows: ")
    assert "; 3 lines were no rows and were passed over, in" in said
    assert [(row["file"], row["line"], row["text"]) for row in read(bad)] == [
        (str(source), 1, "oh"),
        (str(source), 7, '{"body": "caf\ufffd"}\n'),
        (str(source), 8, "[]"),
    ]


def test_what_is_told_of_pairs_and_clusters(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    top, out = tmp_path / "in", tmp_path / "out.jsonl"
    top.mkdir()
    (top / "a.jsonl").write_bytes(lines(ROWS[:3]))
    (top / "b.jsonl").write_bytes(lines([*ROWS[3:], ROWS[0]]))
    pairs, clusters = tmp_path / "pairs.parquet", tmp_path / "clusters.jsonl"
    command = ["dedup", "--dsn", dsn, "--quiet", str(top), str(out), "--threshold", "0.75", "--keep", "first"]
    assert main([*command, "--pairs", str(pairs), "--clusters", str(clusters), "--copies", "--mark"]) == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE docs (id int PRIMARY KEY, body text)")
        with connection.cursor() as cursor:
            bodies = [row["body"] for row in [*ROWS, ROWS[0]]]
            cursor.executemany("INSERT INTO docs VALUES (%s, %s)", list(enumerate(bodies, 1)))
        expected = connection.execute("SELECT * FROM near_duplicates('docs', 0.75) ORDER BY 1, 2").fetchall()
        groups = connection.execute("SELECT * FROM near_duplicate_clusters('docs', 0.75) ORDER BY 1, 2").fetchall()
    assert len(expected) == 4
    rows = pq.read_table(pairs).to_pylist()
    assert [(row["left_id"], row["right_id"], row["similarity"]) for row in rows] == expected
    assert [(row["left_file"], row["left_file_row"]) for row in rows][-1] == (f"{top}/a.jsonl", 3)
    assert rows[-1]["right_file_row"] == 1
    told = [
        (row["cluster"], row["id"], row["representative"], row["size"], row["similarity"]) for row in read(clusters)
    ]
    assert told == groups
    assert [row["copies"] for row in read(out)] == [3, 0, 2, 0, 1, 0]
    assert main([*command, "--force", "--weights", "--copies"]) == 0
    assert [(row["copies"], row["weight"]) for row in read(out)] == [
        (3, 1 / 3),
        (0, 1 / 3),
        (2, 0.5),
        (0, 0.5),
        (1, 1.0),
        (0, 1 / 3),
    ]
    assert main([*command, "--force", "--pairs", str(pairs), "--id-column", "url"]) == 0
    assert list(pq.read_schema(pairs).names) == ["left_id", "right_id", "similarity"]
    assert pq.read_table(pairs)["left_id"].to_pylist()[-1] == "u3"
    before = out.read_bytes()
    capsys.readouterr()
    assert (
        main(
            [part for part in command if part != "--quiet"]
            + ["--force", "--dry-run", "--pairs", str(tmp_path / "no.csv")]
        )
        == 0
    )
    assert "6 rows: 3 kept, 3 removed; nothing was written (--dry-run), in " in capsys.readouterr().err
    assert out.read_bytes() == before
    assert not (tmp_path / "no.csv").exists()
    assert "no --pairs" in wrong(capsys, dsn, top, tmp_path / "x.csv", "--against", top, "--pairs", pairs)
    assert main(["suggest", "--dsn", dsn, "--quiet", str(top)]) == 0
    said = capsys.readouterr().out
    assert "neardup dedup IN OUT --threshold" in said
    assert "SELECT" not in said
    assert "texts with a median of" in said


def test_tests_that_cannot_be_found(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are counted, by runs and by shingles."""
    (tmp_path / "tests.jsonl").write_bytes(
        lines([{"q": TEXTS[5]}, {"q": "What is the capital of Peru?"}, {"q": " \t"}, {"q": "?!"}])
    )
    (tmp_path / "in.jsonl").write_bytes(lines([*ROWS, {"body": "?!"}]))
    command = ["dedup", "--dsn", dsn, str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), "--force", "--against"]
    command += [str(tmp_path / "tests.jsonl")]
    assert main(command) == 1
    assert "It has: q. Name it: --against-text-column NAME" in capsys.readouterr().err
    command += ["--against-text-column", "q"]
    for more, words in (([], 8), (["--min-run", "9"], 9), (["--tokenizer", "whitespace"], 8)):
        assert main([*command, *more]) == 0
        said = capsys.readouterr().err
        assert f"2 of 4 tests have fewer than {words} words, so that no row can have a run of them" in said
        assert f"6 rows: 5 kept, 1 removed; of 4 tests, 2 with fewer than {words} words and 1 without a text" in said
    assert main([*command, "--shingle", "7"]) == 0
    said = capsys.readouterr().err
    assert "2 of 4 tests have fewer than 7 words, so that only a row with no other words is similar" in said
    whole = "2 with fewer than 7 words can be found only as whole rows and 1 without a text not at all, in "
    assert f"6 rows: 4 kept, 2 removed; of 4 tests, {whole}" in said
    assert main([*command, "--min-run", "6"]) == 0
    assert "1 of 4 tests has fewer than 6 words" in capsys.readouterr().err
    assert main([*command, "--method", "jaccard", "--threshold", "0.9"]) == 0
    # A text of signs is equal to another one.
    assert "6 rows: 4 kept, 2 removed; of 4 tests, 1 without a text cannot be found" in capsys.readouterr().err
    assert "--against-text-column is for" in wrong(
        capsys, dsn, tmp_path / "in.jsonl", tmp_path / "x.csv", "--against-text-column", "q"
    )


def test_folders_and_files(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(ROWS))
    assert "no such file or folder" in wrong(capsys, dsn, tmp_path / "none", tmp_path / "out.jsonl")
    said = wrong(capsys, dsn, tmp_path / "in.jsonl", tmp_path / "out")
    assert "should it be a folder, with a file for each input, or a file?" in said
    assert f"{tmp_path}/out/ for a folder" in said
    (tmp_path / "set").mkdir()
    (tmp_path / "set/a.jsonl").symlink_to("nowhere")
    assert "is a link to nowhere, which is not there" in wrong(capsys, dsn, tmp_path / "set", tmp_path / "out.jsonl")
    (tmp_path / "set/a.jsonl").unlink()
    # Folders in a circle end.
    (tmp_path / "set/b.jsonl").write_bytes(lines(ROWS))
    (tmp_path / "set/up").symlink_to(tmp_path / "set")
    assert run(dsn, tmp_path / "set", tmp_path / "new/deep/out.jsonl") == 0
    # A call that fails leaves no folders that it made.
    (tmp_path / "bad.jsonl").write_text('{"body": 1}\n')
    assert run(dsn, tmp_path / "bad.jsonl", tmp_path / "other/deep/out.jsonl") == 1
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n{"text": "b", "kept": 1}\n')
    assert "a column 'kept'" in wrong(capsys, dsn, tmp_path / "in.jsonl", tmp_path / "other/out.jsonl", "--mark")
    assert not (tmp_path / "other").exists()


def test_columns_of_no_type(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in.jsonl").write_text('{"body": "a", "n": 1, "m": {}}\n{"body": "b", "n": "x"}\n')
    out = tmp_path / "out.parquet"
    assert run(dsn, tmp_path / "in.jsonl", out) == 0
    said = capsys.readouterr().err
    assert (
        said
        == "neardup: no type of Arrow holds all values of the columns 'n', 'm': they are written as JSON, as texts\n"
    )
    assert pq.read_table(out).to_pydict() == {"body": ["a", "b"], "n": ["1", '"x"'], "m": ["{}", None]}


def test_ids_of_no_type(dsn: str, tmp_path: Path) -> None:
    """What stands for a row is written as JSON where its column is, so that the two are equal."""
    ids: list[Any] = [1, "1", True, {"a": 1}]
    (tmp_path / "in.jsonl").write_bytes(lines([{"body": TEXTS[1], "key": key} for key in ids]))
    gone, pairs, clusters = (tmp_path / f"{name}.parquet" for name in ("gone", "pairs", "clusters"))
    command = [tmp_path / "in.jsonl", tmp_path / "out.parquet", "--id-column", "key", "--keep", "first"]
    assert run(dsn, *command, "--removed", gone, "--pairs", pairs, "--clusters", clusters) == 0
    assert pq.read_table(gone).select(["key", "kept_id"]).to_pylist() == [
        {"key": json.dumps(key), "kept_id": "1"} for key in ids[1:]
    ]
    assert pq.read_table(pairs)["right_id"].to_pylist() == [json.dumps(key) for key in (*ids[1:], *ids[2:], ids[3])]
    assert sorted(pq.read_table(clusters)["id"].to_pylist()) == sorted(json.dumps(key) for key in ids)


@pytest.mark.parametrize(("rule", "kept"), [("max", [4]), ("min", [0])])
def test_far_years(dsn: str, tmp_path: Path, rule: str, kept: list[int]) -> None:
    """Dates before the year 0 and beyond 9999, which Python does not have, are in order too."""
    import pyarrow as pa

    days = pa.array([-800_000, -720_000, 0, 3_000_000, 10_000_000], pa.int32()).cast(pa.date32())
    rows = pa.table({"body": [TEXTS[1]] * 5, "day": days, "n": range(5)})
    pq.write_table(rows, tmp_path / "in.parquet")
    assert run(dsn, tmp_path / "in.parquet", tmp_path / "out.parquet", "--keep", f"{rule}:day") == 0
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist() == kept


def test_what_is_said_without_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line at each phase and every minute, the first one before anything is begun."""
    (tmp_path / "in.jsonl").write_bytes(lines(ROWS))
    command = [sys.executable, "-m", "neardup", "dedup", str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    said = [line.partition(",")[0] for line in ran.stderr.splitlines()]
    assert said == [
        "neardup: looking at the files",
        "neardup: looking at the files: done",
        "neardup: starting the server",
        "neardup: starting the server: done",
        "neardup: loading",
        "neardup: loading: index: done",
        "neardup: comparing",
        "neardup: comparing: done",
        "neardup: writing",
        "neardup: writing: done",
        "5 rows: 3 kept",
    ]
    bar = Lines("loading")
    bar.set_postfix_str("5 rows")
    assert capsys.readouterr().err == "neardup: loading\n"
    monkeypatch.setattr(bars, "EVERY", 0)
    bar.n = 40
    bar.set_postfix_str("7 rows")
    assert capsys.readouterr().err.startswith("neardup: loading, 40 %, 7 rows, 0 s")
    assert Form("jsonl", "xz").suffix == ".jsonl.xz"


def test_nothing_is_written_through_links(dsn: str, tmp_path: Path) -> None:
    """What another user puts where a file is written on its way to its name is not written to."""
    (tmp_path / "in.jsonl").write_bytes(lines(ROWS))
    (tmp_path / "mine").write_text("mine")
    import os

    for name in ("out.jsonl", "page.html"):
        (tmp_path / f"{name}.{os.getpid()}.part").symlink_to(tmp_path / "mine")
    assert run(dsn, tmp_path / "in.jsonl", tmp_path / "out.jsonl", "--report", tmp_path / "page.html") == 0
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "out.jsonl").is_symlink()
    assert len(read(tmp_path / "out.jsonl")) == 3
    assert (
        json.dumps(sorted(path.name for path in tmp_path.iterdir())) == '["in.jsonl", "mine", "out.jsonl", "page.html"]'
    )


def test_normalize_is_one_of_the_options() -> None:
    def options(*more: str) -> object:
        return arguments_of(parser().parse_args(["dedup", "in.jsonl", "out.jsonl", *more]))["options"]

    assert options() is None
    assert options("--normalize", "nfkc") == {"normalize": "nfkc"}
    assert options("--normalize", "nfc", "--options", '{"recall": 0.9}') == {"recall": 0.9, "normalize": "nfc"}
    assert options("--method", "runs", "--min-run", "9", "--normalize", "nfkc") == {"min_run": 9, "normalize": "nfkc"}


def test_only_some_rows_are_compared(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Within a language, across sources; rows without a language or a source are compared with none."""
    top, out, tests = tmp_path / "in.jsonl", tmp_path / "out.jsonl", tmp_path / "tests.jsonl"
    texts = [(TEXTS[1], "en", "a"), (TEXTS[1], "en", "b"), (TEXTS[1], "de", "a"), (TEXTS[1], None, "c")]
    texts += [(TEXTS[1], "de", "a"), (TEXTS[1], "", ""), (TEXTS[3], "en", None)]
    rows = [{"n": n, "body": body, "lang": lang, "source": of} for n, (body, lang, of) in enumerate(texts)]
    top.write_bytes(lines(rows))

    def kept(*arguments: object) -> list[int]:
        given = ["dedup", "--dsn", dsn, "--quiet", "--force", "--threshold", "0.75", top, out, *arguments]
        assert main([str(argument) for argument in given]) == 0
        return [row["n"] for row in read(out)]

    assert kept() == [0, 6]
    assert kept("--within", "lang") == [0, 2, 3, 5, 6]
    assert kept("--across", "source") == [0, 2, 4, 5, 6]
    assert kept("--within", "lang", "--across", "source") == [0, 2, 3, 4, 5, 6]
    pairs = tmp_path / "pairs.jsonl"
    assert len(kept("--within", "lang", "--pairs", pairs)) == 5
    assert [(row["left_id"], row["right_id"]) for row in read(pairs)] == [(1, 2), (3, 5)]
    tests.write_bytes(lines([{"body": TEXTS[1], "lang": "de", "source": "b"}]))
    against = ["--against", tests, "--method", "jaccard"]
    assert kept(*against, "--within", "lang") == [0, 1, 3, 5, 6]
    assert kept(*against, "--across", "source") == [1, 5, 6]
    assert "no column 'nix' (--within)" in wrong(capsys, dsn, top, out, "--force", "--within", "nix")
    tests.write_bytes(lines([{"body": TEXTS[1]}]))
    given = ["dedup", "--dsn", dsn, "--force", top, out, "--across", "source", *against]
    assert main([str(argument) for argument in given]) == 1
    assert "no column 'source' (--across)" in capsys.readouterr().err
