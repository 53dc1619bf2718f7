"""Which method and threshold fit the texts of files, by `suggest`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup import hints
from neardup.calls import Value
from neardup.job import DOCS, Job, Verdict
from neardup.store import Store
from neardup.task import Notice


class Suggest(Job):
    """Files that are read, and about which something is said."""

    def _call(self, store: Store) -> tuple[str, list[Value]]:
        return store.call("suggest", {"docs": store.name(DOCS), "id_column": "id", "text_column": "body"})

    def probe(self, store: Store) -> None:
        """Nothing: it has no arguments that could be wrong."""

    def compare(self, store: Store, notice: Notice) -> None:  # noqa: ARG002
        """Asks for it."""
        call, values = self._call(store)
        rows = store.execute(call, values).fetchall()
        self.said = [
            line for method, fits, _, _, reason, call, *_ in rows for line in _lines(method, fits, reason, call)
        ]

    def found(self) -> str:
        """What was found, in words."""
        return f"{len(self.said) // 2} methods"

    def summary(self) -> str:
        """How many rows were read."""
        return f"{self.result.rows:,} rows"

    def verdicts(self, store: Store) -> str:
        """Nothing is written."""
        raise NotImplementedError

    def added(self) -> dict[str, str]:
        """None."""
        return {}

    def told(self) -> dict[str, str]:
        """None."""
        return {}

    def values(self, before: int, verdicts: list[Verdict | None], columns: Sequence[str]) -> dict[str, list[Any]]:  # noqa: ARG002
        """None."""
        return {}


def _lines(method: str, fits: bool | None, reason: str, call: str | None) -> list[str]:
    """A method as flags of dedup, and why."""
    flags = hints.as_flags(call or "") or f"--method {method}"
    return [f"neardup dedup IN OUT {flags}" if fits else f"not {method}", f"    {reason}"]
