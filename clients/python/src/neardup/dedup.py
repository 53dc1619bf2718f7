"""Files to their deduplicated copies, by `eliminate`; or to copies without the rows that are similar to others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup.calls import Value
from neardup.files import FileError
from neardup.job import DOCS, OTHERS, Job, Verdict, key_of
from neardup.loading import ranked
from neardup.outputs import Page, Part
from neardup.store import Store
from neardup.task import Task
from neardup.work import Work

_GONE: Final = """
    SELECT g.id, g.other, d.key, g.similarity
    FROM {gone} g
    JOIN {docs} d ON d.id OPERATOR(pg_catalog.=) g.other
    WHERE g.id OPERATOR(pg_catalog.>) %s
    ORDER BY g.id
"""
"""A row that goes: its number, that of the row it is similar to and its key, how similar they are."""


@dataclass(frozen=True, slots=True)
class DedupTask(Task):
    """What is to be done."""

    against: Sequence[str] = ()
    """Files with whose rows those of the sources are compared, in place of with each other."""
    report: Path | None = None
    """Where a page about the near duplicates goes."""
    threshold: float | None = 0.8


class Dedup(Job):
    """A task whose files have been looked at."""

    task: DedupTask

    def __init__(self, task: DedupTask, stack: ExitStack, work: Work | None = None) -> None:
        if task.against and (task.report or task.keep != "longest"):
            raise FileError("with --against, rows are not compared with each other: it has no --report and no --keep")
        self.more_sources = task.against
        self.more_outs = [task.report] if task.report else []
        super().__init__(task, stack, work)

    def summary(self) -> str:
        """What was done."""
        done = self.result
        without = f" ({done.empty:,} of them without a text)" if done.empty else ""
        return f"{done.rows:,} rows{without}: {done.rows - done.removed:,} kept, {done.removed:,} removed"

    @property
    def _given(self) -> dict[str, Value]:
        given: dict[str, Value] = {"threshold": self.task.threshold, "id_column": "id", "text_column": "body"}
        return given | dict(self.task.arguments)

    def _call(self, store: Store) -> tuple[str, list[Value]]:
        """The rows that go: their numbers, those of the rows they are similar to, how similar they are."""
        if self.against is not None:
            sides: dict[str, Value] = {"left": store.name(OTHERS), "right": store.name(DOCS)}
            call, values = store.call("near_duplicates_between", {**sides, **self._given})
            # Of the rows that it is similar to, the most similar one, and of these the first one.
            call = f"SELECT DISTINCT ON (right_id) right_id, left_id, similarity FROM ({call}) found"
            return f"{call} ORDER BY right_id, similarity DESC, left_id", values
        docs, keep = ranked(store, self.task, DOCS)
        return store.call("eliminate", {"docs": docs, **self._given, "keep": keep})

    def probe(self, store: Store) -> None:
        """Calls it of tables without rows."""
        call, values = self._call(store)
        store.execute(call, values)

    def compare(self, store: Store) -> None:
        """Makes the table of the rows that go; the page about them, if one is wanted."""

        def gone() -> str:
            call, values = self._call(store)
            made = f"CREATE {store.kind}TABLE {store.name('neardup_gone')} (id, other, similarity) AS {call}"
            return str(store.execute(made, values).rowcount)

        def page() -> str:
            call, values = store.call("duplicates_report", {"docs": store.name(DOCS), **self._given})
            return str(store.row(call, values)[0])

        self.result.removed = int(store.once("rows compared", gone))
        if self.task.report is not None:
            store.once("report made", page)

    def verdicts(self, store: Store) -> str:
        """The rows that go."""
        return _GONE.format(gone=store.name("neardup_gone"), docs=store.name(OTHERS if self.against else DOCS))

    def more_parts(self, store: Store, stack: ExitStack) -> list[Part]:
        """The page."""
        if self.task.report is None:
            return []
        page = Page(self.task.report, self.token, store.once("report made", str))
        return [stack.enter_context(page)]

    def added(self, *, marked: bool) -> dict[str, str]:
        """What says which rows go, and why."""
        key = self.task.id_column
        of = {"row": "int64", "kept": "bool", "similarity": "double", "file": "string"}
        of |= {"kept_file": "string", "against_file": "string"}
        of |= {"kept_id": "int64" if key is None else f"={key}", "against": "string" if self._against_key else "int64"}
        names = (["row"] if key is None else []) + (["kept"] if marked else [])
        names.append("against" if self.against else "kept_id")
        if len(self.inputs.files) > 1 and key is None:
            names = ["file", *names]
        other = self.against or self.inputs
        if len(other.files) > 1 and (key is None or self.against):
            names.append("against_file" if self.against else "kept_file")
        return {self.task.prefix + name: of[name] for name in (*names, "similarity")}

    @property
    def _against_key(self) -> bool:
        return self.against is not None and self.task.id_column in self.against.fields

    def values(self, before: int, verdicts: list[Verdict | None], *, marked: bool) -> dict[str, list[Any]]:
        """The same of some rows."""
        other = self.against or self.inputs
        numbers = range(before + 1, before + len(verdicts) + 1)
        makers: dict[str, Callable[[], list[Any]]] = {
            "file": lambda: [self.inputs.file_of(number) for number in numbers],
            "row": lambda: list(numbers),
            "kept": lambda: [verdict is None for verdict in verdicts],
            "kept_id": lambda: [verdict and key_of(verdict[2], verdict[1]) for verdict in verdicts],
            "against": lambda: [self._against_id(verdict) for verdict in verdicts],
            "kept_file": lambda: [verdict and other.file_of(verdict[1]) for verdict in verdicts],
            "against_file": lambda: [verdict and other.file_of(verdict[1]) for verdict in verdicts],
            "similarity": lambda: [verdict and verdict[3] for verdict in verdicts],
        }
        return {name: makers[name.removeprefix(self.task.prefix)]() for name in self.added(marked=marked)}

    def _against_id(self, verdict: Verdict | None) -> Any:
        if verdict is None:
            return None
        found = key_of(verdict[2], verdict[1])
        return str(found) if self._against_key else found
