"""Values with commas or tabs between them, with a line of names: read and written row by row, by the module csv.

CSV is read strictly: what does not follow the rules of quotes is an error, since it could hide the rows behind it.
TSV has no quotes, as MS MARCO, MySQL and others write it, and a quote is a character as any other; but where the first
name stands in quotes, all values are quoted as in CSV, which is how it is written where a value has a tab or a line.
"""

from __future__ import annotations

import codecs
import csv
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, Final

from neardup.files.chunks import Bad, Chunk, FileError, dumped, plain
from neardup.files.forms import Form
from neardup.files.lines import Counted, Lines, Parsed, create, decoded
from neardup.files.places import Place

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITERS: Final = {"csv": ",", "tsv": "\t"}
_LONGEST: Final = 1 << 28
"""Characters of a value: more is a quote that is never closed."""
_REPLACED: Final = "neardup.replaced"
codecs.register_error(_REPLACED, lambda error: (b"\xef\xbf\xbd" * (error.end - error.start), error.end))  # type: ignore[attr-defined]

_Line = tuple[int, int, str, Bad | None]
"""The number of a line, where it begins, the line, and what is wrong with its bytes."""


class Csv(Lines):
    """Comma-separated values, or tab-separated ones, with a line of names."""

    def __init__(self, place: Place, form: Form, *, quoted: bool) -> None:
        super().__init__(place, form)
        self._delimiter = DELIMITERS[form.kind]
        csv.field_size_limit(_LONGEST)
        with self._open() as (opened, _):
            first = opened.opened.peek(4).removeprefix(codecs.BOM_UTF8)
            self.is_quoted = form.kind == "csv" or quoted or first.startswith(b'"')
            _, _, line, names = next(self._values(opened), (0, 0, "", []))
        # An end of a line in a value would be taken for that of all lines.
        self._end = "\r\n" if line.endswith("\r\n") else "\n"
        names = [name.removesuffix("\r") for name in names] if not self.is_quoted and self._end == "\r\n" else names
        if len(set(names)) < len(names):
            raise FileError(f"{self.name}: two columns have one name: {', '.join(names)}")
        self.fields.update(dict.fromkeys(names))

    def _values(self, opened: Counted) -> Iterator[tuple[int, int, str, list[str]]]:
        """The values of each row: the number of its first line, where it begins, its first line."""
        source = self._lines(opened)
        if not self.is_quoted:
            for number, begin, line, bad in source:
                if bad is not None:
                    self._wrong(bad)
                    continue
                yield number, begin, line, line.removesuffix("\n").split(self._delimiter) if line.strip("\r\n") else []
            return
        again: deque[_Line] = deque()
        held: list[_Line] = []

        def lines() -> Iterator[str]:
            while following := again.popleft() if again else next(source, None):
                held.append(following)
                yield following[2]

        while True:
            held.clear()
            try:
                values = next(csv.reader(lines(), delimiter=self._delimiter, strict=True), None)
            except csv.Error as error:
                number, begin, line, _ = held[0]
                open_quote = str(error).startswith("unexpected end") or "limit" in str(error)
                why = f"a quote is opened here and never closed ({error})" if open_quote else str(error)
                if "new-line character" in why:
                    why = "a carriage return that is not in quotes"
                if not open_quote and len(held) > 1:
                    why += f", in line {held[-1][0]}"
                # Only this line is passed over: those behind it may be rows.
                again.extendleft(reversed(held[1:]))
                self._wrong(Bad(number, begin, why, line), error)
                continue
            if values is None:
                return
            if (bad := next((bad for *_, bad in held if bad is not None), None)) is not None:
                self._wrong(bad)
                continue
            number, begin, line, _ = held[0]
            yield number, begin, line, values

    def _lines(self, opened: Counted) -> Iterator[_Line]:
        for line in opened:
            text, bad = decoded(opened, line)
            yield opened.number, opened.begin, text, bad

    def _rows(self, plain: Counted) -> Iterator[Parsed]:
        names = list(self.fields)
        read = self._values(plain)
        next(read, None)
        for number, begin, line, values in read:
            if not values:
                continue
            if not self.is_quoted and self._end == "\r\n":
                values[-1] = values[-1].removesuffix("\r")
            if len(values) == len(names):
                yield dict(zip(names, values, strict=True)), line, sum(map(len, values))
                continue
            why = f"{len(values)} value{'s' if len(values) != 1 else ''} for {len(names)} columns"
            if not self.is_quoted and '"' in line:
                why += "; if values are quoted as in CSV, say --tsv-quotes"
            self._wrong(Bad(number, begin, why, line))

    def schema(self) -> pa.Schema:
        """All columns are strings."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self.fields])


class CsvWriter:
    """Comma-separated values, or tab-separated ones, with a line of names."""

    def __init__(self, file: IO[bytes], form: Form, names: Sequence[str], *, quoted: bool) -> None:
        self._out = create(file, form, _REPLACED)
        self._names = names
        self._delimiter = DELIMITERS[form.kind]
        # A quote in the first name says that TSV has quotes.
        self._csv: Any = None
        if form.kind == "csv" or quoted:
            quoting: Any = csv.QUOTE_MINIMAL if form.kind == "csv" else csv.QUOTE_ALL
            self._csv = csv.writer(_Rows(self._out), delimiter=self._delimiter, quoting=quoting, lineterminator="\r\n")
        self._write(list(names))

    def _write(self, values: list[Any]) -> None:
        if self._csv is not None:
            self._csv.writerow(values)
            return
        texts = ["" if value is None else str(value) for value in values]
        if odd := next((text for text in texts if "\t" in text or "\n" in text), None):
            raise FileError(f"{odd!r} has a tab or an end of a line, which TSV without quotes cannot have")
        self._out.write("\t".join(texts) + "\n")

    def write(self, chunk: Chunk) -> None:
        """Appends rows; lists and objects are written as JSON."""
        for row in chunk.rows():
            self._write([_text(row.get(name)) for name in self._names])

    def close(self) -> None:
        """Ends what is written."""
        self._out.close()


class _Rows:
    """Ends each row with a line feed.

    Before 3.11.9 and 3.12.3, csv puts a value into quotes for a carriage return only where one ends its rows.
    """

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def write(self, row: str) -> None:
        """Takes a row."""
        self._out.write(row[:-2] + "\n")


def _text(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | tuple):
        return dumped(value)
    return value if value is None or isinstance(value, str | int | float) else plain(value)
