"""Values of columns on their way into the server: keys of rows, what decides which rows stay, texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, time

from neardup.files import Chunk, FileError, Reader


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
            yield str(value).replace("inf", "Infinity").replace("nan", "NaN")
        else:
            yield _comparable(reader, number, name, value, "--keep")


def sites(reader: Reader, name: str | None, chunk: Chunk, before: int) -> Iterator[str | None]:
    """What --within compares."""
    if name is None:
        yield from (None for _ in range(len(chunk)))
        return
    for number, value in enumerate(chunk.column(name), before + 1):
        yield None if value is None or value == "" else _comparable(reader, number, name, value, "--within")


def _comparable(reader: Reader, number: int, name: str, value: object, option: str) -> str:
    if isinstance(value, list | dict | bytes):
        raise FileError(
            f"{reader.name}, row {number}: {name!r} is {type(value).__name__}, which {option} cannot compare"
        )
    return _plain(value.isoformat() if isinstance(value, date | time) else str(value))


def bodies(reader: Reader, name: str, chunk: Chunk, before: int) -> Iterator[str | None]:
    """The texts."""
    for number, text in enumerate(chunk.column(name), before + 1):
        if text is None or text == "":
            yield None
        elif isinstance(text, str):
            yield _plain(text)
        else:
            raise FileError(f"{reader.name}, row {number}: {name!r} is {type(text).__name__}, where a string should be")


def _plain(text: str) -> str:
    # PostgreSQL has neither NUL nor halves of characters in texts; to what is compared they are spaces. What is written
    # comes from the file.
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return text.replace("\0", " ")
