"""Which of many runs differ? Runs that are variants of one another, and one better run."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from scipy import stats

from ragkpi.questions.report.standings import decide
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.shapes import RARE, failing
from tests.simulation.values import (
    Matrix,
    Values,
    alike,
    all_pairs,
    apart,
    families,
    names_of,
    scores_of,
    seeded_procedure,
    shifted,
    variants,
)

HOLM = "t by Holm"


def apart_by_holm(values: Matrix) -> Matrix:
    """Return which pairs differ by paired t tests, corrected by Holm for all pairs, (R, R)."""
    runs = values.shape[1]
    one, other = np.triu_indices(runs, 1)
    p = stats.ttest_rel(values[:, one], values[:, other]).pvalue
    order = np.argsort(p)
    rejected = np.minimum.accumulate(p[order] * np.arange(len(p), 0, -1) < 0.05)
    differ = np.zeros((runs, runs), dtype=bool)
    differ[one[order], other[order]] = differ[other[order], one[order]] = rejected
    return differ


def equal(values: Values) -> Trial:
    """Runs of equal expectations: any pair that is said to differ is a false claim."""

    def trial(rng: np.random.Generator) -> Outcome:
        made = values(rng)
        return {
            "any pair": bool(apart(all_pairs(made)).any()),
            HOLM: bool(apart_by_holm(made).any()),
        }

    return trial


def on_the_page(values: Values) -> Trial:
    """Runs of equal expectations: the page claims that its best run is better than another."""

    def trial(rng: np.random.Generator) -> Outcome:
        made = values(rng)
        scored = zip(names_of(made), scores_of(made), strict=True)
        runs = [SimpleNamespace(name=name, label=name, scores=scores) for name, scores in scored]
        decision = decide(runs, runs[0].scores.metrics[0], seeded_procedure(made), None)
        assert decision
        return {"any claim": "worse" in decision.claims.values()}

    return trial


def one_better(values: Values) -> Trial:
    """The last run is better than all others."""

    def trial(rng: np.random.Generator) -> Outcome:
        made = values(rng)
        differ = apart(all_pairs(made))
        return {
            "of its pairs": float(differ[-1, :-1].mean()),
            HOLM: float(apart_by_holm(made)[-1, :-1].mean()),
            "a false pair": bool(differ[:-1, :-1].any()),
        }

    return trial


def one_failing(n: int, share: float, runs: int = 3) -> Values:
    """Near-duplicates beside one run with rare complete failures and the same expectation."""

    def made(rng: np.random.Generator) -> Matrix:
        first, failed = failing(n, share)(rng).T
        near = first[:, np.newaxis] + rng.normal(scale=0.02, size=(n, runs - 1))
        return np.column_stack([near, failed])

    return made


RULE = """\
All pairs are tested jointly by the maximum difference, step by step: one random sign per query
flips the differences of all pairs at once (Westfall and Young; Romano and Wolf), and each pair is
measured by its own spread. For comparison: paired t tests of all pairs, corrected by Holm. Values
are normal. A separate run has a spread of 0.18 per query (two such runs differ by 0.26), near-
duplicates 0.02 more. With few queries, where signs alone decide, the joint test has less power."""


def one_odd(n: int, runs: int) -> Values:
    return variants(n, runs, 1)


RUNS = {
    **{f"{odd} of 10 odd": (10, odd) for odd in (1, 2, 5)},
    "1 of 20 odd": (20, 1),
}

STUDY = Study(
    "compare --all-pairs: which runs differ?",
    RULE,
    [
        Rates(
            "equal runs, the others near-duplicates",
            {
                f"{name}, {n} queries": equal(variants(n, *runs))
                for name, runs in RUNS.items()
                for n in (12, 50)
            }
            | {f"two families of 5, {n} queries": equal(families(n, 10)) for n in (12, 50)}
            | {f"10 runs, none like another, {n} queries": equal(alike(n, 10)) for n in (12, 50)},
            ["any pair", HOLM],
            {"any pair": 0.05},
        ),
        Rates(
            "equal means, one of three runs with rare complete failures",
            {
                f"one query in {name}, {n} queries": equal(one_failing(n, share))
                for name, share in RARE.items()
                for n in (12, 50, 100, 200)
            },
            ["any pair", HOLM],
            {"any pair": 0.05},
        ),
        Rates(
            "equal runs on the page of report",
            {
                f"{runs} runs, {kind}, 50 queries": on_the_page(values(50, runs))
                for runs in (3, 8, 30)
                for kind, values in (("none like another", alike), ("near-duplicates", one_odd))
            },
            ["any claim"],
            {"any claim": 0.05},
        ),
        Rates(
            "one better run",
            {
                "by 0.1, of 10, none like another, 50 queries": one_better(
                    shifted(alike(50, 10), 9, 0.1)
                ),
                "by 0.2, the same, 12 queries": one_better(shifted(alike(12, 10), 9, 0.2)),
                "by 0.02, near-duplicates beside 1 odd, 50 queries": one_better(
                    shifted(variants(50, 10, 1), 9, 0.02)
                ),
            },
            ["of its pairs", HOLM, "a false pair"],
            {"a false pair": 0.05},
            beside={"of its pairs": HOLM},
        ),
    ],
)
