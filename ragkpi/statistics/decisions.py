"""The choices of a decision: tests, corrections, and when a resampled choice is a decision.

The command line reads this module for its help, so it imports nothing heavy: a test names its
functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

TestName: TypeAlias = str
"""A key of `TESTS`."""
CorrectionName = Literal["holm", "benjamini-hochberg", "none"]
Method = Literal["score", "percentile"]
"""The computation of an interval; see `Bootstrap`."""
Family = Literal["first", "all"]
"""The measures that decide."""
DecidedBy = Literal["worse", "noninferior", "value"]
"""Why a run fails against a baseline: it is significantly worse, it is not shown to be
noninferior, or its value is lower."""


class Test(NamedTuple):
    """The declaration of a test of significance."""

    function: str  # in `significance`
    least_p: str  # the function in `significance` of its minimum p
    help: str  # for the option
    name: str  # in an explanation
    question: str  # that the p-value answers
    assumes: str
    interval: Literal["agrees", "differs"] = "differs"  # with p: 0 is outside if p < 1 - level

    @property
    def is_drawn(self) -> bool:
        """Whether p depends on a number of trials and a seed."""
        return "{trials" in self.question


CHANCE = "{trials:,} trials, p = (count + 1) / (trials + 1), seed {seed}"
TESTS: Mapping[TestName, Test] = {
    "t": Test(
        "student",
        "least_of_t",
        "is the difference 0? For rates, the score test",
        "paired t test",
        "is the difference 0? For ratios of means it uses jackknife pseudo-values, for rates of 0 "
        "and 1 the score test",
        "that the mean of the differences is nearly normal, which few very skewed ones violate",
        interval="agrees",
    ),
    "randomization": Test(
        "randomization",
        "least_of_swaps",
        "is the difference 0? Swaps run and baseline on queries",
        "paired randomization test",
        "how often is a difference at least as large when run and baseline are swapped at random "
        f"on every {{unit}}? {CHANCE}; all swaps, p = share, where there are no more",
        "that without a difference the two runs could be swapped on any {unit}",
    ),
    "wilcoxon": Test(
        "signed_rank",
        "least_of_signs",
        "are differences symmetric around 0?",
        "Wilcoxon's signed-rank test",
        "do the differences lie evenly around 0? (Of skewed ones the mean may be 0 and p small.) "
        "Sizes within 1e-9 of the largest value are tied; NA for ratios of means",
        "differences that are symmetric around their middle",
    ),
    "sign": Test(
        "sign",
        "least_of_signs",
        "are wins as likely as losses?",
        "sign test",
        "are wins as likely as losses, whatever their sizes? Ties are left out",
        "nothing of their sizes: many small gains win over few large losses",
    ),
}

TAIL_ENDS = 0.05
"""The maximum p of a decided depth: more queries succeed in its last doubling than deeper.

Bootstrap samples ignore a tail that no query shows. With slowly thinning ranks of first successes
(as rank ** -1.6), deciding without this sign test was wrong in 11, 7, 2 and 0% of the samples of
20, 50, 100 and 200 queries; with it in 3, 2, 1 and 0%.
"""

FEWEST_CLUSTERS = 14
"""The minimum number of clusters for deciding a depth by bootstrap samples.

In 5.5% of the samples (0.8¹³), 13 clusters miss a property of a fifth of all clusters, and so do
their bootstrap samples.
"""
