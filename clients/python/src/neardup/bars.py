"""How far a command is: bars on a terminal; else lines on the standard error, at each phase and every minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final

from neardup.progress import Bar
from neardup.server import ServerError

EVERY: Final = 60.0
"""Seconds from one line to the next."""


def bars_for(*, shown: bool) -> Callable[[str], Bar]:
    """Makes a bar with a title."""
    if not shown:
        return Silent
    if not sys.stderr.isatty():
        return Lines
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ServerError("a progress bar needs tqdm: pip install 'neardup[command]', or --quiet") from error
    form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}"

    def bar(title: str) -> Bar:
        made: Bar = tqdm(total=100, desc=title, bar_format=form)
        return made

    return bar


def say(text: str) -> None:
    """Says something, above a bar where there is one."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        tqdm.write(text, file=sys.stderr)
    else:
        print(text, file=sys.stderr)
    sys.stderr.flush()


class Silent:
    """Shows nothing."""

    def __init__(self, title: str) -> None:
        self.n: float = 0
        self.total: float | None = 100
        self.title = title
        self.more = ""

    def set_description_str(self, desc: str | None = None, refresh: bool | None = True) -> None:
        """Says what is done."""
        self.title = desc or self.title
        if refresh:
            self.refresh()

    def set_postfix_str(self, s: str = "", refresh: bool = True) -> None:
        """Says more."""
        self.more = s
        if refresh:
            self.refresh()

    def refresh(self) -> None:
        """Shows it as it is."""

    def close(self) -> None:
        """Ends it."""


class Lines(Silent):
    """Writes a line when it begins, every minute, and when it ends."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._began = self._said = time.monotonic()
        self._say(title)

    def refresh(self) -> None:
        """Writes a line if the last one was long ago."""
        now = time.monotonic()
        if now - self._said >= EVERY and self.n < 100:
            self._said = now
            share = f", {self.n:.0f} %" if self.n else ""
            self._say(f"{self.title}{share}{self._more()}, {now - self._began:.0f} s")

    def close(self) -> None:
        """Writes what came of it, if it came to its end."""
        if self.n >= 100:
            self._say(f"{self.title}: done{self._more()}, {time.monotonic() - self._began:.1f} s")

    def _more(self) -> str:
        return f", {self.more}" if self.more else ""

    def _say(self, text: str) -> None:
        print(f"neardup: {text}", file=sys.stderr, flush=True)
