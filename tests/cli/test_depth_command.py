import csv
import io
import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from ragkpi.reports.renderers import REPORT_FORMATS
from tests.published_schema import valid_document, valid_lines

FIXTURES = Path(__file__).parents[2] / "fixtures"
QRELS = FIXTURES / "qrels.txt"
RUN = FIXTURES / "first_stage.run"


@pytest.fixture
def depth(ragkpi):
    return lambda *arguments: ragkpi("depth", "--format", "table", *arguments)


def rows(outcome):
    assert outcome.status == 0, outcome.err
    return json.loads(outcome.out)["rows"]


# The tables of source 000 with the corrections of the errata: K = 5 of 58 has the exact ceiling
# 1.69 (its Poisson column is wrong), showing all 58 exactly 0, and 5 of 20 only 0.735 bits.
@pytest.mark.parametrize(
    ("N", "R", "K", "lambda_", "bor_max"),
    [
        (58, 4, 5, 10 / 29, 1.6905234049945678897),
        (58, 4, 20, 40 / 29, 0.27575346212765475986),
        (58, 4, 58, 4.0, 0.0),
        (20, 3, 5, 0.75, 0.735),
        (20, 3, 20, 3.0, 0.0),
        (100, 8, 50, 4.0, None),
        (10_000, 1, 10, 0.001, 9.965784284662087),
        (11_314, 572, 10, 5720 / 11314, 1.3044003087511932469),
        (11_314, 572, 100, 57200 / 11314, 0.0078900519258999933582),
    ],
)
def test_tables_of_the_article(depth, N, R, K, lambda_, bor_max):
    (row,) = rows(depth("-N", N, "--relevant", R, "--at", K, "--format", "json"))
    assert row["lambda"] == pytest.approx(lambda_)
    if bor_max is not None:
        assert row["bor_max"] == pytest.approx(bor_max, abs=0.0005 if R == 3 else 1e-12)
    assert row["collapse"] == (row["p_rand"] >= 0.95)


def test_several_counts_are_averaged(depth):
    """The "3 to 5 tools" of source 000: P_rand is the mean over the cases, exactly."""
    (row,) = rows(depth("-N", 58, "--relevant", "3,5", "--at", 5, "--format", "json"))
    mean = (0.24079595540575576873 + 0.37372056927410829407) / 2
    assert row["p_rand"] == pytest.approx(mean, rel=1e-12)


def test_how_many_tools_may_i_show(depth):
    outcome = depth("--corpus-size", "58", "--relevant", "4", "--at", "5,20,58")
    lines = outcome.out.decode().splitlines()
    assert [line.split()[0] for line in lines[2:5]] == ["5", "20", "58"]
    assert lines[-1].startswith("Show at most 27 of 58: from K = 28 on chance")
    assert "1.69 (K = 5), 0.28 (K = 20), 0.11 (K = 27), 0.00 (K = 58)" in lines[-1]


def test_values_are_those_of_eval(depth, ragkpi):
    found = {row["K"]: row for row in rows(depth("-N", "5000", QRELS, RUN, "--format", "json"))}
    assert list(found) == [1, 2, 3, 5, 10, 20, 50]  # as deep as the run
    requests = ["p_obs", "p_rand", "ef", "bor", "bor_max", "lambda", "collapse", "recall", "ra_nwg"]
    asked = [part for name in requests for part in ("-m", f"{name}.10")]
    asked += ["-m", "dbor.5,10", "-m", "dbor_sparse.5,10"]
    shown = ragkpi("eval", "-N", "5000", *asked, QRELS, RUN).out.decode().split("\n")
    expected = {line.split()[0]: float(line.split()[2]) for line in shown if line}
    assert len(expected) == 11
    for name, value in expected.items():
        measure = name.removesuffix("_10").removesuffix("_5")
        assert found[10][measure] == pytest.approx(value, abs=6e-5, rel=1e-5)


def test_default_depths_end_with_what_counts_of_the_run(depth):
    options = ["-N", "5000", "-M", "7", "--format", "json"]
    assert [row["K"] for row in rows(depth(*options, QRELS, RUN))] == [1, 2, 3, 5]


