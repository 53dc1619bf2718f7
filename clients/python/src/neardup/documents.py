"""Balls of documents, `text_ball`: a document and how similar others have to be, as `near_duplicates` compares."""

from __future__ import annotations

import json
import struct
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final, Self

from neardup.balls import Ball, check_similarity, double
from neardup.form import MalformedError, number

VERSION: Final = 2
"""The version of the format."""

MEASURES: Final = ("jaccard", "cosine", "dice", "overlap", "containment", "containment_of_query")
"""What similarity can be, by the numbers that are stored, from 1 on."""

KINDS: Final = ("words", "chars", "whitespace", "tokens", "numbers", "lexemes", "html")
"""What a document is and how it is cut, by the numbers that are stored, from 1 on."""

FORMS: Final = ("nfc", "nfkc")
"""The normalization forms in which texts can be compared, by the numbers that are stored, from 1 on."""

_NAME: Final = "text_ball"
_HEAD: Final = struct.Struct("<BBBBHBxd")
_LENGTH: Final = struct.Struct("<I")
_NUMBER: Final = struct.Struct("<q")
_STRINGS: Final = ("tokens", "lexemes")
_LISTS: Final = (*_STRINGS, "numbers")
_PLAIN: Final = ("words", "chars", "whitespace")
_ESCAPES: Final = {number: f"\\u{number:04x}" for number in range(32)} | {
    ord(character): f"\\{escape}" for character, escape in zip('"\\\n\r\t', '"\\nrt', strict=True)
}

Document = str | Sequence[str] | Sequence[int]


class TextBall(Ball):
    """All documents that are at least so similar to one: `near(text, similarity, …)`, and what it is in the database.

    The document is a text, the strings of a `text[]` or a `tsvector`, or the numbers of a `bigint[]`. `kind` is one of
    KINDS: of texts `words`, unless it is said, of strings `tokens`, of numbers `numbers`. The other arguments and their
    defaults are those of `near`.
    """

    __slots__ = ("_data",)
    type_name = _NAME

    def __init__(
        self,
        document: Document,
        similarity: float = 0.8,
        *,
        shingle: int | None = None,
        multiset: bool | None = None,
        kind: str | None = None,
        method: str = "jaccard",
        normalization: str | None = None,
    ) -> None:
        similarity = float(similarity)
        check_similarity(similarity, _NAME)
        kind = _kind_of(document) if kind is None else kind
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
        if method not in MEASURES:
            raise ValueError(f"method must be one of {', '.join(MEASURES)}, not {method!r}")
        if shingle is None:
            shingle = 3 if kind == "chars" else 1
        if not 1 <= shingle <= 1000:
            raise ValueError(f"shingle must be between 1 and 1000, not {shingle}")
        if normalization is not None:
            _check_form(normalization, kind)
            if isinstance(document, str):
                is_nfc = normalization.lower() == FORMS[0]
                document = unicodedata.normalize("NFC" if is_nfc else "NFKC", document)
        repeats = kind == "chars" or shingle == 1 if multiset is None else multiset
        numbers = MEASURES.index(method) + 1, KINDS.index(kind) + 1
        form = 0 if normalization is None else FORMS.index(normalization.lower()) + 1
        self._data = _HEAD.pack(VERSION, *numbers, repeats, shingle, form, similarity) + _packed(document, kind)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the binary form."""
        if data and data[0] != VERSION:
            raise MalformedError(f"{_NAME}: its format is version {data[0]}, this package knows {VERSION}")
        if len(data) < _HEAD.size:
            raise MalformedError(f"{_NAME}: {len(data)} bytes are too few")
        _, measure, kind, multiset, shingle, form, similarity = _HEAD.unpack_from(data)
        if not (1 <= measure <= len(MEASURES) and 1 <= kind <= len(KINDS)):
            raise MalformedError(f"{_NAME}: measure {measure}, or kind {kind}, is not known")
        if multiset > 1 or data[7]:
            raise MalformedError(f"{_NAME}: reserved bytes are not 0")
        if form > len(FORMS) or (form and KINDS[kind - 1] not in _PLAIN):
            raise MalformedError(f"{_NAME}: normalization form {form} of {KINDS[kind - 1]} is not known")
        if not 1 <= shingle <= 1000:
            raise MalformedError(f"{_NAME}: shingle is {shingle}; it must be between 1 and 1000")
        check_similarity(similarity, _NAME)
        _unpacked(data[_HEAD.size :], KINDS[kind - 1])
        return cls._of(bytes(data))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads `<measure:kind:kSHINGLE:multiset:similarity:JSON>`; `set` for multiset, `nfkc:JSON` for JSON."""
        text = text.strip()
        parts = text[1:-1].split(":", 5)
        if len(parts) != 6 or not (text.startswith("<") and text.endswith(">")):
            raise MalformedError(f"{_NAME}: it should be <, 6 parts with colons between them, and >")
        method, kind, shingle, repeats, similarity, document = parts
        if method not in MEASURES or kind not in KINDS or repeats not in ("multiset", "set"):
            raise MalformedError(f"{_NAME}: its measure, what its document is, or whether repeats count is not known")
        form, _, rest = document.partition(":")
        normalization = form.strip() if form.strip().lower() in FORMS else None
        document = document if normalization is None else rest
        try:
            read, limit = json.loads(document), float(similarity)
        except (ValueError, RecursionError):
            raise MalformedError(f"{_NAME}: its similarity is not a number, or its document not JSON") from None
        if not isinstance(read, list if kind in _LISTS else str):
            raise MalformedError(f"{_NAME}: a document of {kind} is not {type(read).__name__}")
        try:
            tokens = number(shingle, "k", _NAME)
            repeat = repeats == "multiset"
            return cls(
                read, limit, shingle=tokens, multiset=repeat, kind=kind, method=method, normalization=normalization
            )
        except (TypeError, ValueError) as error:
            raise MalformedError(str(error)) from None

    @classmethod
    def _of(cls, data: bytes) -> Self:
        ball = cls.__new__(cls)
        ball._data = data
        return ball

    def _head(self) -> tuple[int, ...]:
        return _HEAD.unpack_from(self._data)

    @property
    def document(self) -> str | list[str] | list[int]:
        """The document in the middle."""
        return _unpacked(self._data[_HEAD.size :], self.kind)

    @property
    def similarity(self) -> float:
        """The least similarity."""
        similarity: float = _HEAD.unpack_from(self._data)[6]
        return similarity

    @property
    def method(self) -> str:
        """What similarity is, one of MEASURES."""
        return MEASURES[self._head()[1] - 1]

    @property
    def kind(self) -> str:
        """What the document is and how it is cut, one of KINDS."""
        return KINDS[self._head()[2] - 1]

    @property
    def multiset(self) -> bool:
        """Whether repeats count."""
        return self._head()[3] == 1

    @property
    def shingle(self) -> int:
        """Tokens to a shingle."""
        return self._head()[4]

    @property
    def normalization(self) -> str | None:
        """The normalization form in which texts are compared, one of FORMS, or None."""
        form = self._head()[5]
        return FORMS[form - 1] if form else None

    def __bytes__(self) -> bytes:
        return self._data

    def __str__(self) -> str:
        document = self.document
        shown = _quoted(document) if isinstance(document, str) else f"[{','.join(map(_item, document))}]"
        repeats = "multiset" if self.multiset else "set"
        form = f"{self.normalization}:" if self.normalization else ""
        return f"<{self.method}:{self.kind}:k{self.shingle}:{repeats}:{double(self.similarity)}:{form}{shown}>"

    def __repr__(self) -> str:
        shown = repr(self.document)
        return f"<TextBall {self.similarity:g} about {shown if len(shown) <= 60 else shown[:57] + '...'}>"


