"""Values without a server: golden bytes and texts, and what is refused."""

import pickle
import struct

import pytest

from neardup import Kind, MalformedError, MinhashBall, MinhashSketch, SimhashBall, SimhashSketch, TextBall, UnlikeError

MINHASH = "minhash:v1:words:h1.1:k5:seed1:m2:01020304ffffffff"
MINHASH_BYTES = bytes([1, 1, 1, 1, 0, 0, 5, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255])
SIMHASH = "simhash:v1:bits:h1.1:k1:01020304050607ab"
SIMHASH_BYTES = bytes([1, 1, 1, 0, 0, 0, 1, 0, 64, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0xAB])


@pytest.mark.parametrize(
    ("of", "text", "data"), [(MinhashSketch, MINHASH, MINHASH_BYTES), (SimhashSketch, SIMHASH, SIMHASH_BYTES)]
)
def test_golden_bytes(of: type[MinhashSketch], text: str, data: bytes) -> None:
    sketch = of.from_text(text)
    assert bytes(sketch) == data
    assert str(of(data)) == text
    assert of(data) == sketch
    assert hash(of(data)) == hash(sketch)
    assert pickle.loads(pickle.dumps(sketch)) == sketch
    for length in range(len(data)):
        with pytest.raises(MalformedError):
            of(data[:length])


def test_parts_of_a_sketch() -> None:
    sketch = MinhashSketch.from_text(MINHASH)
    assert sketch.kind == Kind("words", 5, 2)
    assert (sketch.seed, sketch.permutations, sketch.empty) == (1, 2, False)
    assert sketch.values == (0x01020304, 0xFFFFFFFF)
    assert MinhashSketch.of_values([0x01020304, 0xFFFFFFFF], Kind("words", 5, 2)) == sketch
    assert SimhashSketch.from_text(SIMHASH).bits == SIMHASH_BYTES[12:]


def test_balls_as_text_and_bytes() -> None:
    for of, sketch, limit, shown in [
        (MinhashBall, MinhashSketch.from_text(MINHASH), 0.8, "0.8"),
        (MinhashBall, MinhashSketch.from_text(MINHASH), 1e-7, "0.0000001"),
        (SimhashBall, SimhashSketch.from_text(SIMHASH), -0.0, "0"),
        (SimhashBall, SimhashSketch.from_text(SIMHASH), 3, "3"),
    ]:
        ball = of(sketch, limit)
        assert str(ball) == f"<{sketch},{shown}>"
        assert of.from_text(str(ball)) == ball
        assert of.from_bytes(bytes(ball)) == ball
        assert pickle.loads(pickle.dumps(ball)) == ball
        assert sketch in ball


TEXT = 'a "b"\n\1\\\u00e9'
TEXT_BYTES = bytes([2, 1, 1, 1, 1, 0, 0, 0]) + struct.pack("<d", 0.8) + b'a "b"\n\x01\\\xc3\xa9'


@pytest.mark.parametrize(
    ("ball", "shown"),
    [
        (TextBall(TEXT), '<jaccard:words:k1:multiset:0.8:"a \\"b\\"\\n\\u0001\\\\\u00e9">'),
        (TextBall("", 1, kind="chars"), '<jaccard:chars:k3:multiset:1:"">'),
        (TextBall("a:b", 1e-7, shingle=5, method="dice"), '<dice:words:k5:set:0.0000001:"a:b">'),
        (TextBall(["a", "", "b,"], 0.5, multiset=False), '<jaccard:tokens:k1:set:0.5:["a","","b,"]>'),
        (TextBall([], kind="lexemes", method="containment"), "<containment:lexemes:k1:multiset:0.8:[]>"),
        (TextBall("a", method="containment_of_query"), '<containment_of_query:words:k1:multiset:0.8:"a">'),
        (TextBall("\ufb01 \uff12", normalization="NFKC"), '<jaccard:words:k1:multiset:0.8:nfkc:"fi 2">'),
        (TextBall([-(2**63), 7], method="cosine"), f"<cosine:numbers:k1:multiset:0.8:[{-(2**63)},7]>"),
    ],
)
def test_balls_of_documents(ball: TextBall, shown: str) -> None:
    assert str(ball) == shown
    assert TextBall.from_text(f" {shown} ") == TextBall.from_bytes(bytes(ball)) == ball
    assert pickle.loads(pickle.dumps(ball)) == ball
    made = TextBall(
        ball.document,
        ball.similarity,
        shingle=ball.shingle,
        multiset=ball.multiset,
        kind=ball.kind,
        method=ball.method,
        normalization=ball.normalization,
    )
    assert made == ball
    assert hash(made) == hash(ball)
    for length in range(16):
        with pytest.raises(MalformedError):
            TextBall.from_bytes(bytes(ball)[:length])


