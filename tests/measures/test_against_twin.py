"""Every measure against the twin's loops: the same doubles, bit for bit."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkpi.measures import incomplete
from ragkpi.measures.measure import score
from ragkpi.measures.registry import TREC_MEASURES, find_metrics
from ragkpi.ranking.judged import Settings
from tests.slow_reference.measures import MEASURES
from tests.slow_reference.ranking import judged_of, topics
from tests.tries import TRIES

REQUESTS = find_metrics(
    [
        *("all_trec", "yaap", "dcg", "ideal_dcg"),
        *("P.1,2,3,7,1000000", "recall.1,4", "relative_P.2,9", "success.1,2", "unj.1,3,50"),
        *("recip_rank", "recip_rank.1,3", "map_cut.1,6", "ndcg_cut.1,2,3,7"),
        *("iprec_at_recall.-.5,0,.05,.25,.333,.5,1,1.5,1e300", "11pt_avg", "11pt_avg.0,.5,1"),
        *("11pt_avg..75,.25,.5,0,1.2", "11pt_avg.1.5,.3,1,-1,.5,.5", "Rprec_mult.-1,0,.3,1,7"),
        *("relstring.0", "relstring.3", "utility.1,2,3,.1", "set_F.0", "set_F.4"),
        *("ndcg.1=.3,2=.7,3=2.5", "ndcg_rel.0=.25,1=1.5,2=-2", "Rndcg.0=.25,1=1.5,2=1.5,9=.1"),
        *("G.0=.1,1=1.3,2=2.7", "G.1=-3", "dcg.4=.1", "ideal_dcg.0=.7", "Rndcg.1=0,2=0"),
        "dcg.1,3,4=.1",
        *("rbp.p=.5,2=.4", "rbp.p=.99,0=-1,3=2", "rbp.1=.5,2=.7", "rbp.p=0", "rbp.p=1"),
        *("rbp_resid.p=.5", "rbp_resid.p=.999", "rbp_resid.p=0", "rbp_resid.p=-.7"),
    ]
)
NUMERIC = [metric for metric in REQUESTS if metric.measure.name != "runid"]

DOCUMENTS = [b"d%d" % number for number in range(12)]
judgements = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4) | st.just(12))
scored = st.dictionaries(st.sampled_from(DOCUMENTS), st.sampled_from([1.0, 2.0, 3.0, 3.5]))
queries = st.sampled_from([b"1", b"10", b"2", b"q"])
choices = st.builds(
    Settings,
    relevance_level=st.integers(0, 4),
    missing=st.sampled_from(["intersection", "zero"]),
    unjudged=st.sampled_from(["kept", "removed"]),
    max_retrieved=st.none() | st.sampled_from([0, 1, 3, 100]),
    corpus_size=st.none() | st.just(1000),
    corpus_sizes=st.sampled_from([{}, {b"10": 77, b"other": 5}]),
)


def assert_alike(qrels, run, evaluation, metrics=NUMERIC):
    evaluated = topics(qrels, run, evaluation)
    scores = score(judged_of(qrels, run, evaluation), metrics)
    for metric in metrics:
        slow = [MEASURES[metric.measure.name](topic, **metric.arguments) for topic in evaluated]
        assert scores[metric.name].per_query.tolist() == slow, metric.name


def random_case(seed, num_queries, judged, retrieved, corpus=400):
    """Rankings and judgements of documents drawn from the same corpus, some levels rare."""
    draw = random.Random(seed)
    documents = [b"%05d" % number for number in range(corpus)]
    levels = [-2, -1, 0, 0, 0, 1, 1, 2, 3, 7]
    qrels, run = {}, {}
    for query in range(num_queries):
        chosen = draw.sample(documents, judged)
        qrels[b"%d" % query] = {document: draw.choice(levels) for document in chosen}
        depth = draw.randrange(1, retrieved + 1)
        ranked = draw.sample(documents, depth)
        run[b"%d" % query] = {document: float(-rank) for rank, document in enumerate(ranked)}
    return qrels, run


def test_the_twin_has_every_measure():
    names = set(TREC_MEASURES)
    assert names - {"runid"} == set(MEASURES)
    assert names == {metric.measure.name for metric in REQUESTS}


@settings(max_examples=100 * TRIES)
@given(
    st.dictionaries(queries, judgements.filter(len), min_size=1),
    st.dictionaries(queries, scored),
    choices,
)
def test_small_rankings(qrels, run, evaluation):
    assert_alike(qrels, run, evaluation)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("unjudged", ["kept", "removed"])
def test_longer_rankings(seed, unjudged):
    qrels, run = random_case(seed, num_queries=8, judged=120, retrieved=300)
    assert_alike(qrels, run, Settings(relevance_level=1 + seed % 2, unjudged=unjudged))


def test_fractional_gains_deep_down():
    qrels, run = random_case(1, num_queries=40, judged=6, retrieved=2000, corpus=2000)
    metrics = find_metrics(["G.0=.1,1=1.1,2=1.3,3=2.7,7=3.33", "ndcg_rel.1=.1", "Rndcg.1=.1,2=.7"])
    assert_alike(qrels, run, Settings(), metrics)


@pytest.mark.parametrize("rank", range(512, 532))
def test_gain_possible_is_rounded_at_every_rank(rank):
    # The sum that G discounts by grows by 1 per rank, and loses a bit at each power of two.
    run = {b"q": {b"a": 0.0, **{b"u%d" % above: 1.0 for above in range(rank - 1)}}}
    qrels = {b"q": {b"a": 1, b"b": 2}}
    assert_alike(qrels, run, Settings(), find_metrics(["G.1=1.872,2=.723"]))


@pytest.mark.parametrize("block", [1, 7, 50])
@pytest.mark.parametrize("p", [".9", ".5", "1", "0", "-.9", "1.1"])
def test_residuals_in_blocks_of_ranks(monkeypatch, block, p):
    monkeypatch.setattr(incomplete, "BLOCK", block)
    qrels, run = random_case(2, num_queries=5, judged=60, retrieved=200, corpus=200)
    # A query whose first unjudged document stands far down.
    run[b"deep"] = {b"%05d" % number: float(-number) for number in range(200)}
    qrels[b"deep"] = {b"%05d" % number: number % 3 for number in range(150)}
    assert_alike(qrels, run, Settings(), find_metrics([f"rbp_resid.p={p}", f"rbp.p={p}"]))


def test_weights_that_underflow():
    run = {b"q": {b"%05d" % number: float(-number) for number in range(9000)}}
    judged = {b"%05d" % number: 1 for number in range(8000)}
    assert_alike({b"q": judged}, run, Settings(), find_metrics(["rbp", "rbp_resid"]))


def test_levels_of_billions_need_no_room():
    qrels = {b"q": {b"a": 2_000_000_000, b"b": 1, b"c": 3}, b"r": {b"a": 0}}
    run = {b"q": {b"a": 1.0, b"b": 2.0}, b"r": {b"a": 1.0}}
    assert_alike(qrels, run, Settings())
    assert_alike(qrels, run, Settings(relevance_level=1_999_999_999))


def test_no_document_is_retrieved_at_all():
    qrels = {b"q": {b"a": 1}, b"r": {b"a": -1}}
    assert_alike(qrels, {}, Settings(missing="zero"))
