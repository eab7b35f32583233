"""`Scores`: queries by values, as sufficient statistics; and how a `Judged` becomes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragkpi.measures.measure import Metric
from ragkpi.ranking.relevance import AnyJudged


@dataclass(frozen=True, eq=False)
class Scores:
    """What a run scored.

    Attributes
    ----------
    run_id
        The last run id of the file.
    queries : list of bytes, length Q
        The evaluated queries, in byte order.
    values
        What was asked for, in printing order.
    statistics : one (Q, S) array per value
        Sufficient statistics; a row with NaN is NA. Text measures have (Q, 1) of objects.
    divisor
        How many queries the means are over: Q, but for a single query asked for out of a
        complete set (``-c -D 0.QID``), as trec_eval has it.
    """

    run_id: bytes
    queries: list[bytes]
    metrics: list[Metric]
    statistics: list[npt.NDArray[Any]]
    divisor: int

    def per_query(self, index: int) -> npt.NDArray[Any]:
        """Return the value of every query, (Q,); NaN is NA."""
        metric = self.metrics[index].measure.aggregate.value(self.statistics[index])
        return np.asarray(metric)

    def valid(self, index: int) -> int:
        """Count the queries whose value is not NA: what the summary is over."""
        statistics = self.statistics[index]
        if statistics.dtype == object:
            return len(statistics)
        return self.divisor - int(np.isnan(statistics).any(axis=1).sum())

    def summary(self, index: int) -> Any:
        """Return the value over all queries: a float, NaN for NA, or a text."""
        statistics = self.statistics[index]
        if statistics.dtype == object:
            return statistics[-1, 0] if len(statistics) else b""
        rows = statistics[~np.isnan(statistics).any(axis=1)]
        # Left to right, like trec_eval's sums: numpy's own sum is pairwise.
        sums = np.add.accumulate(rows, axis=0)[-1] if len(rows) else np.zeros(statistics.shape[1])
        aggregate = self.metrics[index].measure.aggregate
        sums = sums + (self.divisor - len(self.queries)) * aggregate.absent
        return float(aggregate.summary(sums, self.valid(index)))


def score(judged: AnyJudged, metrics: Sequence[Metric], divisor: int | None = None) -> Scores:
    """Compute every value for every query of a run, judged in the format that they read."""
    return Scores(
        run_id=judged.run_id,
        queries=judged.queries,
        metrics=list(metrics),
        statistics=[_statistics(judged, metric) for metric in metrics],
        divisor=len(judged.queries) if divisor is None else divisor,
    )


def _statistics(judged: AnyJudged, metric: Metric) -> npt.NDArray[Any]:
    statistics = np.asarray(metric.measure.function(judged, **metric.arguments))
    return statistics if statistics.ndim == 2 else statistics[:, np.newaxis]
