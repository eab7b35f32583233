import csv
import io
import json
from pathlib import Path

import pytest

from ragkpi.reports.renderers import REPORT_FORMATS
from tests.published_schema import valid_document, valid_lines

FIXTURES = Path(__file__).parents[1] / "helpdesk"
SELECTION = ["--pool", FIXTURES / "first_stage.run", FIXTURES / "qrels.txt"]
SELECTION += [FIXTURES / "reranked.run"]

# Two documents fit. q1: both 3s are in the pool, one is shown. q2: one of two is in the pool, and
# shown. q3: both shown. q4: nothing useful is judged. q5: the only 3 is not in the pool.
CASE = {
    "qrels": {
        "q1": {"a": 3, "b": 3, "x": 0},
        "q2": {"a": 3, "b": 3},
        "q3": {"a": 3, "b": 3},
        "q4": {"a": 0},
        "q5": {"a": 3},
    },
    "pool": {"q1": "xyab", "q2": "axy", "q3": "ab", "q4": "a", "q5": "x"},
    "run": {"q1": "ax", "q2": "ax", "q3": "ba", "q4": "a", "q5": "x"},
}


@pytest.fixture
def diagnose(ragkpi, tmp_path):
    def run(*arguments):
        return ragkpi("diagnose", "--format", "table", *arguments, folder=tmp_path)

    for name in ("pool", "run"):
        lines = [
            f"{query} Q0 {document} {rank} {-rank} {name}\n"
            for query, ranking in CASE[name].items()
            for rank, document in enumerate(ranking, 1)
        ]
        (tmp_path / name).write_text("".join(lines))
    lines = [
        f"{q} 0 {d} {level}\n" for q, levels in CASE["qrels"].items() for d, level in levels.items()
    ]
    (tmp_path / "qrels").write_text("".join(lines))
    return run


def test_a_case_by_hand(diagnose):
    outcome = diagnose("-k", 2, "--pool", "pool", "qrels", "run", "--format", "json", "-q")
    found = json.loads(outcome.out)
    assert found["findings"]["queries"] == {
        "q1": "reranker",
        "q2": "retriever",
        "q3": "fine",
        "q4": "NA",
        "q5": "retriever",
    }
    assert found["findings"]["verdicts"] == {
        "retriever": 2,
        "reranker": 1,
        "both": 0,
        "fine": 1,
        "NA": 1,
    }
    # q1 loses 1/2 by selection, q2 1/2 and q5 all by the pool, q3 nothing.
    assert found["findings"]["shares"] == pytest.approx(
        {"missed_by_pool": 1.5 / 4, "missed_by_selection": 0.5 / 4, "realised": 2 / 4}
    )
    # Of 1.5 + 0.5 lost; a resample of one query alone has 0 or 1.
    blame = found["findings"]["blame"]
    assert (blame["losing"], blame["decided"]) == (3, False)
    assert (blame["share"], blame["interval"]) == (0.75, [0, 1])
    assert (found["findings"]["shown"], found["findings"]["unjudged"]) == (8, 2)
    assert (blame["queries"], blame["losing"], blame["decided"]) == (4, 3, False)
    assert blame["share"] == pytest.approx(0.75)
    assert blame["p"] == 0.75  # of 8 sums of ±1, ±0.5, ±0.5 two are nearer to 0 than 1
    assert [row["query"] for row in found["rows"]] == ["q5", "q1", "q2", "q3", "q4"]
    missed = [row.get("document") for row in found["rows"]]
    assert missed == ["a", "b", "b", None, None]
    ranks = [row.get("pool_rank") for row in found["rows"]]
    assert ranks == ["not in it", 4, "not in it", None, None]
    assert found["rows"][0]["grade"] == 5
    assert found["rows"][0]["pct_proc_2"] is None


def test_one_query_blames_no_stage(diagnose):
    outcome = diagnose("-k", 2, "-D", "0.q1", "--pool", "pool", "qrels", "run", "--format", "json")
    blame = json.loads(outcome.out)["findings"]["blame"]
    assert (blame["losing"], blame["share"], blame["decided"]) == (1, 0, False)


@pytest.mark.parametrize(("query", "verdict"), [("q3", "fine"), ("q4", "NA")])
def test_there_may_be_nothing_to_mend(diagnose, query, verdict):
    outcome = diagnose(
        "-k", 2, "-D", f"0.{query}", "--pool", "pool", "qrels", "run", "--format", "json"
    )
    found = json.loads(outcome.out)["findings"]
    assert (found["queries"], found["blame"]) == ({query: verdict}, None)


