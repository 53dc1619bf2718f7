"""psycopg: values in text and in binary, arrays, and what they say beside what the server says."""

import asyncio

import psycopg
import pytest

import neardup.psycopg
from neardup import MinhashBall, MinhashSketch, SimhashBall, SimhashSketch, TextBall
from neardup.catalog import MissingExtensionError

from .conftest import TEXTS, of

SELECTED = """SELECT minhash(%s, 2), simhash(%s, 128), near(minhash(%s), 0.8), near(simhash(%s), 3), near(%s, 0.5),
    near(ARRAY[%s, '\\, "']), near(ARRAY[-1, 2]::bigint[], 0.5), near(to_tsvector('simple', %s), 0.3, 2)"""
CLASSES = [MinhashSketch, SimhashSketch, MinhashBall, SimhashBall, TextBall, TextBall, TextBall, TextBall]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("text", [TEXTS[1], "", "…", "\u00e9 'a' \\ \"b\"\n\t\1\x7f"])
def test_values_come_and_go(connection: psycopg.Connection, binary: bool, text: str) -> None:
    neardup.psycopg.register(connection)
    with connection.cursor(binary=binary) as cursor:
        row = cursor.execute(SELECTED, [text] * 7).fetchone()
        assert row is not None
        assert [type(value) for value in row] == CLASSES
        for value in row:
            name = value.type_name
            for given in ("%t", "%b", "%s"):
                back = cursor.execute(f"SELECT {given}, ({given}::{name})::text".encode(), [value, value]).fetchone()
                assert back == (value, str(value))
            arrays = cursor.execute(f"SELECT ARRAY[{given}::{name}, NULL]".encode(), [value]).fetchone()
            assert arrays == ([value, None],)
            assert cursor.execute(f"SELECT cardinality(%s::{name}[])".encode(), [[value, value]]).fetchone() == (2,)


def test_what_values_say_is_what_the_server_says(docs: psycopg.Connection) -> None:
    neardup.psycopg.register(docs)
    docs.execute("INSERT INTO docs VALUES (6, '')")
    rows = docs.execute("""
        SELECT minhash(a.body, 2), minhash(b.body, 2), minhash_similarity(minhash(a.body, 2), minhash(b.body, 2)),
            minhash(a.body, 2) <%> minhash(b.body, 2), simhash(a.body), simhash(b.body),
            simhash(a.body) <~> simhash(b.body), simhash_similarity(simhash(a.body), simhash(b.body)),
            minhash(b.body, 2) <@ near(minhash(a.body, 2), 0.75), near(minhash(a.body, 2), 0.75),
            simhash(b.body) <@ near(simhash(a.body), 20), near(simhash(a.body), 20)
        FROM docs a, docs b""").fetchall()
    assert len(rows) == 36
    for m, n, similarity, distance, s, t, bits, share, near, ball, close, bits_ball in rows:
        assert (m.similarity(n), m.distance(n), s.distance(t), s.similarity(t)) == (similarity, distance, bits, share)
        assert (n in ball, t in bits_ball) == (near, close)


def test_balls_of_documents(docs: psycopg.Connection) -> None:
    neardup.psycopg.register(docs)
    for call, ball in [
        ("near('a b', 0.6)", TextBall("a b", 0.6)),
        ("near('a b', shingle => 2)", TextBall("a b", shingle=2)),
        (
            "near('a', 1, 4, true, 'chars', 'dice')",
            TextBall("a", 1, shingle=4, multiset=True, kind="chars", method="dice"),
        ),
        ("near('a', tokenizer => 'chars')", TextBall("a", kind="chars")),
        ("near(ARRAY['a', ''], method => 'cosine')", TextBall(["a", ""], method="cosine")),
        ("near(ARRAY[1], 0.5, 2)", TextBall([1], 0.5, shingle=2)),
        (
            "near('a', method => 'containment', direction => 'query')",
            TextBall("a", method="containment_of_query"),
        ),
        ("near('\ufb01 \uff12', normalization => 'nfkc')", TextBall("\ufb01 \uff12", normalization="nfkc")),
        ("near('b a'::tsvector)", TextBall(["a", "b"], kind="lexemes")),
    ]:
        assert docs.execute(f"SELECT {call}".encode()).fetchone() == (ball,), call
    found = docs.execute("SELECT id FROM docs WHERE body <@ %s ORDER BY id", [TextBall(TEXTS[3])]).fetchall()
    assert found == [(3,), (4,)]
    # The client's encoding is that of texts; the binary form is UTF-8 in all.
    docs.execute("SET client_encoding = 'latin1'")
    for given in ("%t", "%b"):
        ball = TextBall("caf\u00e9")
        question = f"SELECT {given}, near('caf\u00e9') = {given}".encode("latin1")
        assert docs.execute(question, [ball, ball]).fetchone() == (ball, True)


def test_percent_signs_of_operators(docs: psycopg.Connection) -> None:
    neardup.psycopg.register(docs)
    sketch = docs.execute("SELECT minhash(body) FROM docs WHERE id = 1").fetchone()
    nearest = docs.execute("SELECT id FROM docs ORDER BY minhash(body) <%%> %s LIMIT 1", sketch).fetchone()
    assert nearest == (1,)
    with pytest.raises(psycopg.ProgrammingError):
        docs.execute("SELECT id FROM docs ORDER BY minhash(body) <%> %s", sketch)


def test_another_schema(server: object, bare: str) -> None:
    with psycopg.connect(of(server, bare), autocommit=True) as connection:  # type: ignore[arg-type]
        with pytest.raises(MissingExtensionError, match="CREATE EXTENSION neardup"):
            neardup.psycopg.register(connection)
        connection.execute('CREATE SCHEMA "a %s"')
        connection.execute('CREATE EXTENSION neardup SCHEMA "a %s"')
        neardup.psycopg.register(connection)
        row = connection.execute("SELECT \"a %s\".minhash('one')").fetchone()
        assert row is not None
        assert isinstance(row[0], MinhashSketch)


def test_async_connections(dsn: str) -> None:
    async def run() -> None:
        async with await psycopg.AsyncConnection.connect(dsn) as connection:
            await neardup.psycopg.register_async(connection)
            cursor = await connection.execute("SELECT simhash('one')")
            row = await cursor.fetchone()
            assert row is not None
            assert isinstance(row[0], SimhashSketch)

    asyncio.run(run())
