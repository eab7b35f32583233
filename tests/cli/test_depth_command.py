import csv
import inspect
import io
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest

import ragkpi
from ragkpi.library.options import Estimating
from ragkpi.questions.depth.command import _USES
from ragkpi.reports.renderers import REPORT_FORMATS
from tests.published_schema import valid_document, valid_lines

FIXTURES = Path(__file__).parents[1] / "helpdesk"
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
    assert [line.split()[0] for line in lines[4:7]] == ["5", "20", "58"]
    assert lines[0].startswith("Show at most 27 of 58: from K = 28 on a random draw")
    assert "A perfect selector reaches 0.11 bits over random there." in lines[0]


def test_values_are_those_of_eval(depth, ragkpi):
    found = {row["K"]: row for row in rows(depth("-N", "5000", QRELS, RUN, "--format", "json"))}
    assert list(found) == [1, 2, 3, 4, 5, 10, 20, 38, 50]  # as deep as the run; 4, 38: the verdict
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
    assert [row["K"] for row in rows(depth(*options, QRELS, RUN))] == [1, 2, 3, 4, 5, 7]


def test_an_answer_begins_with_a_sentence_and_a_picture_has_two_charts(depth, tmp_path):
    pytest.importorskip("matplotlib")
    lines = depth("-N", "5000", QRELS, RUN, "--plot", tmp_path / "d.svg").out.decode().splitlines()
    # From rank 38 on ten of eleven answerable questions have something relevant; without the tenth
    # question, that is in (10/11)^11 = 35% of the resamples, nine of ten have it at rank 4.
    assert lines[0].startswith("Undecided between 4 and 38: at K = 4 already 82% of the queries")
    drawn = (tmp_path / "d.svg").read_text(encoding="utf-8")
    for words in ("Bits over random", "Success", "first_stage"):
        assert f">{words}<" in drawn
    assert ">ceiling BoR_max<" in drawn
    assert re.search(r">12 queries; ragkpi:\S+N:5000", drawn)


def test_the_reasons_are_one_option_away(depth):
    plain = depth("-N", "5000", QRELS, RUN).out.decode()
    explained = depth("-N", "5000", QRELS, RUN, "--explain").out.decode()
    for reason in (
        "plateau: from K = 38 on success stays at 0.909",
        "max loss: K = 2 is the deepest within 1 bit of the best",
        "bootstrap: the depth is chosen again in 1,000 resamples",
    ):
        assert reason in explained
        assert reason not in plain


