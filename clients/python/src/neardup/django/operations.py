"""The migration that creates the extension, and what keeps pairs up to date."""

from __future__ import annotations

from typing import Unpack

from django.contrib.postgres.operations import CreateExtension
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

from neardup import session
from neardup.named import Watching, named


class NeardupExtension(CreateExtension):
    """Creates the extension, which a role that may create objects in the database can."""

    def __init__(self) -> None:
        super().__init__("neardup")


@named
def watch(
    model: type[Model] | str,
    threshold: float | None = None,
    *,
    using: str = DEFAULT_DB_ALIAS,
    **more: Unpack[Watching],
) -> None:
    """Sets up a job that keeps the near duplicates of a model in tables beside its own."""
    session.watch(connections[using], _table(model, using), threshold, **more)


def unwatch(model: type[Model] | str, *, using: str = DEFAULT_DB_ALIAS, keep_results: bool = False) -> None:
    """Ends a job and drops its tables, or only what is not its results."""
    session.unwatch(connections[using], _table(model, using), keep_results=keep_results)


def refresh(model: type[Model] | str, *, using: str = DEFAULT_DB_ALIAS, batch_rows: int | None = None) -> str:
    """Brings the pairs and clusters of a watched model up to date, in batches that commit: `done` or `skipped`.

    It cannot run inside `atomic()`, nor in a TestCase: a TransactionTestCase can test it.
    """
    return session.refresh(connections[using], _table(model, using), batch_rows=batch_rows)


def _table(model: type[Model] | str, using: str) -> str:
    return model if isinstance(model, str) else connections[using].ops.quote_name(model._meta.db_table)
