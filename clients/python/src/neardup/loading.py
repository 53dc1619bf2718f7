"""Files into a table of the server: read once, some thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from neardup import cells
from neardup.files import Bad, Chunk, FileError, Reader
from neardup.files.inputs import Inputs
from neardup.progress import Bar
from neardup.store import Loaded, Store
from neardup.task import Task
from neardup.texts import Texts

_COLUMNS: Final = (
    "(id pg_catalog.int8, key pg_catalog.text, rank pg_catalog.text, site pg_catalog.text, source pg_catalog.text,"
    " body pg_catalog.text)"
)
# Not of longer exponents, which no number of the server has.
_IS_NUMBER: Final = r"""
    (rank OPERATOR(pg_catalog.~) '^[-+]?(\d+[.]?\d*|[.]\d+)([eE][-+]?\d\d?\d?\d?)?$|^[-+]?Infinity$')
"""
_RANKS: Final = f"""
    SELECT pg_catalog.count(*) FILTER (WHERE {_IS_NUMBER}), pg_catalog.count(*) FILTER (WHERE NOT {_IS_NUMBER})
    FROM {{}}
"""
_ODD: Final = f"SELECT id, rank FROM {{}} WHERE NOT {_IS_NUMBER} ORDER BY id LIMIT 1"
# Numbers are better than texts, whether the greatest or the least is wanted.
_MIXED: Final = f"""
    pg_catalog.dense_rank() OVER (ORDER BY
        CASE WHEN {_IS_NUMBER} THEN rank::pg_catalog.numeric END {{}}, rank COLLATE pg_catalog."C")
"""
_PART: Final = 64 << 20
"""Characters of texts after which those that are loaded are committed."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that are loaded; None where there is none."""

    texts: Mapping[Reader, Texts]
    pieces: int = 1
    """The most pieces of the text of a row, each of which is a document; 1 where they are joined."""
    key: str | None = None
    rank: str | None = None
    site: str | None = None
    source: str | None = None


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
        all_files.bad += loaded.bad
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
    only = [*wanted.texts[reader].columns, wanted.key, wanted.rank, wanted.site, wanted.source]
    if reader.bad is not None:

        def count(_: Bad) -> None:
            now.bad += 1

        reader.bad = count
    chunks = _behind(reader.chunks(list(dict.fromkeys(name for name in only if name is not None))), before.rows)
    while now.seen is None:
        with store.step():
            with (
                store.connection.cursor() as cursor,
                cursor.copy(f"COPY {store.name(table)} (id, key, rank, site, source, body) FROM STDIN".encode()) as copy,
            ):
                copy.set_types(["int8", "text", "text", "text", "text", "text"])
                ends = now.characters + _PART
                while now.characters < ends:
                    if (chunk := next(chunks, None)) is None:
                        now.seen = reader.seen()
                        break
                    for *columns, texts in _rows(reader, wanted, chunk, now.rows):
                        first = (start + now.rows) * wanted.pieces + 1
                        now.rows += 1
                        now.empty += not any(text and not text.isspace() for text in texts)
                        if len(texts) > wanted.pieces:
                            many = f"row {now.rows} has {len(texts)} texts, more than {wanted.pieces}"
                            raise FileError(f"{reader.name}, {many}")
                        for piece, text in enumerate(texts):
                            now.characters += len(text or "")
                            copy.write_row((first + piece, *columns, text))
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


def _rows(reader: Reader, wanted: Wanted, chunk: Chunk, before: int) -> Iterator[tuple[Any, ...]]:
    yield from zip(
        cells.keys(reader, wanted.key, chunk, before),
        cells.ranks(reader, wanted.rank, chunk, before),
        cells.groups(reader, wanted.site, chunk, before, "--within"),
        cells.groups(reader, wanted.source, chunk, before, "--across"),
        cells.bodies(reader, wanted.texts[reader], chunk, before, joined=wanted.pieces == 1),
        strict=True,
    )


def ranked(store: Store, task: Task, docs: str) -> tuple[str, str]:
    """The relation with the rows of a table and what ranks them, and the rule for it."""
    if task.rank_column is None:
        return store.name(docs), task.keep
    rule = task.keep.partition(":")[0]
    numbers, others = store.row(_RANKS.format(store.name(docs)))
    # Texts are compared byte by byte: dates as ISO 8601 has them are in order so.
    rank = "rank::pg_catalog.numeric" if not others else 'rank COLLATE pg_catalog."C"'
    if numbers and others:
        # Where there is no value, a row stays without a rank.
        rank = f"CASE WHEN rank IS NOT NULL THEN {_MIXED.format('NULLS FIRST' if rule == 'max' else 'NULLS LAST')} END"
    # That of an empty table may have another type.
    store.execute("DROP VIEW IF EXISTS pg_temp.neardup_ranked")
    view = f"SELECT id, site, source, body, {rank} AS rank FROM {store.name(docs)}"
    store.execute(f"CREATE TEMP VIEW neardup_ranked AS {view}")
    return "pg_temp.neardup_ranked", f"{rule}:rank"


def odd_rank(store: Store, docs: str) -> tuple[int, int, str] | None:
    """Of ranks that are numbers and texts: how many are texts, and the first one with its number."""
    numbers, others = store.row(_RANKS.format(store.name(docs)))
    return (others, *store.row(_ODD.format(store.name(docs)))) if numbers and others else None


def show(bar: Bar, inputs: Inputs, rows: int) -> None:
    """How many rows are read."""
    # What is read is not yet stored: the end is told by who knows it.
    bar.n = min(round(100 * inputs.done, 1), 99)
    bar.set_postfix_str(f"{rows:,} rows")
