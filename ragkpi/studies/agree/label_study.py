"""How well judges agree about documents, with intervals over queries.

The documents of a query are not independent, so queries are resampled. Every statistic is a
function of the sum of one confusion matrix per query, so a resample is a weighted sum of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from ragkpi.formats.tokens import IntArray
from ragkpi.measures.aggregates import FloatArray
from ragkpi.records import dataclass
from ragkpi.statistics.agreement import (
    AGREEMENTS,
    AgreementStatistic,
    Scale,
    bias_at,
    coincidences_of_panel,
    confusion,
    kappa_from,
    krippendorffs_alpha,
)
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.resampling import drawn, sums
from ragkpi.studies.agree.order_study import Estimate, OrderAgreement, estimate
from ragkpi.studies.agree.panel import Panel

SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class QueryAgreement:
    """How well two judges agree on the documents of one query.

    Attributes
    ----------
    query
        Its id.
    documents
        How many both judged.
    agreement, first, second, distance
        Share with the same level, the mean level of each judge, and the mean distance of both.
    differing
        Documents with different levels, the farthest apart first: id, first and second level.
    """

    query: bytes
    documents: int
    agreement: float
    first: float
    second: float
    distance: float
    differing: list[tuple[bytes, int, int]]


@dataclass(frozen=True)
class PairAgreement:
    """How well two judges agree.

    Attributes
    ----------
    judges
        Their names.
    queries, documents
        How many both judged.
    only_first, only_second
        Documents that one of them alone judged.
    levels : (L,)
        All levels that either gives a document that both judged.
    counts : (L, L)
        Documents with the level of the row by the first judge, of the column by the second.
    whole
        The statistics of `AGREEMENTS`, by name.
    thresholds
        Cohen's kappa of "at least this level", by level.
    bias
        For each level of the first judge by how much the second one is above it.
    by_query
        Every query that both judged, the largest distance first; empty unless asked for.
    orders
        How both order runs, by metric; empty without runs.
    """

    judges: tuple[str, str]
    queries: int
    documents: int
    only_first: int
    only_second: int
    levels: list[int]
    counts: FloatArray
    whole: Mapping[str, Estimate]
    thresholds: Mapping[int, Estimate]
    bias: Mapping[int, Estimate]
    by_query: Sequence[QueryAgreement] = ()
    orders: Sequence[OrderAgreement] = ()


def pair_agreement(panel: Panel, first: int, second: int, bootstrap: Bootstrap) -> PairAgreement:
    """Compare the levels of two judges, by their numbers in the panel."""
    both = panel.both(first, second)
    given, other = panel.given[both, first], panel.given[both, second]
    levels = np.unique(np.concatenate([given, other]))
    judged, query = np.unique(panel.query[both], return_inverse=True)
    counts = confusion(query, given, other, len(judged), levels)
    estimated = _estimator(counts, levels, bootstrap)
    return PairAgreement(
        judges=(panel.names[first], panel.names[second]),
        queries=len(judged),
        documents=int(both.sum()),
        only_first=int(panel.alone(first, second).sum()),
        only_second=int(panel.alone(second, first).sum()),
        levels=levels.tolist(),
        counts=counts.sum(axis=0),
        whole={name: estimated(statistic) for name, statistic in AGREEMENTS.items()},
        thresholds={
            level: estimated(partial(kappa_from, threshold=level)) for level in levels.tolist()[1:]
        },
        bias={
            level: estimated(partial(bias_at, level=level)) for level in np.unique(given).tolist()
        },
    )


def alpha_of_panel(panel: Panel, bootstrap: Bootstrap) -> Mapping[str, Estimate]:
    """Compute Krippendorff's alpha of all judges, by scale."""
    levels = panel.levels()
    counts = coincidences_of_panel(panel.query, panel.given, len(panel.queries), levels)
    estimated = _estimator(counts[counts.any(axis=(1, 2))], levels, bootstrap)
    return {scale: estimated(partial(krippendorffs_alpha, scale=scale)) for scale in SCALES}


def _estimator(
    counts: FloatArray, levels: IntArray, bootstrap: Bootstrap
) -> Callable[[AgreementStatistic], Estimate]:
    """Return a function that estimates a statistic of matrices per query, (Q, L, L)."""
    queries, size, _ = counts.shape
    total, numbers = counts.sum(axis=0), levels.astype(np.float64)
    resampled = np.empty((0, size, size))
    if queries > 1:
        weights = drawn(queries, bootstrap.resamples, bootstrap.seed)
        resampled = sums(weights, counts.reshape(queries, -1)).reshape(-1, size, size)

    def estimated(statistic: AgreementStatistic) -> Estimate:
        replicates = statistic(resampled, numbers)
        # A resample without a level has no bias at that level, so it is left out.
        known = replicates[~np.isnan(replicates)]
        return estimate(float(statistic(total, numbers)), known, bootstrap.tails)

    return estimated


def agreement_by_query(panel: Panel, first: int, second: int) -> list[QueryAgreement]:
    """Return every query that two judges share, the one they disagree about most first."""
    rows = np.flatnonzero(panel.both(first, second))
    starts = np.flatnonzero(np.diff(panel.query[rows], prepend=-1))
    queries = [_of_query(panel, first, second, part) for part in np.split(rows, starts[1:])]
    return sorted(queries, key=lambda query: (-query.distance, query.query))


def _of_query(panel: Panel, first: int, second: int, rows: IntArray) -> QueryAgreement:
    given, other = panel.given[rows, first], panel.given[rows, second]
    distance = np.abs(given - other)
    order = np.argsort(-distance, kind="stable")
    return QueryAgreement(
        query=panel.queries[panel.query[rows[0]]],
        documents=len(rows),
        agreement=float((distance == 0).mean()),
        first=float(given.mean()),
        second=float(other.mean()),
        distance=float(distance.mean()),
        differing=[
            (panel.document[int(rows[row])], int(given[row]), int(other[row]))
            for row in order.tolist()
            if distance[row]
        ],
    )
