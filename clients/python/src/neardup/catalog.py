"""What is asked of the server's catalogs: statements with every name in its schema, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

TYPES: Final = ("minhash_sketch", "simhash_sketch", "minhash_ball", "simhash_ball", "text_ball")
"""The types of the extension that have values here."""

EXTENSION: Final = """
    SELECT n.nspname::pg_catalog.text, e.extversion
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name
"""
"""The schema and the version of the extension."""

TYPE_OIDS: Final = """
    SELECT t.typname::pg_catalog.text, t.oid, t.typarray
    FROM pg_catalog.pg_type t
    JOIN pg_catalog.pg_depend d ON d.objid OPERATOR(pg_catalog.=) t.oid
        AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
        AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_extension'::pg_catalog.regclass
    JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
    WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name
        AND t.typtype OPERATOR(pg_catalog.=) 'b'::pg_catalog."char"
"""
"""The base types of the extension with their numbers and those of their arrays."""

ID_TYPE: Final = """
    SELECT n.nspname::pg_catalog.text, t.typname::pg_catalog.text, a.atttypid
    FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid
    JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
    WHERE a.attrelid OPERATOR(pg_catalog.=) {relation}::pg_catalog.regclass
        AND a.attnum OPERATOR(pg_catalog.>) 0::pg_catalog.int2 AND NOT a.attisdropped
        AND CASE WHEN {column}::pg_catalog.text IS NOT NULL
            THEN a.attname OPERATOR(pg_catalog.=) {column}::pg_catalog.name
            ELSE EXISTS (
                SELECT FROM pg_catalog.pg_index i
                WHERE i.indrelid OPERATOR(pg_catalog.=) a.attrelid AND i.indisprimary
                    AND i.indnkeyatts OPERATOR(pg_catalog.=) 1::pg_catalog.int2
                    AND i.indkey[0] OPERATOR(pg_catalog.=) a.attnum)
            END
"""
"""The type of a relation's id, by its schema and name and as a number; placeholders: {relation}, {column}."""

INTEGERS: Final = frozenset({20, 21, 23})
"""The types whose ids come back as bigint."""


class MissingExtensionError(RuntimeError):
    """The database does not have the extension."""

    def __init__(self) -> None:
        super().__init__("this database does not have the extension neardup: CREATE EXTENSION neardup")


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type of the database. Not a string of SQL, so that none is taken for one."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"


@dataclass(frozen=True, slots=True)
class Extension:
    """The extension in a database."""

    schema: str
    version: str

    def name(self, name: str) -> str:
        """An object of the extension, with its schema."""
        return f"{quoted(self.schema)}.{quoted(name)}"


def quoted(name: str) -> str:
    """A name as SQL has it, whatever is in it."""
    if "\0" in name or not name:
        raise ValueError(f"{name!r} is not a name of SQL")
    return '"' + name.replace('"', '""') + '"'
