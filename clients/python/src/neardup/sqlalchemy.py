"""SQLAlchemy: types with their operators, functions, and indexes of the access method `signature`.

    from neardup.sqlalchemy import MINHASH_SKETCH, minhash, near, signature_index

    class Doc(Base):
        body: Mapped[str]
        sketch: Mapped[MinhashSketch] = mapped_column(MINHASH_SKETCH, Computed(minhash_sql("body"), persisted=True))
        __table_args__ = (signature_index("doc_sketch", "sketch", operators="minhash_jaccard_ops", threshold=0.7),)

    select(Doc).where(in_ball(Doc.body, near("a text", 0.8)))
    select(Doc).order_by(distance(Doc.body, near("a text", 0.7))).limit(10)
    select(Doc).order_by(Doc.sketch.distance(func.minhash("a text")))

Importing it makes reflection know the types. Operators with a percent sign are escaped by SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Unpack

from sqlalchemy import ColumnElement, Dialect, Float, Index, Text, cast, func, literal, literal_column
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.sql import coercions, roles
from sqlalchemy.sql.functions import GenericFunction
from sqlalchemy.sql.operators import custom_op
from sqlalchemy.types import Boolean, TypeEngine, UserDefinedType

from neardup import options as sql_of
from neardup.balls import Ball, MinhashBall, SimhashBall
from neardup.documents import TextBall
from neardup.options import Options, Within, class_of, group_columns, operator_class, storage_parameters
from neardup.sketches import MinhashSketch, SimhashSketch, Sketch

IN_BALL = custom_op("<@", return_type=Boolean(), is_comparison=True)
CONTAINS = custom_op("@>", return_type=Boolean(), is_comparison=True)
DISTANCE = custom_op("<->", return_type=Float())


class _Type(UserDefinedType[Any]):
    """A type of the extension: values of Python in and out, as text, so that every driver takes them."""

    render_bind_cast = True
    of: ClassVar[type[Sketch] | type[Ball]]

    def get_col_spec(self, **_: Any) -> str:
        """Its name, without a schema: that of the extension is to be in the search_path."""
        return self.of.type_name

    @property
    def python_type(self) -> type[Any]:
        """The class of its values."""
        return self.of

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        """Values as their texts; a text is taken as it is."""
        return lambda value: None if value is None else str(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:  # noqa: ARG002
        """Texts as values; values that a driver's adapter made already are taken as they are."""
        of = self.of
        return lambda value: of.from_text(value) if isinstance(value, str) else value

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Values as they are written in SQL."""
        name, of = self.of.type_name, self.of
        quoted: Callable[[str], str] = Text().literal_processor(dialect)  # type: ignore[no-untyped-call]
        return lambda value: f"{quoted(str(of.from_text(str(value))))}::{name}"


class _SketchComparator(TypeEngine.Comparator[Any]):
    operator: ClassVar[str]

    def in_ball(self, ball: Any) -> ColumnElement[bool]:
        """`<@`: whether it is in a ball."""
        return in_ball(self.expr, ball)

    def distance(self, other: Any) -> ColumnElement[float]:
        """How far it is from another sketch of its kind; an index gives rows in this order."""
        operator = custom_op(self.operator, return_type=Float())
        return self.operate(operator, _typed(other))


class _BallComparator(TypeEngine.Comparator[Any]):
    def contains_sketch(self, sketch: Any) -> ColumnElement[bool]:
        """`@>`: whether it contains a sketch."""
        return self.operate(CONTAINS, _typed(sketch))


class _MinhashComparator(_SketchComparator):
    operator = "<%>"


class _SimhashComparator(_SketchComparator):
    operator = "<~>"


class MINHASH_SKETCH(_Type):  # noqa: N801
    """Minhash sketches."""

    cache_ok = True
    of = MinhashSketch
    comparator_factory = _MinhashComparator


class SIMHASH_SKETCH(_Type):  # noqa: N801
    """Simhash sketches."""

    cache_ok = True
    of = SimhashSketch
    comparator_factory = _SimhashComparator


class MINHASH_BALL(_Type):  # noqa: N801
    """Balls of minhash sketches."""

    cache_ok = True
    of = MinhashBall
    comparator_factory = _BallComparator


class SIMHASH_BALL(_Type):  # noqa: N801
    """Balls of simhash sketches."""

    cache_ok = True
    of = SimhashBall
    comparator_factory = _BallComparator


class TEXT_BALL(_Type):  # noqa: N801
    """Balls of texts."""

    cache_ok = True
    of = TextBall
    comparator_factory = _BallComparator


TYPES: dict[str, type[_Type]] = {
    cls.of.type_name: cls for cls in (MINHASH_SKETCH, SIMHASH_SKETCH, MINHASH_BALL, SIMHASH_BALL, TEXT_BALL)
}

PGDialect.ischema_names.update(TYPES)


class _Minhash(GenericFunction[MinhashSketch]):
    """`func.minhash(…)`, which gives a sketch."""

    name = "minhash"
    type = MINHASH_SKETCH()
    inherit_cache = True


class _Simhash(GenericFunction[SimhashSketch]):
    """`func.simhash(…)`, which gives a sketch."""

    name = "simhash"
    type = SIMHASH_SKETCH()
    inherit_cache = True


def near(
    middle: Any,
    limit: float = 0.8,
    shingle: int | None = None,
    multiset: bool | None = None,
    tokenizer: str | None = None,
    method: str | None = None,
    normalization: str | None = None,
) -> ColumnElement[Any]:
    """The ball about a document, a sketch, or an expression of these: what `<@` asks for.

    A document is a text, or an expression of type text[], tsvector or bigint[]. What is not given is what `near` takes
    by default; of sketches there is only the limit.
    """
    middle = _typed(middle)
    balls: dict[type[Any], type[_Type]] = {MINHASH_SKETCH: MINHASH_BALL, SIMHASH_SKETCH: SIMHASH_BALL}
    of = balls.get(type(getattr(middle, "type", None)), TEXT_BALL)
    named = {"shingle": shingle, "multiset": multiset, "tokenizer": tokenizer, "method": method}
    named["normalization"] = normalization
    more = [literal_column(name).op("=>")(value) for name, value in named.items() if value is not None]
    return func.near(middle, cast(limit, Float(53)), *more, type_=of())


def in_ball(value: Any, ball: Any) -> ColumnElement[bool]:
    """`<@`: whether a column of texts or sketches is in a ball."""
    expression: ColumnElement[Any] = coercions.expect(roles.ExpressionElementRole, value)
    return expression.operate(IN_BALL, _typed(ball))


def distance(value: Any, ball: Any) -> ColumnElement[float]:
    """`<->`: how far a column of texts is from the middle of a ball, infinity outside of it; 1 minus the similarity."""
    expression: ColumnElement[Any] = coercions.expect(roles.ExpressionElementRole, value)
    return expression.operate(DISTANCE, _typed(ball))


class _Expression(str):
    """SQL that SQLAlchemy takes as it is: of a plain string it makes text(), where a colon begins a parameter."""

    __slots__ = ()

    def __clause_element__(self) -> ColumnElement[Any]:
        return literal_column(str(self))


def minhash_sql(column: str, k: int = 5, permutations: int = 128, seed: int = 1, tokenizer: str = "words") -> str:
    """The minhash sketch of a column of texts, for generated columns and indexes."""
    return _Expression(sql_of.minhash_sql(column, k, permutations, seed, tokenizer))


def simhash_sql(column: str, bits: int = 64, k: int = 1, tokenizer: str = "words") -> str:
    """The simhash sketch of a column of texts, for generated columns and indexes."""
    return _Expression(sql_of.simhash_sql(column, bits, k, tokenizer))


def signature_index(
    name: str,
    expression: str,
    *,
    within: Within = (),
    operators: str | None = None,
    where: Any = None,
    **options: Unpack[Options],
) -> Index:
    """An index USING signature on a column, or on what `minhash_sql` and `simhash_sql` write.

    `within` names columns before it, whose equal values make groups: "tenant", or {"lang": "text_group_ops"} for texts.
    `operators` is the operator class; that of texts, or of what a function makes, where it is not given.
    """
    name_of_class = operators or class_of(expression)
    of = operator_class(name_of_class, options)
    # Alembic writes an expression as literal_column(its text): by that name its operator class is found again.
    column: Any = literal_column(str(expression)) if "(" in expression else expression
    more = {"postgresql_where": where} if where is not None else {}
    parameters = storage_parameters(name_of_class, options)
    if parameters:
        more["postgresql_with"] = parameters
    groups = group_columns(within)
    classes = {**{group: of_group for group, of_group in groups.items() if of_group}, str(expression): of}
    return Index(name, *groups, column, postgresql_using="signature", postgresql_ops=classes, **more)


def _typed(value: Any) -> Any:
    """A value of Python as a literal of its own type; expressions as they are."""
    if isinstance(value, Sketch | Ball):
        return literal(value, TYPES[value.type_name]())
    return literal(value, Text()) if isinstance(value, str) else value


__all__ = [
    "MINHASH_BALL",
    "MINHASH_SKETCH",
    "SIMHASH_BALL",
    "SIMHASH_SKETCH",
    "TEXT_BALL",
    "distance",
    "in_ball",
    "minhash_sql",
    "near",
    "signature_index",
    "simhash_sql",
]
