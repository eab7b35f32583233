"""Spellings by arrays, against the obvious rule for one id after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.formats.tokens import Tokens
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.ranking.judgements import group_judgements
from ragkpi.ranking.spelling import SpeltDocuments, plain, plain_ids
from tests.formats.surroundings import surrounded

ids = st.one_of(
    st.text("aA0#1 \t", min_size=1, max_size=5).map(str.encode), st.binary(min_size=1, max_size=9)
)


def judged(documents):
    """Judge documents for one query."""
    count = len(documents)
    return group_judgements(
        QrelsColumns(
            "qrels",
            Tokens.from_strings([b"q"] * count),
            Tokens.from_strings([b"0"] * count),
            Tokens.from_strings(documents),
            np.ones(count, dtype=np.int64),
            np.arange(count),
        )
    )


LONG = st.binary(min_size=1, max_size=30).map(lambda text: text.replace(b" ", b"\xa0"))


@given(st.lists(ids) | st.lists(LONG), st.sampled_from([b" ", b"\0", b"\xff", b"x"]))
def test_plain_ids(documents, around):
    assert plain_ids(surrounded(documents, around)).tolist() == list(map(plain, documents))


@pytest.mark.parametrize("white", [b" ", b"\t", b"\v"])
@pytest.mark.parametrize("length", range(1, 31))
def test_white_space_at_any_place_of_an_id(length, white):
    for place in range(length):
        id_ = b"\xa1" * place + white + b"!" * (length - 1 - place)
        others = [b"!" * length, b"\xff" * 30][: 1 + length // 25]
        assert plain_ids(surrounded([*others, id_], b"d"))[len(others)] == plain(id_)


def meant_slowly(document, known):
    """Return all judged documents that one could be spelt like, the likeliest kind of likeness."""
    alike = [other for other in known if plain(other) == plain(document)]
    head = document.split(b"#")[0] or document
    heads = [other for other in known if other == head]
    cut = [other for other in known if (other.split(b"#")[0] or other) == document]
    return alike or heads or cut


@given(st.lists(ids, min_size=1, unique=True), st.lists(ids, min_size=1, unique=True))
def test_documents(known, documents):
    judgements = judged(known)
    column = Tokens.from_strings(documents)
    rows = SpeltDocuments(judgements).find(np.array([0]), np.array([0, len(documents)]), column)
    for document, row in zip(documents, rows.tolist(), strict=True):
        if document not in known:
            meant = meant_slowly(document, known)
            assert judgements.document[row] in meant if row >= 0 else not meant


def test_many_spellings_of_one_id():
    """A million of them must not take for ever: each id stands once in the table."""
    judgements = judged([b"d#%d" % number for number in range(20_000)])
    column = Tokens.from_strings([b"d"] * 20_000)
    spelt = SpeltDocuments(judgements)
    rows = spelt.find(np.array([0]), np.array([0, 20_000]), column)
    assert len(set(rows.tolist())) == 1
    assert rows[0] >= 0
