"""The names of the arguments that functions take beside the first ones: for type checkers, for help() and completion.

What an argument means, and its default, is on the page of the manual about the server's functions. None is the same
as an argument that is not given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypedDict, TypeVar, get_type_hints

Function = TypeVar("Function", bound=Callable[..., Any])


class Texts(TypedDict, total=False):
    """How texts are compared, and which columns of the relation are meant."""

    options: Mapping[str, Any] | str | None
    id_column: str | None
    text_column: str | None
    method: str | None
    tokenizer: str | None
    shingle: int | None
    multiset: bool | None
    max_pairs: int | None
    site_column: str | None


class Comparison(Texts, total=False):
    """And which rows are compared."""

    within: str | None
    across: str | None


class Between(Comparison, total=False):
    """Of two relations."""

    right_id_column: str | None
    right_text_column: str | None
    right_site_column: str | None
    right_within: str | None
    right_across: str | None


class Elimination(Comparison, total=False):
    """Which row of several stays."""

    keep: str | None


class Clustering(Comparison, total=False):
    """How pairs become clusters."""

    clustering: str | None
    max_cluster_size: int | None


class Reporting(Clustering, total=False):
    """What a page shows."""

    max_clusters: int | None
    max_members: int | None
    max_samples: int | None
    title_column: str | None
    link: str | None


class Into(Comparison, total=False):
    """Of a table of pairs."""

    parts: int | None
    clusters: str | None
    resume: bool | None
    incremental: bool | None
    pause: timedelta | None
    at_once: int | None
    node_timeout: timedelta | None
    retries: int | None


class Watching(TypedDict, total=False):
    """Of a job."""

    options: Mapping[str, Any] | str | None
    id_column: str | None
    text_column: str | None
    method: str | None
    tokenizer: str | None
    shingle: int | None
    multiset: bool | None
    site_column: str | None
    clustering: str | None
    max_cluster_size: int | None
    detect: str | None
    within: str | None
    across: str | None


class Passages(TypedDict, total=False):
    """Of passages that texts share."""

    options: Mapping[str, Any] | str | None
    id_column: str | None
    text_column: str | None
    features: str | None
    min_sentences: int | None
    extend: bool | None
    shingle: int | None
    max_passages: int | None
    tokenizer: str | None
    within: str | None
    across: str | None
    edits: float | None
    min_length: int | None


class Distinct(TypedDict, total=False):
    """How documents in memory are compared, and which stays."""

    options: Mapping[str, Any] | str | None
    method: str | None
    tokenizer: str | None
    shingle: int | None
    multiset: bool | None
    max_pairs: int | None
    keep: str | None


def named(function: Function) -> Function:
    """Shows the names behind `**more: Unpack[…]` as arguments of their own, where a signature is shown."""
    shown = inspect.signature(function)
    *parameters, more = shown.parameters.values()
    names = get_type_hints(function)[more.name].__args__[0]
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=of)
        for name, of in get_type_hints(names).items()
    ]
    function.__signature__ = shown.replace(parameters=[*parameters, *keywords])  # type: ignore[attr-defined]
    return function
