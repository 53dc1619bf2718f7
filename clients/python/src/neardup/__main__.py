"""The command: `neardup dedup in.parquet out.parquet --threshold 0.8`, `neardup cut …`; also `python -m neardup`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from neardup import hints
from neardup.ahead import Ahead
from neardup.arguments import arguments_of, parser
from neardup.bars import bars_for, say
from neardup.catalog import MissingExtensionError
from neardup.files import FileError
from neardup.progress import Bar, end
from neardup.server import Lasting, PrivateServer, ServerError, installations

if TYPE_CHECKING:
    from neardup.job import Job
    from neardup.task import Task
    from neardup.work import Work


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; 1 where something is wrong with it."""
    given = parser().parse_args(arguments)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        # What nohup, or a shell for a command in the background, has set to be ignored is ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _terminated)
    try:
        return _where() if given.command == "where" else _files(given)
    except _Terminated as error:
        return 128 + error.number
    except KeyboardInterrupt:
        return 130
    except (FileError, ServerError, MissingExtensionError) as error:
        print(f"neardup: {error}", file=sys.stderr)
    except OSError as error:
        print(f"neardup: {error.filename or 'the system'}: {error.strerror or error}", file=sys.stderr)
    return 1


class _Terminated(KeyboardInterrupt):
    """A signal that ends the command: psycopg cancels what runs where a KeyboardInterrupt comes."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def _terminated(number: int, _: FrameType | None) -> NoReturn:
    # By way of an exception, so that the server ends and no half file stays.
    if number == signal.SIGHUP:
        # The terminal is gone: what is said on the way out must not fail.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for output in (1, 2):
            if os.isatty(output) or not _can_be_written(output):
                os.dup2(nowhere, output)
        os.close(nowhere)
    raise _Terminated(number)


def _can_be_written(output: int) -> bool:
    try:
        return os.write(output, b"") == 0
    except OSError:
        return False


def _where() -> int:
    found = list(installations())
    for place in found:
        print(place)
    if not any(place.has_extension for place in found):
        print("None of them has the extension: `make install PG_CONFIG=…` in neardup's source puts it there.")
        return 1
    return 0


def _job(given: argparse.Namespace, stack: ExitStack, work: Work | None) -> Job:
    settings = {"neardup.memory": given.memory}
    if given.threads is not None:
        settings["neardup.threads"] = str(given.threads)
    taken: dict[str, Any] = {"standard": given.format, "arguments": arguments_of(given), "settings": settings}
    taken["skip_bad"] = given.skip_bad or getattr(given, "bad_lines", None) is not None
    if given.command == "suggest":
        from neardup.suggest import Suggest
        from neardup.task import Task

        return Suggest(Task(**_of(Task, given, {**taken, "kept": "-", "dry_run": True})), stack)
    if given.command == "cut":
        from neardup.cut import Cut, CutTask

        return Cut(CutTask(**_of(CutTask, given, taken)), stack, work)
    from neardup.dedup import Dedup, DedupTask

    return Dedup(DedupTask(**_of(DedupTask, given, taken)), stack, work)


def _of(task: type[Task], given: argparse.Namespace, taken: dict[str, Any]) -> dict[str, Any]:
    """What a task is made of: the arguments that have the names of its fields."""
    named = {each.name: getattr(given, each.name) for each in fields(task) if hasattr(given, each.name)}
    return named | taken


def _files(given: argparse.Namespace) -> int:
    place = getattr(given, "work", None)
    if place is not None and given.dsn is not None:
        raise FileError("--work is for the private server, whose files stay there: it does not go with --dsn")
    began = time.monotonic()
    bars = bars_for(shown=not given.quiet)
    with ExitStack() as stack:
        with closing(bars("looking at the files")) as bar:
            # One whose files stay is started when the files have been looked at, and nothing is made if they are wrong.
            private = given.dsn is None and place is None
            ahead = stack.enter_context(Ahead(lambda: PrivateServer(given.pg_config))) if private else None
            try:
                import psycopg

                from neardup.work import Work
            except ImportError as error:
                raise ServerError(f"this needs psycopg: pip install 'neardup[command]' ({error})") from error
            work = stack.enter_context(Work(place)) if place is not None else None
            job = _job(given, stack, work)
            end(bar, f"{sum(len(inputs.files) for inputs in job.all_inputs):,} files")
        if work is not None and work.is_kept and not given.quiet:
            say(f"neardup: goes on with what an earlier call has done, in {work.folder}")
        try:
            if work is not None and work.names is not None:
                job.result = work.give_names()
            else:
                with ExitStack() as running:
                    if ahead is not None:
                        running.push(ahead)
                    job.run(_begun(given, work, ahead, running, bars), bars, _tell)
        except BaseException as error:
            if work is not None and work.is_kept:
                say(f"neardup: what is done stays in {work.folder}: the same call goes on with it")
            elif isinstance(error, KeyboardInterrupt) and not given.quiet:
                say("neardup: interrupted: no file of OUT was written, and the files of the server are removed")
            if isinstance(error, psycopg.Error):
                raise ServerError(_words(error)) from error
            raise
        if work is not None:
            work.remove()
    print(end="".join(f"{line}\n" for line in job.said))
    if not given.quiet:
        bad = f"; {job.result.bad:,} lines were no rows and were passed over" if job.result.bad else ""
        nothing = "; nothing was written (--dry-run)" if getattr(given, "dry_run", False) else ""
        print(f"{job.summary()}{bad}{nothing}, in {time.monotonic() - began:.1f} s", file=sys.stderr)
    return 0


def _begun(
    given: argparse.Namespace, work: Work | None, ahead: Ahead | None, running: ExitStack, bars: Callable[[str], Bar]
) -> Any:
    """A connection to the server, which ends with `running`."""
    import psycopg

    if given.dsn is not None:
        return running.enter_context(psycopg.connect(given.dsn, autocommit=True))
    with closing(bars("starting the server")) as bar:
        if work is not None:
            server = running.enter_context(PrivateServer(given.pg_config, lasting=Lasting(work.data, work.lock)))
        else:
            assert ahead is not None
            server = ahead.server()
        connection = running.enter_context(_connected(server))
        end(bar)
    return connection


@contextmanager
def _connected(server: PrivateServer) -> Iterator[Any]:
    import psycopg

    try:
        with psycopg.connect(server.dsn, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS neardup")
            yield connection
    except psycopg.Error as error:
        # Where a log cannot be written, either, all that is told is that the connection is lost.
        lost = isinstance(error, psycopg.OperationalError) and error.sqlstate is None and server.is_full()
        if lost or isinstance(error, psycopg.errors.DiskFull):
            raise server.no_space() from error
        raise


def _words(error: Any) -> str:
    told = error.diag
    return "\n".join([told.message_primary or str(error).strip(), *_more(told)])


def _more(told: Any) -> Iterator[str]:
    if told.message_detail:
        yield f"DETAIL: {told.message_detail}"
    if told.message_hint and (hint := hints.as_flags(told.message_hint)):
        yield f"HINT: {hint}"


def _tell(told: Any) -> None:
    """Says what the server tells, when it tells it."""
    say("\n".join([f"neardup: {hints.notice(told.message_primary or '')}", *_more(told)]))


if __name__ == "__main__":
    sys.exit(main())
