"""The fast decimal and integer parsers against slow twins, and the twins against Python."""

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.formats.decimals import parse_decimals, parse_decimals_slowly
from ragkpi.formats.integers import parse_integers, parse_integers_slowly
from ragkpi.formats.tokens import Tokens
from tests.formats.surroundings import surrounded

pytestmark = pytest.mark.filterwarnings("error")  # such as an overflow in a cast

NEARLY = st.text("0123456789.+-eE", max_size=26).map(str.encode)
REAL = st.floats(allow_nan=False).map(lambda number: repr(number).encode())
FORMATTED = st.tuples(
    st.sampled_from(["%.6f", "%.17g", "%.18f", "%.18e", "%g", "%+.2f", "%d", "%E"]),
    st.floats(-1e21, 1e21) | st.floats(-100, 100),
).map(lambda pair: (pair[0] % pair[1]).encode())
HOSTILE = st.binary(max_size=30) | st.sampled_from([b"inf", b"-Infinity", b"nan", b"1_0", b"1,5"])
TOKENS = st.lists(NEARLY | REAL | FORMATTED | HOSTILE, max_size=20)


def bits(numbers):
    """Every bit counts, the sign of zero too; NaNs are all alike."""
    return np.where(np.isnan(numbers), np.nan, numbers).view(np.int64).tolist()


def assert_decimals_equal_twin(tokens):
    assert bits(parse_decimals(tokens)) == bits(parse_decimals_slowly(tokens))


def assert_integers_equal_twin(tokens):
    for fast, slow in zip(parse_integers(tokens), parse_integers_slowly(tokens), strict=True):
        assert fast.tolist() == slow.tolist()


@given(TOKENS, st.sampled_from([b" ", b"\n", b"7", b".", b"-", b"e", b"\xff"]))
def test_any_tokens_in_any_surroundings(strings, around):
    tokens = surrounded(strings, around)
    assert_decimals_equal_twin(tokens)
    assert_integers_equal_twin(tokens)


@given(st.data(), st.integers(0, 9), st.sampled_from([b" ", b"7", b".", b"-", b"\xff"]))
def test_columns_of_numbers_written_alike(data, decimals, around):
    alike = st.integers(0, 10 ** data.draw(st.integers(1, 10)) - 1).map(
        lambda number: b"%0*d" % (decimals, number)
    )
    digits = data.draw(st.lists(alike, min_size=1, max_size=9))
    strings = [
        text[: len(text) - decimals] + b"." + text[len(text) - decimals :] for text in digits
    ]
    for place in data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=1)):
        strings[place] = data.draw(
            NEARLY | st.sampled_from([strings[place] + b"x", b"-" + strings[place]])
        )
    assert_decimals_equal_twin(surrounded(strings, around))


@given(st.binary(max_size=30) | NEARLY)
def test_slow_twin_is_float_without_its_extras(string):
    try:
        expected = float(string.decode("ascii"))
    except ValueError:
        expected = float("nan")
    if any(byte in b"_ \t\n\r\v\f\x1c\x1d\x1e\x1f" for byte in string):
        expected = float("nan")
    assert bits(parse_decimals_slowly(Tokens.from_strings([string]))) == bits(np.array([expected]))


def halfway(draw):
    """Digits of a number on or next to the middle of two doubles, as far as they were cut."""
    low = draw.uniform(1, 10) * 10.0 ** draw.randint(-4, 4)
    middle = (Fraction(low) + Fraction(float(np.nextafter(low, np.inf)))) / 2
    decimals = draw.randint(8, 20)
    scaled = int(middle * 10**decimals) + draw.randint(-1, 1)
    digits = str(scaled).rjust(decimals + 1, "0")
    return digits[:-decimals] + "." + digits[-decimals:]


def exactly_halfway(draw):
    """An odd number of 54 bits over a small power of two: no double is nearest."""
    shift = draw.randint(1, 4)
    scaled = (draw.getrandbits(53) | 1 << 53 | 1) * 5**shift
    return f"{str(scaled)[:-shift]}.{str(scaled)[-shift:]}"


