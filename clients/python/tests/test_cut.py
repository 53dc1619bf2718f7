"""The command that cuts what texts say again: against a naive search for all windows, and against SQL."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup.__main__ import main

from .test_command import read
from .test_shards import lines, read_zst

WORD = re.compile(r"[a-z0-9]+")


def naive(texts: list[str | None], least: int) -> list[str | None]:
    """The texts without the runs of so many words that stand before: all windows, in a dictionary."""
    seen: dict[tuple[str, ...], tuple[int, int]] = {}
    left: list[str | None] = []
    for number, text in enumerate(texts):
        words = list(WORD.finditer((text or "").lower()))
        marked = [False] * len(text or "")
        before = None
        for at in range(len(words) - least + 1):
            place = number, at
            source = seen.setdefault(tuple(word[0] for word in words[at : at + least]), place)
            if source != place:
                # A run goes on where its source does, and what is between two of its words goes, too.
                goes_on = before == (source[0], source[1] - 1)
                start, end = words[at - goes_on].start(), words[at + least - 1].end()
                marked[start:end] = [True] * (end - start)
            before = None if source == place else source
        left.append(text and "".join(sign for sign, gone in zip(text, marked, strict=True) if not gone))
    return left


def corpus(seed: int, rows: int) -> list[str | None]:
    """Texts with passages of earlier ones, in other letters and with other signs between the words."""
    drawn = random.Random(seed)
    texts: list[str | None] = []
    for number in range(rows):
        words = [f"{drawn.choice('abcdefgh')}{drawn.randrange(40)}" for _ in range(drawn.randrange(60))]
        if texts and number % 3 == 0:
            earlier = (drawn.choice(texts) or "").split()
            at = drawn.randrange(len(earlier) + 1)
            words[3:3] = [word.upper() for word in earlier[at : at + drawn.randrange(30)]]
        texts.append(None if number % 17 == 5 else drawn.choice([" ", ", "]).join(words))
    return texts


def cut(dsn: str, *arguments: object) -> int:
    return main(["cut", "--dsn", dsn, "--quiet", *map(str, arguments)])


@pytest.mark.parametrize("least", [1, 4, 10])
@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv.gz", "arrow"])
def test_against_all_windows(dsn: str, tmp_path: Path, kind: str, least: int) -> None:
    texts = corpus(least, 120)
    source, out = tmp_path / "in.jsonl", tmp_path / f"out.{kind}"
    rows = [{"n": number, "body": text, "more": f"m{number}"} for number, text in enumerate(texts)]
    source.write_bytes(lines(rows))
    if kind in ("parquet", "arrow"):
        # The types that a file has stay.
        schema = pa.schema(
            [pa.field("n", pa.int16(), nullable=False), ("body", pa.large_string()), ("more", pa.string())]
        )
        source = tmp_path / "in.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema), source, row_group_size=50)
    assert cut(dsn, source, out, "--min-length", least) == 0
    expected = naive(texts, least)
    assert sum(before != after for before, after in zip(texts, expected, strict=True)) > 10
    if kind == "arrow":
        with pa.ipc.open_stream(str(out)) as stream:
            written = stream.read_all()
        assert written.schema == schema
        found = written.to_pylist()
    else:
        found = read(out)
    if kind == "parquet":
        assert pq.read_schema(out) == schema
    assert [row["body"] or None for row in found] == [text or None for text in expected]
    assert [(str(row["n"]), row["more"]) for row in found] == [(str(row["n"]), row["more"]) for row in rows]
    assert list(found[0]) == ["n", "body", "more"]


def test_runs_and_removed_rows_of_shards(dsn: str, tmp_path: Path) -> None:
    """What SQL says of the same texts in a table; each run is where it is said to be, and where it stands first."""
    texts = corpus(5, 90)
    shards, out = tmp_path / "in", tmp_path / "out"
    shards.mkdir()
    for at in range(3):
        rows = [{"key": f"k{number}", "text": texts[number]} for number in range(30 * at, 30 * at + 30)]
        (shards / f"{at}.jsonl.zst").write_bytes(zstandard.compress(lines(rows)))
    arguments = [shards, f"{out}/", "--min-length", 5, "--min-left", 12, "--snap", "word"]
    assert cut(dsn, *arguments, "--removed", tmp_path / "gone.jsonl", "--runs", tmp_path / "runs.jsonl.zst") == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE docs (id bigint PRIMARY KEY, body text)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO docs VALUES (%s, %s)", list(enumerate(texts, 1)))
        changed = connection.execute(
            "SELECT * FROM cut_repeats('docs', 5, min_left => 12, snap => 'word') ORDER BY id"
        ).fetchall()
        runs = connection.execute(
            "SELECT id, lower(span) - 1, upper(span) - 1, tokens, of_id, lower(of_span) - 1, upper(of_span) - 1,"
            " documents FROM repeated_runs('docs', 5) ORDER BY id, span, of_id, of_span"
        ).fetchall()
    # What had too little before anything was cut stays.
    short = [row for row in changed if row[3] == 0]
    assert len(short) > 3
    changed = [row for row in changed if row[3] > 0]
    after = {number: body for number, body, *_ in changed}
    assert None in after.values()
    kept = [(n, after.get(n, text)) for n, text in enumerate(texts, 1) if n not in after or after[n] is not None]
    written = [row for at in range(3) for row in read_zst(out / f"{at}.jsonl.zst")]
    assert [(row["key"], row["text"]) for row in written] == [(f"k{n - 1}", text) for n, text in kept]
    gone = read(tmp_path / "gone.jsonl")
    assert [(row["row"], row["cut_characters"], row["cut_tokens"]) for row in gone] == [
        (number, characters, tokens) for number, body, characters, tokens in changed if body is None
    ]
    assert [row["text"] for row in gone] == [texts[row["row"] - 1] for row in gone]
    assert gone[0]["file"] == f"{shards}/{(gone[0]['row'] - 1) // 30}.jsonl.zst"
    found = read_zst(tmp_path / "runs.jsonl.zst")
    names = ["id", "start", "end", "tokens", "of_id", "of_start", "of_end", "documents"]
    assert [tuple(row[name] for name in names) for row in found] == runs
    assert len(found) > 10
    for row in found:
        text, source = texts[row["id"] - 1], texts[row["of_id"] - 1]
        assert text is not None
        assert source is not None
        assert row["text"] == text[row["start"] : row["end"]]
        words = WORD.findall(row["text"].lower())
        assert words == WORD.findall(source[row["of_start"] : row["of_end"]].lower())
        assert len(words) == row["tokens"] >= 5
        assert row["file"].endswith(f"/{(row['id'] - 1) // 30}.jsonl.zst")
        assert row["of_file"].endswith(f"/{(row['of_id'] - 1) // 30}.jsonl.zst")
    assert cut(dsn, *arguments, "--force", "--id-column", "key", "--runs", tmp_path / "runs.parquet") == 0
    table = pq.read_table(tmp_path / "runs.parquet")
    assert table["id"].to_pylist() == [f"k{number - 1}" for number, *_ in runs]
    assert table["of_id"].to_pylist() == [f"k{row[4] - 1}" for row in runs]


TEXT = "one two three four five six seven eight"


def written(dsn: str, folder: Path, rows: list[dict[str, Any]], *arguments: object) -> list[dict[str, Any]]:
    (folder / "in.jsonl").write_bytes(lines(rows))
    assert cut(dsn, folder / "in.jsonl", folder / "out.jsonl", "--force", "--min-length", 4, *arguments) == 0
    return read(folder / "out.jsonl")


def test_what_is_done_with_short_texts(dsn: str, tmp_path: Path) -> None:
    rows = [{"text": TEXT}, {"text": f"{TEXT} and more"}, {"text": TEXT}, {"text": "a"}, {"text": None}, {"other": 1}]
    assert [row.get("text") for row in written(dsn, tmp_path, rows)] == [TEXT, " and more", "", "a", None, None]
    # Only what was cut is too short: a row from which nothing was cut stays.
    left = written(dsn, tmp_path, rows, "--min-left", 2)
    assert [row.get("text") for row in left] == [TEXT, " and more", "a", None, None]
    left = written(dsn, tmp_path, rows, "--min-left", 3, "--empty")
    assert [row.get("text") for row in left] == [TEXT, "", "", "a", None, None]
    marked = written(dsn, tmp_path, rows, "--min-left", 2, "--mark", "--prefix", "nd_")
    assert [row.get("text") for row in marked] == [TEXT, " and more", "", "a", None, None]
    assert "text" not in marked[5]
    assert [row["nd_kept"] for row in marked] == [True, True, False, True, True, True]
    assert [row["nd_cut_tokens"] for row in marked] == [0, 8, 8, 0, 0, 0]
    assert [row["nd_cut_characters"] for row in marked] == [0, len(TEXT), len(TEXT), 0, 0, 0]


def test_which_place_is_kept_and_what_is_compared(dsn: str, tmp_path: Path) -> None:
    def bodies(rows: list[dict[str, Any]], *arguments: object) -> list[str]:
        return [row["text"].strip() for row in written(dsn, tmp_path, rows, *arguments)]

    rows: list[dict[str, Any]] = [
        {"text": f"{TEXT} x", "score": 9, "site": "a"},
        {"text": f"{TEXT} y y", "score": 10, "site": "b"},
        {"text": f"{TEXT} z", "score": None, "site": "a"},
    ]
    assert bodies(rows) == [f"{TEXT} x", "y y", "z"]
    assert bodies(rows, "--keep", "longest") == ["x", f"{TEXT} y y", "z"]
    assert bodies(rows, "--keep", "max:score") == ["x", f"{TEXT} y y", "z"]
    assert bodies(rows, "--keep", "min:score") == [f"{TEXT} x", "y y", "z"]
    assert bodies(rows, "--keep", "none") == ["x", "y y", "z"]
    assert bodies(rows, "--within", "site") == [f"{TEXT} x", f"{TEXT} y y", "z"]
    assert bodies(rows, "--min-documents", 4) == [f"{TEXT} x", f"{TEXT} y y", f"{TEXT} z"]
    assert bodies(rows, "--within", "site", "--min-share", 0.9, "--keep", "none") == ["x", f"{TEXT} y y", "z"]
    twice = [{"text": f"{TEXT} {TEXT} end"}]
    assert bodies(twice) == [f"{TEXT}  end"]
    assert bodies(twice, "--no-within-documents") == [f"{TEXT} {TEXT} end"]
    menu = [{"text": f"Home | About | Contact us\nstory {n} of the day\nHome"} for n in range(3)]
    assert bodies(menu, "--unit", "line") == [menu[0]["text"], "story 1 of the day\nHome", "story 2 of the day\nHome"]
    assert bodies(menu, "--unit", "line", "--min-tokens", 1)[1] == "story 1 of the day"
    assert bodies(menu, "--unit", "line", "--keep", "none")[0] == "story 0 of the day\nHome"


def test_texts_that_postgresql_does_not_have(dsn: str, tmp_path: Path) -> None:
    """Those that lose nothing are as they were; in the others, a space is in place of NUL."""
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(
        '{"text": "one two three\\u0000 four \\ud800"}\n{"text": "ONE TWO THREE FOUR\\u0000 \\ud800 caf\\u00e9"}\n'
    )
    assert cut(dsn, source, out, "--min-length", 4) == 0
    assert [json.loads(line)["text"] for line in out.read_text().splitlines()] == [
        "one two three\0 four \ud800",
        "  ? caf\u00e9",
    ]


def test_pipes_and_what_is_said(dsn: str) -> None:
    rows = lines([{"text": TEXT}, {"text": f"{TEXT} more"}, {"text": ""}])
    command = [sys.executable, "-m", "neardup", "cut", "-", "-", "--dsn", dsn, "--min-length", "4"]
    ran = subprocess.run(command, input=rows, capture_output=True, check=True)
    assert [json.loads(line)["text"] for line in ran.stdout.splitlines()] == [TEXT, " more", ""]
    said = f"3 rows (1 of them without a text): 1 lost {len(TEXT)} of {2 * len(TEXT) + 5} characters, 0 removed, in "
    assert ran.stderr.decode().splitlines()[-1].startswith(said)


def test_a_private_server(tmp_path: Path) -> None:
    texts = corpus(3, 60)
    pq.write_table(pa.table({"text": texts}), tmp_path / "in.parquet")
    command = [sys.executable, "-m", "neardup", "cut", str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet")]
    subprocess.run([*command, "--min-length", "6", "--quiet"], check=True)
    expected = [text or None for text in naive(texts, 6)]
    assert [text or None for text in pq.read_table(tmp_path / "out.parquet")["text"].to_pylist()] == expected


def test_what_is_wrong(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def wrong(*arguments: object) -> str:
        assert cut(dsn, tmp_path / "in.jsonl", tmp_path / "out.jsonl", *arguments) == 1
        told = capsys.readouterr()
        assert told.out == ""
        for word in ("SELECT", "=>", "neardup_docs", "id_column"):
            assert word not in told.err
        return told.err

    (tmp_path / "in.jsonl").write_bytes(lines([{"text": TEXT, "tags": [1], "cut_tokens": 3}]))
    assert "min_length must be between 1 and" in (said := wrong("--min-length", 0))
    assert "HINT: " in said
    assert "--min-length 50" in said
    assert "min_share" in wrong("--min-share", 3)
    assert "HINT: " in (said := wrong("--unit", "line", "--snap", "word"))
    assert "--unit line" in said or "--snap sentence" in said
    assert "unknown tokenizer" in wrong("--tokenizer", "wrds")
    assert "--tokenizer words" in wrong("--tokenizer", "html")
    assert "no places" in wrong("--tokenizer", "tsearch:english")
    assert "no column 'site' (--within); it has: text" in wrong("--within", "site")
    assert "no column 'w' (--keep)" in wrong("--keep", "min:w")
    assert "'tags' is list, which --within cannot compare" in wrong("--within", "tags")
    assert "a column 'cut_tokens'" in wrong("--mark")
    assert "--empty is for rows" in wrong("--empty")
    assert "the name should end with" in wrong("--runs", tmp_path / "runs.docx")
    assert "cannot take more than one" in wrong("--runs", tmp_path / "out.jsonl")
    with pytest.raises(SystemExit, match="2"):
        cut(dsn, "a", "b", "--keep", "shortest")
    assert "or none" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl"]
