"""`Scores`: the statistics and values of a run, metric by metric, computed from a `Judged`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import BoolArray, IntArray
from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import Judged
from ragkpi.ranking.relevance import AnyJudged


@dataclass(frozen=True, eq=False)
class MetricScores:
    """The scores of a run by one metric.

    Attributes
    ----------
    statistics : (Q, S)
        Sufficient statistics of every query; a row with NaN is NA. Text metrics have (Q, 1) of
        objects.
    divisor
        The number of queries of the summary: Q, except for a single query out of a complete set
        (``-c -D 0.QID``), as in trec_eval.
    """

    metric: Metric
    statistics: npt.NDArray[Any]
    divisor: int

    @property
    def name(self) -> str:
        """The printed name of the metric."""
        return self.metric.name

    @cached_property
    def per_query(self) -> npt.NDArray[Any]:
        """The value of every query, (Q,); NaN is NA."""
        return np.asarray(self.metric.measure.aggregate.value(self.statistics))

    @cached_property
    def known(self) -> BoolArray:
        """Whether the value of each query is not NA, (Q,)."""
        if self.statistics.dtype == object:
            return np.ones(len(self.statistics), dtype=np.bool_)
        return np.asarray(~np.isnan(self.statistics).any(axis=1))

    @property
    def valid(self) -> int:
        """The number of queries of the summary whose value is not NA."""
        return self.divisor - int((~self.known).sum())

    @cached_property
    def summary(self) -> Any:
        """The value over all queries: a float, NaN for NA, or a text."""
        if self.statistics.dtype == object:
            return self.statistics[-1, 0] if len(self.statistics) else b""
        rows = self.statistics[self.known]
        # Left to right, like trec_eval's sums: numpy's own sum is pairwise.
        sums = np.add.accumulate(rows, axis=0)[-1] if len(rows) else np.zeros(rows.shape[1])
        aggregate = self.metric.measure.aggregate
        sums = sums + (self.divisor - len(self.statistics)) * aggregate.absent
        return float(aggregate.summary(sums, self.valid))


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of a run, whose file ends with the run id.

    Queries are in byte order, columns in the order of ``-m``, with distinct names. The divisor is
    that of `MetricScores`.
    """

    run_id: bytes
    queries: list[bytes]
    columns: Sequence[MetricScores]
    divisor: int

    @property
    def metrics(self) -> list[Metric]:
        """The metrics, in the order of ``-m``."""
        return [column.metric for column in self.columns]

    def __getitem__(self, name: str) -> MetricScores:
        return self._by_name[name]

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, MetricScores]:
        return {column.name: column for column in self.columns}

    def printed(self, where: Literal["query", "summary"]) -> list[MetricScores]:
        """Return the columns that have a line per query, or one over all queries."""
        return [column for column in self.columns if column.metric.is_printed(where)]

    def estimates(self) -> list[MetricScores]:
        """Return the columns estimated from the queries: no texts and no numbers of queries."""
        return [column for column in self.columns if column.metric.is_estimate]

    def only(self, columns: Iterable[MetricScores]) -> Scores:
        """Return the same run with only these columns."""
        return replace(self, columns=list(columns))

    def over(self, rows: IntArray) -> Scores:
        """Return the same run over only the queries of these rows, in their order."""
        queries = [self.queries[row] for row in rows.tolist()]
        columns = [MetricScores(c.metric, c.statistics[rows], len(rows)) for c in self.columns]
        return Scores(self.run_id, queries, columns, len(rows))


def score(judged: AnyJudged, metrics: Sequence[Metric], divisor: int | None = None) -> Scores:
    """Compute every metric for every query of a run, judged in the format that they read."""
    over = len(judged.queries) if divisor is None else divisor
    columns = [MetricScores(metric, _statistics(judged, metric), over) for metric in metrics]
    return Scores(judged.run_id, judged.queries, columns, over)


def _statistics(judged: AnyJudged, metric: Metric) -> npt.NDArray[Any]:
    judged = metric.at_own_level(judged)
    function: Any = metric.measure.function
    if isinstance(judged, Judged) and judged.settings.ties == "expected":
        function = metric.measure.expectation
    statistics = np.asarray(function(judged, **metric.arguments))
    return statistics if statistics.ndim == 2 else statistics[:, np.newaxis]
