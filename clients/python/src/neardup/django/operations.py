"""The migration that creates the extension, and what keeps pairs up to date."""

from __future__ import annotations

from django.contrib.postgres.operations import CreateExtension
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

from neardup import session


class NeardupExtension(CreateExtension):
    """Creates the extension, which a role that may create objects in the database can."""

    def __init__(self) -> None:
        super().__init__("neardup")


def refresh(model: type[Model] | str, *, using: str = DEFAULT_DB_ALIAS, batch_rows: int | None = None) -> str:
    """Brings the pairs and clusters of a watched model up to date, in batches that commit: `done` or `skipped`.

    It cannot run inside `atomic()`, nor in a TestCase: a TransactionTestCase can test it.
    """
    connection = connections[using]
    table = model if isinstance(model, str) else connection.ops.quote_name(model._meta.db_table)
    return session.refresh(connection, table, batch_rows=batch_rows)
