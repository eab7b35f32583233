"""Pools and corpus sizes from files, against `Judged` made by hand from dictionaries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.errors import DataError, InputError, UsageError
from ragkpi.files.query_files import read_corpus_sizes
from ragkpi.library.session import Session
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judge import count_documents
from ragkpi.ranking.judged import Settings
from ragkpi.ranking.reading import RunParts
from tests.measures import by_hand
from tests.ranking.cases import hits_of, judgements_of

QUERIES = ("a", "b", "c")
DOCS = [f"d{i}" for i in range(8)]
REQUESTS = ("pool_miss.2,5", "proc.3", "pct_proc.3", "proc_n_recall4.2")
JUDGEMENTS = st.fixed_dictionaries(
    {q: st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), min_size=1) for q in QUERIES}
)
RANKINGS = st.fixed_dictionaries(
    {
        q: st.dictionaries(st.sampled_from([*DOCS, "x", "y", "z"]), st.integers(0, 3), min_size=1)
        for q in QUERIES
    }
)
DEPTHS = st.none() | st.integers(1, 6)


def write(path, pattern, rows):
    path.write_text(
        "".join(pattern.format(q, doc, n) for q, docs in rows.items() for doc, n in docs.items())
    )
    return str(path)


@given(JUDGEMENTS, st.lists(RANKINGS, min_size=1, max_size=3))
def test_documents_are_counted_once(qrels, runs):
    documents = {doc for rows in (qrels, *runs) for docs in rows.values() for doc in docs}
    hits = [
        hits_of(encoded(run), judgements_of(encoded(qrels)), RunParts("counted")) for run in runs
    ]
    assert count_documents(judgements_of(encoded(qrels)), hits) == len(documents)


def encoded(rows):
    return {q.encode(): {doc.encode(): n for doc, n in docs.items()} for q, docs in rows.items()}


def files(folder, qrels, **runs):
    """Write qrels and runs; return their paths."""
    paths = [write(folder / "qrels", "{} 0 {} {}\n", qrels)]
    return [*paths, *(write(folder / n, "{} Q0 {} 0 {} t\n", run) for n, run in runs.items())]


def first(docs, depth):
    """Keep the top of a ranking."""
    return {doc: docs[doc] for doc in by_hand.ranking(docs)[:depth]}


@given(JUDGEMENTS, RANKINGS, RANKINGS, DEPTHS, DEPTHS, st.sampled_from(["kept", "removed"]))
def test_pool_measures_from_files(tmp_path_factory, qrels, run, pool, most, pool_depth, unjudged):
    paths = files(tmp_path_factory.mktemp("pool"), qrels, run=run, pool=pool)
    settings = Settings(max_retrieved=most, pool_depth=pool_depth, unjudged=unjudged)
    session = Session(paths[0], settings, pool=paths[2])
    found = by_hand.lines_of(session.evaluate_one(paths[1], find_metrics(REQUESTS)).scores)

    seen = {q: first(docs, most) for q, docs in run.items()}
    if unjudged == "removed":
        seen = {
            q: {doc: score for doc, score in docs.items() if qrels[q].get(doc, -1) >= 0}
            for q, docs in seen.items()
        }
    judged = by_hand.judge(qrels, seen, pool={q: first(pool[q], pool_depth) for q in QUERIES})
    expected = by_hand.lines(judged, *REQUESTS)
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=1e-12, nan_ok=True)


def test_without_a_size_the_corpus_is_what_was_seen(tmp_path):
    qrels = {"a": {"d1": 1, "d2": 0}, "b": {"d1": 1}}
    paths = files(tmp_path, qrels, one={"a": {"d1": 2, "x": 1}}, other={"b": {"y": 1, "d2": 0}})
    session, metrics = Session(paths[0], Settings()), find_metrics(["p_rand.1"])
    alone = session.evaluate_one(paths[1], metrics)
    assert by_hand.lines_of(alone.scores)["p_rand_1"]["a"] == pytest.approx(1 / 3)
    assert "N = 3" in alone.notes[-1]
    assert "RAGKPI_CORPUS_SIZE" in alone.notes[-1]
    runs = {"a": paths[1], "b": paths[2]}
    both = session.score(session.read(runs, session.needs(metrics)), metrics)
    assert by_hand.lines_of(both["a"].scores)["p_rand_1"]["a"] == pytest.approx(1 / 4)
    assert by_hand.lines_of(both["b"].scores)["p_rand_1"]["b"] == pytest.approx(1 / 4)


def test_sizes_of_single_queries(tmp_path):
    qrels = {"a": {"d1": 1}, "b": {"d1": 1}}
    paths = files(tmp_path, qrels, run={"a": {"d1": 1}, "b": {"d1": 1}})
    (tmp_path / "sizes").write_text("a 10\n")
    sizes = read_corpus_sizes(str(tmp_path / "sizes"))
    values = find_metrics(["p_rand.1"])
    settings = Settings(corpus_size=100, corpus_sizes=sizes)
    found = by_hand.lines_of(Session(paths[0], settings).evaluate_one(paths[1], values).scores)
    assert found["p_rand_1"]["a"] == pytest.approx(1 / 10)
    assert found["p_rand_1"]["b"] == pytest.approx(1 / 100)
    with pytest.raises(UsageError, match="no line for query b"):
        Session(paths[0], Settings(corpus_sizes=sizes)).evaluate_one(paths[1], values)


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("a 0\n", InputError, r"sizes:1: size '0'; expected a whole number from 1"),
        ("a 5\nb 1.5\n", InputError, r"sizes:2: size '1.5'; expected"),
        ("a 5 6\n", InputError, r"sizes:1: "),
        ("a 5\n\na 6\n", DataError, r"sizes:3: query 'a' again; expected one size per query"),
    ],
)
def test_bad_sizes_are_refused(tmp_path, text, error, said):
    path = tmp_path / "sizes"
    path.write_text(text)
    with pytest.raises(error, match=said):
        read_corpus_sizes(str(path))


def test_a_query_without_a_pool_is_told(tmp_path):
    qrels = {"a": {"d1": 1}, "b": {"d1": 1}}
    paths = files(tmp_path, qrels, run={"a": {"d1": 1}, "b": {"d1": 1}}, pool={"a": {"d1": 1}})
    session = Session(paths[0], Settings(), pool=paths[2])
    result = session.evaluate_one(paths[1], find_metrics(["proc.1"]))
    assert any("missing from the pool (b)" in note for note in result.notes)
