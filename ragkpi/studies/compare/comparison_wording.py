"""The words of comparisons: tests and corrections, p-values, and lists of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragkpi.reports.layout import Cell
from ragkpi.statistics.corrections import CorrectionName
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.significance import TestName
from ragkpi.wording import counted

_CHANCE = "{trials:,} trials, p = (count + 1) / (trials + 1), seed {seed}"

_TESTS_IN_WORDS: Mapping[TestName, str] = {
    "randomization": "p: paired randomization test, two-sided: how often is a difference at least "
    "as large when run and baseline are swapped at random on every query? "
    + _CHANCE
    + "; all swaps, p = share, where there are no more",
    "bootstrap": "p: paired bootstrap test, two-sided: how often does a resample of the queries "
    "stray from the difference by at least its size, both in standard errors? " + _CHANCE,
    "t": "p: paired t test, two-sided: is the mean of the queries' differences 0? "
    "NA for ratios of means",
    "wilcoxon": "p: Wilcoxon's signed-rank test, two-sided: do the queries' differences lie "
    "evenly around 0? (Of skewed ones the mean may be 0 and p small.) Sizes within 1e-9 of the "
    "largest value are tied; NA for ratios of means",
    "sign": "p: sign test, two-sided: are wins as likely as losses, whatever their sizes? Ties "
    "are left out",
}

CORRECTIONS_IN_WORDS: Mapping[CorrectionName, tuple[str, str]] = {
    "holm": ("p_holm", "p_holm: corrected by Holm for {family}"),
    "benjamini-hochberg": ("p_bh", "p_bh: corrected by Benjamini and Hochberg for {family}"),
    "none": ("", "p is not corrected for {family}"),
}
# The short forms, for captions.
IN_CAPTIONS: Mapping[TestName | CorrectionName, str] = {
    "randomization": "paired randomization test, {trials:,} trials",
    "bootstrap": "paired bootstrap test, {trials:,} resamples",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "holm": "Holm's correction for {family}",
    "benjamini-hochberg": "Benjamini and Hochberg's correction for {family}",
    "none": "not corrected for {family}",
}


def test_in_words(procedure: Procedure) -> str:
    """Say what the p-values are."""
    seed = procedure.bootstrap.seed
    return _TESTS_IN_WORDS[procedure.test].format(trials=procedure.trials, seed=seed)


def correction_in_words(procedure: Procedure, tests: int) -> str:
    """Say how the p-values of a family of tests were corrected."""
    family = counted(tests, "test")
    family += " in this call" if procedure.family == "all" else " by each measure"
    return CORRECTIONS_IN_WORDS[procedure.correction][1].format(family=family)


def probability(p: float) -> Cell:
    """Return a cell for a p-value; a tiny one, which would look like 0, gets significant digits."""
    return Cell(p, style="significant" if 0 < p < 0.00005 else "decimal")


def short(p: float) -> str:
    """Write a p-value in a sentence."""
    return f"{p:.4f}" if p >= 0.00005 else f"{p:.1g}"


def joined(names: Sequence[str]) -> str:
    """Write a list of names in a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def agreeing(verdict: str, number: int) -> str:
    """Make the verb of a verdict agree with the number of runs."""
    verb, _, rest = verdict.partition(" ")
    plural = {"is": "are", "has": "have"}
    return verdict if number == 1 else f"{plural[verb]} {rest}"
