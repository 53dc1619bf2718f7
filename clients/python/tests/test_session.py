"""Calls through psycopg, from whatever holds the connection: jobs, tables of pairs, statistics, progress."""

import html
import inspect

import psycopg
import pytest
import sqlalchemy
import sqlalchemy.orm

from neardup import session
from neardup.catalog import MissingExtensionError
from neardup.progress import Report, parse

from .bars import Silent
from .conftest import of

FUNCTIONS = ["near_duplicates", "near_duplicates_between", "near_duplicate_clusters", "eliminate", "partial_duplicates"]


def test_refresh_in_autocommit(docs: psycopg.Connection, dsn: str) -> None:
    session.watch(docs, "docs", 0.75)
    with psycopg.connect(dsn) as connection:
        assert not connection.autocommit
        assert session.refresh(connection, "docs") == "done"
        assert not connection.autocommit
        connection.execute("SELECT 1")
        with pytest.raises(RuntimeError, match="inside a transaction"):
            session.refresh(connection, "docs")
        connection.rollback()
        with pytest.raises(psycopg.errors.UndefinedTable):
            session.refresh(connection, "nothing")
        assert not connection.autocommit
    docs.execute("INSERT INTO docs SELECT 7, body FROM docs WHERE id = 1")
    assert session.refresh(dsn, "docs", batch_rows=1) == "done"
    assert docs.execute("SELECT count(*) FROM docs_pairs").fetchone() == (4,)
    session.unwatch(docs, "docs", keep_results=True)
    assert docs.execute("SELECT to_regclass('docs_pairs'), to_regclass('docs_neardup')").fetchone() == (
        "docs_pairs",
        None,
    )


def test_every_holder_of_a_connection(docs: psycopg.Connection, dsn: str) -> None:
    session.watch(docs, "docs", 0.75)
    engine = sqlalchemy.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
    assert session.refresh(engine, "docs") == "done"
    with engine.connect() as connection:
        assert session.refresh(connection, "docs") == "done"
        connection.execute(sqlalchemy.text("SELECT 1"))
        with pytest.raises(RuntimeError, match="inside a transaction"):
            session.refresh(connection, "docs")
    with sqlalchemy.orm.Session(engine) as orm:
        assert session.version(orm)["library"] == session.version(orm)["sql"]
    engine.dispose()
    with pytest.raises(TypeError, match="psycopg 3, not builtins"):
        session.refresh(5, "docs")


def test_tables_of_pairs_and_clusters(docs: psycopg.Connection) -> None:
    session.near_duplicates_into(docs, "docs", 0.75, "found", clusters="grouped", options={"algorithm": "ppjoin"})
    assert docs.execute("SELECT left_id, right_id FROM found ORDER BY 1").fetchall() == [(1, 2), (3, 4)]
    assert docs.execute("SELECT count(*) FROM grouped").fetchone() == (4,)


def test_what_a_call_did(docs: psycopg.Connection) -> None:
    assert session.stats(docs) is None
    docs.execute("SELECT * FROM near_duplicates('docs', 0.75)")
    stats = session.stats(docs)
    assert stats is not None
    assert (stats["documents"], stats["pairs"]) == (5, 2)
    methods = {row["method"]: row for row in session.explain_pair(docs, "the quick brown fox", "the quick red fox")}
    assert methods["jaccard"]["evidence"] == {"left": 4, "pair": False, "right": 4, "shared": 3}
    assert session.duplicates_report(docs, "docs", 0.75, max_clusters=1).startswith("<!")


def test_arguments_that_are_none(docs: psycopg.Connection) -> None:
    with pytest.raises(TypeError, match="'treshold' is not an argument of neardup"):
        session.watch(docs, "docs", treshold=0.5)


def test_without_the_extension(server: object, bare: str) -> None:
    with pytest.raises(MissingExtensionError):
        session.refresh(of(server, bare), "docs")  # type: ignore[arg-type]


