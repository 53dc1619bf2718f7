"""The command: `python -m neardup dedup in.parquet out.parquet --threshold 0.8`, `python -m neardup cut …`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

from neardup import hints
from neardup.arguments import arguments_of, parser
from neardup.catalog import MissingExtensionError
from neardup.files import FileError
from neardup.progress import Bar
from neardup.server import Lasting, PrivateServer, ServerError, installations

if TYPE_CHECKING:
    from neardup.job import Job
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
    taken = ["sources", "kept", "removed", "mark", "to", "text_column", "id_column", "prefix", "force", "keep"]
    if given.command == "cut":
        from neardup.cut import Cut as Made
        from neardup.cut import CutTask as Asked

        taken += ["within", "empty", "runs"]
    else:
        from neardup.dedup import Dedup as Made  # type: ignore[assignment]
        from neardup.dedup import DedupTask as Asked  # type: ignore[assignment]

        taken += ["against", "report", "threshold"]
    named = {name: getattr(given, name) for name in taken}
    task = Asked(**named, standard=given.format, arguments=arguments_of(given), settings=settings)
    return Made(task, stack, work)


def _files(given: argparse.Namespace) -> int:
    try:
        import psycopg

        from neardup.work import Work
    except ImportError as error:
        raise ServerError(f"this needs psycopg: pip install 'neardup[command]' ({error})") from error
    if given.work is not None and given.dsn is not None:
        raise FileError("--work is for the private server, whose files stay there: it does not go with --dsn")
    began = time.monotonic()
    with ExitStack() as stack:
        work = stack.enter_context(Work(given.work)) if given.work is not None else None
        job = _job(given, stack, work)
        if work is not None and work.is_kept and not given.quiet:
            print(f"neardup: goes on with what an earlier call has done, in {work.folder}", file=sys.stderr)
        try:
            if work is not None and work.names is not None:
                job.result = work.give_names()
            else:
                with _connected(given, work) as connection:
                    job.run(connection, _bars(shown=not given.quiet), _tell)
        except BaseException as error:
            if work is not None and work.is_kept:
                print(f"neardup: what is done stays in {work.folder}: the same call goes on with it", file=sys.stderr)
            if isinstance(error, psycopg.Error):
                raise ServerError(_words(error)) from error
            raise
        if work is not None:
            work.remove()
    if not given.quiet:
        print(f"{job.summary()}, in {time.monotonic() - began:.1f} s", file=sys.stderr)
    return 0


@contextmanager
def _connected(given: argparse.Namespace, work: Work | None) -> Iterator[Any]:
    import psycopg

    if given.dsn is not None:
        with psycopg.connect(given.dsn, autocommit=True) as connection:
            yield connection
        return
    lasting = Lasting(work.data, work.lock) if work is not None else None
    with PrivateServer(given.pg_config, lasting=lasting) as server:
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
    """Says what the server tells, when it tells it, above a bar."""
    from tqdm import tqdm

    said = "\n".join([f"neardup: {hints.notice(told.message_primary or '')}", *_more(told)])
    tqdm.write(said, file=sys.stderr)
    sys.stderr.flush()


def _bars(*, shown: bool) -> Callable[[str], Bar]:
    """Bars on the terminal; nothing where there is none."""
    try:
        from tqdm import tqdm
    except ImportError as error:
        raise ServerError("a progress bar needs tqdm: pip install 'neardup[command]', or --quiet") from error
    form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}"

    def bar(title: str) -> Bar:
        made: Bar = tqdm(total=100, desc=title, bar_format=form, disable=None if shown else True)
        return made

    return bar


if __name__ == "__main__":
    sys.exit(main())
