"""Runs the command and ends itself by kill -9 at one of the places at which a step is done.

`python ended.py LOG before|after N ARGUMENTS…`: each step that is done is a line of LOG; with the Nth one of this run,
before it is done or after it, the process is gone.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from neardup import loading
from neardup.__main__ import main
from neardup.files import chunks, lines
from neardup.outputs import Part
from neardup.store import Store
from neardup.work import Work

log, when, which = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
done = 0


def reached(place: str) -> None:
    if when == place and done == which - (place == "before"):
        os.kill(os.getpid(), signal.SIGKILL)


def tell(what: str) -> None:
    global done
    with log.open("a") as out:
        out.write(f"{what}\n")
    done += 1
    reached("after")


class Told:
    """What the transaction that runs is about."""

    what = ""


def wrap(of: type, name: str, what: Callable[..., str]) -> None:
    inner = getattr(of, name)

    def wrapped(self: Any, *arguments: Any) -> Any:
        told = what(self, *arguments)
        if told:
            reached("before")
        result = inner(self, *arguments)
        if told:
            tell(told)
        return result

    setattr(of, name, wrapped)


inner_step = Store.step


@contextmanager
def step(self: Store) -> Iterator[None]:
    with inner_step(self):
        yield
        reached("before")
    tell(Told.what)


def remember(inner: Callable[..., Any], what: Callable[..., str]) -> Callable[..., Any]:
    def wrapped(self: Any, *arguments: Any) -> Any:
        Told.what = what(*arguments)
        return inner(self, *arguments)

    return wrapped


Store.step = step  # type: ignore[method-assign]
Store.once = remember(Store.once, lambda name, work: name)  # type: ignore[method-assign] # noqa: ARG005
Store.tell_loaded = remember(  # type: ignore[method-assign]
    Store.tell_loaded, lambda docs, file, now: f"{docs} {file}: {'some' if now.seen is None else 'all'} {now.rows} rows"
)
wrap(Part, "finish", lambda self: "" if self.is_whole else f"whole {self.path.name}")
wrap(Work, "name", lambda *_: "all are whole")
loading._PART = 4000  # type: ignore[misc]
lines.CHUNK_ROWS = chunks.CHUNK_ROWS = 20

if __name__ == "__main__":
    sys.exit(main(sys.argv[4:]))
