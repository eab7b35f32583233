"""Duplicates are found exactly where there are some, whatever the keys say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.formats.identity import hash_tokens, tail_keys
from ragkpi.formats.tokens import Tokens
from ragkpi.ranking import duplicates
from ragkpi.ranking.duplicates import find_duplicate
from tests.formats.hostile import ids

KEYS = {
    "tails": tail_keys,
    "hashes": hash_tokens,
    "none": lambda tokens: np.zeros(len(tokens), dtype=np.uint64),
    "few": lambda tokens: hash_tokens(tokens) % np.uint64(3),
    "neighbours": lambda tokens: hash_tokens(tokens) % np.uint64(3) << np.uint64(61),
}


def found_in(groups, keys):
    documents = [document for group in groups for document in group]
    starts = np.concatenate([[0], np.cumsum(list(map(len, groups)))]).astype(np.int64)
    tokens = Tokens.from_strings(documents)
    pair = find_duplicate(starts, tokens, KEYS[keys](tokens))
    if pair is not None:
        a, b = pair
        assert a != b
        assert documents[a] == documents[b]
        assert np.searchsorted(starts, a, "right") == np.searchsorted(starts, b, "right")
    return pair is not None


@pytest.mark.parametrize("keys", KEYS)
@given(st.lists(st.lists(ids, min_size=1, max_size=25), max_size=6), st.sampled_from([1, 5, 99]))
def test_some_or_none(keys, groups, at_once):
    expected = any(len(set(group)) < len(group) for group in groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "_ROWS_AT_ONCE", at_once)
        assert found_in(groups, keys) == expected


@pytest.mark.parametrize("keys", ["tails", "hashes", "none"])
@given(st.data())
def test_one_pair_among_many(keys, data):
    names = [b"http://site-%d/%d/index.html" % (number % 3, number) for number in range(300)]
    groups = [names[:200], names[100:], names[50:250]]
    assert not found_in(groups, keys)
    group, a, b = (data.draw(st.integers(0, most)) for most in (2, 199, 199))
    groups[group] = [*groups[group][:a], groups[group][b], *groups[group][a + (a != b) :]]
    assert found_in(groups, keys)
