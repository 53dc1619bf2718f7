"""A file to its deduplicated copy: rows into a server, `eliminate`, rows out again.

The file is read twice, some thousand rows at a time, and what is removed comes from the server row by row: memory does
not grow with the file. Texts are in a temporary table, which no other session sees and which goes with this one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import psycopg
from psycopg.rows import tuple_row

from neardup.calls import Value, percent, table_call
from neardup.files import Chunk, FileError, Reader, kind_of, reader, writer
from neardup.progress import Bar, parse
from neardup.session import encoded, extension, progress, version

TEXT_COLUMNS: Final = ("body", "content", "text", "document")
"""What a column of texts is called, where it is not named: as the extension has it."""

_DOCS: Final = "CREATE TEMP TABLE neardup_docs (id pg_catalog.int8, key pg_catalog.text, body pg_catalog.text)"
_COPY: Final = "COPY pg_temp.neardup_docs (id, key, body) FROM STDIN"
_INDEX: Final = "ALTER TABLE pg_temp.neardup_docs ADD PRIMARY KEY (id)"
_GONE: Final = """
    SELECT g.id, g.kept_id, d.key, g.similarity
    FROM pg_temp.neardup_gone g
    JOIN pg_temp.neardup_docs d ON d.id OPERATOR(pg_catalog.=) g.kept_id
    ORDER BY g.id
"""

Removed = tuple[int, int, str | None, float]
"""A row that goes: its number, that of the row that stays and its key, how similar they are."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    source: Path
    kept: Path
    """Where the rows that stay go, or all of them where they are to be marked."""
    removed: Path | None = None
    """Where the rows that go, and why, go."""
    mark: bool = False
    """Whether all rows are written, with columns that say what became of them."""
    threshold: float | None = 0.8
    text_column: str | None = None
    id_column: str | None = None
    """What stands for a row in `kept_id`; its number in the file where there is none."""
    prefix: str = ""
    """Of the names of added columns."""
    force: bool = False
    """Whether files that are there are written over."""
    arguments: Mapping[str, Value] = field(default_factory=dict)
    """More arguments of `eliminate`: method, tokenizer, shingle, keep, options."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the session: neardup.memory, neardup.threads."""


@dataclass(slots=True)
class Result:
    """What was done."""

    rows: int = 0
    empty: int = 0
    """Rows without a text: they are similar to nothing, and stay."""
    removed: int = 0


Notice = Callable[[psycopg.errors.Diagnostic], None]
"""Takes what the server tells, such as what the answer may lack, as it comes."""


def dedup(task: Task, connection: psycopg.Connection[Any], bar: Callable[[str], Bar], notice: Notice) -> Result:
    """Does it on a connection in autocommit; `bar` makes a bar of progress with a title."""

    def listen(told: psycopg.errors.Diagnostic) -> None:
        if parse(told.message_primary or "") is None:
            notice(told)

    source = check(task)
    result = Result()
    text_column = _text_column(task, source)
    connection.add_notice_handler(listen)
    with closing(bar("loading")) as showing:
        _load(task, source, text_column, connection, result, showing)
        showing.n = 100
        showing.refresh()
    with closing(bar("comparing")) as showing:
        with progress(connection, showing, title="comparing"):
            _compare(task, connection, result)
        showing.n = 100
        showing.set_description_str("comparing", refresh=False)
        showing.set_postfix_str(f"{result.removed:,} to remove")
    with (
        closing(bar("writing")) as showing,
        connection.transaction(),
        connection.cursor("neardup_removed", row_factory=tuple_row) as cursor,
    ):
        cursor.itersize = 10_000
        cursor.execute(_GONE)
        _write(task, source, cursor, result, showing)
        showing.n = 100
        showing.refresh()
    connection.remove_notice_handler(listen)
    return result


