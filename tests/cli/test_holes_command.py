import itertools
import json
from pathlib import Path

import pytest

from ragkpi.reports.renderers import REPORT_FORMATS
from tests.published_schema import valid_document, valid_lines

FIXTURES = Path(__file__).parents[1] / "helpdesk"
QRELS = FIXTURES / "qrels.txt"
RERANKED = [QRELS, FIXTURES / "reranked.run"]

CASE = {
    # a is relevant; h1 and h2 are not judged. One run: P_2 1/2 to 1. The other: 0 to 1.
    "qrels": "q1 0 a 2\nq1 0 b 0\nq1 0 n -1\n",
    "first": "q1 Q0 a 1 3 first\nq1 Q0 h1 2 2 first\nq1 Q0 n 3 1 first\n",
    "second": "q1 Q0 h2 1 3 second\nq1 Q0 h1 2 2 second\n",
    "judged": "q1 Q0 a 1 3 judged\nq1 Q0 b 2 2 judged\n",
}


@pytest.fixture
def holes(ragkpi, tmp_path):
    for name, text in CASE.items():
        (tmp_path / name).write_text(text)
    return lambda *arguments: ragkpi("holes", "--format", "table", *arguments, folder=tmp_path)


def rows_of(outcome):
    return json.loads(outcome.out)["rows"]


def test_a_case_by_hand(holes):
    outcome = holes("-m", "P.2", "qrels", "first", "second", "--format", "json")
    rows = [
        {k: row[k] for k in ("run", "judged", "value", "min", "max")} for row in rows_of(outcome)
    ]
    assert rows == [
        {"run": "first", "judged": 0.5, "value": 0.5, "min": 0.5, "max": 1.0},
        {"run": "second", "judged": 0.0, "value": 0.0, "min": 0.0, "max": 1.0},
    ]
    found = json.loads(outcome.out)["findings"]
    swap = {"measure": "P_2", "better": "first", "worse": "second", "certain": False}
    assert found["swaps"] == [swap]  # h1 serves both: the second run can draw level, not pass
    assert json.loads(outcome.out)["answer"] == [
        "3 unjudged documents are retrieved. They might change which run is best: "
        "second might pass first in P_2. Judge first: h2 for q1, h1 for q1 (2 of 2 that can "
        "change a value)."
    ]


@pytest.mark.parametrize("turned", [1, -1])
@pytest.mark.parametrize(
    ("texts", "qrels", "measure", "better", "worse", "certain"),
    [
        # Both find nothing now: the hole z of one can only put it ahead.
        (
            {"shut": "q Q0 b 1 2 r\nq Q0 d 2 1 r\n", "none": "q Q0 b 1 2 r\nq Q0 z 2 1 r\n"},
            "q 0 a 1\nq 0 b 0\nq 0 d 0\n",
            *("P_2", "shut", "none", True),
        ),
        # Recall is 1 of 1 for both; z, which one of them retrieves, may halve that of the other.
        (
            {"kept": "q Q0 a 1 2 r\nq Q0 z 2 1 r\n", "risky": "q Q0 a 1 2 r\nq Q0 b 2 1 r\n"},
            "q 0 a 1\nq 0 b 0\n",
            *("recall_2", "risky", "kept", True),
        ),
    ],
)
def test_of_equal_runs_the_order_of_files_chooses_none(
    texts, qrels, measure, better, worse, certain, turned, ragkpi, tmp_path
):
    for name, text in {**texts, "qrels": qrels}.items():
        (tmp_path / name).write_text(text)
    words = "-m", measure, "qrels", *[*texts][::turned], "--format", "json"
    document = json.loads(ragkpi("holes", *words, folder=tmp_path).out)
    (swap,) = document["findings"]["swaps"]
    assert (swap["better"], swap["worse"], swap["certain"]) == (better, worse, certain)
    assert f": {worse} could pass {better} in {measure}." in document["answer"][0]


