"""Columns of a text, and groups of ids."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kernel.asking import column, exactly, ints, numbers_of
from tests.slow_reference.reading import read_words

WHITE, TAB, COMMA = -1, ord("\t"), ord(",")


def split(kernel, text, width, separator, *, extra=False, comments=False, tolerant=True, first=1):
    """Return lines as (number, values, text up to the stop), and the wrong ones."""
    start, end, line, stop, wrong = kernel.columns(
        exactly(text), first, width, separator, extra, comments, tolerant
    )
    cells = [text[a:b] for a, b in zip(numbers_of(start), numbers_of(end), strict=True)]
    rows = [cells[place : place + width] for place in range(0, len(cells), width)]
    places = iter(numbers_of(wrong))
    return (
        list(zip(numbers_of(line), rows, strict=True)),
        list(zip(places, places, places, strict=True)),
        numbers_of(stop),
    )


def test_white_space(kernel):
    text = b"# c\n a\tb \r\n\n#x y\nc\v d\ne f #\n # g\na\n"
    rows, wrong, stops = split(kernel, text, 2, WHITE)
    assert rows == [(2, [b"a", b"b"]), (5, [b"c", b"d"]), (7, [b"#", b"g"])]
    assert wrong == [(6, 22, 27), (8, 33, 34)]
    assert [text[stop : stop + 1] for stop in stops] == [b"\r", b"\n", b"\n"]
    more = split(kernel, text, 2, WHITE, extra=True, comments=True)
    assert more[0] == [(2, [b"a", b"b"]), (5, [b"c", b"d"]), (6, [b"e", b"f"])]
    assert more[1] == [(8, 33, 34)]
    assert split(kernel, text, 2, WHITE, tolerant=False)[:2] == (rows[:2], wrong[:1])
    assert [line for line, _ in split(kernel, text, 2, WHITE, first=100)[0]] == [101, 104, 106]


# Lines of two columns, and lines that only just are not: any two of them are a text.
NEARLY = [
    *(b"a b\n", b"ab cd\n", b"a\tb\n", b"a\rb\n", b"a b\r\n", b"a\r\n", b" a\r\n", b"a \n"),
    *(b"a\n", b" a\n", b"a b c\n", b"a b c\r\n", b"a b \r\n", b"a \r\n", b"a b\r \n", b"\n"),
    *(b"#a b\n", b" #a\n", b"#a b\r\n", b"a #\n", b"a\1b\n", b"a\0b\n", b"a\1b c\n", b"\r\n"),
]


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("comments", [False, True])
def test_all_pairs_of_nearly_regular_lines(kernel, extra, comments):
    rules = "ignored" if extra else "refused", "first_word" if comments else "first_column"
    for lines in itertools.product(NEARLY, NEARLY):
        text = b"".join(lines)
        expected = read_words(text, 2, *rules)
        rows, wrong, _ = split(kernel, text, 2, WHITE, extra=extra, comments=comments)
        if isinstance(expected, list):
            assert (rows, wrong) == (expected, [])
        else:
            assert wrong[0][0] == expected


def test_tabs(kernel):
    text = b"a\t b\r\n\n\tx\n#\ty\na\ra\tb\na\t\n\t\t\nlast\t\xff\n"
    rows, wrong, stops = split(kernel, text, 2, TAB)
    assert rows == [
        (1, [b"a", b" b"]),
        (3, [b"", b"x"]),
        (4, [b"#", b"y"]),
        (6, [b"a", b""]),
        (8, [b"last", b"\xff"]),
    ]
    assert [line for line, _, _ in wrong] == [5, 7]
    assert stops[0] == 4


GOOD = {
    b"a,b": [b"a", b"b"],
    b",": [b"", b""],
    b'"a",b': [b"a", b"b"],
    b'"a,b",c': [b"a,b", b"c"],
    b'"","x,"': [b"", b"x,"],
    b'" a ", b': [b" a ", b" b"],
    b"a b,#": [b"a b", b"#"],
}
BAD = [
    b"a",
    b"a,b,c",
    b'"a',
    b'a,"',
    b'"a"b,c',
    b'a"b,c',
    b'"a""b",c',
    b'a, "b"',
    b'"a,b"',
    b"a\0,b",
]


def test_commas_with_quotes(kernel):
    for text, values in GOOD.items():
        for end in (b"\n", b"\r\n"):
            assert split(kernel, text + end, 2, COMMA)[:2] == ([(1, values)], [])
    for text in BAD:
        rows, wrong, _ = split(kernel, b"x,y\n" + text + b"\nx,y\n", 2, COMMA)
        assert [line for line, _ in rows] == [1, 3]
        assert wrong == [(2, 4, 4 + len(text))]


def test_nothing(kernel):
    for separator in (WHITE, TAB, COMMA):
        assert split(kernel, b"", 3, separator) == ([], [], [])


@pytest.mark.parametrize(
    ("text", "width", "separator"),
    [
        *((b"a", 1, WHITE), (b"a b\nc", 2, WHITE), (b"a\n", 0, TAB), (b"a\n", -1, TAB)),
        *((b"a\n", 1, 256), (b"a\n", 1, -2)),
    ],
)
def test_what_cannot_be_split(kernel, text, width, separator):
    with pytest.raises(ValueError, match="column"):
        kernel.columns(text, 1, width, separator, False, False, False)


IDS = st.lists(st.sampled_from([b"", b"a", b"b", b"ab", b"x" * 300, b"\0", b"\xff"]), max_size=30)


@given(IDS, st.randoms())
def test_first_rows(kernel, ids, chance):
    groups = [chance.choice([-1, 0, 1, 2**60]) for _ in ids]
    keys = list(zip(groups, ids, strict=True))
    wanted = [keys.index(key) for key in keys]
    assert numbers_of(kernel.first_rows(column(ids), ints(groups))) == wanted


ALIKE = {
    "zeros": [b"\0" * length for length in range(2_000)],
    "one letter": [b"a" * length for length in range(2_000)],
    "one bit": [bytes(place) + bytes([1 << bit]) + bytes(40 - place)
                for place in range(41) for bit in range(8)],
    "numbers": [b"%d" % number for number in range(30_000)],
    "two fields": [b"doc%05d-%07d" % (a, b) for a in range(200) for b in range(200)],
    "swapped words": [b"%08d%08d" % (a, b) for a in range(200) for b in range(200)],
    "repeated words": [b"%08d" % number * 16 for number in range(2_000)],
}  # fmt: skip


@pytest.mark.parametrize("family", ALIKE)
def test_similar_ids(kernel, family):
    ids = ALIKE[family]
    assert kernel.count_ids((), column(ids * 2)) == len(ids)
    assert numbers_of(kernel.first_rows(column(ids * 2), ints([0] * 2 * len(ids)))) == [
        *range(len(ids)),
        *range(len(ids)),
    ]
