"""All that is written as JSON is valid under the published schema."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import get_args

import jsonschema
import pytest

from ragkpi.files.inputs import Inputs
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.ground import Provenance, Signature
from ragkpi.measures.measure import Better
from ragkpi.questions.compare.answer import compared_report
from ragkpi.questions.evaluate.log import History, record
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import rendered
from ragkpi.statistics.bootstrap import Bootstrap, intervals
from ragkpi.statistics.decisions import TESTS, CorrectionName, Family, Method
from ragkpi.statistics.gates import Outcome
from ragkpi.statistics.paired import Claim, Procedure, compare
from ragkpi.statistics.significance import CORRECTIONS
from tests.made_scores import BOR, MAP, NUM_Q, RUNID, scores
from tests.published_schema import SCHEMA, valid_document, valid_lines

BOOTSTRAP = Bootstrap(resamples=20, method="percentile")
LAYOUTS = [
    Layout(per_query=per_query, digits=digits)
    for per_query, digits in product(["hidden", "shown"], [None, 2])
]


def run(rows):
    return scores([(RUNID, [b"id\xff"] * 3), (NUM_Q, [1] * 3), (MAP, rows[0]), (BOR, rows[1])])


def report(**runs):
    found = {name: intervals(made, BOOTSTRAP) for name, made in runs.items()}
    return EvaluationReport(runs, Signature({"ragkpi": "9"}, {}), BOOTSTRAP, found)


ONE = run([[0.5, float("nan"), 0.25], [[0, 0.5], [0, 0.25], [float("nan")] * 2]])
NOTHING = run([[float("nan")] * 3, [[float("nan")] * 2] * 3])
PROVENANCE = Provenance({"qrels": {"path": "q", "sha256": "0" * 64}}, "-", Inputs(hashed=False))
MOMENT = datetime(2026, 11, 21, 2, 48, 15, tzinfo=UTC)
REPORTS = {
    "one run": report(one=ONE),
    "two runs": report(one=ONE, nothing=NOTHING),
    "without intervals": EvaluationReport({"plain": ONE}),
    "comparison": compared_report(compare(["a", "b", "c"], [ONE, NOTHING, ONE], Procedure())),
    "history": History(
        [
            record(
                replace(report(one=ONE), provenance={"one": PROVENANCE}),
                "one",
                {"index": "v3"},
                time=MOMENT,
            )
        ]
    ),
}


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


CHOICES = {
    "test": tuple(TESTS),
    "correction": get_args(CorrectionName),
    "family": get_args(Family),
    "run.bootstrap.method": get_args(Method),
    "difference.decision": get_args(Claim),
    "standing.rows.items.claim": {*get_args(Claim)} - {"described"},
    "report.measures.items.better": get_args(Better),
    "gate.outcome": get_args(Outcome),
}
FREE = {  # written by one line of code
    *("all_pairs.test", "all_pairs.correction"),
    *("number", "difference.per_query.items.outcome", "chart.kind", "report.advice.items.section"),
}


def enums(part, path=()):
    if isinstance(part, dict):
        if "enum" in part:
            yield ".".join(p for p in path if p not in ("properties", "anyOf")), set(part["enum"])
        for key, inner in part.items():
            yield from enums(inner, (*path, key))
    elif isinstance(part, list):
        for inner in part:
            yield from enums(inner, path)


def test_its_choices_are_those_of_the_code():
    listed = dict(enums(SCHEMA["$defs"]))
    assert listed.keys() == CHOICES.keys() | FREE
    assert {name: listed[name] for name in CHOICES} == {n: set(of) for n, of in CHOICES.items()}
    assert {*CORRECTIONS} == {*CHOICES["correction"]}


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("name", REPORTS)
def test_documents_and_lines(name, layout):
    valid_document(rendered(REPORTS[name], "json", layout))
    assert valid_lines(rendered(REPORTS[name], "jsonl", layout))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "run"},
        {"kind": "query", "run": "a", "query": "q", "values": {"map": [1]}},
        {"run": "a", "query": "q", "values": {}},
    ],
)
def test_the_schema_refuses(wrong):
    with pytest.raises(jsonschema.ValidationError):
        valid_lines(json.dumps(wrong))


def test_values_by_hand():
    (found,) = json.loads(rendered(REPORTS["one run"], "json", LAYOUTS[2]))["runs"]
    assert found["values"] == {"runid": "id\\xff", "num_q": 3, "map": 0.375, "bor_10": "-inf"}
    assert found["known"] == {"map": 2, "bor_10": 2}
    assert found["intervals"]["bor_10"] == ["-inf", "-inf"]
    assert found["per_query"]["q001"] == {"map": None, "bor_10": "-inf"}
    assert found["per_query"]["q002"] == {"map": 0.25, "bor_10": None}
