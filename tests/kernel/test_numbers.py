"""Decimals against Python's float, in columns and in runs."""

import random
import re
from fractions import Fraction
from math import inf, isnan, nan, nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.asking import Refused, column, numbers_of, read

# float takes more: digits of other scripts, nan, 1_0, white space around.
GRAMMAR = re.compile(
    rb"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[iI][nN][fF]([iI][nN][iI][tT][yY])?)"
)
NEARLY = st.text("0123456789.+-eE", max_size=26).map(str.encode)
REAL = st.floats(allow_nan=False).map(lambda number: repr(number).encode())
FORMATTED = st.tuples(
    st.sampled_from(["%.6f", "%.17g", "%.18f", "%.18e", "%g", "%+.2f", "%d", "%E"]),
    st.floats(-1e21, 1e21) | st.floats(-100, 100),
).map(lambda pair: (pair[0] % pair[1]).encode())
HOSTILE = st.binary(max_size=30) | st.sampled_from([b"inf", b"-Infinity", b"nan", b"1_0", b"1,5"])


def expected(text):
    return float(text) if GRAMMAR.fullmatch(text) else nan


def assert_read(kernel, texts):
    """Every bit counts, the sign of zero too."""
    found = numbers_of(kernel.numbers(column(texts)), "d")
    assert list(map(repr, found)) == [repr(expected(text)) for text in texts]


@given(st.lists(NEARLY | REAL | FORMATTED | HOSTILE, max_size=20))
def test_any_texts(kernel, texts):
    assert_read(kernel, [text for text in texts if b" " not in text])


def test_every_byte(kernel):
    for before, after in [(b"", b""), (b"-", b""), (b"1", b""), (b"1", b"1"), (b"", b"1")]:
        texts = [before + bytes([byte]) + after for byte in range(256) if byte != ord(" ")]
        assert_read(kernel, texts)


def halfway(draw):
    """Digits of a number on or next to the middle of two doubles, as far as they were cut."""
    low = draw.uniform(1, 10) * 10.0 ** draw.randint(-4, 4)
    middle = (Fraction(low) + Fraction(nextafter(low, inf))) / 2
    decimals = draw.randint(8, 20)
    digits = str(int(middle * 10**decimals) + draw.randint(-1, 1)).rjust(decimals + 1, "0")
    return digits[:-decimals] + "." + digits[-decimals:]


def exactly_halfway(draw):
    """An odd number of 54 bits over a small power of two: no double is nearest."""
    shift = draw.randint(1, 4)
    scaled = (draw.getrandbits(53) | 1 << 53 | 1) * 5**shift
    return f"{str(scaled)[:-shift]}.{str(scaled)[-shift:]}"


