"""Files of documents, by the end of their names: .parquet, .jsonl, .ndjson, .csv, .tsv, the last four also with .gz."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from neardup.files.chunks import Chunk, FileError, Reader, Writer
from neardup.files.lines import Csv, CsvWriter, JsonLines, JsonLinesWriter

_KINDS: Final = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
_DELIMITERS: Final = {"csv": ",", "tsv": "\t"}


def kind_of(path: Path) -> str:
    """Which kind of file a name stands for."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    kind = _KINDS.get(plain.suffix.lower())
    if kind is None or (kind == "parquet" and path.suffix == ".gz"):
        raise FileError(f"{path}: the name should end with {', '.join(_KINDS)}, all but the first also with .gz")
    return kind


def reader(path: Path, *, for_parquet: bool = False) -> Reader:
    """A file to read; `for_parquet`: types of columns are wanted."""
    kind = kind_of(path)
    try:
        if kind == "parquet":
            _need_arrow()
            from neardup.files.parquet import Parquet

            return Parquet(path)
        return JsonLines(path, infer=for_parquet) if kind == "jsonl" else Csv(path, _DELIMITERS[kind])
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path} cannot be read: {error}") from error


def writer(path: Path, kind_from: Path, source: Reader, more: Mapping[str, str]) -> Writer:
    """A file to write, of the kind that another name stands for; `more`: added columns and their types for Arrow."""
    kind = kind_of(kind_from)
    if kind == "jsonl":
        return JsonLinesWriter(path, kind_from)
    if kind != "parquet":
        return CsvWriter(path, kind_from, _DELIMITERS[kind], [*source.fields, *more])
    _need_arrow()
    import pyarrow as pa

    from neardup.files.parquet import ParquetWriter

    schema = source.schema()
    for name, of in more.items():
        schema = schema.append(pa.field(name, schema.field(of[1:]).type if of.startswith("=") else of))
    return ParquetWriter(path, schema)


def _need_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise FileError("Parquet needs pyarrow: pip install 'neardup[command]'") from error


__all__ = ["Chunk", "FileError", "Reader", "Writer", "kind_of", "reader", "writer"]
