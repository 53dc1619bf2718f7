"""Files to their deduplicated copies, by `eliminate`; or to copies without the rows that are similar to others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neardup.calls import Value
from neardup.files import FileError, Reader
from neardup.job import DOCS, OTHERS, Job, Verdict, key_of
from neardup.listing import Listed, write_listed
from neardup.loading import ranked
from neardup.outputs import Page, Part
from neardup.session import extension
from neardup.store import Store
from neardup.task import Notice, Task, Told
from neardup.texts import Texts, texts_of
from neardup.work import Work

_GONE: Final = """
    SELECT g.id, g.other, d.key, g.similarity, 0
    FROM {gone} g
    JOIN {docs} d ON d.id OPERATOR(pg_catalog.=) g.other
    WHERE g.id OPERATOR(pg_catalog.>) %s
    ORDER BY g.id
"""
_WITH_COPIES: Final = """
    SELECT f.id, f.other, d.key, f.similarity, f.copies
    FROM (
        SELECT id, other, similarity, 0 AS copies FROM {gone}
        UNION ALL
        SELECT other, NULL, NULL, 1 OPERATOR(pg_catalog.+) pg_catalog.count(*) FROM {gone} GROUP BY other
    ) f
    LEFT JOIN {docs} d ON d.id OPERATOR(pg_catalog.=) f.other
    WHERE f.id OPERATOR(pg_catalog.>) %s
    ORDER BY f.id
"""
_WITH_WEIGHTS: Final = _WITH_COPIES.replace(
    "0 AS copies", "1 OPERATOR(pg_catalog.+) pg_catalog.count(*) OVER (PARTITION BY other) AS copies"
)
"""A row: its number; that of the row it is similar to and the key of that, how similar they are; how many rows a row
that is kept stands for, itself too; with weights, how many that of a row that goes stands for."""
_PAIRS: Final = """
    SELECT p.l, a.key, p.r, b.key, p.similarity
    FROM {found} p
    JOIN {docs} a ON a.id OPERATOR(pg_catalog.=) p.l
    JOIN {docs} b ON b.id OPERATOR(pg_catalog.=) p.r
    ORDER BY p.l, p.r
"""
_CLUSTERS: Final = """
    SELECT c.cluster, c.id, d.key, c.representative, c.size, c.similarity
    FROM {found} c
    JOIN {docs} d ON d.id OPERATOR(pg_catalog.=) c.id
    ORDER BY c.cluster, c.id
"""
# As methods and tokenizers cut a text into words.
_WORDS: Final = {
    None: "{words}(body)",
    "words": "{words}(body)",
    "html": "{words}({html_text}(body))",
    "whitespace": "pg_catalog.regexp_split_to_array(pg_catalog.btrim(body), '\\s+')",
}
# White space is no text.
_SHORT: Final = r"""
    SELECT pg_catalog.count(*) FROM {}
    WHERE pg_catalog.cardinality({}) OPERATOR(pg_catalog.<) {} AND body OPERATOR(pg_catalog.~) '\S'
