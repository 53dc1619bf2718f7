"""Files in, rows into a server, what it finds about them, and rows out again: what all commands for files do.

The files are read twice, some thousand rows at a time, and what is found comes from the server row by row: memory does
not grow with the files.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.rows import tuple_row

from neardup.files import Chunk, FileError, Form, Reader, form_of, require_form
from neardup.files.inputs import STANDARD, Inputs
from neardup.loading import Wanted, create, end, load, show, text_column
from neardup.outputs import Out, Part, check, is_folder, targets
from neardup.progress import Bar, parse
from neardup.session import progress, version
from neardup.store import Store
from neardup.task import Notice, Result, Task
from neardup.work import Work

DOCS: Final = "neardup_docs"
OTHERS: Final = "neardup_against"
"""The tables of the rows of the sources, and of those they are compared with."""

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
        self.inputs = stack.enter_context(Inputs(task.sources, standard=task.standard, for_arrow=_for_arrow(self)))
        self.against: Inputs | None = None
        if self.more_sources:
            self.against = stack.enter_context(Inputs(self.more_sources, standard=task.standard))
        self._targets = targets(task.kept, self.inputs, task.to)
        self.text_columns = {
            reader.path: text_column(task, reader, of_sources=inputs is self.inputs)
            for inputs in self.all_inputs
            for reader in inputs.readers
        }
        self._check_columns()
        if work is not None:
            work.begin(task, self.all_inputs)
            if work.names is not None:
                return
        outs = [*(path for path, _ in self._targets), task.removed, *self.more_outs]
        check([path for path in outs if path is not None], self.all_inputs, force=task.force)

    more_sources: Sequence[str] = ()
    """More files that are read."""
    more_outs: Sequence[Path] = ()
    """More files that are written."""
    site_column: str | None = None
    """The column of groups of rows."""

    @property
    def all_inputs(self) -> list[Inputs]:
        """The files that are read."""
        return [self.inputs, *([self.against] if self.against else [])]

    @property
    def token(self) -> str | None:
        """What is in the names of files that are not yet all whole."""
        return self.work.token if self.work else None

    def _check_columns(self) -> None:
        task = self.task
        if task.id_column is not None:
            for each in self.inputs.having(task.id_column, "--id-column"):
                each.check_id(task.id_column)
        for column, option in ((task.rank_column, "--keep"), (self.site_column, "--within")):
            if column is not None:
                list(self.inputs.having(column, option))
        for name in self.added(marked=task.mark) if task.mark or task.removed else {}:
            if name in self.inputs.fields:
                raise FileError(
                    f"{self.inputs.name} has a column {name!r}: give those that are added other names, as --prefix nd_"
                )

    @abstractmethod
    def summary(self) -> str:
        """What was done, in words."""

    @abstractmethod
    def compare(self, store: Store) -> None:
        """Finds what there is to say about the rows, in steps of the store."""

    @abstractmethod
    def probe(self, store: Store) -> None:
        """Calls what `compare` calls, of tables without rows: what is wrong with arguments is told at once."""

    @abstractmethod
    def verdicts(self, store: Store) -> str:
        """The statement that gives what was found about rows behind one, in their order."""

    @abstractmethod
    def added(self, *, marked: bool) -> dict[str, str]:
        """The columns that are added, and their types: to all rows, or to those that go."""

    @abstractmethod
    def values(self, before: int, verdicts: list[Verdict | None], *, marked: bool) -> dict[str, list[Any]]:
        """Their values."""

    def found(self) -> str:
        """What was found, in words."""
        return f"{self.result.removed:,} to remove"

    def goes(self, verdict: Verdict | None) -> bool:
        """Whether the row of a verdict goes."""
        return verdict is not None

    def changed(self, chunk: Chunk, reader: Reader, verdicts: list[Verdict | None]) -> Chunk:  # noqa: ARG002
        """The rows as they are written."""
        return chunk

    def more_parts(self, store: Store, stack: ExitStack) -> list[Part]:  # noqa: ARG002
        """More files, written."""
        return []

    def run(self, connection: psycopg.Connection[Any], bar: Bars, notice: Notice) -> Result:
        """Does it on a connection in autocommit."""
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
                if inputs is self.inputs:
                    self.result.rows, self.result.empty = loaded.rows, loaded.empty
                    self.result.characters = loaded.characters
            end(showing)
        with closing(bar("comparing")) as showing:
            with progress(connection, showing, title="comparing"):
                self.compare(store)
            showing.set_description_str("comparing", refresh=False)
            end(showing, self.found())
        with closing(bar("writing")) as showing:
            self._write(store, showing)
            end(showing)
        connection.remove_notice_handler(listen)
        return self.result

    def _wanted(self, inputs: Inputs) -> Wanted:
        task, ours = self.task, inputs is self.inputs
        key = task.id_column if ours or task.id_column in inputs.fields else None
        return Wanted(self.text_columns, key, task.rank_column if ours else None, self.site_column if ours else None)

    def _write(self, store: Store, bar: Bar) -> None:
        with ExitStack() as stack:
            outs = [stack.enter_context(Out(path, self.token, form)) for path, form in self._targets]
            gone: Out | None = None
            if self.task.removed is not None:
                gone = stack.enter_context(Out(self.task.removed, self.token, require_form(self.task.removed)))
            if not (all(out.is_whole for out in outs) and (gone is None or gone.is_whole)):
                self._write_rows(store, outs, gone, bar)
            parts = [*self.more_parts(store, stack), *outs, *([gone] if gone else [])]
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

    def _write_rows(self, store: Store, outs: list[Out], gone: Out | None, bar: Bar) -> None:
        inputs, single = self.inputs, not is_folder(self.task.kept)
        marks = self.added(marked=True) if self.task.mark else {}
        if single and not outs[0].is_whole:
            outs[0].begin(inputs, marks)
        if gone is not None and not gone.is_whole:
            gone.begin(inputs, self.added(marked=False))
        # Files that are whole are not read once more, unless for the rows that go.
        gone = None if gone is None or gone.is_whole else gone
        first = 0
        if not single and gone is None:
            first = next(at for at, out in enumerate(outs) if not out.is_whole)
        number = inputs.starts[first]
        with (
            store.connection.transaction(),
            store.connection.cursor("neardup_found", row_factory=tuple_row) as cursor,
        ):
            # Each may have a text.
            cursor.itersize = 200
            cursor.execute(self.verdicts(store).encode(), [number])
            found = _Verdicts(cursor)
            for at in range(first, len(inputs.readers)):
                out = outs[0 if single else at]
                if not single and not out.is_whole:
                    out.begin(inputs.readers[at], marks)
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
            if self.task.mark:
                out.write(rows.with_columns(self.values(before, verdicts, marked=True)))
            else:
                out.write(rows.where([not goes for goes in going]))
        if gone is not None:
            gone.write(chunk.with_columns(self.values(before, verdicts, marked=False)).where(going))


class _Verdicts:
    """What was found about rows, in their order, beside the rows of files."""

    def __init__(self, found: Iterator[Verdict]) -> None:
        self._found = iter(found)
        self._following = next(self._found, None)

    def of(self, before: int, rows: int) -> list[Verdict | None]:
        """What was found about so many rows behind another one."""
        verdicts: list[Verdict | None] = []
        for number in range(before + 1, before + rows + 1):
            is_it = self._following is not None and self._following[0] == number
            verdicts.append(self._following if is_it else None)
            if is_it:
                self._following = next(self._found, None)
        return verdicts


def key_of(key: str | None, number: int) -> Any:
    """What stands for a row: its key, or its number."""
    return json.loads(key) if key else number


def _nothing() -> None:
    pass


def _for_arrow(job: Job) -> bool:
    """Whether what is written needs types of columns."""
    names = [Path(name) for name in (job.task.kept, job.task.removed, *job.more_outs) if name is not None]
    forms: list[Form | None] = [job.task.to, *map(form_of, names)]
    return any(form is not None and form.is_arrow for form in forms)
