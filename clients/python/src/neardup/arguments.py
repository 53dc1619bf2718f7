"""The arguments of the command, and what `--help` says of each.

They are read by argparse, which Python brings: the package stands on nothing.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import neardup
from neardup.files import FileError, Form, form_of

_FORMS: Final = """\
Forms of files, by the end of the name: .parquet; .arrow; .jsonl, .ndjson and .json (each line a JSON object, or an
array of them), .csv and .tsv, all but the first two also with .gz, .zst, .bz2 or .xz; to read only, .txt, .warc, .wet.
A folder stands for the files in it and below it, in the order of their names, but for hidden ones and those that begin
with _; so does a data set that save_to_disk of Hugging Face wrote. s3://, hf://, gs:// and others are read by fsspec.
OUT may have another form than IN.
"""
_SERVER: Final = """\
The work is done by PostgreSQL with the extension neardup: by a private server that is started for the call and gone at
its end (`neardup where` lists the installations that it is started from), or by that of --dsn, in temporary
tables. The files are read twice, some thousand rows at a time.

With --work FOLDER, a call that ends before its time can be called again: it goes on with what is not yet done.
"""
_MIN_RUN: Final = 8
"""The least number of words of a run, with --against; else the server's."""
DEDUP: Final = f"""\
{_FORMS}
Every row that is removed is similar to a row that is kept, and no two rows that are kept are similar. With --against,
the rows are compared with those of other files instead, such as the tests of a model.

{_SERVER}
  neardup dedup crawl.jsonl.zst out.parquet                          a file
  neardup dedup shards/ out/ --removed gone.jsonl.zst                a folder, each file of it to one of the same name
  neardup dedup 'part-*.parquet' out.parquet --keep max:score        files, of which the rows with the best score stay
  neardup dedup train/ clean/ --against tests.jsonl                  without the rows that contain a row of the tests
  neardup dedup shards/ out/ --work /disk/work                       many files; the same once more if it was ended
  zcat in.jsonl.gz | neardup dedup - - | next                        from a pipe to a pipe
"""
CUT: Final = f"""\
{_FORMS}
OUT has all rows, in their order, and each text without what stands before it in this or another text: every run of
--min-length words, whatever their case and punctuation, but the first one of each. Nothing that stands once is cut.

{_SERVER}
  neardup cut shards/ out/ --runs runs.jsonl.zst                     a folder; what was cut and where it stands first
  neardup cut in.parquet out.parquet --snap sentence --min-left 20   whole sentences; rows with less left are removed
  neardup cut pages.jsonl out.jsonl --unit line --within site --min-share 0.3 --keep none
                                                                     lines that many pages of a site have
"""


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    top = argparse.ArgumentParser(prog="neardup", description="Near-duplicate documents, by PostgreSQL.")
    top.add_argument("--version", action="version", version=neardup.__version__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("where", help="list the PostgreSQL servers of this machine, and which has the extension")
    suggest = commands.add_parser(
        "suggest",
        help="say which method and threshold fit the texts of files",
        description="Say which method and threshold of dedup fit the texts of files, and why.",
    )
    suggest.add_argument("sources", metavar="IN", nargs="+", help="as of dedup")
    _input(suggest)
    _server(suggest.add_argument_group("server"), work=False)
    suggest.add_argument("--quiet", action="store_true", help="do not show progress")
    dedup = _command(commands, "dedup", "copy files of documents without their near duplicates", DEDUP)
    _comparison(dedup.add_argument_group("comparison"))
    output = dedup.add_argument_group("output")
    output.add_argument(
        "--removed", metavar="FILE", type=Path, help="file for the removed rows, each with the row it is similar to"
    )
    output.add_argument(
        "--mark", action="store_true", help="write all rows to OUT, with columns that say which are removed, and why"
    )
    output.add_argument(
        "--report",
        metavar="FILE",
        type=Path,
        help="HTML page about the near duplicates; takes the comparison once more",
    )
    output.add_argument(
        "--pairs", metavar="FILE", type=Path, help="file for all pairs of similar rows; takes the comparison once more"
    )
    output.add_argument(
        "--clusters", metavar="FILE", type=Path, help="file for the clusters of similar rows; takes it once more, too"
    )
    output.add_argument(
        "--copies",
        action="store_true",
        help="add the column copies: how many rows a row that is kept stands for, itself too",
    )
    output.add_argument(
        "--weights",
        action="store_true",
        help="as --mark, with the column weight: 1 / the number of rows that the kept row stands for",
    )
    _output(output)
    _server(dedup.add_argument_group("server"))
    cut = _command(commands, "cut", "copy files of documents without what their texts say again", CUT)
    _repeats(cut.add_argument_group("what is cut"))
    output = cut.add_argument_group("output")
    _short(output)
    _output(output)
    _server(cut.add_argument_group("server"))
    return top


def _command(commands: Any, name: str, does: str, epilog: str) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=does,
        description=f"{does[0].upper()}{does[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("sources", metavar="IN", nargs="+", help="file, folder, pattern in quotes, or - for the standard input")
    add(
        "kept",
        metavar="OUT",
        help="file for the kept rows, folder for one file per input, or - for the standard output",
    )
    group = _input(made)
    group.add_argument(
        "--id-column", metavar="NAME", help="column that identifies a row in the output; default: its number, from 1"
    )
    group.add_argument("--prefix", default="", help="put before the names of the columns that are added")
    return made


def _input(made: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    add = made.add_argument_group("input").add_argument
    add(
        "--format",
        type=_form,
        default="jsonl",
        metavar="FORM",
        help="form of the standard input: jsonl (the default), csv.gz, …",
    )
    add("--exclude", metavar="GLOB", action="append", default=[], help="leave out such files; can be repeated")
    add("--lines", dest="by_line", action="store_true", help="each line of a .txt file is a document, not each file")
    add("--tsv-quotes", dest="quoted", action="store_true", help="values of .tsv files are quoted as those of CSV")
    add("--skip-bad", action="store_true", help="pass over lines that are no rows; they are counted")
    group = made.add_argument_group("columns")
    group.add_argument(
        "--text-column",
        dest="text_columns",
        metavar="NAME",
        action="append",
        default=[],
        help="column that holds the text, or a path into one, such as messages[].content; repeated, the texts of all"
        " that a file has are joined; default: body, content, text or document, else messages[].content",
    )
    return group


def _comparison(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--threshold", type=float, help="least similarity of two duplicates, 0 to 1; default: 0.8 for most methods")
    add(
        "--method",
        help="how rows are compared: jaccard (the default), runs for runs of the same words (the default with"
        " --against), containment (with --against and --shingle), minhash for very many rows, edit for short texts, …",
    )
    add("--tokenizer", help="how a text is cut: words, chars, whitespace, html, tsearch:english, …; default: words")
    add("--shingle", type=int, metavar="N", help="compare runs of N words (or characters) instead of single ones")
    add(
        "--min-run",
        type=int,
        metavar="N",
        help="with --method runs: least number of words of a run that two texts have in common; default: 12, with"
        " --against 8",
    )
    add("--normalize", choices=("nfc", "nfkc"), help="compare texts in this normalization form of Unicode")
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
        help="remove the rows that are similar to a row of FILE, and compare them with nothing else: those that have"
        " the share --threshold of its words in runs of --min-run words. Can be repeated",
    )
    add(
        "--against-text-column",
        dest="against_text_columns",
        metavar="NAME",
        action="append",
        default=[],
        help="column that holds the texts of --against, where it is not that of IN",
    )
    add(
        "--within",
        metavar="COLUMN",
        help="compare only rows with equal values in a column, such as those of a language; rows without one stay",
    )
    add(
        "--across",
        metavar="COLUMN",
        help="compare only rows with different values in a column, such as their source; rows without one stay",
    )


def _repeats(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--min-length",
        type=int,
        metavar="N",
        help="least number of words of a run; default: 50. Shorter runs are left alone",
    )
    add(
        "--unit",
        choices=("window", "line", "sentence", "paragraph"),
        help="what is compared: windows of --min-length words (the default), or whole lines, sentences or paragraphs",
    )
    add("--min-tokens", type=int, metavar="N", help="lines, sentences, paragraphs of fewer words stay; default: 3")
    add(
        "--snap",
        choices=("none", "word", "sentence", "line", "paragraph"),
        help="of runs, cut only whole words, sentences, …; default: none, the run from its first to its last word",
    )
    add(
        "--keep",
        default="first",
        type=_keep_of_cut,
        metavar="RULE",
        help="place that is kept of several: in the first or longest text, that with the least or greatest value"
        " (min:COLUMN, max:COLUMN), or none; default: %(default)s",
    )
    add("--within", metavar="COLUMN", help="compare only rows with equal values in a column, such as pages of a site")
    add("--min-documents", type=int, metavar="N", help="cut only what at least N texts have; default: 2")
    add("--min-share", type=float, metavar="SHARE", help="cut only what at least this share of the texts has, 0 to 1")
    add(
        "--within-documents",
        action=argparse.BooleanOptionalAction,
        help="whether what one text has twice is cut, too; default: yes, unless --min-documents, --min-share or"
        " --keep none ask for what many texts have",
    )
    add("--tokenizer", help="how a text is cut into words: words, chars, whitespace; default: words")


def _short(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--min-left", type=int, metavar="N", help="remove the rows with fewer than N words left; default: none")
    add("--empty", action="store_true", help="keep the rows with fewer than --min-left words left, with an empty text")
    add("--removed", metavar="FILE", type=Path, help="file for the removed rows, with their whole texts")
    add("--mark", action="store_true", help="write all rows to OUT, with columns that say how much was cut")
    add(
        "--runs",
        metavar="FILE",
        type=Path,
        help="file for the repeated runs: where each is, and where it stands first; takes the search once more",
    )


def _output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--to",
        type=_form,
        metavar="FORM",
        help="form of the files in the folder OUT, or of the standard output; default: that of IN",
    )
    add("--bad-lines", metavar="FILE", type=Path, help="file for the lines that are passed over; means --skip-bad")
    add("--force", action="store_true", help="overwrite files that exist")
    add("--dry-run", action="store_true", help="compare and say how many rows would go, and write nothing")
    add("--quiet", action="store_true", help="show neither progress nor the summary")


def _server(group: argparse._ArgumentGroup, *, work: bool = True) -> None:
    add = group.add_argument
    add(
        "--memory",
        type=_memory,
        default="256MB",
        metavar="SIZE",
        help="memory of the comparison, such as 512M or 2G; more goes to temporary files; default: %(default)s",
    )
    add("--threads", type=int, metavar="N", help="threads of the comparison; default: the setting of the server")
    if work:
        add(
            "--work",
            metavar="FOLDER",
            type=Path,
            help="folder for the files of the private server, in place of TMPDIR; if the call ends before its time, the"
            " same call goes on with what is not yet done. Removed at the end",
        )
    place = group.add_mutually_exclusive_group()
    place.add_argument("--dsn", help="connection string of a server that has the extension, instead of a private one")
    place.add_argument("--pg-config", metavar="PATH", help="pg_config of the installation for the private server")


def _memory(text: str) -> str:
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([kKmMgGtT])(?:i?[bB])?", text.strip())
    if found is None:
        unit = " has no unit" if text.strip().isdigit() else ""
        raise argparse.ArgumentTypeError(f"not a size: {text!r}{unit}; such as 512M or 2G")
    return f"{round(float(found[1]) * 1024 ** 'kmgt'.index(found[2].lower()))}kB"


def _form(text: str) -> Form:
    form = form_of(Path(f"x.{text}"))
    if form is None:
        raise argparse.ArgumentTypeError(f"not a form: {text!r}; such as parquet, jsonl, jsonl.zst, csv.gz")
    return form


def _keep(text: str) -> str:
    if text in ("longest", "first") or (text.partition(":")[0] in ("min", "max") and text[4:]):
        return text
    raise argparse.ArgumentTypeError(f"not a rule: {text!r}; longest, first, min:COLUMN or max:COLUMN")


def _keep_of_cut(text: str) -> str:
    if text == "none":
        return text
    try:
        return _keep(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}, or none") from error


def _options(text: str) -> dict[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from error
    if not isinstance(read, dict):
        raise argparse.ArgumentTypeError("not a JSON object")
    return read


def arguments_of(given: argparse.Namespace) -> Mapping[str, Any]:
    """The arguments of the functions that are called."""
    if given.command == "suggest":
        return {}
    if given.command == "cut":
        names = ("min_length", "unit", "min_tokens", "snap", "min_documents", "min_share", "within_documents")
        return {name: getattr(given, name) for name in (*names, "tokenizer", "min_left")}
    more = {name: getattr(given, name) for name in ("method", "tokenizer", "shingle", "options")}
    # Shingles are of sets.
    of_tests = "runs" if given.shingle is None else "containment"
    more["method"] = given.method or (of_tests if given.against else "jaccard")
    if given.min_run is not None and more["method"] != "runs":
        raise FileError("--min-run is for --method runs")
    if more["method"] == "runs":
        # Of a test and a long page, what counts is how much of the test is there.
        of = {"direction": "left", "min_run": _MIN_RUN} if given.against else {}
        run = {} if given.min_run is None else {"min_run": given.min_run}
        more["options"] = {**of, **run, **(given.options or {})} or None
    if given.normalize is not None:
        more["options"] = {**(more["options"] or {}), "normalize": given.normalize}
    return more
