"""Values by depth: what the table and the chart of `ragkpi depth` are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ragkpi.measures.measure import Measure, Metric
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.records import dataclass, field
from ragkpi.statistics.bootstrap import Bootstrap, Interval, intervals
from ragkpi.studies.depth.depth_limits import Limits, Study

_ESTIMATED = ("p_obs", "bor")  # what a table has room to give intervals of


@dataclass(frozen=True)
class Curve:
    """What was computed at every depth, for a run or, without a name, for chance alone.

    Attributes
    ----------
    name
        Of the run; empty without one.
    scores
        Values with one cutoff each, or with two neighbouring ones.
    study
        What follows.
    intervals
        By the names of values.
    """

    name: str
    scores: Scores
    study: Study
    intervals: Mapping[str, Interval] = field(default_factory=dict)

    @property
    def measures(self) -> list[Measure]:
        """Each measure once, in order."""
        return list(
            {metric.measure.name: metric.measure for metric in self.scores.metrics}.values()
        )

    def value(self, measure: str, depth: int) -> float | None:
        """Return the value at a depth, that of neighbours at the deeper one; None for none."""
        column = self._columns.get((measure, depth))
        return None if column is None else column.summary

    def interval(self, measure: str, depth: int) -> Interval | None:
        """Return the interval of that value, if there is one."""
        column = self._columns.get((measure, depth))
        return None if column is None else self.intervals.get(column.name)

    @cached_property
    def _columns(self) -> dict[tuple[str, int], MetricScores]:
        return {
            (column.metric.measure.name, _deepest(column.metric)): column
            for column in self.scores.columns
        }


def _deepest(metric: Metric) -> int:
    cutoff = metric.arguments["cutoff"]
    return max(cutoff) if isinstance(cutoff, tuple) else int(cutoff)


@dataclass(frozen=True)
class Curves:
    """One curve per run over the same depths, ascending, and what they were judged by.

    `corpus_size` is set where there is no run, `bootstrap` where there are intervals.
    """

    curves: Sequence[Curve]
    depths: Sequence[int]
    limits: Limits
    bootstrap: Bootstrap | None = None
    corpus_size: int | None = None

    @property
    def several(self) -> bool:
        """Whether curves must be told apart by name."""
        return len(self.curves) > 1

    @property
    def chosen(self) -> list[int]:
        """The depths that are recommended."""
        choices = [curve.study.choice for curve in self.curves]
        return [choice.depth for choice in choices if choice is not None]


def interval_by_name(scores: Scores, bootstrap: Bootstrap) -> dict[str, Interval]:
    """Compute the intervals of success and BoR at every depth."""
    kept = [column for column in scores.columns if column.metric.measure.name in _ESTIMATED]
    return intervals(scores.only(kept), bootstrap)
