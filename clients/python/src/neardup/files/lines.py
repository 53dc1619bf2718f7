"""Files of lines, also compressed, and JSON: a JSON object on each line, or an array of objects; read row by row.

Rows are written as they stand in the file: how a number is spelled, which characters are escaped.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, TypeAlias

from neardup.files.arrays import BadError, array
from neardup.files.chunks import CHUNK_BYTES, CHUNK_ROWS, Bad, Chunk, FileError, Row, RowsChunk, dumped, rows_of_columns
from neardup.files.forms import Form, compressed, decompressed
from neardup.files.places import Place

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.shapes import Shapes

_BOM: Final = b"\xef\xbb\xbf"
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()

Parsed: TypeAlias = tuple[Row, str, int]
"""A row, what stands in the file, and about how many bytes it has."""


class Lines:
    """A file of lines that knows how much of it is read."""

    is_quoted = True

    def __init__(self, place: Place, form: Form) -> None:
        self.place = place
        self.name = place.name
        self.fields: dict[str, None] = {}
        self.done = 0.0
        self.bad: Callable[[Bad], None] | None = None
        self._form = form

    @contextmanager
    def _open(self) -> Iterator[tuple[Counted, IO[bytes]]]:
        with self.place.open() as raw, decompressed(raw, self._form, self.name) as opened:
            yield Counted(opened), raw

    def _rows(self, plain: Counted) -> Iterator[Parsed]:
        """Each row."""
        raise NotImplementedError

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:  # noqa: ARG002
        """All rows from the first one on."""
        size = max(1, self.place.size())
        with self._open() as (plain, raw):
            some: list[Parsed] = []
            held = 0
            for row in self._rows(plain):
                some.append(row)
                held += row[2]
                if len(some) == CHUNK_ROWS or held >= CHUNK_BYTES:
                    self.done = min(1.0, raw.tell() / size)
                    yield self._chunk(some)
                    some, held = [], 0
            self.done = 1.0
            if some:
                yield self._chunk(some)

    def _chunk(self, rows: list[Parsed]) -> Chunk:
        return RowsChunk([row for row, *_ in rows])

    def _wrong(self, bad: Bad, error: Exception | None = None) -> None:
        """A line that is no row: an error, or passed over."""
        if self.bad is None:
            raise FileError(f"{self.name}, {bad}") from error
        self.bad(bad)

    def _decoded(self, plain: Counted, line: bytes) -> str | None:
        """The text of the line that was read last; None where it is passed over."""
        try:
            return line.decode()
        except UnicodeDecodeError:
            _, bad = decoded(plain, line)
            assert bad is not None
            self._wrong(bad)
            return None

    def schema(self) -> pa.Schema:
        """The types of its columns."""
        raise NotImplementedError

    def types(self) -> pa.Schema | Shapes:
        """Its schema."""
        return self.schema()

    def seen(self) -> str:
        """The columns, and their types where these are wanted."""
        return json.dumps({"fields": list(self.fields), "types": self._seen_types()})

    def recall(self, seen: str) -> None:
        """Knows them without reading."""
        read = json.loads(seen)
        self.fields.update(dict.fromkeys(read["fields"]))
        self._recall_types(read["types"])

    def _seen_types(self) -> Any:
        return None

    def _recall_types(self, types: Any) -> None:
        """Takes what `_seen_types` gave."""

    def check_text(self, name: str) -> None:
        """Any column may have texts: values are looked at when they are read."""

    def check_id(self, name: str) -> None:
        """Any column may be an id."""


class Counted:
    """The lines of a file, and where they stand."""

    def __init__(self, opened: IO[bytes]) -> None:
        self.opened = opened if hasattr(opened, "peek") else io.BufferedReader(opened)  # type: ignore[type-var]
        self.number = 0
        """Of the line that was read last, from 1."""
        self.begin = self.end = 0
        """Where it begins and ends, from 0."""

    def __iter__(self) -> Iterator[bytes]:
        for line in self.opened:
            self.number += 1
            self.begin = self.end
            self.end += len(line)
            if self.number == 1 and line.startswith(_BOM):
                self.begin, line = len(_BOM), line[len(_BOM) :]
            yield line


def decoded(plain: Counted, line: bytes) -> tuple[str, Bad | None]:
    """The text of the line that was read last, and what is wrong with it."""
    try:
        return line.decode(), None
    except UnicodeDecodeError as error:
        text = line.decode(errors="replace")
        why = f"{line[error.start : error.start + 1]!r} is no UTF-8"
        if plain.number == 1 and line.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            why = "UTF-16 where UTF-8 should be: iconv -f UTF-16 -t UTF-8 makes it so"
        return text, Bad(plain.number, plain.begin + error.start, why, text)


class JsonLines(Lines):
    """A JSON object a line, or a JSON array of objects."""

    def __init__(self, place: Place, form: Form, *, infer: bool) -> None:
        super().__init__(place, form)
        self._shapes: Shapes | None = None
        self._is_array = False
        if infer:
            from neardup.files.shapes import Shapes

            self._shapes = Shapes()
        self._known: tuple[int, int] | None = None
        """The size and the time of the file whose lines were all rows when they were read."""
        # The keys of the first object are what the file says it has. Lines that are none are told when all are read.
        self.bad = _pass_over
        with self._open() as (plain, _):
            first: Parsed = next(self._rows(plain), ({}, "", 0))
        self.bad = None
        self.fields.update(dict.fromkeys(first[0]))

    def chunks(self, only: Sequence[str] | None = None) -> Iterator[Chunk]:
        """All rows from the first one on."""
        state = self.place.state()
        if state is not None and state == self._known:
            yield from self._known_chunks()
            return
        passed, take = 0, self.bad

        def count(bad: Bad) -> None:
            nonlocal passed
            passed += 1
            if take is not None:
                take(bad)

        self.bad = take and count
        try:
            yield from super().chunks(only)
        finally:
            self.bad = take
        self._known = state if not passed and not self._is_array and state == self.place.state() else None

    def _known_chunks(self) -> Iterator[Chunk]:
        """The same once more: lines that are known to be rows are read as such where their values are asked for."""
        with self._open() as (plain, raw):
            texts, held, size = list[str](), 0, max(1, self.place.size())
            for line in plain:
                if not line.strip():
                    continue
                texts.append(line.decode().removesuffix("\n"))
                held += len(line)
                if len(texts) == CHUNK_ROWS or held >= CHUNK_BYTES:
                    self.done = min(1.0, raw.tell() / size)
                    yield JsonChunk(texts)
                    texts, held = [], 0
            self.done = 1.0
            if texts:
                yield JsonChunk(texts)

    def _rows(self, plain: Counted) -> Iterator[Parsed]:
        begin = plain.opened.peek(1).removeprefix(_BOM).lstrip()
        self._is_array = begin.startswith(b"[")
        if self._is_array:
            yield from self._elements(plain)
            return
        for line in plain:
            if not line.strip() or (text := self._decoded(plain, line)) is None:
                continue
            text = text.removesuffix("\n")
            try:
                row = _DECODER.decode(text)
            except json.JSONDecodeError as error:
                pretty = text.strip() == "{"
                told = "a JSON object of several lines, where each line should be one" if pretty else error.msg
                at = plain.begin + len(text[: error.pos].encode())
                self._wrong(Bad(plain.number, at, told, text), error)
                continue
            except (ValueError, RecursionError) as error:
                self._wrong(Bad(plain.number, plain.begin, str(error), text), error)
                continue
            if isinstance(row, dict):
                yield row, text, len(line)
            else:
                why = f"{type(row).__name__} where a JSON object should be"
                self._wrong(Bad(plain.number, plain.begin, why, text))

    def _elements(self, plain: Counted) -> Iterator[Parsed]:
        try:
            for element, text in array(plain.opened):
                if not isinstance(element, dict):
                    raise FileError(f"{self.name}: {type(element).__name__} in an array where a JSON object should be")
                # Ends of lines are between the parts of an object, and never in a string of it.
                yield element, text.replace("\r", " ").replace("\n", " "), len(text)
        except BadError as error:
            raise FileError(f"{self.name}, {error}") from error
        except RecursionError as error:
            raise FileError(f"{self.name}: {error}") from error

    def _chunk(self, rows: list[Parsed]) -> Chunk:
        for row, *_ in rows:
            if not row.keys() <= self.fields.keys():
                self.fields.update(dict.fromkeys(row))
        if self._shapes is not None:
            values, texts = [row for row, *_ in rows], [text for _, text, _ in rows]
            self._shapes.see(values)
            if (at := self._shapes.too_large(values, texts)) is not None:
                shown = texts[at] if len(texts[at]) < 100 else f"{texts[at][:100]}…"
                raise FileError(
                    f"{self.name}: a number is larger than those that Parquet and Arrow have: write .jsonl instead."
                    f" The row is {shown}"
                )
        return JsonChunk([text for _, text, _ in rows], [row for row, *_ in rows])

    def _seen_types(self) -> Any:
        return self._shapes and {name: shape.told() for name, shape in self._shapes.columns.items()}

    def _recall_types(self, types: Any) -> None:
        if types is not None:
            from neardup.files.shapes import Shape, Shapes

            self._shapes = Shapes()
            self._shapes.columns = {name: Shape.of(told) for name, told in types.items()}

    def types(self) -> pa.Schema | Shapes:
        """What the values are."""
        from neardup.files.shapes import Shapes

        return self._shapes or Shapes()

    def schema(self) -> pa.Schema:
        """The types that hold all values."""
        types: Any = self.types()
        return types.schema(self.name)


def _pass_over(_: Bad) -> None:
    pass


class JsonChunk(RowsChunk):
    """Rows of JSON, as they stand in the file, and their values once these are asked for."""

    def __init__(self, texts: list[str], rows: list[Row] | None = None) -> None:
        self._texts = texts
        self._read = rows

    @property
    def _rows(self) -> list[Row]:
        if self._read is None:
            self._read = list(map(json.loads, self._texts))
        return self._read

    def __len__(self) -> int:
        return len(self._texts)

    def where(self, wanted: Sequence[bool]) -> JsonChunk:
        """Only the rows that are wanted."""
        rows = None if self._read is None else super().where(wanted).rows()
        return JsonChunk([text for text, want in zip(self._texts, wanted, strict=True) if want], rows)

    def with_columns(self, columns: Mapping[str, Sequence[Any]]) -> JsonChunk:
        """With more columns behind the others, which stay as they stand."""
        added = rows_of_columns(columns)
        texts = [_extended(text, dumped(more)) for text, more in zip(self._texts, added, strict=True)]
        return JsonChunk(texts, None if self._read is None else super().with_columns(columns).rows())

    def with_values(self, name: str, values: Mapping[int, Any]) -> JsonChunk:
        """With other values in a column; all else stays as it stands."""
        texts = [
            _replaced(text, name, dumped(values[at])) if at in values else text for at, text in enumerate(self._texts)
        ]
        return JsonChunk(texts, None if self._read is None else super().with_values(name, values).rows())

    def lines(self) -> list[str]:
        """The rows as they stand."""
        return self._texts


def _extended(text: str, added: str) -> str:
    end = text.rindex("}")
    before = text[:end].rstrip()
    return f"{before}{'' if before.endswith('{') else ', '}{added[1:-1]}{text[end:]}"


def _replaced(text: str, name: str, value: str) -> str:
    """An object with another value of a member, wherever it has one of this name."""
    parts, done = [], 0
    at = text.index("{") + 1
    while True:
        at = _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if text[at] == "}":
            break
        key, at = _DECODER.raw_decode(text, at)
        at = _SPACE.match(text, text.index(":", at) + 1).end()  # type: ignore[union-attr]
        _, end = _DECODER.raw_decode(text, at)
        if key == name:
            parts += [text[done:at], value]
            done = end
        at = _SPACE.match(text, end).end()  # type: ignore[union-attr]
        at += text[at] == ","
    return "".join([*parts, text[done:]])


def create(file: IO[bytes], form: Form, errors: str = "strict") -> IO[str]:
    """A text to write, in a file that stays open when the text is closed."""
    return io.TextIOWrapper(compressed(file, form), encoding="utf-8", errors=errors, newline="")


class JsonLinesWriter:
    """A JSON object a line."""

    def __init__(self, file: IO[bytes], form: Form) -> None:
        # Half a character, which JSON can have and UTF-8 cannot, is written as JSON does: \\ud800.
        self._out = create(file, form, "backslashreplace")

    def write(self, chunk: Chunk) -> None:
        """Appends rows."""
        self._out.writelines(f"{line}\n" for line in chunk.lines())

    def close(self) -> None:
        """Ends what is written."""
        self._out.close()
