"""Which run is better? Equal runs, and a difference of 0.1 over 50 queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from scipy import stats

import ragkpi
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import BASE, BETTER, Run, by_query, levels, ranked

Key = TypeVar("Key")

FOUR = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # the default measures
ONE = ("ndcg_cut.10",)
# Fewer trials than by default change no rate, only how long the simulation takes.
FAST: dict[str, Any] = {"missing": "zero", "trials": 1000}


def decisions(
    qrels: Any, runs: Mapping[str, Run], measures: Sequence[str], family: str = "first"
) -> dict[tuple[str, str], str]:
    """Return what compare says of each measure and run: "better", "worse" or no claim."""
    found = ragkpi.compare(qrels, runs, measures, family=family, **FAST).to_dict()
    return {(d["measure"], d["run"]): d["decision"] for d in found["comparison"]["differences"]}


def pairs_that_differ(
    qrels: Any, runs: Mapping[str, Run], measures: Sequence[str], family: str = "first"
) -> set[tuple[str, str]]:
    """Return the pairs of runs that share no letter by some measure."""
    found = ragkpi.compare(qrels, runs, measures, pairs="all", family=family, **FAST)
    return {
        pair
        for letters in found.to_dict()["all_pairs"]["letters"].values()
        for pair in combinations(letters or (), 2)
        if not set(letters[pair[0]]) & set(letters[pair[1]])
    }


def values(qrels: Any, run: Run, measures: Sequence[str]) -> dict[str, np.ndarray]:
    """Return every measure of every query, (Q,), by its printed name."""
    per_query = ragkpi.evaluate(qrels, run, measures).per_query.values()
    names = next(iter(per_query))
    return {name: np.array([of_query[name] for of_query in per_query]) for name in names}


def t_tests(
    qrels: Any,
    runs: Mapping[str, Run],
    measures: Sequence[str],
    family: str = "first",
    alternative: str = "two-sided",
) -> dict[str, str]:
    """Return the claims about each run against the first, by paired t tests with Holm's correction.

    The family is the first measure of all runs, or all measures.
    """
    deciding = measures[: 1 if family == "first" else None]
    baseline, *others = (values(qrels, run, deciding) for run in runs.values())
    p, sign = {}, {}
    for name, run in zip(list(runs)[1:], others, strict=True):
        for measure in run:
            differences = run[measure] - baseline[measure]
            test = stats.ttest_1samp(differences, 0, alternative=alternative)
            p[measure, name] = float(np.nan_to_num(test.pvalue, nan=1.0))
            sign[measure, name] = "better" if differences.mean() > 0 else "worse"
    said: dict[str, str] = {}
    for measure, name in rejected(p):
        said.setdefault(name, sign[measure, name])
    return said


def rejected(p: Mapping[Key, float]) -> list[Key]:
    """Return what Holm's procedure rejects at 0.05, the smallest p-value first."""
    found = []
    for place, key in enumerate(sorted(p, key=p.__getitem__)):
        if p[key] * (len(p) - place) >= 0.05:
            break
        found.append(key)
    return found


def equal(queries: int, runs: int, measures: Sequence[str], family: str = "first") -> Trial:
    """Runs of one strength: any claim is false."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        made, qrels = ranked(rng, level, [BASE] * runs), by_query(level)
        said = decisions(qrels, made, measures, family).values()
        return {
            "any claim": "better" in said or "worse" in said,
            "t tests": bool(t_tests(qrels, made, measures, family)),
        }

    return trial


def equal_pairs(queries: int, runs: int, measures: Sequence[str], family: str = "first") -> Trial:
    """Runs of one strength, each compared with each."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        made, qrels = ranked(rng, level, [BASE] * runs), by_query(level)
        return {"any claim": bool(pairs_that_differ(qrels, made, measures, family))}

    return trial


def better(queries: int, runs: int, measures: Sequence[str], family: str = "first") -> Trial:
    """The second run is better by 0.1; further runs equal the first."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        made = ranked(rng, level, [BASE, BETTER, *[BASE] * (runs - 2)])
        qrels = by_query(level)
        said = decisions(qrels, made, measures, family)
        return {
            "said better": any(said[measure, "run1"] == "better" for measure, _ in said),
            "t tests": t_tests(qrels, made, measures, family).get("run1") == "better",
        }

    return trial


RULE = """\
A run is called better or worse if the paired t test of its difference (for rates the score test)
has p < 0.05 after Holm's correction. Otherwise it is not significantly different. By default the
first measure decides, corrected for all runs, and the others are exploratory. With `family="all"`
every measure decides, corrected for all measures and runs. All pairs have the step-down test of the
maximum |t|. For comparison: scipy's paired t test (`ttest_1samp` of the queries' differences) of
the same measures, with Holm's correction for the same family."""

STUDY = Study(
    "compare: which run is better?",
    RULE,
    [
        Rates(
            "equal runs",
            {
                "2 runs, the four default measures, 5 queries": equal(5, 2, FOUR),
                "2 runs, the four default measures, 12 queries": equal(12, 2, FOUR),
                "2 runs, the four default measures, 50 queries": equal(50, 2, FOUR),
                "the same, all measures deciding": equal(50, 2, FOUR, "all"),
                "8 runs, the four default measures, 50 queries": equal(50, 8, FOUR),
                "the same of 8 runs, all measures deciding": equal(50, 8, FOUR, "all"),
            },
            ["any claim", "t tests"],
            {"any claim": 0.05},
        ),
        Rates(
            "equal runs, all pairs",
            {
                "2 runs, the four default measures, 12 queries": equal_pairs(12, 2, FOUR),
                "8 runs, the four default measures, 50 queries": equal_pairs(50, 8, FOUR),
                "the same, all measures deciding": equal_pairs(50, 8, FOUR, "all"),
            },
            ["any claim"],
            {"any claim": 0.05},
        ),
        Rates(
            "a run whose nDCG@10 is 0.1 higher (s.d. of the queries' differences 0.26)",
            {
                "2 runs, nDCG@10, 50 queries": better(50, 2, ONE),
                "2 runs, the four default measures, 50 queries": better(50, 2, FOUR),
                "the same, all measures deciding": better(50, 2, FOUR, "all"),
                "8 runs, of which one is better, nDCG@10, 50 queries": better(50, 8, ONE),
                "2 runs, nDCG@10, 12 queries": better(12, 2, ONE),
            },
            ["said better", "t tests"],
            beside={"said better": "t tests"},
        ),
    ],
)
