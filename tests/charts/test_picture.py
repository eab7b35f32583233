import importlib.util
import math
import re

import pytest

from ragkpi.charts.chart import Axis, IntervalChart, IntervalRow, Line, PlaneChart, Points, Rule
from ragkpi.charts.picture import draw, refuse_undrawable
from ragkpi.errors import UsageError

CHARTS = [
    PlaneChart(
        "Depth",
        Axis("K", "log", ticks=[1, 10]),
        Axis("bits"),
        lines=[
            Line("bm25", [1, 10], [3, 1], low=[2, 0], high=[4, 2]),
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
    assert {"Depth", "bm25", "ceiling", "collapse", "retriever", "q1", "%PROC", "Holes"} <= texts


def test_other_kinds_of_pictures_are_refused():
    with pytest.raises(UsageError, match=r"--plot chart\.pdf: .* \.png or \.svg"):
        refuse_undrawable("chart.pdf")


def test_a_missing_matplotlib_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"ragkpi\[plot\]"):
        refuse_undrawable("chart.png")


@needs_matplotlib
def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"--plot .* cannot be written"):
        draw(CHARTS, str(tmp_path / "nowhere" / "chart.png"))
