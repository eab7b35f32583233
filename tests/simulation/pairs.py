"""Which of many runs differ? Runs that are variants of one another, and one better run."""

from __future__ import annotations

import numpy as np

from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.values import Values, alike, all_pairs, apart, families, shifted, variants

TUKEY = "tukey"


def equal(values: Values) -> Trial:
    """Runs of equal expectations: any pair that is said to differ is a false claim."""

    def trial(rng: np.random.Generator) -> Outcome:
        made = values(rng)
        return {
            "any pair": bool(apart(all_pairs(made)).any()),
            "Tukey's test": bool(apart(all_pairs(made, test=TUKEY)).any()),
        }

    return trial


def one_better(values: Values) -> Trial:
    """The last run is better than all others."""

    def trial(rng: np.random.Generator) -> Outcome:
        made = values(rng)
        new, tukey = (apart(all_pairs(made, **test)) for test in ({}, {"test": TUKEY}))
        return {
            "of its pairs": float(new[-1, :-1].mean()),
            "Tukey's test": float(tukey[-1, :-1].mean()),
            "a false pair": bool(new[:-1, :-1].any()),
        }

    return trial


RULE = """\
Over all pairs the test is that of the greatest difference, step by step: one random sign a query
turns the differences of all pairs at once (Westfall and Young; Romano and Wolf), and each pair is
measured by its own spread. Beside it: the randomized Tukey test (`--test tukey`), which pools the
spreads of all runs, as if no run were a variant of another. Values are normal, those of a run of
its own with a spread of 0.18 a query (two such runs differ by 0.26), those of near-duplicates with
0.02 more. The price of its care is power with few queries, where signs alone decide."""

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
            ["any pair", "Tukey's test"],
            {"any pair": 0.05},
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
            ["of its pairs", "Tukey's test", "a false pair"],
            {"a false pair": 0.05},
            beside={"of its pairs": "Tukey's test"},
        ),
    ],
)
