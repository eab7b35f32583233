"""How well judges agree about documents, with intervals over queries.

The documents of a query are not independent, so queries are what is drawn again. Everything is a
function of one confusion matrix per query, which is all that resampling has to add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import combinations

import numpy as np

from ragkpi.errors import UsageError
from ragkpi.formats.tokens import IntArray
from ragkpi.interface import option
from ragkpi.measures.aggregates import FloatArray
from ragkpi.records import dataclass
from ragkpi.statistics.agreement import (
    AGREEMENTS,
    Scale,
    bias_at,
    coincidences_of_panel,
    confusion,
    kappa_from,
    krippendorffs_alpha,
)
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, Interval, order_statistics
from ragkpi.statistics.resampling import drawn, sums
from ragkpi.studies.agree.panel import Panel

MOST_LEVELS = 40  # beyond, levels are rather measurements, and matrices of them are huge
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")


@dataclass(frozen=True)
class Estimate:
    """A value and its interval; NaN where there is none."""

    value: float
    interval: Interval = UNKNOWN


@dataclass(frozen=True)
class QueryAgreement:
    """How well two judges agree on the documents of one query.

    Attributes
    ----------
    query
        Which.
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
    first, second
        The numbers of the judges in the panel.
    queries, documents
        What both judged.
    only_first, only_second
        Documents that one of them alone judged.
    levels : (L,)
        All levels that either gives a document that both judged.
    counts : (L, L)
        How often the first judge says the level of the row and the second that of the column.
    whole
        The statistics of `AGREEMENTS`, by name.
    thresholds
        Cohen's kappa of "at least this level", by level.
    bias
        For each level of the first judge by how much the second one is above it.
    """

    first: int
    second: int
    queries: int
    documents: int
    only_first: int
    only_second: int
    levels: list[int]
    counts: FloatArray
    whole: Mapping[str, Estimate]
    thresholds: Mapping[int, Estimate]
    bias: Mapping[int, Estimate]


@dataclass(frozen=True)
class LabelAgreement:
    """How well the judges of a panel agree: every pair, and if there are more, all of them."""

    panel: Panel
    pairs: list[PairAgreement]
    alpha: Mapping[str, Estimate]
    bootstrap: Bootstrap


def label_agreement(panel: Panel, bootstrap: Bootstrap) -> LabelAgreement:
    """Compute all that judges' levels say about each other.

    Raises
    ------
    UsageError
        If there are more than `MOST_LEVELS` levels.
    """
    if len(panel.levels()) > MOST_LEVELS:
        raise UsageError(
            f"the judges give {len(panel.levels())} different levels; expected at most "
            f"{MOST_LEVELS}: put them on a smaller scale with {option('map_levels')}"
        )
    pairs = [
        _pair(panel, first, second, bootstrap)
        for first, second in combinations(range(len(panel.names)), 2)
        if panel.both(first, second).any()
    ]
    alpha = _alpha(panel, bootstrap) if len(panel.names) > 2 else {}
    return LabelAgreement(panel, pairs, alpha, bootstrap)


def _pair(panel: Panel, first: int, second: int, bootstrap: Bootstrap) -> PairAgreement:
    both = panel.both(first, second)
    given, other = panel.given[both, first], panel.given[both, second]
    levels = np.unique(np.concatenate([given, other]))
    judged, query = np.unique(panel.query[both], return_inverse=True)
    counts = confusion(query, given, other, len(judged), levels)
    samples = _Samples(counts, levels.astype(np.float64), bootstrap)
    return PairAgreement(
        first=first,
        second=second,
        queries=len(judged),
        documents=int(both.sum()),
        only_first=int(panel.alone(first, second).sum()),
        only_second=int(panel.alone(second, first).sum()),
        levels=levels.tolist(),
        counts=samples.total,
        whole={name: samples.estimate(statistic) for name, statistic in AGREEMENTS.items()},
        thresholds={
            level: samples.estimate(partial(kappa_from, threshold=level))
            for level in levels.tolist()[1:]
        },
        bias={
            level: samples.estimate(partial(bias_at, level=level))
            for level in np.unique(given).tolist()
        },
    )


def _alpha(panel: Panel, bootstrap: Bootstrap) -> Mapping[str, Estimate]:
    levels = panel.levels()
    counts = coincidences_of_panel(panel.query, panel.given, len(panel.queries), levels)
    samples = _Samples(counts[counts.any(axis=(1, 2))], levels.astype(np.float64), bootstrap)
    return {scale: samples.estimate(partial(krippendorffs_alpha, scale=scale)) for scale in SCALES}


class _Samples:
    """Matrices of all queries, and of every resample of them."""

    def __init__(self, counts: FloatArray, levels: FloatArray, bootstrap: Bootstrap) -> None:
        queries, size, _ = counts.shape
        self.total = counts.sum(axis=0)
        self._levels = levels
        self._tails = bootstrap.tails
        self._resampled: FloatArray | None = None
        if queries > 1:
            weights = drawn(queries, bootstrap.resamples, bootstrap.seed)
            self._resampled = sums(weights, counts.reshape(queries, -1)).reshape(-1, size, size)

    def estimate(self, statistic: Callable[[FloatArray, FloatArray], FloatArray]) -> Estimate:
        """Return a statistic of all queries, and its percentile interval."""
        value = float(statistic(self.total, self._levels))
        if self._resampled is None or np.isnan(value):
            return Estimate(value)
        replicates = statistic(self._resampled, self._levels)
        # A level that a resample lacks says nothing about the statistic.
        known = replicates[~np.isnan(replicates)]
        return Estimate(value, order_statistics(known, self._tails) if len(known) else UNKNOWN)


def by_query(panel: Panel, first: int, second: int) -> list[QueryAgreement]:
    """Return every query that two judges share, the one they disagree about most first."""
    rows = np.flatnonzero(panel.both(first, second))
    starts = np.flatnonzero(np.diff(panel.query[rows], prepend=-1))
    queries = [_query(panel, first, second, part) for part in np.split(rows, starts[1:])]
    return sorted(queries, key=lambda query: (-query.distance, query.query))


def _query(panel: Panel, first: int, second: int, rows: IntArray) -> QueryAgreement:
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
