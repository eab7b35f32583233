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
        Each run, the rows of its queries that have a score, and their places among the N.
    """

    queries: list[bytes]
    query: IntArray
    quality: FloatArray
    runs: Sequence[tuple[Judged, IntArray]]

    def values(self, metric: Metric) -> FloatArray:
        """Compute a value of every observation, (N,); NaN is NA."""
        parts = [score(judged, [metric]).columns[0].per_query[rows] for judged, rows in self.runs]
        return np.concatenate(parts).astype(np.float64)

    @property
    def num_rel(self) -> IntArray:
        """Relevant documents of each observation's query, (N,)."""
        return np.concatenate([judged.num_rel[rows] for judged, rows in self.runs])


def observe(
    runs: Sequence[tuple[Judged, Mapping[bytes, float]]],
) -> Observed:
    """Join judged runs with the quality of the responses that were written from them."""
    scored = [
        np.array([row for row, q in enumerate(judged.queries) if q in quality], dtype=np.int64)
        for judged, quality in runs
    ]
    names = [
        [judged.queries[row] for row in rows.tolist()]
        for (judged, _), rows in zip(runs, scored, strict=True)
    ]
    queries = sorted(set().union(*names))
    number_of = {query: number for number, query in enumerate(queries)}
    return Observed(
        queries=queries,
        query=np.array([number_of[q] for of_run in names for q in of_run], dtype=np.int64),
        quality=np.array(
            [quality[q] for (_, quality), of_run in zip(runs, names, strict=True) for q in of_run]
        ),
        runs=[(judged, rows) for (judged, _), rows in zip(runs, scored, strict=True)],
    )
