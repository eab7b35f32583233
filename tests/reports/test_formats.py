"""A snapshot of each format: two runs over two queries, whose numbers can be worked by hand."""

import csv
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragkpi import __version__
from ragkpi.interface import wants_colour
from ragkpi.library.evaluation_report import EvaluationReport
from ragkpi.library.ground import Signature
from ragkpi.reports.layout import Layout
from ragkpi.reports.renderers import REPORT_FORMATS, rendered
from ragkpi.statistics.bootstrap import Bootstrap, Interval
from tests.made_scores import BOR, HARM, MAP, NUM_Q, NUM_RET, RUNID, metric, scores

SIGNATURE = Signature({"ragkpi": "9", "qrels": "sha256:" + "ab" * 32, "l": "1"}, {"l": "1"})
CHANCE = metric("p_rand_10", style="significant", better="neither")
VALUES = [RUNID, NUM_Q, MAP, BOR, HARM, CHANCE]


def run(rows):
    columns = zip(VALUES, rows, strict=True)
    return scores(list(columns), [b"q1", b"q2"], b"id")


BM25 = run(
    [[b"id"] * 2, [1, 1], [0.25, 0.5], [[1, 0.25], [1, 0.25]], [0.5, 0.25], [1.23e-05] * 2],
)
NEW = run(
    [[b"id"] * 2, [1, 1], [0.5, 1], [[0, 0.25], [0, 0.25]], [float("nan")] * 2, [1.23e-05] * 2],
)
TWO = EvaluationReport({"bm25": BM25, "new|run_": NEW})

JUNIT = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="ragkpi" tests="1" failures="0">
  <testcase classname="ragkpi" name="answer"><system-out></system-out></testcase>
<system-out>
{}</system-out>
</testsuite>
"""
SNAPSHOTS = {
    "github": r"""<details><summary>Table</summary>

| run | runid | num_q | map | bor_10 | harm_10 | p_rand_10 |
| :--- | :--- | ---: | ---: | ---: | ---: | ---: |
| bm25 | id | 2 | 0.3750 | **2.0000** | 0.3750 | 1.23e-05 |
| new\|run\_ | id | 2 | **0.7500** | -inf | NA | 1.23e-05 |

</details>

""",
    "table": """\
run        runid   num_q       map    bor_10   harm_10   p_rand_10
──────────────────────────────────────────────────────────────────
bm25       id          2    0.3750   2.0000*    0.3750    1.23e-05
new|run_   id          2   0.7500*      -inf        NA    1.23e-05
* best of its column
""",
    "csv": """\
run,runid,num_q,map,bor_10,harm_10,p_rand_10
bm25,id,2,0.375,2.0,0.375,1.23e-05
new|run_,id,2,0.75,-inf,NA,1.23e-05
""",
    "tsv": """\
run	runid	num_q	map	bor_10	harm_10	p_rand_10
bm25	id	2	0.375	2.0	0.375	1.23e-05
new|run_	id	2	0.75	-inf	NA	1.23e-05
""",
    "markdown": r"""| run | runid | num_q | map | bor_10 | harm_10 | p_rand_10 |
| :--- | :--- | ---: | ---: | ---: | ---: | ---: |
| bm25 | id | 2 | 0.3750 | **2.0000** | 0.3750 | 1.23e-05 |
| new\|run\_ | id | 2 | **0.7500** | -inf | NA | 1.23e-05 |
""",
    "latex": r"""\begin{tabular}{llrrrrr}
