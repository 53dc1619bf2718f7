"""Files to their deduplicated copies: rows into a server, `eliminate`, rows out again.

The files are read twice, some thousand rows at a time, and what is removed comes from the server row by row: memory
does not grow with the files. Texts are in temporary tables, which no other session sees and which go with this one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row

from neardup import cells
from neardup.calls import Value, percent, table_call
from neardup.files import JSON_LINES, Chunk, FileError, Form, Reader, form_of, require_form
from neardup.files.inputs import Inputs
from neardup.outputs import Out, check, is_folder, targets, text_file
from neardup.progress import Bar, parse
from neardup.session import encoded, extension, progress, version

TEXT_COLUMNS: Final = ("body", "content", "text", "document")
"""What a column of texts is called, where it is not named: as the extension has it."""

_DOCS: Final = "neardup_docs"
_OTHERS: Final = "neardup_against"
_TABLE: Final = (
    "CREATE TEMP TABLE {} (id pg_catalog.int8, key pg_catalog.text, rank pg_catalog.text, body pg_catalog.text)"
)
# Numbers are ranked as numbers, everything else as text, byte by byte: dates as ISO 8601 has them are in order so.
_NUMBERS: Final = r"""
    SELECT pg_catalog.bool_and(rank OPERATOR(pg_catalog.~)
        '^[-+]?(\d+[.]?\d*|[.]\d+)([eE][-+]?\d+)?$|^NaN$|^[-+]?Infinity$') FROM pg_temp.neardup_docs
"""
_RANKED: Final = "CREATE TEMP VIEW neardup_ranked AS SELECT id, body, {} AS rank FROM pg_temp.neardup_docs"
_GONE: Final = """
    SELECT g.id, g.other, d.key, g.similarity
    FROM pg_temp.neardup_gone g
    JOIN pg_temp.{} d ON d.id OPERATOR(pg_catalog.=) g.other
    ORDER BY g.id
"""

Removed = tuple[int, int, str | None, float]
"""A row that goes: its number, that of the row it is similar to and its key, how similar they are."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    sources: Sequence[str]
    """Files, folders, patterns, or - for the standard input."""
    kept: str
    """Where the rows that stay go, or all of them where they are to be marked: a file, a folder, or -."""
    against: Sequence[str] = ()
    """Files with whose rows those of the sources are compared, in place of with each other."""
    removed: Path | None = None
    """Where the rows that go, and why, go."""
    report: Path | None = None
    """Where a page about the near duplicates goes."""
    mark: bool = False
    """Whether all rows are written, with columns that say what became of them."""
    standard: Form = JSON_LINES
    """The form of the standard input."""
    to: Form | None = None
    """The form of what is written to a folder or to the standard output."""
    threshold: float | None = 0.8
    text_column: str | None = None
    id_column: str | None = None
    """What stands for a row in `kept_id`; its number where there is none."""
    prefix: str = ""
    """Of the names of added columns."""
    force: bool = False
    """Whether files that are there are written over."""
    keep: str = "longest"
    """Which rows stay: longest, first, min:COLUMN, max:COLUMN."""
    arguments: Mapping[str, Value] = field(default_factory=dict)
    """More arguments of the functions: method, tokenizer, shingle, options."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings of the session: neardup.memory, neardup.threads."""

    @property
    def rank_column(self) -> str | None:
        """The column that decides which rows stay."""
        rule, colon, column = self.keep.partition(":")
        return column if colon and rule in ("min", "max") else None


@dataclass(slots=True)
class Result:
    """What was done."""

    rows: int = 0
    empty: int = 0
    """Rows without a text: they are similar to nothing, and stay."""
    removed: int = 0


Notice = Callable[[psycopg.errors.Diagnostic], None]
"""Takes what the server tells, such as what the answer may lack, as it comes."""


