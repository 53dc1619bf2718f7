"""Files to copies whose texts are without what other texts have before them, by `cut_repeats`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup.calls import Value
from neardup.files import Chunk, FileError, Reader
from neardup.job import DOCS, Job, Verdict, key_of
from neardup.listing import Listed, write_listed
from neardup.loading import ranked
from neardup.outputs import Part
from neardup.store import Store
from neardup.task import Notice, Task
from neardup.work import Work

_CUT: Final = """
    SELECT c.id, c.body, c.cut_characters, c.cut_tokens
    FROM {cut} c
    WHERE c.id OPERATOR(pg_catalog.>) %s
    ORDER BY c.id
"""
_SUMS: Final = """
    SELECT pg_catalog.count(*) FILTER (WHERE body IS NULL),
        pg_catalog.count(*) FILTER (WHERE body IS NOT NULL),
        COALESCE(pg_catalog.sum(cut_characters) FILTER (WHERE body IS NOT NULL), 0)::pg_catalog.int8
    FROM {}
"""
# What has too few words without anything being cut stays as it is.
_SHORT: Final = "DELETE FROM {} WHERE cut_tokens OPERATOR(pg_catalog.=) 0"
_PIECES: Final = 1 << 16
"""The most texts of a row."""
_RUNS: Final = """
    SELECT r.id, d.key, pg_catalog.lower(r.span), pg_catalog.upper(r.span), r.tokens,
        r.of_id, o.key, pg_catalog.lower(r.of_span), pg_catalog.upper(r.of_span), r.documents,
        pg_catalog.substr(d.body, pg_catalog.lower(r.span),
            pg_catalog.upper(r.span) OPERATOR(pg_catalog.-) pg_catalog.lower(r.span))
    FROM {runs} r
    JOIN {docs} d ON d.id OPERATOR(pg_catalog.=) r.id
    LEFT JOIN {docs} o ON o.id OPERATOR(pg_catalog.=) r.of_id
    ORDER BY r.id, r.span, r.of_id, r.of_span