\toprule
run & runid & num\_q & map & bor\_10 & harm\_10 & p\_rand\_10 \\
\midrule
bm25 & id & 2 & 0.3750 & \textbf{\boldmath 2.0000} & 0.3750 & $1.23\cdot 10^{-5}$ \\
new\textbar{}run\_ & id & 2 & \textbf{\boldmath 0.7500} & $-\infty$ & NA & $1.23\cdot 10^{-5}$ \\
\bottomrule
\end{tabular}
""",
    "jsonl": """\
{"ragkpi": "VERSION", "kind": "run", "name": "bm25", "run_id": "id", "queries": 2, "values": \
{"runid": "id", "num_q": 2, "map": 0.375, "bor_10": 2.0, "harm_10": 0.375, "p_rand_10": 1.23e-05}\
, "known": {"map": 2, "bor_10": 2, "harm_10": 2, "p_rand_10": 2}}
{"ragkpi": "VERSION", "kind": "run", "name": "new|run_", "run_id": "id", "queries": 2, "values": \
{"runid": "id", "num_q": 2, "map": 0.75, "bor_10": "-inf", "harm_10": null, "p_rand_10": 1.23e-05}\
, "known": {"map": 2, "bor_10": 2, "harm_10": 0, "p_rand_10": 2}}
""",
}


SNAPSHOTS["junit"] = JUNIT.format(SNAPSHOTS["table"])


def written(form, report=TWO, **layout):
    return rendered(report, form, Layout(**layout))


@pytest.mark.parametrize("form", SNAPSHOTS)
def test_snapshots(form):
    assert written(form) == SNAPSHOTS[form].replace("VERSION", __version__)


def test_json_is_one_object_with_the_runs_of_jsonl():
    document = json.loads(written("json"))
    assert list(document) == ["ragkpi", "runs"]
    lines = [json.loads(line) for line in written("jsonl").splitlines()]
    assert [{"ragkpi": __version__, "kind": "run", **run} for run in document["runs"]] == lines


def test_every_format_has_a_snapshot():
    assert set(REPORT_FORMATS) == {*SNAPSHOTS, "json"}


def test_every_format_has_a_row_in_the_page():
    page = (Path(__file__).parents[2] / "docs" / "tables.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) >= set(REPORT_FORMATS)


def test_values_of_queries():
    """What is known of whole runs stands in their last rows; each query has its own best."""
    assert (
        written("table", per_query="shown")
        == """\
run        query   runid   num_q       map    bor_10   harm_10   p_rand_10
──────────────────────────────────────────────────────────────────────────
bm25       q1                       0.2500   2.0000*    0.5000    1.23e-05
new|run_   q1                      0.5000*      -inf        NA    1.23e-05
bm25       q2                       0.5000   2.0000*    0.2500    1.23e-05
new|run_   q2                      1.0000*      -inf        NA    1.23e-05
bm25       all     id          2    0.3750   2.0000*    0.3750    1.23e-05
new|run_   all     id          2   0.7500*      -inf        NA    1.23e-05
* best of its column
"""
    )
    assert (
        written("csv", per_query="shown", summary="hidden")
        == """\
