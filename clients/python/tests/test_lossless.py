"""What is read is what is written: each reader with each writer, whatever the values are. No server takes part."""

import base64
import bz2
import csv
import gzip
import json
import lzma
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.files import FileError, Form, Place, Reader, Reading, check_writer, form_of, reader
from neardup.files.chunks import Bad, RowsChunk
from neardup.files.inputs import Inputs
from neardup.files.tables import Csv
from neardup.outputs import Out

TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.text('\r\n\t",\\ \0ab', max_size=8)
HALVES = st.text(st.sampled_from("a\ud83d\udc00é\n"), max_size=5)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | HALVES
JSON = st.recursive(SCALARS, lambda of: st.lists(of, max_size=3) | st.dictionaries(TEXT, of, max_size=3), max_leaves=6)
FORMS = ["parquet", "arrow", "jsonl", "jsonl.zst", "csv", "csv.gz", "tsv", "tsv.bz2"]
FAST = settings(max_examples=30, deadline=None, database=None)


class OneSource:
    """Columns of rows that are strings."""

    is_quoted = True

    def __init__(self, names: list[str]) -> None:
        self.fields = dict.fromkeys(names)

    def schema(self) -> pa.Schema:
        return pa.schema([(name, pa.string()) for name in self.fields])


def opened(path: Path, **how: bool) -> Reader:
    return reader(Place.of(path), Reading(**how))


def rows_in(source: Reader) -> list[dict[str, Any]]:
    return [row for chunk in source.chunks() for row in chunk.rows()]


def copied(source: Path, out: Path, **how: bool) -> list[dict[str, Any]]:
    """The rows of a file in another one, read again."""
    form = form_of(out)
    assert form is not None
    found = opened(source, for_arrow=form.is_arrow, **how)
    for _ in found.chunks():
        pass
    check_writer(form, found, {})
    with Out(out, None, form) as part:
        part.begin(found, {})
        for chunk in found.chunks():
            part.write(chunk.where([True] * len(chunk)))
        part.finish()
        part.publish()
    return rows_in(opened(out))


@FAST
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
@pytest.mark.parametrize("kind", FORMS)
def test_any_table_of_texts(tmp_path_factory: pytest.TempPathFactory, kind: str, rows: list[tuple[str, str]]) -> None:
    """Files of text have no NULL: an empty text stands for it. Python's csv reads what is written as we do."""
    path = tmp_path_factory.mktemp("t") / f"a.{kind}"
    given_rows = [{"id": one, "text": other} for one, other in rows]
    with Out(path, None, Form(*kind.split("."))) as out:
        out.begin(OneSource(["id", "text"]), {})
        out.write(RowsChunk(given_rows))
        out.finish()
        out.publish()
    assert rows_in(opened(path)) == given_rows
    if kind in ("csv", "tsv"):
        delimiter = "," if kind == "csv" else "\t"
        with path.open(newline="", encoding="utf-8") as lines:
            assert list(csv.DictReader(lines, delimiter=delimiter, strict=True)) == given_rows


