"""May this run replace the baseline? Equal runs, and a drop of 0.1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

import ragkpi
from ragkpi.statistics.gates import BaselineGate, Margin, baseline_verdicts
from tests.simulation.compare import FOUR, ONE, t_tests
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.shapes import RARE, failing
from tests.simulation.values import names_of, scores_of
from tests.simulation.worlds import BASE, BETTER, Run, by_query, levels, ranked


def stops(qrels: dict, run: Run, baseline: Run, measures: Sequence[str], by: str) -> bool:
    """Return whether the gate stops a run."""
    found = ragkpi.evaluate(
        qrels,
        run,
        measures,
        missing="zero",
        fail_under_baseline=baseline,
        gate_by=by,
        problems="kept",
    )
    return not all(verdict.passed for verdict in found.verdicts)


def gate(queries: int, before: float, after: float, measures: Sequence[str]) -> Trial:
    """A run after a change, against the one before it."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        runs, qrels = ranked(rng, level, [before, after]), by_query(level)
        old, new = runs.values()
        one_sided = t_tests(qrels, runs, measures, "all", "less")
        two_sided = t_tests(qrels, runs, measures, "all")
        return {
            "stopped by worse": stops(qrels, new, old, measures, "worse"),
            "stopped by value": stops(qrels, new, old, measures, "value"),
            "t tests, one-sided": one_sided.get("run1") == "worse",
            "t tests, two-sided": two_sided.get("run1") == "worse",
        }

    return trial


def proof(queries: int, share: float) -> Trial:
    """A run that loses exactly the margin, by complete failures of a share of the queries.

    With a share of 0 it loses it by all queries alike, with the usual spread.
    """

    def trial(rng: np.random.Generator) -> Outcome:
        if share:
            values = failing(queries, share)(rng)
        else:
            values = rng.normal(scale=[0.0, 0.26], size=(queries, 2))
        values[:, 1] -= MARGIN
        gate = BaselineGate(Margin(MARGIN), "noninferior")
        baseline, run = zip(names_of(values), scores_of(values), strict=True)
        (verdict,) = baseline_verdicts(baseline, run, gate)
        t = stats.ttest_1samp(values[:, 1] - values[:, 0] + MARGIN, 0, alternative="greater")
        return {"passes": verdict.passed, "t test, one-sided at 2.5%": bool(t.pvalue < 0.025)}

    return trial


MARGIN = 0.1

RULE = """\
`gate_by="worse"`, the default, fails a run that compare calls worse: the same test with p < 0.05,
corrected by Holm for all gated values. `gate_by="value"` fails it if one of its means is lower,
which fails one of two equal runs half of the time. For comparison: scipy's paired t tests
(`ttest_1samp`) of the gated values, with Holm's correction, p < 0.05; one-sided, because a gate has
one direction, and two-sided, as in compare."""

COLUMNS = ("stopped by worse", "stopped by value", "t tests, one-sided", "t tests, two-sided")

STUDY = Study(
    "Gates: did it get worse?",
    RULE,
    [
        Rates(
            "equal runs",
            {
                "nDCG@10, 12 queries": gate(12, BASE, BASE, ONE),
                "nDCG@10, 50 queries": gate(50, BASE, BASE, ONE),
                "the four default measures, 50 queries": gate(50, BASE, BASE, FOUR),
            },
            COLUMNS,
            {"stopped by worse": 0.05},
        ),
        Rates(
            "a drop of nDCG@10 by 0.1",
            {
                "nDCG@10, 50 queries": gate(50, BETTER, BASE, ONE),
                "the four default measures, 50 queries": gate(50, BETTER, BASE, FOUR),
            },
            COLUMNS,
            beside={"stopped by worse": "t tests, two-sided"},
        ),
        Rates(
            "`--gate-by noninferior`, a run that loses exactly the margin of 0.1",
            {
                f"{name}, {queries} queries": proof(queries, share)
                for name, share in (
                    ("by every query", 0.0),
                    *((f"by failing one in {name}", share) for name, share in RARE.items()),
                )
                for queries in (12, 50, 100)
            },
            ["passes", "t test, one-sided at 2.5%"],
            {"passes": 0.05},
        ),
    ],
)
