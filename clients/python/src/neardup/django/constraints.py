"""A constraint against rows whose texts are near duplicates."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.indexes import OpClass
from django.db.models import Deferrable, Q

from neardup.django.functions import Near
from neardup.django.indexes import grouped
from neardup.options import Options, Within, group_columns, operator_class

_OPERATORS = "text_ball_set_ops"
_LEAST = 0.7
"""The least similarity that an index serves where its option `threshold` does not say another one."""


class NearExclusionConstraint(ExclusionConstraint):
    """No two rows whose texts in a field are at least so similar, by `EXCLUDE USING signature (near(…) WITH &&)`.

    With `within`, no two rows with equal values in these fields: "tenant", or {"lang": "text_group_ops"} for texts. The
    other arguments are those of `near`, and those of constraints of Django.
    """

    def __init__(
        self,
        field: str,
        similarity: float = 0.8,
        *,
        name: str,
        within: Within = (),
        shingle: int | None = None,
        multiset: bool | None = None,
        tokenizer: str | None = None,
        method: str | None = None,
        normalization: str | None = None,
        condition: Q | None = None,
        deferrable: Deferrable | None = None,
        violation_error_code: str | None = None,
        violation_error_message: str | None = None,
    ) -> None:
        named: dict[str, Any] = {"shingle": shingle, "multiset": multiset, "tokenizer": tokenizer}
        named |= {"method": method, "normalization": normalization}
        self._given: dict[str, Any] = {"field": field, "similarity": similarity}
        self._given |= {key: value for key, value in named.items() if value is not None}
        options: Options = {}
        if shingle is not None:
            options["shingle"] = shingle
        if multiset is not None:
            options["multiset"] = multiset
        if tokenizer is not None:
            options["tokenizer"] = tokenizer
        if method is not None:
            options["measure"] = method
        if normalization is not None:
            options["normalize"] = normalization
        if similarity < _LEAST:
            options["threshold"] = similarity
        groups = group_columns(within)
        if groups:
            self._given["within"] = groups
        expression = Near(field, similarity, **named)
        more: dict[str, Any] = {"condition": condition, "deferrable": deferrable}
        more |= {"violation_error_code": violation_error_code, "violation_error_message": violation_error_message}
        super().__init__(
            name=name,
            expressions=[
                *((group, "=") for group in grouped(groups)),
                (OpClass(expression, name=operator_class(_OPERATORS, options)), "&&"),
            ],
            **{key: value for key, value in more.items() if value is not None},
        )
        # Django lets only GiST and SP-GiST in.
        self.index_type = "signature"

    def deconstruct(self) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
        """What migrations have: the arguments as they were given."""
        path, args, kwargs = super().deconstruct()
        rest = {key: value for key, value in kwargs.items() if key not in ("expressions", "index_type")}
        return path, tuple(args), {**rest, **self._given}
