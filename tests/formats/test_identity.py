"""Keys, hashes, equality and order of byte strings against Python's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.formats import identity
from ragkpi.formats.identity import (
    DistinctKeys,
    equal_tokens,
    hash_tokens,
    sort_descending,
    tail_keys,
)
from ragkpi.formats.token_words import CHUNK
from ragkpi.formats.tokens import Tokens
from tests.formats.surroundings import surrounded

STRINGS = st.lists(
    st.builds(
        lambda prefix, middle, repeat, end: prefix + middle * repeat + end,
        st.sampled_from([b"", b"", b"clueweb12-0000tw-05-", b"\0" * 8, b"x" * 955]),
        st.binary(max_size=9) | st.text("ab\0\xff", max_size=9).map(lambda text: text.encode()),
        st.sampled_from([1, 1, 1, 8, 300]),
        st.sampled_from([b"", b"\0", b"\xff", b"7"]),
    ),
    max_size=12,
)


def one_by_one(function, strings):
    return [int(function(Tokens.from_strings([string]))[0]) for string in strings]


@pytest.mark.parametrize("function", [tail_keys, hash_tokens])
@given(strings=STRINGS, around=st.sampled_from([b" ", b"\0", b"\xff\xff\xff"]))
def test_keys_depend_on_a_token_alone(function, strings, around):
    expected = one_by_one(function, strings)
    assert function(surrounded(strings, around)).tolist() == expected
    assert function(Tokens.from_strings(strings)).tolist() == expected


@given(STRINGS)
def test_tail_keys_tell_the_last_eight_bytes_and_the_length_apart(strings):
    keys = tail_keys(Tokens.from_strings(strings)).tolist()
    tails = [(len(string), string[-8:]) for string in strings]
    assert [keys.index(key) for key in keys] == [tails.index(tail) for tail in tails]


@given(STRINGS)
def test_hashes_tell_strings_apart(strings):
    hashes = hash_tokens(Tokens.from_strings(strings)).tolist()
    assert [hashes.index(hash_) for hash_ in hashes] == [strings.index(s) for s in strings]


LIKELY_TO_COLLIDE = {
    "zeros": [b"\0" * length for length in range(2_000)],
    "one letter": [b"a" * length for length in range(2_000)],
    "one bit": [bytes(place) + bytes([1 << bit]) + bytes(40 - place)
                for place in range(41) for bit in range(8)],
    "numbers": [b"%d" % number for number in range(100_000)],
    "two fields": [b"doc%05d-%07d" % (a, b) for a in range(300) for b in range(300)],
    "top bytes": [b"0000000%d0000000%d000000%02d" % (a, b, c)
                  for a in range(10) for b in range(10) for c in range(100)],
    "swapped words": [b"%08d%08d" % (a, b) for a in range(200) for b in range(200)],
    "repeated words": [b"%08d" % number * 16 for number in range(2_000)],
}  # fmt: skip


@pytest.mark.parametrize("family", LIKELY_TO_COLLIDE)
def test_hashes_of_similar_strings(family, monkeypatch):
    # Of 200 seeds drawn by chance, one makes two of the words' hashes alike in 16 bits.
    monkeypatch.setattr(identity, "_FIRST_SPREAD", 0x9E3779B97F4A7C15)
    monkeypatch.setattr(identity, "_PLACE_SPREAD", 0xBF58476D1CE4E5B9)
    hashes = hash_tokens(Tokens.from_strings(LIKELY_TO_COLLIDE[family]))
    strings = len(LIKELY_TO_COLLIDE[family])
    assert len(np.unique(hashes)) == strings
    # 16 bits anywhere are as evenly filled as by chance.
    for shift in (0, 16, 32, 48):
        filled = len(np.unique(hashes >> np.uint64(shift) & np.uint64(0xFFFF)))
        assert filled == pytest.approx(65536 * -np.expm1(-strings / 65536), rel=0.05)


@given(STRINGS, st.randoms())
def test_equal_tokens(strings, draw):
    others = [string[:-1] + b"?" if draw.random() < 0.2 else string for string in strings]
    rows_a = [draw.randrange(len(strings)) for _ in range(3 * len(strings))]
    rows_b = [row if draw.random() < 0.6 else draw.randrange(len(strings)) for row in rows_a]
    found = equal_tokens(
        surrounded(strings, b"x"),
        np.array(rows_a, int),
        Tokens.from_strings(others),
        np.array(rows_b, int),
    )
    assert found.tolist() == [strings[a] == others[b] for a, b in zip(rows_a, rows_b, strict=True)]


def descending(strings, group):
    order = sorted(range(len(strings)), key=strings.__getitem__, reverse=True)
    return sorted(order, key=group.__getitem__)


@given(STRINGS, st.randoms(), st.sampled_from([b" ", b"\0", b"\xff"]))
def test_sort_descending(strings, draw, around):
    strings = strings + strings[:3]
    group = [draw.randrange(3) for _ in strings]
    order = sort_descending(surrounded(strings, around), np.array(group, int))
    assert order.tolist() == descending(strings, group)


@pytest.mark.parametrize("length", [7, 8, 9, 23, 24, 25, 959, 960, 961, 100_000])
def test_lengths_around_the_steps(length):
    base = bytes(range(1, 256)) * (length // 255) + bytes(range(1, length % 255 + 1))
    strings = [base, base[:-1], base + b"\0", base + b"\1", base[:-1] + b"\xff", b"\xff" + base[1:]]
    strings += strings[:1]
    tokens = surrounded(strings, b"\1")
    group = [0] * len(strings)
    assert sort_descending(tokens, np.array(group)).tolist() == descending(strings, group)
    for other in range(len(strings)):
        rows = np.arange(len(strings))
        same = equal_tokens(tokens, rows, tokens, np.full(len(strings), other))
        assert same.tolist() == [string == strings[other] for string in strings]
    assert len(np.unique(hash_tokens(tokens))) == len(set(strings))


def test_more_tokens_than_one_chunk():
    strings = [b"%d" % (number % 70_000) for number in range(2 * CHUNK + 9)]
    tokens = surrounded(strings, b" ")
    few = np.r_[0:9, CHUNK - 9 : CHUNK + 9, len(strings) - 9 : len(strings)]
    for function in (tail_keys, hash_tokens):
        assert len(np.unique(function(tokens))) == len(set(strings))
        assert function(tokens)[few].tolist() == one_by_one(function, [strings[i] for i in few])


def test_no_tokens():
    nothing, none = Tokens.from_strings([]), np.zeros(0, dtype=int)
    assert tail_keys(nothing).tolist() == hash_tokens(nothing).tolist() == []
    assert equal_tokens(nothing, none, nothing, none).tolist() == []
    assert sort_descending(nothing, none).tolist() == []


@given(
    st.lists(st.lists(st.integers(0, 60) | st.integers(0, 2**64 - 1)), max_size=20),
    st.integers(1, 9),
)
def test_distinct_keys_are_those_of_a_set(arrays, span):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identity, "_SPAN", span)
        keys = DistinctKeys()
        for array in arrays:
            keys.add(np.array(array, dtype=np.uint64))
        assert keys.ascending().tolist() == sorted(set().union(*arrays))
