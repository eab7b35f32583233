import math
import statistics

import numpy as np
import pytest

from ragkpi.errors import DataError, InputError, RagkpiWarning, UsageError
from ragkpi.files.query_files import read_zscores
from ragkpi.measures.measure import (
    COUNT,
    GEOMETRIC_MEAN,
    LABEL,
    RATIO_OF_MEANS,
    SUM,
    MetricScores,
    Scores,
)
from ragkpi.questions.evaluate.zscores import UNKNOWN, norms_of, standardize
from tests.made_scores import metric


def zscore_lines(runs):
    return [b"%b %b %.17g %.17g\n" % (q, name.encode(), *of) for q, name, *of in norms_of(runs)]


def made_scores(columns, queries=(b"q1", b"q2"), run_id=b"made"):
    """Build Scores from {name: (declarations, rows)}."""
    metrics = [metric(name, **declared) for name, (declared, _) in columns.items()]
    statistics = [
        np.array(rows, dtype=object if declared.get("style") == "text" else float)
        for declared, rows in columns.values()
    ]
    made = [
        MetricScores(metric, array.reshape(len(queries), -1), len(queries))
        for metric, array in zip(metrics, statistics, strict=True)
    ]
    return Scores(run_id, list(queries), made, len(queries))


def norms(tmp_path, text):
    path = tmp_path / "zscores"
    path.write_bytes(text)
    return read_zscores(str(path))


COLUMNS = {
    "runid": ({"aggregate": LABEL, "style": "text"}, [b"made", b"made"]),
    "num_q": ({"aggregate": COUNT, "style": "integer"}, [1.0, 1.0]),
    "num_ret": ({"aggregate": SUM, "style": "integer"}, [10, 30]),
    "map": ({}, [0.5, 0.25]),
    "gm_map": ({"aggregate": GEOMETRIC_MEAN}, [math.log(0.5), math.log(0.25)]),
    "ratio": ({"aggregate": RATIO_OF_MEANS}, [[1.0, 2.0], [1.0, 4.0]]),
    "na": ({}, [math.nan, 0.5]),
}
TEXT = b"""# z = (value - mean) / deviation
q1 num_ret 10 0
q2 num_ret 20 5
q1 map 0.25 0.125
q2 map 0.5 0.125
q1 gm_map 0 1
q2 gm_map 0 1

q1 ratio 0.25 0.25
q2 ratio 0.5 0.25
q1 na 0 1
q2 na 0 1
zz map 0 1
"""


def test_standardizes_and_then_aggregates(tmp_path):
    z = standardize(made_scores(COLUMNS), norms(tmp_path, TEXT))
    found = {column.name: (column.per_query.tolist(), column.summary) for column in z.columns}
    assert found["runid"] == ([b"made", b"made"], b"made")
    assert found["Znum_q"] == ([1, 1], 2)
    assert found["Znum_ret"] == ([0, 2], 2)
    assert found["Zmap"] == ([2, -2], 0)
    assert found["Zgm_map"][1] == pytest.approx(math.sqrt(0.5 * 0.25))
    assert found["Zratio"] == ([1, -1], 0)
    assert math.isnan(found["Zna"][0][0])
    assert found["Zna"][1] == 0.5
    assert {metric.measure.style for metric in z.metrics} == {"text", "decimal"}


def test_what_has_no_mean_or_no_deviation_is_unknown(tmp_path):
    columns = {"map": ({}, [0.5, 0.25, math.inf]), "P_5": ({}, [0.2, 0.4, 0.0])}
    scores = made_scores(columns, (b"q1", b"q2", b"q3"))
    z = standardize(scores, norms(tmp_path, b"q1 map 0.5 0\nq2 map 0.2 0\nzz P_5 0 1\n"))
    assert z["Zmap"].per_query.tolist() == [0.0, UNKNOWN, UNKNOWN]
    assert z["ZP_5"].per_query.tolist() == [UNKNOWN] * 3
    assert z["ZP_5"].summary == UNKNOWN == -1000000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"q1 map 0.5\n", ":1: 3 columns"),
        (b"q1 map 0.5 0.1 2\n", ":1: 5 columns"),
        (b"q1 map 0.5 0.1\nq2 map x 0.1\n", ":2: mean 'x'"),
        (b"q1 map inf 0.1\n", ":1: mean 'inf'"),
        (b"q1 map 0.5 nan\n", ":1: deviation 'nan'"),
        (b"q1 map 0.5 -0.1\n", ":1: deviation '-0.1'"),
        (
            b"q1 map 0.5 0.1\nq1 P_5 0 1\nq1 map 0.5 0.1\n",
            ":3: query 'q1' again; expected each measure once",
        ),
        (b"", "is empty"),
    ],
)
def test_refuses_a_malformed_file(tmp_path, text, says):
    with pytest.raises((InputError, DataError)) as problem:
        norms(tmp_path, text)
    assert says in str(problem.value)


def test_refuses_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="nosuch"):
        read_zscores(str(tmp_path / "nosuch"))


def test_writes_mean_and_sample_deviation_of_what_is_printed_per_query():
    maps = [[0.1, 0.3], [0.2, 0.3], [0.6, 0.3]]
    runs = [made_scores({**COLUMNS, "map": ({}, of_run)}) for of_run in maps]
    with pytest.warns(RagkpiWarning, match="1 of 8 pairs"):
        lines = [line.split() for line in b"".join(zscore_lines(runs)).splitlines()]
    names = [b"num_ret", b"map", b"ratio", b"na"]
    assert [line[:2] for line in lines] == [
        [query, name]
        for query in (b"q1", b"q2")
        for name in names
        if (query, name) != (b"q1", b"na")
    ]
    of_first = next(line for line in lines if line[:2] == [b"q1", b"map"])
    assert float(of_first[2]) == pytest.approx(statistics.mean([0.1, 0.2, 0.6]))
    assert float(of_first[3]) == pytest.approx(statistics.stdev([0.1, 0.2, 0.6]))


def test_equal_values_have_z_score_zero(tmp_path):
    runs = [made_scores({"map": ({}, [0.1, 0.7])}) for _ in range(3)]
    of_runs = norms(tmp_path, b"".join(zscore_lines(runs)))
    assert standardize(runs[0], of_runs)["Zmap"].per_query.tolist() == [0.0, 0.0]


def test_a_run_counts_for_the_queries_it_has(tmp_path):
    runs = [
        made_scores({"map": ({}, [0.0, 0.5])}),
        made_scores({"map": ({}, [1.0, 0.5])}),
        made_scores({"map": ({}, [0.75, 0.5])}, (b"q2", b"q3")),
    ]
    with pytest.warns(RagkpiWarning, match="1 of 3 pairs"):
        of_map = norms(tmp_path, b"".join(zscore_lines(runs)))[b"map"]
    assert {query: norm.mean for query, norm in of_map.items()} == {
        b"q1": 0.5,
        b"q2": pytest.approx((0.5 + 0.5 + 0.75) / 3),
    }


def test_one_run_has_no_deviation():
    with pytest.raises(UsageError, match="at least two"):
        list(zscore_lines([made_scores({"map": ({}, [0.1, 0.7])})]))
