"""What is to be done with files, and what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import psycopg

from neardup.calls import Value
from neardup.files import JSON_LINES, Form


@dataclass(frozen=True, slots=True)
class Told:
    """What is told on the way, such as what the answer may lack: by the server, or by us."""

    message_primary: str | None
    message_detail: str | None = None
    message_hint: str | None = None


Notice: TypeAlias = Callable[[Told | psycopg.errors.Diagnostic], None]
"""Takes what is told, as it comes."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be done."""

    sources: Sequence[str]
    """Files, folders, patterns, or - for the standard input."""
    kept: str
    """Where the rows that stay go, or all of them where they are to be marked: a file, a folder, or -."""
    removed: Path | None = None
    """Where the rows that go, and why, go."""
    mark: bool = False
    """Whether all rows are written, with columns that say what became of them."""
    standard: Form = JSON_LINES
    """The form of the standard input."""
    to: Form | None = None
    """The form of what is written to a folder or to the standard output."""
    text_columns: Sequence[str] = ()
    """The columns that hold the texts, and paths into them; of a file, those that it has."""
    exclude: Sequence[str] = ()
    """Patterns of files that are left out."""
    by_line: bool = False
    """Whether each line of a .txt file is a document."""
    quoted: bool = False
    """Whether values of TSV are quoted as those of CSV."""
    skip_bad: bool = False
    """Whether lines that are no rows are passed over."""
    bad_lines: Path | None = None
    """Where these lines go."""
    dry_run: bool = False
    """Whether nothing is written."""
    id_column: str | None = None
    """What stands for a row in what is written about it; its number where there is none."""
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
    characters: int = 0
    """Of all texts."""
    removed: int = 0
    cut: int = 0
    """Rows whose texts lost something."""
    cut_characters: int = 0
    bad: int = 0
    """Lines that were passed over."""
    short: int = 0
    """Rows with fewer words left than are wanted, which stay since nothing was cut out of them."""
    tests: int = 0
    """Rows with which those of the sources are compared."""
    tests_empty: int = 0
    """Those of them without a text."""
    tests_short: int | None = None
    """Those of them that are too short to be found; None where that is not known."""
