"""Values of measures beside the quality of the responses that were written from their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import score
from ragkpi.ranking.judged import IntArray, Judged
from ragkpi.records import dataclass


@dataclass(frozen=True)
class Observed:
    """N observations of quality, and the runs behind them.

    Attributes
    ----------
    queries
        The queries that have a score, in byte order.
    query : (N,)
        The number of each observation's query in `queries`.
    quality : (N,)
        How good the response was.
    runs
        Each run, and the rows of its queries that have a score; the N are theirs, run by run.
    """

    queries: list[bytes]
    query: IntArray
    quality: FloatArray
    runs: Sequence[tuple[Judged, IntArray]]

    def values(self, metric: Metric) -> FloatArray:
        """Compute a metric of every observation, (N,); NaN is NA."""
        parts = [score(judged, [metric]).columns[0].per_query[rows] for judged, rows in self.runs]
        return np.concatenate(parts).astype(np.float64)

    @property
    def num_rel(self) -> IntArray:
        """Relevant documents of each observation's query, (N,)."""
        return np.concatenate([judged.num_rel[rows] for judged, rows in self.runs])


def observe(runs: Sequence[tuple[Judged, Mapping[bytes, float]]]) -> Observed:
    """Join judged runs with the quality of the responses that were written from them."""
    scored = []
    names: list[bytes] = []
    scores: list[float] = []
    for judged, quality in runs:
        rows = [row for row, query in enumerate(judged.queries) if query in quality]
        scored.append((judged, np.array(rows, dtype=np.int64)))
        names += [judged.queries[row] for row in rows]
        scores += [quality[judged.queries[row]] for row in rows]
    queries = sorted(set(names))
    number_of = {query: number for number, query in enumerate(queries)}
    query = np.array([number_of[name] for name in names], dtype=np.int64)
    return Observed(queries, query, np.array(scores), scored)
