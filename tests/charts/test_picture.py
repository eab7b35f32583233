import importlib.util
import itertools
import math
import re
from dataclasses import replace

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
    gathered,
    noted,
)
from ragkpi.charts.picture import draw, refuse_undrawable
from ragkpi.errors import UsageError

CHARTS = [
    PlaneChart(
        "Depth",
        Axis("K", "log", ticks=[1, 10]),
        Axis("bits"),
        lines=[
            Line("bm25", [1, 10], [3, 1], [Span(1, 2, 4), Span(10, 0, 2)], mark=Mark(10, "ten")),
            Line("ceiling", [1, 10], [4, math.nan], role="ceiling"),
        ],
        rules=[Rule("x", 5, "collapse")],
    ),
    PlaneChart(
        "Quadrants",
        Axis("PROC"),
        Axis("%PROC"),
        points=[Points("fine", [1], [1], ["q1"]), Points("both", [0], [0])],
        rules=[Rule("y", 0.5)],
        corners=["retriever", "fine", "both", "reranker"],
    ),
    IntervalChart("Holes", Axis("map"), [IntervalRow("bm25", 0, 0.5, 1)]),
]

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="pip install 'ragkpi[plot]'"
)


@needs_matplotlib
def test_a_png_is_one_and_as_wide_as_its_panels(tmp_path):
    widths = []
    for charts in (CHARTS[:1], CHARTS):
        draw(charts, str(tmp_path / "chart.png"))
        octets = (tmp_path / "chart.png").read_bytes()
        assert octets.startswith(b"\x89PNG\r\n\x1a\n")
        widths.append(int.from_bytes(octets[16:20], "big"))
    assert widths[1] == pytest.approx(3 * widths[0], abs=2)


@needs_matplotlib
def test_an_svg_holds_every_text_and_is_the_same_every_time(tmp_path):
    for name in ("first.svg", "second.SVG"):
        draw(CHARTS, str(tmp_path / name))
    found = (tmp_path / "first.svg").read_text(encoding="utf-8")
    assert found == (tmp_path / "second.SVG").read_text(encoding="utf-8")
    texts = set(re.findall(r"<text[^>]*>([^<]+)</text>", found))
    assert {
        "Depth",
        "bm25, ten",
        "ceiling",
        "collapse",
        "retriever",
        "q1",
        "%PROC",
        "Holes",
    } <= texts


def test_other_kinds_of_pictures_are_refused():
    with pytest.raises(UsageError, match=r"--plot chart\.gif: .* \.png, \.svg or \.pdf"):
        refuse_undrawable("chart.gif")


@needs_matplotlib
def test_a_pdf_for_a_paper_has_true_fonts_and_is_the_same_every_time(tmp_path):
    for name in ("first.pdf", "second.pdf"):
        draw(CHARTS, str(tmp_path / name))
    octets = (tmp_path / "first.pdf").read_bytes()
    assert octets.startswith(b"%PDF-")
    assert octets == (tmp_path / "second.pdf").read_bytes()
    assert b"/FontFile2" in octets  # a TrueType font
    assert b"/Type3" not in octets


def test_a_missing_matplotlib_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"ragkpi\[plot\]"):
        refuse_undrawable("chart.png")


@needs_matplotlib
def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"--plot .* cannot be written"):
        draw(CHARTS, str(tmp_path / "nowhere" / "chart.png"))


def texts_of(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text) if text.get_visible()]


def inside(figure, drawn):
    """Whether an artist lies within the picture, to a pixel."""
    box = drawn.get_window_extent(figure.canvas.get_renderer())
    width, height = figure.get_size_inches() * figure.dpi
    return box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1


def of_runs(names, title="t"):
    lines = [Line(name, range(1, 101), [i / 9] * 100, series=i) for i, name in enumerate(names)]
    return PlaneChart(title, Axis("K", "log"), Axis("y"), lines)


LONG = [f"_a-run-with-a-name-as-long-as-people-give-them-{'x' * 40}-{i}.title+desc" for i in "1234"]


