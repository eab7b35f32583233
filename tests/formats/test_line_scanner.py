"""The two ways to find columns, and the files read by them, against `bytes.split`."""

import itertools
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.errors import InputError
from ragkpi.formats import line_scanner as table
from ragkpi.formats.blocks import Block
from ragkpi.formats.tokens import PADDING
from tests.formats.hostile import texts
from tests.slow_reference.reading import read_words

layouts = st.builds(
    table.LineShape,
    st.sampled_from(["ab", "abcd", "abcdef"]),
    st.sampled_from(["refused", "ignored"]),
    st.sampled_from(["first_column", "first_word"]),
)


def block_of(text, before=0):
    """A block behind `before` lines of another one in the same buffer."""
    above = b"z z z\n" * before
    buffer = np.frombuffer(bytes(PADDING) + above + text + bytes(PADDING), dtype=np.uint8)
    start = PADDING + len(above)
    return Block("file", buffer, start, start + len(text), before + 1, True)


def rows_of(lines, wanted):
    columns = [lines.column(number).tolist() for number in range(wanted)]
    return list(zip(lines.line.tolist(), map(list, zip(*columns, strict=True)), strict=True))


def outcome(read, block, shape):
    """What a reader finds: rows as `read_words` has them, or the line that it refuses."""
    try:
        return rows_of(read(block, shape), len(shape.columns))
    except InputError as problem:
        return int(str(problem).split(":")[1]) - (block.first_line - 1)


def assert_both_ways_agree(text, shape, before=0):
    wanted = len(shape.columns)
    expected = read_words(text, wanted, shape.extra, shape.comments)
    if isinstance(expected, list):
        expected = [(number + before, words) for number, words in expected]
    block = block_of(text, before)
    assert outcome(table.scan, block, shape) == expected
    separators = table._separators(block)
    general = partial(table._scan_general, separators=separators)
    assert outcome(general, block, shape) == expected
    regular = table._scan_regular(block, shape, separators)
    if regular is not None:
        assert rows_of(regular, wanted) == expected
        lengths = [len(line) + 1 for line in text.split(b"\n")]
        begins = [block.start + sum(lengths[:row]) for row in range(len(regular))]
        assert (regular.begin + regular.origin).tolist() == begins


@given(st.data())
def test_both_ways_find_the_words_that_split_finds(data):
    shape = data.draw(layouts)
    wanted = len(shape.columns)
    text = data.draw(texts(data.draw(st.sampled_from([wanted, 3, 6]))))
    text = text.removeprefix(b"\xef\xbb\xbf") + b"\n"
    assert_both_ways_agree(text, shape, data.draw(st.integers(0, 2)))


# Lines of two columns, and lines that only just are not: any two of them are a block, alone and
# behind a good line.
NEARLY = [
    *(b"a b\n", b"ab cd\n", b"a\tb\n", b"a\rb\n", b"a b\r\n", b"a\r\n", b" a\r\n", b"a \n"),
    *(b"a\n", b" a\n", b"a b c\n", b"a b c\r\n", b"a b \r\n", b"a \r\n", b"a b\r \n", b"\n"),
    *(b"#a b\n", b" #a\n", b"#a b\r\n", b"a #\n", b"a\1b\n", b"a\0b\n", b"a\1b c\n", b"\r\n"),
]


@pytest.mark.parametrize("extra", ["refused", "ignored"])
@pytest.mark.parametrize("comments", ["first_column", "first_word"])
def test_all_nearly_regular_blocks(extra, comments):
    shape = table.LineShape("ab", extra, comments)
    for first in [b"", b"a b\n", b"a b\r\n"]:
        for second, third in itertools.product(NEARLY, NEARLY):
            assert_both_ways_agree(first + second + third, shape)


REGULAR = {
    "spaces": b"%d Q0 doc 1 2.5 tag\n",
    "tabs": b"%d\tQ0\tdoc\t1\t2.5\ttag\n",
    "mixed": b"%d\tQ0 doc\v1 2.5\ttag\n",
    "CRLF": b"%d Q0 doc 1 2.5 tag\r\n",
    "more columns": b"%d Q0 doc 1 2.5 tag more and more\n",
    "more columns, CRLF": b"%d Q0 doc 1 2.5 tag more and more\r\n",
}


@pytest.mark.parametrize("form", REGULAR)
def test_regular_files_take_the_fast_way(form):
    text = b"".join(REGULAR[form] % number for number in range(12))
    shape = table.LineShape("abcdef", "ignored", "first_word")
    block = block_of(text, before=1)
    regular = table._scan_regular(block, shape, table._separators(block))
    assert regular is not None
    assert regular.column(0).tolist() == [b"%d" % number for number in range(12)]
    assert regular.column(5, slice(3, 4)).tolist() == [b"tag"]


@pytest.mark.parametrize("length", range(1, 70, 3))
def test_separators_are_found_however_rare_they_are(length):
    text = b"".join(b"7 Q0 %s 1 2.5 tag\n" % (b"d" * (length + row % 2)) for row in range(40))
    found = table._separators(block_of(text, before=1)).places
    assert found.tolist() == [0, *(place + 1 for place, byte in enumerate(text) if byte <= 32)]


def test_a_file_of_several_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "BLOCK_SIZE", 16)
    lines = [b"%d %d" % (number, number**3) for number in range(50)]
    path = tmp_path / "file"
    path.write_bytes(b"# comment\n" + b"\n\n".join(lines))
    whole = table.read_table(str(path), table.LineShape(("a", "b"), "refused", "first_column"))
    assert [list(column) for column in whole.columns] == [
        [line.split()[c] for line in lines] for c in range(2)
    ]
    assert whole.line.tolist() == list(range(2, 102, 2))
    path.write_bytes(b"\n".join([*lines, b"1 2 3", b"1"]))
    with pytest.raises(InputError, match=":51: 3 columns"):
        table.read_table(str(path), table.LineShape(("a", "b"), "refused", "first_column"))
