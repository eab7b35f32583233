import math

import pytest

from ragkpi.charts.chart import (
    Axis,
    IntervalChart,
    IntervalRow,
    Line,
    Mark,
    PlaneChart,
    Points,
    Rule,
    Span,
    noted,
)
from ragkpi.charts.text_chart import text, texts


def plane(x=(0, 1), y=(0, 1), **drawn):
    return PlaneChart(
        "title", Axis("x", low=x[0], high=x[1]), Axis("y", low=y[0], high=y[1]), **drawn
    )


def rows(chart, width=60):
    """Return what stands right of the vertical axis, from top to bottom."""
    return [line.partition("│")[2] for line in text(chart, width).splitlines() if "│" in line]


def test_points_stand_where_their_numbers_are():
    drawn = rows(plane(points=[Points("p", [0, 1, 0.5], [0, 1, 0.5])]))
    assert drawn[0].rstrip().endswith("o")
    assert drawn[-1].startswith("o")
    middle = drawn[len(drawn) // 2]
    assert middle.index("o") == pytest.approx(len(drawn[0].rstrip()) / 2, abs=1)


def test_powers_of_ten_are_equally_far_apart_on_a_logarithmic_axis():
    axis = Axis("K", "log", ticks=[1, 10, 100])
    chart = PlaneChart("t", axis, Axis("y"), lines=[Line("l", [1, 10, 100], [0, 0, 0])])
    (line,) = [row for row in rows(chart) if "o" in row]
    first, second, third = (place for place, character in enumerate(line) if character == "o")
    assert second - first == pytest.approx(third - second, abs=1)
    assert [float(number) for number in text(chart).splitlines()[-2].split()] == [1, 10, 100]


def test_a_gap_is_left_where_a_value_is_missing():
    chart = plane(x=(0, 3), lines=[Line("l", [0, 1, 2, 3], [0.5, math.nan, 0.5, 0.5])])
    (line,) = [row for row in rows(chart) if "o" in row]
    first, second, _ = (place for place, character in enumerate(line) if character == "o")
    assert not line[first + 1 : second].strip()


def test_every_curve_has_its_own_marker_in_the_legend_and_ceilings_have_none():
    lines = [Line("bm25", [0, 1], [0, 0]), Line("dense", [0, 1], [1, 1])]
    chart = plane(lines=[*lines, Line("ceiling", [0, 1], [0.5, 0.5], role="ceiling")])
    assert text(chart).splitlines()[-1] == "  o bm25   + dense   -- ceiling"
    assert set(rows(chart)[len(rows(chart)) // 2].rstrip()) == {"-"}


def test_rules_and_corners_give_way_to_points():
    drawn = rows(
        plane(
            points=[Points("p", [0.5], [0.5])],
            rules=[Rule("x", 0.5, "half"), Rule("y", 0.5)],
            corners=["a", "b", "c", "d"],
        )
    )
    assert (drawn[0][0], drawn[0].rstrip()[-1]) == ("a", "b")
    assert (drawn[-1][0], drawn[-1].rstrip()[-1]) == ("c", "d")
    assert "half" in drawn[0]
    assert drawn[len(drawn) // 2].count("o") == 1


def test_intervals_reach_from_low_to_high():
    chart = IntervalChart("t", Axis("v", low=0, high=1), [IntervalRow("bm25", 0, 0.5, 1)])
    (line,) = rows(chart)
    assert (line[0], line[-1]) == ("├", "┤")
    assert line.index("o") == pytest.approx(len(line) / 2, abs=1)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_asked_if_there_is_room(width):
    names = ["a run with a name that is long", "another"]
    charts = [
        plane(lines=[Line(name, [0, 1], [0, 1]) for name in names]),
        IntervalChart("t", Axis("v"), [IntervalRow(name, 0, 1, 2) for name in names]),
    ]
    for chart in charts:
        widest = max(map(len, text(chart, width).splitlines()))
        assert widest <= max(width, 64)


@pytest.mark.parametrize("y", [[], [math.nan], [-math.inf, math.nan], [3.0, 3.0]])
def test_nothing_to_draw_is_no_error(y):
    x = list(range(1, len(y) + 1))
    chart = PlaneChart("t", Axis("K", "log"), Axis("y"), lines=[Line("l", x, y)])
    assert text(chart).startswith("t\n")


def test_a_mark_stands_in_parentheses_and_its_name_in_the_legend():
    chart = plane(x=(0, 4), lines=[Line("bm25", [0, 2, 4], [0, 0.5, 1], mark=Mark(2, "K = 2"))])
    assert "(o)" in rows(chart)[len(rows(chart)) // 2]
    assert text(chart).splitlines()[-1] == "  o bm25, K = 2"


def test_a_band_reaches_from_low_to_high():
    chart = plane(lines=[Line("l", [0, 1], [0.5, 0.5], [Span(1, 0.0, 1.0)])])
    assert [row[-1] for row in rows(chart)].count(":") == len(rows(chart)) - 1  # and the point


def test_rules_and_their_names_stand_before_bands():
    band = [Span(x / 20, 0.0, 1.0) for x in range(21)]
    line = Line("l", [0, 1], [0.5, 0.5], band)
    drawn = rows(plane(lines=[line], rules=[Rule("x", 0.5, "asked for")]))
    assert "┊asked for" in drawn[0]
    assert drawn[3].count("┊") == 1


def test_an_interval_without_an_end_leaves_the_chart():
    chart = IntervalChart(
        "t", Axis("v"), [IntervalRow("a", -math.inf, 0.5, 1), IntervalRow("b", 0, 0.5, math.inf)]
    )
    first, second = rows(chart)
    assert (first[0], second.rstrip()[-1]) == ("◂", "▸")


def test_small_print_stands_once_below_all_charts():
    charts = [plane(points=[Points("p", [0, math.nan], [0, 0])]), plane()]
    lines = texts(noted(charts, ["12 queries"]), 60).splitlines()
    assert lines[-2] == "12 queries"
    assert lines[-1].startswith("title: p ")
    assert lines.count("12 queries") == 1


def test_points_beyond_the_limits_extend_the_axis():
    drawn = text(plane(points=[Points("p", [0.5], [2.0])]))
    assert drawn.count("o") == 1
    assert "\n2 │" in drawn


def test_points_have_their_names_beside_them():
    points = Points("runs", [0, 1, 0.5], [0, 1, 0.5], ["low", "high", "middle"])
    drawn = rows(plane(points=[points]))
    assert drawn[-1].startswith("o low")
    assert drawn[0].rstrip().endswith("high o")
    assert "o middle" in drawn[len(drawn) // 2]


def test_points_without_room_for_a_name_are_named_below():
    points = Points("runs", [0.5] * 3, [0.5] * 3, ["one", "two", "three"])
    drawn = text(plane(points=[points]))
    assert "two o one" in drawn
    assert drawn.splitlines()[-1] == "  without room for a name: three"


def test_long_legends_are_broken_not_cut():
    lines = [Line(f"{name * 100}", [0, 1], [0, 1]) for name in "ab"]
    drawn = text(plane(lines=lines), 80)
    assert (drawn.count("a"), drawn.count("b")) == (100, 100)
    assert max(map(len, drawn.splitlines())) <= 80