def test_values_are_those_of_eval(ragkpi):
    outcome = ragkpi("diagnose", *SELECTION, "-q", "--missed", "0", "--format", "json")
    rows = {row["query"]: row for row in json.loads(outcome.out)["rows"]}
    names = ["proc_10", "pct_proc_10", "ra_nwg_10"]
    asked = [part for name in names for part in ("-m", name)]
    shown = ragkpi("eval", "-q", *asked, *SELECTION).out.decode().split("\n")
    compared = 0
    for name, query, value in (line.split() for line in shown if line):
        if query == "all":
            continue
        expected = None if value == "NA" else pytest.approx(float(value), abs=6e-5)
        assert rows[query][name] == expected
        compared += 1
    assert compared == 3 * len(rows) == 36


def test_people_see_the_worst_queries_and_each_once(ragkpi):
    outcome = ragkpi("diagnose", "--format", "table", *SELECTION, "--worst", "2", "--missed", "2")
    lines = outcome.out.decode().splitlines()
    heads = [line.split()[0] for line in lines[4:8]]
    assert heads[0] == "hd-12"
    assert heads[2] == "hd-07"
    assert heads[1].startswith("kb_")
    assert any(line.startswith("The 2 worst of 12 queries") for line in lines[8:])
    assert "retriever: 8" not in outcome.out.decode()
    explained = ragkpi("diagnose", "--format", "table", *SELECTION, "--explain").out.decode()
    assert "proc_10: Pool-restricted oracle ceiling" in explained
    assert "retriever: 8" in explained


def test_the_verdict_has_an_interval_of_resampled_queries(ragkpi):
    blame = json.loads(ragkpi("diagnose", *SELECTION, "--format", "json").out)["findings"]["blame"]
    (low, high), share = blame["interval"], blame["share"]
    assert (blame["stage"], blame["decided"]) == ("retrieval", True)
    assert 0.9 < low < share < high <= 1
    options = ["--resamples", 99, "--seed", 3, "--confidence", 0.9, "--format", "json"]
    found = json.loads(ragkpi("diagnose", *SELECTION, *options).out)
    assert sum(found["findings"]["blame"]["resampled"].values()) == pytest.approx(1)
    explained = " ".join(found["explanation"])
    assert "90% intervals of the share" in explained
    assert "99 resamples, seed 3" in explained


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_every_format_and_the_schema(ragkpi, tmp_path, name):
    target = tmp_path / "report"
    outcome = ragkpi("diagnose", *SELECTION, "-q", "--format", name, "-o", target)
    assert (outcome.status, outcome.out) == (0, b"")
    text = target.read_text(encoding="utf-8")
    if name in ("csv", "tsv"):
        read = list(csv.DictReader(io.StringIO(text), delimiter="," if name == "csv" else "\t"))
        assert len({row["query"] for row in read}) == 12
        assert all(row["query"] for row in read)
    elif name == "json":
        valid_document(text)
    elif name == "jsonl":
        assert valid_lines(text)
    else:
        assert "hd-12" in text


def test_pictures_count_the_quadrants(ragkpi, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "quadrants.svg"
    assert ragkpi("diagnose", *SELECTION, "--plot", target).status == 0
    chart = target.read_text(encoding="utf-8")
    assert ">retriever 8<" in chart
    assert ">reranker 0<" in chart
    for words in ("PROC 0, %PROC NA", "hd-12", "no useful document is judged: NA; hd-11"):
        assert words in " ".join(chart.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["qrels", "run"], "--pool RUN"),
        (["--pool", "pool", "qrels"], "1 file; expected two"),
        (["-m", "map", "--pool", "pool", "qrels", "run"], "-m: no such option;"),
        (["-R", "prefs", "--pool", "pool", "qrels", "run"], "-R: no such option;"),
        (["--grade-map", "rubric", "--pool", "pool", "qrels", "run"], "level 0"),
        (["-k", "0", "--pool", "pool", "qrels", "run"], "-k"),
    ],
)
def test_errors_are_one_line(diagnose, arguments, words):
    outcome = diagnose(*arguments)
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.decode().count("\n") == 1
    assert words in outcome.err.decode()


def test_a_run_that_was_selected_from_elsewhere_is_called_so(diagnose):
    for union, noted in ((), True), (("--pool-union",), False):
        outcome = diagnose("-k", 2, *union, "--pool", "run", "qrels", "pool")
        assert ("the run was not selected from it alone" in outcome.out.decode()) == noted


def test_swapped_files_are_not_diagnosed(ragkpi):
    files = [FIXTURES / name for name in ("qrels.txt", "first_stage.run", "reranked.run")]
    outcome = ragkpi("diagnose", *files[:2], "--pool", files[2], "--format", "json")
    assert outcome.status == 0
    found = json.loads(outcome.out)
    assert found["findings"]["blame"] is None
    assert "64 of the 120 documents" in found["answer"][0]


def test_one_query_is_no_queries(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text("q1 0 a 3\n")
    (tmp_path / "run").write_text("q1 Q0 a 1 1 run\n")
    arguments = ("--format", "table", "--explain", "--pool", "run", "qrels", "run")
    out = ragkpi("diagnose", *arguments, folder=tmp_path)
    assert "of the ideal gain, over 1 query: 0.0% missed" in " ".join(out.out.decode().split())
