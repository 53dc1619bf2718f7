"""Alembic: migrations that are written, run, and leave nothing to write."""

import importlib.util
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from neardup import session
from neardup.server import PrivateServer

from .test_sqlalchemy import Base, url

ENVIRONMENT = """
from alembic import context
from sqlalchemy import create_engine

import neardup.alembic
from tests.test_sqlalchemy import Base

engine = create_engine(context.config.get_main_option("sqlalchemy.url"))
with engine.connect() as connection:
    more = neardup.alembic.options(connection) if context.config.get_main_option("known") else {}
    context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True, **more)
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
"""
TEMPLATE = '''
"""${message}"""
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
from alembic import op
import sqlalchemy as sa
${imports if imports else ""}
def upgrade():
    ${upgrades if upgrades else "pass"}
def downgrade():
    ${downgrades if downgrades else "pass"}
'''


@pytest.fixture
def config(tmp_path: Path, server: PrivateServer, database: str) -> Config:
    folder = tmp_path / "migrations"
    (folder / "versions").mkdir(parents=True)
    (folder / "env.py").write_text(ENVIRONMENT)
    (folder / "script.py.mako").write_text(TEMPLATE)
    config = Config()
    config.set_main_option("script_location", str(folder))
    config.set_main_option("path_separator", "os")
    config.set_main_option("sqlalchemy.url", url(server, database, "psycopg"))
    config.set_main_option("known", "yes")
    return config


def written(config: Config, name: str) -> Path:
    script: Any = command.revision(config, name, autogenerate=True, rev_id=name)
    return Path(script.path)


def test_a_migration_is_written_and_leaves_nothing_to_write(config: Config, connection: psycopg.Connection) -> None:
    first = written(config, "first").read_text()
    assert "import neardup.sqlalchemy" in first
    assert "neardup.sqlalchemy.MINHASH_SKETCH()" in first
    assert first.count("create_index(") == 5
    command.upgrade(config, "head")
    rows = connection.execute("""SELECT indexname, options FROM pg_indexes, signature_index_stats(indexname::regclass)
        WHERE tablename = 'docs' AND indexdef LIKE '%USING signature%' ORDER BY 1""").fetchall()
    assert [name for name, _ in rows] == ["docs_body", "docs_minhash", "docs_of_lang", "docs_simhash", "docs_sketch"]
    assert [options.split(": ")[1][:3] for _, options in rows] == ["jac", "84 ", "jac", "128", "128"]
    session.watch(connection, "docs", 0.75)
    session.refresh(connection, "docs")
    assert nothing_to_do(written(config, "second"))
    command.downgrade(config, "base")
    assert connection.execute("SELECT to_regclass('docs')").fetchone() == (None,)


def nothing_to_do(path: Path) -> bool:
    specification = importlib.util.spec_from_file_location("migration", path)
    assert specification is not None
    assert specification.loader is not None
    migration = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(migration)
    return not (migration.upgrade.__code__.co_names or migration.downgrade.__code__.co_names)


def test_what_goes_wrong_without_it(config: Config, server: PrivateServer, database: str) -> None:
    engine = create_engine(url(server, database, "psycopg"))
    Base.metadata.create_all(engine)
    engine.dispose()
    config.remove_main_option("known")
    assert "drop_table('neardup_all_jobs')" in written(config, "first").read_text()
