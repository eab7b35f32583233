"""A depth that aims at evidence: the smallest one where a measure reaches what was asked for."""

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
    """What is to be reached: a measure with a cutoff, by name, and its least mean."""

    measure: str
    least: float

    def metric(self, depth: int) -> Metric:
        """Return the measure at a depth."""
        return find_metrics([f"{self.measure}.{depth}"])[0]


@dataclass(frozen=True)
class Reached:
    """Where a target is reached.

    Attributes
    ----------
    measure, least
        The target.
    depth
        The smallest depth that reaches it; None if none does.
    value
        The mean there, or the greatest one that was met.
    deepest
        Down to where was looked.
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
    """Find the smallest depth whose mean is at least the target, trying all that the run has."""
    deepest = min(int(judged.num_ret.max(initial=1)), EVERY)
    best = -math.inf
    for depth in range(1, deepest + 1):
        value = float(score(judged, [target.metric(depth)]).columns[0].summary)
        # A sum of shares must not fail by its last bit.
        if value >= target.least - 1e-12:
            return Reached(target.measure, target.least, depth, value, deepest)
        best = max(best, -math.inf if math.isnan(value) else value)
    value = best if math.isfinite(best) else math.nan
    return Reached(target.measure, target.least, None, value, deepest)
