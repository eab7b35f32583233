"""Scores without files: what the tests of statistics and reports start from."""

import numpy as np

from ragkpi.measures.measure import (
    COUNT,
    LABEL,
    MEAN,
    SUM,
    UNPROVEN,
    Aggregate,
    Measure,
    Metric,
    MetricScores,
    Scores,
)


def bits(sums, count=1):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(sums[..., 0] / sums[..., 1])


BITS = Aggregate("log2 of the ratio of the means", bits, bits, rises_with_first=True)


def share(_):
    """Say that a made value is between two others, as that of map is.

    Range: 0 to 1
    """


def measure(name, function=len, **declared):
    """Declare a measure, and of what must be said only what matters."""
    said = {"better": "higher", "bounds": UNPROVEN, "ties": "unproven", "question": "counts"}
    return Measure(name, function, **{**said, **declared})


def metric(name, aggregate=MEAN, **declared):
    return Metric(measure(name, aggregate=aggregate, **declared), name, {})


NUM_Q = metric("num_q", COUNT, style="integer", better="neither")
NUM_RET = metric("num_ret", SUM, style="integer", better="neither")
RUNID = metric("runid", LABEL, style="text")
MAP = metric("map", function=share)
SUCCESS = metric("success_1", rate="always")
BOR = metric("bor_10", BITS)
HARM = metric("harm_10", better="lower")


def scores(columns, queries=None, run_id=b"made"):
    """Build Scores from pairs of a value and its statistics: a number or a row per query."""
    made = []
    for wanted, rows in columns:
        dtype = object if wanted.measure.style == "text" else float
        statistics = np.array(rows, dtype=dtype).reshape(len(rows), -1)
        made.append(MetricScores(wanted, statistics, len(rows)))
    if queries is None:
        queries = [b"q%03d" % row for row in range(made[0].divisor)]
    return Scores(run_id, queries, made, len(queries))
