"""`Scores`: what a run scored, metric by metric, and how a `Judged` becomes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragkpi.measures.measure import Metric
from ragkpi.ranking.judged import BoolArray, IntArray, Judged
from ragkpi.ranking.relevance import AnyJudged
from ragkpi.records import dataclass, replace

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class MetricScores:
    """What a run scored by one metric.

    Attributes
    ----------
    metric
        The metric.
    statistics : (Q, S)
        Sufficient statistics of every query; a row with NaN is NA. Text metrics have (Q, 1) of
        objects.
    divisor
        How many queries the summary is over: Q, but for a single query asked for out of a
        complete set (``-c -D 0.QID``), as trec_eval has it.
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
        """Of which queries the value is not NA, (Q,)."""
        if self.statistics.dtype == object:
            return np.ones(len(self.statistics), dtype=np.bool_)
        return np.asarray(~np.isnan(self.statistics).any(axis=1))

    @property
    def valid(self) -> int:
        """How many queries the summary is over: those whose value is not NA."""
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
    """What a run scored.

    Attributes
    ----------
    run_id
        The last run id of the file.
    queries : list of bytes, length Q
        The evaluated queries, in byte order.
    columns
        What was asked for, in the order of asking; no two have one name.
    divisor
        How many queries summaries are over; see `MetricScores`.
    """

    run_id: bytes
    queries: list[bytes]
    columns: Sequence[MetricScores]
    divisor: int

    @property
    def metrics(self) -> list[Metric]:
        """What was asked for, in the order of asking."""
        return [column.metric for column in self.columns]

    def __getitem__(self, name: str) -> MetricScores:
        """Return a column by the printed name of its metric; `KeyError` if it was not asked for."""
        return self._by_name[name]

    def __contains__(self, name: str) -> bool:
        """Say whether a metric of that printed name was asked for."""
        return name in self._by_name

    @cached_property
    def _by_name(self) -> dict[str, MetricScores]:
        return {column.name: column for column in self.columns}

    def printed(self, where: Literal["query", "summary"]) -> list[MetricScores]:
        """Return the columns that have a line for each query, or one over all of them."""
        return [column for column in self.columns if column.metric.is_printed(where)]

    def estimates(self) -> list[MetricScores]:
        """Return what is estimated from the queries: no texts, and not the number of queries."""
        return [column for column in self.columns if column.metric.is_estimate]

    def only(self, columns: Iterable[MetricScores]) -> Scores:
        """Return the same run with these columns alone."""
        return replace(self, columns=list(columns))

    def over(self, rows: IntArray) -> Scores:
        """Return the same run over the queries of these rows alone, in their order."""
        return Scores(
            self.run_id,
            [self.queries[row] for row in rows.tolist()],
            [
                MetricScores(column.metric, column.statistics[rows], len(rows))
                for column in self.columns
            ],
            len(rows),
        )


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
