"""SQLAlchemy: values, operators, reflection, indexes; with psycopg and with asyncpg."""

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest
from sqlalchemy import (
    ARRAY,
    Computed,
    Engine,
    MetaData,
    Table,
    Text,
    create_engine,
    func,
    insert,
    inspect,
    select,
    text,
)
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

import neardup.asyncpg
from neardup import MinhashBall, MinhashSketch, SimhashBall, SimhashSketch, TextBall
from neardup.server import PrivateServer
from neardup.sqlalchemy import (
    MINHASH_SKETCH,
    SIMHASH_SKETCH,
    distance,
    in_ball,
    minhash_sql,
    near,
    signature_index,
    simhash_sql,
)

from .conftest import TEXTS

words = partial(func.regexp_split_to_array, type_=ARRAY(Text))

OPTIONS = """SELECT options FROM pg_indexes, signature_index_stats(indexname::regclass)
    WHERE tablename = 'docs' AND indexdef LIKE '%USING signature%' ORDER BY indexname"""


class Base(DeclarativeBase):
    pass


class Doc(Base):
    __tablename__ = "docs"
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(Text)
    sketch: Mapped[MinhashSketch] = mapped_column(MINHASH_SKETCH, Computed(minhash_sql("body", 2), persisted=True))
    given: Mapped[SimhashSketch | None] = mapped_column(SIMHASH_SKETCH)
    lang: Mapped[str | None] = mapped_column(Text)
    __table_args__ = (
        signature_index("docs_body", "body", shingle=3, threshold=0.6),
        signature_index("docs_of_lang", "body", within={"lang": "text_group_ops"}),
        signature_index("docs_sketch", "sketch", operators="minhash_jaccard_ops", k=2, threshold=0.5),
        signature_index("docs_simhash", simhash_sql("body", 128), bits=128, distance=20),
        signature_index("docs_minhash", minhash_sql("body", 8, 84), k=8, permutations=84, pending_limit=64),
    )


def url(server: PrivateServer, database: str, driver: str) -> str:
    return f"postgresql+{driver}://postgres@/{database}?host={server.folder}&port=5432"


@pytest.fixture
def engine(server: PrivateServer, database: str) -> Iterator[Engine]:
    engine = create_engine(url(server, database, "psycopg"))
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(Doc(id=number, body=body) for number, body in TEXTS.items())
        session.commit()
    yield engine
    engine.dispose()


def test_values(engine: Engine) -> None:
    with Session(engine) as session:
        doc = session.get_one(Doc, 1)
        assert doc.sketch == session.scalar(select(func.minhash(TEXTS[1], 2)))
        doc.given = session.scalar(select(func.simhash(TEXTS[1])))
        session.commit()
        assert isinstance(doc.given, SimhashSketch)
        assert session.scalar(select(Doc.id).where(Doc.given == doc.given)) == 1
        doc.given = None
        session.commit()
        assert doc.given is None


def test_operators(engine: Engine) -> None:
    with Session(engine) as session:
        sketch = session.get_one(Doc, 3).sketch
        asked = [
            select(Doc.id).where(Doc.sketch.in_ball(near(sketch, 0.8))),
            select(Doc.id).where(Doc.sketch.in_ball(MinhashBall(sketch, 0.8))),
            select(Doc.id).where(in_ball(Doc.sketch, near(func.minhash(TEXTS[3], 2), 0.8))),
            select(Doc.id).where(in_ball(Doc.body, near(TEXTS[3]))),
            select(Doc.id).where(in_ball(Doc.body, near(TEXTS[3], 0.8, 2, tokenizer="words", method="dice"))),
            select(Doc.id).where(in_ball(Doc.body, near(TEXTS[3], multiset=False, normalization="nfkc"))),
            select(Doc.id).where(in_ball(Doc.body, TextBall(TEXTS[3], 0.8))),
            select(Doc.id).where(distance(Doc.body, near(TEXTS[3], 0.5)) <= 0.5),
            select(Doc.id).where(func.near_similarity(Doc.body, near(TEXTS[3])) >= 0.8),
            select(Doc.id).where(
                in_ball(words(func.lower(Doc.body), r"\W+"), near(words(TEXTS[3].lower(), r"\W+"), 0.8, 2))
            ),
            select(Doc.id).where(Doc.sketch.distance(sketch) < 0.2),
            select(Doc.id).where(func.simhash(Doc.body).in_ball(near(func.simhash(TEXTS[3]), 3))),
        ]
        for question in asked:
            assert sorted(session.scalars(question)) == [3, 4], question
        nearest = select(Doc.id, Doc.sketch.distance(sketch)).order_by(Doc.sketch.distance(sketch)).limit(1)
        assert session.execute(nearest).one()[1] == 0.0
        ball = session.scalar(select(near(func.simhash("one"), 3)))
        assert isinstance(ball, SimhashBall)
        assert "<%%>" in str(nearest.compile(engine))


