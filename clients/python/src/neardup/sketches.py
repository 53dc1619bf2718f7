"""Sketches as values of Python: the bytes that the server has, with names for what they say."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Final, Self

from neardup.form import (
    COMMON_BYTES,
    VERSION,
    Kind,
    MalformedError,
    UnlikeError,
    from_hex,
    kind_of_text,
    number,
    pack,
    unpack,
)

SIMHASH_BITS: Final = (64, 128, 192, 256, 384, 512, 1024)
"""How many bits a simhash may have."""
MOST_PERMUTATIONS: Final = 2048
"""How many values a minhash sketch may have."""


def _require_size(size: int, allowed: Sequence[int], what: str) -> None:
    if size not in allowed:
        numbers = f"1 to {allowed[-1]}" if isinstance(allowed, range) else ", ".join(map(str, allowed))
        raise MalformedError(f"{what}: a size of {size}; allowed are {numbers}")


class Sketch:
    """Either kind of sketch. Equal sketches have equal bytes; the order, as the server's, only serves to sort."""

    __slots__ = ("_data", "_empty", "_kind")
    type_name: ClassVar[str]

    def __init__(self, data: bytes) -> None:
        self._data = bytes(data)
        self._kind, self._empty = unpack(self._data, self.type_name)
        self._check()

    def _check(self) -> None:
        raise NotImplementedError

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads what `str` writes, which is what the server writes."""
        raise NotImplementedError

    def __bytes__(self) -> bytes:
        return self._data

    @property
    def kind(self) -> Kind:
        """How it was made."""
        return self._kind

    @property
    def empty(self) -> bool:
        """Whether the document had no elements; such a sketch is similar to nothing."""
        return self._empty

    def _require_like(self, other: Self) -> None:
        if self.kind != other.kind:
            raise UnlikeError(f"unlike {self.type_name} cannot be compared: {self.kind} and {other.kind}")

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if isinstance(other, type(self)) else NotImplemented

    def __lt__(self, other: Self) -> bool:
        return self._data < other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        text = str(self)
        return f"<{type(self).__name__} {text if len(text) <= 80 else text[:77] + '...'}>"

    def __reduce__(self) -> tuple[type[Self], tuple[bytes]]:
        return type(self), (self._data,)


class MinhashSketch(Sketch):
    """What `minhash()` makes: for each permutation the least hash of a document's shingles."""

    __slots__ = ()
    type_name = "minhash_sketch"
    _HEADER: ClassVar[int] = COMMON_BYTES + 8

    @classmethod
    def of_values(cls, values: Sequence[int] | None, kind: Kind, seed: int = 1) -> Self:
        """A sketch of values that are known; of an empty document where they are None."""
        size = kind.size if values is None else len(values)
        _require_size(size, range(1, MOST_PERMUTATIONS + 1), cls.type_name)
        words = b"\xff" * (4 * size) if values is None else struct.pack(f"<{size}I", *values)
        return cls(pack(replace(kind, size=size), empty=values is None) + struct.pack("<q", seed) + words)

    def _check(self) -> None:
        _require_size(self.permutations, range(1, MOST_PERMUTATIONS + 1), self.type_name)
        expected = self._HEADER + 4 * self.permutations
        if len(self._data) != expected:
            raise MalformedError(f"{self.type_name}: its values take {expected} bytes, not {len(self._data)}")
        if self.empty and self._data[self._HEADER :].strip(b"\xff"):
            raise MalformedError(f"{self.type_name}: an empty document has values")

    @property
    def permutations(self) -> int:
        """How many values it has."""
        return self.kind.size

    @property
    def seed(self) -> int:
        """What the permutations were drawn from."""
        seed: int = struct.unpack_from("<q", self._data, COMMON_BYTES)[0]
        return seed

    @property
    def values(self) -> tuple[int, ...]:
        """Its values; none of an empty document."""
        if self.empty:
            return ()
        return struct.unpack_from(f"<{self.permutations}I", self._data, self._HEADER)

    def _agreeing(self, other: MinhashSketch) -> int:
        self._require_like(other)
        if self.seed != other.seed:
            raise UnlikeError(f"unlike {self.type_name} cannot be compared: seeds {self.seed} and {other.seed}")
        return sum(a == b for a, b in zip(self.values, other.values, strict=False))

    def similarity(self, other: MinhashSketch) -> float:
        """The share of agreeing values, as `minhash_similarity` gives it; 0 for an empty document."""
        return self._agreeing(other) / self.permutations

    def distance(self, other: MinhashSketch) -> float:
        """The share of values that differ, as `<%>` gives it."""
        return (self.permutations - self._agreeing(other)) / self.permutations

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads `minhash:v1:words:h1.1:k5:seed1:m128:` and the values in hexadecimal digits, or `empty`."""
        what = cls.type_name
        fields = text.strip().split(":", 8)
        if len(fields) != 8:
            raise MalformedError(f"{what}: it should have 8 parts with colons between them")
        kind = kind_of_text(fields[:5], "minhash", what)
        seed = number(fields[5], "seed", what)
        size = number(fields[6], "m", what)
        if not -(1 << 63) <= seed < 1 << 63:
            raise MalformedError(f"{what}: its seed is out of range")
        _require_size(size, range(1, MOST_PERMUTATIONS + 1), what)
        if fields[7] == "empty":
            return cls.of_values(None, replace(kind, size=size), seed)
        words = from_hex(fields[7], what)
        if len(words) != 4 * size:
            raise MalformedError(f"{what}: there are not as many values as it says, of 8 digits each")
        return cls.of_values(struct.unpack(f">{size}I", words), kind, seed)

    def __str__(self) -> str:
        kind = self.kind
        made = f"minhash:v{VERSION}:{kind.source}:h{kind.hash_version}.{kind.text_version}"
        values = "empty" if self.empty else "".join(f"{value:08x}" for value in self.values)
        return f"{made}:k{kind.k}:seed{self.seed}:m{kind.size}:{values}"


class SimhashSketch(Sketch):
    """What `simhash()` makes: bits that are alike for documents that are."""

    __slots__ = ()
    type_name = "simhash_sketch"

    @classmethod
    def of_bits(cls, bits: bytes | None, kind: Kind) -> Self:
        """A sketch of bits that are known, the first the most significant; of an empty document where they are None."""
        size = kind.size if bits is None else 8 * len(bits)
        _require_size(size, SIMHASH_BITS, cls.type_name)
        return cls(pack(replace(kind, size=size), empty=bits is None) + (bytes(size // 8) if bits is None else bits))

    def _check(self) -> None:
        _require_size(self.kind.size, SIMHASH_BITS, self.type_name)
        expected = COMMON_BYTES + self.kind.size // 8
        if len(self._data) != expected:
            raise MalformedError(f"{self.type_name}: its bits take {expected} bytes, not {len(self._data)}")
        if self.empty and any(self.bits):
            raise MalformedError(f"{self.type_name}: an empty document has bits")

    @property
    def bits(self) -> bytes:
        """Its bits, the first the most significant."""
        return self._data[COMMON_BYTES:]

    def distance(self, other: SimhashSketch) -> int:
        """How many bits differ, as `<~>` gives it; all of them for an empty document.

        Bits that were made elsewhere compare with any others of the same number, as they do in the server.
        """
        given = "bits" in (self.kind.source, other.kind.source)
        if not (given and self.kind.size == other.kind.size):
            self._require_like(other)
        if self.empty or other.empty:
            return self.kind.size
        return (int.from_bytes(self.bits) ^ int.from_bytes(other.bits)).bit_count()

    def similarity(self, other: SimhashSketch) -> float:
        """The share of bits that agree, as `simhash_similarity` gives it."""
        return (self.kind.size - self.distance(other)) / self.kind.size

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads `simhash:v1:words:h1.1:k1:` and the bits in hexadecimal digits, or `empty` and their number."""
        what = cls.type_name
        fields = text.strip().split(":", 6)
        if len(fields) != 6:
            raise MalformedError(f"{what}: it should have 6 parts with colons between them")
        kind = kind_of_text(fields[:5], "simhash", what)
        if not fields[5].startswith("empty"):
            return cls.of_bits(from_hex(fields[5], what), kind)
        return cls.of_bits(None, replace(kind, size=number(fields[5], "empty", what)))

    def __str__(self) -> str:
        kind = self.kind
        made = f"simhash:v{VERSION}:{kind.source}:h{kind.hash_version}.{kind.text_version}:k{kind.k}"
        return f"{made}:{f'empty{kind.size}' if self.empty else self.bits.hex()}"
