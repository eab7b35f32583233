"""Equal runs over queries in slices: is any slice said to be better?"""

from __future__ import annotations

import numpy as np

import ragkpi
from tests.simulation.compare import FAST
from tests.simulation.rates import Outcome, Rates, Study, Trial
from tests.simulation.worlds import BASE, by_query, levels, ranked

MUCH_BETTER = 1.8  # nDCG@10 is 0.2 higher


def sliced(slices: int, each: int, better: float = BASE) -> Trial:
    """Two runs; in the first slice alone the second is as good as `better`."""

    def trial(rng: np.random.Generator) -> Outcome:
        level = levels(rng, slices * each)
        qrels = by_query(level)
        labels = {query: f"s{number // each:02d}" for number, query in enumerate(qrels)}
        runs = ranked(rng, level, [BASE, BASE])
        if better != BASE:
            improved = ranked(rng, level, [better])["run0"]
            runs["run1"] |= {q: improved[q] for q, label in labels.items() if label == "s00"}
        found = ragkpi.compare(qrels, runs, "ndcg_cut.10", by={"by": labels}, **FAST).to_dict()
        whole, *parts = (
            any(one["decision"] in ("better", "worse") for one in part["comparison"]["differences"])
            for part in (found, *found["slices"])
        )
        return {
            "any claim": whole or any(parts),
            "of all queries": whole,
            "of a slice": any(parts),
            "of the better slice": parts[0],
            "of another slice": any(parts[1:]),
        }

    return trial


RULE = """\
A run is better or worse in a group of queries (`--by`) by p-values corrected by Holm for all
comparisons of the call, including those over all queries."""

STUDY = Study(
    "compare --by: is it better in a slice?",
    RULE,
    [
        Rates(
            "equal runs",
            {
                f"{slices} slices of {each} queries": sliced(slices, each)
                for slices, each in ((20, 15), (4, 50))
            },
            ["any claim", "of all queries", "of a slice"],
            {"any claim": 0.05},
        ),
        Rates(
            "equal but in one slice, where nDCG@10 is 0.2 higher",
            {
                f"{slices} slices of {each} queries": sliced(slices, each, MUCH_BETTER)
                for slices, each in ((20, 15), (4, 50))
            },
            ["of the better slice", "of another slice"],
            {"of another slice": 0.05},
        ),
    ],
)