def test_literals(engine: Engine) -> None:
    with engine.connect() as connection:
        sketch = connection.scalar(select(func.minhash("one", 1, 2)))
        question = select(Doc.id).where(Doc.sketch == sketch).compile(engine, compile_kwargs={"literal_binds": True})
        assert f"'{sketch}'::minhash_sketch" in str(question)


def test_reflection(engine: Engine) -> None:
    table = Table("docs", MetaData(), autoload_with=engine)
    assert isinstance(table.c.sketch.type, MINHASH_SKETCH)
    assert isinstance(table.c.given.type, SIMHASH_SKETCH)
    indexes = {index["name"]: index for index in inspect(engine).get_indexes("docs")}
    assert {index["dialect_options"]["postgresql_using"] for index in indexes.values()} == {"signature"}
    assert indexes["docs_sketch"]["dialect_options"]["postgresql_with"] == {"threshold": "0.5"}
    assert indexes["docs_minhash"]["expressions"] == [minhash_sql("body", 8, 84)]
    with engine.connect() as connection:
        shown = connection.scalars(text(OPTIONS))
        assert [line.split(",")[0] for line in shown] == [
            "text_set_ops: jaccard",
            "minhash_jaccard_ops: 84 permutations of words",
            "1 group column; text_set_ops: jaccard",
            "simhash_hamming_ops: 128 bits of words",
            "minhash_jaccard_ops: 128 permutations of words",
        ]


def test_groups(engine: Engine) -> None:
    with Session(engine) as session:
        session.execute(text("SET LOCAL enable_seqscan = off"))
        session.execute(text("UPDATE docs SET lang = 'en' WHERE id <> 4"))
        question = select(Doc.id).where(Doc.lang == "en", in_ball(Doc.body, near(TEXTS[3], 0.8)))
        assert list(session.scalars(question)) == [3]
        plan = session.scalars(text("EXPLAIN SELECT id FROM docs WHERE lang = 'en' AND body <@ near('x', 0.8)"))
        assert "docs_of_lang" in "\n".join(plan)
    index = signature_index("an_index", minhash_sql("body"), within=["a", "b"])
    assert [str(expression) for expression in index.expressions] == ["a", "b", minhash_sql("body")]


def test_an_index_serves(engine: Engine) -> None:
    with engine.connect() as connection:
        connection.execute(text("SET enable_seqscan = off"))
        for ball in (near(TEXTS[3], 0.8, 3), TextBall("50% 'off' \\ " + TEXTS[3], 0.7, shingle=3)):
            question = select(Doc.id).where(in_ball(Doc.body, ball))
            asked = question.compile(engine, compile_kwargs={"literal_binds": True})
            plan = "\n".join(connection.exec_driver_sql(f"EXPLAIN {asked}").scalars())
            assert "docs_body" in plan
            assert sorted(connection.exec_driver_sql(str(asked)).scalars()) == sorted(connection.scalars(question))


@pytest.mark.usefixtures("engine")
def test_asyncpg(server: PrivateServer, database: str) -> None:
    async def run() -> None:
        other = create_async_engine(url(server, database, "asyncpg").replace("///", "//"))
        async with other.begin() as connection:
            plain = await connection.scalar(select(Doc.sketch).where(Doc.id == 3))
            await neardup.asyncpg.register((await connection.get_raw_connection()).driver_connection)
            sketch = await connection.scalar(select(Doc.sketch).where(Doc.sketch == plain).order_by(Doc.id).limit(1))
            assert isinstance(sketch, MinhashSketch)
            assert sketch == plain
            near_it = await connection.scalars(select(Doc.id).where(in_ball(Doc.sketch, MinhashBall(sketch, 0.8))))
            assert sorted(near_it) == [3, 4]
            given = await connection.scalar(select(func.simhash("one")))
            await connection.execute(insert(Doc).values(id=9, body="nine", given=given))
            assert await connection.scalar(select(Doc.id).where(Doc.given == given)) == 9
            ordered = select(Doc.id).order_by(Doc.sketch.distance(sketch), Doc.id).limit(2)
            assert list(await connection.scalars(ordered)) == [3, 4]
        await other.dispose()

    asyncio.run(run())


def test_options_that_are_none() -> None:
    with pytest.raises(ValueError, match="bits: not an option of text_set_ops, which has: direction, measure, mul"):
        signature_index("an_index", "body", bits=64)
    assert not signature_index("an_index", "near(body, 0.8)", threshold=0.7).dialect_options["postgresql"]["with"]
    with pytest.raises(ValueError, match="not an operator class"):
        signature_index("an_index", "body", operators="gin_trgm_ops")