def as_values(value: Any) -> Any:
    """A value that a column of Arrow may have in place of one of JSON: halves of characters are replaced."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [as_values(each) for each in value]
    return {as_values(name): as_values(each) for name, each in value.items()} if isinstance(value, dict) else value


def without_nulls(value: Any) -> Any:
    """Members that an object does not have are NULL in Arrow."""
    if isinstance(value, dict):
        return {name: without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


@FAST
@given(values=st.lists(JSON, min_size=1, max_size=5))
@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl", "csv", "tsv"])
def test_any_value_of_json(tmp_path_factory: pytest.TempPathFactory, kind: str, values: list[Any]) -> None:
    """It is the same, of a type that holds all of a column, or as JSON."""
    folder = tmp_path_factory.mktemp("v")
    lines = [json.dumps({"text": "a b", "v": value}) for value in values]
    (folder / "a.jsonl").write_text("".join(f"{line}\n" for line in lines))
    found = copied(folder / "a.jsonl", folder / f"b.{kind}")
    if kind == "jsonl":
        assert (folder / "b.jsonl").read_bytes() == (folder / "a.jsonl").read_bytes()
        return
    is_json = kind != "csv" and kind != "tsv" and pa_schema(folder / f"b.{kind}").field("v").metadata is not None
    for value, row in zip(values, found, strict=True):
        got = row["v"]
        if kind in ("csv", "tsv"):
            expected = "" if value is None else value
            if isinstance(value, str):
                assert got == as_values(value)
            elif isinstance(value, bool | list | dict):
                assert as_values(json.loads(got)) == as_values(value)
            else:
                assert got == str(expected)
        elif is_json:
            assert got is None if value is None else as_values(json.loads(got)) == as_values(value)
        else:
            assert without_nulls(got) == without_nulls(as_values(value))


def pa_schema(path: Path) -> pa.Schema:
    if path.suffix == ".parquet":
        return pq.read_schema(path)
    with pa.ipc.open_stream(path.read_bytes()) as stream:
        return stream.schema


ODD_LINES = [
    '{"text": "a b", "n": 1e400, "m": 0.10, "k": 1E+2, "i": 123456789012345678901234567890}',
    '{"text":"a b","e":"\\u00e9\\/\\ud83d","o":{}, "o2": { "a" : [ 1,2 ] } }',
    ' { "text" : "a b" , "text2" : "\\t" }\t',
    '{"text": "a b", "twice": 1, "twice": 2}\r',
    "{}",
]


def test_lines_stay_byte_for_byte(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes("\n".join(ODD_LINES).encode())
    copied(source, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == "".join(f"{line}\n" for line in ODD_LINES).encode()
    found = opened(source)
    # Once more, lines that are known to be rows are not looked into.
    for chunk in [*found.chunks(), *found.chunks()]:
        more = chunk.with_columns({"kept": [True] * 5, "nd": [None] * 5}).lines()
        assert more[0] == ODD_LINES[0][:-1] + ', "kept": true, "nd": null}'
        assert more[2] == ' { "text" : "a b" , "text2" : "\\t", "kept": true, "nd": null}\t'
        assert more[4] == '{"kept": true, "nd": null}'
        changed = chunk.with_values("text", {0: "é", 2: "", 3: 'x"'}).lines()
        assert changed[0] == ODD_LINES[0].replace('"a b"', '"é"')
        assert changed[1] == ODD_LINES[1]
        assert changed[2] == ' { "text" : "" , "text2" : "\\t" }\t'
        assert [json.loads(line) for line in changed] == chunk.with_values("text", {0: "é", 2: "", 3: 'x"'}).rows()


@FAST
@given(rows=st.lists(st.dictionaries(TEXT, JSON, max_size=3), max_size=5), indent=st.sampled_from([None, 1]))
def test_arrays(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], indent: int | None) -> None:
    path = tmp_path_factory.mktemp("a") / "a.json"
    path.write_text(json.dumps(rows, indent=indent))
    # Two halves beside each other are a character when they are read.
    rows = json.loads(json.dumps(rows))
    source = opened(path)
    assert rows_in(source) == rows
    lines = [line for chunk in source.chunks() for line in chunk.lines()]
    assert [json.loads(line) for line in lines] == rows
    assert all("\n" not in line for line in lines)


def test_a_long_array_and_a_broken_one(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    rows = [{"text": f"{n} " * 2000, "n": n} for n in range(100)]
    path.write_text(" " * 100 + json.dumps(rows))
    assert rows_in(opened(path)) == rows
    whole = path.read_text()
    for broken in (
        whole[:-1],
        whole[:70_000],
        whole.replace(', "n": 50', ' "n": 50'),
        whole + "1",
        "[{}, 1]",
        "[{} {}]",
    ):
        path.write_text(broken)
        with pytest.raises(FileError, match=r"a\.json[:,] "):
            rows_in(opened(path))
    # Where it is, also where it is not in the first part that is read.
    good = [json.dumps({"text": "caf\u00e9 " * 50}, ensure_ascii=False).encode()] * 2000
    before = b"\xef\xbb\xbf[\n" + b",\n".join(good)
    for wrong, why in ((b"\xe9", r"b'\\xe9' is no UTF-8"), (b"}", "Expecting value")):
        path.write_bytes(before + b",\n" + wrong + b"{}]")
        with pytest.raises(FileError, match=rf"a\.json, line 2002: {why} \(at byte {len(before) + 2} of the file\)"):
            rows_in(opened(path))


ARRAYS = {
    "int8": pa.array([1, None, -3], pa.int8()),
    "uint64": pa.array([1, None, 2**64 - 1], pa.uint64()),
    "half": pa.array([1.5, None, -2.0], pa.float16()),
    "float": pa.array([1.5, None, math.inf], pa.float32()),
    "decimal": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal128(38, 2)),
    "wide": pa.array([Decimal("1.50"), None, Decimal("-2.25")], pa.decimal256(60, 2)),
    "bool": pa.array([True, None, False]),
    "null": pa.nulls(3),
    "string": pa.array(["a", None, "é\n"]),
    "large": pa.array(["a", None, "b"], pa.large_string()),
    "view": pa.array(["a", None, "longer than twelve bytes"], pa.string_view()),
    "binary": pa.array([b"\xff", None, b""]),
    "binary view": pa.array([b"\xff", None, b"longer than twelve bytes"], pa.binary_view()),
    "fixed binary": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "date": pa.array([0, None, 20_000], pa.date32()),
    "date64": pa.array([0, None, 86_400_000], pa.date64()),
    "time": pa.array([0, None, 86_399_999_999_999], pa.time64("ns")),
    "seconds": pa.array([0, None, 86_399_000], pa.time32("ms")),
    "ns": pa.array([1_700_000_000_123_456_789, None, -1], pa.timestamp("ns")),
    "zone": pa.array([1_700_000_000_123_456_789, None, 1], pa.timestamp("ns", "America/New_York")),
    "far": pa.array([2**60, None, -(2**60)], pa.timestamp("us")),
    "duration": pa.array([1, None, 2**62], pa.duration("ns")),
    "list": pa.array([[1, None], None, []], pa.list_(pa.int32())),
    "ns list": pa.array([[1], None, []], pa.large_list(pa.timestamp("ns"))),
    "fixed list": pa.array([[1, 2], None, [3, 4]], pa.list_(pa.int32(), 2)),
    "list view": pa.array([["x", None], None, []], pa.list_view(pa.string_view())),
    "struct": pa.array(
        [{"a": b"x", "b": 1}, None, {"a": None, "b": 2}], pa.struct([("a", pa.binary()), ("b", pa.duration("ns"))])
    ),
    "no members": pa.array([{}, None, {}], pa.struct([])),
    "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "dictionary": pa.array(["a", None, "a"]).dictionary_encode(),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"])),
    "interval": pa.array([(1, 2, 3), None, (4, 5, 6)], pa.month_day_nano_interval()),
    "union": pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])]
    ),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([b"0123456789abcdef", None, b"0123456789abcdef"], pa.binary(16))
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "jsonl", "csv", "tsv"])
def test_any_type_of_arrow(tmp_path: Path, name: str, kind: str) -> None:
    """Its values are written, or one error tells that they cannot be, before anything is compared."""
    batch = pa.record_batch({"text": pa.array(["a b", "c", "d"]), "v": ARRAYS[name]})
    source = tmp_path / "a.arrow"
    with pa.OSFile(str(source), "wb") as file, pa.ipc.new_stream(file, batch.schema) as stream:
        stream.write_batch(batch)
    said = ""
    try:
        found = [row["v"] for row in copied(source, tmp_path / f"b.{kind}")]
    except FileError as error:
        said = str(error)
    if said:
        assert (name, kind) in {("interval", "parquet"), ("union", "parquet"), ("no members", "parquet")}, said
        assert "\n" not in said
        return
    again = [row["v"] for row in rows_in(opened(source))]
    if kind in ("parquet", "arrow"):
        assert json.dumps(found, default=str) == json.dumps(again, default=str)
        return
    text = (tmp_path / f"b.{kind}").read_text()
    assert "b'" not in text
    expected = {
        "ns": "2023-11-14 22:13:20.123456789",
        "zone": "2023-11-14 22:13:20.123456789Z",
        "binary": base64.b64encode(b"\xff").decode(),
        "fixed binary": "YWI=",
        "decimal": "1.50",
        "date": "1970-01-01",
        "struct": {"a": "eA==", "b": 1},
        "uint64": 1,
    }
    if kind == "jsonl":
        rows = [json.loads(line)["v"] for line in text.splitlines()]
        assert rows[1] is None or name in ("runs", "union")
        assert rows[0] == expected.get(name, rows[0])
        if name == "uint64":
            assert rows[2] == 2**64 - 1


def bad_lines(path: Path, **how: bool) -> tuple[list[dict[str, Any]], list[Bad]]:
    found = opened(path, **how)
    bad: list[Bad] = []
    found.bad = bad.append
    return rows_in(found), bad


def test_lines_that_are_no_rows(tmp_path: Path) -> None:
    """Each is told with its line and byte, and passed over where that is asked for; no row behind it is lost."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "a"}\n{"text": "caf\xe9"}\n[1]\n{"text": \n\n{"text": "b"}')
    rows, bad = bad_lines(path)
    assert [row["text"] for row in rows] == ["a", "b"]
    assert [(each.line, each.byte) for each in bad] == [(2, 30), (3, 34), (4, 47)]
    assert path.read_bytes()[30:31] == b"\xe9"
    with pytest.raises(FileError, match=r"line 2: b'\\xe9' is no UTF-8 \(at byte 30 of the file\)"):
        rows_in(opened(path))
    table = tmp_path / "a.csv"
    table.write_bytes(b'id,text\n1,a\n2,"never closed\n3,b,c\n4,caf\xe9\n5,"two\nlines"\n6,"x"y\n7\n8,"end"\n')
    rows, bad = bad_lines(table)
    assert [row["id"] for row in rows] == ["1", "5", "8"]
    assert rows[1]["text"] == "two\nlines"
    assert [each.line for each in bad] == [3, 4, 5, 8, 9]
    with pytest.raises(FileError, match=r"a\.csv, line 3: "):
        rows_in(opened(table))
    table.write_text('id,text\n1,a\n2,"never closed\n3,b\n4,c\n')
    with pytest.raises(FileError, match=r"a\.csv, line 3: a quote is opened here and never closed"):
        rows_in(opened(table))
    assert [row["id"] for row in bad_lines(table)[0]] == ["1", "3", "4"]
    for kind in ("csv", "tsv", "jsonl", "json", "txt"):
        (tmp_path / f"u.{kind}").write_text('{"text": "a"}\n', encoding="utf-16")
        with pytest.raises(FileError, match=rf"u\.{kind}, line 1: UTF-16 where UTF-8 should be: iconv .* \(at byte 0 "):
            rows_in(opened(tmp_path / f"u.{kind}"))
    table.write_bytes(b"id,text\n1,a\rb\n")
    with pytest.raises(FileError, match=r"line 2: a carriage return that is not in quotes"):
        rows_in(opened(table))


