"""Files into a table of the server: read once, some thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup import cells
from neardup.files import Chunk, FileError, Reader
from neardup.files.inputs import Inputs
from neardup.progress import Bar
from neardup.store import Loaded, Store
from neardup.task import Task

TEXT_COLUMNS: Final = ("body", "content", "text", "document")
"""What a column of texts is called, where it is not named: as the extension has it."""

_COLUMNS: Final = (
    "(id pg_catalog.int8, key pg_catalog.text, rank pg_catalog.text, site pg_catalog.text, body pg_catalog.text)"
)
# Numbers are ranked as numbers, everything else as text, byte by byte: dates as ISO 8601 has them are in order so.
_NUMBERS: Final = r"""
    SELECT pg_catalog.bool_and(rank OPERATOR(pg_catalog.~)
        '^[-+]?(\d+[.]?\d*|[.]\d+)([eE][-+]?\d+)?$|^NaN$|^[-+]?Infinity$') FROM {}
"""
_PART: Final = 64 << 20
"""Characters of texts after which those that are loaded are committed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that are loaded; None where there is none."""

    texts: Mapping[Path, str | None]
    """By file."""
    key: str | None = None
    rank: str | None = None
    site: str | None = None


def create(store: Store, table: str) -> None:
    """Makes the table, unless it is there."""
    store.execute(f"CREATE {store.kind}TABLE IF NOT EXISTS {store.name(table)} {_COLUMNS}")


def load(store: Store, table: str, inputs: Inputs, wanted: Wanted, bar: Bar) -> Loaded:
    """Copies the files into a table, and returns how many rows they have."""
    all_files = Loaded()
    for at, reader in enumerate(inputs.readers):
        inputs.starts.append(all_files.rows)
        loaded = store.loaded(table, at)
        if loaded.seen is None:
            loaded = _load_file(store, table, inputs, at, wanted, loaded, bar)
        else:
            reader.recall(loaded.seen)
            reader.done = 1.0
        all_files.rows += loaded.rows
        all_files.empty += loaded.empty
        all_files.characters += loaded.characters
        show(bar, inputs, all_files.rows)
    bar.set_description_str("loading: index")

    def index() -> str:
        store.execute(f"ALTER TABLE {store.name(table)} ADD PRIMARY KEY (id)")
        store.execute(f"ANALYZE {store.name(table)} (id)")
        return ""

    store.once(f"index {table}", index)
    inputs.begin()
    return all_files


def _load_file(store: Store, table: str, inputs: Inputs, at: int, wanted: Wanted, before: Loaded, bar: Bar) -> Loaded:
    """Copies a file, behind the rows of it that are there already."""
    reader, start = inputs.readers[at], inputs.starts[at]
    now = Loaded(before.rows, before.empty, before.characters)
    only = [wanted.texts[reader.path], wanted.key, wanted.rank, wanted.site]
    chunks = _behind(reader.chunks(list(dict.fromkeys(name for name in only if name is not None))), before.rows)
    while now.seen is None:
        with store.step():
            with (
                store.connection.cursor() as cursor,
                cursor.copy(f"COPY {store.name(table)} (id, key, rank, site, body) FROM STDIN".encode()) as copy,
            ):
                copy.set_types(["int8", "text", "text", "text", "text"])
                ends = now.characters + _PART
                while now.characters < ends:
                    if (chunk := next(chunks, None)) is None:
                        now.seen = reader.seen()
                        break
                    for row in _rows(reader, wanted, chunk, now.rows):
                        now.rows += 1
                        now.empty += row[-1] is None
                        now.characters += len(row[-1] or "")
                        copy.write_row((start + now.rows, *row))
                    show(bar, inputs, start + now.rows)
            store.tell_loaded(table, at, now)
    return now


def _behind(chunks: Iterator[Chunk], rows: int) -> Iterator[Chunk]:
    """The chunks without the first rows."""
    for chunk in chunks:
        if rows >= len(chunk):
            rows -= len(chunk)
        elif rows > 0:
            chunk, rows = chunk.where([at >= rows for at in range(len(chunk))]), 0
            yield chunk
        else:
            yield chunk


def _rows(reader: Reader, wanted: Wanted, chunk: Chunk, before: int) -> Iterator[tuple[str | None, ...]]:
    yield from zip(
        cells.keys(reader, wanted.key, chunk, before),
        cells.ranks(reader, wanted.rank, chunk, before),
        cells.sites(reader, wanted.site, chunk, before),
        cells.bodies(reader, wanted.texts[reader.path] or "", chunk, before),
        strict=True,
    )


def ranked(store: Store, task: Task, docs: str) -> tuple[str, str]:
    """The relation with the rows of a table and what ranks them, and the rule for it."""
    if task.rank_column is None:
        return store.name(docs), task.keep
    numbers = store.row(_NUMBERS.format(store.name(docs))) == (True,)
    rank = "rank::pg_catalog.numeric" if numbers else 'rank COLLATE pg_catalog."C"'
    # That of an empty table may have another type.
    store.execute("DROP VIEW IF EXISTS pg_temp.neardup_ranked")
    view = f"SELECT id, site, body, {rank} AS rank FROM {store.name(docs)}"
    store.execute(f"CREATE TEMP VIEW neardup_ranked AS {view}")
    return "pg_temp.neardup_ranked", f"{task.keep.partition(':')[0]}:rank"


def text_column(task: Task, reader: Reader, *, of_sources: bool) -> str | None:
    """The column of a file that holds the texts; None of a file without any row."""
    has = ", ".join(reader.fields) or "none"
    name = task.text_column
    # The files of --against may call theirs otherwise.
    if name is None or (name not in reader.fields and not of_sources):
        found = [column for column in reader.fields if column.lower() in TEXT_COLUMNS]
        if len(found) != 1 and reader.fields:
            why = "more than one" if found else "none"
            raise FileError(
                f"{reader.name}: which column has the texts? Of {', '.join(TEXT_COLUMNS)} it has {why}."
                f" It has: {has}. Name it: --text-column NAME"
            )
        name = found[0] if found else None
    elif name not in reader.fields and reader.fields:
        raise FileError(f"{reader.name} has no column {name!r} (--text-column); it has: {has}")
    if name in reader.fields:
        reader.check_text(name)
        return name
    return None


def show(bar: Bar, inputs: Inputs, rows: int) -> None:
    """How many rows are read."""
    # What is read is not yet stored: the end is told by who knows it.
    bar.n = min(round(100 * inputs.done, 1), 99)
    bar.set_postfix_str(f"{rows:,} rows")


def end(bar: Bar, said: Any = None) -> None:
    """A phase is done."""
    if said is not None:
        bar.set_postfix_str(said)
    bar.n = 100
    bar.refresh()
