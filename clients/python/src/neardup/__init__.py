"""neardup for Python: near-duplicate documents inside PostgreSQL, from the drivers and frameworks of Python.

Here are the values: sketches and balls. What needs a driver or a framework is in the module of its name:
`neardup.psycopg`, `neardup.asyncpg`, `neardup.sqlalchemy`, `neardup.alembic`, `neardup.django`, `neardup.pandas`,
`neardup.arrow`. `neardup dedup` and `cut` write files without their duplicates.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from neardup.balls import MinhashBall, SimhashBall
    from neardup.documents import TextBall
    from neardup.form import Kind, MalformedError, UnlikeError
    from neardup.sketches import MinhashSketch, SimhashSketch

__version__ = "0.2.0"

__all__ = [
    "Kind",
    "MalformedError",
    "MinhashBall",
    "MinhashSketch",
    "SimhashBall",
    "SimhashSketch",
    "TextBall",
    "UnlikeError",
    "__version__",
]

# The command, whose start is waited for, needs none of them.
_MODULES: Final = {
    "Kind": "form",
    "MalformedError": "form",
    "MinhashBall": "balls",
    "MinhashSketch": "sketches",
    "SimhashBall": "balls",
    "SimhashSketch": "sketches",
    "TextBall": "documents",
    "UnlikeError": "form",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
