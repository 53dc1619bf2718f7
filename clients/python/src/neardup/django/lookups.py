"""The lookup `near`: `filter(body__near=("a text", 0.8))`, `filter(sketch__near=(sketch, 0.8))`.

What is on the right of it may be an expression, too: `filter(sketch__near=(Minhash(Value("a text")), 0.8))`.
"""

from __future__ import annotations

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
    most: ClassVar[int] = 2
    """How many arguments `near` has."""

    def get_prep_lookup(self) -> Any:
        """Checks what is on the right: a ball, or what it is about and a limit."""
        if isinstance(self.rhs, Ball):
            if self.rhs.type_name != self.ball:
                raise ValueError(f"near needs a {self.ball}, not a {self.rhs.type_name}")
        elif not (isinstance(self.rhs, list | tuple) and 2 <= len(self.rhs) <= self.most):
            raise ValueError(f"near needs a {self.middle} and how near others have to be: near=(…, 0.8)")
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
        places = ", ".join("%s" for _ in limits)
        return f"{left} <@ near({inside}, {places})", [*parameters, *given, *limits]


class TextNear(_Near):
    """Of texts; `near=(text, similarity, k, permutations)` says how both sketches are made."""

    middle = "text"
    ball = "text_ball"
    most = 4


class MinhashNear(_Near):
    """Of minhash sketches, by their least similarity."""

    middle = "minhash_sketch"
    ball = "minhash_ball"


class SimhashNear(_Near):
    """Of simhash sketches, by their greatest distance."""

    middle = "simhash_sketch"
    ball = "simhash_ball"