def test_two_runs_are_one_pair(ragkpi, tmp_path):
    """Equal now: y at rank 1 may put one ahead by P_1; by P_3 either may pass the other.

    The order of the files chooses neither.
    """
    (tmp_path / "first").write_text("q Q0 y 1 3 r\nq Q0 a 2 2 r\nq Q0 b 3 1 r\n")
    (tmp_path / "second").write_text("q Q0 b 1 3 r\nq Q0 a 2 2 r\nq Q0 z 3 1 r\n")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    either = {("first", "second"), ("second", "first")}
    for runs in itertools.permutations(["first", "second"]):
        words = ("holes", "-m", "P.1,P.3", "qrels", *runs, "--format", "json")
        document = json.loads(ragkpi(*words, folder=tmp_path).out)
        swaps = {"P_1": set(), "P_3": set()}
        for swap in document["findings"]["swaps"]:
            assert swap["certain"]
            swaps[swap["measure"]].add((swap["better"], swap["worse"]))
        assert swaps == {"P_1": {("second", "first")}, "P_3": either}
        assert ": first could pass second in P_1, P_3. " in document["answer"][0]
        (of_three,) = (said for said in document["explanation"] if said.startswith("P_3: "))
        ways = {f"{one} could pass {other}" for one, other in either}
        assert set(of_three.removeprefix("P_3: ").removesuffix(".").split(", ")) == ways


@pytest.mark.parametrize(
    ("runs", "says"),
    [
        # 1 of 2 and 0 of 2 now; two holes reach 2 of 2, which cannot pass 2 of 2, but 1 of 2.
        (
            ["best", "half", "open"],
            "They cannot change which run is best, only the order of 1 pair",
        ),
        (["half", "open"], "They could change which run is best: open could pass half in P_2."),
        (["best", "shut"], "No unjudged document is retrieved: nothing can change."),
        (["best", "none"], "They cannot change the order of any two runs."),
    ],
)
def test_the_verdict_is_about_the_best_run(runs, says, ragkpi, tmp_path):
    top = {"best": "ac", "half": "ab", "open": "xy", "shut": "bd", "none": "bz"}
    for run, (first, second) in top.items():
        (tmp_path / run).write_text(f"q Q0 {first} 1 2 r\nq Q0 {second} 2 1 r\n")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 c 1\nq 0 b 0\nq 0 d 0\n")
    outcome = ragkpi("holes", "-m", "P.2", "qrels", *runs, "--format", "json", folder=tmp_path)
    (verdict,) = json.loads(outcome.out)["answer"]
    assert says in verdict
    assert len(verdict) <= 3 * 80


def test_what_cannot_change_is_said_of_the_measures_with_bounds(ragkpi, tmp_path):
    """z is below the cutoff of P_1; relevant, it makes R 2, and Rprec of the first run 1 of 2."""
    (tmp_path / "first").write_text("q Q0 a 1 3 r\nq Q0 b 2 2 r\nq Q0 z 3 1 r\n")
    (tmp_path / "second").write_text("q Q0 b 1 3 r\nq Q0 a 2 2 r\n")
    (tmp_path / "qrels").write_text("q 0 a 1\nq 0 b 0\n")
    words = ("holes", "-m", "Rprec", "-m", "P.1", "qrels", "first", "second", "--format", "json")
    (verdict,) = json.loads(ragkpi(*words, folder=tmp_path).out)["answer"]
    assert verdict == "1 unjudged document is retrieved. They cannot change any value of P_1."


def test_assessors_get_the_best_ranks_first(holes, tmp_path):
    arguments = ["-m", "P.2", "--assess", "list.tsv", "qrels"]
    assert holes(*arguments, "first", "second").status == 0
    head, *lines = [line.split("\t") for line in (tmp_path / "list.tsv").read_text().splitlines()]
    assert head == ["query", "document", "share", "best_rank"]
    # h1 settles 1/2 in both runs, h2 1/2 in one; n is at rank 3 of the first run.
    assert lines == [["q1", "h2", "0.333333", "1"], ["q1", "h1", "0.666667", "2"]]


def test_no_unjudged_documents(holes):
    assert {row["width"] for row in rows_of(holes("qrels", "judged", "--format", "json"))} == {0}


def test_a_table_of_widths_0_is_a_line(holes):
    """Programs get the values, and so does who asks for another format."""
    outcome = holes("-m", "P.2", "-m", "map", "qrels", "judged")
    verdict, offer = outcome.out.decode().splitlines()
    assert verdict.startswith("No unjudged document ")
    assert offer.endswith(" --explain")
    # What is below rank 1 cannot change what is at rank 1.
    outcome = holes("-m", "P.1", "qrels", "first", "judged")
    assert outcome.out.startswith(b"2 unjudged documents are retrieved. They cannot change any")
    assert b"width" not in outcome.out
    assert b"width" in holes("-m", "P.1", "qrels", "first", "judged", "--format", "csv").out


