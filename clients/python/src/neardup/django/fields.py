"""Fields of sketches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field

from neardup.django.lookups import MinhashNear, SimhashNear
from neardup.form import MalformedError
from neardup.sketches import MinhashSketch, SimhashSketch, Sketch

if TYPE_CHECKING:
    _AnyField = Field[Any, Any]
else:
    _AnyField = Field


class _SketchField(_AnyField):
    of: ClassVar[type[Sketch]]

    def db_type(self, connection: BaseDatabaseWrapper) -> str:  # noqa: ARG002
        """The type of the extension."""
        return self.of.type_name

    def from_db_value(self, value: Any, expression: object, connection: object) -> Any:  # noqa: ARG002
        """A text of the server as a value."""
        return self.of.from_text(value) if isinstance(value, str) else value

    def to_python(self, value: Any) -> Any:
        """A text, as of a form or a fixture, as a value."""
        if not isinstance(value, str):
            return value
        try:
            return self.of.from_text(value)
        except MalformedError as error:
            raise ValidationError(str(error), code="invalid") from error

    def get_prep_value(self, value: Any) -> Any:
        """A value as its text."""
        value = super().get_prep_value(value)
        return str(value) if isinstance(value, Sketch) else value

    def value_to_string(self, obj: Any) -> str:
        """What a fixture has."""
        value = self.value_from_object(obj)
        return "" if value is None else str(value)


class MinhashField(_SketchField):
    """A minhash sketch."""

    description = "Minhash sketch"
    of = MinhashSketch


class SimhashField(_SketchField):
    """A simhash sketch."""

    description = "Simhash sketch"
    of = SimhashSketch


MinhashField.register_lookup(MinhashNear)
SimhashField.register_lookup(SimhashNear)