SHAPES = {
    "halfway": halfway,
    "exactly halfway": exactly_halfway,
    "halfway, scientific": lambda draw: halfway(draw) + f"e-{draw.randint(0, 60):02d}",
    "17 digits": lambda draw: repr(draw.random() * 10.0 ** draw.randint(-5, 5)),
    "18 digits": lambda draw: f"{draw.random():.18f}",
    "19 digits": lambda draw: f"{draw.uniform(-10, 10):.18f}",
    "18 to 24 bytes": lambda draw: (
        f"{draw.getrandbits(draw.randint(50, 64))}.{draw.getrandbits(9)}"
    ),
    "six decimals": lambda draw: f"{draw.uniform(-30, 30):.6f}",
    "few digits": lambda draw: f"{draw.uniform(-3, 3):.2g}",
    "integers": lambda draw: str(draw.getrandbits(draw.randint(1, 70))),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_many_of_one_shape(shape):
    draw = random.Random(shape)
    tokens = Tokens.from_strings(SHAPES[shape](draw).encode() for _ in range(5_000))
    assert_decimals_equal_twin(tokens)
    assert_integers_equal_twin(tokens)


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
    for k in range(1, 100):
        for e in range(-12, 12):
            shift = e - int(k * np.log2(10))
            ratio = 10**k * Fraction(2) ** shift
            for m, odd in convergents(ratio):
                if m < 2**63 and 2**53 < odd < 2**54 and odd % 2:
                    yield f"{m}e-{k:02d}".encode()


def test_hardest_to_round():
    tokens = Tokens.from_strings(nearly_ties())
    assert len(tokens) > 100
    assert_decimals_equal_twin(tokens)


@pytest.mark.parametrize("before", [b"", b"-", b"1"])
def test_every_byte(before):
    strings = [before + bytes([byte]) for byte in range(256)]
    for tokens in [Tokens.from_strings(strings), *map(Tokens.from_strings, zip(strings))]:
        assert_decimals_equal_twin(tokens)
        assert_integers_equal_twin(tokens)


def test_more_tokens_than_one_chunk():
    draw = random.Random(1)
    tokens = Tokens.from_strings(f"{draw.uniform(-9, 9):.3f}".encode() for _ in range(70_001))
    assert_decimals_equal_twin(tokens)


NOT_A_NUMBER = [
    b"", b"+", b"-", b".", b"-.", b"e5", b".e5", b"1e", b"1e+", b"1.2.3", b"..", b"1/2", b"1-2",
    b"--1", b"+-1", b"1_0", b"0x8", b"nan", b"-nan", b"1,5", b"1.5f", b" 1", b"1\n", b"1\0", b"in",
    b"infinit", "١".encode(), "－1".encode(), b"1" * 100_000 + b"x", b"1e1e1", b"1ee1",
]  # fmt: skip


@pytest.mark.parametrize("string", NOT_A_NUMBER, ids=lambda string: repr(string[:12]))
def test_what_is_not_a_number(string):
    assert np.isnan(parse_decimals(surrounded([b"1", string, b"2.5"], b"0"))).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("string", "number"),
    [
        (b"5.", 5.0),
        (b".5", 0.5),
        (b"+3.25", 3.25),
        (b"-0", -0.0),
        (b"-.0", -0.0),
        (b"1E3", 1000.0),
        (b"7.5e-05", 7.5e-05),
        (b"1e400", float("inf")),
        (b"-1e400", -float("inf")),
        (b"1e-400", 0.0),
        (b"4.9e-324", 5e-324),
        (b"iNf", float("inf")),
        (b"-INFINITY", -float("inf")),
        (b"9007199254740993", 9007199254740992.0),
        (b"9300000000000000000", 9.3e18),
        (b"12345678901234567890", 12345678901234567890.0),
        (b"100000000000000000000", 1e20),
        (b"0" * 100_000 + b"1.5", 1.5),
        (b"1" + b"0" * 100_000, float("inf")),
        (b"." + b"0" * 100_000 + b"1e100001", 1.0),
    ],
    ids=lambda value: repr(value)[:14],
)
def test_numbers(string, number):
    assert bits(parse_decimals(surrounded([string], b"e"))) == bits(np.array([number]))


@pytest.mark.parametrize(
    ("string", "integer"),
    [
        (b"2", 2),
        (b"-1", -1),
        (b"+3", 3),
        (b"2000000000", 2_000_000_000),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"0" * 5000 + b"7", 7),
        (b"9223372036854775808", None),
        (b"1" * 100_000, None),
        (b"", None),
        (b"-", None),
        (b"+-1", None),
        (b"1.0", None),
        (b"1_0", None),
        (b"a", None),
        ("٣".encode(), None),
    ],
    ids=lambda value: repr(value)[:14],
)
@pytest.mark.parametrize("others", [[], [b"-10"], [b"3"]], ids=["alone", "longer", "digit"])
def test_integers(string, integer, others):
    integers, valid = parse_integers(surrounded([string, *others], b"1"))
    assert valid.tolist() == [integer is not None] + [True] * len(others)
    assert integers.tolist() == [integer or 0, *map(int, others)]


def test_no_tokens():
    nothing = Tokens.from_strings([])
    assert parse_decimals(nothing).tolist() == []
    assert [column.tolist() for column in parse_integers(nothing)] == [[], []]
