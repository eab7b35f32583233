"""Runs of few distinct scores: what ids decide where scores do not."""

from __future__ import annotations

import numpy as np

import ragkpi
from ragkpi.library.doubts import BY_ID
from tests.simulation.agree import recommended
from tests.simulation.compare import FAST
from tests.simulation.depth import confident
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import BASE, BETTER, Matrix, Qrels, Run, by_query, levels, ranked

DOCUMENTS = 15
RELEVANT = 3  # of each query
MEASURE = "ndcg_cut.5"
PLAINLY, LIMITED = "plainly", BY_ID


def judged(queries: int) -> Qrels:
    """Return qrels of which the ids of relevant documents are the last, which rank first."""
    level = {f"m{n:02d}": 0 for n in range(DOCUMENTS - RELEVANT)}
    level |= {f"z{n}": 1 for n in range(RELEVANT)}
    return {f"q{number:03d}": level for number in range(queries)}


def run_of(qrels: Qrels, scores: Matrix) -> Run:
    """Return a run of scores, (Q, D)."""
    return {
        query: dict(zip(of, row, strict=True))
        for (query, of), row in zip(qrels.items(), scores.tolist(), strict=True)
    }


def said(claimed: bool, answer: str) -> Outcome:
    """Return whether something is claimed plainly, or as far as ties are broken by id."""
    limited = BY_ID in answer
    return {PLAINLY: claimed and not limited, LIMITED: limited}


def compared(queries: int, values: int, pairs: str) -> Trial:
    """Two equal runs, one with a score of its own for each document."""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels = judged(queries)
        fine = rng.random((queries, DOCUMENTS))
        coarse = np.floor(rng.random((queries, DOCUMENTS)) * values)
        runs = {"fine": run_of(qrels, fine), "coarse": run_of(qrels, coarse)}
        answer = ragkpi.compare(qrels, runs, MEASURE, pairs=pairs, **FAST).answer
        return said("better" in answer or "worse" in answer, answer)

    return trial


def gated(queries: int, values: int) -> Trial:
    """A gate after a change that is none: equal runs, the old one with few distinct scores."""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels = judged(queries)
        coarse = np.floor(rng.random((queries, DOCUMENTS)) * values)
        fine = rng.random((queries, DOCUMENTS))
        runs = {"old": run_of(qrels, coarse), "new": run_of(qrels, fine)}
        (verdict,) = ragkpi.compare(
            qrels, runs, MEASURE, fail_if="worse", problems="kept", **FAST
        ).verdicts
        return {PLAINLY: verdict.outcome == "missed", LIMITED: verdict.outcome == "doubted"}

    return trial


def better(queries: int, step: float) -> Trial:
    """The second run is better by 0.1; the scores of both are rounded."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, queries)
        runs = {
            name: {
                query: {id_: round(score / step) * step for id_, score in of.items()}
                for query, of in run.items()
            }
            for name, run in ranked(rng, level, [BASE, BETTER]).items()
        }
        answer = ragkpi.compare(by_query(level), runs, "ndcg_cut.10", **FAST).answer
        return said("is better" in answer, answer)

    return trial


def deep(queries: int, values: int) -> Trial:
    """K by ids, and K where equal scores are in an order by chance: more than twice or less?"""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels = judged(queries)
        scores = np.floor(rng.random((queries, DOCUMENTS)) * values)
        by_id = ragkpi.depth(qrels, run_of(qrels, scores), corpus_size=10_000).answer
        shuffled = run_of(qrels, scores + rng.random(scores.shape) / 2)
        by_chance = confident(ragkpi.depth(qrels, shuffled, corpus_size=10_000).answer)
        depth = confident(by_id)
        moved = depth is not None and (
            by_chance is None or not by_chance / 2 <= depth <= 2 * by_chance
        )
        return said(moved, by_id)

    return trial


def ordered(queries: int, judge: str) -> Trial:
    """Six equal runs: in more and more of the queries, only ids order the documents of each."""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels, runs = judged(queries), {}
        for number in range(6):
            scores = rng.random((queries, DOCUMENTS))
            scores[: queries * number // 5] = 1.0
            runs[f"run{number}"] = run_of(qrels, scores)
        other = {
            query: of | ({f"z{rng.integers(RELEVANT)}": 0} if judge == "misses" else {"m00": 1})
            for query, of in qrels.items()
        }
        answer = ragkpi.agree(qrels, other, runs, MEASURE, resamples=500).answer
        return said(recommended(answer), answer)

    return trial


RULE = f"""\
Equal scores are ordered by id, as in trec_eval. Here the ids of the relevant documents come last in
the alphabet and so rank first. A verdict that changes when ties are averaged over all orders (K:
with the best of equal scores first, or last) says "{BY_ID}", and a gate is
in doubt. Without these words the verdict is false here: the runs are equal, and a random order
moves K by more than a factor of two."""

COLUMNS = [PLAINLY, LIMITED]
TARGET = {PLAINLY: 0.05}

STUDY = Study(
    "ties: what ids decide",
    RULE,
    [
        Rates(
            "better or worse, of equal runs of which one has few distinct scores",
            {
                f"{values} scores, {queries} queries": compared(queries, values, "baseline")
                for values in (2, 3, 10)
                for queries in (12, 50)
            }
            | {"3 scores, 50 queries, all pairs": compared(50, 3, "all")},
            COLUMNS,
            TARGET,
        ),
        Rates(
            "nDCG@10 higher by 0.1, 50 queries; scores (s.d. 0.8) are rounded",
            {f"to {step:g}": better(50, step) for step in (0.01, 0.1, 0.5)},
            COLUMNS,
        ),
        Rates(
            "a gate stops a run that is no worse: the baseline has few distinct scores",
            {f"{values} scores, 50 queries": gated(50, values) for values in (2, 3, 10)},
            COLUMNS,
            TARGET,
        ),
        Rates(
            "a recommended K that an order by chance moves",
            {f"{values} scores, 50 queries": deep(50, values) for values in (2, 3, 10)},
            COLUMNS,
            TARGET,
        ),
        Rates(
            "a judge is recommended by an order of 6 equal runs that the ids made, 50 queries",
            {
                "misses one of three relevant documents": ordered(50, "misses"),
                "sees one relevant document more": ordered(50, "adds"),
            },
            COLUMNS,
            TARGET,
        ),
    ],
)
