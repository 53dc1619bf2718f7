"""Texts without columns: .txt, each file or each line of it a document; and what crawls archived, WARC and WET."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neardup.files.chunks import FileError
from neardup.files.forms import Form
from neardup.files.lines import Counted, Lines, Parsed
from neardup.files.places import Place

if TYPE_CHECKING:
    import pyarrow as pa


class _Documents(Lines):
    def schema(self) -> pa.Schema:
        """All columns are strings."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self.fields])


class Text(_Documents):
    """A file that is a document, or whose lines are."""

    def __init__(self, place: Place, form: Form, *, by_line: bool) -> None:
        super().__init__(place, form)
        self._by_line = by_line
        self.fields = {"text": None} if by_line else {"name": None, "text": None}

    def _rows(self, plain: Counted) -> Iterator[Parsed]:
        texts, is_whole = [], True
        for line in plain:
            text = self._decoded(plain, line)
            is_whole = is_whole and text is not None
            if text is None:
                continue
            if self._by_line:
                text = text.removesuffix("\n").removesuffix("\r")
                yield {"text": text}, text, len(line)
            else:
                texts.append(text)
        if not self._by_line and is_whole:
            text = "".join(texts)
            yield {"name": self.name, "text": text}, text, len(text)


class Warc(_Documents):
    """The texts of a WET file, and the responses of a WARC file: their pages, for which there is --tokenizer html."""

    def __init__(self, place: Place, form: Form) -> None:
        super().__init__(place, form)
        self.fields = dict.fromkeys(("id", "url", "date", "text"))

    def _rows(self, plain: Counted) -> Iterator[Parsed]:
        try:
            from warcio.archiveiterator import ArchiveIterator
            from warcio.exceptions import ArchiveLoadFailed
        except ImportError as error:
            raise FileError(f"{self.name}: WARC and WET need warcio: pip install warcio") from error
        try:
            for record in ArchiveIterator(plain.opened):
                if record.rec_type in ("conversion", "response", "resource"):
                    yield self._row(record)
        except ArchiveLoadFailed as error:
            raise FileError(f"{self.name}: {error}") from error

    def _row(self, record: Any) -> Parsed:
        known = record.rec_headers.get_header
        data: bytes = record.content_stream().read()
        charset = ""
        if record.http_headers is not None:
            kind = record.http_headers.get_header("Content-Type") or ""
            charset = kind.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
        try:
            text = data.decode(charset or "utf-8", "replace")
        except LookupError:
            text = data.decode(errors="replace")
        row = {"id": known("WARC-Record-ID"), "url": known("WARC-Target-URI"), "date": known("WARC-Date"), "text": text}
        return row, text, len(data)