@needs_matplotlib
@pytest.mark.parametrize("charts", [1, 3])
@pytest.mark.parametrize("names", [LONG, [f"run{i}" for i in range(20)]])
def test_legends_never_vanish(names, charts):
    """Not with long names, nor with many, nor with those that matplotlib takes for hidden."""
    from ragkpi.charts.picture import figure_of

    figure = figure_of([of_runs(names, str(place)) for place in range(charts)])
    figure.draw_without_rendering()
    texts = [text.replace("\n", "") for text in texts_of(figure)]
    for name in names:
        assert texts.count(name) == 1
    (legend,) = figure.legends
    assert inside(figure, legend)
    for axes in figure.axes:
        assert axes.get_window_extent().width > 0.6 * 5.2 * figure.dpi


def rows_of(number, title):
    rows = [IntervalRow(f"a-rather-long-name-{i}", i / 9, i / 8, i / 7) for i in range(number)]
    return IntervalChart(title, Axis("value of each run, with a label that is long"), rows)


@needs_matplotlib
@pytest.mark.parametrize(("size", "inches"), [("column", 3.35), ("page", 7.0)])
def test_a_picture_for_a_paper_has_its_width_and_readable_type(size, inches):
    from matplotlib.text import Text

    from ragkpi.charts.picture import figure_of

    figure = figure_of([*CHARTS, rows_of(100, "rows"), of_runs(LONG)], size)
    figure.draw_without_rendering()
    assert figure.get_size_inches()[0] == pytest.approx(inches)
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert min(text.get_fontsize() for text in texts) >= 7
    labels = [axes.xaxis.label for axes in figure.axes] + [axes.yaxis.label for axes in figure.axes]
    assert all(inside(figure, label) for label in labels)


@needs_matplotlib
@pytest.mark.parametrize("size", ["screen", "page"])
def test_a_hundred_runs_are_no_taller_than_fits_a_screen(size):
    """The names of rows that have no room are left out, and said to be."""
    from ragkpi.charts.picture import figure_of

    lines = [Line(f"run{i}", range(9), [i] * 9) for i in range(100)]
    charts = []
    for number in range(4):
        queries = PlaneChart("queries", Axis("x"), Axis("y"), gathered(lines, lines[-1:]))
        charts += [rows_of(100, f"measure {number}"), queries]
    figure = figure_of(charts, size)
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    assert height <= 1.2 * width
    names = [text for text in figure.axes[0].get_yticklabels() if text.get_text()]
    boxes = [text.get_window_extent() for text in names]
    assert all(low.y1 <= high.y0 + 1 for high, low in itertools.pairwise(boxes))
    assert re.search(r"100 rows,\s+one\s+in\s+\d+\s+named", " ".join(texts_of(figure)))


@needs_matplotlib
def test_two_panels_in_a_column_have_room_for_a_legend_of_long_names():
    from ragkpi.charts.picture import figure_of

    runs = [f"retriever-variant-number-{number}.k9.monot5: 9 won, 1 equal, 2 lost" for number in
            range(2)]  # fmt: skip
    charts = [
        PlaneChart(title, Axis("K, the documents retrieved"), Axis(f"difference from {runs[0]}"),
                   [Line(f"{title} {run}", range(9), range(9)) for run in runs])
        for title in ("one", "two")
    ]  # fmt: skip
    figure = figure_of(charts, "column")
    figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    assert height < 1.5 * width
    (legend,) = figure.legends
    assert inside(figure, legend)
    for axes in figure.axes:
        below = axes.xaxis.label.get_window_extent().y0 + 1
        assert legend.get_window_extent().y1 <= below
        assert axes.yaxis.label.get_text().count("\n") < 2
    short = [replace(chart, lines=[Line(run, range(9), range(9)) for run in "ab"])
             for chart in charts]  # fmt: skip
    figure = figure_of(short, "column")
    width, height = figure.get_size_inches()
    assert height <= 1.2 * width


def test_of_many_curves_the_leaders_are_kept_and_the_range_of_the_others():
    lines = [Line(f"run{i}", [1, 2, 3], [i, -i, math.nan]) for i in range(9)]
    assert gathered(lines[:8], lines[:1]) == lines[:8]
    leader, others = gathered(lines, [lines[4]])
    assert leader is lines[4]
    assert (others.name, others.role) == ("range of 8 others", "others")
    assert others.band == [Span(1, 0, 8), Span(2, -8, 0)]


@needs_matplotlib
def test_no_legend_names_an_empty_group():
    from ragkpi.charts.picture import figure_of

    points = [Points("some", [1], [1]), Points("none", [], []), Points("more", [2], [1])]
    chart = PlaneChart("t", Axis("x"), Axis("y"), points=points)
    figure = figure_of([chart])
    (legend,) = figure.legends
    assert [one.get_text() for one in legend.get_texts()] == ["some", "more"]


