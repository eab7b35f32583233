"""Bounds against every assignment: each assignment becomes a query of its own, judged as usual."""

import itertools
import math
import random
from pathlib import Path

import numpy as np
import pytest

import ragkpi
from ragkpi.bounds.bounds import depth_needed, find_bounds, refusal
from ragkpi.errors import UsageError
from ragkpi.library.session import Session
from ragkpi.measures.registry import all_measures, find_metrics
from ragkpi.questions.holes.answer import candidates
from ragkpi.ranking.judged import Settings
from tests.tries import seeds

FIXTURES = Path(__file__).parents[1] / "helpdesk"
SETTINGS = Settings(corpus_size=60)
PARAMETERS = {
    "utility": ["", ".1,-2,3,0.1"],
    "dcg": ["", ".2,4"],
    "ra_nwg": [".2,4"],
    **{name: [".1,3"] for name in ("p_obs", "ef", "bor", "ef_recall", "bor_recall")},
    **{name: [".2,3,alpha=0.3"] for name in ("t", "t_code", "F", "Fe")},
}
CUT = {"P", "recall", "relative_P", "success", "ndcg_cut", "map_cut", "ndcg_exp"}
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
        levels = rng.choice([[0, 0, 1, 2, 3], [0] * 9 + [2]])  # b may have no relevant document
        for document in "stuvwxyz"[: rng.randint(3, 8)]:
            judged[query, document] = rng.choice(levels)
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


def findings(folder, judged, ranked, requests, settings=SETTINGS, within="retrieved"):
    write_qrels(folder / "qrels", judged)
    for number, ranking in enumerate(ranked):
        write_run(folder / f"run{number}", ranking)
    metrics = find_metrics(requests)
    session = Session(str(folder / "qrels"), settings)
    wanted = session.needs(metrics, (within == "cutoff" and depth_needed(metrics)) or 10**6)
    paths = {name: str(folder / name) for name in (f"run{n}" for n in range(len(ranked)))}
    hits = session.read(paths, wanted)
    results = session.score(hits, metrics)
    return find_bounds(session.judgements, list(results.values()), settings, within)


def every_assignment(folder, judged, ranked, run, metric, within):
    """Return the statistics of every assignment, per query, by evaluating a file that has them."""
    depth = metric.depth if within == "cutoff" else None
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
    session = Session(str(folder / "every"), SETTINGS)
    scores = session.evaluate_one(str(folder / "every.run"), [metric]).scores
    place = {query: row for row, query in enumerate(scores.queries)}
    return [
        scores.columns[0].statistics[[place[name] for name in names[query]]] for query in ("a", "b")
    ]


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
    found = [metrics[~np.isnan(metrics)] for metrics in found]
    return [(v.min(), v.max()) if len(v) else (np.nan, np.nan) for v in found]


@pytest.mark.parametrize(("runs", "within"), [(1, "cutoff"), (1, "retrieved"), (2, "retrieved")])
@pytest.mark.parametrize("request_", list(bounded_requests()))
def test_bounds_are_the_extremes_of_all_assignments(tmp_path, request_, runs, within):
    tried = 0
    for seed in seeds(3):
        judged, ranked = collection(seed, runs)
        found = findings(tmp_path, judged, ranked, [request_], within=within)
        for one in found.bounded:
            per_query = every_assignment(tmp_path, judged, ranked, one.run, one.metric, within)
            expected = extremes(one.metric.measure.aggregate, per_query)
            actual = [
                *zip(one.each_low.tolist(), one.each_high.tolist(), strict=True),
                (one.low, one.high),
            ]
            np.testing.assert_allclose(
                actual, expected, rtol=1e-9, atol=1e-12, err_msg=f"{one.metric.name} seed {seed}"
            )
            tried += 1
    assert tried