def check(task: Task) -> Reader:
    """Whether the files can be read and written and have the columns; before a server is started."""
    outs = [path for path in (task.kept, task.removed) if path is not None]
    for path in outs:
        kind_of(path)
        if path.exists() and not task.force:
            raise FileError(f"{path} is there already: --force writes over it")
        if path.resolve() == task.source.resolve():
            raise FileError(f"{path} is the file that is read")
    if len({path.resolve() for path in outs}) < len(outs):
        raise FileError(f"{task.kept} cannot take both what is kept and what is removed")
    source = reader(task.source, for_parquet=any(kind_of(path) == "parquet" for path in outs))
    source.check_text(_text_column(task, source))
    if task.id_column is not None:
        _require(source, task.id_column, "--id-column")
        source.check_id(task.id_column)
    for name in _names(task, marked=task.mark) if task.mark or task.removed else []:
        if name in source.fields:
            raise FileError(
                f"{task.source} has a column {name!r}: give those that are added other names, as --prefix nd_"
            )
    return source


def _text_column(task: Task, source: Reader) -> str:
    if task.text_column is not None:
        _require(source, task.text_column, "--text-column")
        return task.text_column
    found = [name for name in source.fields if name.lower() in TEXT_COLUMNS]
    if len(found) != 1:
        why = "more than one" if found else "none"
        raise FileError(
            f"{source.path}: which column has the texts? Of {', '.join(TEXT_COLUMNS)} it has {why}."
            f" It has: {_columns(source)}. Name it: --text-column NAME"
        )
    return found[0]


def _require(source: Reader, name: str, option: str) -> None:
    if name not in source.fields:
        raise FileError(f"{source.path} has no column {name!r} ({option}); it has: {_columns(source)}")


def _columns(source: Reader) -> str:
    return ", ".join(source.fields) or "none"


def _show(bar: Bar, source: Reader, rows: int) -> None:
    # What is read is not yet stored: the end is told by who knows it.
    bar.n = min(round(100 * source.done, 1), 99)
    bar.set_postfix_str(f"{rows:,} rows")


def _load(
    task: Task, source: Reader, text_column: str, connection: psycopg.Connection[Any], result: Result, bar: Bar
) -> None:
    # A call loads the library, which then knows its settings and refuses wrong values.
    version(connection)
    for name, value in task.settings.items():
        connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
    connection.execute(_DOCS)
    only = [text_column, *([task.id_column] if task.id_column else [])]
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.set_types(["int8", "text", "text"])
        for chunk in source.chunks(only):
            keys = _keys(task, source, chunk, result.rows)
            for key, text in zip(keys, chunk.column(text_column), strict=True):
                result.rows += 1
                body = _body(source, result.rows, text_column, text)
                result.empty += body is None
                copy.write_row((result.rows, key, body))
            _show(bar, source, result.rows)
    bar.set_description_str("loading: index")
    connection.execute(_INDEX)
    connection.execute("ANALYZE pg_temp.neardup_docs (id)")


def _keys(task: Task, source: Reader, chunk: Chunk, before: int) -> Iterator[str | None]:
    if task.id_column is None:
        yield from (None for _ in range(len(chunk)))
        return
    for number, value in enumerate(chunk.column(task.id_column), before + 1):
        if value is None or value == "":
            raise FileError(f"{source.path}, row {number}: it has no {task.id_column!r}, which --id-column names")
        yield json.dumps(value)


def _body(source: Reader, number: int, name: str, text: object) -> str | None:
    if text is None or text == "":
        return None
    if not isinstance(text, str):
        raise FileError(f"{source.path}, row {number}: {name!r} is {type(text).__name__}, where a string should be")
    # PostgreSQL has neither NUL nor halves of characters in texts; to what is compared they are spaces. What is written
    # comes from the file.
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")


def _compare(task: Task, connection: psycopg.Connection[Any], result: Result) -> None:
    given: dict[str, Value] = {"docs": "pg_temp.neardup_docs", "threshold": task.threshold}
    given |= {"id_column": "id", "text_column": "body", **task.arguments}
    sql, values = table_call(extension(connection), "eliminate", given, percent)
    made = connection.execute(encoded(connection, f"CREATE TEMP TABLE neardup_gone AS {sql}"), values)
    result.removed = made.rowcount


