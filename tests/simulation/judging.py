"""Two runs that are equally good, of which one is judged completely and the other is not."""

from __future__ import annotations

import numpy as np

import ragkpi
from tests.simulation.compare import FAST, decisions
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import Run

SHOWN = 10


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
        (said,) = decisions(qrels, runs, ("P.10",)).values()
        answer = ragkpi.compare(qrels, runs, "P.10", **FAST).answer
        plain = "as far as judged" not in answer.lower()
        return {
            "better or worse, plainly": said in ("better", "worse") and plain,
            "as far as judged": not plain,
        }

    return trial


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
    ],
)
