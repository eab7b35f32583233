"""Corpus sizes, gains and labels from users, by query, and the slices that labels define.

A query's statistics depend on that query alone, so the scores of a slice are rows of the scores of
all queries. An evaluation on qrels with only these queries gives the same scores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ragkpi.arrays import IntArray
from ragkpi.errors import NothingInCommonError, UsageError
from ragkpi.files.formats import Reading
from ragkpi.files.in_memory import qrels_columns
from ragkpi.files.query_files import (
    QueryLabels,
    read_corpus_sizes,
    read_gains,
    read_query_labels,
)
from ragkpi.interface import spell
from ragkpi.measures.measure import Scores
from ragkpi.ranking.judged import ExternalGains
from ragkpi.reports.layout import Report, Slice, Slices
from ragkpi.wording import counted, listed, octets, visible


class QuerySlice(NamedTuple):
    """The queries with one label; `by` is the kind of label, the name of its column in the file."""

    by: str
    label: str
    queries: frozenset[bytes]

    @property
    def name(self) -> str:
        """The slice's name in gates: ``lang=de``."""
        return f"{self.by}={self.label}"

    def rows(self, queries: Sequence[bytes]) -> IntArray:
        """Return the ascending indices in `queries` of the queries in the slice."""
        return np.flatnonzero([query in self.queries for query in queries])

    def of(self, scores: Scores) -> Scores:
        """Restrict a run's scores to the queries of the slice."""
        return scores.of_queries(self.queries)

    def of_runs(self, scored: Mapping[str, Scores]) -> dict[str, Scores]:
        """Restrict the scores of runs to the queries of the slice."""
        return {name: self.of(scores) for name, scores in scored.items()}


MOST_SLICES = 1000


def slices_of(labels: QueryLabels | None, evaluated: Sequence[bytes]) -> list[QuerySlice]:
    """Slice the evaluated queries by every kind of label, largest slices of a kind first.

    A query without a label of a kind is in no slice of that kind. `NothingInCommonError` if no
    evaluated query has a label, `UsageError` if there are so many that labels look like ids.
    """
    slices = []
    for by, label_of in (labels or {}).items():
        members: dict[str, list[bytes]] = {}
        for query in evaluated:
            if query in label_of:
                members.setdefault(label_of[query], []).append(query)
        of_kind = [QuerySlice(by, label, frozenset(queries)) for label, queries in members.items()]
        slices += sorted(of_kind, key=lambda part: (-len(part.queries), part.label))
    if labels is not None and not slices:
        labelled = sorted(set().union(*labels.values()))
        raise NothingInCommonError(
            f"{spell('by')}: no evaluated query has a label (evaluated: {listed(evaluated, 3)}; "
            f"labelled: {listed(labelled, 3)})"
        )
    if len(slices) > MOST_SLICES:
        raise UsageError(f"{spell('by')}: {len(slices):,} labels; expected at most {MOST_SLICES:,}")
    return slices


def labels_of(by: Any) -> QueryLabels | None:
    """Return labels of queries, from a path or a mapping by kind and query; None for None."""
    if by is None:
        return None
    if isinstance(by, str | os.PathLike):
        return read_query_labels(os.fspath(by))
    if not isinstance(by, Mapping) or not all(isinstance(of, Mapping) for of in by.values()):
        raise UsageError(f"by={by!r}: expected a path, or {{kind: {{query: label}}}}")
    return {
        str(kind): {octets(query): str(label) for query, label in labels.items()}
        for kind, labels in by.items()
    }


def groups_of(by: Any, cluster: Any) -> dict[str, Any]:
    """Return the labels, the clusters and their sources for a `Session`.

    `cluster` is a path, clusters by query, or the name of a column of `by`, which then defines no
    slices.
    """
    labels, sources = labels_of(by), {"by": by, "cluster": cluster}
    clusters: Mapping[bytes, str] | None = None
    if isinstance(cluster, Mapping):
        clusters = {octets(query): str(name) for query, name in cluster.items()}
    elif labels and cluster in labels:
        clusters, sources = labels[cluster], {"by": by}
        labels = {kind: of for kind, of in labels.items() if kind != cluster} or None
    elif cluster is not None:
        name = os.fspath(cluster)
        if labels and not os.path.exists(name):
            names = ", ".join(map(visible, labels))
            raise UsageError(f"{spell('cluster')} {name}: no file, and no column among {names}")
        columns = read_query_labels(name)
        if len(columns) > 1:
            raise UsageError(
                f"{spell('cluster')} {name}: it labels queries by "
                f"{', '.join(map(visible, columns))}; expected one column, or {spell('by', name)} "
                "with the name of one"
            )
        (clusters,) = columns.values()
    return {"labels": labels, "clusters": clusters, "sources": sources}


def sizes_of(sizes: Any) -> Mapping[bytes, int]:
    """Return corpus sizes by query, from a path or a mapping."""
    if isinstance(sizes, str | os.PathLike):
        return read_corpus_sizes(os.fspath(sizes))
    return {octets(query): size for query, size in sizes.items()}


def gains_of(gains: Any, of_qrels: Reading) -> ExternalGains:
    """Read gains; documents are folded and left out as in the qrels."""
    if isinstance(gains, str | os.PathLike):
        columns = read_gains(os.fspath(gains))
    else:
        columns = qrels_columns(gains, "gains")._replace(file="gains=")
    return ExternalGains.of(of_qrels.sieve.qrels(columns) if of_qrels.sieve else columns)


AnyReport = TypeVar("AnyReport", bound=Report)


def with_slices(
    whole: AnyReport,
    labels: QueryLabels | None,
    evaluated: Sequence[bytes],
    reported: Callable[[QuerySlice], Report],
) -> AnyReport:
    """Add reports on slices to the report on all queries, if there are labels.

    `reported` makes the report on a slice.
    """
    if labels is None:
        return whole
    notes = []
    for by, label_of in labels.items():
        if lacking := [query for query in evaluated if query not in label_of]:
            have = counted(len(lacking), "query has", "queries have")
            notes.append(f"{have} no {by} and count among all queries alone ({listed(lacking, 3)})")
    parts = [
        Slice(part.by, part.label, len(part.queries), reported(part))
        for part in slices_of(labels, evaluated)
    ]
    return replace(whole, slices=Slices(len(evaluated), parts, notes))
