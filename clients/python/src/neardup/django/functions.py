"""Sketches of texts, and distances to order by."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import FloatField, Func, TextField, Value
from django.db.models.expressions import Combinable

from neardup.django.fields import MinhashField, SimhashField
from neardup.documents import FORMS, MEASURES, TextBall
from neardup.sketches import Sketch


class Minhash(Func):
    """The minhash sketch of a text, also for generated columns and indexes."""

    function = "minhash"
    template = "%(function)s(%(expressions)s, %(k)d, %(permutations)d, %(seed)d::bigint, '%(tokenizer)s'::text)"
    arity = 1

    def __init__(
        self, expression: Any, k: int = 5, permutations: int = 128, seed: int = 1, tokenizer: str = "words"
    ) -> None:
        made: dict[str, Any] = {"k": k, "permutations": permutations, "seed": seed, "tokenizer": _word(tokenizer)}
        super().__init__(expression, output_field=MinhashField(), **made)


class Simhash(Func):
    """The simhash sketch of a text, also for generated columns and indexes."""

    function = "simhash"
    template = "%(function)s(%(expressions)s, %(bits)d, %(k)d, '%(tokenizer)s'::text)"
    arity = 1

    def __init__(self, expression: Any, bits: int = 64, k: int = 1, tokenizer: str = "words") -> None:
        made: dict[str, Any] = {"bits": bits, "k": k, "tokenizer": _word(tokenizer)}
        super().__init__(expression, output_field=SimhashField(), **made)


class _Distance(Func):
    template = "(%(expressions)s)"
    arity = 2
    of: ClassVar[type[MinhashField] | type[SimhashField]]

    def __init__(self, expression: Combinable | str, other: Combinable | Sketch | str) -> None:
        # A sketch that is given as its text would be taken for the name of a field.
        given = Value(other, output_field=self.of()) if isinstance(other, Sketch) else other
        super().__init__(expression, given, output_field=FloatField())


class MinhashDistance(_Distance):
    """`<%>`, with its percent sign written as parameters need it; an index gives rows in this order."""

    arg_joiner = " <%%> "
    of = MinhashField


class SimhashDistance(_Distance):
    """`<~>`: the number of bits that differ."""

    arg_joiner = " <~> "
    of = SimhashField


class Near(Func):
    """All texts that are near one: `near(text, similarity, …)`, for exclusion constraints."""

    template = "near((%(expressions)s)::text, %(similarity)s%(more)s)"
    arity = 1

    def __init__(
        self,
        expression: Any,
        similarity: float = 0.8,
        *,
        shingle: int | None = None,
        multiset: bool | None = None,
        tokenizer: str | None = None,
        method: str | None = None,
        normalization: str | None = None,
    ) -> None:
        given = {
            "shingle": None if shingle is None else f"{shingle:d}",
            "multiset": None if multiset is None else str(bool(multiset)).lower(),
            "tokenizer": None if tokenizer is None else f"'{_word(tokenizer)}'",
            "method": None if method is None else f"'{_measure(method)}'",
            "normalization": None if normalization is None else f"'{_form(normalization)}'",
        }
        more = "".join(f", {name} => {value}" for name, value in given.items() if value is not None)
        made: dict[str, Any] = {"similarity": repr(float(similarity)), "more": more}
        super().__init__(expression, output_field=TextField(), **made)


class BallDistance(Func):
    """`<->`: how far a text is from the middle of a ball, infinity outside of it; 1 minus the similarity."""

    template = "(%(expressions)s::text_ball)"
    arg_joiner = " <-> "
    arity = 2

    def __init__(self, expression: Combinable | str, ball: TextBall) -> None:
        super().__init__(expression, Value(str(ball), output_field=TextField()), output_field=FloatField())


def _measure(method: str) -> str:
    if method not in MEASURES:
        raise ValueError(f"method must be one of {', '.join(MEASURES)}, not {method!r}")
    return method


def _form(normalization: str) -> str:
    if normalization.lower() not in FORMS:
        raise ValueError(f"normalization must be one of {', '.join(FORMS)}, not {normalization!r}")
    return normalization


def _word(tokenizer: str) -> str:
    if tokenizer not in ("words", "chars", "whitespace"):
        raise ValueError(f"tokenizer must be words, chars or whitespace, not {tokenizer!r}")
    return tokenizer
