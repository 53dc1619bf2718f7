"""Hints of the server in the words of the command: `method => 'minhash'` of a call is `--method minhash`.

Whoever types a command has no table to put into a call. What no flag stands for is left out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

_FLAGS: Final = (
    *("method", "tokenizer", "shingle", "options", "keep"),
    *("min_length", "unit", "snap", "min_documents", "min_share", "min_tokens", "min_left", "within_documents"),
)
"""Arguments that are flags of the same name."""
_OURS: Final = ("id_column", "text_column", "docs", "left", "right", "id_type", "within", "across")
"""Arguments that the command gives by itself, about a table of its own."""

_VALUE: Final = r"'(?:[^']|'')*'|[\w.+-]+"
_PLACES: Final = {
    "eliminate": ("docs", "threshold", "id_type"),
    "near_duplicates": ("docs", "threshold", "id_type"),
    "near_duplicates_between": ("left", "right", "threshold", "id_type"),
    "cut_repeats": ("docs", "min_length", "id_type"),
    "repeated_runs": ("docs", "min_length", "id_type"),
}
"""What the first arguments of calls are, which stand without their names."""
_CALL: Final = re.compile(
    rf"SELECT \* FROM (?P<name>{'|'.join(_PLACES)})\((?P<inside>(?:{_VALUE}|[^')])*)\)"
    r"(?: LIMIT \d+)?;?(?:\s*columns: [^.]*\.)?"
)
_POSITION: Final = re.compile(rf"\s*(?:(?P<name>[a-z_]+) => )?(?P<value>{_VALUE})(?:::[\w.\" ]+)?\s*(?:,|$)")
_ARGUMENT: Final = re.compile(rf"\b(?P<name>[a-z_]+) => (?P<value>{_VALUE})")
_SET: Final = re.compile(rf"SET neardup\.(?P<name>memory|threads) (?:=|TO) (?P<value>{_VALUE});?")
_PART: Final = re.compile(r";? or work on a part of the documents at a time, through a view(?=\.)")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_SQL: Final = re.compile(
    r"=>|::|;$|\b(?:SELECT|CALL|CREATE|SET|GRANT|REINDEX|LIMIT|VACUUM|ANALYZE)\b|\w\(|\bviews?\b|neardup_|near_duplicate|_column\b"
)


def as_flags(hint: str) -> str | None:
    """The hint in terms of the command; None where nothing of it is."""
    hint = _CALL.sub(lambda call: _example(call["inside"], _PLACES[call["name"]]), hint)
    hint = _PART.sub("", hint)
    hint = _SET.sub(lambda found: f"--{found['name']} {_word(found['value'])}", hint)
    hint = _ARGUMENT.sub(_argument, hint)
    sentences = [sentence for sentence in _SENTENCE.split(hint) if not _SQL.search(_outside(sentence))]
    return " ".join(sentences) or None


def notice(message: str) -> str:
    """What a notice says, without the function that says it, and with flags for arguments."""
    message = re.sub(r"^[a-z_]+: ", "", message)
    message = re.sub(r"; see near_duplicates_stats\(\)", "", message)
    return _ARGUMENT.sub(_argument, message)


def _argument(found: re.Match[str]) -> str:
    return _flag(found["name"], found["value"]) if found["name"] in _FLAGS else found[0]


def _flag(name: str, value: str) -> str:
    if name == "within_documents":
        return "--no-within-documents" if value == "false" else "--within-documents"
    return f"--{name.replace('_', '-')} {_word(value)}"


def _example(inside: str, places: tuple[str, ...]) -> str:
    """The arguments of a call as flags; what cannot be said so stays SQL, and its sentence is left out."""
    flags = list(_flags(inside, places))
    return " ".join(flags) if flags and all(flags) else "SELECT"


def _flags(inside: str, places: tuple[str, ...]) -> Iterator[str]:
    at = 0
    for number, found in enumerate(_POSITION.finditer(inside)):
        if found.start() != at:
            break
        at = found.end()
        name, value = found["name"] or places[min(number, len(places) - 1)], found["value"]
        if name == "keep" and value.endswith(":rank'"):
            # The column has another name where it comes from.
            continue
        if (name == "threshold" and value != "NULL") or name in _FLAGS:
            yield _flag(name, value)
        elif name not in (*_OURS, "threshold"):
            yield ""
    if at < len(inside):
        yield ""


def _word(value: str) -> str:
    """A literal of SQL as a word of a shell."""
    return shlex.quote(value[1:-1].replace("''", "'") if value.startswith("'") else value)


def _outside(sentence: str) -> str:
    """What is not a value of a flag, which may have whatever signs."""
    return re.sub(r"'[^']*'", "''", sentence)