KINDS = {
    "halfway": halfway,
    "exactly halfway": exactly_halfway,
    "halfway, scientific": lambda draw: halfway(draw) + f"e-{draw.randint(0, 60):02d}",
    "15 to 17 digits": lambda draw: f"{draw.getrandbits(57)}e{draw.randint(-25, 25)}",
    "around 2**53": lambda draw: (
        f"{2**53 + draw.randint(-30, 30)}{draw.choice(['', '.', '.0', 'e0', 'e22', 'e-22'])}"
    ),
    "small mantissas": lambda draw: f"{draw.getrandbits(40)}e{draw.randint(-24, 24)}",
    "repr": lambda draw: repr(draw.random() * 10.0 ** draw.randint(-5, 5)),
    "denormal": lambda draw: f"{draw.random()}e{draw.randint(-326, -305)}",
    "large": lambda draw: f"{draw.random()}e{draw.randint(300, 311)}",
    "six decimals": lambda draw: f"{draw.uniform(-30, 30):.6f}",
    "integers": lambda draw: str(draw.getrandbits(draw.randint(1, 70))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_many_of_one_kind(kernel, kind):
    draw = random.Random(kind)
    assert_read(kernel, [KINDS[kind](draw).encode() for _ in range(5_000)])


def convergents(ratio):
    """Best approximations of a positive fraction by smaller ones, as numerator, denominator."""
    (p, q), (p_next, q_next) = (0, 1), (1, 0)
    while True:
        whole = ratio.numerator // ratio.denominator
        (p, q), (p_next, q_next) = (p_next, q_next), (whole * p_next + p, whole * q_next + q)
        yield p_next, q_next
        if ratio == whole:
            return
        ratio = 1 / (ratio - whole)


def nearly_ties():
    """Numbers m / 10**k that miss the middle of two doubles, odd * 2**e, by next to nothing."""
    for k in range(1, 60):
        for e in range(-12, 12):
            ratio = 10**k * Fraction(2) ** (e - int(k * 3.3219280948873626))
            for m, odd in convergents(ratio):
                if m < 2**63 and 2**53 < odd < 2**54 and odd % 2:
                    yield f"{m}e-{k:02d}".encode()


def test_hardest_to_round(kernel):
    texts = list(nearly_ties())
    assert len(texts) > 100
    assert_read(kernel, texts)


NUMBERS = {
    b"5.": 5.0,
    b".5": 0.5,
    b"+3.25": 3.25,
    b"-0": -0.0,
    b"-.0": -0.0,
    b"-0e5": -0.0,
    b"1E3": 1000.0,
    b"7.5e-05": 7.5e-05,
    b"1e400": inf,
    b"-1e400": -inf,
    b"1e-400": 0.0,
    b"4.9e-324": 5e-324,
    b"iNf": inf,
    b"-INFINITY": -inf,
    b"9007199254740993": 9007199254740992.0,
    b"100000000000000000000": 1e20,
    b"0" * 100_000 + b"1.5": 1.5,
    b"1" + b"0" * 100_000: inf,
    b"." + b"0" * 100_000 + b"1e100001": 1.0,
    b"1e" + b"9" * 1000: inf,
    b"1e-" + b"9" * 1000: 0.0,
    b"0e" + b"9" * 1000: 0.0,
    b"1e" + b"0" * 1000 + b"7": 1e7,
    b"." + b"0" * 999_990 + b"1e9999999": inf,
}
NO_NUMBERS = [
    *(b"", b"+", b"-", b".", b"-.", b"e5", b".e5", b"1e", b"1e+", b"1.2.3", b"..", b"1/2", b"1-2"),
    *(b"--1", b"+-1", b"1_0", b"0x8", b"nan", b"-nan", b"1,5", b"1.5f", b"1\n", b"1\0", b"in"),
    *(b"infinit", b"inf1", b"infinityx", "١".encode(), "－1".encode(), b"1e1e1", b"1ee1", b"1e1."),
    *(b"1" * 100_000 + b"x", b"-inf-", b"NaN", b"\t1", b"1\xa0"),
]


@pytest.mark.parametrize("text", NUMBERS, ids=lambda text: repr(text[:12]))
def test_numbers(kernel, text):
    around = column([b"7", text, b"e7"])
    assert repr(numbers_of(kernel.numbers(around), "d")[1]) == repr(NUMBERS[text])
    line = b"q Q0 d 1 %b t\n" % text
    assert read(kernel, {b"q": []}, line, depth=1)["names"] == [(b"q", [(b"d", NUMBERS[text])])]


@pytest.mark.parametrize("text", NO_NUMBERS, ids=lambda text: repr(text[:12]))
def test_what_is_no_number(kernel, text):
    found = numbers_of(kernel.numbers(column([b"1", text, b"2.5"])), "d")
    assert list(map(isnan, found)) == [False, True, False]
    if text.split() == [text] and b"\0" not in text:
        line = b"q Q0 d 1 %b t\n" % text
        assert read(kernel, {}, line) == Refused("score", 1, 0, b"q", text)


def test_spaces_around_a_number(kernel):
    found = numbers_of(kernel.numbers(column([b" 1", b"2  ", b"  ", b" 1 2 ", b" 3\t"])), "d")
    assert found[:2] == [1.0, 2.0]
    assert list(map(isnan, found[2:])) == [True] * 3
