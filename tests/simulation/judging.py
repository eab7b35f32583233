"""Two runs that are equally good, of which one is judged completely and the other is not."""

from __future__ import annotations

import numpy as np

import ragkpi
from tests.simulation.compare import FAST
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import Run

SHOWN = 10


def claimed(qrels: dict[str, dict[str, int]], runs: dict[str, Run], measure: str) -> Outcome:
    """Return what compare claims of the second run, and whether it says "as far as judged"."""
    found = ragkpi.compare(qrels, runs, measure, **FAST)
    (difference,) = found.to_dict()["comparison"]["differences"]
    plain = "as far as judged" not in found.answer.lower()
    return {
        "better or worse, plainly": difference["decision"] in ("better", "worse") and plain,
        "as far as judged": not plain,
    }


def pooled(queries: int, judged: float, better: float) -> Trial:
    """Half of each top 10 is relevant, of the first run's `better` more; the other has holes."""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels: dict[str, dict[str, int]] = {}
        runs: dict[str, Run] = {"pooled": {}, "other": {}}
        for number in range(queries):
            query = f"q{number:03d}"
            half = min(max(0.5 + rng.normal(scale=0.15), 0.05), 0.9 - better)
            qrels[query] = {"unseen": 1}
            for name, run in runs.items():
                share = half + better * (name == "pooled")
                relevant = rng.random(SHOWN) < share
                known = rng.random(SHOWN) < (1.0 if name == "pooled" else judged)
                run[query] = {f"{name}{rank}": float(-rank) for rank in range(SHOWN)}
                for rank in np.flatnonzero(known).tolist():
                    qrels[query][f"{name}{rank}"] = int(relevant[rank])
        return claimed(qrels, runs, "P.10")

    return trial


def to_depths(queries: int, measure: str, first: int, other: int) -> Trial:
    """Equal runs of fifty documents, each judged to a rank of its own."""

    def trial(rng: np.random.Generator) -> Outcome:
        qrels: dict[str, dict[str, int]] = {}
        runs: dict[str, Run] = {"first": {}, "other": {}}
        share = 0.6 / np.sqrt(np.arange(1, DEEP + 1))
        for number in range(queries):
            query, easy = f"q{number:03d}", rng.uniform(0.5, 1.5)
            qrels[query] = {"unseen": 1}
            for (name, run), judged in zip(runs.items(), (first, other), strict=True):
                run[query] = {f"{name}{rank}": float(-rank) for rank in range(DEEP)}
                level = (rng.random(judged) < np.minimum(easy * share[:judged], 1)).tolist()
                qrels[query] |= {f"{name}{rank}": int(one) for rank, one in enumerate(level)}
        return claimed(qrels, runs, measure)

    return trial


DEEP = 50

RULE = """\
Where the judged shares of the compared runs differ by more than chance, the verdict says "as far
as judged". A document without a judgement counts as not relevant, so a run that is judged less
scores less; that it is worse, said without these words, is a false verdict here."""

STUDY = Study(
    "compare, where judging is unequal",
    RULE,
    [
        Rates(
            "equal P@10; the first run's top 10 judged completely",
            {
                "the other's to 38 %, 50 queries": pooled(50, 0.38, 0.0),
                "the other's to 38 %, 12 queries": pooled(12, 0.38, 0.0),
                "the other's to 80 %, 50 queries": pooled(50, 0.8, 0.0),
                "the other's to 95 %, 50 queries": pooled(50, 0.95, 0.0),
                "the other's completely, 50 queries": pooled(50, 1.0, 0.0),
            },
            ["better or worse, plainly", "as far as judged"],
            {"better or worse, plainly": 0.05},
        ),
        Rates(
            "P@10 higher by 0.15, both judged completely",
            {"50 queries": pooled(50, 1.0, 0.15)},
            ["better or worse, plainly", "as far as judged"],
            {"as far as judged": 0.05},
        ),
        Rates(
            "equal runs of 50 documents, both judged to rank 10 and the first one below",
            {
                f"{measure}, the first to rank {first}, {queries} queries": to_depths(
                    queries, measure, first, 10
                )
                for measure in ("map", "ndcg", "Rprec", "bpref", "gm_map", "rbp")
                for first in ((20, 50) if measure == "map" else (50,))
                for queries in (12, 50)
            },
            ["better or worse, plainly", "as far as judged"],
            {"better or worse, plainly": 0.05},
        ),
        Rates(
            "equal runs of 50 documents, both judged to the same rank",
            {
                f"map, to rank {rank}, 50 queries": to_depths(50, "map", rank, rank)
                for rank in (10, 50)
            },
            ["better or worse, plainly", "as far as judged"],
            {"better or worse, plainly": 0.05},
        ),
    ],
)
