import math

import numpy as np
import pytest

from ragkpi.wording import as_json, beside, exact, percent, rounded, visible

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("value", "style", "options", "text"),
    [
        (0.12345, "decimal", {}, "0.1235"),
        (0.12345, "decimal", {"digits": 2}, "0.12"),
        (0.6, "decimal", {"digits": 0}, "1"),
        (-0.00001, "decimal", {}, "0.0000"),
        (-0.00001, "decimal", {"signed": True}, "+0.0000"),
        (0.25, "decimal", {"signed": True}, "+0.2500"),
        (-0.25, "decimal", {"signed": True}, "-0.2500"),
        (1.3e-05, "significant", {}, "1.3e-05"),
        (123456789.0, "significant", {}, "1.23457e+08"),
        (-0.0, "significant", {}, "0"),
        (0.98765, "significant", {"digits": 0}, "1"),
        (50.0, "integer", {}, "50"),
        (2.5, "integer", {}, "2.5000"),
        (7, "integer", {}, "7"),
        (NAN, "decimal", {}, "NA"),
        (NAN, "integer", {}, "NA"),
        (-INF, "decimal", {}, "-inf"),
        (INF, "integer", {}, "inf"),
        (INF, "decimal", {"signed": True}, "+inf"),
        (np.float64(0.5), "decimal", {}, "0.5000"),
        ("x", "text", {}, "x"),
        (b"\xe4\xb8\xad\xff", "quoted", {}, "中\udcff"),
        (None, "decimal", {}, ""),
    ],
)
def test_rounded(value, style, options, text):
    assert rounded(value, style, **options) == text


@pytest.mark.parametrize(
    ("value", "style", "digits", "text", "json"),
    [
        (0.1 + 0.2, "decimal", None, "0.30000000000000004", 0.1 + 0.2),
        (0.1 + 0.2, "decimal", 3, "0.300", 0.3),
        (1.3e-05, "significant", 1, "1e-05", 1e-05),
        (50.0, "integer", None, "50", 50),
        (50.0, "integer", 3, "50", 50),
        (True, "decimal", None, "1.0", 1.0),
        (np.float64(0.5), "decimal", None, "0.5", 0.5),
        (-3.0, "integer", None, "-3", -3),
        (2.5, "integer", None, "2.5", 2.5),
        (NAN, "decimal", None, "NA", None),
        (NAN, "decimal", 2, "NA", None),
        (-INF, "decimal", None, "-inf", "-inf"),
        (INF, "significant", 2, "inf", "inf"),
        (b"bm25", "text", None, "bm25", "bm25"),
        ("12", "text", None, "12", "12"),
    ],
)
def test_exact_and_json(value, style, digits, text, json):
    assert exact(value, style, digits) == text
    found = as_json(value, style, digits)
    assert (found, type(found)) == (json, type(json))


def test_visible():
    assert visible("a\x1b[0m\n\x7f\x9b\udcff中") == r"a\x1b[0m\x0a\u007f\u009b\xff中"


@pytest.mark.parametrize("kind", ["f", "g"])
@pytest.mark.parametrize("bound", [0.05, 0.5, 50.0])
def test_a_number_is_written_on_its_side_of_a_bound(bound, kind):
    random = np.random.default_rng(3)
    for value in bound * (1 + random.normal(size=500) * 10.0 ** -random.integers(0, 9, 500)):
        text = beside(float(value), bound, 2, kind)
        assert (float(text) < bound, float(text) > bound) == (value < bound, value > bound)
    assert float(beside(bound, bound, 2, kind)) == bound


def test_what_is_not_all_never_looks_like_it():
    shares = [0, 0.0004, 0.004, 0.0449, 0.5, 0.996, 0.99996, 1, -0.0002]
    texts = ["0%", "nearly 0%", "0.4%", "4%", "50%", "99.6%", "nearly 100%", "100%", "0%"]
    assert list(map(percent, shares)) == texts
    assert percent(0.0449, 1) == "4.5%"
