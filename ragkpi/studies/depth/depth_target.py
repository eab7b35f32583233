"""A target: a value of a measure, and the smallest depth that reaches it."""

from __future__ import annotations

import math

from ragkpi.errors import UsageError
from ragkpi.interface import option
from ragkpi.measures.measure import Metric
from ragkpi.measures.registry import find_metrics
from ragkpi.measures.scores import score
from ragkpi.ranking.judged import Judged
from ragkpi.records import dataclass
from ragkpi.studies.depth.depth_trace import EVERY


@dataclass(frozen=True)
class Target:
    """A measure with a cutoff, by name, and the mean that it should reach."""

    measure: str
    least: float

    def metric(self, depth: int) -> Metric:
        """Return the measure at a depth."""
        return find_metrics([f"{self.measure}.{depth}"])[0]


@dataclass(frozen=True)
class Reached:
    """The smallest depth that reaches a target.

    Attributes
    ----------
    measure, least
        The target.
    depth
        The smallest depth that reaches it; None if none does.
    value
        The mean at that depth, or the greatest mean if no depth reaches the target.
    deepest
        The deepest depth that was tried.
    """

    measure: str
    least: float
    depth: int | None
    value: float
    deepest: int


def parse_target(text: str) -> Target:
    """Read ``NAME=NUMBER``, as ``--target`` takes it; `UsageError` otherwise."""
    name, _, number = text.rpartition("=")
    try:
        least = float(number)
    except ValueError:
        least = math.nan
    if not name or not math.isfinite(least):
        raise UsageError(f"{option('target')} {text}: expected NAME=NUMBER, such as recall=0.8")
    target = Target(name, least)
    metric = target.metric(1)
    if not isinstance(metric.arguments.get("cutoff"), int) or metric.measure.better != "higher":
        raise UsageError(
            f"{option('target')} {text}: {name} has no value per depth that could be "
            f"reached; expected a "
            "measure with a cutoff, such as recall, success or ra_nwg"
        )
    return target


def reach(judged: Judged, target: Target) -> Reached:
    """Find the smallest depth whose mean is at least the target; try every depth of the run."""
    deepest = min(int(judged.num_ret.max(initial=1)), EVERY)
    best = -math.inf
    for depth in range(1, deepest + 1):
        value = float(score(judged, [target.metric(depth)]).columns[0].summary)
        # A mean of shares may be wrong in its last bit.
        if value >= target.least - 1e-12:
            return Reached(target.measure, target.least, depth, value, deepest)
        best = max(best, -math.inf if math.isnan(value) else value)
    value = best if math.isfinite(best) else math.nan
    return Reached(target.measure, target.least, None, value, deepest)
