"""The elements of a JSON array, one at a time, whatever its length, by the decoder of json from a part of it."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from neardup.files.chunks import Bad

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_PART: Final = 1 << 16
"""Bytes that are read at a time, at least."""
_NEAR: Final = 16
"""Characters at the end of what is read where a value may go on in what is not."""


class BadError(ValueError):
    """What is wrong with an array, and where; elements behind it are not looked for."""


def array(file: IO[bytes]) -> Iterator[tuple[Any, str]]:
    """Each element, and what stands in the file."""
    part = _Part(file)
    part.following()
    part.at += 1
    is_first = True
    while (sign := part.following()) != "]" or not is_first:
        try:
            element, end = _DECODER.raw_decode(part.held, part.at)
        except json.JSONDecodeError as error:
            ahead = error.pos - part.at
            cut = error.msg.startswith("Unterminated") or error.pos >= len(part.held) - _NEAR
            if cut and part.more():
                continue
            raise part.wrong(part.at + ahead, error.msg) from error
        except ValueError as error:
            raise part.wrong(part.at, str(error)) from error
        # A number may go on.
        if end == len(part.held) and part.more():
            continue
        yield element, part.held[part.at : end]
        part.at, is_first = end, False
        sign = part.following()
        if sign not in (",", "]") or not sign:
            raise part.wrong(part.at, "no comma behind an element, and no end of the array")
        if sign == "]":
            break
        part.at += 1
    part.at += 1
    if part.following():
        raise part.wrong(part.at, "more behind the end of the array")


class _Part:
    """A part of the text, and where it stands in the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self.held = ""
        self.at = 0
        # Of the beginning of what is held, and of the end of what is read.
        self._line, self._byte, self._read = 1, 0, 0
        if file.peek(3).startswith(codecs.BOM_UTF8):  # type: ignore[attr-defined]
            self._byte = self._read = len(file.read(3))

    def more(self) -> bool:
        """Reads on; False at the end."""
        passed = self.held[: self.at]
        self._line += passed.count("\n")
        self._byte += len(passed.encode())
        self.held, self.at = self.held[self.at :], 0
        # As much as is held, so that a long element is not read from its beginning too often.
        data = self._file.read(max(_PART, len(self.held)))
        try:
            self.held += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = self._line + self.held.count("\n") + error.object[: error.start].count(b"\n")
            byte = self._read - (len(error.object) - len(data)) + error.start
            why = f"{error.object[error.start : error.start + 1]!r} is no UTF-8"
            raise BadError(Bad(line, byte, why, "")) from error
        self._read += len(data)
        return bool(data)

    def following(self) -> str:
        """The next sign that is no white space, which is not passed; nothing at the end."""
        while True:
            self.at = _SPACE.match(self.held, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.held) or not self.more():
                return self.held[self.at : self.at + 1]

    def wrong(self, place: int, why: str) -> BadError:
        """The error of a character of what is held."""
        before = self.held[:place]
        return BadError(Bad(self._line + before.count("\n"), self._byte + len(before.encode()), why, ""))
