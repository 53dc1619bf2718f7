"""Balls of sketches: a sketch and how near to it others have to be; what `near()` makes and `<@` asks for.

Those of documents are in `neardup.documents`.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from decimal import Decimal
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

from neardup.form import MalformedError
from neardup.sketches import MinhashSketch, SimhashSketch

_HEAD: Final = struct.Struct("<B7xd")
VERSION: Final = 1

AnySketch = TypeVar("AnySketch", MinhashSketch, SimhashSketch)


class Ball(ABC):
    """Every kind of ball. Equal balls have equal bytes."""

    __slots__ = ()
    type_name: ClassVar[str]

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the binary form."""

    @classmethod
    @abstractmethod
    def from_text(cls, text: str) -> Self:
        """Reads the text form."""

    @abstractmethod
    def __bytes__(self) -> bytes: ...

    @abstractmethod
    def __str__(self) -> str: ...

    def __eq__(self, other: object) -> bool:
        return bytes(self) == bytes(other) if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(bytes(self))

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return type(self).from_bytes, (bytes(self),)


class SketchBall(Ball, Generic[AnySketch]):
    """A ball about a sketch."""

    __slots__ = ("_limit", "_middle")
    _of: ClassVar[type[MinhashSketch] | type[SimhashSketch]]

    def __init__(self, middle: AnySketch, limit: float) -> None:
        if not isinstance(middle, self._of):
            raise TypeError(f"a {self.type_name} is about a {self._of.type_name}, not {type(middle).__name__}")
        self._middle: AnySketch = middle
        self._limit = float(limit) + 0.0
        self._check()

    def _check(self) -> None:
        raise NotImplementedError

    @property
    def middle(self) -> AnySketch:
        """The sketch in the middle."""
        return self._middle

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the binary form."""
        if data and data[0] != VERSION:
            raise MalformedError(f"{cls.type_name}: its format is version {data[0]}, this package knows {VERSION}")
        if len(data) < _HEAD.size:
            raise MalformedError(f"{cls.type_name}: {len(data)} bytes are too few")
        limit: float = _HEAD.unpack_from(data)[1]
        if any(data[1:8]) or (limit == 0 and data[15] & 0x80):
            raise MalformedError(f"{cls.type_name}: reserved bytes are not 0")
        return cls(cls._of(data[_HEAD.size :]), limit)  # type: ignore[arg-type]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads `<sketch,limit>`."""
        text = text.strip()
        middle, comma, limit = text[1:-1].rpartition(",")
        if not (comma and text.startswith("<") and text.endswith(">")):
            raise MalformedError(f"{cls.type_name}: it should be <sketch,limit>")
        try:
            value = float(limit)
        except ValueError:
            raise MalformedError(f"{cls.type_name}: its limit is not a number") from None
        return cls(cls._of.from_text(middle), value)  # type: ignore[arg-type]

    def __bytes__(self) -> bytes:
        return _HEAD.pack(VERSION, self._limit) + bytes(self._middle)

    def __str__(self) -> str:
        return f"<{self._middle},{double(self._limit)}>"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._limit:g} about {self._middle!r}>"


class MinhashBall(SketchBall[MinhashSketch]):
    """All minhash sketches that are at least so similar to one."""

    __slots__ = ()
    type_name = "minhash_ball"
    _of = MinhashSketch

    def _check(self) -> None:
        check_similarity(self._limit, self.type_name)

    @property
    def similarity(self) -> float:
        """The least similarity."""
        return self._limit

    def __contains__(self, sketch: MinhashSketch) -> bool:
        return self.middle.similarity(sketch) >= self._limit


class SimhashBall(SketchBall[SimhashSketch]):
    """All simhash sketches that differ from one in at most so many bits."""

    __slots__ = ()
    type_name = "simhash_ball"
    _of = SimhashSketch

    def _check(self) -> None:
        if not (self._limit >= 0 and self._limit < self.middle.kind.size and self._limit.is_integer()):
            raise MalformedError(
                f"{self.type_name}: distance {self._limit:g}; a whole number of bits, less than the sketch has"
            )

    @property
    def distance(self) -> int:
        """The greatest distance."""
        return int(self._limit)

    def __contains__(self, sketch: SimhashSketch) -> bool:
        return self.middle.distance(sketch) <= self._limit


def check_similarity(similarity: float, what: str) -> None:
    """MalformedError for what is no similarity that a ball asks for."""
    if not 0 < similarity <= 1:
        raise MalformedError(f"{what}: similarity {similarity:g}; greater than 0 and at most 1")


def double(value: float) -> str:
    """A double as the server writes it in a ball: without an exponent, and a whole one without a point."""
    return format(Decimal(repr(value)), "f").removesuffix(".0")
