"""Where the texts of a file are: in a column, in several, or inside of one, such as `messages[].content` of a chat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from neardup.files import Chunk, FileError, Reader

COLUMNS: Final = ("body", "content", "text", "document")
"""What a column of texts is called, where it is not named: as the extension has it."""
CHAT: Final = "messages[].content"
"""Where the texts of a chat are, where there is no such column."""
_STEP: Final = re.compile(r"\[\]|[^.\[\]]+")
_PATH: Final = re.compile(r"[^.\[\]]+(?:\[\]|\.[^.\[\]]+)*")

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of the rows of a file."""

    paths: tuple[Steps, ...]
    """Each a column, and how its values are gone into: by the name of a member, or [] for all elements."""

    @property
    def columns(self) -> list[str]:
        """The columns that have them."""
        return list(dict.fromkeys(path[0] for path in self.paths))

    @property
    def is_plain(self) -> bool:
        """Whether a text is the value of a column."""
        return len(self.paths) == 1 and len(self.paths[0]) == 1

    def pieces(self, reader: Reader, chunk: Chunk, before: int) -> Iterator[list[str | None]]:
        """The pieces of the text of each row behind so many others, in their order; None of a value without one."""
        if not self.paths:
            for _ in range(len(chunk)):
                yield [None]
            return
        columns, is_plain = [chunk.column(path[0]) for path in self.paths], self.is_plain
        for number, values in enumerate(zip(*columns, strict=True), before + 1):
            if is_plain and isinstance(values[0], str):
                yield [values[0]]
                continue
            found: list[str | None] = []
            for path, value in zip(self.paths, values, strict=True):
                for piece in _walk(value, path[1:]):
                    if piece is not None and not isinstance(piece, str):
                        raise FileError(
                            f"{reader.name}, row {number}: {written(path)!r} is {type(piece).__name__},"
                            " where a string should be"
                        )
                    found.append(piece)
            yield found

    def replaced(self, chunk: Chunk, texts: Mapping[int, Mapping[int, str]]) -> Chunk:
        """With other pieces, by their places in the rows at some places."""
        if not texts:
            return chunk
        columns = {name: chunk.column(name) for name in self.columns}
        new: dict[str, dict[int, Any]] = {name: {} for name in columns}
        for at, pieces in texts.items():
            places = count()

            def put(value: Any, pieces: Mapping[int, str] = pieces, places: Iterator[int] = places) -> Any:
                place = next(places)
                # What has no text gets none.
                return value if value is None else pieces.get(place, value)

            values = {name: column[at] for name, column in columns.items()}
            for path in self.paths:
                values[path[0]] = _changed(values[path[0]], path[1:], put)
            for name, value in values.items():
                if value != columns[name][at]:
                    new[name][at] = value
        for name, changed in new.items():
            chunk = chunk.with_values(name, changed)
        return chunk


def written(path: Steps) -> str:
    """A path as it is named."""
    return "".join(step if step == "[]" or at == 0 else f".{step}" for at, step in enumerate(path))


def texts_of(reader: Reader, named: Sequence[str], option: str) -> Texts:
    """The texts of a file: of those columns that are named which it has, or of the one that has a usual name."""
    has = ", ".join(reader.fields) or "none"
    if not reader.fields:
        return Texts(())
    if not named:
        found = [column for column in reader.fields if column.lower() in COLUMNS]
        if not found and CHAT.partition("[")[0] in reader.fields:
            return Texts((_path(reader, CHAT),))
        if len(found) != 1:
            why = "more than one" if found else "none"
            raise FileError(
                f"{reader.name}: which column has the texts? Of {', '.join(COLUMNS)} it has {why}."
                f" It has: {has}. Name it: {option} NAME"
            )
        named = found
    paths = [path for name in named if (path := _path(reader, name))]
    if not paths:
        names = " or ".join(map(repr, named))
        raise FileError(f"{reader.name} has no column {names} ({option}); it has: {has}")
    for path in paths:
        if len(path) == 1:
            reader.check_text(path[0])
    return Texts(tuple(paths))


def _path(reader: Reader, name: str) -> Steps:
    if name in reader.fields:
        return (name,)
    steps = tuple(_STEP.findall(name)) if _PATH.fullmatch(name) else ()
    return steps if len(steps) > 1 and steps[0] in reader.fields else ()


def _walk(value: Any, steps: Steps) -> Iterator[Any]:
    if not steps:
        yield value
    elif steps[0] == "[]":
        if value is None:
            return
        if not isinstance(value, list):
            # The error names what it is.
            yield value if not isinstance(value, str) else [value]
            return
        for element in value:
            yield from _walk(element, steps[1:])
    elif isinstance(value, dict):
        yield from _walk(value.get(steps[0]), steps[1:])
    elif value is not None:
        yield value if not isinstance(value, str) else [value]


def _changed(value: Any, steps: Steps, put: Callable[[Any], Any]) -> Any:
    """A value with other pieces in it, in the order in which `_walk` finds them."""
    if not steps:
        return put(value)
    if steps[0] == "[]":
        return None if value is None else [_changed(element, steps[1:], put) for element in value]
    if value is None:
        return None
    inner = _changed(value.get(steps[0]), steps[1:], put)
    return {**value, steps[0]: inner} if steps[0] in value else value
