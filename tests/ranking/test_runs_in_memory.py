"""Hits of what is in memory, against those of the same run as rows of columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.errors import UsageError
from ragkpi.files.in_memory import qrels_columns, run_blocks
from ragkpi.ranking.judge import count_documents
from ragkpi.ranking.judgements import Judgements, group_judgements
from ragkpi.ranking.reading import JUDGED_ONLY, RunInMemory, RunParts, hits_of, run_for

pytestmark = pytest.mark.usefixtures("reader")
IDS = st.one_of(
    st.sampled_from(["d", "d1", "d10", "D1", "é", "\U0001f600", "\uffff", "\udcff", "d\0", ""]),
    st.text(max_size=3),
)
SCORES = st.one_of(
    st.sampled_from([0, -0.0, 1, 1.0, True, 2**60, 2**60 + 1, float("inf"), 0.5]), st.floats(-1, 1)
)
RUNS = st.dictionaries(
    st.sampled_from(["q", "q1", "é", "other"]), st.dictionaries(IDS, SCORES, max_size=9), min_size=1
)
QRELS = st.dictionaries(
    st.sampled_from(["q", "q1", "é"]),
    st.dictionaries(IDS, st.integers(-1, 3), min_size=1),
    min_size=1,
)


def judgements_of(qrels, ties):
    grouped = group_judgements(qrels_columns(qrels))
    return Judgements(
        *(getattr(grouped, name) for name in ("file", "queries", "starts", "document", "level")),
        grouped.index,
        ties,
    )


def facts(hits):
    """What `Hits` says, whatever the order."""
    return (
        hits.queries,
        hits.query.tolist(),
        hits.num_ret.tolist(),
        sorted(zip(hits.judgement.tolist(), hits.rank.tolist(), strict=True)),
        hits.run_id,
    )


def hits_of_columns(run, judgements):
    rows = run_for(judgements, JUDGED_ONLY, held=False)
    for part in run_blocks(run):
        rows.add(part.query.column, part.starts, part.document.column, part.score, part.line)
    return hits_of(judgements, rows, rows.finish(), b"run")


@given(qrels=QRELS, run=RUNS, ties=st.sampled_from(["descending", "ascending"]))
def test_a_mapping_has_the_hits_of_its_columns(qrels, run, ties):
    judgements = judgements_of(qrels, ties)
    if not any(run.values()):
        with pytest.raises(UsageError):
            RunInMemory(run).hits(judgements)
        return
    assert facts(RunInMemory(run).hits(judgements)) == facts(hits_of_columns(run, judgements))


@given(qrels=QRELS, run=RUNS, data=st.data())
def test_rows_have_the_hits_of_the_mapping_whatever_their_order(qrels, run, data):
    rows = [(q, d, score) for q, documents in run.items() for d, score in documents.items()]
    if not rows:
        return
    judgements = judgements_of(qrels, "descending")
    rows = data.draw(st.permutations(rows))
    found = facts(RunInMemory(rows).hits(judgements))
    filled = {query: documents for query, documents in run.items() if documents}
    expected = facts(RunInMemory(filled).hits(judgements))  # rows say nothing of empty rankings
    assert found[3] == expected[3]
    assert sorted(zip(*found[:3], strict=True)) == sorted(zip(*expected[:3], strict=True))


@pytest.mark.parametrize(
    "run",
    [
        {"q": {1: 0.5}},
        {1: {"d": 0.5}},
        {"q": {b"d": 0.5}},
        {"q": {"d": None}},
        {"q": {"d": float("nan"), "e": 1}},
        {"q": [("d", 1)]},
        [("q", "d", 1)],
    ],
)
def test_what_is_not_plain_is_left_to_the_rows(run):
    judgements = judgements_of({"q": {"d": 1}}, "descending")
    assert not run_for(judgements, JUDGED_ONLY, held=False).mapping(run)


def test_counted_and_named_documents_are_those_of_the_columns():
    judgements = judgements_of({"q": {"d": 1}}, "descending")
    hits = RunInMemory({"q": {"e": 2.0, "d": 1.0}}).hits(judgements, RunParts("counted", 1))
    assert hits.top.document.tolist() == [b"e"]
    assert count_documents(judgements, [hits]) == 2


def test_one_query_by_two_keys_is_one_query():
    run = {"1": {"a": 1.0}, "2": {"b": 1.0}, 1: {"c": 2.0}}
    judgements = judgements_of({"1": {"a": 1, "c": 1}, "2": {"b": 1}}, "descending")
    hits = RunInMemory(run).hits(judgements, RunParts(depth=9))
    assert hits.queries == [b"1", b"2"]
    assert hits.num_ret.tolist() == [2, 1]
    assert hits.top.document.tolist() == [b"c", b"a", b"b"]


class Lazy:
    columns = ("query_id", "doc_id", "score")

    def collect(self):
        raise AssertionError("nobody asked for it")


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (Lazy(), "the run given is Lazy; expected a path, {query: {document: number}}, rows"),
        ([Lazy()], "expected a row (query, document, number)"),
        ([("q", "d", 1.0), ("q", "e")], "the run given contains ('q', 'e'); expected rows like"),
        (b"bytes", "the run given is bytes; expected a path"),
        ({"q": {"d": 10**400}}, "expected a number"),
        ({"q": {"d": None}}, "score 'None'; expected a number"),
        ({"q": {None: 1.0}}, "an id is None; expected text or a whole number"),
    ],
)
def test_what_is_no_run_is_refused_in_one_line(run, says):
    with pytest.raises(UsageError) as refused:
        run_blocks(run)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("level", [2**63, 1e300, float("inf"), 1.5, "one"])
def test_levels_that_are_no_whole_numbers_are_refused(level):
    with pytest.raises(UsageError, match=r"query q, document d: level .*; expected an integer"):
        qrels_columns({"q": {"d": level}})
