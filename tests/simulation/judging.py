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


def gated(queries: int, judged: tuple[float, float], loss: float) -> Trial:
    """What gates make of a run after a change, where shares of both top tens are judged."""

    def trial(rng: np.random.Generator) -> Outcome:
        half = np.clip(0.5 + rng.normal(scale=0.15, size=(queries, 1)), 0.05 + loss, 0.95)
        qrels: dict[str, dict[str, int]] = {f"q{n:03d}": {"unseen": 1} for n in range(queries)}
        runs: dict[str, Run] = {}
        for name, share, good in zip(("old", "new"), judged, (half, half - loss), strict=True):
            level = rng.random((queries, SHOWN)) < good
            known = rng.random((queries, SHOWN)) < share
            ranking = {f"{name}{rank}": float(-rank) for rank in range(SHOWN)}
            runs[name] = dict.fromkeys(qrels, ranking)
            for row, of_query in enumerate(qrels.values()):
                for rank in np.flatnonzero(known[row]).tolist():
                    of_query[f"{name}{rank}"] = int(level[row, rank])
        outcomes: Outcome = {}
        for by, margin, claim in (("worse", 0.0, "missed"), ("noninferior", 0.1, "passed")):
            (verdict,) = ragkpi.compare(
                qrels, runs, "P.10", fail_if=by, margin=margin, problems="kept", **FAST
            ).verdicts
            outcomes[f"{by}: {claim}"] = verdict.outcome == claim
            outcomes[f"{by}: in doubt"] = verdict.outcome == "doubted"
        return outcomes

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
GATED = ["worse: missed", "worse: in doubt", "noninferior: passed", "noninferior: in doubt"]

RULE = """\
If the judged shares of the compared runs differ significantly, the verdict says "as far as judged".
An unjudged document counts as not relevant, so a run with fewer judgements scores lower. A verdict
of "worse" without these words is an error here. A gate that depends on it is in doubt, with a
status of its own. The margin of noninferior is 0.1."""

STUDY = Study(
    "compare, where judging is unequal",
    RULE,
    [
        Rates(
            "equal P@10; the first run's top 10 judged completely",
            {
                "the other's to 38%, 50 queries": pooled(50, 0.38, 0.0),
                "the other's to 38%, 12 queries": pooled(12, 0.38, 0.0),
                "the other's to 80%, 50 queries": pooled(50, 0.8, 0.0),
                "the other's to 95%, 50 queries": pooled(50, 0.95, 0.0),
                "the other's completely, 50 queries": pooled(50, 1.0, 0.0),
            },
            ["better or worse, plainly", "as far as judged"],
            {"better or worse, plainly": 0.05},
        ),
        Rates(
            "gates of equal runs by P@10, the baseline's top 10 judged completely",
            {
                f"the run's to {judged:.0%}, {queries} queries": gated(queries, (1.0, judged), 0.0)
                for judged in (0.8, 0.93, 0.98, 1.0)
                for queries in (12, 50)
            },
            GATED,
            {"worse: missed": 0.05},
        ),
        Rates(
            "gates of a run whose P@10 is lower by 0.1, the run's top 10 judged completely",
            {
                f"the baseline's to {judged:.0%}, {queries} queries": gated(
                    queries, (judged, 1.0), 0.1
                )
                for judged in (0.8, 0.93, 1.0)
                for queries in (50, 100)
            },
            GATED,
            {"noninferior: passed": 0.05},
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
