"""Where a long call is, as its NOTICEs tell: a bar of tqdm, or anything else that can be told.

With `neardup.progress = on` a call of the extension says at most twice a second what it does:
`near_duplicates: reading, 600 documents`, `near_duplicates: joining, 45 %, 12 pairs`;
`near_duplicates_into` says which of its steps are done.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self

SETTING: Final = "neardup.progress"

_REPORT: Final = re.compile(r"(?P<call>[a-z_]+): (?P<phase>[a-z]+ing(?: [a-z]+)?)(?:, (?P<details>\d.*))?")
_SHARE: Final = re.compile(r"(\d+) %")
_STEP: Final = re.compile(
    r"(?P<call>[a-z_]+): step (?P<step>\d+) of (?P<steps>\d+), (?P<phase>[^:]+)(?:: (?P<details>.+))?"
)


@dataclass(frozen=True, slots=True)
class Report:
    """What one NOTICE tells."""

    call: str
    """The function that is called."""
    phase: str
    """What it does: `reading`, `ordering`, `joining`."""
    share: float | None
    """How much of the phase is done, from 0 to 1; None where that is not known."""
    details: str
    """How many documents it has read, or pairs it has found."""
    is_step: bool = field(default=False, compare=False)
    """Whether the share is of steps that are done, and not of a phase that goes on."""


def parse(notice: str) -> Report | None:
    """What a NOTICE tells of progress; None of one that tells something else."""
    if found := _STEP.fullmatch(notice):
        share = int(found["step"]) / max(1, int(found["steps"]))
        return Report(found["call"], found["phase"], share, found["details"] or "", is_step=True)
    if found := _REPORT.fullmatch(notice):
        details = found["details"] or ""
        if (percent := _SHARE.match(details)) is None:
            return Report(found["call"], found["phase"], None, details)
        return Report(
            found["call"], found["phase"], min(int(percent[1]), 100) / 100, details[percent.end() :].lstrip(", ")
        )
    return None


class Bar(Protocol):
    """What can show progress: a bar of tqdm can."""

    n: float
    total: float | None

    def set_description_str(self, desc: str | None = None, refresh: bool | None = True) -> None:
        """Says what is done."""

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
        """Says more, behind the bar."""

    def refresh(self) -> Any:
        """Shows it as it is."""

    def close(self) -> None:
        """Ends it."""


def end(bar: Bar, said: str | None = None) -> None:
    """A phase is done."""
    if said is not None:
        bar.set_postfix_str(said)
    bar.n = 100
    bar.refresh()


def tqdm_bar() -> Bar:
    """A bar that goes to 100 %."""
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("a progress bar needs tqdm: pip install 'neardup[progress]'") from error
    bar: Bar = tqdm(total=100, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}{postfix}")
    return bar


class Progress:
    """Takes NOTICEs and tells a bar, and a function where one is given."""

    def __init__(
        self, bar: Bar | None = None, tell: Callable[[Report], None] | None = None, title: str | None = None
    ) -> None:
        self._bar = bar if bar is not None else tqdm_bar()
        self._tell = tell
        self._title = title
        self.other: list[str] = []
        """The NOTICEs that are not of progress: what an answer may lack is told there."""

    def notice(self, message: str) -> None:
        """Takes one NOTICE."""
        report = parse(message)
        if report is None:
            self.other.append(message)
            return
        if self._tell is not None:
            self._tell(report)
        # A rounded share of what is looked at: where it is all, the call still goes on, and gives what it found.
        ends = report.share is not None and report.share >= 1 and not report.is_step
        phase = f"{report.phase}, the rest is of unknown size" if ends else report.phase
        self._bar.set_description_str(f"{self._title or report.call}: {phase}", refresh=False)
        self._bar.set_postfix_str(report.details, refresh=False)
        self._bar.n = 99 if ends else 100 * (report.share or 0)
        self._bar.refresh()

    def close(self) -> None:
        """Ends the bar."""
        self._bar.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
