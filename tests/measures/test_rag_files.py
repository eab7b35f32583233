"""The worked cases that are files: written, read back, evaluated, compared."""

import re
import shlex

import pytest

from ragkpi.library.session import Session
from ragkpi.measures import evidence
from ragkpi.measures.registry import find_metrics
from ragkpi.ranking.judged import Settings, parse_grade_map
from tests.measures.by_hand import lines_of
from tests.measures.rag_oracle import WEIGHING, agree, cases, number

WEIGHT = re.compile("w[345]")
THRESHOLD = re.compile("success_m")
FILES = cases("files", "aggregate", "grade_map", "t", "classic", "kpi")
FILE_FORMATS = {"decimal": "%.4f", "significant": "%.6g", "integer": "%d"}


def printed(name):
    """Spell a name of the cases as ragkpi prints it: bor_m2_3 is bor_3_m=2."""
    name = re.sub(r"num_valid\[(.*)\]", r"num_q_\1", name)
    return re.sub(r"_m(\d+)_(\d+)$", r"_\2_m=\1", name)


def expected_lines(case):
    """Return {printed name: {query or "all": number as text}}."""
    return {
        printed(name): metrics
        for name, metrics in case["expected"].items()
        if metrics != "NA" and not WEIGHT.fullmatch(name) and not THRESHOLD.match(name)
    }


def options(case):
    """Split a case's options: "-c -N 1000 -K 2 -m 1 --depth ret --map rag25 -l 2"."""
    words = shlex.split(case["inputs"]["options"])
    return dict(zip(words, [*words[1:], ""], strict=True))


def write(directory, inputs):
    """Write the inputs of a case as qrels and run."""
    for name, columns in (("qrels", "{0} 0 {1} {2}\n"), ("run", "{0} Q0 {1} 0 {2} oracle\n")):
        (directory / name).write_text("".join(columns.format(*row) for row in inputs[name]))


def evaluate(directory, case, requests):
    given = options(case)
    settings = Settings(
        missing="zero" if "-c" in given else "intersection",
        relevance_level=int(given.get("-l", 1)),
        corpus_size=int(given["-N"]) if "-N" in given else None,
        draws=given.get("--depth", "nominal"),
        grade_map=parse_grade_map(given.get("--map", "umbrela").replace(":", "=")),
    )
    write(directory, case["inputs"])
    session = Session(str(directory / "qrels"), settings)
    return session.evaluate_one(str(directory / "run"), find_metrics(list(requests)))


def command_line(case):
    """Spell a case's options as `ragkpi eval` has them."""
    given = options(case)
    words = ["-c"] if "-c" in given else []
    for name, option in {"-l": "-l", "-N": "-N", "--depth": "--draws"}.items():
        words += [option, given[name]] if name in given else []
    return words + (["--grade-map", given["--map"].replace(":", "=")] if "--map" in given else [])


def shown(name, text):
    """Write an expected number as a line of the report has it."""
    (metric,) = find_metrics([name])
    if text == "NA":
        return text
    found = number(text)
    return text if text == "-inf" else FILE_FORMATS[metric.measure.style] % found


WITH_LINES = [case for case in FILES if expected_lines(case.values[0])]


@pytest.mark.parametrize("case", WITH_LINES)
def test_files(case, tmp_path):
    expected = expected_lines(case)
    agree(lines_of(evaluate(tmp_path, case, expected).scores), expected, case)


@pytest.mark.parametrize("case", WITH_LINES)
def test_files_through_the_command(case, tmp_path, ragkpi):
    expected = expected_lines(case)
    write(tmp_path, case["inputs"])
    requests = [word for name in expected for word in ("-m", name)]
    outcome = ragkpi("eval", "-q", *command_line(case), *requests, "qrels", "run", folder=tmp_path)
    assert outcome.status == 0
    rows = [line.split("\t") for line in outcome.out.decode().splitlines()]
    found = {(name.rstrip(), query): value for name, query, value in rows}
    for name, metrics in expected.items():
        for query, text in metrics.items():
            assert found[name, query] == shown(name, text)


@pytest.mark.parametrize("case", cases("files", "grade_map"))
def test_weights_of_a_grade_map(case, tmp_path):
    judged = evaluate(tmp_path, case, ["ra_nwg.4"]).judged
    worth = evidence.weights(evidence.labelled(judged), **WEIGHING)
    for grade in (5, 4, 3):
        weights = dict(zip(("a", "b"), worth[:, grade], strict=True)) | {
            "all": worth[:, grade].mean()
        }
        agree(weights, case["expected"][f"w{grade}"], case)


@pytest.mark.parametrize("case", [case for case in FILES if "-m 2" in str(case)])
def test_success_with_a_threshold_is_p_obs_with_na_as_0(case, tmp_path):
    (values,) = lines_of(evaluate(tmp_path, case, ["p_obs.3,m=2"]).scores).values()
    per_query = {q: 0.0 if value != value else value for q, value in values.items() if q != "all"}
    per_query["all"] = sum(per_query.values()) / len(per_query)
    agree(per_query, case["expected"]["success_m2_3"], case)
