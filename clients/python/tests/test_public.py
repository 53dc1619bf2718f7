"""Data sets as they are published, made small: each through dedup, cut and --against, to each form of files."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from neardup.__main__ import main

from .test_shards import lines

ONE = (
    "The ferry to Hven leaves at nine. Buy the ticket on board, or the day before at the kiosk by the old mill.\n"
    "Dogs travel free of charge, bicycles cost as much as children do."
)
NEAR = ONE.replace("nine", "ten")
OTHER = 'Soak the beans overnight, boil them until they are soft,\tthen add onions and "salt".\r\nServe hot.'
TEST = "buy the ticket on board or the day before at the kiosk by the old mill"
TEXTS = [ONE, OTHER, NEAR]
RUN = " ".join(ONE.split()[6:])
"""What cut takes out of the third text."""


def jsonl(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = lines(rows)
    pack: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstandard.compress}
    path.write_bytes(pack.get(path.suffix, bytes)(data))


def c4(top: Path) -> None:
    rows = [{"text": text, "timestamp": "2019-04-25T12:57:54Z", "url": f"http://a/{n}"} for n, text in enumerate(TEXTS)]
    jsonl(top / "en/c4-train.00000-of-01024.json.gz", rows[:2])
    jsonl(top / "en/c4-train.00001-of-01024.json.gz", rows[2:])


def oscar(top: Path) -> None:
    rows = []
    for n, text in enumerate(TEXTS):
        headers = {"warc-record-id": f"<urn:uuid:{n}>", "content-length": 2**40 + n, "warc-date": "2022-11-26"}
        label = {"label": "en", "prob": 0.25 + n / 8}
        meta = {"identification": label, "quality_warnings": [None, ["short_sentences"], []][n]}
        meta |= {"harmful_pp": 1.5 if n else None, "sentence_identifications": [label, None]}
        rows.append({"content": text, "warc_headers": headers, "metadata": meta})
    jsonl(top / "en_part_1.jsonl.zst", rows)


def redpajama(top: Path) -> None:
    metas = [
        {"timestamp": "2023-02", "yymm": "2302"},
        {"pred_label": "__label__wiki", "wiki_prob": 1},
        {"wiki_prob": 0.5},
    ]
    rows = [{"text": text, "meta": meta, "red_pajama_subset": "arxiv"} for text, meta in zip(TEXTS, metas, strict=True)]
    jsonl(top / "arxiv_1.jsonl", rows[:2])
    jsonl(top / "common_crawl/cc_1.jsonl", rows[2:])


def pile(top: Path) -> None:
    rows = [{"text": text, "meta": {}} for text in TEXTS[:2]] + [{"text": NEAR, "meta": {"pile_set_name": "Pile-CC"}}]
    jsonl(top / "00.jsonl.zst", [{"text": text, "meta": {}} for text in TEXTS])
    jsonl(top / "01.jsonl.zst", [{**row, "text": f"{n} {n} {n}"} for n, row in enumerate(rows)])


def fineweb(top: Path) -> None:
    names = ("dump", "url", "date")
    schema = pa.schema(
        [
            ("text", pa.string()),
            ("id", pa.string()),
            *((name, pa.string()) for name in names),
            ("language_score", pa.float64()),
            ("token_count", pa.int64()),
        ]
    )
    rows = [
        {
            "text": text,
            "id": f"<urn:{n}>",
            "dump": "CC",
            "url": f"u{n}",
            "date": "2019",
            "language_score": 0.1,
            "token_count": n,
        }
        for n, text in enumerate(TEXTS)
    ]
    (top / "data/CC-MAIN-2019").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), top / "data/CC-MAIN-2019/000_00000.parquet", row_group_size=2)


def wikipedia(top: Path) -> None:
    jsonl(
        top / "AA/wiki_00.jsonl",
        [{"id": f"{n}", "revid": "7", "url": "u", "title": f"T{n}", "text": text} for n, text in enumerate(TEXTS)],
    )


def stack(top: Path) -> None:
    schema = pa.schema(
        [
            ("hexsha", pa.string()),
            ("content", pa.string()),
            ("size", pa.int64()),
            ("alphanum_fraction", pa.float64()),
            ("max_stars_count", pa.int64()),
            ("visit_date", pa.timestamp("ns")),
            ("licenses", pa.list_(pa.string())),
        ]
    )
    rows = [
        {
            "hexsha": f"{n:040}",
            "content": text,
            "size": n,
            "visit_date": 1_669_472_000_123_456_789,
            "licenses": ["MIT", None],
        }
        for n, text in enumerate(TEXTS)
    ]
    (top / "data/python").mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(rows, schema), top / "data/python/train-00000-of-00206.parquet")


def chat(top: Path) -> None:
    rows = []
    for n, text in enumerate(TEXTS):
        messages = [{"role": "system", "content": None}, {"role": "user", "content": f"About {'ferries' * (n != 1)}?"}]
        rows.append({"prompt_id": n, "messages": [*messages, {"role": "assistant", "content": text}]})
    jsonl(top / "train_sft.jsonl", rows)


def hub(top: Path) -> None:
    """The cache of Hugging Face: files are links to blobs, and two revisions share them."""
    blobs = top / "blobs"
    blobs.mkdir(parents=True)
    pq.write_table(pa.table({"text": TEXTS, "label": [0, 1, 0]}), blobs / "abc")
    (blobs / "def").write_text("{}")
    for revision in ("r1", "r2"):
        folder = top / "snapshots" / revision / "data"
        folder.mkdir(parents=True)
        (folder / "train-00000.parquet").symlink_to("../../../blobs/abc")
        (folder.parent / "dataset_infos.json").symlink_to("../../blobs/def")
        (folder.parent / "README.md").write_text("no documents")


def spark(top: Path) -> None:
    rows = [{"text": text, "n": n} for n, text in enumerate(TEXTS)]
    jsonl(top / "lang=en/part-00000-0b.c000.json.gz", rows[:2])
    jsonl(top / "lang=sv/part-00001-0b.c000.json.gz", rows[2:])
    jsonl(top / "_temporary/0/part-00000.json", rows)
    jsonl(top / "_delta_log/00000000000000000000.json", [{"commitInfo": {}}])
    (top / "_SUCCESS").write_text("")
    (top / ".part-00000-0b.c000.json.gz.crc").write_bytes(b"crc")


SETS = [c4, oscar, redpajama, pile, fineweb, wikipedia, stack, chat, hub, spark]
FORMS = ["parquet", "arrow", "jsonl", "csv", "tsv"]


def written(path: Path) -> list[dict[str, Any]]:
    """By other programs than ours."""
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()  # type: ignore[no-any-return]
    if path.suffix == ".arrow":
        with pa.ipc.open_stream(path.read_bytes()) as stream:
            return stream.read_all().to_pylist()  # type: ignore[no-any-return]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    with path.open(newline="", encoding="utf-8") as read:
        return list(csv.DictReader(read, delimiter="," if path.suffix == ".csv" else "\t", strict=True))


def texts(row: dict[str, Any]) -> str:
    if "messages" in row:
        messages = json.loads(row["messages"]) if isinstance(row["messages"], str) else row["messages"]
        return str(messages[2]["content"])
    return str(row["content"] if "content" in row else row["text"])


@pytest.mark.parametrize("made", SETS, ids=lambda made: made.__name__)
def test_a_public_data_set(
    dsn: str, tmp_path: Path, made: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    top, tests = tmp_path / "in", tmp_path / "tests.jsonl"
    made(top)
    tests.write_bytes(lines([{"question": TEST}, {"question": "Who?"}]))
    more = 3 if made is pile else 0

    def run(command: str, form: str, *arguments: str) -> list[dict[str, Any]]:
        out = tmp_path / f"out.{form}"
        assert main([command, "--dsn", dsn, "--force", str(top), str(out), *arguments]) == 0, capsys.readouterr().err
        return written(out)

    for form in FORMS:
        kept = run("dedup", form, "--threshold", "0.7", "--keep", "first", "--copies")
        assert [texts(row) for row in kept[:2]] == [ONE, OTHER]
        assert len(kept) == 2 + more
        assert [int(row["copies"]) for row in kept[:2]] == [2, 1]
        cut = run("cut", form, "--min-length", "12")
        assert len(cut) == 3 + more
        assert [texts(row) for row in cut[:2]] == [ONE, OTHER]
        assert texts(cut[2]) == NEAR.replace(NEAR[NEAR.index("Buy") : -1], "")
        clean = run("dedup", form, "--against", str(tests), "--against-text-column", "question")
        assert [texts(row) for row in clean[:1]] == [OTHER]
        assert len(clean) == 1 + more
        said = capsys.readouterr().err
        assert "of 2 tests, 1 with fewer than 8 words cannot be found, in " in said.splitlines()[-1]
    # Each shard to one of the same name, and what is kept of it is what it was.
    assert (
        main(["dedup", "--dsn", dsn, "--quiet", str(top), f"{tmp_path}/out/", "--threshold", "0.7", "--keep", "first"])
        == 0
    )
    for path in (tmp_path / "out").rglob("*"):
        if path.name.endswith((".jsonl", ".json.gz", ".jsonl.zst")):
            before = top / path.relative_to(tmp_path / "out")
            unpack = {
                ".gz": gzip.decompress,
                ".zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data).read(),
            }
            old, new = (unpack.get(path.suffix, bytes)(each.read_bytes()).splitlines() for each in (before, path))  # type: ignore[operator]
            assert new == [line for line in old if line in new]
        elif path.suffix == ".parquet":
            before = top / path.relative_to(tmp_path / "out")
            assert pq.read_schema(path) == pq.read_schema(before)
            assert pq.read_table(path).to_pylist() == [
                row for row in pq.read_table(before).to_pylist() if texts(row) != NEAR
            ]
