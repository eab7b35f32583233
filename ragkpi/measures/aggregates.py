"""How the sufficient statistics of queries become one number.

A measure returns one row of S statistics per query. For most measures S is 1, the row is the
value and the summary is the mean. For Bits-over-Random it is (success, chance) and the summary is
the log of the ratio of their means. Both are functions of sums over queries, so means, bootstrap
intervals and paired tests need not know which measure they work on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ragkpi.records import dataclass, replace

if TYPE_CHECKING:
    import numpy.typing as npt

FloatArray: TypeAlias = "npt.NDArray[np.float64]"


@dataclass(frozen=True)
class Aggregate:
    """A rule from statistics to values.

    Attributes
    ----------
    name
        What the help text calls it.
    value
        Statistics of queries, (..., S), to per-query values, (...).
    summary
        Sums of statistics over queries, (..., S), and their count, (...) or a scalar, to
        summaries, (...). Leading axes are bootstrap replicates.
    prints
        Where its lines appear: ``"both"``, only as ``"summary"`` or only per ``"query"``.
    absent
        Each statistic of a query that the means are over but that was not evaluated.
    rises_with_first
        Whether a summary is a rising function of the mean of the first statistic, the others
        given: so that an interval of that mean becomes one of the summary.
    kind
        Whether a summary is an ``"estimate"`` from the queries, or their ``"count"``.
    """

    name: str
    value: Callable[[FloatArray], FloatArray]
    summary: Callable[[FloatArray, FloatArray | int], FloatArray]
    prints: Literal["both", "summary", "query"] = "both"
    absent: float = 0.0
    rises_with_first: bool = False
    kind: Literal["estimate", "count"] = "estimate"


def first(statistics: FloatArray) -> FloatArray:
    """Take the only statistic of each row: the value itself."""
    return statistics[..., 0]


def _mean(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(first(sums) / count)


def _ratio(sums: FloatArray, _: FloatArray | int = 1) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums[..., 0] / sums[..., 1])


def _sum(sums: FloatArray, _: FloatArray | int) -> FloatArray:
    return first(sums)


def _count(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    return np.broadcast_to(np.asarray(count, dtype=np.float64), sums.shape[:-1])


def _known(aggregate: Aggregate, sums: FloatArray, count: FloatArray | int) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        known = ~np.isnan(aggregate.summary(sums, count))
    return np.where(known, np.asarray(count, dtype=np.float64), 0.0)


def _exp_mean(sums: FloatArray, count: FloatArray | int) -> FloatArray:
    return np.asarray(np.exp(_mean(sums, count)))


# No lambdas: a result is pickled with its measures, and pickle finds functions by their names.
MEAN = Aggregate("mean over queries", first, _mean, rises_with_first=True)
SUM = Aggregate("sum over queries", first, _sum)
COUNT = Aggregate("number of queries", first, _count, prints="summary", kind="count")


def count_of(aggregate: Aggregate) -> Aggregate:
    """Count the queries that a summary is over: none where the summary is NA."""
    return replace(COUNT, summary=partial(_known, aggregate))


# trec_eval's stand-in for 0 in geometric means.
SMALLEST = 0.00001
GEOMETRIC_MEAN = Aggregate(
    "geometric mean over queries",
    first,
    _exp_mean,
    prints="summary",
    absent=math.log(SMALLEST),
)
RATIO_OF_MEANS = Aggregate("ratio of the means over queries", _ratio, _ratio, rises_with_first=True)
LABEL = Aggregate("text of the run", first, _sum, prints="summary")
PER_QUERY_TEXT = Aggregate("none", first, _sum, prints="query")