"""
_ONLY_CUT: Final = ("snap", "min_left")


@dataclass(frozen=True, slots=True)
class CutTask(Task):
    """What is to be done."""

    within: str | None = None
    """Only rows with equal values in this column are compared."""
    empty: bool = False
    """Whether rows with too little left stay, with an empty text."""
    runs: Path | None = None
    """Where the repeated runs go."""


class Cut(Job):
    """A task whose files have been looked at."""

    task: CutTask

    def __init__(self, task: CutTask, stack: ExitStack, work: Work | None = None) -> None:
        if task.arguments.get("tokenizer") == "html":
            raise FileError(
                "cut writes texts as they are, and --tokenizer html would leave the text of a page in place of it:"
                " write the texts of the pages first, or take --tokenizer words"
            )
        if task.empty and (task.removed or not task.arguments.get("min_left")):
            raise FileError("--empty is for rows with fewer than --min-left N tokens left, and none is removed then")
        self.site_column = task.within
        self.more_outs = [task.runs] if task.runs else []
        super().__init__(task, stack, work)
        if not all(texts.is_plain or not texts.paths for texts in self.texts.values()):
            # What is cut of each text is known of each, and not of all of them together.
            self.pieces = _PIECES
            if task.arguments.get("min_left"):
                raise FileError("--min-left is for rows with one text, and these have several: --text-column NAME")

    def summary(self) -> str:
        """What was done."""
        done = self.result
        without = f" ({done.empty:,} of them without a text)" if done.empty else ""
        lost = f"{done.cut:,} lost {done.cut_characters:,} of {done.characters:,} characters"
        short = "emptied" if self.task.empty else "marked" if self.task.mark else "removed"
        least = self.task.arguments.get("min_left")
        stay = f"; {done.short:,} with fewer than {least} words lost nothing and stay" if done.short else ""
        return f"{done.rows:,} rows{without}: {lost}, {done.removed:,} {short}{stay}"

    def _call(self, store: Store, function: str) -> tuple[str, list[Value]]:
        docs, keep = ranked(store, self.task, DOCS)
        given: dict[str, Value] = {"docs": docs, "id_column": "id", "text_column": "body", "keep": keep}
        given["within"] = None if self.task.within is None else "site"
        given |= dict(self.task.arguments)
        if function == "repeated_runs":
            given = {name: value for name, value in given.items() if name not in _ONLY_CUT}
        return store.call(function, given)

    def probe(self, store: Store) -> None:
        """Calls it of a table without rows."""
        store.execute(*self._call(store, "cut_repeats"))

    def compare(self, store: Store, notice: Notice) -> None:  # noqa: ARG002
        """Makes the table of the texts that lose something; that of the runs, if they are wanted."""
        table = store.name("neardup_cut")

        def cut() -> str:
            call, values = self._call(store, "cut_repeats")
            made = f"CREATE {store.kind}TABLE {table} (id, body, cut_characters, cut_tokens) AS {call}"
            store.execute(made, values)
            short = store.execute(_SHORT.format(table)).rowcount
            store.execute(f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
            store.execute(f"ANALYZE {table} (id)")
            return " ".join(map(str, (*store.row(_SUMS.format(table)), short)))

        def runs() -> str:
            call, values = self._call(store, "repeated_runs")
            columns = "(id, span, tokens, of_id, of_span, documents)"
            store.execute(f"CREATE {store.kind}TABLE {store.name('neardup_runs_found')} {columns} AS {call}", values)
            return ""

        done = self.result
        done.removed, done.cut, done.cut_characters, done.short = map(int, store.once("texts cut", cut).split())
        if self.task.runs is not None:
            store.once("runs found", runs)

    def found(self) -> str:
        """What was found, in words."""
        return f"{self.result.cut:,} to cut, {self.result.removed:,} too short"

    def verdicts(self, store: Store) -> str:
        """The texts that lost something."""
        return _CUT.format(cut=store.name("neardup_cut"))

    def goes(self, verdict: Verdict | None) -> bool:
        """Whether too little is left."""
        return verdict is not None and None in verdict[1].values() and not self.task.empty

    def of_row(self, verdicts: list[Verdict]) -> Verdict | None:
        """The texts by their places in the row, and how much was cut of all of them."""
        if not verdicts:
            return None
        texts = {(verdict[0] - 1) % self.pieces: verdict[1] for verdict in verdicts}
        return verdicts[0][0], texts, sum(verdict[2] for verdict in verdicts), sum(verdict[3] for verdict in verdicts)

    def changed(self, chunk: Chunk, reader: Reader, verdicts: list[Verdict | None]) -> Chunk:
        """The rows with what is left of their texts."""
        changes = {
            at: {place: text or "" for place, text in verdict[1].items()}
            for at, verdict in enumerate(verdicts)
            if verdict is not None
        }
        return self.texts[reader].replaced(chunk, changes)

    def added(self) -> dict[str, str]:
        """What says how much was cut, with --mark."""
        return self._typed(["kept", "cut_characters", "cut_tokens"]) if self.task.mark else {}

    def told(self) -> dict[str, str]:
        """The same of rows that go."""
        own = ["row"] if self.task.id_column is None else []
        files = ["file", "file_row"] if len(self.inputs.files) > 1 and own else []
        return self._typed([*files, *own, "cut_characters", "cut_tokens"])

    def _typed(self, names: list[str]) -> dict[str, str]:
        of = {"file": "string", "kept": "bool"}
        return {self.task.prefix + name: of.get(name, "int64") for name in names}

    def values(self, before: int, verdicts: list[Verdict | None], columns: Sequence[str]) -> dict[str, list[Any]]:
        """Such values of some rows."""
        numbers = range(before + 1, before + len(verdicts) + 1)
        makers: dict[str, Callable[[], list[Any]]] = {
            "file": lambda: [self.inputs.place_of(number)[0] for number in numbers],
            "file_row": lambda: [self.inputs.place_of(number)[1] for number in numbers],
            "row": lambda: list(numbers),
            "kept": lambda: [not self.goes(verdict) for verdict in verdicts],
            "cut_characters": lambda: [verdict[2] if verdict else 0 for verdict in verdicts],
            "cut_tokens": lambda: [verdict[3] if verdict else 0 for verdict in verdicts],
        }
        return {name: makers[name.removeprefix(self.task.prefix)]() for name in columns}

    def more_parts(self, store: Store, stack: ExitStack) -> list[Part]:
        """The file of runs."""
        if self.task.runs is None:
            return []
        key = self.task.id_column
        place = {"file": "string", "file_row": "int64"} if len(self.inputs.files) > 1 else {}
        place["id"] = "int64" if key is None else f"={key}"
        # Of several texts of a row, which one.
        place |= {"piece": "int64"} if self.pieces > 1 else {}
        place |= {"start": "int64", "end": "int64"}
        types = {**place, "tokens": "int64", **{f"of_{name}": of for name, of in place.items()}}
        listed = Listed({**types, "documents": "int64", "text": "string"}, self.inputs)
        sql = _RUNS.format(runs=store.name("neardup_runs_found"), docs=store.name(DOCS))

        def run(found: Verdict) -> dict[str, Any]:
            number, key, start, end, tokens, of_number, of_key, of_start, of_end, documents, text = found
            row = self._run_place(number, key, start, end) | {"tokens": tokens, "documents": documents, "text": text}
            row |= {f"of_{name}": value for name, value in self._run_place(of_number, of_key, of_start, of_end).items()}
            return {name: row[name] for name in listed.fields}

        return [write_listed(store, stack, self.task.runs, self.token, listed, sql, run)]

    def _run_place(self, document: int, key: str | None, start: int, end: int) -> dict[str, Any]:
        number, piece = (document - 1) // self.pieces + 1, (document - 1) % self.pieces
        file, row = self.inputs.place_of(number)
        # Characters are counted from 1 by SQL, and from 0 by what reads files.
        of = {"file": file, "file_row": row, "id": key_of(key, number), "piece": piece}
        return {**of, "start": start - 1, "end": end - 1}
