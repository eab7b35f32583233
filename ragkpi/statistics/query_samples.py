"""Values of one or several runs over the queries they share, ready to be resampled together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ragkpi.measures.aggregates import COUNT, Aggregate, FloatArray
from ragkpi.measures.scores import Scores
from ragkpi.ranking.judged import BoolArray
from ragkpi.statistics.resampling import sums, totals


@dataclass(frozen=True)
class QuerySample:
    """Values that are known for the same n queries, so that one resampling serves them all.

    Attributes
    ----------
    values : list of int
        Which of the runs' values they are.
    aggregates, columns : lists as long as `values`
        How each becomes one number, and which of the T columns are its sufficient statistics.
    statistics : (n, R, T)
        Of every query and run; no NaN.
    """

    metrics: list[int]
    aggregates: list[Aggregate]
    columns: list[slice]
    statistics: FloatArray

    @property
    def queries(self) -> int:
        """The unit of resampling: how many queries have these values in every run."""
        return len(self.statistics)

    def resampled(self, weights: Iterable[FloatArray]) -> FloatArray:
        """Add the statistics of the queries under weights, (B, n) in blocks, to (B, R, T)."""
        added = sums(weights, self.statistics.reshape(self.queries, -1))
        return added.reshape(-1, *self.statistics.shape[1:])

    def observed(self) -> list[FloatArray]:
        """Return the summaries over all queries, one (R,) per value."""
        return self.summaries(totals(self.statistics))

    def leave_one_out(self) -> list[FloatArray]:
        """Return the summaries without each query, one (n, R) per value.

        Sums are scaled up to n queries: so are totals comparable; means and ratios do not see it.
        """
        others = totals(self.statistics) - self.statistics
        return self.summaries(others * (self.queries / (self.queries - 1)))

    def summaries(self, sums: FloatArray) -> list[FloatArray]:
        """Turn sums over n queries, (..., T), into summaries, (...) for each value."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return [
                np.asarray(aggregate.summary(sums[..., columns], self.queries))
                for aggregate, columns in zip(self.aggregates, self.columns, strict=True)
            ]


def estimates(scores: Scores) -> list[int]:
    """Return which values are estimated from the queries: not texts, and not their number."""
    return [
        index
        for index, metric in enumerate(scores.metrics)
        if scores.statistics[index].dtype != object
        and metric.is_printed("summary")
        and metric.measure.aggregate is not COUNT
    ]


def comparable(scores: Scores) -> list[int]:
    """Return which estimates can be better or worse."""
    return [i for i in estimates(scores) if scores.metrics[i].measure.better != "neither"]


def query_samples(runs: Sequence[Scores], metrics: Sequence[int]) -> list[QuerySample]:
    """Group values of runs by the queries that they are known for.

    Parameters
    ----------
    runs
        With equal `queries` and equal `values`. A query whose value is NA in one run is left out
        of that value for all of them.
    values
        Which values, by index.
    """
    groups: dict[bytes, tuple[BoolArray, list[int]]] = {}
    for index in metrics:
        known = ~np.any([np.isnan(run.statistics[index]).any(axis=1) for run in runs], axis=0)
        groups.setdefault(known.tobytes(), (known, []))[1].append(index)
    return [_block(runs, alike, known) for known, alike in groups.values()]


def _block(runs: Sequence[Scores], metrics: list[int], known: BoolArray) -> QuerySample:
    ends = np.cumsum([0, *(runs[0].statistics[index].shape[1] for index in metrics)]).tolist()
    return QuerySample(
        metrics=metrics,
        aggregates=[runs[0].metrics[index].measure.aggregate for index in metrics],
        columns=[slice(start, end) for start, end in pairwise(ends)],
        statistics=np.stack(
            [
                np.concatenate([run.statistics[index] for index in metrics], axis=1)[known]
                for run in runs
            ],
            axis=1,
        ).astype(np.float64),
    )
