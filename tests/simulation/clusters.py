"""Queries in clusters: paraphrases of a topic, turns of a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from scipy import stats

from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.values import SPREAD, Matrix, any_claim, claims

Sizes = Callable[[np.random.Generator], Matrix]


def each_of(size: int, count: int) -> Sizes:
    return lambda _: np.repeat(np.arange(count), size)


def unequal(count: int) -> Sizes:
    """One to thirteen queries a cluster, five on average; most have few."""
    return lambda rng: np.repeat(np.arange(count), np.minimum(rng.geometric(0.2, count), 13))


def members(clusters: Matrix, correlation: float, rng: np.random.Generator) -> Matrix:
    """Draw values with an intra-class correlation, mean 0 and variance 1, (n,)."""
    shared = rng.normal(size=clusters.max() + 1)[clusters]
    own = rng.normal(size=len(clusters))
    return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own


def two_runs(sizes: Sizes, correlation: float, better: float = 0.0) -> Trial:
    """Two runs whose differences are alike within a cluster."""

    def trial(rng: np.random.Generator) -> Outcome:
        clusters = sizes(rng)
        first = rng.normal(scale=SPREAD, size=len(clusters))
        difference = SPREAD * members(clusters, correlation, rng) + better
        values = np.column_stack([first, first + difference])
        of_clusters = np.bincount(clusters, difference) / np.bincount(clusters)
        t = stats.ttest_1samp(of_clusters, 0)
        said = claims(values, clusters)
        return {
            "any claim": any_claim(said),
            "better": said == ["better"],
            "without the option": any_claim(claims(values)),
            "t test of clusters' means": bool(t.pvalue < 0.05),
            "t test of clusters' means: better": bool(t.pvalue < 0.05 and t.statistic > 0),
            "t test of queries: better": claims(values, test="t") == ["better"],
        }

    return trial


RULE = """\
With `--cluster FILE` the units are clusters. Standard errors leave out whole clusters, and t has
one degree of freedom less than there are clusters (unequal ones: the square of the sum of their
sizes over the sum of squares, minus one). The estimate stays the mean over queries. For comparison:
scipy's `ttest_1samp` of the clusters' means, which is exact for clusters of one size, and the test
without the option."""

CORRELATIONS = (0.0, 0.1, 0.3, 0.6, 1.0)


def of_equal_runs(sizes: str, sizes_of: Callable[[int], Sizes], counts: Sequence[int]) -> Rates:
    """Rates of claims about equal runs, whose clusters have these sizes."""
    return Rates(
        f"equal runs, {sizes}",
        {
            f"{count} clusters, correlation {correlation:g}": two_runs(sizes_of(count), correlation)
            for count in counts
            for correlation in CORRELATIONS
        },
        ["any claim", "without the option", "t test of clusters' means"],
        {"any claim": 0.05},
    )


STUDY = Study(
    "compare --cluster: queries that belong together",
    RULE,
    [
        of_equal_runs("five queries a cluster", partial(each_of, 5), (5, 10, 20, 40)),
        of_equal_runs("one to thirteen queries a cluster", unequal, (10, 20, 40)),
        Rates(
            "a run that is better by 0.1, five queries a cluster",
            {
                f"{count} clusters, correlation {correlation:g}": two_runs(
                    each_of(5, count), correlation, 0.1
                )
                for count in (10, 20)
                for correlation in (0.0, 0.3)
            },
            ["better", "t test of clusters' means: better", "t test of queries: better"],
            beside={"better": "t test of clusters' means: better"},
        ),
    ],
)
