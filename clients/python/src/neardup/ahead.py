"""A private server that is started beside what else has to be done before it is used."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import Event, Thread
from types import TracebackType
from typing import Self

from neardup.server import PrivateServer


class Ahead:
    """A server that begins to start with the `with` block, and is stopped at its end, however far it has come."""

    def __init__(self, server: Callable[[], PrivateServer]) -> None:
        self._make = server
        self._running = ExitStack()
        self._server: PrivateServer | None = None
        self._error: BaseException | None = None
        # Before Python 3.13, a thread whose join() a signal interrupts counts as ended.
        self._has_come = Event()

    def _start(self) -> None:
        try:
            self._server = self._running.enter_context(self._make())
        except BaseException as error:
            self._error = error
        finally:
            self._has_come.set()

    def server(self) -> PrivateServer:
        """The server, once it runs."""
        self._has_come.wait()
        if self._error is not None:
            raise self._error
        assert self._server is not None
        return self._server

    def __enter__(self) -> Self:
        Thread(target=self._start).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._has_come.wait()
        self._running.close()
