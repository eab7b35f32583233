"""Scores written together, against ``repr`` of each; and rows of texts against joining them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragkpi.formats import byte_rows
from ragkpi.formats.byte_rows import ScoreColumn, joined_rows
from ragkpi.formats.score_texts import score_texts
from ragkpi.formats.tokens import Tokens

decimals = st.builds(
    lambda digits, places: digits / 10**places, st.integers(-(10**16), 10**16), st.integers(0, 17)
)
scores = st.one_of(st.floats(allow_nan=False), decimals, st.integers(-(10**17), 10**17).map(float))


def texts(numbers):
    words, lengths = score_texts(np.array(numbers))
    rows = zip(words, lengths, strict=True)
    return [row.tobytes()[:length].decode() for row, length in rows]


@given(st.lists(scores, min_size=1, max_size=20))
@example([0.0, -0.0, 1.0, -21.0, 0.1 + 0.2, 1e-4, 9.999e-5, 1e16, 5e-324])
@example([999999.99999999, 1000000.0, 999999.999999999, 1e-8, 0.00010001, 1e22])
@example([float("inf"), -float("inf")])
def test_scores_as_repr(numbers):
    assert texts(numbers) == [repr(number) for number in numbers]


def test_short_decimals_as_repr():
    """All that are written together: each number of decimals, each number of digits before."""
    draw = np.random.default_rng(1)
    numbers = [
        round(float(draw.uniform(-1, 1)) * 10.0**size, places)
        for size in range(-5, 8)
        for places in range(10)
        for _ in range(50)
    ]
    assert texts(numbers) == [repr(number) for number in numbers]


ids = st.lists(st.integers(0, 255), max_size=40).map(bytes)


@given(st.lists(st.tuples(ids, ids, scores), max_size=30), st.binary(min_size=0, max_size=9))
def test_rows_as_joined(rows, between):
    first, second = (Tokens.from_strings([row[n] for row in rows]) for n in (0, 1))
    numbers = ScoreColumn(np.array([row[2] for row in rows], dtype=np.float64))
    expected = b"".join(
        between + one + other + repr(score).encode() + between for one, other, score in rows
    )
    assert joined_rows([between, first, second, numbers, between], len(rows)) == expected


@pytest.mark.parametrize("place", [0, 70, 99])
def test_a_very_long_text_is_no_very_large_matrix(place, monkeypatch):
    monkeypatch.setattr(byte_rows, "_LARGEST", 1000)
    monkeypatch.setattr(byte_rows, "_ROWS_AT_ONCE", 64)
    strings = [b"%d" % number for number in range(100)]
    strings[place] = b"x" * 5000
    column = Tokens.from_strings(strings)
    assert joined_rows([column, b"\n"], 100) == b"".join(text + b"\n" for text in strings)
