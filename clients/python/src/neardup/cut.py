"""Files to copies whose texts are without what other texts have before them, by `cut_repeats`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from psycopg.rows import tuple_row

from neardup.calls import Value
from neardup.files import Chunk, FileError, Reader, require_form
from neardup.files.chunks import CHUNK_BYTES, RowsChunk
from neardup.job import DOCS, Job, Verdict, key_of
from neardup.loading import ranked
from neardup.outputs import Out, Part
from neardup.store import Store
from neardup.task import Task
from neardup.work import Work

if TYPE_CHECKING:
    import pyarrow as pa

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


class _RunColumns:
    """The columns of the file of runs."""

    def __init__(self, job: Cut) -> None:
        several = len(job.inputs.files) > 1
        key = job.task.id_column
        of = "int64" if key is None else f"={key}"
        files = {"file": "string"} if several else {}
        self._job = job
        self.types = files | {"id": of, "start": "int64", "end": "int64", "tokens": "int64"}
        self.types |= ({"of_file": "string"} if several else {}) | {"of_id": of}
        self.types |= {"of_start": "int64", "of_end": "int64", "documents": "int64", "text": "string"}
        self.fields: dict[str, None] = dict.fromkeys(self.types)

    def schema(self) -> pa.Schema:
        """Their types."""
        import pyarrow as pa

        rows = self._job.inputs.schema()
        return pa.schema(
            [(name, rows.field(of[1:]).type if of.startswith("=") else of) for name, of in self.types.items()]
        )


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

    def summary(self) -> str:
        """What was done."""
        done = self.result
        without = f" ({done.empty:,} of them without a text)" if done.empty else ""
        lost = f"{done.cut:,} lost {done.cut_characters:,} of {done.characters:,} characters"
        short = "emptied" if self.task.empty else "marked" if self.task.mark else "removed"
        return f"{done.rows:,} rows{without}: {lost}, {done.removed:,} {short}"

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

    def compare(self, store: Store) -> None:
        """Makes the table of the texts that lose something; that of the runs, if they are wanted."""
        table = store.name("neardup_cut")

        def cut() -> str:
            call, values = self._call(store, "cut_repeats")
            made = f"CREATE {store.kind}TABLE {table} (id, body, cut_characters, cut_tokens) AS {call}"
            store.execute(made, values)
            if self.task.arguments.get("min_left") and not self.task.empty:
                # The function does not return rows without a text, which have too little left, too.
                short = f"SELECT id, NULL, 0, 0 FROM {store.name(DOCS)} WHERE body IS NULL"
                store.execute(f"INSERT INTO {table} {short}")
            store.execute(f"ALTER TABLE {table} ADD PRIMARY KEY (id)")
            store.execute(f"ANALYZE {table} (id)")
            return " ".join(map(str, store.row(_SUMS.format(table))))

        def runs() -> str:
            call, values = self._call(store, "repeated_runs")
            columns = "(id, span, tokens, of_id, of_span, documents)"
            store.execute(f"CREATE {store.kind}TABLE {store.name('neardup_runs_found')} {columns} AS {call}", values)
            return ""

        done = self.result
        done.removed, done.cut, done.cut_characters = map(int, store.once("texts cut", cut).split())
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
        return verdict is not None and verdict[1] is None and not self.task.empty

    def changed(self, chunk: Chunk, reader: Reader, verdicts: list[Verdict | None]) -> Chunk:
        """The rows with what is left of their texts."""
        column = self.text_columns[reader.path]
        if column is None or not any(verdicts):
            return chunk
        before = chunk.column(column)
        # What has no text gets none.
        texts = {at: v[1] or "" for at, v in enumerate(verdicts) if v is not None and before[at] is not None}
        return chunk.with_texts(column, texts)

    def added(self, *, marked: bool) -> dict[str, str]:
        """What says how much was cut."""
        names = {"kept": "bool"} if marked else {"row": "int64"} if self.task.id_column is None else {}
        if not marked and len(self.inputs.files) > 1 and self.task.id_column is None:
            names = {"file": "string", **names}
        names |= {"cut_characters": "int64", "cut_tokens": "int64"}
        return {self.task.prefix + name: of for name, of in names.items()}

    def values(self, before: int, verdicts: list[Verdict | None], *, marked: bool) -> dict[str, list[Any]]:
        """The same of some rows."""
        numbers = range(before + 1, before + len(verdicts) + 1)
        makers: dict[str, Callable[[], list[Any]]] = {
            "file": lambda: [self.inputs.file_of(number) for number in numbers],
            "row": lambda: list(numbers),
            "kept": lambda: [not self.goes(verdict) for verdict in verdicts],
            "cut_characters": lambda: [verdict[2] if verdict else 0 for verdict in verdicts],
            "cut_tokens": lambda: [verdict[3] if verdict else 0 for verdict in verdicts],
        }
        return {name: makers[name.removeprefix(self.task.prefix)]() for name in self.added(marked=marked)}

    def more_parts(self, store: Store, stack: ExitStack) -> list[Part]:
        """The file of runs."""
        if self.task.runs is None:
            return []
        out = stack.enter_context(Out(self.task.runs, self.token, require_form(self.task.runs)))
        if not out.is_whole:
            columns = _RunColumns(self)
            out.begin(columns, {})
            sql = _RUNS.format(runs=store.name("neardup_runs_found"), docs=store.name(DOCS))
            with (
                store.connection.transaction(),
                store.connection.cursor("neardup_runs", row_factory=tuple_row) as cursor,
            ):
                cursor.itersize = 200
                cursor.execute(sql.encode())
                for rows in _some(self._run(list(columns.types), row) for row in cursor):
                    out.write(RowsChunk(rows))
        return [out]

    def _run(self, names: list[str], row: Verdict) -> dict[str, Any]:
        number, key, start, end, tokens, of_number, of_key, of_start, of_end, documents, text = row
        # Characters are counted from 1 by SQL, and from 0 by what reads files.
        values: dict[str, Callable[[], Any]] = {
            "file": lambda: self.inputs.file_of(number),
            "id": lambda: key_of(key, number),
            "start": lambda: start - 1,
            "end": lambda: end - 1,
            "tokens": lambda: tokens,
            "of_file": lambda: self.inputs.file_of(of_number),
            "of_id": lambda: key_of(of_key, of_number),
            "of_start": lambda: of_start - 1,
            "of_end": lambda: of_end - 1,
            "documents": lambda: documents,
            "text": lambda: text,
        }
        return {name: values[name]() for name in names}


def _some(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Rows in parts that memory holds."""
    held: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        held.append(row)
        characters += len(row["text"])
        if len(held) == 5_000 or characters >= CHUNK_BYTES:
            yield held
            held, characters = [], 0
    if held:
        yield held
