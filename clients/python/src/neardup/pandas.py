"""Answers as DataFrames.

from neardup.pandas import near_duplicates
pairs = near_duplicates(connection, "docs", 0.8)
"""

from __future__ import annotations

from typing import Unpack

import pandas as pd

from neardup import arrow
from neardup.named import Between, Clustering, Comparison, Elimination, Passages, named
from neardup.session import Source


@named
def near_duplicates(
    source: Source, docs: str, threshold: float | None = None, **more: Unpack[Comparison]
) -> pd.DataFrame:
    """All pairs of rows of a relation whose texts are at least so similar: `left_id`, `right_id`, `similarity`."""
    return _frame(arrow.near_duplicates(source, docs, threshold, **more))


@named
def near_duplicates_between(
    source: Source, left: str, right: str, threshold: float | None = None, **more: Unpack[Between]
) -> pd.DataFrame:
    """All pairs of a row of one relation and a row of another whose texts are at least so similar."""
    return _frame(arrow.near_duplicates_between(source, left, right, threshold, **more))


@named
def near_duplicate_clusters(
    source: Source, docs: str, threshold: float | None = None, **more: Unpack[Clustering]
) -> pd.DataFrame:
    """Clusters of rows: `cluster_id`, `id`, `representative`, `size`, `similarity`."""
    return _frame(arrow.near_duplicate_clusters(source, docs, threshold, **more))


@named
def eliminate(source: Source, docs: str, threshold: float | None = None, **more: Unpack[Elimination]) -> pd.DataFrame:
    """Rows that would be removed: `id`, `kept_id`, `similarity`. It removes nothing."""
    return _frame(arrow.eliminate(source, docs, threshold, **more))


@named
def partial_duplicates(source: Source, docs: str, threshold: float = 0.9, **more: Unpack[Passages]) -> pd.DataFrame:
    """The passages that two rows share, with their places in both texts."""
    return _frame(arrow.partial_duplicates(source, docs, threshold, **more))


def _frame(table: object) -> pd.DataFrame:
    frame: pd.DataFrame = table.to_pandas()  # type: ignore[attr-defined]
    return frame
