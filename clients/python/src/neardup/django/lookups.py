"""The lookup `near`: `filter(body__near=("a text", 0.8))`, `filter(sketch__near=(sketch, 0.8))`.

What is on the right of it may be an expression, too: `filter(sketch__near=(Minhash(Value("a text")), 0.8))`.
More arguments of `near` stand in their order behind the similarity, or in a dictionary: `("a text", 0.8, {"method":
"dice"})`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Lookup
from django.db.models.sql.compiler import SQLCompiler

from neardup.balls import Ball

if TYPE_CHECKING:
    _AnyLookup = Lookup[Any]
else:
    _AnyLookup = Lookup


class _Near(_AnyLookup):
    lookup_name = "near"
    prepare_rhs = False
    middle: ClassVar[str]
    """The type of what a ball is about."""
    ball: ClassVar[str]
    more: ClassVar[tuple[str, ...]] = ()
    """Arguments of `near` behind what it is about and the limit."""

    def get_prep_lookup(self) -> Any:
        """Checks what is on the right: a ball, or what it is about and a limit."""
        if isinstance(self.rhs, Ball):
            if self.rhs.type_name != self.ball:
                raise ValueError(f"near needs a {self.ball}, not a {self.rhs.type_name}")
            return self.rhs
        if not (isinstance(self.rhs, list | tuple) and 2 <= len(self.rhs) <= 2 + len(self.more)):
            raise ValueError(f"near needs a {self.middle} and how near others have to be: near=(…, 0.8)")
        named = self.rhs[-1]
        if isinstance(named, Mapping) and (not self.more or named.keys() - set(self.more)):
            has = f"more arguments are {', '.join(self.more)}" if self.more else "there are no more arguments"
            raise ValueError(f"near of a {self.middle}: {has}, not {', '.join(map(str, named))}")
        return self.rhs

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, list[Any]]:  # type: ignore[override]
        """`<@ near(…)`."""
        left, parameters = self.process_lhs(compiler, connection)
        if isinstance(self.rhs, Ball):
            return f"{left} <@ %s::{self.ball}", [*parameters, str(self.rhs)]
        middle, *limits = self.rhs
        if hasattr(middle, "resolve_expression"):
            resolved = middle.resolve_expression(compiler.query)
            inside, given = compiler.compile(resolved)
        else:
            inside, given = f"%s::{self.middle}", (str(middle),)
        named = limits.pop() if isinstance(limits[-1], Mapping) else {}
        places = ", ".join([inside, *("%s" for _ in limits), *(f"{name} => %s" for name in named)])
        return f"{left} <@ near({places})", [*parameters, *given, *limits, *named.values()]


class TextNear(_Near):
    """Of texts, as `near_duplicates` compares them; an index with the same options serves it."""

    middle = "text"
    ball = "text_ball"
    more = ("shingle", "multiset", "tokenizer", "method", "normalization")


class MinhashNear(_Near):
    """Of minhash sketches, by their least similarity."""

    middle = "minhash_sketch"
    ball = "minhash_ball"


class SimhashNear(_Near):
    """Of simhash sketches, by their greatest distance."""

    middle = "simhash_sketch"
    ball = "simhash_ball"
