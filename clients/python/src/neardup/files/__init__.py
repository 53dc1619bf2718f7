"""Files of documents, by the end of their names: Parquet, Arrow; JSON Lines, CSV and TSV, these also compressed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from neardup.files.chunks import Chunk, Columns, FileError, Reader, Writer
from neardup.files.forms import JSON_LINES, Form, form_of, require_form
from neardup.files.lines import Csv, CsvWriter, JsonLines, JsonLinesWriter


def reader(path: Path, name: str | None = None, *, for_arrow: bool = False) -> Reader:
    """A file to read, which messages call `name`; `for_arrow`: types of columns are wanted."""
    form = require_form(path)
    name = name or str(path)
    try:
        if form.is_arrow:
            _need_arrow()
            from neardup.files.arrow import Arrow, Parquet

            return Parquet(path, name) if form.kind == "parquet" else Arrow(path, name)
        return JsonLines(path, form, name, infer=for_arrow) if form.kind == "jsonl" else Csv(path, form, name)
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{name} cannot be read: {error}") from error


def writer(path: Path, form: Form, source: Columns, more: Mapping[str, str]) -> Writer:
    """A file to write with the columns of a source; `more`: added columns and their types for Arrow."""
    if form.kind == "jsonl":
        return JsonLinesWriter(path, form)
    if not form.is_arrow:
        return CsvWriter(path, form, [*source.fields, *more])
    _need_arrow()
    import pyarrow as pa

    from neardup.files.arrow import ArrowWriter, ParquetWriter

    schema = source.schema()
    for name, of in more.items():
        schema = schema.append(pa.field(name, schema.field(of[1:]).type if of.startswith("=") else of))
    return ParquetWriter(path, schema) if form.kind == "parquet" else ArrowWriter(path, schema)


def _need_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError("Parquet and Arrow need pyarrow: pip install 'neardup[command]'") from error


__all__ = [
    "JSON_LINES",
    "Chunk",
    "Columns",
    "FileError",
    "Form",
    "Reader",
    "Writer",
    "form_of",
    "reader",
    "require_form",
    "writer",
]
