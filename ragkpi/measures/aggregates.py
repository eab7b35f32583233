"""How the statistics of queries become one number, and arithmetic that rounds as in C.

A measure returns one row of S sufficient statistics per query. For most measures S is 1, the row
is the value and the summary is the mean. For Bits-over-Random the row is (success, chance) and the
summary is the log of the ratio of their means. Both are functions of sums over queries, so means,
bootstrap intervals and paired tests work for every measure alike.

trec_eval is written in C. numpy's vectorised logarithms round a few arguments in a thousand
differently, enough to change a printed fourth decimal once in a while; `log` and `log2` do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from ragkpi.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Aggregate:
    """A rule from statistics to values.

    Attributes
    ----------
    name
        Its name in the help text.
    value
        Statistics of queries, (..., S), to per-query values, (...).
    summary
        Sums of statistics over queries, (..., S), and their count, (...) or a scalar, to
        summaries, (...). Leading axes are bootstrap replicates.
    prints
        Where its lines appear: ``"both"``, only as ``"summary"`` or only per ``"query"``.
    absent
        Each statistic of a query that counts in the means but was not evaluated.
    rises_with_first
        Whether a summary rises with the mean of the first statistic while the others are fixed.
        An interval of that mean is then one of the summary.
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
    """Return the only statistic of each row: the value itself."""
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


# No lambdas: results are pickled with their measures, and pickle stores functions by name.
MEAN = Aggregate("mean over queries", first, _mean, rises_with_first=True)
SUM = Aggregate("sum over queries", first, _sum)
COUNT = Aggregate("number of queries", first, _count, prints="summary", kind="count")


def count_of(aggregate: Aggregate) -> Aggregate:
    """Return the aggregate that counts the queries of a summary; 0 where the summary is NA."""
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


def log(numbers: FloatArray) -> FloatArray:
    """Return the natural logarithms of positive numbers, (n,)."""
    return _each(math.log, numbers)


def log2(numbers: FloatArray | IntArray) -> FloatArray:
    """Return the base-2 logarithms of positive numbers, (n,)."""
    if np.issubdtype(numbers.dtype, np.integer):
        largest = int(numbers.max(initial=0))
        if largest <= len(numbers):  # ranks repeat from query to query: take each once
            return _each(math.log2, np.arange(1, largest + 1))[numbers - 1]
    return _each(math.log2, numbers)


def _each(function: Callable[[float], float], numbers: npt.NDArray[np.generic]) -> FloatArray:
    return np.fromiter(map(function, numbers.tolist()), dtype=np.float64, count=len(numbers))


def plus_ones(totals: FloatArray, count: IntArray) -> FloatArray:
    """Add 1.0 to each of the totals `count` times, rounding where the single additions round."""
    remaining = count.astype(np.float64)
    while remaining.any():
        # Additions of 1 are exact up to the next power of two, so those are one addition.
        to_power = np.ceil(np.ldexp(1.0, np.frexp(totals)[1]) - totals)
        step = np.minimum(remaining, np.maximum(to_power, 1.0))
        totals = totals + step
        remaining = remaining - step
    return totals
