"""The search for bounds against a slow obvious one, assignment by assignment."""

import random

import numpy as np
import pytest

from ragkpi import interface as progress
from ragkpi.bounds import bounds, search
from ragkpi.bounds.bounds import depth_needed, find_bounds
from ragkpi.library.session import Session
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.holes.answer import candidates
from ragkpi.ranking.judged import Settings
from tests.questions.test_holes import bounded_requests, write_qrels, write_run
from tests.slow_reference import assignments as slow
from tests.tries import TRIES, seeds

MORE = ["map_cut.30", "recip_rank.7", "bor.12,m=3", "P.40", "recall.25", "ndcg_cut.30"]
MORE += ["ndcg_exp.20", "map_min.15", "Fe.9", "accuracy.11"]


def made(seed, runs):
    """Five queries with rankings of up to 40 documents, from nearly all judged to nearly none."""
    rng = random.Random(seed)
    judged, ranked = {}, [{} for _ in range(runs)]
    for query in "abcde":
        pool = [f"{query}{number}" for number in range(50)]
        share = rng.choice([0.05, 0.3, 0.9])
        for document in pool:
            if rng.random() < share:
                judged[query, document] = rng.choice([-1, 0, 0, 1, 2, 3])
        judged[query, "never_retrieved"] = rng.choice([0, 2])
        for ranking in ranked:
            ranking[query] = rng.sample(pool, rng.randint(1, 40))
    for level in range(4):
        judged["a", f"unseen{level}"] = level
    return judged, ranked


def answers(folder, judged, ranked, metrics, within, **chosen):
    settings = Settings(corpus_size=300, **chosen)
    write_qrels(folder / "qrels", judged)
    paths = [str(folder / f"run{number}") for number in range(len(ranked))]
    for path, ranking in zip(paths, ranked, strict=True):
        write_run(folder / path, ranking)
    session = Session(str(folder / "qrels"), settings)
    hits = session.read(
        {path: path for path in paths},
        session.needs(metrics, (within == "cutoff" and depth_needed(metrics)) or 10**6),
    )
    results = session.score(hits, metrics)
    bounds = find_bounds(session.judgements, list(results.values()), settings, within)
    return bounds, list(candidates(bounds))


def numbers(bounds):
    return [
        (b.metric.name, b.run, b.low, b.high, *b.each_low.tolist(), *b.each_high.tolist())
        for b in bounds.bounded
    ]


WAYS = [
    (1, "retrieved", {}),
    (2, "retrieved", {}),
    (2, "cutoff", {"relevance_level": 2}),
    (1, "retrieved", {"max_retrieved": 13, "relevance_level": 0}),
]
REQUESTS = [name for name in [*bounded_requests(), *MORE] if not name.startswith("ra_nwg")]


# Each measure in two of these ways, in turn; in all of them where there is time.
@pytest.mark.parametrize(
    ("request_", "runs", "within", "chosen"),
    [
        (request, *way)
        for turn, request in enumerate(REQUESTS)
        for way in (WAYS if TRIES > 1 else WAYS[turn % 2 :: 2])
    ],
)
def test_the_search_is_the_slow_one(tmp_path, monkeypatch, request_, runs, within, chosen):
    for seed in seeds(1):
        judged, ranked = made(seed, runs)
        metrics = find_metrics([request_])
        quick = answers(tmp_path, judged, ranked, metrics, within, **chosen)
        with monkeypatch.context() as instead:
            instead.setattr(bounds, "candidates_of", slow.candidates_of)
            instead.setattr(
                f"{candidates.__module__}.spread_if_own_judged", slow.spread_if_own_judged
            )
            obvious = answers(tmp_path, judged, ranked, metrics, within, **chosen)
        for fast, true in zip(numbers(quick[0]), numbers(obvious[0]), strict=True):
            assert fast[:2] == true[:2]
            np.testing.assert_allclose(fast[2:], true[2:], rtol=1e-12, atol=1e-12)
        assert [(s.better, s.worse, s.certain) for s in quick[0].swaps] == [
            (s.better, s.worse, s.certain) for s in obvious[0].swaps
        ]
        shares = [
            {(c.query, c.document): c.share for c in listed} for _, listed in (quick, obvious)
        ]
        assert shares[0].keys() == shares[1].keys()
        for hole, share in shares[1].items():
            assert shares[0][hole] == pytest.approx(share, rel=1e-9, abs=1e-12)