def test_an_answer_ends_in_a_sentence_and_a_chart(depth):
    table, _, chart = (
        depth("-N", "5000", "--tokens-per-passage", "250", QRELS, RUN, "--plot", "-")
        .out.decode()
        .partition("\n\n")
    )
    # From rank 38 on ten of eleven answerable questions have something relevant.
    assert table.splitlines()[-1].startswith("Retrieve 38 (9,500 tokens): ")
    assert "Success (a relevant passage) is 0.909 there" in table
    assert chart.startswith("Success and chance by depth\n")
    assert "  o first_stage, retrieve 38   -- chance P_rand\n" in chart
    for title in ("Distance from the ceiling by depth", "What depth costs"):
        assert f"\n{title}" in chart
    assert "12 queries; N = 5,000; ragkpi:" in chart.splitlines()[-1]


def test_max_loss_binds_the_answer(depth):
    free = depth("-N", "5000", QRELS, RUN).out.decode()
    bound = depth("-N", "5000", QRELS, RUN, "--max-loss", "1").out.decode()
    line = "max loss: K = 2 is the deepest within 1 bit of the best"
    assert line in free
    assert line in bound
    assert "Retrieve 2: no deeper list stays within 1 bit of the best" in bound


def test_a_target_and_the_room_for_tokens(depth):
    """16 passages of 250 tokens fit 4,000."""
    options = ["-N", "5000", "--tokens-per-passage", "250", QRELS, RUN, "--target", "recall=0.3"]
    free = depth(*options).out.decode().splitlines()[-1]
    reached = int(free.split()[1])
    assert f"Retrieve {reached} ({250 * reached:,} tokens): recall is 0.3" in free
    tight = depth(*options, "--max-tokens", "4000").out.decode().splitlines()[-1]
    assert tight.startswith("Retrieve 16 (4,000 tokens): there is no room for more")
    assert reached > 16


def test_several_runs_have_a_curve_and_a_sentence_each(depth):
    runs = sorted((FIXTURES / "runs").iterdir())
    outcome = depth("-c", "-N", "5000", QRELS, *runs, "--at", "5,10", "--ci", "--format", "json")
    found = json.loads(outcome.out)
    names = ["bm25", "dense", "fusion"]
    assert [(row["run"], row["K"]) for row in found["rows"]] == [
        (name, K) for name in names for K in (5, 10)
    ]
    assert [sentence.partition(": ")[0] for sentence in found["answer"]] == names
    assert [study["run"] for study in found["findings"]["depth"]] == names
    for row in found["rows"]:
        for name in ("p_obs", "bor"):
            low, high = row[f"{name}_interval"]
            assert low <= row[name] <= high


def test_more_than_one_relevant_document_may_be_needed(depth):
    options = ["-N", "5000", "--at", "50", "--at-least", "3", "--format", "json"]
    (row,) = rows(depth(*options, QRELS, RUN))
    assert row["p_obs"] == pytest.approx(0.7)  # 7 of the 10 queries that have three


@pytest.mark.parametrize("name", REPORT_FORMATS)
@pytest.mark.parametrize("source", ["counts", "runs"])
def test_every_format_and_the_schema(depth, tmp_path, name, source):
    runs = ["--ci", QRELS, RUN, FIXTURES / "dense.run"]
    given = ["--relevant", "4"] if source == "counts" else runs
    target = tmp_path / "report"
    outcome = depth("-N", "5000", "--at", "1,10", *given, "--format", name, "-o", target)
    assert (outcome.status, outcome.out) == (0, b"")
    text = target.read_text(encoding="utf-8")
    if name in ("csv", "tsv"):
        read = list(csv.DictReader(io.StringIO(text), delimiter="," if name == "csv" else "\t"))
        assert [row["K"] for row in read] == ["1", "10"] * (1 if source == "counts" else 2)
        assert all(row["run"] for row in read if source == "runs")
    elif name == "json":
        valid_document(text)
    elif name == "jsonl":
        assert valid_lines(text)
    else:
        assert "bor" in text