def _check_form(normalization: str, kind: str) -> None:
    if normalization.lower() not in FORMS:
        raise ValueError(f"normalization must be one of {', '.join(FORMS)}, not {normalization!r}")
    if kind not in _PLAIN:
        raise ValueError(f"normalization is for plain texts, not for {kind}")


def _kind_of(document: Document) -> str:
    if isinstance(document, str):
        return "words"
    return "numbers" if any(isinstance(item, int) for item in document) else "tokens"


def _packed(document: Document, kind: str) -> bytes:
    if isinstance(document, str):
        if kind in _LISTS:
            raise TypeError(f"a document of {kind} is a sequence, not a str")
        return _utf8(document)
    if kind == "numbers":
        return b"".join(map(_eight_bytes, document))
    if kind not in _STRINGS:
        raise TypeError(f"a document of {kind} is a str, not {type(document).__name__}")
    tokens = map(_utf8, document)
    return b"".join(part for token in tokens for part in (_LENGTH.pack(len(token)), token))


def _eight_bytes(value: object) -> bytes:
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return _NUMBER.pack(value)
    raise MalformedError(f"{_NAME}: {value!r} is no whole number of 64 bits")


def _utf8(text: object) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"a document has strings or whole numbers, not {type(text).__name__}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise MalformedError(f"{_NAME}: a string has half of a character") from None


def _unpacked(data: bytes, kind: str) -> str | list[str] | list[int]:
    try:
        if kind in _STRINGS:
            return [token.decode() for token in _tokens(data)]
        if kind != "numbers":
            return bytes(data).decode()
    except UnicodeDecodeError:
        raise MalformedError(f"{_NAME}: its document is not UTF-8") from None
    if len(data) % _NUMBER.size:
        raise MalformedError(f"{_NAME}: {len(data)} bytes are no whole number of numbers")
    return [value for (value,) in _NUMBER.iter_unpack(data)]


def _tokens(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        start = at + _LENGTH.size
        at = start + (_LENGTH.unpack_from(data, at)[0] if start <= len(data) else 1)
        if at > len(data):
            raise MalformedError(f"{_NAME}: a token is cut off")
        yield bytes(data[start:at])


def _item(item: str | int) -> str:
    return _quoted(item) if isinstance(item, str) else str(item)


def _quoted(text: str) -> str:
    """A string as JSON, as the server writes it."""
    return f'"{text.translate(_ESCAPES)}"'