def test_holes_are_the_unjudged_documents(tmp_path):
    """Against sets of ids, with documents that several runs have and queries that some lack."""
    judged, ranked = made(11, 3)
    del ranked[1]["b"], ranked[2]["a"], ranked[2]["e"]
    expected = {
        (query, document)
        for ranking in ranked
        for query, documents in ranking.items()
        for document in documents
        if judged.get((query, document), -1) < 0
    }
    metrics = find_metrics(["recall.5"])
    bounds, _ = answers(tmp_path, judged, ranked, metrics, "retrieved")
    holes = bounds.holes
    names = holes.document.tolist()
    queries = [holes.judgements.queries[query] for query in holes.query]
    assert len(holes) == len(expected)
    assert {(q.decode(), n.decode()) for q, n in zip(queries, names, strict=True)} == expected
    for of_run, ranking in zip(holes.of_runs, ranked, strict=True):
        ranks = dict(zip(of_run.number.tolist(), of_run.rank.tolist(), strict=True))
        for number, (query, name) in enumerate(zip(queries, names, strict=True)):
            documents = [None, *ranking.get(query.decode(), [])]
            assert documents[ranks.get(number, 0)] in (None, name.decode())
            assert (number in ranks) == (name.decode() in documents)


def test_one_measure_says_how_much_of_it_is_done(tmp_path, monkeypatch):
    """A single measure may take minutes; its share only rises."""
    judged, ranked = made(5, 1)
    shares = []

    def watched(*given):
        shares.append((progress.present()[0].label, progress.share(progress.present())))
        return count(*given)

    count = search.score
    monkeypatch.setattr(search, "score", watched)
    monkeypatch.setattr(bounds, "CELLS_AT_ONCE", 1)
    answers(tmp_path, judged, ranked, find_metrics(["map"]), "retrieved")
    for phase in ("bounds", "documents to judge"):
        of_phase = [share for label, share in shares if label == phase and share is not None]
        assert len(set(of_phase)) > 3
        assert of_phase == sorted(of_phase)


@pytest.mark.parametrize(
    ("request_", "missing"),
    [
        *(("P.5", "zero"), ("map", "intersection"), ("ndcg_cut.10", "zero")),
        *(("bor.9,m=2", "intersection"), ("n_recall4.3", "intersection"), ("gm_map", "zero")),
    ],
)
def test_queries_are_opened_some_at_a_time(tmp_path, monkeypatch, request_, missing):
    """A hundred thousand queries are; some of these five are in one run alone, or in none."""
    for seed in seeds(2):
        judged, ranked = made(seed, 3)
        del ranked[0]["e"], ranked[1]["e"], ranked[2]["e"], ranked[1]["b"]
        metrics = find_metrics([request_])
        whole = answers(tmp_path, judged, ranked, metrics, "retrieved", missing=missing)
        with monkeypatch.context() as instead:
            instead.setattr(bounds, "CELLS_AT_ONCE", 1)
            parts = answers(tmp_path, judged, ranked, metrics, "retrieved", missing=missing)
        for part, of_whole in zip(numbers(parts[0]), numbers(whole[0]), strict=True):
            assert part[1:] == pytest.approx(of_whole[1:], nan_ok=True)
        assert parts[0].swaps == whole[0].swaps
        documents = [[(c.query, c.document) for c in listed] for _, listed in (parts, whole)]
        assert documents[0] == documents[1]
        shares = [[c.share for c in listed] for _, listed in (parts, whole)]
        assert shares[0] == pytest.approx(shares[1])


def test_a_run_wins_by_holes_of_its_own_queries_alone(tmp_path):
    """Both have the holes of b, and the better one is ahead by what is judged in a."""
    judged = {("a", "good"): 1, ("a", "bad"): 0, ("b", "fine"): 1}
    ranked = [
        {"a": ["good", "bad"], "b": ["fine", "one", "two"]},
        {"a": ["bad"], "b": ["fine", "one", "two"]},
    ]
    (swap,) = answers(tmp_path, judged, ranked, find_metrics(["P.5"]), "retrieved")[0].swaps
    assert (swap.better, swap.worse, swap.certain) == (0, 1, False)