def _names(task: Task, *, marked: bool) -> list[str]:
    names = (["row"] if task.id_column is None else []) + (["kept"] if marked else [])
    return [task.prefix + name for name in (*names, "kept_id", "similarity")]


def _types(task: Task, *, marked: bool) -> dict[str, str]:
    of = (["int64"] if task.id_column is None else []) + (["bool"] if marked else [])
    ids = "int64" if task.id_column is None else f"={task.id_column}"
    return dict(zip(_names(task, marked=marked), [*of, ids, "double"], strict=True))


def _write(task: Task, source: Reader, removed: Iterator[Removed], result: Result, bar: Bar) -> None:
    with ExitStack() as stack:
        kept = stack.enter_context(_Out(task.kept, source, _types(task, marked=True) if task.mark else {}))
        gone: _Out | None = None
        if task.removed is not None:
            gone = stack.enter_context(_Out(task.removed, source, _types(task, marked=False)))
        following = next(removed, None)
        before = 0
        for chunk in source.chunks():
            verdicts: list[Removed | None] = []
            for number in range(before + 1, before + len(chunk) + 1):
                is_it = following is not None and following[0] == number
                verdicts.append(following if is_it else None)
                if is_it:
                    following = next(removed, None)
            if task.mark:
                kept.write(chunk.with_columns(_added(task, before, verdicts, marked=True)))
            else:
                kept.write(chunk.where([verdict is None for verdict in verdicts]))
            if gone is not None:
                wanted = [verdict is not None for verdict in verdicts]
                gone.write(chunk.with_columns(_added(task, before, verdicts, marked=False)).where(wanted))
            before += len(chunk)
            _show(bar, source, before)
        if following is not None or before != result.rows:
            raise FileError(f"{source.path} changed while it was read")
        # All are whole before the first one gets its name.
        for out in (kept, gone):
            if out is not None:
                out.finish()


def _added(task: Task, before: int, verdicts: list[Removed | None], *, marked: bool) -> dict[str, list[Any]]:
    columns: list[list[Any]] = []
    if task.id_column is None:
        columns.append(list(range(before + 1, before + len(verdicts) + 1)))
    if marked:
        columns.append([verdict is None for verdict in verdicts])
    columns.append([verdict and (json.loads(verdict[2]) if verdict[2] else verdict[1]) for verdict in verdicts])
    columns.append([verdict and verdict[3] for verdict in verdicts])
    return dict(zip(_names(task, marked=marked), columns, strict=True))


class _Out(AbstractContextManager["_Out"]):
    """A file that has its name once it is whole; where it does not become so, nothing stays of it."""

    def __init__(self, path: Path, source: Reader, more: Mapping[str, str]) -> None:
        self._path = path
        self._part = path.with_name(path.name + f".{os.getpid()}.part")
        try:
            self._out = writer(self._part, path, source, more)
        except BaseException as error:
            with suppress(OSError):
                self._part.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise self._cannot(error) from error
            raise

    def _cannot(self, error: OSError) -> FileError:
        # Arrow's words are a paragraph.
        return FileError(f"{self._path} cannot be written: {os.strerror(error.errno) if error.errno else error}")

    def write(self, chunk: Chunk) -> None:
        """Appends rows."""
        try:
            self._out.write(chunk)
        except OSError as error:
            raise self._cannot(error) from error

    def finish(self) -> None:
        """Ends the file, all of which is written."""
        try:
            self._out.close()
        except OSError as error:
            raise self._cannot(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._part.replace(self._path)
        except OSError as error:
            raise self._cannot(error) from error
        finally:
            # What could not be written cannot be written now, either.
            with suppress(Exception):
                self._out.close()
            with suppress(OSError):
                self._part.unlink(missing_ok=True)