def judged_part(folder, seed, names, hidden):
    """Keep the judged documents of fixture runs; hide the levels of a share of them."""
    rng = random.Random(seed)
    lines = [line.split() for line in (FIXTURES / "qrels.txt").read_text().splitlines()]
    truth = {(query, document): level for query, _, document, level in lines}
    ranked, retrieved = [], set()
    for name in names:
        ranking = {}
        for line in (FIXTURES / name).read_text().splitlines():
            query, _, document, *_ = line.split()
            if (query, document) in truth:
                ranking.setdefault(query, []).append(document)
                retrieved.add((query, document))
        ranked.append(ranking)
    hides = {pair for pair in sorted(retrieved) if rng.random() < hidden}
    return truth, {pair: level for pair, level in truth.items() if pair not in hides}, ranked


@pytest.mark.parametrize("revealed", [1.0, 0.5])
@pytest.mark.parametrize("names", [["reranked.run"], ["dense.run", "first_stage.run"]])
@pytest.mark.parametrize("seed", seeds(2))
def test_hidden_judgements_do_not_leave_the_bounds(tmp_path, seed, names, revealed):
    truth, known, ranked = judged_part(tmp_path, seed, names, hidden=0.3)
    requests = [r for r in bounded_requests() if not r.startswith("ra_nwg")] + ["ra_nwg.2"]
    settings = Settings(corpus_size=5000, missing="zero")
    found = findings(tmp_path, known, ranked, requests, settings)
    rng = random.Random(seed)
    shown = {
        pair: level for pair, level in truth.items() if pair in known or rng.random() < revealed
    }
    revealing = findings(tmp_path, shown, ranked, requests, settings)
    true = {(one.metric.name, one.run): one for one in revealing.bounded}
    assert len(found.bounded) > 30 * len(names)
    for one in found.bounded:
        now = true[one.metric.name, one.run]
        inside(now.now, one.low, one.high, one.metric.name)
        with np.errstate(invalid="ignore"):
            for triple in zip(now.each_now, one.each_low, one.each_high, strict=True):
                inside(*triple, one.metric.name)


def inside(value, low, high, name):
    assert np.isnan(value) or low - 1e-9 <= value <= high + 1e-9, (name, value, low, high)


def one_query(folder, judged, *runs, requests=("P.2",), **chosen):
    judged = {("a", document): level for document, level in judged.items()}
    return findings(folder, judged, [{"a": list(run)} for run in runs], requests, **chosen)


def test_a_relevant_document_far_down_lowers_average_precision(tmp_path):
    """Worthless is not the worst: R grows by what is found at rank 4, precision hardly."""
    one = one_query(tmp_path, {"x": 1, "y": 0, "z": 0}, "xyz0", requests=["map"]).bounded[0]
    assert (one.now, one.low, one.high) == (1.0, 0.75, 1.0)


def test_documents_of_other_runs_are_holes_too(tmp_path):
    alone = one_query(tmp_path, {"x": 1, "y": 0}, "xy", requests=["recall.2"])
    beside = one_query(tmp_path, {"x": 1, "y": 0}, "xy", "01", requests=["recall.2"])
    assert (alone.bounded[0].low, alone.bounded[0].high) == (1.0, 1.0)
    assert (beside.bounded[0].low, beside.bounded[0].high) == (pytest.approx(1 / 3), 1.0)


def test_only_the_depth_that_counts_has_holes(tmp_path):
    requests = ["recall.2", "recall.3"]
    found = one_query(tmp_path, {"x": 1, "y": 0}, "xy0", requests=requests, within="cutoff")
    assert [one.low for one in found.bounded] == [1.0, 1.0]
    found = one_query(tmp_path, {"x": 1, "y": 0}, "xy0", requests=requests, within="retrieved")
    assert [one.low for one in found.bounded] == [0.5, 1.0]
    assert [found.holes.within(depth).sum() for depth in (2, 3, None)] == [0, 1, 1]
    assert found.judged == {2: [1.0], 3: [pytest.approx(2 / 3)]}


def test_a_query_without_holes_beside_one_with_several(tmp_path):
    """The first has more relevant documents than the cutoff, the second nothing but holes."""
    judged = {("a", document): 1 for document in "wxyz"} | {("b", "x"): 0}
    ranked = [{"a": list("wx"), "b": list("01")}]
    (one,) = findings(tmp_path, judged, ranked, ["ndcg_cut.2"], within="cutoff").bounded
    assert one.each_low.tolist() == [1.0, 0.0]
    assert one.each_high.tolist() == [1.0, 1.0]