def test_judged_is_what_check_says(holes, ragkpi, tmp_path):
    """1 of 6 retrieved documents is judged. The four empty places are neither."""
    lines = [f"q1 Q0 {name} 1 {-rank} short\n" for rank, name in enumerate("axyzvw")]
    (tmp_path / "short").write_text("".join(lines))
    (row,) = rows_of(holes("-m", "P.10", "qrels", "short", "--format", "json"))
    assert row["judged"] == 1 / 6
    assert b"16.7% of the top 10 (1 of 6)" in ragkpi("check", "qrels", "short", folder=tmp_path).out


def test_a_width_of_other_runs_documents_says_so(holes):
    """All that one run retrieves is judged; h2, which the other has, counts in R."""
    says = b"a fully judged run can still have a range"
    arguments = "-m", "recall.2", "qrels", "judged"
    assert says in holes(*arguments, "second").out
    assert says not in holes(*arguments).out


def test_measures_without_bounds_are_named_with_the_reason(holes):
    outcome = holes("-m", "bpref", "-m", "P.2", "-m", "unj.5", "qrels", "first", "--format", "json")
    left_out = json.loads(outcome.out)["findings"]["left_out"]
    assert [one["measure"] for one in left_out] == ["bpref", "unj_5"]
    assert [row["measure"] for row in rows_of(outcome)] == ["P_2"]
    outcome = holes("-m", "bpref", "qrels", "first")
    assert b"No chosen measure can be bounded" in outcome.out


def test_a_row_per_query(holes):
    outcome = holes(
        "-q", "-m", "recip_rank", "-m", "bor.2", "-N", 9, "qrels", "first", "--format", "json"
    )
    assert [(row["measure"], row["query"]) for row in rows_of(outcome)] == [
        ("recip_rank", "q1"),
        ("recip_rank", "all"),
        ("bor_2", "q1"),
        ("bor_2", "all"),
    ]


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_every_format_writes_it(ragkpi, name):
    outcome = ragkpi("holes", *RERANKED, "-m", "P.10", "--format", name)
    assert (outcome.status, outcome.complaints) == (0, [])
    assert b"reranked" in outcome.out


def test_json_is_valid_under_the_schema(ragkpi):
    runs = sorted((FIXTURES / "runs").glob("*.run"))
    for extra in ([], ["-q", "-m", "bor.10", "-m", "ra_nwg.5", "-N", 5000]):
        outcome = ragkpi(
            "holes", QRELS, *runs, FIXTURES / "reranked.run", *extra, "--format", "json"
        )
        valid_document(outcome.out)
        assert valid_lines(ragkpi("holes", *RERANKED, *extra, "--format", "jsonl").out)


def test_pictures(ragkpi, tmp_path):
    pytest.importorskip("matplotlib")
    runs = sorted((FIXTURES / "runs").glob("*.run"))
    for number, given in enumerate((RERANKED, [QRELS, *runs])):
        picture = tmp_path / f"{number}.svg"
        outcome = ragkpi(
            "holes", *given, "-m", "P.10", "-m", "bor.10", "-N", 5000, "--plot", picture
        )
        assert outcome.status == 0
        assert b"current value and possible range" in picture.read_bytes()


def test_no_measure_is_without_a_panel(ragkpi, tmp_path):
    pytest.importorskip("matplotlib")
    names = ["map", "P_10", "recall_10", "ndcg_cut_10", "recip_rank"]
    asked = [part for name in names for part in ("-m", name.replace("_10", ".10"))]
    runs = [QRELS, *(FIXTURES / "runs" / f"{name}.run" for name in ("bm25", "dense"))]
    assert ragkpi("holes", *runs, *asked, "--plot", tmp_path / "h.svg").status == 0
    drawn = (tmp_path / "h.svg").read_text()
    assert [name for name in names if name in drawn] == names
    assert "12 queries; ragkpi:" in drawn


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["qrels"], "1 file; expected "),
        (["-J", "qrels", "first"], "-J: no such option;"),
        (["-R", "prefs", "-m", "num_q", "qrels", "first"], "-R: no such option;"),
        (["qrels", "first", "--assess", "/nowhere/list"], "--assess /nowhere/list"),
    ],
)
def test_errors_are_one_line(holes, arguments, says):
    outcome = holes(*arguments)
    assert outcome.status == 1
    assert says in outcome.err.decode()
    assert outcome.err.count(b"\n") == 1
