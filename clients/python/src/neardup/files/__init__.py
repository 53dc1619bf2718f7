"""Files of documents, by the end of their names: Parquet, Arrow; JSON, CSV, TSV, texts, archives, also compressed."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, NamedTuple

from neardup.files.chunks import Bad, Chunk, Columns, FileError, Reader, Writer
from neardup.files.forms import JSON_LINES, Form, form_of, require_form, require_written
from neardup.files.lines import JsonLines, JsonLinesWriter
from neardup.files.places import Place
from neardup.files.tables import Csv, CsvWriter


class Reading(NamedTuple):
    """How files are read where their names do not say all of it."""

    for_arrow: bool = False
    """Whether types of columns are wanted."""
    by_line: bool = False
    """Whether each line of a text is a document."""
    quoted: bool = False
    """Whether values of TSV are quoted as those of CSV."""


def reader(place: Place, how: Reading) -> Reader:
    """A file to read."""
    form = require_form(place.path)
    try:
        if form.is_arrow:
            _need_arrow()
            from neardup.files.arrow import Arrow, Parquet

            return Parquet(place) if form.kind == "parquet" else Arrow(place)
        if form.kind in ("txt", "warc"):
            from neardup.files.documents import Text, Warc

            return Text(place, form, by_line=how.by_line) if form.kind == "txt" else Warc(place, form)
        if form.kind == "jsonl":
            return JsonLines(place, form, infer=how.for_arrow)
        return Csv(place, form, quoted=how.quoted)
    except OSError as error:
        raise FileError(f"{place.name} cannot be read: {error}") from error


def writer(file: IO[bytes], form: Form, source: Columns, more: Mapping[str, str]) -> Writer:
    """A file to write with the columns of a source; `more`: added columns and their types for Arrow."""
    if form.kind == "jsonl":
        return JsonLinesWriter(file, form)
    if not form.is_arrow:
        return CsvWriter(file, form, [*source.fields, *more], quoted=source.is_quoted)
    _need_arrow()
    import pyarrow as pa

    from neardup.files.arrow import ArrowWriter, ParquetWriter
    from neardup.files.shapes import like

    schema = source.schema()
    try:
        for name, of in more.items():
            schema = schema.append(like(schema, of[1:], name) if of.startswith("=") else pa.field(name, of))
        return ParquetWriter(file, schema) if form.kind == "parquet" else ArrowWriter(file, schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise FileError(f"its columns cannot be written as .{form.kind}: {error}. Write .jsonl instead") from error


def check_writer(form: Form, source: Columns, more: Mapping[str, str]) -> None:
    """Raises FileError for columns that a form cannot have."""
    if form.is_arrow:
        writer(io.BytesIO(), form, source, more).close()


def _need_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError("Parquet and Arrow need pyarrow: pip install 'neardup[command]'") from error


__all__ = [
    "JSON_LINES",
    "Bad",
    "Chunk",
    "Columns",
    "FileError",
    "Form",
    "Place",
    "Reader",
    "Reading",
    "Writer",
    "check_writer",
    "form_of",
    "reader",
    "require_form",
    "require_written",
    "writer",
]
