"""A taste of the fuzzing that tests/README.md describes, in every run of the tests."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.mutate import SEEDS, target_of
from tests.fuzz.mutator import PIECES, mutated
from tests.fuzz.targets import TARGETS
from tests.tries import TRIES

words = st.sampled_from(
    [b"1", b"2", b"Q0", b"d1", b"d2", b"d\xff", b"1.5", b"-1e3", b"inf", b"nan", b"me", b"x" * 70]
)
lines = st.lists(words, min_size=4, max_size=7).map(b" ".join)
texts = st.lists(st.one_of(lines, st.sampled_from(PIECES)), max_size=12).map(b"\n".join)


@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs(name):
    numbers = [number for number in range(1500) if target_of(number) == name][:300]
    for number in numbers:
        TARGETS[name](*mutated(number, SEEDS[name]))


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=100 * TRIES)
@given(text=texts)
def test_lines_of_words(name, text):
    TARGETS[name](text, random.Random(text))
