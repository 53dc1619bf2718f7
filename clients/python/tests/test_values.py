"""Values without a server: golden bytes and texts, and what is refused."""

import pickle

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
        (TextBall, MinhashSketch.from_text(MINHASH), 1, "1"),
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