@FAST
@given(
    rows=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), max_size=9), min_size=1, max_size=6)
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tsv_without_quotes(tmp_path_factory: pytest.TempPathFactory, rows: list[str], end: str) -> None:
    """A quote is a character as any other, and a file of such lines is one of such lines again."""
    path = tmp_path_factory.mktemp("t") / "a.tsv"
    path.write_bytes("".join(f"{one}\t{text}{end}" for one, text in [("id", "text"), *enumerate(rows)]).encode())
    expected = [{"id": str(at), "text": text} for at, text in enumerate(rows)]
    assert rows_in(opened(path)) == expected
    assert copied(path, path.with_name("b.tsv")) == expected
    assert path.with_name("b.tsv").read_bytes() == path.read_bytes().replace(b"\r\n", b"\n") or end == "\n"
    assert copied(path, path.with_name("b.csv")) == expected


def test_tsv_with_quotes(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text('id\ttext\n1\t"two\nlines"\n')
    with pytest.raises(
        FileError, match="line 3: 1 value for 2 columns; if values are quoted as in CSV, say --tsv-quotes"
    ):
        rows_in(opened(path))
    assert rows_in(opened(path, quoted=True)) == [{"id": "1", "text": "two\nlines"}]
    assert isinstance(opened(path), Csv)
    assert not opened(path).is_quoted


def test_files_of_several_kinds_to_one(tmp_path: Path) -> None:
    """Columns of one name that no type holds are written as JSON, of each kind."""
    (tmp_path / "a.jsonl").write_text('{"text": "a", "n": 1, "m": 9007199254740993}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "b", "n": {"x": 1}, "m": 0.5}\n')
    (tmp_path / "c.csv").write_text("text,n\nc,3\n")
    pq.write_table(pa.table({"text": ["d"], "n": [4.5], "more": [[1]]}), tmp_path / "d.parquet")
    out = tmp_path / "out.parquet"
    with Inputs([str(tmp_path)], standard=Form("jsonl"), how=Reading(for_arrow=True)) as inputs:
        for each in inputs.readers:
            for _ in each.chunks():
                pass
        assert inputs.as_json() == ["n", "m"]
        with Out(out, None, Form("parquet")) as part:
            part.begin(inputs, {})
            for each in inputs.readers:
                for chunk in each.chunks():
                    part.write(chunk)
            part.finish()
            part.publish()
    found = pq.read_table(out).to_pydict()
    assert [json.loads(value) for value in found["n"]] == [1, {"x": 1}, "3", 4.5]
    assert found["m"] == ["9007199254740993", "0.5", None, None]
    assert found["more"] == [None, None, None, [1]]


def test_names_of_columns(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], ["text", "text"]), tmp_path / "a.parquet")
    with pytest.raises(FileError, match="two columns have one name"):
        opened(tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text('{"text": "a", "\\ud800": 1}\n')
    with pytest.raises(FileError, match="cannot name a column"):
        copied(tmp_path / "a.jsonl", tmp_path / "b.parquet")
    broken = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff")]
    )
    with (
        pa.OSFile(str(tmp_path / "c.arrow"), "wb") as file,
        pa.ipc.new_stream(file, pa.schema([("text", "string")])) as out,
    ):
        out.write_batch(pa.record_batch({"text": broken}))
    with pytest.raises(FileError, match=r"c\.arrow: "):
        rows_in(opened(tmp_path / "c.arrow"))


