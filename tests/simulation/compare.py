"""Which run is better? Equal runs, and a difference of 0.1 over 50 queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import stats

import ragkpi
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import BASE, BETTER, Run, by_query, levels, ranked

FOUR = ("map", "ndcg_cut.10", "recip_rank", "recall.100")  # the default measures
ONE = ("ndcg_cut.10",)
# Fewer trials and resamples than by default change no rate, only how long the simulation takes.
FAST: dict[str, Any] = {"missing": "zero", "trials": 2000, "resamples": 500}


def decisions(qrels: Mapping, runs: Mapping[str, Run], measures: tuple[str, ...]) -> dict:
    """Return what compare says of each measure and run: "better", "worse" or anything else."""
    found = ragkpi.compare(qrels, runs, measures, **FAST).to_dict()["comparison"]
    return {(d["measure"], d["run"]): _decision(d) for d in found["differences"]}


def _decision(difference: Mapping) -> str:
    if "decision" in difference:
        return difference["decision"]
    if difference["p_corrected"] is None or difference["p_corrected"] >= 0.05:
        return "undecided"
    return "better" if difference["difference"] > 0 else "worse"


def pairs_that_differ(qrels: Mapping, runs: Mapping[str, Run], measures: tuple[str, ...]) -> set:
    """Return the pairs of runs, the better first, that compare says differ by a measure."""
    found = ragkpi.compare(qrels, runs, measures, pairs="all", **FAST).to_dict()
    return {
        (pair["measure"], pair["run"], pair["other"])
        for pair in found["all_pairs"]["pairs"]
        if pair.get("decision", pair["p"] is not None and pair["p"] < 0.05)
        not in (False, "undecided", "untested", "described")
    }


def values(qrels: Mapping, run: Run, measure: str) -> np.ndarray:
    """Return a measure of every query, (Q,)."""
    return np.array(
        [
            next(iter(value.values()))
            for value in ragkpi.evaluate(qrels, run, measure).per_query.values()
        ]
    )


def t_tests(qrels: Mapping, runs: Mapping[str, Run], measures: tuple[str, ...]) -> dict:
    """Test every run against the first by paired t tests, with Holm's correction of all."""
    (_, baseline), *others = runs.items()
    p, sign = {}, {}
    for measure in measures:
        of_baseline = values(qrels, baseline, measure)
        for name, run in others:
            differences = values(qrels, run, measure) - of_baseline
            test = stats.ttest_1samp(differences, 0)
            p[measure, name] = 1.0 if np.isnan(test.pvalue) else float(test.pvalue)
            sign[measure, name] = "better" if differences.mean() > 0 else "worse"
    said = dict.fromkeys(p, "undecided")
    for place, key in enumerate(sorted(p, key=p.__getitem__)):
        if p[key] * (len(p) - place) >= 0.05:
            break
        said[key] = sign[key]
    return said


def equal(queries: int, runs: int, measures: tuple[str, ...]) -> Trial:
    """Runs of one strength: any claim is false."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        made, qrels = ranked(rng, level, [BASE] * runs), by_query(level)
        claims = {"better", "worse"}
        return {
            "any claim": bool(claims & {*decisions(qrels, made, measures).values()}),
            "t tests": bool(claims & {*t_tests(qrels, made, measures).values()}),
        }

    return trial


def equal_pairs(queries: int, runs: int, measures: tuple[str, ...]) -> Trial:
    """Runs of one strength, each compared with each."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        made, qrels = ranked(rng, level, [BASE] * runs), by_query(level)
        return {"any claim": bool(pairs_that_differ(qrels, made, measures))}

    return trial


def better(queries: int, runs: int, measures: tuple[str, ...]) -> Trial:
    """The second run is better by 0.1; further runs equal the first."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        made = ranked(rng, level, [BASE, BETTER, *[BASE] * (runs - 2)])
        qrels = by_query(level)
        said, tested = decisions(qrels, made, measures), t_tests(qrels, made, measures)
        return {
            "said better": "better" in {said[key] for key in said if key[1] == "run1"},
            "t tests": "better" in {tested[key] for key in tested if key[1] == "run1"},
        }

    return trial


RULE = """\
A run is said to be better or worse where the paired randomization test of its difference,
corrected for all claims of the call, has p < 0.05; else it "is not shown to differ". Beside it:
scipy's paired t test (`ttest_1samp` of the queries' differences), with Holm's correction for all
runs and measures of the call. With five queries the randomization test cannot have a p below
0.0625, so nothing can be claimed."""

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
                "2 runs, nDCG@10, 50 queries": equal(50, 2, ONE),
                "8 runs, the four default measures, 50 queries": equal(50, 8, FOUR),
            },
            ["any claim", "t tests"],
            {"any claim": 0.05},
        ),
        Rates(
            "equal runs, all pairs",
            {
                "2 runs, the four default measures, 12 queries": equal_pairs(12, 2, FOUR),
                "8 runs, the four default measures, 50 queries": equal_pairs(50, 8, FOUR),
                "8 runs, nDCG@10, 50 queries": equal_pairs(50, 8, ONE),
            },
            ["any claim"],
            {"any claim": 0.05},
        ),
        Rates(
            "a run whose nDCG@10 is 0.1 higher (s.d. of the queries' differences 0.25)",
            {
                "2 runs, nDCG@10, 50 queries": better(50, 2, ONE),
                "2 runs, the four default measures, 50 queries": better(50, 2, FOUR),
                "8 runs, of which one is better, nDCG@10, 50 queries": better(50, 8, ONE),
                "2 runs, nDCG@10, 12 queries": better(12, 2, ONE),
            },
            ["said better", "t tests"],
            beside={"said better": "t tests"},
        ),
    ],
)
