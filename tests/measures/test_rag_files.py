"""The worked cases that are files: written, read back, evaluated, compared."""

import re
import shlex

import pytest

from ragkpi.measures import rubric
from ragkpi.ranking.grades import parse_grade_map
from ragkpi.ranking.settings import Settings
from tests.measures.by_hand import judge, lines
from tests.measures.rag_oracle import agree, cases

WEIGHT = re.compile("w[345]")
THRESHOLD = re.compile("success_m")


def write(directory, inputs):
    """Write the inputs of a case as qrels and run."""
    for name, columns in (("qrels", "{0} 0 {1} {2}\n"), ("run", "{0} Q0 {1} 0 {2} oracle\n")):
        (directory / name).write_text("".join(columns.format(*row) for row in inputs[name]))


def read(path, number):
    """Read lines of whitespace-separated columns to {query: {document: number}}."""
    rows = {}
    for line in path.read_text().splitlines():
        query, _, document, *rest = line.split()
        rows.setdefault(query, {})[document] = int(rest[number])
    return rows


def settings(options):
    """Read a case's options: "-c -N 1000 -K 2 -m 1 --depth ret --map rag25 -l 2"."""
    words = shlex.split(options)
    given = dict(zip(words, [*words[1:], ""], strict=True))
    return Settings(
        missing="zero" if "-c" in given else "intersection",
        relevance_level=int(given.get("-l", 1)),
        corpus_size=int(given["-N"]) if "-N" in given else None,
        depth=given.get("--depth", "nominal"),
        grade_map=parse_grade_map(given.get("--map", "umbrela").replace(":", "=")),
    )


def judge_files(directory, options):
    return judge(read(directory / "qrels", 0), read(directory / "run", 1), settings(options))


def evaluate(directory, options, requests):
    """Return {printed name: {query or "all": value}}."""
    return lines(judge_files(directory, options), *requests)


def printed(name):
    """Spell a name of the cases as ragkpi prints it: bor_m2_3 is bor_3_m=2."""
    name = re.sub(r"num_valid\[(.*)\]", r"num_q_\1", name)
    return re.sub(r"_m(\d+)_(\d+)$", r"_\2_m=\1", name)


FILES = cases("files", "aggregate", "grade_map", "t", "classic", "kpi")


@pytest.mark.parametrize("case", FILES)
def test_files(case, tmp_path):
    write(tmp_path, case["inputs"])
    expected = {
        printed(name): values
        for name, values in case["expected"].items()
        if values != "NA" and not WEIGHT.fullmatch(name) and not THRESHOLD.match(name)
    }
    if expected:
        agree(evaluate(tmp_path, case["inputs"]["options"], expected), expected, case)


@pytest.mark.parametrize("case", cases("files", "grade_map"))
def test_weights_of_a_grade_map(case, tmp_path):
    write(tmp_path, case["inputs"])
    judged = judge_files(tmp_path, case["inputs"]["options"])
    worth = rubric.weights(rubric.labelled(judged), alpha=1.0, cap4=1.0, cap3=0.25)
    for grade in (5, 4, 3):
        weights = dict(zip(("a", "b"), worth[:, grade], strict=True)) | {
            "all": worth[:, grade].mean()
        }
        agree(weights, case["expected"][f"w{grade}"], case)


@pytest.mark.parametrize("case", [case for case in FILES if "-m 2" in str(case)])
def test_success_with_a_threshold_is_p_obs_with_na_as_0(case, tmp_path):
    write(tmp_path, case["inputs"])
    (values,) = evaluate(tmp_path, case["inputs"]["options"], ["p_obs.3,m=2"]).values()
    per_query = {q: 0.0 if value != value else value for q, value in values.items() if q != "all"}
    per_query["all"] = sum(per_query.values()) / len(per_query)
    agree(per_query, case["expected"]["success_m2_3"], case)
