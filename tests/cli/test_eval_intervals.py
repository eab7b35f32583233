import json
import math
from pathlib import Path

import pytest

from tests.cli.commandline import BM25, DENSE, FIXTURES

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "rag_cases.json").read_text())["cases"]
TWELVE = next(case for case in CASES if case["id"] == "boot_12_queries")


@pytest.fixture
def twelve(tmp_path):
    """Write qrels and a run with the oracle's numbers of relevant documents, and its hits."""
    qrels, run = [], []
    for place, (relevant, hit) in enumerate(TWELVE["inputs"]["rows_R_hit"]):
        qrels += [f"q{place:02d} 0 r{number} 1\n" for number in range(relevant)]
        run.append(f"q{place:02d} Q0 {'r0' if hit else 'nothing'} 1 1.0 oracle\n")
    (tmp_path / "qrels").write_text("".join(qrels))
    (tmp_path / "run").write_text("".join(run))
    return tmp_path


def test_oracle_twelve_queries(ragkpi, twelve):
    arguments = ("-m", "bor.10", "-N", TWELVE["inputs"]["N"], "--ci", "qrels", "run")
    arguments = ("--ci-method", "percentile", *arguments)
    lines = ragkpi("eval", "--digits", 12, *arguments, folder=twelve)
    numbers = lines.out.decode().split("\t")[2:]
    expected = [
        float(TWELVE["expected"]["bor"]),
        *TWELVE["expected"]["ci_numpy_default_rng_integers"],
    ]
    assert list(map(float, numbers)) == pytest.approx(expected, abs=1e-11)
    assert b"intervals over queries: percentile bootstrap, 5,000 resamples, seed 7" in lines.err
    document = json.loads(ragkpi("eval", "--format", "json", *arguments, folder=twelve).out)
    (run,) = document["runs"]
    assert run["intervals"]["bor_10"] == pytest.approx(expected[1:], rel=1e-12)
    assert run["bootstrap"] == {
        "method": "percentile",
        "level": 0.95,
        "resamples": 5000,
        "seed": 7,
    }


def test_interval_that_the_author_of_bor_prints_but_for_the_generator(ragkpi, tmp_path):
    """A tenth of a bit wide at 1,000 queries: 2,000 resamples of others move it by little."""
    from tests.statistics.test_bootstrap import DASHBOARD

    qrels, run = [], []
    for place, letter in enumerate(DASHBOARD):
        query = f"q{place:04d}"
        relevant = ord(letter.upper()) - ord("A") + 1
        qrels += [f"{query} 0 r{number} 1\n" for number in range(relevant)]
        run.append(f"{query} Q0 {'r0' if letter.islower() else 'nothing'} 1 1.0 dashboard\n")
    (tmp_path / "qrels").write_text("".join(qrels))
    (tmp_path / "run").write_text("".join(run))
    arguments = (
        "-m",
        "bor.40",
        "-N",
        600,
        "--ci",
        "--ci-method",
        "percentile",
        "--resamples",
        2000,
        "qrels",
        "run",
    )
    numbers = ragkpi("eval", *arguments, folder=tmp_path).out.decode().split("\t")[2:]
    assert list(map(float, numbers))[1:] == pytest.approx([1.2297, 1.3199], abs=0.006)


def bounds(ragkpi, *arguments):
    found = ragkpi("eval", "-m", "map", "--ci", *arguments, "qrels.txt", DENSE, folder=FIXTURES)
    return [float(text) for text in found.out.decode().split("\t")[2:]]


def test_seed_level_and_method_are_obeyed(ragkpi):
    value, low, high = bounds(ragkpi)
    assert low < value < high
    assert bounds(ragkpi, "--seed", 7) == [value, low, high]
    resampled = bounds(ragkpi, "--ci-method", "percentile")
    assert resampled[1:] != [low, high]
    assert bounds(ragkpi, "--ci-method", "percentile", "--seed", 8)[1:] != resampled[1:]
    narrow = bounds(ragkpi, "--confidence", 0.5)
    assert low < narrow[1] < value < narrow[2] < high


@pytest.mark.parametrize(("level", "said"), [("0.999999999999", "99.9999999999%"), (0.57, "57%")])
def test_a_level_is_never_rounded_to_another(ragkpi, level, said):
    arguments = ("-m", "map", "--ci", "--resamples", 20, "--confidence", level)
    err = ragkpi("eval", *arguments, "qrels.txt", DENSE, folder=FIXTURES).err.decode()
    assert f"[low, high]: {said} intervals over queries: score" in err


def test_counts_have_no_bounds_and_unknown_values_have_na(ragkpi, tmp_path):
    (tmp_path / "qrels").write_text("q 0 d 0\n")
    (tmp_path / "run").write_text("q Q0 d 1 1 r\n")
    measures = ("-m", "num_q", "-m", "runid", "-m", "bor.1", "-m", "map", "-N", 9)
    out = ragkpi("eval", *measures, "--ci", "qrels", "run", folder=tmp_path).out.decode()
    assert [line.split("\t")[2:] for line in out.splitlines()] == [
        ["r"],
        ["1"],
        ["0.0000", "NA", "NA"],
        ["NA", "NA", "NA"],
    ]


@pytest.mark.parametrize("workers", [1, 2])
def test_digits_do_not_depend_on_the_number_of_cores(ragkpi, monkeypatch, workers):
    monkeypatch.setenv("RAGKPI_WORKERS", str(workers))
    found = ragkpi("eval", "--ci", "--format", "json", "qrels.txt", BM25, DENSE, folder=FIXTURES)
    for run in json.loads(found.out)["runs"]:
        alone = (FIXTURES / "runs" / f"{run['name']}.run").relative_to(FIXTURES)
        options = ("-c", "--ci", "--format", "json")  # several runs are over all judged queries
        other = ragkpi("eval", *options, "qrels.txt", alone, folder=FIXTURES)
        assert json.loads(other.out)["runs"] == [run]
        assert all(math.isfinite(low) and low <= high for low, high in run["intervals"].values())
