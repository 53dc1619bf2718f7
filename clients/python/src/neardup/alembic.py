"""Alembic: autogenerate that knows the extension's types, and leaves alone what is not of the models.

# env.py
import neardup.alembic
context.configure(connection=connection, target_metadata=metadata, **neardup.alembic.options(connection))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from sqlalchemy import Connection, cast, column, select, table, text
from sqlalchemy.dialects.postgresql import OID
from sqlalchemy.sql import quoted_name
from sqlalchemy.types import ARRAY

from neardup.sqlalchemy import TYPES

if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext

IncludeName = Callable[[str | None, Any, Mapping[str, str | None]], bool]

_OWN_TABLES: Final = """
    SELECT n.nspname, c.relname
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
        AND d.objid OPERATOR(pg_catalog.=) c.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'::pg_catalog."char"
    JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name
"""
_NAMES: Final = """
    SELECT n.nspname, c.relname
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE c.oid OPERATOR(pg_catalog.=) ANY (CAST(:numbers AS pg_catalog.oid[]))
"""
_JOB_TABLES: Final = ("pairs", "clusters", "state", "lists", "hashes")
"""The columns of `neardup_jobs` that name tables."""


def options(connection: Connection, include_name: IncludeName | None = None) -> dict[str, Any]:
    """What `context.configure` is to be given, with an include_name of one's own inside."""
    return {"include_name": leave_alone(connection, include_name), "render_item": render_item}


def render_item(kind: str, item: Any, context: AutogenContext) -> str | Literal[False]:
    """Writes the extension's types into migrations, with their import."""
    known = item.item_type if isinstance(item, ARRAY) else item
    if kind != "type" or type(known) not in TYPES.values():
        return False
    context.imports.add("import neardup.sqlalchemy")
    name = f"neardup.sqlalchemy.{type(known).__name__}()"
    return f"sa.ARRAY({name})" if isinstance(item, ARRAY) else name


def leave_alone(connection: Connection, include_name: IncludeName | None = None) -> IncludeName:
    """An include_name that passes over the tables of the extension, and those that `neardup_watch` made.

    They are no models' tables, so that autogenerate would drop them.
    """
    default: str = connection.dialect.default_schema_name or "public"
    ours = _tables(connection)

    def passes(name: str | None, kind: Any, parents: Mapping[str, str | None]) -> bool:
        if kind == "table" and (parents.get("schema_name") or default, name) in ours:
            return False
        return include_name is None or include_name(name, kind, parents)

    return passes


def _tables(connection: Connection) -> set[tuple[str, str | None]]:
    # In a transaction of its own where there is none, which would be in the way of that of the migrations.
    begun = connection.in_transaction()
    found: set[tuple[str, str | None]] = {(row[0], row[1]) for row in connection.execute(text(_OWN_TABLES))}
    schema = next((schema for schema, name in found if name == "neardup_all_jobs"), None)
    if schema is not None:
        # The name of a schema is no text(): there a colon begins a parameter, and percent signs are doubled twice.
        columns = [cast(column(name), OID) for name in _JOB_TABLES]
        jobs = select(*columns).select_from(table("neardup_jobs", schema=quoted_name(schema, quote=True)))
        numbers = [number for row in connection.execute(jobs) for number in row if number is not None]
        found |= {(row[0], row[1]) for row in connection.execute(text(_NAMES), {"numbers": numbers})}
    if not begun:
        connection.rollback()
    return found
