import json
from pathlib import Path

import pytest
from scipy import stats

from ragkpi.reports.renderers import REPORT_FORMATS
from tests.published_schema import valid_document, valid_lines

FIXTURES = Path(__file__).parents[1] / "helpdesk"
QRELS = FIXTURES / "qrels.txt"
BM25 = FIXTURES / "runs" / "bm25.run"
GIVEN = ["--quality", FIXTURES / "quality.tsv", QRELS, FIXTURES / "reranked.run"]
FEW = ["--resamples", 50]


@pytest.fixture
def calibrate(ragkpi, tmp_path):
    def run(*arguments, quality=None):
        if quality is not None:
            (tmp_path / "quality").write_text(quality)
            arguments = ("--quality", tmp_path / "quality", *arguments)
        return ragkpi("calibrate", "--format", "table", *FEW, *arguments)

    return run


def per_query(ragkpi, request, run):
    lines = ragkpi("eval", "-q", "-m", request, QRELS, run).out.decode().splitlines()
    return {line.split()[1]: float(line.split()[2]) for line in lines if " all " not in line}


def test_coefficients_are_those_of_the_printed_values(calibrate, ragkpi):
    quality = dict(line.split() for line in (FIXTURES / "quality.tsv").read_text().splitlines())
    found = json.loads(calibrate(*GIVEN, "-m", "P.10", "-m", "F.5", "--format", "json").out)
    for request, name in (("P.10", "P_10"), ("F.5", "F_5")):
        values = per_query(ragkpi, request, FIXTURES / "reranked.run")
        values.pop("all")
        pairs = [(value, float(quality[query])) for query, value in values.items()]
        row = next(r for r in found["rows"] if r["measure"] == name)
        assert row["n"] == len(pairs) == 12
        for key, coefficient in (
            ("spearman", stats.spearmanr),
            ("kendall", stats.kendalltau),
            ("pearson", stats.pearsonr),
        ):
            assert row[key] == pytest.approx(coefficient(*zip(*pairs, strict=True))[0], abs=2e-4)
        low, high = row["spearman_interval"]
        assert -1 <= low <= row["spearman"] <= high <= 1


def test_runs_are_matched_by_name_and_by_run_id(calibrate):
    runs = [FIXTURES / "runs" / f"{name}.run" for name in ("bm25", "fusion")]
    lines = [f"hd-{q:02} {run} {(q * 7) % 5}\n" for q in range(1, 13) for run in ("bm25", "rrf")]
    ids = {path: path.read_text().split()[5] for path in runs}
    text = "".join(lines).replace(" rrf ", f" {ids[runs[1]]} ")
    outcome = calibrate("-m", "P.10", QRELS, *runs, "--format", "json", quality=text)
    found = json.loads(outcome.out)
    assert (found["findings"]["runs"], found["findings"]["queries"]) == (2, 12)
    assert found["rows"][0]["n"] == 12
    assert {"within", "p_within"} <= set(found["rows"][0])


def test_missing_scores_are_said(calibrate):
    text = "".join(f"hd-{q:02} {q % 4}\n" for q in range(1, 10))
    outcome = calibrate("-m", "P.10", QRELS, FIXTURES / "reranked.run", quality=text)
    assert outcome.status == 0
    assert b"3 of 12 queries" in outcome.err
    assert b"hd-10, hd-11, hd-12" in outcome.err


def test_constant_quality_is_not_available_with_the_reason(calibrate):
    text = "".join(f"hd-{q:02} 3\n" for q in range(1, 13))
    outcome = calibrate("-m", "P.10", QRELS, FIXTURES / "reranked.run", quality=text)
    assert outcome.status == 0
    assert b"P_10: NA, " in outcome.out
    assert b"No measure can be tested: quality does not vary." in outcome.out


def test_values_without_queries_are_left_out(calibrate):
    outcome = calibrate(*GIVEN, "-m", "P.10", "-m", "gm_map", "-m", "runid")
    assert b"gm_map, runid: left out" in outcome.out


def test_the_verdict_is_the_first_line(calibrate):
    first, *rest = calibrate(*GIVEN, "-m", "P.10").out.decode().splitlines()
    assert first.startswith("P_10 tracks quality: rank correlation 0.79 [")
    assert rest[0] == ""


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_every_format_writes_it(calibrate, name):
    outcome = calibrate(*GIVEN, "--format", name)
    assert (outcome.status, outcome.complaints) == (0, [])
    assert b"spearman" in outcome.out


def test_json_is_valid_under_the_schema(calibrate):
    valid_document(calibrate(*GIVEN, "--format", "json").out)
    assert valid_lines(calibrate(*GIVEN, "--format", "jsonl").out)


def test_pictures(calibrate, tmp_path):
    pytest.importorskip("matplotlib")
    assert calibrate(*GIVEN, "--plot", tmp_path / "c.svg").status == 0
    picture = (tmp_path / "c.svg").read_text()
    assert "Spearman" in picture
    assert "F_10" in picture
    assert "Correlation with quality" in picture


@pytest.mark.parametrize(
    ("quality", "arguments", "status", "says"),
    [
        ("hd-01 1\n", [QRELS], 1, "1 file;"),
        ("other 1\n", [QRELS, GIVEN[-1]], 7, "no score of any evaluated query"),
        ("hd-01 1\n", [QRELS, GIVEN[-1], BM25], 1, "with one of these names, but they name no run"),
        ("hd-01 other 1\n", [QRELS, GIVEN[-1]], 1, "they name other"),
        ("hd-01 high\n", [QRELS, GIVEN[-1]], 2, ":1: 'hd-01 high'; expected QUERY SCORE"),
        ("hd-01 1\n", ["-R", "prefs", "-m", "num_q", QRELS, GIVEN[-1]], 1, "-R: no such option;"),
    ],
)
def test_errors_are_one_line(calibrate, quality, arguments, status, says):
    outcome = calibrate(*arguments, quality=quality)
    assert outcome.status == status
    (line,) = outcome.complaints
    assert says in line.decode()


def test_of_many_queries_fewer_resamples_are_the_default(ragkpi, tmp_path):
    """Ten million draws of 2,500 queries are 4,000 resamples."""
    queries = range(2500)
    (tmp_path / "qrels").write_text("".join(f"{n} 0 a 1\n" for n in queries))
    (tmp_path / "run").write_text("".join(f"{n} Q0 {'ab'[n % 2]} 1 1 r\n" for n in queries))
    (tmp_path / "quality").write_text("".join(f"{n} {n % 3}\n" for n in queries))
    command = ["calibrate", "-m", "P.1", "--quality", "quality", "qrels", "run", "--format", "json"]
    for more, resamples in ([], 4000), (["--resamples", 4001], 4001):
        found = json.loads(ragkpi(*command, *more, folder=tmp_path).out)["findings"]
        assert found["resamples"] == resamples
