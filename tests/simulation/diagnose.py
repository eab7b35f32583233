"""Retriever or reranker? Both to blame alike, and a pool that lacks the evidence."""

from __future__ import annotations

import numpy as np
from scipy import stats

import ragkpi
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import Run

USEFUL = 10  # documents a query, all of the best grade; the cutoff is 10, too


def blamed(answer: str) -> str:
    """Return what an answer says to fix first, or ""."""
    if answer.startswith("Fix retrieval"):
        return "retrieval"
    return "the reranker" if answer.startswith("Fix the reranker") else ""


def lost(queries: int, share: float, varying: float, each: int = 1) -> Trial:
    """The pool lacks a share of what is lost, by clusters Beta with this mean and a + b.

    A cluster has `each` queries; with one there are none.
    """

    def trial(rng: np.random.Generator) -> Outcome:
        cluster = np.arange(queries) // each
        shares = rng.beta(varying * share, varying * (1 - share), size=cluster[-1] + 1)
        loss = rng.binomial(USEFUL, rng.beta(3, 3, size=cluster[-1] + 1)[cluster])
        of_pool = rng.binomial(loss, shares[cluster])
        qrels: dict[str, dict[str, int]] = {}
        run: Run = {}
        pool: Run = {}
        for number, (gone, absent) in enumerate(zip(loss.tolist(), of_pool.tolist(), strict=True)):
            query = f"q{number:03d}"
            useful = [f"u{place}" for place in range(USEFUL)]
            idle = [f"i{place}" for place in range(2 * USEFUL)]
            qrels[query] = dict.fromkeys(useful, 3) | dict.fromkeys(idle, 0)
            ranking = [*useful[: USEFUL - gone], *idle[:gone]]  # what is shown
            rest = [
                *useful[USEFUL - gone : USEFUL - absent],
                *idle[gone:],
            ]  # what is in the pool, too
            run[query] = {document: float(-place) for place, document in enumerate(ranking)}
            pool[query] = {document: float(-place) for place, document in enumerate(ranking + rest)}
        options = {"cluster": dict(zip(qrels, map(str, cluster), strict=True))} if each > 1 else {}
        said = blamed(ragkpi.diagnose(qrels, run, pool=pool, **options).answer)
        apart = (2.0 * of_pool - loss) / USEFUL  # lost by the pool less lost by the selection
        test = stats.ttest_1samp(apart.reshape(-1, each).mean(axis=1), 0)
        shown = bool(test.pvalue < 0.05)
        return {
            "retrieval": said == "retrieval",
            "the reranker": said == "the reranker",
            "either": bool(said),
            "either without the option": bool(blamed(ragkpi.diagnose(qrels, run, pool=pool).answer))
            if each > 1
            else bool(said),
            "t test of clusters": shown,
            "t test: retrieval": shown and float(apart.mean()) > 0,
            "t test: the reranker": shown and float(apart.mean()) < 0,
        }

    return trial


RULE = """\
A stage is blamed if the 95% interval of its share of the lost gain is above a half (97.5% of
bootstrap samples blame it), a randomization test of the losses of the two stages has p ≤ 0.05, at
least ten queries lost gain, and one more query could not change the verdict. Otherwise the answer
is undecided. For comparison: scipy's paired t test (`ttest_1samp`) over queries of the gain lost by
the pool minus the gain lost by the selection, p < 0.05, two-sided."""

COLUMNS = ("retrieval", "the reranker", "t test: retrieval", "t test: the reranker")

STUDY = Study(
    "diagnose: is it the retriever or the reranker?",
    RULE,
    [
        Rates(
            "to blame alike",
            {f"{queries} queries": lost(queries, 0.5, 1.0) for queries in (5, 10, 20, 50)},
            COLUMNS,
            {"retrieval": 0.05, "the reranker": 0.05},
        ),
        Rates(
            "the pool lacks 0.75 of what is lost",
            {f"{queries} queries": lost(queries, 0.75, 1.0) for queries in (10, 20, 50)},
            COLUMNS,
            {"the reranker": 0.05},
            beside={"retrieval": "t test: retrieval"},
        ),
        Rates(
            "to blame alike, five queries a cluster",
            {f"{queries // 5} clusters": lost(queries, 0.5, 1.0, 5) for queries in (50, 100)},
            ["either", "either without the option", "t test of clusters"],
            {"either": 0.05},
        ),
    ],
)