@pytest.fixture
def many(connection: psycopg.Connection) -> psycopg.Connection:
    """A table that takes long enough for progress to be told."""
    connection.execute("CREATE TABLE docs (id int PRIMARY KEY, body text)")
    connection.execute("""INSERT INTO docs SELECT n, (SELECT string_agg('w' || hashint8(n / 2 * 1000 + w) % 5000, ' ')
        FROM generate_series(1, 60) w) FROM generate_series(1, 30000) n""")
    connection.execute("SET neardup.threads = 1")
    return connection


def test_progress_of_a_call(many: psycopg.Connection) -> None:
    bar, reports = Silent(), list[Report]()
    many.autocommit = False
    with session.progress(many, bar, reports.append) as showing:
        # What takes less than half a second tells nothing.
        while not reports:
            many.execute("SELECT count(*) FROM near_duplicates('docs', 0.3)")
            many.execute("INSERT INTO docs SELECT id + (SELECT max(id) FROM docs), translate(body, 'w', 'x') FROM docs")
        many.commit()
    assert bar.closed
    assert {report.call for report in reports} == {"near_duplicates"}
    assert {report.phase for report in reports} <= {"reading", "ordering", "joining"}
    assert showing.other == []
    assert many.execute("SHOW neardup.progress").fetchone() == ("off",)
    assert not many.autocommit


def test_progress_of_a_call_that_fails(docs: psycopg.Connection) -> None:
    docs.autocommit = False
    with pytest.raises(psycopg.errors.UndefinedTable), session.progress(docs, Silent()):
        docs.execute("SELECT * FROM near_duplicates('nothing', 0.5)")
    docs.rollback()
    with pytest.raises(ZeroDivisionError), session.progress(docs, Silent()):
        docs.execute(b"SELECT %d" % (1 // 0))
    assert docs.execute("SHOW neardup.progress").fetchone() == ("off",)


def test_words_of_notices() -> None:
    assert parse("near_duplicates: reading, 600 documents") == Report(
        "near_duplicates", "reading", None, "600 documents"
    )
    assert parse("near_duplicates: ordering") == Report("near_duplicates", "ordering", None, "")
    assert parse("eliminate: joining, 45 %, 12 pairs") == Report("eliminate", "joining", 0.45, "12 pairs")
    assert parse("near_duplicates: making signatures, 7 %") == Report("near_duplicates", "making signatures", 0.07, "")
    step = parse("near_duplicates_into: step 2 of 7, order: 12 rows")
    assert step == Report("near_duplicates_into", "order", 2 / 7, "12 rows")
    assert parse("near_duplicates: 12 of 40 documents have no signature") is None
    assert parse("relation is skipped") is None


def test_signatures_have_the_names_of_the_server(dsn: str) -> None:
    """What help() shows of a function are the arguments that the function of the server has."""
    import neardup.arrow
    import neardup.asyncpg
    import neardup.distinct
    import neardup.pandas

    functions = [getattr(module, name) for module in (neardup.arrow, neardup.pandas) for name in FUNCTIONS]
    functions += [session.watch, session.duplicates_report, session.near_duplicates_into]
    with psycopg.connect(dsn) as connection:
        found = connection.execute(
            "SELECT proname, proargnames, proargmodes FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid"
            " AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'"
            " WHERE 'id_type' <> ALL (COALESCE(proargnames, '{}'))"
        ).fetchall()
    named = {
        name.removeprefix("neardup_"): {
            one for one, mode in zip(names, modes or "i" * len(names), strict=True) if mode == "i"
        }
        for name, names, modes in found
        if names
    }
    for function in [*functions, neardup.asyncpg.near_duplicates_into]:
        shown = set(inspect.signature(function).parameters) - {"source", "connection"}
        assert shown == named[function.__name__], function
    shown = set(inspect.signature(neardup.distinct.distinct).parameters)
    assert shown - {"source", "documents", "text"} == named["eliminate"] - {
        "docs",
        "id_column",
        "text_column",
        "site_column",
        "within",
        "across",
    }


def test_a_report_is_shown_by_a_notebook(docs: psycopg.Connection) -> None:
    page = session.duplicates_report(docs, "docs", 0.75)
    assert page.startswith("<!DOCTYPE html>")
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert html.unescape(shown.partition('srcdoc="')[2].partition('" sandbox')[0]) == page
