"""Systems of several seeds: are equal ones told apart, and is a better one found?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from ragkpi.statistics.bootstrap import QuerySample
from ragkpi.statistics.replicates import SystemDifference, difference_of, p_of_pairs, systems_of
from tests.made_scores import BOR, MAP, SUCCESS
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.values import Matrix

QUERY = 0.2  # the spread of queries, which are easy or hard for all systems alike
APART = 0.08  # the spread of what a query adds to one system alone, over √2
NOISE = 0.08  # the spread of what a seed adds to a query
BETTER = 0.08
CLUSTER = 5  # queries

Systems = Callable[[np.random.Generator], list[Matrix]]
"""Draws the values of systems, (n, r) each, or their statistics, (n, r, S); all are equal."""
Seed = Callable[[np.random.Generator, int, int], Matrix]
"""Draws what seeds add to queries, (n, r), beside their noise."""


def moving(spread: float) -> Seed:
    """A seed moves all queries alike."""
    return lambda rng, _, r: rng.normal(scale=spread, size=(1, r))


def moving_some(spread: float) -> Seed:
    """A seed moves some queries far, some the other way: its effect has a spread three times it."""

    def added(rng: np.random.Generator, n: int, r: int) -> Matrix:
        return rng.normal(scale=spread, size=(1, r)) * rng.normal(1, 3, size=(n, 1))

    return added


def failing(spread: float) -> Seed:
    """A seed in some dozens is far from the others (t with 3 degrees of freedom)."""
    return lambda rng, _, r: rng.standard_t(3, size=(1, r)) * spread / np.sqrt(3)


def systems(n: int, seeds: Sequence[tuple[int, Seed]]) -> Systems:
    """Draw systems of so many seeds each, over n queries."""

    def made(rng: np.random.Generator) -> list[Matrix]:
        query = rng.normal(0.5, QUERY, size=(n, 1))
        return [
            query
            + rng.normal(scale=APART / np.sqrt(2), size=(n, 1))
            + seed(rng, n, r)
            + rng.normal(scale=NOISE, size=(n, r))
            for r, seed in seeds
        ]

    return made


def both(n: int, r: int, seed: Seed) -> Systems:
    return systems(n, [(r, seed)] * 2)


def in_clusters(made: Systems) -> Systems:
    """Repeat each query, and what seeds add to it, with some noise of its own."""

    def repeated(rng: np.random.Generator) -> list[Matrix]:
        drawn = [np.repeat(values, CLUSTER, axis=0) for values in made(rng)]
        return [values + rng.normal(scale=NOISE / 2, size=values.shape) for values in drawn]

    return repeated


def as_successes(made: Systems, rate: float) -> Systems:
    """Successes are values above a limit."""
    spread = np.sqrt(QUERY**2 + APART**2 / 2 + NOISE**2)
    limit = 0.5 + spread * stats.norm.isf(rate)
    return lambda rng: [(values > limit).astype(float) for values in made(rng)]


def by_chance(made: Systems) -> Systems:
    """Set values beside a chance of the query, for a ratio of means."""

    def drawn(rng: np.random.Generator) -> list[Matrix]:
        values = made(rng)
        chance = rng.uniform(0.05, 0.25, size=(len(values[0]), 1))
        return [np.stack(np.broadcast_arrays(of_one, chance), axis=-1) for of_one in values]

    return drawn


def sample_of(values: Sequence[Matrix], metric: Any = MAP, cluster: int = 1) -> QuerySample:
    """Make the sample of all systems."""
    seeds = [of_one.reshape(*of_one.shape[:2], -1) for of_one in values]
    means = np.stack([of_one.mean(axis=1) for of_one in seeds], axis=1)
    unit = np.arange(len(means)) // cluster if cluster > 1 else None
    return QuerySample([metric], [slice(0, means.shape[-1])], means, unit, seeds)


def compared(values: Sequence[Matrix], **how: Any) -> SystemDifference:
    """Compare the second system with the first."""
    sample = sample_of(values, **how)
    ((first, second),) = systems_of(sample)
    return difference_of(first, second, sample.freedom)


@functools.cache
def limit_of(n: int) -> float:
    return float(stats.t.isf(0.025, n - 1))


def t_test(differences: Matrix) -> bool:
    """Return whether the t test says that the mean is not 0: scipy's takes ten times as long."""
    first = differences.reshape(len(differences), -1)[:, 0]
    error = first.std(ddof=1) / np.sqrt(len(first))
    return bool(abs(first.mean()) > limit_of(len(first)) * error)


