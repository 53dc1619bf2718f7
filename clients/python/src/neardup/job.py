"""Files in, rows into a server, what it finds about them, and rows out again: what all commands for files do.

The files are read twice, some thousand rows at a time, and what is found comes from the server row by row: memory does
not grow with the files.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.rows import tuple_row

from neardup.files import Bad, Chunk, FileError, Form, Reader, Reading, check_writer, form_of, require_written
from neardup.files.chunks import RowsChunk
from neardup.files.inputs import STANDARD, Inputs
from neardup.listing import Listed
from neardup.loading import Wanted, create, load, odd_rank, show
from neardup.outputs import Out, Part, check, is_folder, targets
from neardup.progress import Bar, end, parse
from neardup.session import progress, version
from neardup.store import Store
from neardup.task import Notice, Result, Task, Told
from neardup.texts import texts_of
from neardup.work import Work

DOCS: Final = "neardup_docs"
OTHERS: Final = "neardup_against"
"""The tables of the rows of the sources, and of those they are compared with."""
_BAD: Final = {"file": "string", "line": "int64", "byte": "int64", "error": "string", "text": "string"}

Bars: TypeAlias = Callable[[str], Bar]
"""Makes a bar of progress with a title."""
Verdict: TypeAlias = tuple[Any, ...]
"""What was found about a row: its number, and more."""


class Job(ABC):
    """A task whose files have been looked at: that they can be read and written and have the columns."""

    def __init__(self, task: Task, stack: ExitStack, work: Work | None = None) -> None:
        self.task = task
        self.result = Result()
        self.work = work
        if work is not None and STANDARD in (*task.sources, *self.more_sources):
            raise FileError("--work is for files, which can be read again: the standard input cannot")
        if work is not None and task.dry_run:
            raise FileError("--dry-run writes nothing that --work could go on with")
        how = Reading(_for_arrow(self), task.by_line, task.quoted)
        self.inputs = stack.enter_context(Inputs(task.sources, standard=task.standard, how=how, exclude=task.exclude))
        self.against: Inputs | None = None
        if self.more_sources:
            how = how._replace(for_arrow=False)
            self.against = stack.enter_context(
                Inputs(self.more_sources, standard=task.standard, how=how, exclude=task.exclude)
            )
        self._targets = targets(task.kept, self.inputs, task.to)
        self.texts = {reader: texts_of(reader, task.text_columns, "--text-column") for reader in self.inputs.readers}
        if self.against is not None:
            self.texts |= {reader: self.texts_of_other(reader) for reader in self.against.readers}
        self._check_columns()
        for each in self.all_inputs:
            for reader in each.readers:
                reader.bad = _pass_over if task.skip_bad else None
        if work is not None:
            work.begin(task, self.all_inputs)
            if work.names is not None:
                return
        outs = [*(path for path, _ in self._targets), task.removed, task.bad_lines, *self.more_outs]
        check([path for path in outs if path is not None], self.all_inputs, force=task.force)

    more_sources: Sequence[str] = ()
    """More files that are read."""
    more_outs: Sequence[Path] = ()
    """More files that are written."""
    site_column: str | None = None
    """The column of groups of rows."""
    source_column: str | None = None
    """The column of what rows have to differ in."""
    said: Sequence[str] = ()
    """Lines for the standard output."""
    pieces: int = 1
    """The most pieces of the text of a row, each of which is a document of its own; 1 where they are joined."""

    @property
    def all_inputs(self) -> list[Inputs]:
        """The files that are read."""
        return [self.inputs, *([self.against] if self.against else [])]

    @property
    def token(self) -> str | None:
        """What is in the names of files that are not yet all whole."""
        return self.work.token if self.work else None

    def texts_of_other(self, reader: Reader) -> Any:
        """Where the texts of a file are with whose rows those of the sources are compared."""
        return texts_of(reader, (), "--text-column")

    def _check_columns(self) -> None:
        task = self.task
        if task.id_column is not None:
            for each in self.inputs.having(task.id_column, "--id-column"):
                each.check_id(task.id_column)
        groups = ((self.site_column, "--within"), (self.source_column, "--across"))
        for column, option in ((task.rank_column, "--keep"), *groups):
            if column is not None:
                list(self.inputs.having(column, option))
        for column, option in groups:
            if column is not None and self.against is not None:
                list(self.against.having(column, option))
        for name in {**self.added(), **(self.told() if task.removed else {})}:
            if name in self.inputs.fields:
                raise FileError(
                    f"{self.inputs.name} has a column {name!r}: give those that are added other names, as --prefix nd_"
                )

    @abstractmethod
    def summary(self) -> str:
        """What was done, in words."""

    @abstractmethod
    def compare(self, store: Store, notice: Notice) -> None:
        """Finds what there is to say about the rows, in steps of the store."""

    @abstractmethod
    def probe(self, store: Store) -> None:
        """Calls what `compare` calls, of tables without rows: what is wrong with arguments is told at once."""

    @abstractmethod
    def verdicts(self, store: Store) -> str:
        """The statement that gives what was found about rows behind one, in their order."""

    @abstractmethod
    def added(self) -> dict[str, str]:
        """The columns that are added to the rows of OUT, and their types."""

    @abstractmethod
    def told(self) -> dict[str, str]:
        """The columns that are added to the rows that go, and their types."""

    @abstractmethod
    def values(self, before: int, verdicts: list[Verdict | None], columns: Sequence[str]) -> dict[str, list[Any]]:
        """The values of such columns."""

    def found(self) -> str:
        """What was found, in words."""
        return f"{self.result.removed:,} to remove"

    def goes(self, verdict: Verdict | None) -> bool:
        """Whether the row of a verdict goes."""
        return verdict is not None

    def of_row(self, verdicts: list[Verdict]) -> Verdict | None:
        """What was found about a row, of what was found about the pieces of its text."""
        return verdicts[0] if verdicts else None

    def changed(self, chunk: Chunk, reader: Reader, verdicts: list[Verdict | None]) -> Chunk:  # noqa: ARG002
        """The rows as they are written."""
        return chunk

    def more_parts(self, store: Store, stack: ExitStack) -> list[Part]:  # noqa: ARG002
        """More files, written."""
        return []

    def run(self, connection: psycopg.Connection[Any], bar: Bars, notice: Notice) -> Result:
        """Does it on a connection in autocommit."""
        store = self.loaded(connection, bar, notice)
        with closing(bar("comparing")) as showing:
            with progress(connection, showing, title="comparing"):
                self.compare(store, notice)
            showing.set_description_str("comparing", refresh=False)
            end(showing, self.found())
        if not self.task.dry_run:
            with closing(bar("writing")) as showing:
                self._write(store, showing)
                end(showing)
        return self.result

    def loaded(self, connection: psycopg.Connection[Any], bar: Bars, notice: Notice) -> Store:
        """The rows in tables of the server."""
        # A call loads the library, which then knows its settings and refuses wrong values.
        version(connection)
        for name, value in self.task.settings.items():
            connection.execute("SELECT pg_catalog.set_config(%s, %s, false)", [name, value])
        store = Store(connection, lasting=self.work is not None, begun=self.work.keep if self.work else _nothing)
        tables = [DOCS, *([OTHERS] if self.against else [])]
        for table in tables:
            create(store, table)
        if not store.is_begun:
            self.probe(store)

        def listen(told: psycopg.errors.Diagnostic) -> None:
            if parse(told.message_primary or "") is None:
                notice(told)

        connection.add_notice_handler(listen)
        with closing(bar("loading")) as showing:
            for table, inputs in zip(tables, self.all_inputs, strict=True):
                loaded = load(store, table, inputs, self._wanted(inputs), showing)
                self.result.bad += loaded.bad
                if inputs is self.inputs:
                    self.result.rows, self.result.empty = loaded.rows, loaded.empty
                    self.result.characters = loaded.characters
                else:
                    self.result.tests, self.result.tests_empty = loaded.rows, loaded.empty
            end(showing)
        self._check_read(store, notice)
        return store

    def _wanted(self, inputs: Inputs) -> Wanted:
        task, ours = self.task, inputs is self.inputs
        key = task.id_column if ours or task.id_column in inputs.fields else None
        rank = task.rank_column if ours else None
        return Wanted(self.texts, self.pieces, key, rank, self.site_column, self.source_column)

    def _check_read(self, store: Store, notice: Notice) -> None:
        """What is known of the columns once all rows are read, before they are compared."""
        self._check_columns()
        if _for_arrow(self):
            listed = [self.task.removed, *(path for path, _ in self._targets)]
            for form in {form for form in map(form_of, filter(None, listed)) if form is not None and form.is_arrow}:
                try:
                    check_writer(form, self.inputs, {**self.added(), **self.told()})
                except FileError as error:
                    raise FileError(f"{self.inputs.name}: {error}") from error
            if names := self.inputs.as_json():
                which = f"column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
                notice(Told(f"no type of Arrow holds all values of the {which}: they are written as JSON, as texts"))
        rank = odd_rank(store, DOCS) if self.task.rank_column is not None else None
        if rank is not None:
            others, number, value = rank
            name, row = self.inputs.place_of((number - 1) // self.pieces + 1)
            notice(
                Told(
                    f"{others:,} value{'s' if others != 1 else ''} of {self.task.rank_column!r} (--keep)"
                    f" {'are no numbers' if others != 1 else 'is no number'}, such as {value!r} in row {row} of {name}:"
                    " rows with numbers are kept before them"
                )
            )

    def _write(self, store: Store, bar: Bar) -> None:
        task = self.task
        with ExitStack() as stack:
            outs = [stack.enter_context(Out(path, self.token, form)) for path, form in self._targets]
            gone = stack.enter_context(self._out(task.removed)) if task.removed is not None else None
            bad = stack.enter_context(self._out(task.bad_lines)) if task.bad_lines is not None else None
            more = [out for out in (gone, bad) if out is not None]
            if not all(out.is_whole for out in (*outs, *more)):
                self._write_rows(store, outs, gone, bad, bar)
            parts = [*self.more_parts(store, stack), *outs, *more]
            # All are whole before the first one gets its name.
            for part in parts:
                part.finish()
            for part in parts:
                if part.path is None:
                    part.publish()
            if self.work is not None:
                self.work.name([(part.whole, part.path) for part in parts if part.path], asdict(self.result))
            for part in parts:
                if part.path is not None:
                    part.publish()

    def _out(self, path: Path) -> Out:
        return Out(path, self.token, require_written(path))

    def _write_rows(self, store: Store, outs: list[Out], gone: Out | None, bad: Out | None, bar: Bar) -> None:
        inputs, single = self.inputs, not is_folder(self.task.kept)
        if single and not outs[0].is_whole:
            outs[0].begin(inputs, self.added())
        if gone is not None and not gone.is_whole:
            gone.begin(inputs, self.told())
        if bad is not None and not bad.is_whole:
            bad.begin(Listed(_BAD, inputs), {})
            if self.against is not None:
                # Only their lines that are no rows are written.
                for reader in self.against.readers:
                    with _bad_lines_to(bad, reader):
                        for _ in reader.chunks(()):
                            pass
        # Files behind which all are written are not read.
        gone = None if gone is None or gone.is_whole else gone
        bad = None if bad is None or bad.is_whole else bad
        first = 0
        if not single and gone is None and bad is None:
            first = next(at for at, out in enumerate(outs) if not out.is_whole)
        number = inputs.starts[first]
        with (
            store.connection.transaction(),
            store.connection.cursor("neardup_found", row_factory=tuple_row) as cursor,
        ):
            # Each may have a text.
            cursor.itersize = 200
            cursor.execute(self.verdicts(store).encode(), [number * self.pieces])
            found = _Verdicts(cursor, self)
            for at in range(first, len(inputs.readers)):
                out = outs[0 if single else at]
                if not single and not out.is_whole:
                    out.begin(inputs.readers[at], self.added())
                with _bad_lines_to(bad, inputs.readers[at]):
                    self._write_file(at, found, None if out.is_whole else out, gone, bar)
                if not single:
                    out.finish()

    def _write_file(self, at: int, found: _Verdicts, out: Out | None, gone: Out | None, bar: Bar) -> None:
        inputs, reader, number = self.inputs, self.inputs.readers[at], self.inputs.starts[at]
        for chunk in reader.chunks():
            self._write_chunk(chunk, reader, number, found.of(number, len(chunk)), out, gone)
            number += len(chunk)
            show(bar, inputs, number)
        following = inputs.starts[at + 1] if at + 1 < len(inputs.starts) else self.result.rows
        if number != following:
            raise FileError(f"{reader.name} changed while it was read")

    def _write_chunk(
        self,
        chunk: Chunk,
        reader: Reader,
        before: int,
        verdicts: list[Verdict | None],
        out: Out | None,
        gone: Out | None,
    ) -> None:
        going = [self.goes(verdict) for verdict in verdicts]
        if out is not None:
            rows = self.changed(chunk, reader, verdicts)
            if added := self.added():
                rows = rows.with_columns(self.values(before, verdicts, list(added)))
            out.write(rows if self.task.mark else rows.where([not goes for goes in going]))
        if gone is not None and any(going):
            told = self.values(before, verdicts, list(self.told()))
            gone.write((chunk.with_columns(told) if told else chunk).where(going))


@contextmanager
def _bad_lines_to(out: Out | None, reader: Reader) -> Iterator[None]:
    """Writes the lines that are passed over, some at a time."""
    if out is None:
        yield
        return
    before, held = reader.bad, []

    def take(bad: Bad) -> None:
        held.append({"file": reader.name, "line": bad.line, "byte": bad.byte, "error": bad.why, "text": bad.text})
        if len(held) == 100:
            out.write(RowsChunk(held.copy()))
            held.clear()

    reader.bad = take
    try:
        yield
    finally:
        reader.bad = before
    if held:
        out.write(RowsChunk(held))


class _Verdicts:
    """What was found about rows, in their order, beside the rows of files."""

    def __init__(self, found: Iterator[Verdict], job: Job) -> None:
        self._found = iter(found)
        self._job = job
        self._following = next(self._found, None)

    def of(self, before: int, rows: int) -> list[Verdict | None]:
        """What was found about so many rows behind another one."""
        verdicts: list[Verdict | None] = []
        for number in range(before + 1, before + rows + 1):
            of_row: list[Verdict] = []
            while self._following is not None and self._following[0] <= number * self._job.pieces:
                of_row.append(self._following)
                self._following = next(self._found, None)
            verdicts.append(self._job.of_row(of_row))
        return verdicts


def key_of(key: str | None, number: int) -> Any:
    """What stands for a row: its key, or its number."""
    return json.loads(key) if key else number


def _nothing() -> None:
    pass


def _pass_over(_: Bad) -> None:
    pass


def _for_arrow(job: Job) -> bool:
    """Whether what is written needs types of columns."""
    names = [Path(name) for name in (job.task.kept, job.task.removed, *job.more_outs) if name is not None]
    forms: list[Form | None] = [job.task.to, *map(form_of, names)]
    return any(form is not None and form.is_arrow for form in forms)
