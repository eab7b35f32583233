"""`ragkpi.agree` and `ragkpi.correct` are the commands."""

from __future__ import annotations

import json

import pytest

import ragkpi
from tests.cli.commandline import FIXTURES

PEOPLE, MODEL = (str(FIXTURES / name) for name in ("qrels.txt", "qrels.llm.txt"))
RUNS = [str(FIXTURES / "runs" / name) for name in ("bm25.run", "fusion.run")]


def test_agree_is_the_command(ragkpi):
    import ragkpi as library

    found = library.agree(PEOPLE, MODEL, RUNS, resamples=50)
    arguments = ("--resamples", "50", "--format", "json")
    printed = json.loads(ragkpi("agree", PEOPLE, MODEL, *RUNS, *arguments).out)
    assert json.loads(json.dumps(found.to_dict())) == printed
    assert "ranks these 2 runs as qrels does" in found.answer
    assert len(found.to_pandas()) == len(printed["rows"])


def test_correct_is_the_command(ragkpi, tmp_path):
    import ragkpi as library

    some = tmp_path / "some.txt"
    lines = (FIXTURES / "qrels.txt").read_text().splitlines(keepends=True)
    some.write_text("".join(line for line in lines if line[:5] not in ("hd-03", "hd-08")))
    for of in ("values", "differences"):
        found = library.correct(str(some), MODEL, RUNS, "map", of=of).rows
        arguments = ("--of", of, "-m", "map", "--format", "json", some, MODEL, *RUNS)
        printed = json.loads(ragkpi("correct", *arguments).out)["rows"]
        interval = [found[0]["corrected_low"], found[0]["corrected_high"]]
        assert interval == printed[0]["corrected_interval"]
        assert found[-1]["n_effective"] == printed[-1]["n_effective"]


def test_judges_in_memory_and_several():
    people = {"q1": {"d1": 0, "d2": 1}, "q2": {"d1": 1}}
    model = {"q1": {"d1": 0, "d2": 2}, "q2": {"d1": 1}}
    found = ragkpi.agree(people, model, per_query=True)
    assert found.findings["judges"] == ["qrels", "other"]
    assert found.findings["pairs"][0]["by_query"][0]["differing"] == [["d2", 1, 2]]
    mapped = ragkpi.agree(people, model, map_levels={0: 0, 1: 1}, map_other={0: 0, 1: 1, 2: 1})
    assert mapped.findings["pairs"][0]["kappa"]["value"] == 1
    three = ragkpi.agree(people, {"a": ragkpi.read_qrels(people), "b": ragkpi.read_qrels(people)})
    assert three.findings["judges"] == ["qrels", "a", "b"]
    assert three.findings["alpha"]["nominal"]["value"] == 1


def test_wrong_arguments_are_refused_in_pythons_terms():
    with pytest.raises(ragkpi.UsageError, match="map_levels=: qrels has level 1"):
        ragkpi.agree({"q": {"d": 1}}, {"q": {"d": 1}}, map_levels={0: 0})
    with pytest.raises(ragkpi.UsageError, match="confidence"):
        ragkpi.agree({"q": {"d": 1}}, {"q": {"d": 1}}, confidence=95)


def test_a_judge_who_says_the_opposite_is_told_so():
    documents, queries = range(12), [f"q{number}" for number in range(12)]

    def everywhere(number_of):
        return {query: {f"d{d}": number_of(d) for d in documents} for query in queries}

    people, other = everywhere(lambda d: d % 4), everywhere(lambda d: 3 - d % 4)
    runs = {
        "good": everywhere(lambda d: d % 4 - d / 100),
        "none": everywhere(lambda d: -d),
        "bad": everywhere(lambda d: -(d % 4) - d / 100),
    }
    (said,) = ragkpi.agree(people, other, runs).answer.splitlines()
    assert "agrees with qrels less than chance (quadratic kappa -1.00" in said
    assert "(tau_AP -1.00): do not use it to rank" in said