def test_a_depth_that_cannot_succeed_has_no_ceiling(depth):
    outcome = depth("-N", "10", "--relevant", "2", "--at-least", "2", "--at", "1,10")
    assert (outcome.status, outcome.err) == (0, b"")
    assert b"A perfect selector reaches 0.32 (K = 9), 0.00 (K = 10) bits" in outcome.out


def test_a_picture_is_drawn(depth, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "depth.svg"
    assert depth("-N", "5000", QRELS, RUN, "--ci", "--plot", target).status == 0
    drawn = target.read_text(encoding="utf-8")
    for words in ("first_stage, retrieve 38", "BoR_max (bits)", "chance P_rand"):
        assert f">{words}<" in drawn
    assert "12 queries; N = 5,000; ragkpi:" in drawn


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "0 files; expected qrels and runs, qrels and -N, or -N and --relevant"),
        ([QRELS], "qrels without a run: the number to choose from is missing; give it with -N"),
        (["-N", "5000", "-M", "3", QRELS], "qrels without a run with -M: that is about runs"),
        (["-N", "5000", "--ci", QRELS], "without a run nothing is estimated"),
        (["-N", "5000", "--target", "recall=1", QRELS], "no system reaches it"),
        (["-N", "20", QRELS], "but the corpus size is 20"),
        (["-N", "5000", "--at", "6000", QRELS], "--at 6000: the corpus has only 5000"),
        (["--relevant", "4"], "give it with -N"),
        (["-N", "50", "--relevant", "4", "--ci"], "without a run nothing is estimated"),
        (["-N", "58", "--relevant", "59"], "--relevant 59"),
        (["-N", "58", "--relevant", "4", "-M", "3"], "--relevant with -M: that is about runs"),
        (["-N", "58", "--relevant", "4", "--plateau", "0.1"], "--relevant with --plateau"),
        (["-N", "58", "--relevant", "4,x"], "--relevant 4,x: expected whole numbers"),
        (["-N", "58", "--relevant", "4", "--at", "59"], "--at 59: the corpus has only 58"),
        (["-N", "58", "--relevant", "4", "--at", "0,5"], "--at 0,5"),
        (["-N", "58", "--relevant", "4", QRELS, RUN], "in place of files"),
        (["-N", "5000", "--at", "6000", QRELS, RUN], "--at 6000: the corpus has only 5000"),
        (["-N", "20", QRELS, RUN], "but the corpus size is 20"),
        (["-N", "58", "--relevant", "4", "--format", "trex"], "--format trex"),
        (["-N", "58", "--relevant", "4", "--plot", "x.pdf"], "--plot x.pdf"),
        (["--plot", "-", "--format", "json", QRELS, RUN], "stand behind the json"),
        (["-m", "map", QRELS, RUN], "No such option: -m;"),
        (["--target", "recall", QRELS, RUN], "--target recall: expected NAME=NUMBER"),
        (["-N", "58", "--relevant", "4", "--target", "recall=1"], "no system reaches it"),
        (["--max-tokens", "900", QRELS, RUN], "Give --tokens-per-passage"),
        (
            ["--max-tokens", "9", "--tokens-per-passage", "250", QRELS, RUN],
            "not even one passage of 250 fits",
        ),
        (["-R", "prefs", QRELS, RUN], "No such option: -R;"),
    ],
)
def test_errors_are_one_line(depth, monkeypatch, arguments, words):
    monkeypatch.delenv("RAGKPI_CORPUS_SIZE", raising=False)
    outcome = depth(*arguments)
    assert (outcome.status, outcome.out) == (1, b"")
    assert outcome.err.decode().count("\n") == 1
    assert words in outcome.err.decode()


def test_without_a_corpus_size_the_lower_bound_is_said(depth, monkeypatch):
    monkeypatch.delenv("RAGKPI_CORPUS_SIZE", raising=False)
    outcome = depth(QRELS, RUN)
    assert outcome.status == 0
    assert b"every bor is a lower bound" in outcome.err


