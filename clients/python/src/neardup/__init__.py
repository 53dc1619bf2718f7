"""neardup for Python: near-duplicate documents inside PostgreSQL, from the drivers and frameworks of Python.

Here are the values: sketches and balls. What needs a driver or a framework is in the module of its name:
`neardup.psycopg`, `neardup.asyncpg`, `neardup.sqlalchemy`, `neardup.alembic`, `neardup.django`, `neardup.pandas`,
`neardup.arrow`. `neardup dedup` and `cut` write files without their duplicates.
"""

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
