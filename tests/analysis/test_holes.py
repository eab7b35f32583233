"""Bounds against every assignment: each assignment becomes a query of its own, judged as usual."""

import itertools
import random

import numpy as np
import pytest

from ragkpi.analysis.holes import depth_needed, find_bounds
from ragkpi.evaluation import Evaluator
from ragkpi.measures.registry import all_measures, find_values
from ragkpi.ranking.settings import Settings

SETTINGS = Settings(corpus_size=60)
PARAMETERS = {
    "iprec_at_recall": [".0.0,0.4,1.0"],
    "Rprec_mult": [".0.4,1.0,1.6"],
    "utility": ["", ".1,-2,3,0.1"],
    "set_F": ["", ".3"],
    "rbp": [".p=0.5", ".p=0.7,1=0.5,2=1"],
    "ndcg": ["", ".1=5,2=3"],
    "dcg": [".1=5,2=3"],
    "ra_nwg": [".2,4", ".3,alpha=0.5,cap4=0.75"],
    **{name: [".1,3", ".3,m=2"] for name in ("p_obs", "ef", "bor", "ef_recall", "bor_recall")},
    **{name: [".2,3,alpha=0.3"] for name in ("t", "t_code", "F", "Fe")},
}
CUT = {"P", "recall", "relative_P", "success", "ndcg_cut", "map_cut", "ndcg_exp", "ndcg_local"}
CUT |= {"map_min", "accuracy", "n_recall4", "n_recall5", "precision4", "harm", "harm_u", "full_hit"}
CUT |= {"recip_rank"}


def bounded_requests():
    for name, measure in all_measures().items():
        if measure.bounds.search != "none":
            for text in PARAMETERS.get(name, [".2,4"] if name in CUT else [""]):
                yield name + text


def collection(seed, runs):
    """Two queries, 3 to 4 of each run's documents unjudged; every level is judged somewhere."""
    rng = random.Random(seed)
    judged, ranked = {}, []
    for query in ("a", "b"):
        for document in "stuvwxyz"[: rng.randint(3, 8)]:
            judged[query, document] = rng.choice([0, 0, 1, 2, 3])
        judged[query, "never"] = 0
    judged["b", "unseen"] = rng.choice([0, 2])
    for level in range(4):  # the scale is what the qrels have
        judged["a", f"unseen{level}"] = level
    holes = {query: "0123"[: rng.randint(1, 3)] for query in ("a", "b")}
    for _ in range(runs):
        ranking = {}
        for query in ("a", "b"):
            known = [d for q, d in judged if q == query and len(d) == 1]
            shown = rng.sample(known, rng.randint(1, min(4, len(known)))) + list(holes[query])
            rng.shuffle(shown)
            ranking[query] = shown[: rng.randint(2, 6)]
        ranked.append(ranking)
    return judged, ranked


def write_qrels(path, judged):
    path.write_text("".join(f"{q} 0 {d} {level}\n" for (q, d), level in judged.items()))


def write_run(path, ranking):
    path.write_text(
        "".join(
            f"{q} Q0 {d} 0 {-rank} run\n"
            for q, documents in ranking.items()
            for rank, d in enumerate(documents)
        )
    )


def findings(folder, judged, ranked, requests, settings=SETTINGS):
    write_qrels(folder / "qrels", judged)
    for number, ranking in enumerate(ranked):
        write_run(folder / f"run{number}", ranking)
    values = find_values(requests)
    evaluator = Evaluator(str(folder / "qrels"), values, settings)
    hits = [
        evaluator.read(str(folder / f"run{number}"), depth_needed(values) or 10**6)
        for number in range(len(ranked))
    ]
    return find_bounds(evaluator.relevance.judgements, hits, evaluator.score(hits), settings)


def every_assignment(folder, judged, ranked, run, value):
    """Return the statistics of every assignment, per query, by evaluating a file that has them."""
    depth = value.measure.bounds.depth(value.arguments)
    qrels, ranking, names = {}, {}, {}
    levels = range(4)
    for query in ("a", "b"):
        retrieved = {d for other in ranked for d in other[query][:depth]}
        open_ = sorted(d for d in retrieved if (query, d) not in judged)
        for number, given in enumerate(itertools.product(levels, repeat=len(open_))):
            name = f"{query}{number}"
            names.setdefault(query, []).append(name.encode())
            qrels |= {(name, d): level for (q, d), level in judged.items() if q == query}
            qrels |= {(name, d): level for d, level in zip(open_, given, strict=True)}
            ranking[name] = ranked[run][query]
    write_qrels(folder / "every", qrels)
    write_run(folder / "every.run", ranking)
    scores = Evaluator(str(folder / "every"), [value], SETTINGS).evaluate(str(folder / "every.run"))
    scores = scores.scores
    place = {query: row for row, query in enumerate(scores.queries)}
    return [scores.statistics[0][[place[name] for name in names[query]]] for query in ("a", "b")]


def extremes(aggregate, per_query):
    """Return the least and greatest value of each query, and of every pair of assignments."""
    with np.errstate(divide="ignore", invalid="ignore"):
        singles = [aggregate.value(rows) for rows in per_query]
        first, second = (rows[:, None] for rows in per_query)
        pairs = np.stack(np.broadcast_arrays(first, second.swapaxes(0, 1)), axis=2)
        known = ~np.isnan(pairs).any(axis=3)
        sums = np.where(known[..., None], pairs, 0.0).sum(axis=2)
        whole = aggregate.summary(sums, known.sum(axis=2))
    found = [*singles, whole.ravel()]
    found = [values[~np.isnan(values)] for values in found]
    return [(v.min(), v.max()) if len(v) else (np.nan, np.nan) for v in found]


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("request_", list(bounded_requests()))
def test_bounds_are_the_extremes_of_all_assignments(tmp_path, request_, runs):
    tried = 0
    for seed in range(6):
        judged, ranked = collection(seed, runs)
        found = findings(tmp_path, judged, ranked, [request_])
        for one in found.bounded:
            per_query = every_assignment(tmp_path, judged, ranked, one.run, one.value)
            expected = extremes(one.value.measure.aggregate, per_query)
            actual = [
                *zip(one.each_low.tolist(), one.each_high.tolist(), strict=True),
                (one.low, one.high),
            ]
            np.testing.assert_allclose(
                actual, expected, rtol=1e-9, atol=1e-12, err_msg=f"{one.value.name} seed {seed}"
            )
            tried += 1
    assert tried or (runs == 2 and request_.startswith("Rprec"))