def test_negative_levels_are_holes(tmp_path):
    one = one_query(tmp_path, {"x": 1, "y": -1}, "xy").bounded[0]
    assert (one.now, one.low, one.high) == (0.5, 0.5, 1.0)


def test_max_retrieved_cuts_holes(tmp_path):
    settings = Settings(max_retrieved=1)
    one = one_query(tmp_path, {"x": 1}, "x0", settings=settings).bounded[0]
    assert (one.low, one.high) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("runs", "certain"),
    [
        (["x0", "12"], [True]),  # 1 and 2 relevant, 0 worthless
        (["xy", "yz"], []),  # all judged
        (["x0", "0y"], []),  # the same hole serves both alike
    ],
)
def test_runs_that_could_change_places(tmp_path, runs, certain):
    found = one_query(tmp_path, {"x": 1, "y": 0, "z": 0}, *runs)
    assert [swap.certain for swap in found.swaps if swap.certain] == certain
    assert all((swap.better, swap.worse) == (0, 1) for swap in found.swaps)


def test_runs_whose_sums_round_apart_are_equal(tmp_path):
    """P_10 is 0.1, 0.2 and 0.3, and 0.3, 0.2 and 0.1; a hole of each run puts it ahead."""
    judged = {(query, document): 1 for query in "abc" for document in "xyz"}
    ranked = [
        {"a": ["x", "0"], "b": ["x", "y"], "c": ["x", "y", "z"]},
        {"a": ["x", "y", "z", "1"], "b": ["x", "y"], "c": ["x"]},
    ]
    found = findings(tmp_path, judged, ranked, ["P.10"])
    first, second = found.bounded
    assert first.now != second.now
    swaps = {(swap.better, swap.worse, swap.certain) for swap in found.swaps}
    assert swaps == {(0, 1, True), (1, 0, True)}


def test_the_document_that_settles_most_is_judged_first(tmp_path):
    """Both runs have 0, one of them 1; with 0 known half of P_2 is settled in both."""
    write_qrels(tmp_path / "qrels", {("a", "x"): 1})
    write_run(tmp_path / "run0", {"a": ["0", "x"]})
    write_run(tmp_path / "run1", {"a": ["1", "0"]})
    metrics = find_metrics(["P.2"])
    session = Session(str(tmp_path / "qrels"), SETTINGS)
    runs = {name: str(tmp_path / name) for name in ("run0", "run1")}
    hits = session.read(runs, session.needs(metrics, depth=2))
    results = session.score(hits, metrics)
    found = find_bounds(session.judgements, list(results.values()), SETTINGS)
    listed = candidates(found)
    assert [(c.document, c.rank) for c in listed] == [(b"0", 1), (b"1", 1)]
    # Spreads: 1/2 in the first run, 1 in the second. 0 takes 1/2 off both, 1 takes 1/2 off one.
    assert [c.share for c in listed] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


@pytest.mark.parametrize("requests", [["recall.10"], ["ndcg_cut.10"], ["ndcg_cut.10", "P.10"]])
def test_the_best_ranks_are_judged_first(requests):
    """On TREC RAG 2024 the greatest promise first left wider bounds than plain order of ranks."""
    metrics = find_metrics(requests)
    session = Session("tests/helpdesk/qrels.txt", SETTINGS)
    runs = {name: f"tests/helpdesk/{name}.run" for name in ("dense", "reranked")}
    hits = session.read(runs, session.needs(metrics, depth=50))
    results = session.score(hits, metrics)
    bounds = find_bounds(session.judgements, list(results.values()), SETTINGS)
    ranks = [candidate.rank for candidate in candidates(bounds)]
    assert len(set(ranks)) > 3
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ("bpref", "does not treat unjudged"),
        ("unj.5", "counts the unjudged"),
        ("proc.5", "pool"),
        ("bor_max.5", "random baseline"),
        ("num_ret", "do not change"),
        ("ndcg.1=-1", "these parameters"),
        ("set_F.3", "these parameters"),
        ("bor.3,m=2", "these parameters"),
        ("rbp", "rbp_resid"),
        ("ra_nwg.2,cap4=2", "these parameters"),
        ("ra_nwg.2,fallback3=0", "these parameters"),
        ("G", "proven"),
        ("iprec_at_recall", "thousands of times"),
        ("Rprec", "thousands of times"),
        ("Rprec_mult.0.4", "thousands of times"),
    ],
)
def test_what_has_no_bounds_says_why(request_, reason):
    assert reason in refusal(find_metrics([request_])[0])


