"""Calls of the extension's functions as statements: named arguments, each cast to its type, values apart from SQL."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from neardup.catalog import Extension, TypeName

Value = object
"""What an argument may be: None leaves it out."""

ARGUMENT_TYPES: Final[Mapping[str, str]] = {
    "a": "text",
    "across": "text",
    "at_once": "int4",
    "b": "text",
    "batch_rows": "int4",
    "clustering": "text",
    "clusters": "text",
    "detect": "text",
    "docs": "regclass",
    "edits": "float8",
    "extend": "bool",
    "features": "text",
    "id_column": "text",
    "incremental": "bool",
    "keep": "text",
    "keep_results": "bool",
    "left": "regclass",
    "link": "text",
    "max_cluster_size": "int4",
    "max_clusters": "int4",
    "max_members": "int4",
    "max_pairs": "int8",
    "max_passages": "int8",
    "max_samples": "int4",
    "method": "text",
    "min_documents": "int4",
    "min_left": "int4",
    "min_length": "int4",
    "min_sentences": "int4",
    "min_share": "float8",
    "min_tokens": "int4",
    "multiset": "bool",
    "node_timeout": "interval",
    "options": "jsonb",
    "pairs": "text",
    "parts": "int4",
    "pause": "interval",
    "resume": "bool",
    "retries": "int4",
    "right": "regclass",
    "right_across": "text",
    "right_id_column": "text",
    "right_site_column": "text",
    "right_text_column": "text",
    "right_within": "text",
    "shingle": "int4",
    "site_column": "text",
    "snap": "text",
    "text_column": "text",
    "threshold": "float8",
    "title_column": "text",
    "tokenizer": "text",
    "unit": "text",
    "within": "text",
    "within_documents": "bool",
}
"""The arguments of the functions that are called here, and their types."""


def arguments(
    given: Mapping[str, Value], placeholder: Callable[[int], str], id_type: TypeName | None = None
) -> tuple[str, list[Value]]:
    """What stands between the parentheses of a call, and the values of its placeholders.

    `id_type` stands where it is declared, behind the threshold: the parser of PostgreSQL finds the types of the columns
    by the place and not by the name of an argument.
    """
    if id_type is not None and not isinstance(id_type, TypeName):
        raise TypeError(f"a type of ids is a TypeName, not {type(id_type).__name__}: SQL is not taken for one")
    parts: list[str] = []
    values: list[Value] = []
    for name, value in given.items():
        if name == "threshold" and id_type is not None:
            values.append(value)
            parts.append(f'"threshold" => {placeholder(len(values))}::pg_catalog.float8')
            parts.append(f"id_type => NULL::{_escaped(str(id_type), placeholder)}")
            continue
        if name not in ARGUMENT_TYPES:
            known = ", ".join(sorted(ARGUMENT_TYPES))
            raise TypeError(f"{name!r} is not an argument of neardup; these are: {known}")
        if value is None:
            continue
        values.append(json.dumps(value) if name == "options" and not isinstance(value, str) else value)
        parts.append(f'"{name}" => {placeholder(len(values))}::pg_catalog.{ARGUMENT_TYPES[name]}')
    return ", ".join(parts), values


def percent(_: int) -> str:
    """The placeholders of psycopg."""
    return "%s"


def dollar(number: int) -> str:
    """The placeholders of asyncpg."""
    return f"${number}"


def table_call(
    extension: Extension,
    function: str,
    given: Mapping[str, Value],
    placeholder: Callable[[int], str],
    id_type: TypeName | None = None,
) -> tuple[str, Sequence[Value]]:
    """All rows that a function gives."""
    inside, values = arguments(given, placeholder, id_type)
    return f"SELECT * FROM {_escaped(extension.name(function), placeholder)}({inside})", values


def procedure_call(
    extension: Extension, procedure: str, given: Mapping[str, Value], placeholder: Callable[[int], str]
) -> tuple[str, Sequence[Value]]:
    """The call of a procedure."""
    inside, values = arguments(given, placeholder)
    return f"CALL {_escaped(extension.name(procedure), placeholder)}({inside})", values


def _escaped(sql: str, placeholder: Callable[[int], str]) -> str:
    # Where values are written %s, a percent sign of a name is written twice.
    return sql.replace("%", "%%") if placeholder is percent else sql
