"""What an index of the access method `signature` is made of: expressions, operator classes and their options, as SQL.

Expressions are written as the server writes them back, all arguments and their types, so that a tool which compares a
model with a database sees no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypedDict

from neardup.catalog import quoted

CLASSES: Final[Mapping[str, frozenset[str]]] = {
    "text_set_ops": frozenset({"measure", "direction", "shingle", "multiset", "tokenizer", "normalize", "threshold"}),
    "array_set_ops": frozenset({"measure", "direction", "shingle", "multiset", "threshold"}),
    "tsvector_set_ops": frozenset({"measure", "direction", "shingle", "multiset", "threshold"}),
    "text_ball_set_ops": frozenset(
        {"measure", "direction", "shingle", "multiset", "tokenizer", "normalize", "threshold"}
    ),
    "text_ball_gram_ops": frozenset({"shingle", "normalize"}),
    "text_runs_ops": frozenset({"min_run", "tokenizer", "normalize"}),
    "minhash_jaccard_ops": frozenset({"k", "permutations", "seed", "source"}),
    "simhash_hamming_ops": frozenset({"bits", "k", "source"}),
    "bigint_signature_ops": frozenset(),
    "uuid_signature_ops": frozenset(),
}
"""The operator classes and the options that each has."""

TEXTS: Final = "text_set_ops"
"""The class of texts."""

MADE_BY: Final = {"minhash": "minhash_jaccard_ops", "simhash": "simhash_hamming_ops", "near": "text_ball_set_ops"}
"""The classes of what our functions make."""

STORAGE: Final = ("threshold", "distance", "pending_limit", "stop_signature_limit")
"""The storage parameters of an index. `threshold` is one for sketches; for sets it is an option of the class."""

Within = str | Iterable[str] | Mapping[str, str]
"""Columns whose equal values make groups; a mapping has their operator classes, as texts need `text_group_ops`."""

_PLAIN_NAME: Final = re.compile(r"[a-z_][a-z0-9_$]*")


class Options(TypedDict, total=False):
    """Options of an operator class, and storage parameters."""

    measure: str
    direction: str
    shingle: int
    multiset: bool
    tokenizer: str
    normalize: str
    min_run: int
    k: int
    permutations: int
    seed: int
    source: str
    bits: int
    threshold: float
    distance: int
    pending_limit: int
    stop_signature_limit: int


def group_columns(within: Within) -> dict[str, str]:
    """The columns of groups and their operator classes, "" for the one of the type."""
    if isinstance(within, Mapping):
        return dict(within)
    return dict.fromkeys([within] if isinstance(within, str) else within, "")


def class_of(expression: str) -> str:
    """The operator class of a column or an expression that is not named: of texts, but for calls of our functions."""
    made = (of for function, of in MADE_BY.items() if expression.startswith(f"{function}("))
    return next(made, TEXTS)


def operator_class(name: str, options: Options) -> str:
    """An operator class with its options, as CREATE INDEX has it behind the column."""
    if name not in CLASSES:
        raise ValueError(f"{name!r} is not an operator class of signature; these are: {', '.join(CLASSES)}")
    given = {key: value for key, value in options.items() if key in CLASSES[name] or key not in STORAGE}
    if wrong := given.keys() - CLASSES[name]:
        has = ", ".join(sorted(CLASSES[name])) or "none"
        raise ValueError(f"{', '.join(sorted(wrong))}: not an option of {name}, which has: {has}")
    inside = ", ".join(f"{key} = {_value(value)}" for key, value in given.items())
    return f"{name} ({inside})" if inside else name


def storage_parameters(name: str, options: Options) -> dict[str, int | float]:
    """What stands behind WITH, for an operator class."""
    given: dict[str, int | float] = {}
    for key in STORAGE:
        value = None if key in CLASSES[name] else options.get(key)
        if isinstance(value, int | float):
            given[key] = value
        elif value is not None:
            raise TypeError(f"{key} must be a number, not {value!r}")
    return given


def minhash_sql(column: str, k: int = 5, permutations: int = 128, seed: int = 1, tokenizer: str = "words") -> str:
    """The minhash sketch of a column of texts, for generated columns and indexes."""
    return f"minhash({_name(column)}, {k:d}, {permutations:d}, '{seed:d}'::bigint, {_value(tokenizer)}::text)"


def simhash_sql(column: str, bits: int = 64, k: int = 1, tokenizer: str = "words") -> str:
    """The simhash sketch of a column of texts, for generated columns and indexes."""
    return f"simhash({_name(column)}, {bits:d}, {k:d}, {_value(tokenizer)}::text)"


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quoted(name)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str) and value.isalpha() and value.isascii():
        return f"'{value}'"
    raise TypeError(f"{value!r} is neither a number nor a word")