def test_golden_bytes_of_a_ball() -> None:
    assert bytes(TextBall(TEXT)) == TEXT_BYTES
    tokens = TextBall(["ab", "c"], 1)
    assert bytes(tokens)[16:] == b"\2\0\0\0ab\1\0\0\0c"
    for length in (17, 19, 21, 23, 25, 26):
        with pytest.raises(MalformedError, match="cut off"):
            TextBall.from_bytes(bytes(tokens)[:length])
    assert bytes(TextBall("e\u0301", normalization="nfc"))[6:8] == b"\1\0"
    assert bytes(TextBall([1, -1], 1))[16:] == bytes([1] + [0] * 7 + [255] * 8)


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, 3), (1, 0), (1, 7), (2, 0), (2, 5), (2, 8), (3, 2), (4, 0), (5, 9), (6, 3), (7, 1), (15, 255), (16, 255)],
)
def test_bytes_that_are_no_ball(at: int, value: int) -> None:
    changed = bytearray(TEXT_BYTES)
    changed[at] = value
    with pytest.raises(MalformedError):
        TextBall.from_bytes(bytes(changed))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<>",
        "<jaccard:words:k1:multiset:0.8>",
        '<jaccard:words:k1:multiset:0.8:"a"',
        '<length:words:k1:multiset:0.8:"a">',
        '<jaccard:letters:k1:multiset:0.8:"a">',
        '<jaccard:words:k0:multiset:0.8:"a">',
        '<jaccard:words:k1001:multiset:0.8:"a">',
        '<jaccard:words:1:multiset:0.8:"a">',
        '<jaccard:words:k1:bag:0.8:"a">',
        '<jaccard:words:k1:set:0:"a">',
        '<jaccard:words:k1:set:x:"a">',
        "<jaccard:words:k1:set:1:a>",
        '<jaccard:words:k1:set:1:["a"]>',
        '<jaccard:words:k1:set:1:"\\ud800">',
        '<jaccard:tokens:k1:set:1:"a">',
        '<jaccard:words:k1:set:1:nfd:"a">',
        '<jaccard:html:k1:set:1:nfc:"a">',
        "<jaccard:tokens:k1:set:1:[1]>",
        '<jaccard:tokens:k1:set:1:[["a"]]>',
        f"<jaccard:numbers:k1:set:1:[{2**63}]>",
        "<jaccard:numbers:k1:set:1:[1.0]>",
        "<jaccard:numbers:k1:set:1:[true]>",
        "<jaccard:numbers:k1:set:1:" + "[" * 100_000 + ">",
    ],
)
def test_texts_that_are_no_ball(text: str) -> None:
    with pytest.raises(MalformedError):
        TextBall.from_text(text)


def test_documents_that_no_ball_has() -> None:
    for similarity in (0, -0.5, 1.5, float("nan")):
        with pytest.raises(MalformedError):
            TextBall("a", similarity)
    wrong = {"kind": "letters"}, {"method": "length"}, {"shingle": 0}, {"shingle": 1001}, {"normalization": "nfd"}
    for given in wrong:
        with pytest.raises(ValueError, match="must be"):
            TextBall("a", **given)  # type: ignore[arg-type]
    for document, kind in (("a", "tokens"), (["a"], "words"), ([1], "tokens"), ([1, "a"], None)):
        with pytest.raises((TypeError, MalformedError)):
            TextBall(document, kind=kind)  # type: ignore[arg-type]


def test_what_is_similar() -> None:
    a, b = (MinhashSketch.of_values(values, Kind("words", 5, 4)) for values in ([1, 2, 3, 4], [1, 2, 3, 5]))
    assert (a.similarity(b), a.distance(b)) == (0.75, 0.25)
    assert b in MinhashBall(a, 0.75)
    assert b not in MinhashBall(a, 0.76)
    empty = MinhashSketch.of_values(None, a.kind)
    assert (str(empty)[-6:], empty.similarity(empty), empty.distance(a)) == (":empty", 0, 1)
    bits = SimhashSketch.from_text(SIMHASH)
    other = SimhashSketch.from_text("simhash:v1:words:h1.1:k3:01020304050607ac")
    assert (bits.distance(other), bits.similarity(bits)) == (3, 1)
    nothing = SimhashSketch.from_text("simhash:v1:words:h1.1:k3:empty64")
    assert (other.distance(nothing), nothing.similarity(nothing), str(nothing)[-7:]) == (64, 0, "empty64")


def test_unlike_sketches_do_not_compare() -> None:
    a = MinhashSketch.from_text(MINHASH)
    for other in [MINHASH.replace("k5", "k4"), MINHASH.replace("seed1", "seed-2"), MINHASH.replace("h1.1", "h2.1")]:
        with pytest.raises(UnlikeError):
            a.similarity(MinhashSketch.from_text(other))
    words = SimhashSketch.from_text(SIMHASH.replace("bits", "words"))
    with pytest.raises(UnlikeError):
        words.distance(SimhashSketch.from_text(SIMHASH.replace("bits", "chars")))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "minhash",
        SIMHASH,
        MINHASH.replace("v1", "v2"),
        MINHASH.replace("words", "letters"),
        MINHASH.replace("h1.1", "h1"),
        MINHASH.replace("h1.1", "h1.300"),
        MINHASH.replace("k5", "k0"),
        MINHASH.replace("seed1", "seed9999999999999999999"),
        MINHASH.replace("m2", "m3"),
        MINHASH.replace("m2", "m0"),
        MINHASH.replace("m2", "m\u0662"),
        MINHASH[:-1],
        MINHASH[:-1] + "g",
        MINHASH + ":",
        ":" * 100_000,
    ],
)
def test_texts_that_are_no_sketch(text: str) -> None:
    with pytest.raises(MalformedError):
        MinhashSketch.from_text(text)
    with pytest.raises(MalformedError):
        SimhashSketch.from_text(text.replace("simhash", "minhash"))
    with pytest.raises(MalformedError):
        MinhashBall.from_text(text)


def test_limits_that_no_ball_has() -> None:
    minhash, simhash = MinhashSketch.from_text(MINHASH), SimhashSketch.from_text(SIMHASH)
    for similarity in (0, -0.5, 1.5, float("nan"), float("inf")):
        with pytest.raises(MalformedError):
            MinhashBall(minhash, similarity)
    for distance in (-1, 64, 2.5, float("nan")):
        with pytest.raises(MalformedError):
            SimhashBall(simhash, distance)
    with pytest.raises(TypeError):
        SimhashBall(minhash, 1)  # type: ignore[arg-type]
    with pytest.raises(MalformedError):
        MinhashBall.from_bytes(b"\1" + b"\0" * 6 + b"\1" + bytes(8) + MINHASH_BYTES)
