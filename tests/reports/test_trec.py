import math

import numpy as np
import pytest

from ragkpi.measures.measure import LABEL, MEAN, PER_QUERY_TEXT, SUM, MetricScores, Scores
from ragkpi.reports import trec_lines as trec
from ragkpi.statistics.bootstrap import Interval
from tests.made_scores import metric


def scores_of(columns, queries):
    """Columns are (name, style, aggregate, one value per query)."""
    metrics = [metric(name, aggregate, style=style) for name, style, aggregate, _ in columns]
    statistics = [
        np.array(column, dtype=object if style in ("text", "quoted") else float).reshape(-1, 1)
        for _, style, _, column in columns
    ]
    made = [
        MetricScores(metric, rows, len(queries))
        for metric, rows in zip(metrics, statistics, strict=True)
    ]
    return Scores(b"run", queries, made, len(queries))


def printed(scores, per_query="shown", summary="shown", **kwargs):
    return b"".join(trec.trec_lines(scores, per_query, summary, **kwargs))


@pytest.mark.parametrize(
    ("style", "value", "text"),
    [
        ("decimal", 0.5, b"0.5000"),
        ("decimal", -1e6, b"-1000000.0000"),
        ("decimal", 0.00005, b"0.0001"),
        ("decimal", 0.03125, b"0.0312"),  # the exact half goes to the even digit
        ("decimal", -1e-9, b"-0.0000"),
        ("decimal", math.nan, b"NA"),
        ("decimal", -math.inf, b"-inf"),
        ("integer", 3.0, b"3"),
        ("integer", 2.0**53 - 1, b"9007199254740991"),
        ("significant", 1.3e-5, b"1.3e-05"),
        ("significant", 123456.7, b"123457"),
        ("significant", -0.0, b"0"),
        ("significant", math.nan, b"NA"),
        ("significant", math.inf, b"inf"),
    ],
)
def test_number_styles(style, value, text):
    scores = scores_of([("m", style, MEAN, [value])], [b"q"])
    name = b"m".ljust(22)
    assert printed(scores) == name + b"\tq\t" + text + b"\n" + name + b"\tall\t" + text + b"\n"


def test_order_texts_and_bytes():
    columns = [
        ("label", "text", LABEL, [b"run%d", b"run%d"]),
        ("count", "integer", SUM, [1, 2]),
        ("a_name_longer_than_22_bytes_%", "decimal", MEAN, [0.25, math.nan]),
        ("string", "quoted", PER_QUERY_TEXT, [b"01-", b""]),
    ]
    assert printed(scores_of(columns, [b"\xff%s", b"z"])) == (
        b"count                 \t\xff%s\t1\n"
        b"a_name_longer_than_22_bytes_%\t\xff%s\t0.2500\n"
        b"string                \t\xff%s\t'01-'\n"
        b"count                 \tz\t2\n"
        b"a_name_longer_than_22_bytes_%\tz\tNA\n"
        b"string                \tz\t''\n"
        b"label                 \tall\trun%d\n"
        b"count                 \tall\t3\n"
        b"a_name_longer_than_22_bytes_%\tall\t0.2500\n"
    )


def test_names_of_zscores_are_wider_but_not_those_of_texts():
    columns = [
        ("label", "text", LABEL, [b"run"]),
        ("Zmap", "decimal", MEAN, [0.5]),
        ("string", "quoted", PER_QUERY_TEXT, [b"01"]),
    ]
    assert printed(scores_of(columns, [b"q"])) == (
        b"Zmap                   \tq\t0.5000\n"
        b"string                \tq\t'01'\n"
        b"label                 \tall\trun\n"
        b"Zmap                   \tall\t0.5000\n"
    )


def test_bounds_stand_behind_the_values_over_all_queries():
    columns = [
        ("label", "text", LABEL, [b"run"] * 2),
        ("count", "integer", SUM, [2, 3]),
        ("map", "decimal", MEAN, [0.5, 0.25]),
        ("bor", "decimal", MEAN, [math.nan, math.nan]),
    ]
    bounds = {"map": Interval(-math.inf, 0.5), "bor": Interval(math.nan, math.nan)}
    lines = printed(scores_of(columns, [b"q", b"r"]), "hidden", intervals=bounds).splitlines()
    assert [line.split(b"\t")[2:] for line in lines] == [
        [b"run"],
        [b"5"],
        [b"0.3750", b"-inf", b"0.5000"],
        [b"NA", b"NA", b"NA"],
    ]


@pytest.mark.parametrize(
    ("digits", "expected"),
    [(2, [b"  0.12", b"1.2e-05"]), (0, [b"     0", b"1e-05"]), (None, [b"0.1234", b"1.23457e-05"])],
)
def test_digits(digits, expected):
    columns = [("map", "decimal", MEAN, [0.12344]), ("p", "significant", MEAN, [1.234567e-5])]
    lines = printed(scores_of(columns, [b"q"]), "hidden", digits=digits).splitlines()
    assert [line.split(b"\t")[2] for line in lines] == expected


@pytest.mark.parametrize(
    ("per_query", "summary"), [("shown", "hidden"), ("hidden", "shown"), ("hidden", "hidden")]
)
def test_which_lines(per_query, summary):
    scores = scores_of([("m", "decimal", MEAN, [0.5])], [b"q"])
    expected = {b"q"} if per_query == "shown" else set()
    expected |= {b"all"} if summary == "shown" else set()
    lines = printed(scores, per_query, summary).splitlines()
    assert {line.split(b"\t")[1] for line in lines} == expected


def test_blocks_of_queries_join_seamlessly(monkeypatch):
    queries = [b"%03d" % number for number in range(10)]
    scores = scores_of([("m", "decimal", MEAN, np.arange(10) / 8)], queries)
    whole = printed(scores)
    monkeypatch.setattr(trec, "BLOCK", 3)
    assert printed(scores) == whole
    assert whole.count(b"\n") == 11
