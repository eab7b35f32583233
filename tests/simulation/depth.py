"""How many passages? Populations with two near-equal choices, with one, and with none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import ragkpi
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import Run

_CORPUS = 100_000
_DEEPEST = 50

# The share of queries by the rank of their first relevant document; the others find none.
TWO_CHOICES = {1: 0.6, 2: 0.25, 3: 0.11, 38: 0.02}  # 0.02 more success at 38, where 0.02 decides
CLEAR = {1: 0.5, 3: 0.3, 8: 0.2}
SMOOTH = {rank: 0.5**rank for rank in range(1, 9)}
# Ranks that thin out slowly: 0.872 succeed at 50, and 0.852 at 32.
LONG_TAIL = {rank: 0.41 * rank**-1.6 for rank in range(1, _DEEPEST + 1)}


def ranks_of(queries: int, rng: np.random.Generator, first: Mapping[int, float]) -> np.ndarray:
    """Draw the rank of the first relevant document of each query, (n,); 0 for none."""
    shares = [*first.values(), max(1 - sum(first.values()), 0)]
    return rng.choice([*first, 0], size=queries, p=shares)


def chosen(ranks: np.ndarray, **options: Any) -> int | None:
    """Return the depth that depth is confident of, for a sample of queries; None if of none."""
    qrels: dict[str, dict[str, int]] = {}
    run: Run = {}
    for number, rank in enumerate(ranks.tolist()):
        query = f"q{number:03d}"
        run[query] = {f"d{place}": float(-place) for place in range(1, _DEEPEST + 1)}
        qrels[query] = {f"d{rank}" if rank else "not retrieved": 1}
    return confident(ragkpi.depth(qrels, run, corpus_size=_CORPUS, **options).answer)


def saturated(queries: int) -> Trial:
    """A hundred relevant documents a query, one nearly always at the top: recall is 0.01 there."""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels, run = {}, {}
        for number in range(queries):
            query = f"q{number:03d}"
            run[query] = {f"d{place}": float(-place) for place in range(1, _DEEPEST + 1)}
            relevant = np.flatnonzero(rng.random(_DEEPEST) < 0.9).tolist()
            qrels[query] = {f"d{place + 1}": 1 for place in relevant}
            qrels[query] |= {f"e{place}": 1 for place in range(100 - len(relevant))}
        depth = confident(ragkpi.depth(qrels, run, corpus_size=_CORPUS).answer)
        return {"retrieve at most 3": depth is not None and depth <= 3}

    return trial


def confident(answer: str) -> int | None:
    """Read the depth from an answer that recommends one, and is sure of it."""
    said = re.match(r"Retrieve ([\d,]+)", answer)
    return int(said[1].replace(",", "")) if said else None


def repeated(queries: int, first: Mapping[int, float], right: int) -> Trial:
    """Two samples from one population."""

    def trial(rng: np.random.Generator) -> Outcome:
        one, other = (chosen(ranks_of(queries, rng, first)) for _ in range(2))
        return {
            "flips": None not in (one, other) and max(one, other) > 2 * min(one, other),
            "undecided": one is None,
            "within a factor of two of the truth": one is not None
            and right / 2 <= one <= 2 * right,
            "wrong by more": one is not None and not right / 2 <= one <= 2 * right,
        }

    return trial


def clustered(clusters: int, alike: float, first: Mapping[int, float], right: int) -> Trial:
    """Five queries a cluster; a share of them have its rank, the others one of their own."""

    def trial(rng: np.random.Generator) -> Outcome:
        cluster = np.repeat(np.arange(clusters), 5)
        own, shared = ranks_of(len(cluster), rng, first), ranks_of(clusters, rng, first)[cluster]
        ranks = np.where(rng.random(len(cluster)) < alike, shared, own)
        of_query = {f"q{number:03d}": str(one) for number, one in enumerate(cluster.tolist())}
        with_option, without = chosen(ranks, cluster=of_query), chosen(ranks)

        def wrong(depth: int | None) -> bool:
            return depth is not None and not right / 2 <= depth <= 2 * right

        return {
            "wrong": wrong(with_option),
            "undecided": with_option is None,
            "wrong without the option": wrong(without),
            "undecided without": without is None,
        }

    return trial


RULE = """\
Bootstrap samples of the queries repeat the choice of K. K is recommended if 95% of them choose at
least half and at most twice as many, and if more queries first succeed in the last doubling above K
than below it (sign test, p < 0.05). Otherwise the answer is undecided, with the reason. If nearly
every query succeeds at the top of the list with little of its evidence, success chooses no K. A
flip: two samples of queries from one population, both with a recommendation, whose K differ by more
than a factor of two. No test is known for this question. The truth is the K of the whole population
by the same rule: the smallest K whose success is at most 0.02 below that at K = 50. With
`--cluster`, clusters are drawn."""

COLUMNS = ("flips", "undecided", "within a factor of two of the truth", "wrong by more")

STUDY = Study(
    "depth: how many passages?",
    RULE,
    [
        Rates(
            "two near-equal choices (success 0.96 at 3, 0.98 at 38)",
            {f"{queries} queries": repeated(queries, TWO_CHOICES, 3) for queries in (20, 50, 100)},
            COLUMNS,
            {"flips": 0.05},
        ),
        Rates(
            "one choice",
            {
                "a fifth of the queries at 8, none deeper; 50 queries": repeated(50, CLEAR, 8),
                "the same, 20 queries": repeated(20, CLEAR, 8),
                "half of the rest at each rank; 50 queries": repeated(50, SMOOTH, 5),
            },
            COLUMNS,
            {"flips": 0.05, "wrong by more": 0.05},
        ),
        Rates(
            "a long tail: first successes at rank r as often as r to the power of -1.6",
            {f"{queries} queries": repeated(queries, LONG_TAIL, 32) for queries in (20, 50, 200)},
            COLUMNS,
            {"flips": 0.05, "wrong by more": 0.05},
        ),
        Rates(
            "five queries a cluster, a fifth of the queries at 8, none deeper",
            {
                f"{clusters} clusters, {alike:.0%} of the queries as their cluster": clustered(
                    clusters, alike, CLEAR, 8
                )
                for clusters, alike in ((4, 0.8), (10, 0.0), (10, 0.8), (20, 0.8))
            },
            ["wrong", "undecided", "wrong without the option", "undecided without"],
            {"wrong": 0.05},
        ),
        Rates(
            "success chooses nothing: 100 relevant documents a query, nine of ten places hold one",
            {f"{queries} queries": saturated(queries) for queries in (20, 50)},
            ["retrieve at most 3"],
            {"retrieve at most 3": 0.05},
        ),
    ],
)
