"""The table of judged documents against a dictionary."""

import numpy as np
import pytest
from hypothesis import given

from ragkpi.errors import DataError
from ragkpi.files.lines import Tokens
from ragkpi.files.trec import read_qrels
from ragkpi.ranking.judgements import group_judgements
from tests.ranking.cases import judged, judgements_of, retrieved


@given(judged, retrieved)
def test_find(qrels, run):
    judgements = judgements_of(qrels)
    assert judgements.queries == sorted(qrels)
    pairs = [(query, document) for query, ranking in run.items() for document in ranking]
    document = Tokens.from_strings([document for _, document in pairs])
    starts = np.concatenate([[0], np.cumsum([len(ranking) for ranking in run.values()])])
    line, row = judgements.find(
        np.array([judgements.index.get(query, -1) for query in run]),
        starts.astype(np.int64),
        document,
    )
    expected = {place for place, (q, d) in enumerate(pairs) if d in qrels.get(q, ())}
    assert sorted(line.tolist()) == sorted(expected)
    for place, judgement in zip(line.tolist(), row.tolist(), strict=True):
        query, document_id = pairs[place]
        assert judgements.queries[judgements.query[judgement]] == query
        assert judgements.document[judgement] == document_id
        assert judgements.level[judgement] == qrels[query][document_id]


def test_hundreds_of_judgements_of_a_query():
    qrels = {b"1": {b"%d" % number: number % 4 for number in range(0, 9_000, 3)}, b"2": {b"3": 1}}
    judgements = judgements_of(qrels)
    document = Tokens.from_strings([b"%d" % number for number in range(9_000)] * 2)
    line, row = judgements.find(np.array([0, 1]), np.array([0, 9_000, 18_000]), document)
    assert sorted(line.tolist()) == [*range(0, 9_000, 3), 9_003]
    assert {judgements.document[r] for r in row} == set(qrels[b"1"])


@pytest.mark.parametrize("names", [b"%d", b"%d/a.html", b"a-long-beginning-of-all-%d"])
def test_ids_are_told_apart_by_all_bytes(names):
    ids = [names % number for number in range(99)]
    judgements = judgements_of({b"1": dict.fromkeys(ids, 1)})
    asked = Tokens.from_strings([names % number for number in range(198)])
    line, row = judgements.find(np.array([0]), np.array([0, 198]), asked)
    assert sorted(line.tolist()) == list(range(99))
    assert [judgements.document[r] for r in row] == [ids[place] for place in line]


def test_ids_made_to_end_alike_take_no_longer():
    """Most of a file's ids differ at their end, and of one query none."""
    made = [b"%06d/the-same-end" % n for n in range(4_000)]
    qrels = {b"%d" % q: {b"%d" % n: 1 for n in range(100)} for q in range(1_000)}
    judgements = judgements_of({**qrels, b"made": dict.fromkeys(made, 1)})
    document = Tokens.from_strings(made)
    line, row = judgements.find(
        np.array([judgements.index[b"made"]]),
        np.array([0, len(made)]),
        document,
    )
    assert sorted(line.tolist()) == list(range(len(made)))
    assert [judgements.document[r] for r in row] == [made[place] for place in line]


def test_qrels_in_any_order(tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(b"2 0 a 1\n10 0 b 2\n2 0 c 0\n1 0 a 3\n10 0 a 0\n")
    judgements = group_judgements(read_qrels(str(path)))
    assert judgements.queries == [b"1", b"10", b"2"]
    assert judgements.starts.tolist() == [0, 1, 3, 5]
    assert judgements.document.tolist() == [b"a", b"b", b"a", b"a", b"c"]
    assert judgements.level.tolist() == [3, 2, 0, 1, 0]
    path.write_bytes(path.read_bytes() + b"\n".join([b"2 0 x 1", b"10 0 b 2"]))
    with pytest.raises(DataError, match=r":7: document b of query 10 .* line 2"):
        group_judgements(read_qrels(str(path)))
