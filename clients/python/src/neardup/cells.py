"""Values of columns on their way into the server: keys of rows, what decides which rows stay, texts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from datetime import date, time
from typing import Final

from neardup.files import Chunk, FileError, Reader
from neardup.plain import plain
from neardup.texts import Texts

_FAR_YEAR: Final = re.compile(r"(-\d{4,}|\+?\d{5,})(?=-\d\d-\d\d)")
"""A year of ISO 8601 before 0 or beyond 9999, which texts do not have in order."""


def keys(reader: Reader, name: str | None, chunk: Chunk, before: int) -> Iterator[str | None]:
    """What identifies each row, as JSON, which knows numbers from strings."""
    if name is None:
        yield from (None for _ in range(len(chunk)))
        return
    for number, value in enumerate(chunk.column(name), before + 1):
        if value is None or value == "":
            raise FileError(f"{reader.name}, row {number}: it has no {name!r}, which --id-column names")
        yield json.dumps(value, default=str)


def ranks(reader: Reader, name: str | None, chunk: Chunk, before: int) -> Iterator[str | None]:
    """What --keep compares, as PostgreSQL reads numbers, or else so that texts are in order."""
    if name is None:
        yield from (None for _ in range(len(chunk)))
        return
    for number, value in enumerate(chunk.column(name), before + 1):
        if value is None or value == "":
            yield None
        elif isinstance(value, float):
            # What is not a number is no value.
            yield None if math.isnan(value) else str(value).replace("inf", "Infinity")
        else:
            yield _in_order(_comparable(reader, number, name, value, "--keep").strip())


def _in_order(text: str) -> str:
    """A text as it is, but far years so that dates in order are texts in order, byte by byte."""
    if (found := _FAR_YEAR.match(text)) is None:
        return text
    year = int(found[1])
    return f"{'!' if year < 0 else '~'}{year + 10**15:016d}{text[found.end() :]}"


def groups(reader: Reader, name: str | None, chunk: Chunk, before: int, option: str) -> Iterator[str | None]:
    """What --within and --across compare."""
    if name is None:
        yield from (None for _ in range(len(chunk)))
        return
    for number, value in enumerate(chunk.column(name), before + 1):
        yield None if value is None or value == "" else _comparable(reader, number, name, value, option)


def _comparable(reader: Reader, number: int, name: str, value: object, option: str) -> str:
    if isinstance(value, list | dict | bytes):
        raise FileError(
            f"{reader.name}, row {number}: {name!r} is {type(value).__name__}, which {option} cannot compare"
        )
    return plain(value.isoformat() if isinstance(value, date | time) else str(value))


def bodies(reader: Reader, texts: Texts, chunk: Chunk, before: int, *, joined: bool) -> Iterator[list[str | None]]:
    """The texts of each row: one, or, where they are not joined, one for each piece."""
    for pieces in texts.pieces(reader, chunk, before):
        if joined:
            yield [_body("\n".join(piece for piece in pieces if piece) if len(pieces) != 1 else pieces[0])]
        else:
            yield list(map(_body, pieces))


def _body(text: str | None) -> str | None:
    return plain(text) if text else None