"""


@dataclass(frozen=True, slots=True)
class DedupTask(Task):
    """What is to be done."""

    against: Sequence[str] = ()
    """Files with whose rows those of the sources are compared, in place of with each other."""
    against_text_columns: Sequence[str] = ()
    """The columns that hold their texts."""
    within: str | None = None
    """The column in which two similar rows are equal."""
    across: str | None = None
    """The column in which two similar rows differ."""
    report: Path | None = None
    """Where a page about the near duplicates goes."""
    pairs: Path | None = None
    """Where all pairs go."""
    clusters: Path | None = None
    """Where the clusters go."""
    copies: bool = False
    """Whether a column says how many rows one that is kept stands for."""
    weights: bool = False
    """Whether a column says 1 / how many rows there are that are similar to the kept one, itself too."""
    threshold: float | None = 0.8

    def __post_init__(self) -> None:
        if self.weights:
            # All rows are written.
            object.__setattr__(self, "mark", True)


class Dedup(Job):
    """A task whose files have been looked at."""

    task: DedupTask

    def __init__(self, task: DedupTask, stack: ExitStack, work: Work | None = None) -> None:
        if task.against and (task.report or task.pairs or task.clusters or task.copies or task.weights or task.keep != "longest"):
            raise FileError(
                "with --against, rows are not compared with each other:"
                " it has no --report and no --keep, no --pairs, no --clusters, no --copies and no --weights"
            )
        if task.against_text_columns and not task.against:
            raise FileError("--against-text-column is for the files of --against")
        self.more_sources = task.against
        self.site_column, self.source_column = task.within, task.across
        self.more_outs = [path for path in (task.report, task.pairs, task.clusters) if path is not None]
        super().__init__(task, stack, work)

    def texts_of_other(self, reader: Reader) -> Texts:
        """Those of --against-text-column; else of --text-column, if it has them, or of the one with a usual name."""
        if not self.task.against_text_columns:
            with suppress(FileError):
                return texts_of(reader, self.task.text_columns, "")
        return texts_of(reader, self.task.against_text_columns, "--against-text-column")

    def summary(self) -> str:
        """What was done."""
        done = self.result
        without = f" ({done.empty:,} of them without a text)" if done.empty else ""
        told = f"{done.rows:,} rows{without}: {done.rows - done.removed:,} kept, {done.removed:,} removed"
        return f"{told}{self._tests()}"

    def _tests(self) -> str:
        done, least = self.result, self._least_words()
        short = f"{done.tests_short:,} with fewer than {least[0]} words" if done.tests_short and least else ""
        parts = [f"{done.tests_empty:,} without a text"] if done.tests_empty else []
        if short and least and least[1] == "--shingle":
            whole = f"{short} can be found only as whole rows"
            return f"; of {done.tests:,} tests, {' and '.join([whole, *(f'{part} not at all' for part in parts)])}"
        parts = [short, *parts] if short else parts
        return f"; of {done.tests:,} tests, {' and '.join(parts)} cannot be found" if parts else ""

    def _least_words(self) -> tuple[int, str] | None:
        """The least number of words of a test that can be found, and the option that says it."""
        given = self.task.arguments
        if given.get("method") == "runs":
            options: Any = given.get("options") or {}
            return int(options.get("min_run", 12)), "--min-run"
        shingle: Any = given.get("shingle")
        return (shingle, "--shingle") if isinstance(shingle, int) and shingle > 1 else None

    @property
    def _given(self) -> dict[str, Value]:
        given: dict[str, Value] = {"threshold": self.task.threshold, "id_column": "id", "text_column": "body"}
        given["within"] = None if self.task.within is None else "site"
        given["across"] = None if self.task.across is None else "source"
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

    def compare(self, store: Store, notice: Notice) -> None:
        """Makes the table of the rows that go; those of pairs and clusters, and the page about them, where wanted."""
        self._count_short(store, notice)

        def found(table: str, columns: str, call: tuple[str, list[Value]]) -> Callable[[], str]:
            def make() -> str:
                made = f"CREATE {store.kind}TABLE {store.name(table)} ({columns}) AS {call[0]}"
                return str(store.execute(made, call[1]).rowcount)

            return make

        def page() -> str:
            call, values = store.call("duplicates_report", {"docs": store.name(DOCS), **self._given})
            return str(store.row(call, values)[0])

        self.result.removed = int(
            store.once("rows compared", found("neardup_gone", "id, other, similarity", self._call(store)))
        )
        docs: dict[str, Value] = {"docs": store.name(DOCS), **self._given}
        if self.task.pairs is not None:
            store.once("pairs found", found("neardup_pairs", "l, r, similarity", store.call("near_duplicates", docs)))
        if self.task.clusters is not None:
            columns = "cluster, id, representative, size, similarity"
            call = store.call("near_duplicate_clusters", docs)
            store.once("clusters found", found("neardup_clusters", columns, call))
        if self.task.report is not None and not self.task.dry_run:
            store.once("report made", page)

    def _count_short(self, store: Store, notice: Notice) -> None:
        """Tests that are too short to be found are told, and counted."""
        if self.against is None or (least := self._least_words()) is None:
            return
        words = _WORDS.get(self.task.arguments.get("tokenizer"))  # type: ignore[call-overload]
        if words is None:
            return
        name = extension(store.connection).name
        words = words.format(words=name("words"), html_text=name("html_text"))
        sql = _SHORT.format(store.name(OTHERS), words, least[0])
        self.result.tests_short = short = int(store.once("short tests counted", lambda: str(store.row(sql)[0])))
        if short:
            tests = f"{short:,} of {self.result.tests:,} tests {'has' if short == 1 else 'have'}"
            so = "no row can have a run of them"
            if least[1] == "--shingle":
                # A text with fewer words is a shingle by itself.
                so = "only a row with no other words is similar"
            told = f"{tests} fewer than {least[0]} words, so that {so}; {least[1]} N looks for runs of N words"
            notice(Told(told))

    def verdicts(self, store: Store) -> str:
        """The rows that go, and with --copies or --weights those that stand for them."""
        sql = _WITH_WEIGHTS if self.task.weights else _WITH_COPIES if self.task.copies else _GONE
        return sql.format(gone=store.name("neardup_gone"), docs=store.name(OTHERS if self.against else DOCS))

    def goes(self, verdict: Verdict | None) -> bool:
        """Whether the row is similar to one that is kept."""
        return verdict is not None and verdict[1] is not None

    def more_parts(self, store: Store, stack: ExitStack) -> list[Part]:
        """The pairs, the clusters, the page."""
        task, parts = self.task, list[Part]()
        of = "int64" if task.id_column is None else f"={task.id_column}"
        docs = store.name(DOCS)
        # Rows are told from those of other files by their keys, where they have them.
        several = len(self.inputs.files) > 1 and task.id_column is None

        def row(side: str, number: int, key: str | None) -> dict[str, Any]:
            name, at = self.inputs.place_of(number)
            more = {f"{side}file": name, f"{side}file_row": at} if several else {}
            return {**more, f"{side}id": key_of(key, number)}

        def columns(side: str) -> dict[str, str]:
            return {**({f"{side}file": "string", f"{side}file_row": "int64"} if several else {}), f"{side}id": of}

        if task.pairs is not None:
            listed = Listed({**columns("left_"), **columns("right_"), "similarity": "double"}, self.inputs)
            sql = _PAIRS.format(found=store.name("neardup_pairs"), docs=docs)

            def pair(found: Verdict) -> dict[str, Any]:
                left, left_key, right, right_key, similarity = found
                return {**row("left_", left, left_key), **row("right_", right, right_key), "similarity": similarity}

            parts.append(write_listed(store, stack, task.pairs, self.token, listed, sql, pair))
        if task.clusters is not None:
            more = {"representative": "bool", "size": "int64", "similarity": "double"}
            listed = Listed({"cluster": "int64", **columns(""), **more}, self.inputs)
            sql = _CLUSTERS.format(found=store.name("neardup_clusters"), docs=docs)

            def member(found: Verdict) -> dict[str, Any]:
                cluster, number, key, *rest = found
                return {"cluster": cluster, **row("", number, key), **dict(zip(more, rest, strict=True))}

            parts.append(write_listed(store, stack, task.clusters, self.token, listed, sql, member))
        if task.report is not None:
            parts.append(stack.enter_context(Page(task.report, self.token, store.once("report made", str))))
        return parts

    def added(self) -> dict[str, str]:
        """What says which rows go, with --mark, and how many rows one stands for, or weighs as."""
        names = ["kept", *self._told_names()] if self.task.mark else []
        more = [name for name, wanted in (("copies", self.task.copies), ("weight", self.task.weights)) if wanted]
        return self._typed([*names, *more])

    def told(self) -> dict[str, str]:
        """What says why a row goes."""
        return self._typed(self._told_names())

    def _typed(self, names: list[str]) -> dict[str, str]:
        key = self.task.id_column
        of = {"file": "string", "file_row": "int64", "row": "int64", "kept": "bool", "similarity": "double"}
        of |= {"kept_file": "string", "kept_file_row": "int64", "against_file": "string", "against_file_row": "int64"}
        of |= {"kept_id": "int64" if key is None else f"={key}", "against": "string" if self._against_key else "int64"}
        of |= {"copies": "int64", "weight": "double"}
        return {self.task.prefix + name: of[name] for name in names}

    def _told_names(self) -> list[str]:
        key = self.task.id_column
        names = ["row"] if key is None else []
        if len(self.inputs.files) > 1 and key is None:
            names = ["file", "file_row", *names]
        names.append("against" if self.against else "kept_id")
        other = self.against or self.inputs
        if len(other.files) > 1 and (key is None or self.against):
            side = "against" if self.against else "kept"
            names += [f"{side}_file", f"{side}_file_row"]
        return [*names, "similarity"]

    @property
    def _against_key(self) -> bool:
        return self.against is not None and self.task.id_column in self.against.fields

    def values(self, before: int, verdicts: list[Verdict | None], columns: Sequence[str]) -> dict[str, list[Any]]:
        """Such values of some rows."""
        other = self.against or self.inputs
        numbers = range(before + 1, before + len(verdicts) + 1)
        gone = [verdict if self.goes(verdict) else None for verdict in verdicts]

        def own_place(at: int) -> list[Any]:
            return [self.inputs.place_of(number)[at] for number in numbers]

        def other_place(at: int) -> list[Any]:
            return [verdict and other.place_of(verdict[1])[at] for verdict in gone]

        makers: dict[str, Callable[[], list[Any]]] = {
            "file": lambda: own_place(0),
            "file_row": lambda: own_place(1),
            "row": lambda: list(numbers),
            "kept": lambda: [verdict is None for verdict in gone],
            "kept_id": lambda: [verdict and key_of(verdict[2], verdict[1]) for verdict in gone],
            "against": lambda: [self._against_id(verdict) for verdict in gone],
            "kept_file": lambda: other_place(0),
            "kept_file_row": lambda: other_place(1),
            "against_file": lambda: other_place(0),
            "against_file_row": lambda: other_place(1),
            "similarity": lambda: [verdict and verdict[3] for verdict in gone],
            "copies": lambda: [1 if verdict is None else 0 if self.goes(verdict) else verdict[4] for verdict in verdicts],
            "weight": lambda: [1.0 if verdict is None else 1 / verdict[4] for verdict in verdicts],
        }
        return {name: makers[name.removeprefix(self.task.prefix)]() for name in columns}

    def _against_id(self, verdict: Verdict | None) -> Any:
        if verdict is None:
            return None
        found = key_of(verdict[2], verdict[1])
        return str(found) if self._against_key else found
