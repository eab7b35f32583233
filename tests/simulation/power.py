"""How many queries? Plans from pilots of a few, and what is seen with as many as they say."""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable
from functools import partial

import numpy as np

from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.power import (
    SHAPES,
    SHORT_OF_POWER,
    Noise,
    noise_of_pilot,
    power_of,
    queries_needed,
)
from ragkpi.statistics.replicates import Part
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.replicates import APART, NOISE, both, claimed, limit_of, moving, t_test
from tests.simulation.values import SPREAD, Matrix

MATTERS = 0.08
RESAMPLES = 1000  # of a pilot; five times as many move a bound by less than a hundredth

Differences = Callable[[np.random.Generator, int], Matrix]
"""Draws differences of queries, (n,); their mean is 0, and `SPREAD` their standard deviation."""


def normal(rng: np.random.Generator, n: int) -> Matrix:
    return rng.normal(scale=SPREAD, size=n)


def long_tails(rng: np.random.Generator, n: int) -> Matrix:
    """Student's distribution with 3 degrees of freedom, whose variance is 3."""
    return rng.standard_t(3, size=n) * SPREAD / np.sqrt(3)


def ties(rng: np.random.Generator, n: int) -> Matrix:
    """Six queries of ten do not differ; the others are normal."""
    return np.where(rng.random(n) < 0.6, 0.0, rng.normal(scale=SPREAD / np.sqrt(0.4), size=n))


def failures(rng: np.random.Generator, n: int) -> Matrix:
    """A query in ten fails completely; the others win a little, with a spread of 0.02."""
    drawn = np.where(rng.random(n) < 0.1, -0.72, rng.normal(0.08, 0.02, size=n))
    return drawn * SPREAD / np.sqrt(0.1 * 0.72**2 + 0.9 * (0.08**2 + 0.02**2))


DRAWN = dict(zip(SHAPES, (normal, long_tails, ties, failures), strict=True))
ENOUGH = queries_needed(MATTERS, Noise(SPREAD)) or 0


def power(differences: Differences, n: int, trials: int = 10_000) -> float:
    """Return how often a t test of n queries sees what matters."""
    drawn = differences(np.random.default_rng(n), n * trials).reshape(trials, n) + MATTERS
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
    return float((np.abs(t) > limit_of(n)).mean())


@functools.cache
def fewest(differences: Differences) -> int:
    """Return the fewest queries that see what matters with a power of 70%, by simulation."""
    return bisect.bisect_left(range(200), 0.7, lo=20, key=partial(power, differences))


def plan(pilot: int, differences: Differences) -> Trial:
    """Plan for a power of 80%, by the bound of the pilot, and by its own standard deviation."""

    def trial(rng: np.random.Generator) -> Outcome:
        seen = differences(rng, pilot)
        bound = noise_of_pilot(seen, pilot, Bootstrap(RESAMPLES, int(rng.integers(2**32))))
        own = Noise(float(seen.std(ddof=1)))
        too_few = fewest(differences) - 1  # are they enough for the plan?
        by_bound, by_own = (power_of(MATTERS, too_few, noise) >= 0.8 for noise in (bound, own))
        return {"by the bound": by_bound, "by the pilot's s.d.": by_own}

    return trial


def asked(differences: Differences) -> Trial:
    """Ask as many queries as the true standard deviation needs about a better run."""
    return lambda rng: {"claimed": t_test(differences(rng, ENOUGH) + MATTERS)}


def of_systems(r: int, spread: float, better: float) -> dict[str, Trial]:
    """Plan from the true variances of queries and seeds, and compare as many queries."""
    parts = [Part(spread**2 / r, r - 1)] * 2
    queries = queries_needed(better, Noise(math.sqrt(APART**2 + 2 * NOISE**2 / r), seeds=parts))
    name = f"{r} seeds of a spread of {spread:g}, better by {better:g}: {queries} queries"
    return {name: claimed(both(queries or 0, r, moving(spread)), better)}


RULE = f"""\
A plan is the number of queries that detects a difference of {MATTERS} with a power of 80%, by the
noncentral t, if the differences of queries have the standard deviation {SPREAD}. A pilot gives the
upper 80% bound of the standard deviation, the larger of χ²'s and the bootstrap's. How often is the
power of a plan below 70%, and how often with the pilot's own standard deviation? With long tails (t
with 3 degrees of freedom), or if one query in ten fails completely, small pilots tell too little
with any bound. With three seeds a plan has less power than planned, because three seeds estimate
their spread badly."""

STUDY = Study(
    "power: how many queries?",
    RULE,
    [
        Rates(
            "a power below 70%",
            {
                f"pilot of {pilot} queries, {shape}": plan(pilot, differences)
                for pilot in SHORT_OF_POWER
                for shape, differences in DRAWN.items()
            },
            ["by the bound", "by the pilot's s.d."],
        ),
        Rates(
            f"a run that is better by {MATTERS}, {ENOUGH} queries",
            {shape: asked(differences) for shape, differences in DRAWN.items()},
            ["claimed"],
            least={"claimed": 0.8},
        ),
        Rates(
            "better systems, planned for 80%",
            {
                **of_systems(3, 0.01, 0.04),
                **of_systems(5, 0.01, 0.03),
                **of_systems(10, 0.03, 0.05),
            },
            ["p < 0.05"],
        ),
    ],
)