class Dedup:
    """A task whose files have been looked at: that they can be read and written and have the columns."""

    def __init__(self, task: Task, stack: ExitStack) -> None:
        self.task = task
        self.result = Result()
        self._inputs = stack.enter_context(Inputs(task.sources, standard=task.standard, for_arrow=_for_arrow(task)))
        self._against: Inputs | None = None
        if task.against:
            self._against = stack.enter_context(Inputs(task.against, standard=task.standard))
        self._targets = targets(task.kept, self._inputs, task.to)
        outs = [*(path for path, _ in self._targets), task.removed, task.report]
        check([path for path in outs if path is not None], self._all, force=task.force)
        if task.against and (task.report or task.keep != "longest"):
            raise FileError("with --against, rows are not compared with each other: it has no --report and no --keep")
        self._text_columns = {
            reader.path: _text_column(task, reader, of_sources=inputs is self._inputs)
            for inputs in self._all
            for reader in inputs.readers
        }
        if task.id_column is not None:
            for each in self._inputs.having(task.id_column, "--id-column"):
                each.check_id(task.id_column)
        if task.rank_column is not None:
            list(self._inputs.having(task.rank_column, "--keep"))
        for name in self._names(marked=task.mark) if task.mark or task.removed else []:
            if name in self._inputs.fields:
                raise FileError(
                    f"{self._inputs.name} has a column {name!r}: give those that are added other names, as --prefix nd_"
                )

    @property
    def _all(self) -> list[Inputs]:
        return [self._inputs, *([self._against] if self._against else [])]

    def run(self, connection: psycopg.Connection[Any], bar: Callable[[str], Bar], notice: Notice) -> Result:
        """Does it on a connection in autocommit; `bar` makes a bar of progress with a title."""

        def listen(told: psycopg.errors.Diagnostic) -> None:
            if parse(told.message_primary or "") is None:
                notice(told)

        connection.add_notice_handler(listen)
        # A call loads the library, which then knows its settings and refuses wrong values.
        version(connection)
        for name, value in self.task.settings.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
        with closing(bar("loading")) as showing:
            self.result.rows = self._load(connection, self._inputs, _DOCS, showing)
            if self._against is not None:
                self._load(connection, self._against, _OTHERS, showing)
            _end(showing)
        with closing(bar("comparing")) as showing:
            with progress(connection, showing, title="comparing"):
                page = self._compare(connection)
            showing.set_description_str("comparing", refresh=False)
            showing.set_postfix_str(f"{self.result.removed:,} to remove")
            _end(showing)
        with (
            closing(bar("writing")) as showing,
            connection.transaction(),
            connection.cursor("neardup_removed", row_factory=tuple_row) as cursor,
        ):
            cursor.itersize = 10_000
            cursor.execute(_GONE.format(_OTHERS if self._against else _DOCS).encode())
            self._write(cursor, page, showing)
            _end(showing)
        connection.remove_notice_handler(listen)
        return self.result

    def _load(self, connection: psycopg.Connection[Any], inputs: Inputs, table: str, bar: Bar) -> int:
        """Copies the files into a table, and returns how many rows they have."""
        ours = inputs is self._inputs
        key = self.task.id_column if ours or self.task.id_column in inputs.fields else None
        rank = self.task.rank_column if ours else None
        connection.execute(_TABLE.format(table).encode())
        number = 0
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY pg_temp.{table} (id, key, rank, body) FROM STDIN".encode()) as copy,
        ):
            copy.set_types(["int8", "text", "text", "text"])
            for reader in inputs.readers:
                inputs.starts.append(number)
                text = self._text_columns[reader.path]
                only = list(dict.fromkeys(name for name in (text, key, rank) if name is not None))
                for chunk in reader.chunks(only):
                    before = number - inputs.starts[-1]
                    keys = cells.keys(reader, key, chunk, before)
                    ranks = cells.ranks(reader, rank, chunk, before)
                    bodies = cells.bodies(reader, text or "", chunk, before)
                    for of, by, body in zip(keys, ranks, bodies, strict=True):
                        number += 1
                        self.result.empty += ours and body is None
                        copy.write_row((number, of, by, body))
                    _show(bar, inputs, number)
        bar.set_description_str("loading: index")
        connection.execute(f"ALTER TABLE pg_temp.{table} ADD PRIMARY KEY (id)".encode())
        connection.execute(f"ANALYZE pg_temp.{table} (id)".encode())
        inputs.begin()
        return number

    def _compare(self, connection: psycopg.Connection[Any]) -> str | None:
        """Makes the table of the rows that go; the page about them, if one is wanted."""
        given: dict[str, Value] = {"threshold": self.task.threshold, "id_column": "id", "text_column": "body"}
        given |= self.task.arguments
        made = "CREATE TEMP TABLE neardup_gone (id, other, similarity) AS "
        if self._against is not None:
            sides: dict[str, Value] = {"left": f"pg_temp.{_OTHERS}", "right": f"pg_temp.{_DOCS}"}
            call, values = table_call(extension(connection), "near_duplicates_between", {**sides, **given}, percent)
            # Of the rows that it is similar to, the most similar one, and of these the first one.
            made += f"SELECT DISTINCT ON (right_id) right_id, left_id, similarity FROM ({call}) found"
            made += " ORDER BY right_id, similarity DESC, left_id"
        else:
            docs, keep = f"pg_temp.{_DOCS}", self.task.keep
            if self.task.rank_column is not None:
                row = connection.execute(_NUMBERS).fetchone()
                rank = "rank::pg_catalog.numeric" if row == (True,) else 'rank COLLATE pg_catalog."C"'
                connection.execute(_RANKED.format(rank).encode())
                docs, keep = "pg_temp.neardup_ranked", f"{keep.partition(':')[0]}:rank"
            call, values = table_call(
                extension(connection), "eliminate", {"docs": docs, **given, "keep": keep}, percent
            )
            made += call
        self.result.removed = connection.execute(encoded(connection, made), values).rowcount
        if self.task.report is None:
            return None
        shown = {"docs": f"pg_temp.{_DOCS}", **given}
        call, values = table_call(extension(connection), "duplicates_report", shown, percent)
        with connection.cursor(row_factory=tuple_row) as cursor:
            row = cursor.execute(encoded(connection, call), values).fetchone()
        assert row is not None
        page: str = row[0]
        return page

    def _names(self, *, marked: bool) -> list[str]:
        by_number = self.task.id_column is None
        of = "against" if self._against else "kept_id"
        names = (["row"] if by_number else []) + (["kept"] if marked else []) + [of]
        if len(self._inputs.files) > 1 and by_number:
            names = ["file", *names]
        other = self._against or self._inputs
        if len(other.files) > 1 and (by_number or self._against):
            names.append("against_file" if self._against else "kept_file")
        return [self.task.prefix + name for name in (*names, "similarity")]

    def _types(self, *, marked: bool) -> dict[str, str]:
        key = self.task.id_column
        of = {"row": "int64", "kept": "bool", "similarity": "double", "file": "string"}
        of |= {"kept_file": "string", "against_file": "string"}
        of |= {"kept_id": "int64" if key is None else f"={key}", "against": "string" if self._against_key else "int64"}
        names = self._names(marked=marked)
        return {name: of[name.removeprefix(self.task.prefix)] for name in names}

    @property
    def _against_key(self) -> bool:
        return self._against is not None and self.task.id_column in self._against.fields

    def _write(self, removed: Iterator[Removed], page: str | None, bar: Bar) -> None:
        inputs, task = self._inputs, self.task
        with ExitStack() as stack:
            if page is not None and task.report is not None:
                stack.enter_context(text_file(task.report, page))
            marks = self._types(marked=True) if task.mark else {}
            single = len(self._targets) == 1 and not is_folder(task.kept)
            kept = stack.enter_context(Out(*self._targets[0], inputs, marks)) if single else None
            gone: Out | None = None
            if task.removed is not None:
                more = self._types(marked=False)
                gone = stack.enter_context(Out(task.removed, require_form(task.removed), inputs, more))
            verdicts, number = _Verdicts(removed), 0
            for at, reader in enumerate(inputs.readers):
                out = kept or stack.enter_context(Out(*self._targets[at], reader, marks))
                for chunk in reader.chunks():
                    of = verdicts.of(number, len(chunk))
                    self._write_chunk(chunk, number, of, out, gone)
                    number += len(chunk)
                    _show(bar, inputs, number)
                following = inputs.starts[at + 1] if at + 1 < len(inputs.starts) else self.result.rows
                if number != following:
                    raise FileError(f"{reader.name} changed while it was read")
                if kept is None:
                    out.finish()
            # All are whole before the first one gets its name.
            for each in (kept, gone):
                if each is not None:
                    each.finish()

    def _write_chunk(
        self, chunk: Chunk, before: int, verdicts: list[Removed | None], out: Out, gone: Out | None
    ) -> None:
        if self.task.mark:
            out.write(chunk.with_columns(self._added(before, verdicts, marked=True)))
        else:
            out.write(chunk.where([verdict is None for verdict in verdicts]))
        if gone is not None:
            wanted = [verdict is not None for verdict in verdicts]
            gone.write(chunk.with_columns(self._added(before, verdicts, marked=False)).where(wanted))

    def _added(self, before: int, verdicts: list[Removed | None], *, marked: bool) -> dict[str, list[Any]]:
        other = self._against or self._inputs
        numbers = range(before + 1, before + len(verdicts) + 1)
        makers: dict[str, Callable[[], list[Any]]] = {
            "file": lambda: [self._inputs.file_of(number) for number in numbers],
            "row": lambda: list(numbers),
            "kept": lambda: [verdict is None for verdict in verdicts],
            "kept_id": lambda: [_other(verdict) for verdict in verdicts],
            "against": lambda: [_as_text(_other(verdict), text=self._against_key) for verdict in verdicts],
            "kept_file": lambda: [verdict and other.file_of(verdict[1]) for verdict in verdicts],
            "against_file": lambda: [verdict and other.file_of(verdict[1]) for verdict in verdicts],
            "similarity": lambda: [verdict and verdict[3] for verdict in verdicts],
        }
        return {name: makers[name.removeprefix(self.task.prefix)]() for name in self._names(marked=marked)}