def claimed(made: Systems, better: float = 0.0, **how: Any) -> Trial:
    """Compare two systems, and test their means over seeds, and their first seeds."""

    def trial(rng: np.random.Generator) -> Outcome:
        first, second = made(rng)
        second = second + better
        found = compared([first, second], **how)
        return {
            "p < 0.05": found.p < 0.05,
            "t test of means over seeds": t_test(second.mean(axis=1) - first.mean(axis=1)),
            "t test of one seed": t_test(second[:, 0] - first[:, 0]),
        }

    return trial


def loses(made: Systems, margin: float = 0.05) -> Trial:
    """A system that loses exactly the margin."""

    def trial(rng: np.random.Generator) -> Outcome:
        first, second = made(rng)
        found = compared([first, second - margin])
        return {"passes": found.interval.low > -margin}

    return trial


def any_pair(made: Systems) -> Trial:
    """Compare all pairs of equal systems."""

    def trial(rng: np.random.Generator) -> Outcome:
        values = made(rng)
        sample = sample_of(values)
        p = p_of_pairs(*systems_of(sample), sample.freedom)
        return {"any pair": bool((np.nan_to_num(p, nan=1.0) < 0.05).any())}

    return trial


RULE = """\
The value of a system is the mean over its seeds. The variance of a difference has two parts: that
of queries, and that of seeds, with few degrees of freedom (Satterthwaite's, with the seeds' parts
at their upper 80% bounds). Three seeds or more decide. Two seeds, or a single run next to a system,
have a p but no claim; their rows are rates of p. The spread of seeds is that of their means. A
seed's noise on a query is 0.08, and so is the difference of two systems on a query. For comparison:
the paired t test of the queries' means over seeds, and of one seed of each system."""

SPREADS = (0.0, 0.005, 0.02, 0.05)
COLUMNS = ("p < 0.05", "t test of means over seeds", "t test of one seed")
STEADY = moving(0.0)


def of_spreads(seeds: Sequence[int], better: float = 0.0) -> dict[str, Trial]:
    return {
        f"spread {spread:g}, {r} seeds, {n} queries": claimed(both(n, r, moving(spread)), better)
        for spread in SPREADS
        for r in seeds
        for n in (50, 200)
    }


def harder(n: int, r: int) -> dict[str, Trial]:
    """Worlds beyond the usual, whose seeds have a spread of 0.02 or 0.05."""
    plain = both(n, r, moving(0.02))
    of_one = [(r, STEADY), (r, moving(0.05))]
    worlds = {
        "a seed moves queries unequally": claimed(both(n, r, moving_some(0.02))),
        "seeds with long tails": claimed(both(n, r, failing(0.05))),
        "only one system varies": claimed(systems(n, of_one)),
        "a single run, and seeds": claimed(systems(n, [(1, STEADY), (r, moving(0.05))])),
        "30 seeds, and few": claimed(systems(n, [(30, moving(0.05)), (r, moving(0.05))])),
        "clusters of five": claimed(in_clusters(plain), cluster=CLUSTER),
        "successes, rate 0.5": claimed(as_successes(plain, 0.5), metric=SUCCESS),
        "successes, rate 0.9": claimed(as_successes(plain, 0.9), metric=SUCCESS),
        "ratios of means": claimed(by_chance(plain), metric=BOR),
    }
    return {f"{name}, {r} seeds, {n} queries": trial for name, trial in worlds.items()}


STUDY = Study(
    "compare: systems of several seeds",
    RULE,
    [
        Rates("equal systems", of_spreads([2, 3, 5]), COLUMNS, {"p < 0.05": 0.05}),
        Rates(
            "equal systems, harder worlds",
            {
                name: trial
                for n in (50, 200)
                for r in (3, 5)
                for name, trial in harder(n, r).items()
            },
            COLUMNS,
            {"p < 0.05": 0.05},
        ),
        Rates("a system that is better by 0.08", of_spreads([2, 3, 5], BETTER), COLUMNS[:1]),
        Rates(
            "a system that loses exactly the margin of 0.05",
            {
                f"spread {spread:g}, {r} seeds, 50 queries": loses(both(50, r, moving(spread)))
                for spread in (0.0, 0.02, 0.05)
                for r in (3, 5)
            },
            ["passes"],
            {"passes": 0.025},
        ),
        Rates(
            "five equal systems, all pairs",
            {
                f"spread {spread:g}, {r} seeds, 50 queries": any_pair(
                    systems(50, [(r, moving(spread))] * 5)
                )
                for spread in (0.0, 0.02, 0.05)
                for r in (3, 5)
            },
            ["any pair"],
            {"any pair": 0.05},
        ),
    ],
)
