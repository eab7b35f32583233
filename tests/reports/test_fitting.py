"""Tables on narrow terminals: which columns go, which ids are shortened, where prose breaks."""

import os
from dataclasses import replace

import pytest

from ragkpi.reports.layout import Answer, Cell, Column, Layout
from ragkpi.reports.renderers import rendered
from ragkpi.reports.terminal import cells_of, fit, on_terminal

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
def test_cells_of_a_column(text, column, width, lines):
    assert cells_of([text], column, width) == [lines]


def test_wide_characters_are_two_places():
    rows = [[Cell("検索"), Cell(0.5)], [Cell("run1"), Cell(0.25)]]
    answer = Answer([NAME, NUMBER], rows, question="check")
    *_, one, other = rendered(answer, "table", Layout()).splitlines()
    assert (one, other) == ("検索   0.5000", "run1   0.2500")


def test_a_table_in_fifty_columns():
    columns = [NAME, NUMBER, DETAIL, PROSE]
    row = [Cell("a-run-with-a-very-long-name"), Cell(0.5), Cell(1.0), Cell("three words and more")]
    answer = Answer(
        columns,
        [row],
        ["a note that is longer than sixty columns, which is not so short"],
        verdict=["So."],
        question="check",
    )
    lines = rendered(answer, "table", Layout(width=50)).splitlines()
    assert all(len(line) <= 50 for line in lines)
    assert lines[:2] == ["So.", ""]
    assert lines[2].split() == ["run", "p", "what"]
    assert "Columns hidden: d_z (--wide shows all)" in lines
    wide = rendered(answer, "table", Layout()).splitlines()
    assert wide[2].split() == ["run", "p", "d_z", "what"]
    assert "a-run-with-a-very-long-name" in wide[4]


def answer_of(rows: int, notes: int) -> Answer:
    columns = [Column("run", legend="its file"), Column("p", "decimal")]
    return Answer(
        columns,
        [[Cell(f"run{number}"), Cell(0.5)] for number in range(rows)],
        [f"note {number}" for number in range(notes)],
        verdict=["So."],
        explanation=["a test"],
        question="check",
    )


def test_two_notes_are_shown_and_the_others_are_counted():
    layout = Layout(explanation="offered", call_notes=["note: of the call", "warning: doubt"])
    assert rendered(answer_of(1, 3), "table", layout).splitlines()[-4:] == [
        "warning: doubt",
        "note 0",
        "note 1",
        "2 more notes and how this was computed: --explain",
    ]
    explained = rendered(answer_of(1, 3), "table", replace(layout, explanation="shown"))
    assert explained.splitlines()[-5:] == ["note 1", "note 2", "of the call", *LAST]
    hidden = rendered(answer_of(1, 3), "table", Layout()).splitlines()
    assert hidden[-3:] == ["note 0", "note 1", "note 2"]


LAST = ["run: its file", "a test"]


LISTED = """\
A list, whose sentence: goes on
map         Average precision, the mean of the precision at each relevant document
P           Precision
Edge cases: unopened letters are forgotten, and so are those of negative levels; and then
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
Edge cases: unopened letters are forgotten, and so
            are those of negative levels; and then
            one more line.
"""
    )