class _Verdicts:
    """The rows that go, in their order, beside the rows of files."""

    def __init__(self, removed: Iterator[Removed]) -> None:
        self._removed = removed
        self._following = next(removed, None)

    def of(self, before: int, rows: int) -> list[Removed | None]:
        """What became of so many rows behind another one."""
        verdicts: list[Removed | None] = []
        for number in range(before + 1, before + rows + 1):
            is_it = self._following is not None and self._following[0] == number
            verdicts.append(self._following if is_it else None)
            if is_it:
                self._following = next(self._removed, None)
        return verdicts


def _other(verdict: Removed | None) -> Any:
    return verdict and (json.loads(verdict[2]) if verdict[2] else verdict[1])


def _as_text(value: Any, *, text: bool) -> Any:
    return str(value) if text and value is not None else value


def _for_arrow(task: Task) -> bool:
    """Whether what is written needs types of columns."""
    names = [Path(name) for name in (task.kept, task.removed) if name is not None]
    return any(form is not None and form.is_arrow for form in (task.to, *map(form_of, names)))


def _text_column(task: Task, reader: Reader, *, of_sources: bool) -> str | None:
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


def _end(bar: Bar) -> None:
    bar.n = 100
    bar.refresh()


def _show(bar: Bar, inputs: Inputs, rows: int) -> None:
    # What is read is not yet stored: the end is told by who knows it.
    bar.n = min(round(100 * inputs.done, 1), 99)
    bar.set_postfix_str(f"{rows:,} rows")
