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
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import neardup
from neardup import hints
from neardup.catalog import MissingExtensionError
from neardup.files import FileError, Form, form_of
from neardup.progress import Bar
from neardup.server import PrivateServer, ServerError, installations

EPILOG = """\
Forms of files, by the end of the name: .parquet; .arrow; .jsonl, .ndjson and .json (each line a JSON object), .csv and
.tsv, these also with .gz or .zst. A folder stands for the files in it and below it, in the order of their names; so
does a data set that save_to_disk of Hugging Face wrote. OUT may have another form than IN.

Every row that is removed is similar to a row that is kept, and no two rows that are kept are similar. With --against,
the rows are compared with those of other files instead, such as the tests of a model.

The work is done by PostgreSQL with the extension neardup: by a private server that is started for the call and gone at
its end (`python -m neardup where` lists the installations that it is started from), or by that of --dsn, in temporary
tables. The files are read twice, some thousand rows at a time.

  neardup dedup crawl.jsonl.zst out.parquet                          a file
  neardup dedup shards/ out/ --removed gone.jsonl.zst                a folder, each file of it to one of the same name
  neardup dedup 'part-*.parquet' out.parquet --keep max:score        files, of which the rows with the best score stay
  neardup dedup train/ clean/ --against tests.jsonl --threshold 0.7  without the rows that contain a row of the tests
  zcat in.jsonl.gz | neardup dedup - - | next                        from a pipe to a pipe
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    top = argparse.ArgumentParser(prog="neardup", description="Near-duplicate documents, by PostgreSQL.")
    top.add_argument("--version", action="version", version=neardup.__version__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("where", help="list the PostgreSQL servers of this machine, and which has the extension")
    dedup = commands.add_parser(
        "dedup",
        help="copy files of documents without their near duplicates",
        description="Copy files of documents without their near duplicates.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = dedup.add_argument
    add("source", metavar="IN", nargs="+", help="file, folder, pattern in quotes, or - for the standard input")
    add(
        "kept",
        metavar="OUT",
        help="file for the kept rows, folder for one file per input, or - for the standard output",
    )
    group = dedup.add_argument_group("columns")
    group.add_argument(
        "--text-column", metavar="NAME", help="column that holds the text; default: body, content, text or document"
    )
    group.add_argument(
        "--id-column", metavar="NAME", help="column that identifies a row in the output; default: its number, from 1"
    )
    group.add_argument("--prefix", default="", help="put before the names of the columns that are added")
    _comparison(dedup.add_argument_group("comparison"))
    _output(dedup.add_argument_group("output"))
    _server(dedup.add_argument_group("server"))
    return top


def _comparison(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--threshold", type=float, help="least similarity of two duplicates, 0 to 1; default: 0.8 for most methods")
    add(
        "--method",
        help="how rows are compared: jaccard (the default), containment (the default with --against),"
        " minhash for very many rows, edit for short texts, …",
    )
    add("--tokenizer", help="how a text is cut: words, chars, whitespace, html, tsearch:english, …; default: words")
    add("--shingle", type=int, metavar="N", help="compare runs of N words (or characters) instead of single ones")
    add("--options", type=_options, metavar="JSON", help="""more arguments of the method: '{"recall": 0.99}'""")
    add(
        "--keep",
        default="longest",
        type=_keep,
        metavar="RULE",
        help="row that is kept of several: longest, first, min:COLUMN or max:COLUMN; default: %(default)s",
    )
    add(
        "--against",
        metavar="FILE",
        action="append",
        default=[],
        help="remove the rows that are similar to a row of FILE, and compare them with nothing else;"
        " by containment: those that contain the share --threshold of its words. Can be repeated",
    )


def _output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--removed", metavar="FILE", type=Path, help="file for the removed rows, each with the row it is similar to")
    add("--mark", action="store_true", help="write all rows to OUT, with columns that say which are removed, and why")
    add(
        "--report",
        metavar="FILE",
        type=Path,
        help="HTML page about the near duplicates; takes the comparison once more",
    )
    add(
        "--format",
        type=_form,
        default="jsonl",
        metavar="FORM",
        help="form of the standard input: jsonl (the default), csv.gz, …",
    )
    add(
        "--to",
        type=_form,
        metavar="FORM",
        help="form of the files in the folder OUT, or of the standard output; default: that of IN",
    )
    add("--force", action="store_true", help="overwrite files that exist")
    add("--quiet", action="store_true", help="show neither progress nor the summary")


def _server(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--memory", default="256MB", help="memory of the comparison; more goes to temporary files; default: %(default)s"
    )
    add("--threads", type=int, metavar="N", help="threads of the comparison; default: the setting of the server")
    place = group.add_mutually_exclusive_group()
    place.add_argument("--dsn", help="connection string of a server that has the extension, instead of a private one")
    place.add_argument("--pg-config", metavar="PATH", help="pg_config of the installation for the private server")


def _form(text: str) -> Form:
    form = form_of(Path(f"x.{text}"))
    if form is None:
        raise argparse.ArgumentTypeError(f"not a form: {text!r}; such as parquet, jsonl, jsonl.zst, csv.gz")
    return form


def _keep(text: str) -> str:
    if text in ("longest", "first") or (text.partition(":")[0] in ("min", "max") and text[4:]):
        return text
    raise argparse.ArgumentTypeError(f"not a rule: {text!r}; longest, first, min:COLUMN or max:COLUMN")


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

        from neardup.dedup import Dedup, Task
    except ImportError as error:
        raise ServerError(f"this needs psycopg: pip install 'neardup[command]' ({error})") from error
    settings = {"neardup.memory": given.memory}
    if given.threads is not None:
        settings["neardup.threads"] = str(given.threads)
    more = {name: getattr(given, name) for name in ("method", "tokenizer", "shingle", "options")}
    more["method"] = given.method or ("containment" if given.against else "jaccard")
    taken = ("kept", "against", "removed", "report", "mark", "to", "threshold", "text_column", "id_column", "prefix")
    named = {name: getattr(given, name) for name in (*taken, "force", "keep")}
    task = Task(given.source, **named, standard=given.format, arguments=more, settings=settings)
    began = time.monotonic()
    with ExitStack() as stack:
        work = Dedup(task, stack)
        try:
            with _connected(given) as connection:
                result = work.run(connection, _bars(shown=not given.quiet), _tell)
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