run,query,map,bor_10,harm_10,p_rand_10
bm25,q1,0.25,2.0,0.5,1.23e-05
new|run_,q1,0.5,-inf,NA,1.23e-05
bm25,q2,0.5,2.0,0.25,1.23e-05
new|run_,q2,1.0,-inf,NA,1.23e-05
"""
    )
    lines = [json.loads(line) for line in written("jsonl", per_query="shown").splitlines()]
    assert [line["kind"] for line in lines] == ["run", "query", "query"] * 2
    assert lines[5] == {
        "kind": "query",
        "run": "new|run_",
        "query": "q2",
        "values": {"map": 1.0, "bor_10": "-inf", "harm_10": None, "p_rand_10": 1.23e-05},
        "statistics": {"bor_10": [0.0, 0.25]},  # as they were made
    }
    per_query = [one["per_query"] for one in json.loads(written("json", per_query="shown"))["runs"]]
    assert per_query[1]["q2"] == lines[5]["values"]


def test_runs_with_other_queries_have_rows_of_their_own():
    one = scores([(MAP, [0.1, 0.2])], [b"a", b"b"])
    two = scores([(MAP, [0.3, 0.4])], [b"b", b"c"])
    rows = written(
        "csv", EvaluationReport({"one": one, "two": two}), per_query="shown"
    ).splitlines()[1:]
    assert [row.rsplit(",", 1)[0] for row in rows] == [
        *("one,a", "one,b", "two,b", "two,c"),
        *("one,all", "two,all"),
    ]


INTERVALS = EvaluationReport(
    {"r": scores([(NUM_RET, [1, 2]), (BOR, [[1, 0.5]] * 2)])},
    bootstrap=Bootstrap(resamples=100, seed=3, method="percentile"),
    intervals={"r": {"bor_10": Interval(float("-inf"), 1.0)}},
)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", "1.0000 [-inf, 1.0000]"),
        ("csv", "run,num_ret,bor_10,bor_10_low,bor_10_high\nr,3,1.0,-inf,1.0\n"),
        ("markdown", "| r | 3 | 1.0000 [-inf, 1.0000] |"),
        ("latex", r"r & 3 & 1.0000 [$-\infty$, 1.0000] \\"),
        ("jsonl", '"intervals": {"bor_10": ["-inf", 1.0]}'),
        ("table", "[low, high]: 95% intervals over queries: percentile bootstrap, 100 resamples"),
    ],
)
def test_intervals(form, expected):
    assert expected in written(form, INTERVALS)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", "0.38"),
        ("csv", "bm25,id,2,0.38,2.00,0.38,1.2e-05"),
        ("markdown", "| bm25 | id | 2 | 0.38 | **2.00** | 0.38 | 1.2e-05 |"),
        ("jsonl", '"map": 0.38, "bor_10": 2.0, "harm_10": 0.38, "p_rand_10": 1.2e-05'),
    ],
)
def test_digits(form, expected):
    assert expected in written(form, digits=2)


def signed(*names):
    return EvaluationReport(dict.fromkeys(names, scores([(MAP, [0.5])])), SIGNATURE)


def test_signatures():
    short, long = "ragkpi:9|qrels:abababab", f"ragkpi:9|qrels:sha256:{'ab' * 32}|l:1"
    assert short not in written("table", signed("r0"))
    assert f"\n{short}\n" in written("table", signed("r0", "r1"), signature="short")
    assert written("latex", signed("r0"), signature="long").endswith(f"\n% {long}\n")
    assert written("csv", signed("r0"), signature="short") == (
        f"run,map,signature\nr0,0.5,{short}\n"
    )
    assert json.loads(written("json", signed("r0")))["runs"][0]["signature"] == long


def test_colour_only_when_asked_for(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in written("table")
    coloured = written("table", colour="always")
    assert "\x1b[1;32m0.7500*\x1b[0m" in coloured


@pytest.mark.parametrize(
    ("terminal", "variables", "wanted"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (False, {"FORCE_COLOR": ""}, False),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_who_wants_colour(terminal, variables, wanted, monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stream = SimpleNamespace(isatty=lambda: terminal)
    assert wants_colour(stream) == wanted


HOSTILE = EvaluationReport(
    {"\x1b[2J\n|\\&%_*[": scores([(MAP, [0.5])], [b'q\xff,"\t\xe4\xb8\xad'])}
)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", r"\x1b[2J\x0a|\&%_*["),
        ("markdown", r"| \\x1b\[2J\\x0a\|\\\&%\_\*\[ | q\\xff,"),
        (
            "latex",
            r"\textbackslash{}x1b{[}2J\textbackslash{}x0a\textbar{}\textbackslash{}\&\%\_*{[}",
        ),
        ("csv", '"\x1b[2J\n|\\&%_*[","q\udcff,""\t中"'),
        ("jsonl", r'"query": "q\\xff,\"\t中"'),
    ],
)
def test_hostile_names(form, expected):
    assert expected in written(form, HOSTILE, per_query="shown")


def test_hostile_names_come_back():
    (row,) = list(csv.reader(io.StringIO(written("csv", HOSTILE))))[1:]
    assert row[0] == next(iter(HOSTILE.runs))
    document = json.loads(written("json", HOSTILE, per_query="shown"))
    (query,) = document["runs"][0]["per_query"]
    assert query.encode("utf-8").replace(rb"\xff", b"\xff") == HOSTILE.runs[row[0]].queries[0]
