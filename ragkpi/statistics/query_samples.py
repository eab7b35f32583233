"""Scores of runs over the queries that they share, ready to be resampled together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.ranking.judged import BoolArray
from ragkpi.records import dataclass
from ragkpi.statistics.resampling import sums, totals


@dataclass(frozen=True)
class QuerySample:
    """Scores of metrics that are known for the same n queries, resampled together.

    Attributes
    ----------
    metrics
        The metrics.
    columns : as long as `metrics`
        The columns among T of the sufficient statistics of each metric.
    statistics : (n, R, T)
        Statistics of every query and run, without NaN.
    """

    metrics: list[Metric]
    columns: list[slice]
    statistics: FloatArray

    @property
    def queries(self) -> int:
        """The number of queries, which are the unit of resampling."""
        return len(self.statistics)

    def resampled(self, weights: Iterable[FloatArray]) -> FloatArray:
        """Add the statistics of the queries under weights, (B, n) in blocks, to (B, R, T)."""
        added = sums(weights, self.statistics.reshape(self.queries, -1))
        return added.reshape(-1, *self.statistics.shape[1:])

    def observed(self) -> list[FloatArray]:
        """Return the summaries over all queries, one (R,) per metric."""
        return self.summaries(totals(self.statistics))

    def leave_one_out(self) -> list[FloatArray]:
        """Return the summaries without each query, one (n, R) per metric.

        Sums are scaled up to n queries, which makes totals comparable and leaves means and ratios.
        """
        others = totals(self.statistics) - self.statistics
        return self.summaries(others * (self.queries / (self.queries - 1)))

    def spreads(self) -> list[FloatArray]:
        """Return the spreads of the differences from the first run, one (R - 1,) per metric.

        They are standard deviations of the jackknife pseudo-values of the queries, n * summary -
        (n - 1) * summary without the query, which for means are the differences themselves.
        """
        with np.errstate(invalid="ignore"):
            return [
                # Contiguous rows, so that the digits do not depend on the number of runs.
                (self.queries - 1)
                * np.ascontiguousarray((without[:, 1:] - without[:, :1]).T).std(axis=1, ddof=1)
                for without in self.leave_one_out()
            ]

    def summaries(self, sums: FloatArray) -> list[FloatArray]:
        """Turn sums over n queries, (..., T), into summaries, (...) for each metric."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return [
                np.asarray(metric.measure.aggregate.summary(sums[..., columns], self.queries))
                for metric, columns in zip(self.metrics, self.columns, strict=True)
            ]


def query_samples(runs: Sequence[Scores], wanted: Callable[[Metric], bool]) -> list[QuerySample]:
    """Group the metrics of runs by the queries that they are known for.

    Parameters
    ----------
    runs
        Runs with equal `queries` and equal `metrics`. A query whose value is NA in one run is left
        out of that metric for all runs.
    wanted
        Returns whether to keep a metric; must reject texts.
    """
    groups: dict[bytes, tuple[BoolArray, list[Sequence[MetricScores]]]] = {}
    for of_runs in zip(*(run.columns for run in runs), strict=True):
        if wanted(of_runs[0].metric):
            known = np.all([column.known for column in of_runs], axis=0)
            groups.setdefault(known.tobytes(), (known, []))[1].append(of_runs)
    return [_sample(alike, known) for known, alike in groups.values()]


def _sample(metrics: list[Sequence[MetricScores]], known: BoolArray) -> QuerySample:
    """Stack the statistics of metrics that are known for the same queries."""
    ends = np.cumsum([0, *(of_runs[0].statistics.shape[1] for of_runs in metrics)]).tolist()
    return QuerySample(
        metrics=[of_runs[0].metric for of_runs in metrics],
        columns=[slice(start, end) for start, end in pairwise(ends)],
        statistics=np.stack(
            [
                np.concatenate([column.statistics for column in of_run], axis=1)[known]
                for of_run in zip(*metrics, strict=True)
            ],
            axis=1,
        ).astype(np.float64),
    )
