"""What both kinds of sketches say of themselves, as bytes and as text.

The formats are those of docs/reference/types-and-operators.md of the extension: whatever the server would refuse is
refused here, too, so that a value that exists can be sent.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

VERSION: Final = 1
"""The version of the formats that is known here."""

SOURCES: Final = ("bits", "words", "chars", "whitespace", "tokens", "numbers", "lexemes")
"""What a sketch is made of, by the numbers that are stored."""

_COMMON: Final = struct.Struct("<BBBBBxHHxx")
COMMON_BYTES: Final = _COMMON.size


class MalformedError(ValueError):
    """Bytes or a text that no sketch and no ball has."""


class UnlikeError(ValueError):
    """Two sketches that were made in different ways, so that they do not compare."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How a sketch was made. Sketches compare where these are equal."""

    source: str
    """What its elements are, one of SOURCES."""
    k: int
    """Elements to a shingle."""
    size: int
    """Values, or bits."""
    hash_version: int = 1
    """Version of the hash functions."""
    text_version: int = 1
    """Version of the rules by which texts are cut."""


def pack(kind: Kind, *, empty: bool) -> bytes:
    """The bytes that every sketch begins with."""
    source = SOURCES.index(kind.source)
    return _COMMON.pack(VERSION, kind.hash_version, kind.text_version, source, empty, kind.k, kind.size)


def unpack(data: bytes, what: str) -> tuple[Kind, bool]:
    """The kind, and whether the document was empty; MalformedError for bytes that no sketch begins with."""
    if data and data[0] != VERSION:
        raise MalformedError(f"{what}: its format is version {data[0]}, this package knows {VERSION}")
    if len(data) < COMMON_BYTES:
        raise MalformedError(f"{what}: {len(data)} bytes are too few")
    _, hash_version, text_version, source, empty, k, size = _COMMON.unpack_from(data)
    if source >= len(SOURCES):
        raise MalformedError(f"{what}: source {source} is not known")
    if empty > 1 or data[5] or data[10] or data[11]:
        raise MalformedError(f"{what}: reserved bytes are not 0")
    if not 1 <= k <= 1000:
        raise MalformedError(f"{what}: k is {k}; it must be between 1 and 1000")
    return Kind(SOURCES[source], k, size, hash_version, text_version), empty == 1


def number(field: str, name: str, what: str) -> int:
    """The whole number that follows a name in a part of a text."""
    digits = field.removeprefix(name)
    if not field.startswith(name) or not digits.removeprefix("-").isdecimal() or not digits.isascii():
        raise MalformedError(f"{what}: {name} and a number should stand where {field[:20]!r} does")
    return int(digits)


def kind_of_text(fields: list[str], name: str, what: str) -> Kind:
    """The kind that the first five parts of a text tell; its size is not among them."""
    if fields[0] != name:
        raise MalformedError(f"{what}: it should begin with {name}:")
    version = number(fields[1], "v", what)
    if version != VERSION:
        raise MalformedError(f"{what}: its format is version {version}, this package knows {VERSION}")
    if fields[2] not in SOURCES:
        raise MalformedError(f"{what}: what it was made from is not known")
    hashes, dot, texts = fields[3].partition(".")
    if not dot:
        raise MalformedError(f"{what}: the versions of hash and text are missing")
    versions = number(hashes, "h", what), number(texts, "", what)
    k = number(fields[4], "k", what)
    if not (all(0 <= version <= 255 for version in versions) and 1 <= k <= 1000):
        raise MalformedError(f"{what}: a version or its k is out of range")
    return Kind(fields[2], k, 0, *versions)


def from_hex(digits: str, what: str) -> bytes:
    """The bytes that hexadecimal digits stand for."""
    try:
        if digits.isalnum() and digits.isascii():
            return bytes.fromhex(digits)
    except ValueError:
        pass
    raise MalformedError(f"{what}: its values are not pairs of hexadecimal digits")
