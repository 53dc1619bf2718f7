"""The index of the access method `signature`."""

from __future__ import annotations

from typing import Any, Unpack

from django.contrib.postgres.indexes import OpClass, PostgresIndex
from django.core.exceptions import ImproperlyConfigured
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.backends.ddl_references import Statement
from django.db.models import F, Model
from django.db.models.expressions import Func
from django.db.models.indexes import IndexExpression

from neardup.options import MADE_BY, TEXTS, Options, Within, group_columns, operator_class, storage_parameters


def grouped(within: dict[str, str]) -> list[Any]:
    """The fields of groups as expressions, with their operator classes."""
    return [OpClass(field, name=of) if of else F(field) for field, of in within.items()]


class SignatureIndex(PostgresIndex):
    """An index USING signature on a field, or on `Minhash(…)` or `Simhash(…)`.

    `within` names fields before it, whose equal values make groups: "tenant", or {"lang": "text_group_ops"} for texts.
    `operators` is the operator class; that of texts, or of the function's sketches, where it is not given.
    """

    suffix = "signature"

    def __init__(
        self,
        *expressions: Any,
        name: str,
        fields: tuple[str, ...] | list[str] = (),
        within: Within = (),
        operators: str | None = None,
        condition: Any = None,
        db_tablespace: str | None = None,
        **options: Unpack[Options],
    ) -> None:
        if len(expressions) + len(fields) != 1:
            raise ValueError("an index of signature has one field or one expression, and those it is within")
        self.operators = operators
        self.options = options
        self._expression = expressions[:1]
        of = operators or next((MADE_BY.get(e.function or "") for e in expressions if isinstance(e, Func)), None)
        self._class = of or TEXTS
        clause = operator_class(self._class, options)
        self.within = group_columns(within)
        more: dict[str, Any] = {}
        if fields:
            more = {"opclasses": [*self.within.values(), clause], "fields": [*self.within, *fields]}
        else:
            expressions = (*grouped(self.within), OpClass(expressions[0], name=clause))
        super().__init__(
            *expressions,
            name=name,
            condition=condition,
            db_tablespace=db_tablespace,
            **more,
        )

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        """What migrations have: the arguments as they were given."""
        path, _, kwargs = super().deconstruct()
        if kwargs.pop("opclasses", None):
            kwargs["fields"] = kwargs["fields"][-1:]
        if self.within:
            kwargs["within"] = self.within
        if self.operators is not None:
            kwargs["operators"] = self.operators
        return path, self._expression, {**kwargs, **self.options}

    def get_with_params(self) -> list[str]:
        """What stands behind WITH."""
        return [f"{name} = {value}" for name, value in storage_parameters(self._class, self.options).items()]

    def create_sql(
        self, model: type[Model], schema_editor: BaseDatabaseSchemaEditor, using: str = "", **kwargs: Any
    ) -> Statement:
        """The statement; it takes an app that knows operator classes of expressions."""
        if self._expression and OpClass not in IndexExpression.wrapper_classes:
            raise ImproperlyConfigured('an index on an expression needs "django.contrib.postgres" in INSTALLED_APPS')
        return super().create_sql(model, schema_editor, using, **kwargs)
