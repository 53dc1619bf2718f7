"""The app: with it texts have the lookup `near`."""

from django.apps import AppConfig
from django.db.models import CharField, TextField

from neardup.django.lookups import TextNear


class NeardupConfig(AppConfig):
    """`neardup.django` in INSTALLED_APPS. It has no models."""

    name = "neardup.django"
    label = "neardup"

    def ready(self) -> None:
        """Registers the lookup of texts."""
        TextField.register_lookup(TextNear)
        CharField.register_lookup(TextNear)
