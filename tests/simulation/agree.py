"""May this judge be trusted? A judge of random levels, and two with a kappa of 0.6 and 0.47."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

import ragkpi
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import BASE, by_query, levels, ranked

MEASURE = "ndcg_cut.10"
_SHUFFLES = 199
_RESAMPLES = 500


def recommended(answer: str) -> bool:
    """Return whether a judge may be used to rank, by the answer of agree."""
    return ": use it to rank, " in answer


def judge(queries: int, strengths: Sequence[float], kept: float) -> Trial:
    """A judge who keeps a share of the levels and draws the others: kappa is that share."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries, most=3)
        drawn = rng.permuted(level.ravel()).reshape(level.shape)
        other = np.where(rng.random(level.shape) < kept, level, drawn)
        empty = ~other.any(axis=1)  # without a relevant document a query would be left out
        other[empty, rng.integers(level.shape[1], size=int(empty.sum()))] = 1
        runs = ranked(rng, level * 0.5, strengths)
        people, model = by_query(level), by_query(other)
        found = ragkpi.agree(people, model, runs, MEASURE, resamples=_RESAMPLES)
        order = found.findings["orders"][0]
        tau = stats.kendalltau(order["reference"], order["other"])
        return {
            "use it to rank": recommended(found.answer),
            "labels, permutation test": _above_chance(rng, level, other),
            "order, Kendall's test": bool(tau.statistic > 0 and tau.pvalue < 0.05),
        }

    return trial


def _above_chance(rng: np.random.Generator, level: np.ndarray, other: np.ndarray) -> bool:
    """Test agreement by shuffling the judge's levels over all documents."""
    same = float((level == other).mean())
    shuffled = (float((level == rng.permuted(other.ravel()).reshape(other.shape)).mean())
                for _ in range(_SHUFFLES))  # fmt: skip
    return sum(one >= same for one in shuffled) < 0.05 * (_SHUFFLES + 1)


EQUAL = [BASE] * 6
NEARER = [0.25, 0.6, 0.95, 1.3, 1.7, 2.2]  # nDCG@10 of 0.34, 0.43, 0.56, 0.65, 0.75 and 0.83
APART = [-0.5, 0.25, 0.8, 1.4, 2.2, 4.0]  # nDCG@10 of 0.12, 0.29, 0.46, 0.64, 0.82 and 0.95

RULE = """\
A judge is recommended for ranking if at least one pair of runs differs by the reference, quadratic
kappa is above 0 by its test and its interval, and the interval of tau_AP is above 0.5. For
comparison, two tests of weaker claims, both with p < 0.05: a permutation test of the labels'
agreement (the judge's levels are shuffled over all documents, 199 times), and Kendall's test of the
order of the runs (scipy's `kendalltau`)."""

COLUMNS = ("use it to rank", "labels, permutation test", "order, Kendall's test")

STUDY = Study(
    "agree: may I trust this judge?",
    RULE,
    [
        Rates(
            "a judge of random levels, 25 queries of 30 documents",
            {
                "2 equal runs": judge(25, EQUAL[:2], 0.0),
                "6 equal runs": judge(25, EQUAL, 0.0),
                "6 runs well apart": judge(25, APART, 0.0),
                "2 runs well apart": judge(25, [APART[0], APART[-1]], 0.0),
            },
            COLUMNS,
            {"use it to rank": 0.05},
        ),
        Rates(
            "a judge with a kappa of 0.6, 6 runs well apart (nDCG@10 by 0.17)",
            {
                "25 queries of 30 documents": judge(25, APART, 0.6),
                "50 queries of 30 documents": judge(50, APART, 0.6),
            },
            COLUMNS,
            beside={"use it to rank": "order, Kendall's test"},
        ),
        Rates(
            "a judge with a kappa of 0.47, 6 runs well apart",
            {
                "25 queries of 30 documents": judge(25, APART, 0.47),
                "50 queries of 30 documents": judge(50, APART, 0.47),
            },
            COLUMNS,
            beside={"use it to rank": "order, Kendall's test"},
        ),
        Rates(
            "6 runs nearer each other (nDCG@10 by 0.10), 30 documents a query",
            {
                f"kappa {kept:g}, {queries} queries": judge(queries, NEARER, kept)
                for kept in (0.6, 0.47)
                for queries in (25, 50)
            },
            COLUMNS,
            beside={"use it to rank": "order, Kendall's test"},
        ),
    ],
)
