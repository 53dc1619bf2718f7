"""Answers as Arrow tables and as DataFrames."""

import uuid

import pandas as pd
import psycopg
import pyarrow as pa
import pytest

import neardup.arrow
import neardup.pandas
from neardup.arrow import BATCH_ROWS, batches

PAIRS = [(1, 2, 0.8095238095238095), (3, 4, 1.0)]


def test_pairs(docs: psycopg.Connection, dsn: str) -> None:
    table = neardup.arrow.near_duplicates(docs, "docs", 0.75)
    assert table.schema == pa.schema([("left_id", pa.int64()), ("right_id", pa.int64()), ("similarity", pa.float64())])
    frame = neardup.pandas.near_duplicates(dsn, "docs", 0.75, tokenizer="words", options={"algorithm": "allpairs"})
    assert isinstance(frame, pd.DataFrame)
    assert sorted(frame.itertuples(index=False, name=None)) == PAIRS
    assert sorted(zip(*table.to_pydict().values(), strict=True)) == PAIRS
    nothing = neardup.pandas.near_duplicates(docs, "docs", 0.99, method="edit")
    assert (len(nothing), list(nothing.columns)) == (0, ["left_id", "right_id", "similarity"])
    assert str(nothing.dtypes["left_id"]) == "int64"


def test_other_answers(docs: psycopg.Connection) -> None:
    docs.execute("CREATE TABLE asked AS SELECT id AS no, body AS question FROM docs WHERE id < 4")
    docs.execute("ALTER TABLE asked ADD PRIMARY KEY (no)")
    between = neardup.pandas.near_duplicates_between(
        docs, "asked", "docs", 0.75, text_column="question", right_text_column="body"
    )
    assert sorted(zip(between.left_id, between.right_id, strict=True)) == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (3, 3),
        (3, 4),
    ]
    clusters = neardup.pandas.near_duplicate_clusters(docs, "docs", 0.75, clustering="star")
    assert list(clusters[clusters.representative].id) == [1, 3]
    gone = neardup.pandas.eliminate(docs, "docs", 0.75, keep="first")
    assert list(gone.itertuples(index=False, name=None)) == [(2, 1, PAIRS[0][2]), (4, 3, 1.0)]
    passages = neardup.pandas.partial_duplicates(docs, "docs", min_sentences=1)
    assert "left_span" in passages
    assert all(span.startswith("[") for span in passages.left_span)


@pytest.mark.parametrize("kind", ["uuid", "text", "timestamptz", "numeric", "date"])
def test_ids_of_other_types(docs: psycopg.Connection, kind: str) -> None:
    value = {
        "uuid": "md5(id::text)::uuid",
        "text": "'d' || id",
        "timestamptz": "to_timestamp(id)",
        "numeric": "id / 10.0",
        "date": "date '2026-01-01' + id",
    }[kind]
    docs.execute(f"CREATE TABLE others AS SELECT ({value})::{kind} AS name, body FROM docs".encode())
    docs.execute("ALTER TABLE others ADD PRIMARY KEY (name)")
    table = neardup.arrow.near_duplicates(docs, "others", 0.75)
    named = neardup.arrow.near_duplicates(docs, "others", 0.75, id_column="name")
    assert table.num_rows == 2
    assert table.equals(named)
    expected = {"timestamptz": pa.timestamp("us", tz="UTC"), "date": pa.date32()}.get(kind, pa.string())
    assert table.schema.field("left_id").type == expected
    if kind == "uuid":
        assert all(uuid.UUID(name) for name in table["left_id"].to_pylist())


def test_many_rows_in_batches(connection: psycopg.Connection) -> None:
    connection.execute(
        "CREATE TABLE docs AS SELECT n AS id, 'the same words'::text AS body FROM generate_series(1, 400) n"
    )
    connection.execute("ALTER TABLE docs ADD PRIMARY KEY (id)")
    with batches(connection, "near_duplicates", "docs", threshold=0.9) as found:
        rows = [batch.num_rows for batch in found]
    assert sum(rows) == 400 * 399 // 2
    assert max(rows) == BATCH_ROWS


def test_what_the_server_says_of_wrong_arguments(docs: psycopg.Connection) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="threshold"):
        neardup.pandas.near_duplicates(docs, "docs", 7)
    docs.execute("CREATE VIEW view_of_docs AS SELECT * FROM docs")
    with pytest.raises(psycopg.Error, match="id_column"):
        neardup.pandas.near_duplicates(docs, "view_of_docs", 0.75)
    assert len(neardup.pandas.near_duplicates(docs, "view_of_docs", 0.75, id_column="id")) == 2