@needs_matplotlib
def test_panels_with_other_curves_share_a_legend_that_names_each_once():
    from ragkpi.charts.picture import figure_of

    figure = figure_of([of_runs(["a", "b"]), of_runs(["a", "c"]), CHARTS[2]])
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [one.get_text() for one in legend.get_texts()] == ["a", "b", "c"]
    assert inside(figure, legend)


@needs_matplotlib
def test_a_run_has_one_colour_and_marker_in_all_panels_whatever_its_row():
    from ragkpi.charts.picture import figure_of

    rows = [IntervalRow(name, 0, 0.5, 1, [0, 1], series=place) for place, name in enumerate("abc")]
    charts = [of_runs("abc")] + [IntervalChart("t", Axis("x"), some) for some in (rows, rows[::-1])]
    figure = figure_of(charts)
    curves = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1]
    values = [[line for line in axes.get_lines() if len(line.get_xdata()) == 1]
              for axes in figure.axes[1:]]  # fmt: skip
    styles = [[(one.get_color(), one.get_marker()) for one in of]
              for of in (curves, values[0], values[1][::-1])]  # fmt: skip
    assert styles[0] == styles[1] == styles[2]
    assert len(set(styles[0])) == 3


@needs_matplotlib
def test_eight_curves_differ_without_colour():
    from ragkpi.charts.picture import figure_of

    figure = figure_of([of_runs([f"run{i}" for i in range(8)])])
    curves = [line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 1]
    assert len({line.get_marker() for line in curves}) == 8
    places = [tuple(line.get_markevery()) for line in curves]
    assert len(set(places)) == 8  # so that curves on each other show by turns


@needs_matplotlib
def test_what_has_no_place_is_said_in_small_print():
    from ragkpi.charts.picture import figure_of

    charts = [
        PlaneChart("t", Axis("x"), Axis("y"), [Line("bm25", [1, 2, 3], [-math.inf, math.nan, 1])]),
        IntervalChart("t", Axis("x"), [IntervalRow("dense", math.nan, math.nan, math.nan)]),
    ]
    small = texts_of(figure_of(noted(charts, ["12 queries"])))
    (printed,) = [text for text in small if "bm25" in text]
    assert printed.splitlines() == [
        "12 queries",
        "t: bm25 has no finite value at 2 of 3 points",
        "t: no finite value of dense",
    ]


@needs_matplotlib
def test_points_beyond_the_limits_are_drawn_and_coinciding_ones_counted():
    from ragkpi.charts.picture import figure_of

    axis = Axis("share", low=0, high=1)
    points = Points("p", [0.5, 0.5, 0.2], [1.4, 1.4, -0.3])
    figure = figure_of([PlaneChart("t", axis, axis, points=[points])])
    low, high = figure.axes[0].get_ylim()
    assert low < -0.3 < 1.4 < high
    assert "×2" in texts_of(figure)


@needs_matplotlib
def test_long_names_of_points_leave_the_axes_their_room():
    from ragkpi.charts.picture import figure_of

    points = Points("runs", [0.0, 1.0], [0.0, 1.0], ["a" * 200, "b" * 200])
    figure = figure_of([PlaneChart("t", Axis("x"), Axis("y"), points=[points])])
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_window_extent().width > 0.7 * 5.2 * figure.dpi
    assert all(inside(figure, text) for text in axes.texts)


@needs_matplotlib
def test_more_panels_than_a_picture_can_hold_are_counted():
    from ragkpi.charts.picture import figure_of

    figure = figure_of([CHARTS[2]] * 63)
    assert len(figure.axes) == 60
    assert "3 more charts are not drawn; see the table" in texts_of(figure)


@needs_matplotlib
def test_numbers_at_a_logarithmic_axis_are_no_tex():
    from ragkpi.charts.picture import figure_of

    chart = PlaneChart("t", Axis("K", "log"), Axis("y"), lines=[Line("l", [1, 200], [0, 1])])
    figure = figure_of([chart])
    figure.draw_without_rendering()
    assert {"1", "10", "100"} <= {one.get_text() for one in figure.axes[0].get_xticklabels()}
    assert not any("$" in text for text in texts_of(figure))
