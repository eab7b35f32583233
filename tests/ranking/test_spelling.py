"""Spellings of all ids at once, against the obvious rule for one id after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.files.lines import Tokens
from ragkpi.ranking.judgements import Judgements, plain

ids = st.one_of(
    st.text("aA0#1 \t", min_size=1, max_size=5).map(str.encode), st.binary(min_size=1, max_size=9)
)


@pytest.mark.parametrize("white", [b" ", b"\t", b"\v"])
@pytest.mark.parametrize("length", range(1, 31))
def test_white_space_at_any_place_of_an_id(length, white):
    for place in range(length):
        id_ = b"\xa1" * place + white + b"!" * (length - 1 - place)
        assert plain(id_) == b"\xa1" * place + b"!" * (length - 1 - place)


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        (b"Doc A", b"doca"),
        (b"007", b"7"),
        (b" 0\t07 ", b"7"),
        (b"70", b"70"),
        (b"000", b""),
        (b"\xc3\x89", b"\xc3\x89"),
        (b"a\xa0b", b"a\xa0b"),
    ],
)
def test_plain_ids(id_, expected):
    assert plain(id_) == expected


def meant_slowly(document, known):
    """Return all judged documents that one could be spelt like, the likeliest kind of likeness."""
    alike = [other for other in known if plain(other) == plain(document)]
    head = document.split(b"#")[0] or document
    heads = [other for other in known if other == head]
    cut = [other for other in known if (other.split(b"#")[0] or other) == document]
    return alike or heads or cut


def rows_meant(known, documents):
    """Return the rows of judged documents of one query that documents are spelt like."""
    starts = np.array([0, len(known)])
    qrels = Judgements("", [b"q"], starts, Tokens.from_strings(known), np.ones(len(known)), {})
    query = np.zeros(len(documents), dtype=np.int64)
    return qrels.meant(query, Tokens.from_strings(documents)).tolist()


@given(st.lists(ids, min_size=1, unique=True), st.lists(ids, min_size=1, unique=True))
def test_documents(known, documents):
    for document, row in zip(documents, rows_meant(known, documents), strict=True):
        meant = meant_slowly(document, known) if document not in known else []
        assert known[row] in meant if row >= 0 else not meant


def test_many_spellings_of_one_id():
    """A million of them must not take for ever: each id is looked up once."""
    assert rows_meant([b"d#%d" % number for number in range(20_000)], [b"d"]) == [19_999]


def test_other_queries_have_own_documents():
    """ "A" is judged for query 0 alone; query -1 is not judged."""
    judged = Tokens.from_strings([b"A", b"B"])
    qrels = Judgements("", [b"0", b"1"], np.array([0, 1, 2]), judged, np.ones(2), {})
    documents = Tokens.from_strings([b"a", b"a", b"b", b"a"])
    assert qrels.meant(np.array([0, 1, 1, -1]), documents).tolist() == [0, -1, 1, -1]
