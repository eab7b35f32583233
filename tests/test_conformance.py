"""The published cases for metrics: ragkpi passes them, and the mistakes that they name do not."""

import importlib.util
import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ragkpi

DOCS = Path(__file__).parent.parent / "docs"
CASES = json.loads((DOCS / "conformance/cases.json").read_text("utf-8"))["cases"]


def checker():
    spec = importlib.util.spec_from_file_location("check", DOCS / "conformance/check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def each(cases=CASES):
    return pytest.mark.parametrize("case", cases, ids=[case["name"] for case in cases])


@each()
def test_digits_are_those_of_the_fraction(case):
    exact = case["exact"]
    if exact is None:
        assert case["or"] == "refused"
    else:
        assert case["value"] == pytest.approx(eval(exact, {"log2": math.log2}), abs=1e-14)


@each()
def test_ragkpi_passes(case, tmp_path):
    def metric(qrels, run, measure):
        path = tmp_path / "run.jsonl"
        records = [
            {"query_id": query, "results": [{"id": id_, "score": score} for id_, score in hits]}
            for query, hits in run.items()
        ]
        path.write_text("\n".join(map(json.dumps, records)) + "\n")
        (value,) = ragkpi.evaluate(qrels, path, measure, missing="zero").mean.values()
        return value

    outcome, value = checker().outcome_of(metric, case)
    assert outcome == "passed", value


def reference(qrels, run, measure, *, relevant=lambda level: level > 0, mean_over=None, of=None):
    """Metrics by the shortest way that is right, with places to make a mistake in."""
    name, _, k = measure.partition("@")
    values = []
    for query in mean_over(qrels, run) if mean_over else qrels:
        order = sorted(run.get(query, []), key=lambda hit: hit[::-1], reverse=True)
        ids = list(dict.fromkeys(id_ for id_, _ in order))[: int(k or 1000)]
        levels = qrels[query]
        hits = [relevant(levels.get(id_, 0)) for id_ in ids]
        every = sum(map(relevant, levels.values()))
        values.append((of or VALUES[name])(hits, every, int(k or 1000), ids, levels))
    return sum(values) / len(values)


def dcg(levels):
    return sum(max(level, 0) / math.log2(rank + 1) for rank, level in enumerate(levels, 1))


VALUES = {
    "recall": lambda hits, every, *_: sum(hits) / every,
    "hit_rate": lambda hits, *_: any(hits),
    "precision": lambda hits, every, k, *_: sum(hits) / k,
    "mrr": lambda hits, *_: next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0),
    "map": lambda hits, every, *_: (
        sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit) / every
    ),
    "ndcg": lambda hits, every, k, ids, levels: (
        dcg(levels.get(id_, 0) for id_ in ids) / dcg(sorted(levels.values(), reverse=True)[:k])
    ),
}


def outcomes(metric):
    return {case["name"]: checker().outcome_of(metric, case)[0] for case in CASES}


def test_a_plain_metric_passes():
    own = {"id-number"}  # in Python 7 is not "7"
    assert {name for name, outcome in outcomes(reference).items() if outcome != "passed"} == own


MISTAKES = {
    "recall-of-several": {"of": lambda hits, *_: any(hits)},
    "recall-of-unretrieved": {"of": lambda hits, every, *_: sum(hits) / max(1, sum(hits))},
    "recall-at-small-k": {"of": lambda hits, every, k, *_: sum(hits) / min(k, every)},
    "precision-of-a-short-list": {"of": lambda hits, *_: sum(hits) / len(hits)},
    "level-0": {"relevant": lambda level: level >= 0},
    "missing-query": {"mean_over": lambda qrels, run: run},
    "empty-list": {"mean_over": lambda qrels, run: [query for query in run if run[query]]},
    "average-precision": {
        "of": lambda hits, *_: (
            sum(sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit) / sum(hits)
        )
    },
    "ideal-of-all-judged": {
        "of": lambda hits, every, k, ids, levels: (
            dcg(levels.get(id_, 0) for id_ in ids)
            / dcg(sorted((levels.get(id_, 0) for id_ in ids), reverse=True))
        )
    },
    "ideal-cut": {
        "of": lambda hits, every, k, ids, levels: (
            dcg(levels.get(id_, 0) for id_ in ids) / dcg(sorted(levels.values(), reverse=True))
        )
    },
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_case_finds_its_mistake(name):
    of_reference = outcomes(reference)[name]
    wrong = outcomes(lambda *call: reference(*call, **MISTAKES[name]))[name]
    assert (of_reference, wrong) == ("passed", "wrong")


def test_the_page_shows_what_the_script_prints(tmp_path):
    page = (DOCS / "conformance.md").read_text("utf-8")
    (tmp_path / "my_metric.py").write_text(re.search(r"```py\n(.*?)```", page, re.DOTALL)[1])
    script, metric = re.search(r"```sh\npython (\S+) (\S+)\n", page).groups()
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)[1]
    done = subprocess.run(
        [sys.executable, DOCS / "conformance" / script, metric],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, shown)


def test_the_page_lists_every_case():
    page = (DOCS / "conformance.md").read_text("utf-8")
    assert f"{len(CASES)} cases" in page
    for case in CASES:
        row = next(line for line in page.splitlines() if line.startswith(f"| {case['mistake']} |"))
        assert f"`{case['name']}`" in row
