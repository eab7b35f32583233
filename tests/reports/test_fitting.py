"""Tables on narrow terminals: which columns go, which ids are shortened, where prose breaks."""

import os

import pytest

from ragkpi.reports.layout import Answer, Cell, Column, Layout, Table, rendered
from ragkpi.reports.terminal import fit, lines_of, on_terminal

NAME, DETAIL, NUMBER = (
    Column("run"),
    Column("d_z", "decimal", role="detail"),
    Column("p", "decimal"),
)
PROSE = Column("what", role="prose")


def test_everything_fits_where_nobody_limits_it():
    fitted = fit([NAME, DETAIL, NUMBER], [400, 6, 6], None)
    assert fitted == {0: 400, 1: 6, 2: 6}


def test_details_go_first_and_numbers_are_never_cut():
    # 20 + 3 + 6 + 3 + 6 is 38; without the detail 29.
    fitted = fit([NAME, DETAIL, NUMBER], [20, 6, 6], 29)
    assert fitted == {0: 20, 2: 6}


def test_ids_are_shortened_before_other_columns_go():
    fitted = fit([NAME, NUMBER, NUMBER], [60, 6, 6], 50)
    assert fitted == {0: 32, 1: 6, 2: 6}


def test_the_first_two_columns_stay():
    fitted = fit([NAME, NUMBER, NUMBER], [20, 6, 6], 5)
    assert list(fitted) == [0, 1]


@pytest.mark.parametrize(
    ("text", "column", "width", "lines"),
    [
        ("abcdefghij", NAME, 10, ["abcdefghij"]),
        ("abcdefghijk", NAME, 10, ["abcde…hijk"]),
        ("abcdefghijk", NAME, 5, ["ab…jk"]),
        ("one two-three", PROSE, 8, ["one", "two-three"]),
        ("-0.123456", NUMBER, 4, ["-0.123456"]),
    ],
)
def test_lines_of_a_cell(text, column, width, lines):
    assert lines_of(text, column, width) == lines


def test_a_table_in_fifty_columns():
    columns = [NAME, NUMBER, DETAIL, PROSE]
    row = [Cell("a-run-with-a-very-long-name"), Cell(0.5), Cell(1.0), Cell("three words and more")]
    answer = Answer(
        "check",
        Table(columns, [row], ["a note that is longer than sixty columns, which is not so short"]),
        ["So."],
        {},
    )
    lines = rendered(answer, "table", Layout(width=50)).splitlines()
    assert all(len(line) <= 50 for line in lines)
    assert lines[0].split() == ["run", "p", "what"]
    assert "Not shown for want of room: d_z (--wide)" in lines
    wide = rendered(answer, "table", Layout()).splitlines()
    assert wide[0].split() == ["run", "p", "d_z", "what"]
    assert "a-run-with-a-very-long-name" in wide[2]


LISTED = """\
A list, whose sentence: goes on
map         Average precision, the mean of the precision at each relevant document
P           Precision
Edge cases: unjudged documents are skipped, and so are those of negative levels; and then
            one more line.
"""


def test_lists_of_terms_are_wrapped_below_their_texts(monkeypatch):
    assert on_terminal(LISTED) == LISTED, "into a pipe"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((50, 24)))
    assert (
        on_terminal(LISTED)
        == """\
A list, whose sentence: goes on
map         Average precision, the mean of the
            precision at each relevant document
P           Precision
Edge cases: unjudged documents are skipped, and so
            are those of negative levels; and then
            one more line.
"""
    )
