"""Values of single queries in blocks of columns: as the slow way has them, cell by cell."""

import csv
import io
import json
import math

import pytest

import ragkpi
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import rendered
from ragkpi.wording import as_json, decoded, exact

pytestmark = pytest.mark.filterwarnings("ignore::ragkpi.RagkpiWarning")

QRELS = {f"q{n}": {"a": 1, "b": 0, "c": 2} for n in range(5)}
METRICS = ["runid", "num_q", "num_ret", "map", "gm_map", "ndcg_cut.2", "n_recall5.1", "relstring"]
RUNS = {
    "=first": {f"q{n}": {"a": 1.0, "b": 2.0, "x": 3.0 - n} for n in (0, 1, 3, 4)},
    "second": {f"q{n}": {"c": 0.5, "b": 0.25 * n} for n in (1, 2, 3)},
}


@pytest.fixture
def report():
    results = [
        ragkpi.evaluate(QRELS, run, METRICS, missing="intersection") for run in RUNS.values()
    ]
    return EvaluationReport({name: one.scores for name, one in zip(RUNS, results, strict=True)})


@pytest.mark.parametrize("digits", [None, 2])
def test_csv_has_the_cells_of_the_table(report, digits):
    table = report.table(Layout(per_query="shown"))
    layout = Layout(per_query="shown", digits=digits)
    rows = list(csv.reader(io.StringIO(rendered(report, "csv", layout))))
    assert rows[0] == [column.name for column in table.columns]
    assert len(rows) == 1 + 7 + 2
    for row, cells in zip(rows[1:], table.rows, strict=True):
        for text, cell, column in zip(row, cells, table.columns, strict=True):
            expected = exact(cell.value, cell.style or column.style, digits)
            assert text == (
                f"'{expected}" if not column.numeric and expected[:1] in ("=", "-") else expected
            )


@pytest.mark.parametrize("digits", [None, 2])
def test_json_has_every_value(report, digits):
    layout = Layout(per_query="shown", digits=digits)
    runs = json.loads(rendered(report, "json", layout))["runs"]
    lines = [json.loads(line) for line in rendered(report, "jsonl", layout).splitlines()]
    for shown, (name_of_run, scores) in zip(runs, report.runs.items(), strict=True):
        assert list(shown["per_query"]) == [decoded(query) for query in scores.queries]
        for row, values in enumerate(shown["per_query"].values()):
            for name, value in values.items():
                column = scores[name]
                style = column.metric.measure.style
                expected = as_json(column.per_query.tolist()[row], style, digits)
                assert (value, type(value)) == (expected, type(expected))
        assert shown["per_query"] == {
            line["query"]: line["values"]
            for line in lines
            if line["kind"] == "query" and line["run"] == name_of_run
        }
        objects = report.document(layout)["runs"][runs.index(shown)]["per_query"]
        assert {query: objects[query] for query in objects} == shown["per_query"]


def test_na_is_no_number(report):
    values = [cell.value for row in report.table(Layout(per_query="shown")).rows for cell in row]
    assert any(isinstance(value, float) and math.isnan(value) for value in values)
