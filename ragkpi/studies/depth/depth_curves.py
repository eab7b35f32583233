"""Values by depth, for the table and the charts of `ragkpi depth`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ragkpi.measures.measure import Measure
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.records import dataclass, field
from ragkpi.statistics.bootstrap import Bootstrap, Interval, intervals
from ragkpi.studies.depth.depth_limits import Limits, Study

_ESTIMATED = ("p_obs", "bor")  # a table has no room for more intervals


@dataclass(frozen=True)
class Curve:
    """Values at every depth, of a run or, without a name, of chance alone.

    Attributes
    ----------
    name
        Of the run; empty without one.
    scores
        Metrics with one cutoff each, or with two neighbouring ones.
    study
        The limits that follow from the run.
    intervals
        By the names of metrics.
    """

    name: str
    scores: Scores
    study: Study
    intervals: Mapping[str, Interval] = field(default_factory=dict)

    @property
    def measures(self) -> list[Measure]:
        """Each measure once, in order."""
        by_name = {metric.measure.name: metric.measure for metric in self.scores.metrics}
        return list(by_name.values())

    def value(self, measure: str, depth: int) -> float | None:
        """Return the value at a depth; that of two neighbours is at the deeper one."""
        column = self._columns.get((measure, depth))
        return None if column is None else column.summary

    def interval(self, measure: str, depth: int) -> Interval | None:
        """Return the interval of that value, if there is one."""
        column = self._columns.get((measure, depth))
        return None if column is None else self.intervals.get(column.name)

    @cached_property
    def _columns(self) -> dict[tuple[str, int], MetricScores]:
        """The columns by measure and depth, the deeper one of neighbours."""
        columns = {}
        for column in self.scores.columns:
            cutoff = column.metric.arguments["cutoff"]
            depth = max(cutoff) if isinstance(cutoff, tuple) else cutoff
            columns[column.metric.measure.name, depth] = column
        return columns


@dataclass(frozen=True)
class Curves:
    """One curve per run over the same depths, ascending, and the limits they were judged by.

    `corpus_size` is set where there is no run, `bootstrap` where there are intervals.
    """

    curves: Sequence[Curve]
    depths: Sequence[int]
    limits: Limits
    bootstrap: Bootstrap | None = None
    corpus_size: int | None = None

    @property
    def several(self) -> bool:
        """Whether there is more than one curve, so that each needs its name."""
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