def test_max_loss_binds_the_answer(depth, tmp_path):
    """13 of 20 are found at rank 1, and 6 at rank 9: 8 draws more cost log2(9) - log2(19/13)."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{q} 0 d 1\n" for q in range(100, 120)))
    ranks = [*[1] * 13, *[9] * 6, 12]
    run.write_text(
        "".join(
            f"{q} Q0 {'d' if rank == place else rank} {rank} {-rank} r\n"
            for q, place in enumerate(ranks, 100)
            for rank in range(1, 11)
        )
    )
    options = ("-N", 5000, qrels, run)
    assert depth(*options, "--max-loss", "2.63").out.startswith(b"Retrieve 9 (")
    bound = depth(*options, "--max-loss", "1").out.decode()
    assert bound.startswith("Retrieve 2 (2 in 95% of bootstrap samples): ")
    assert " within 1 bit" in bound


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
    assert b"A perfect selector reaches 0.32 bits" in outcome.out


def test_a_picture_is_drawn(depth, tmp_path):
    pytest.importorskip("matplotlib")
    target = tmp_path / "depth.svg"
    assert depth("-N", "5000", QRELS, RUN, "--ci", "--plot", target).status == 0
    drawn = target.read_text(encoding="utf-8")
    for words in ("Success", "BoR (bits)", "ceiling BoR_max", "random baseline P_rand"):
        assert f">{words}<" in drawn
    assert re.search(r"12 queries; ragkpi:\S+N:5000", drawn)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "expected qrels and runs, qrels and -N, --relevant and -N, or --log"),
        ([QRELS], "qrels without a run: the number of candidates is missing; give it with -N"),
        (
            ["-N", "5000", "-M", "3", QRELS],
            "with -M: that is for runs",
        ),
        (["-N", "5000", "--ci", QRELS], "with --ci: that is for --log and runs"),
        (["-N", "5000", "--seed", "5", QRELS], "with --seed: "),
        (["-N", "20", QRELS], "size is 20"),
        (["-N", "5000", "--at", "6000", QRELS], "--at 6000: the corpus has only 5000"),
        (["--relevant", "4"], "give it with -N"),
        (
            ["-N", "50", "--relevant", "4", "--ci"],
            "--relevant with --ci: ",
        ),
        (["-N", "58", "--relevant", "59"], "--relevant 59"),
        (["-N", "58", "--relevant", "4", "-M", "3"], "--relevant with -M: "),
        (["-N", "58", "--relevant", "4,x"], "--relevant 4,x: expected whole numbers"),
        (["-N", "58", "--relevant", "4", "--at", "59"], "--at 59: "),
        (["-N", "58", "--relevant", "4", "--at", "0,5"], "--at 0,5"),
        (["-N", "58", "--relevant", "4", QRELS, RUN], "--relevant replaces files"),
        (["-N", "5000", "--at", "6000", QRELS, RUN], "--at 6000: "),
        (["-N", "20", QRELS, RUN], "size is 20"),
        (["-N", "58", "--relevant", "4", "--format", "trex"], "--format: 'trex' is not"),
        (["-N", "58", "--relevant", "4", "--plot", "x.gif"], "--plot x.gif"),
        (["--plot", "-", QRELS, RUN], "--plot -: no such kind of picture"),
        (["-m", "map", QRELS, RUN], "-m: no such option;"),
        (["-R", "prefs", QRELS, RUN], "-R: no such option;"),
        (["--at-least", "x%", QRELS, RUN], "--at-least x%: expected a number of documents"),
        (["--at-least", "0", QRELS, RUN], "--at-least"),
        (["--at-least", "101%", QRELS, RUN], "or a share of the relevant ones such as 50%"),
        (
            ["-N", "58", "--relevant", "4", "--success", "0.5"],
            "1 rate; expected one for each depth of --at",
        ),
        (
            ["-N", "58", "--relevant", "4", "--success", "1.5", "--at", "5"],
            "--success 1.5: expected numbers from 0 to 1",
        ),
        (
            ["-N", "58", "--relevant", "4", "--success", "x", "--at", "5"],
            "--success x: ",
        ),
        (
            ["-N", "5000", "--success", "0.5", "--at", "5", QRELS, RUN],
            "runs with --success: that is",
        ),
        (["-N", "5000", "-c", QRELS], "qrels without a run with -c: that is for runs"),
        (["-N", "5000", "-J", QRELS], "qrels without a run with -J: that is for runs"),
        (["-N", "58", "--relevant", "4", "-D", "0.q"], "with -D: that is for runs and qrels"),
        (["-N", "58", "--relevant", "0%"], "--relevant 0%: expected a number of documents"),
        (["--log", "no", "-l", "2"], "--log with -l: that is for runs and qrels without a run"),
        (["--log", "no", "--max-loss", "1"], "--log with --max-loss: that is for "),
        (["--map-log", "N=x", QRELS, RUN], "runs with --map-log: that is for --log"),
        (["--confidence", "0.9", QRELS, RUN], "--confidence: no interval; give --ci"),
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
    assert b"makes every bor a lower bound" in outcome.err


def test_depths_below_the_run_are_called_so(depth):
    outcome = depth("-N", "5000", "--at", "50,100", QRELS, RUN)
    assert outcome.status == 0
    assert b"no query has more than 50 documents" in outcome.err
    assert b"50 documents" not in depth("-N", "5000", "--at", "50", QRELS, RUN).err


def test_several_runs_are_over_the_same_queries(ragkpi):
    """What `eval -c` says of each alone: dense lacks a judged query, which counts as empty."""
    runs = [f"tests/helpdesk/runs/{name}.run" for name in ("bm25", "dense")]
    qrels = "tests/helpdesk/qrels.txt"
    found = ragkpi("depth", "-N", 5000, "--at", 10, qrels, *runs, "--format", "json")
    assert b"from dense (hd-09)" in found.err
    for row, run in zip(json.loads(found.out)["rows"], runs, strict=True):
        alone = ragkpi("eval", "-c", "-m", "p_obs.10", qrels, run).out.split()[-1]
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


@pytest.mark.parametrize(
    ("system", "recall", "bits"),
    [
        ("BM25", 0.857, 12.89),
        ("SPLADE", 0.979, 13.08),
        ("ColBERTv2", 0.985, 13.09),
        ("SimLM", 0.987, 13.09),
    ],
)
def test_published_rates_of_ms_marco(depth, system, recall, bits):
    """Source 000: recall at 1000 of 8.84 million passages, under a ceiling of 13.11 bits."""
    options = ("-N", 8841823, "--relevant", 1, "--at", 1000, "--success", recall)
    (row,) = rows(depth(*options, "--format", "json"))
    assert (round(row["bor"], 2), round(row["bor_max"], 2)) == (bits, 13.11)
    said = " ".join(depth(*options).out.decode().split("\n\n")[0].split())
    assert said.startswith(f"At K = 1,000, {100 * recall:g}% succeed, ")
    assert f"({bits:.2f} bits" in said
    assert said.endswith(" 13.11).")


def test_published_rates_of_several_depths(depth):
    """Source 000: with R = 10 of 10,000, 60% at 20 is 4.92 bits, and 70% at 100 is 2.87."""
    options = ("-N", 10_000, "--relevant", 10, "--at", "100,20", "--success", "0.7,0.6")
    shallow, deep = rows(depth(*options, "--format", "json"))
    for row, K, success, bits, factor in (
        (shallow, 20, 0.6, 4.92, 30.257),
        (deep, 100, 0.7, 2.87, 7.318),
    ):
        assert (row["K"], row["p_obs"], round(row["bor"], 2)) == (K, success, bits)
        assert row["ef"] == pytest.approx(factor, abs=0.001)
    said = " ".join(depth(*options).out.decode().split("\n\n")[0].split())
    numbers = re.findall(r"[\d.]*\d", said)
    assert numbers[:5] == ["20", "60.0", "30.3", "4.92", "5.66"]
    assert numbers[5:] == ["100", "70.0", "7.32", "2.87", "3.39"]


def test_a_published_failure_and_a_perfect_rate(depth):
    options = ("-N", 100, "--relevant", 1, "--at", "10,100", "--success", "0,1")
    failure, perfect = depth(*options).out.decode().split("\n\n")[0].split("\nAt K = 100, ")
    assert failure.startswith("At K = 10, 0.0% succeed, 0 times as often ")
    assert "(-inf bits" in failure
    says_nothing = "100.0% succeed, as do 100% of random draws: uninformative; retrieve fewer."
    assert perfect == says_nothing
    two = depth("-N", 9, "--relevant", 2, "--at-least", 2, "--at", 1, "--success", 0)
    assert two.out.startswith(b"At K = 1 nothing can succeed.\n")


def test_half_of_the_relevant_documents_may_be_needed(depth):
    options = ("-N", 5000, "--at", "10,50", "--at-least", "50%")
    found = rows(depth(*options, QRELS, RUN, "--format", "json"))
    assert "dbor" in found[1]
    assert not any("dbor_sparse" in row for row in found)  # an approximation for a number
    said = depth(*options, QRELS, RUN).out.decode().splitlines()[0]
    assert "have 50% of the relevant passages" in said
    assert depth("-N", 5000, "--at", "10", "--at-least", "50%", QRELS).status == 0


def test_each_of_many_runs_has_a_sentence(depth, tmp_path):
    copies = [tmp_path / f"copy{number}.run" for number in range(4)]
    for copy in copies:
        copy.write_bytes(RUN.read_bytes())
    runs = [FIXTURES / "runs/dense.run", *copies]
    lines = depth("-N", 5000, "--at", "1,5", QRELS, *runs).out.decode().splitlines()
    assert lines[0].startswith("dense: retrieve 1 (")
    assert lines[1:5] == [f"copy{number}: undecided between 1 and 4." for number in range(4)]


def test_a_log_stands_in_place_of_files(depth, tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_text('{"total": 100, "shown": 10, "hit": true}\n' * 30)
    options = ("--log", log, "--map-log", "K=shown", "--relevant", "1%", "--format", "json")
    (row,) = rows(depth(*options))
    assert (row["K"], row["p_rand"]) == (10, pytest.approx(0.1))
    both = depth("--log", log, QRELS, RUN)
    assert both.status == 1
    assert b"--log replaces files" in both.err


def test_a_share_of_all_may_be_relevant(depth):
    """5% of 1,000 tools are 50."""
    options = ("-N", 1000, "--at", 10, "--format", "json")
    (row,) = rows(depth(*options, "--relevant", "5%"))
    assert row["p_rand"] == pytest.approx(float(by_chance(1000, 50, 10)))


def test_resamples_choose_without_intervals(depth):
    """The choice of K rests on resamples, so --resamples needs no --ci."""
    explained = depth("-N", 5000, QRELS, RUN, "--resamples", 200, "--explain")
    assert b"chosen again in 200 resamples" in explained.out


def test_every_argument_has_a_form():
    """What no form of the question makes use of would be refused everywhere."""
    own = set(inspect.signature(ragkpi.depth).parameters) - {"at_least", "how"}
    used = set().union(*_USES.values())
    assert own | Estimating.__annotations__.keys() == used
