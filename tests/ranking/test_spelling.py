"""Spellings by tables, against the obvious rule for one id after the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.ranking.judgements import Spellings, plain

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


@given(st.lists(ids, min_size=1, unique=True), st.lists(ids, min_size=1, unique=True))
def test_documents(known, documents):
    spellings = Spellings({id_: row for row, id_ in enumerate(known)})
    for document in documents:
        row = spellings.meant(document)
        meant = meant_slowly(document, known) if document not in known else []
        assert known[row] in meant if row >= 0 else not meant


def test_many_spellings_of_one_id():
    """A million of them must not take for ever: each id stands once in the table."""
    spellings = Spellings({b"d#%d" % number: number for number in range(20_000)})
    rows = {spellings.meant(b"d") for _ in range(20_000)}
    assert len(rows) == 1
    assert rows <= set(range(20_000))