def test_depths_below_the_run_are_called_so(depth):
    outcome = depth("-N", "5000", "--at", "50,100", QRELS, RUN)
    assert outcome.status == 0
    assert b"no query has more than 50 documents" in outcome.err
    assert b"no query has more" not in depth("-N", "5000", "--at", "50", QRELS, RUN).err


def test_several_runs_are_over_the_same_queries(ragkpi):
    """What `eval -c` says of each alone: dense lacks a judged query, which counts as empty."""
    runs = [f"fixtures/runs/{name}.run" for name in ("bm25", "dense")]
    found = ragkpi("depth", "-N", 5000, "--at", 10, "fixtures/qrels.txt", *runs, "--format", "json")
    assert b"1 of 12 judged queries is missing from dense (hd-09) and counts as 0" in found.err
    for row, run in zip(json.loads(found.out)["rows"], runs, strict=True):
        alone = ragkpi("eval", "-c", "-m", "p_obs.10", "fixtures/qrels.txt", run).out.split()[-1]
        assert f"{row['p_obs']:.4f}".encode() == alone


def by_chance(N, R, K):
    """P(X >= 1) of the hypergeometric distribution, exactly."""
    return 1 - Fraction(math.comb(N - R, K), math.comb(N, K))


def test_every_given_count_is_a_query(depth):
    """Equal counts are queries of their own: four have one relevant document, one has five."""
    (row,) = rows(depth("-N", 5183, "--relevant", "1,1,1,1,5", "--at", "10,10", "--format", "json"))
    mean = (4 * by_chance(5183, 1, 10) + by_chance(5183, 5, 10)) / 5
    assert row["p_rand"] == pytest.approx(float(mean), rel=1e-12)
    assert row["bor_max"] == pytest.approx(-math.log2(mean), abs=1e-12)
    assert row["lambda"] == pytest.approx(10 * 9 / 5 / 5183)


def test_qrels_without_a_run_have_ceilings(depth, tmp_path):
    """Counted by query from the level that -l sets; a query without relevant ones has no chance."""
    (tmp_path / "qrels").write_text(
        "a 0 x 1\na 0 y 2\na 0 z 0\nb 0 x 2\nc 0 x 0\nd 0 x 1\nd 0 y 1\nd 0 z 2\n"
    )
    options = ("-N", 100, "--at", 7, "--format", "json", tmp_path / "qrels")
    for more, counts in (((), (2, 1, 3)), (("-l", 2), (1, 1, 1))):
        (row,) = rows(depth(*options, *more))
        mean = sum(by_chance(100, R, 7) for R in counts) / len(counts)
        assert row["p_rand"] == pytest.approx(float(mean), rel=1e-12)
        assert row["bor_max"] == pytest.approx(-math.log2(mean), abs=1e-12)
    (alone,) = rows(depth(*options, "-D", "0.d"))
    assert alone["p_rand"] == pytest.approx(float(by_chance(100, 3, 7)), rel=1e-12)


def test_the_ceilings_of_scifact(depth):
    """Source 000: N = 5,183 has ceilings of 8.84 bits at K = 10 and 5.52 at K = 100."""
    qrels = Path(__file__).parents[3] / "shared/data/scifact/qrels.txt"
    if not qrels.exists():
        pytest.skip("needs ../shared")
    found = rows(depth("-N", 5183, "--at", "10,100", "--format", "json", qrels))
    assert [round(row["bor_max"], 2) for row in found] == [8.84, 5.52]


def test_queries_may_have_tools_of_their_own(depth, tmp_path):
    """Of two agents one has 10 tools and the other 40; 20 shown are all that the first has."""
    (tmp_path / "qrels").write_text("a 0 x 1\nb 0 x 1\n")
    (tmp_path / "sizes").write_text("a 10\nb 40\n")
    options = ("--corpus-sizes", tmp_path / "sizes", "--at", 20, "--format", "json")
    (row,) = rows(depth(*options, tmp_path / "qrels"))
    assert row["p_rand"] == pytest.approx((1 + 20 / 40) / 2)
