"""How many queries a comparison needs, from a relevant difference and the spread of the queries."""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ragkpi.arrays import ROUNDING, FloatArray
from ragkpi.errors import UsageError
from ragkpi.statistics.bootstrap import (
    Bootstrap,
    drawn,
    special,
    student_quantile,
    sums,
)
from ragkpi.statistics.replicates import (
    Part,
    System,
    satterthwaite,
    unit_differences,
    variance_bound,
)

FEWEST_IN_PILOT, MOST = 20, 10**9


class Noise(NamedTuple):
    """The noise around a difference.

    `deviation`, above 0, is the standard deviation of the queries' differences; `design_effect` of
    them count as one. With clusters, it is that of their contributions, and their size. `seeds`
    are the variances due to seeds, whatever the number of queries.
    """

    deviation: float
    design_effect: float = 1.0
    seeds: Sequence[Part] = ()

    def error(self, queries: float) -> tuple[float, float]:
        """Return the standard error of a difference over n queries, and its degrees of freedom."""
        units = queries / self.design_effect
        if units < 2:
            return math.inf, 1.0
        part = Part(self.deviation**2 / units, units - 1)
        error = math.sqrt(part.variance + sum(seeds.variance for seeds in self.seeds))
        return error, satterthwaite(part, self.seeds)


def power_of(difference: float, queries: float, noise: Noise, alpha: float = 0.05) -> float:
    """Return the power of the two-sided t test over n queries at a difference.

    Formula:    P(|t'| > t(1 - alpha / 2, f)), t' noncentral with difference / error
    Source:     J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988

    >>> round(power_of(0.3, 90, Noise(1.0)), 3)
    0.804
    """
    error, freedom = noise.error(queries)
    limit = student_quantile(freedom, 1 - alpha)
    ends = special().nctdtr(freedom, abs(difference) / error, [-limit, limit])
    below, above = np.nan_to_num(ends)  # NaN stands for less than 1e-13
    return float(below + 1 - above)


def queries_needed(
    difference: float, noise: Noise, power: float = 0.8, alpha: float = 0.05
) -> int | None:
    """Return the fewest queries with this power; None for a difference of 0, or if seeds limit it.

    >>> [queries_needed(d, Noise(1.0)) for d in (0.2, 0.3, 0.5, 0.8)]
    [199, 90, 34, 15]
    """
    numbers = range(2, MOST)
    place = bisect.bisect_left(
        numbers, True, key=lambda n: power_of(difference, n, noise, alpha) >= power
    )
    return numbers[place] if place < len(numbers) else None


def least_difference(queries: int, noise: Noise, power: float = 0.8, alpha: float = 0.05) -> float:
    """Return the smallest difference at which n queries have this power, 0.5 or more.

    >>> round(least_difference(90, Noise(0.26)), 4)
    0.0776
    """
    error, freedom = noise.error(queries)
    limit = student_quantile(freedom, 1 - alpha)
    return error * float(special().nctdtrinc(freedom, 1 - power, limit))


def noise_of_pilot(
    differences: FloatArray, queries: int, bootstrap: Bootstrap, seeds: Sequence[Part] = ()
) -> Noise:
    """Return the noise to plan by, from the differences of a pilot's units, (G,), over n queries.

    The standard deviation is at its upper 80% bound, the larger of χ²'s and the bootstrap's: with
    the pilot's own, every third plan falls short. Raises `UsageError` for fewer than 20 units
    (queries, or clusters with their pseudo-values), and if all differences are equal.

    Source:     R. H. Browne, Statistics in Medicine 14, 1995
    """
    units = len(differences)
    if units < FEWEST_IN_PILOT:
        raise UsageError(
            f"a pilot of {units} says too little of how much differences vary: give one of "
            f"{FEWEST_IN_PILOT} queries (or clusters) or more, or their standard deviation"
        )
    centred = differences - differences.mean()
    weights = drawn(units, bootstrap.resamples, bootstrap.seed)
    added = sums(weights, np.column_stack([centred, centred**2]))
    resampled = (added[:, 1] - added[:, 0] ** 2 / units) / (units - 1)
    by_chi2 = centred.var(ddof=1) * variance_bound(units - 1)
    deviation = math.sqrt(max(by_chi2, np.quantile(resampled, 0.8)))
    if not deviation > ROUNDING * np.abs(differences).max():
        raise UsageError(
            "a pilot whose differences are all equal, or NA, tells nothing of others: "
            "give another, or the standard deviation of differences"
        )
    return Noise(deviation, queries / units, seeds)


def noise_of(baseline: System, other: System, queries: int, bootstrap: Bootstrap) -> Noise:
    """Return the noise to plan by, with two systems over n queries as the pilot: `noise_of_pilot`.

    Seeds add their variance without the part due to queries, which more queries reduce.
    """
    parts = [(system.part, system.noise) for system in (baseline, other)]
    seeds = [Part(max(0.0, part.variance - noise), part.freedom) for part, noise in parts if part]
    return noise_of_pilot(unit_differences(baseline, other), queries, bootstrap, seeds)


SHAPES = "normal", "long tails", "60% ties", "one in ten fails"
SHORT_OF_POWER: Mapping[int, Sequence[float]] = {
    20: (0.07, 0.24, 0.22, 0.12),
    50: (0.03, 0.18, 0.13, 0.11),
    100: (0.00, 0.11, 0.06, 0.06),
    200: (0.00, 0.04, 0.03, 0.03),
}
"""The share of plans for a power of 80% that have less than 70%, by the size of the pilot and
`SHAPES` of differences: 4,000 trials each of `tests.simulation.power`."""


def short_of_power(pilot: int) -> Mapping[str, float]:
    """Return the share of plans with a power below 70%, by shape: of the next smaller pilot."""
    size = max(size for size in SHORT_OF_POWER if size <= pilot)
    return dict(zip(SHAPES, SHORT_OF_POWER[size], strict=True))