@pytest.mark.parametrize("kind", ["gz", "zst", "bz2", "xz"])
def test_frames_behind_each_other(tmp_path: Path, kind: str) -> None:
    """All are read; one that is cut off, or damaged anywhere, is an error and not an end."""
    pack: Any = {"gz": gzip.compress, "zst": zstandard.compress, "bz2": bz2.compress, "xz": lzma.compress}[kind]
    path = tmp_path / f"a.jsonl.{kind}"
    one, two = (pack(f'{{"text": "{text}"}}\n'.encode() * 50) for text in ("a", "b"))
    for whole in (one + two, one + two + bytes(8)):
        path.write_bytes(whole)
        assert len(rows_in(opened(path))) == 100
    for broken in (one + two[:-3], one[:-3], one + b"x" + two, one + two + b"junk" * 5, b"x" + one):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=r"a\.jsonl"):
            rows_in(opened(path))


def test_a_long_window(tmp_path: Path) -> None:
    """As `zstd --long=31` writes it, and the dumps of Reddit have it."""
    how = zstandard.ZstdCompressionParameters.from_level(3, window_log=31)
    pack = zstandard.ZstdCompressor(compression_params=how).compressobj()
    (tmp_path / "a.jsonl.zst").write_bytes(pack.compress(b'{"text": "a"}\n' * 3) + pack.flush())
    assert rows_in(opened(tmp_path / "a.jsonl.zst")) == [{"text": "a"}] * 3