@pytest.mark.parametrize("runs", [1, 2])
@pytest.mark.parametrize("request_", PARAMETERS["ra_nwg"])
def test_bounds_that_are_not_exact_are_wider(tmp_path, monkeypatch, request_, runs):
    monkeypatch.setattr("ragkpi.bounds.search.MOST_COUNTS", -1)
    widths = []
    for seed in range(12):
        judged, ranked = collection(seed, runs)
        for one in findings(tmp_path, judged, ranked, ["ra_nwg" + request_]).bounded:
            per_query = every_assignment(tmp_path, judged, ranked, one.run, one.metric, "retrieved")
            *each, (low, high) = extremes(one.metric.measure.aggregate, per_query)
            for least, greatest in each:
                assert np.isnan(least) or least <= greatest
            assert not one.exact
            inside(low, one.low, one.high, one.metric.name)
            inside(high, one.low, one.high, one.metric.name)
            for bounds, wide in zip(
                each, zip(one.each_low, one.each_high, strict=True), strict=True
            ):
                inside(bounds[0], *wide, one.metric.name)
                inside(bounds[1], *wide, one.metric.name)
            widths.append((high - low) / max(one.high - one.low, 1e-9))
    assert np.nanmean(widths) > 0.5  # not so wide that they say nothing


def corpus_of_20(size, *runs):
    """Bound bor_5 of runs in a corpus of 20 documents, of which 10 are judged and 5 relevant."""
    qrels = {"q": {f"d{number}": int(number % 4 == 0) for number in range(0, 20, 2)}}
    first = {f"d{number}": 20.0 - number for number in range(20)}
    given = {"first": {"q": first}, **{name: {"q": run} for name, run in runs}}
    return ragkpi.holes(qrels, given, ["bor.5"], corpus_size=size)


def test_a_run_may_retrieve_the_whole_corpus():
    """N is 20, and so many are judged or retrieved; bor is -log2(1 - C(20-R, 5) / C(20, 5))."""
    row = corpus_of_20(20).rows[0]
    least, greatest = (
        -math.log2(1 - math.comb(20 - of_all, 5) / math.comb(20, 5)) for of_all in (15, 5)
    )
    assert (row["min"], row["max"]) == (pytest.approx(least), pytest.approx(greatest))


def test_two_runs_may_retrieve_the_same_whole_corpus():
    backwards = {f"d{number}": float(number) for number in range(19, -1, -1)}
    rows = corpus_of_20(20, ("backwards", backwards)).rows
    assert rows[0]["value"] == pytest.approx(-math.log2(1 - math.comb(15, 5) / math.comb(20, 5)))
    assert len(rows) == 2


@pytest.mark.filterwarnings("ignore:none of the 20 documents")
def test_runs_that_together_exceed_the_corpus_are_refused():
    """Each alone is possible, and all of their documents cannot be relevant among 39."""
    elsewhere = {f"e{number}": 20.0 - number for number in range(20)}
    with pytest.raises(UsageError, match=r"40 documents .*size is 39"):
        corpus_of_20(39, ("elsewhere", elsewhere))
    assert corpus_of_20(40, ("elsewhere", elsewhere)).rows


def test_without_holes_nothing_is_drawn(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run").write_text("q Q0 a 1 1 r\n")
    outcome = ragkpi("holes", "--plot", "holes.svg", "qrels", "run", folder=tmp_path)
    assert outcome.status == 0
    assert b"no chart to draw" in outcome.err
    assert not (tmp_path / "holes.svg").exists()
