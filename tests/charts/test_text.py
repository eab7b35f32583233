import math

import pytest

from ragkpi.charts.chart import Axis, IntervalChart, IntervalRow, Line, PlaneChart, Points, Rule
from ragkpi.charts.text_chart import text


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