def test_a_document_with_bytes_that_are_no_text(tmp_path: Path) -> None:
    """It is no row, and not one with a part of its text."""
    (tmp_path / "a.txt").write_bytes(b"one\ncaf\xe9\ntwo")
    rows, bad = bad_lines(tmp_path / "a.txt")
    assert (rows, [each.line for each in bad]) == ([], [2])
    rows, bad = bad_lines(tmp_path / "a.txt", by_line=True)
    assert [row["text"] for row in rows] == ["one", "two"]


def merged(tmp_path: Path, *tables: pa.Table) -> list[dict[str, Any]]:
    """Files of Parquet, written to one."""
    for at, table in enumerate(tables):
        pq.write_table(table, tmp_path / f"{at}.parquet")
    with (
        Inputs([str(tmp_path)], standard=Form("jsonl"), how=Reading(for_arrow=True)) as inputs,
        Out(tmp_path / "out.parquet", None, Form("parquet")) as part,
    ):
        part.begin(inputs, {})
        for each in inputs.readers:
            for chunk in each.chunks():
                part.write(chunk)
        part.finish()
        part.publish()
    return rows_in(opened(tmp_path / "out.parquet"))


def test_files_of_several_types_to_one(tmp_path: Path) -> None:
    """What one file does not have is NULL; what the type of another file cannot hold is an error and not rounded."""
    number = pa.schema([pa.field("n", pa.int64(), nullable=False)])
    tables = [pa.table({"n": [1, 2]}, number), pa.table({"n": [0.5]}), pa.table({"m": [1]})]
    (tmp_path / "one").mkdir()
    found = merged(tmp_path / "one", *tables)
    assert [row["n"] for row in found] == [1, 2, 0.5, None]
    (tmp_path / "two").mkdir()
    with pytest.raises(FileError, match="its values cannot be written: "):
        merged(tmp_path / "two", pa.table({"n": [2**53 + 1]}), tables[1])
    assert sorted(path.name for path in (tmp_path / "two").iterdir()) == ["0.parquet", "1.parquet"]


def test_numbers_that_are_too_large(tmp_path: Path) -> None:
    """They are not infinite; what is infinite stays so."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "n": Infinity, "m": [-Infinity]}\n{"text": "b", "n": 1.5, "m": []}\n')
    assert [row["n"] for row in copied(path, tmp_path / "b.parquet")] == [math.inf, 1.5]
    for odd in ("1e400", '{"x": [-1e999]}'):
        with path.open("a") as out:
            out.write(f'{{"text": "c", "n": {odd}}}\n')
        assert [row["text"] for row in copied(path, tmp_path / "b.jsonl")][:2] == ["a", "b"]
        with pytest.raises(FileError, match=r"a\.jsonl: a number is larger than those that Parquet and Arrow have"):
            copied(path, tmp_path / "c.parquet")
