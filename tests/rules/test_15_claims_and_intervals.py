"""A claim and the interval beside it never contradict each other, as a reader sees them."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import ragkpi

_NUMBERS = r"[^[]*?[-+0-9.]+ \[([-+0-9.]+), ([-+0-9.]+)\]"


def bounds_after(words: str, answer: str) -> list[tuple[float, float]]:
    """Return the intervals that follow some words in an answer."""
    return [(float(low), float(high)) for low, high in re.findall(words + _NUMBERS, answer)]


def ranked_at(places, depth=10):
    """Qrels with one relevant document a query, and a run with it at these ranks."""
    names = [f"q{number:03d}" for number in range(len(places))]
    ranking = {f"d{rank}": float(-rank) for rank in range(1, depth + 1)}
    qrels = {query: {f"d{place}": 1} for query, place in zip(names, places, strict=True)}
    return qrels, dict.fromkeys(names, ranking), names


def check_sides(answer, *, above, below, around):
    """Hold every interval behind a claim to the side of 0 that the claim names."""
    for low, _ in bounds_after(above, answer):
        assert low > 0
    for _, high in bounds_after(below, answer):
        assert high < 0
    for low, high in bounds_after(around, answer):
        assert low <= 0 <= high


def check_calibration(found, level=0.05):
    said, answer = found.findings["found"], found.answer
    rows = {row["measure"]: row for row in found.rows}
    for name, finding in said.items():
        low, high = (rows[name].get(f"spearman_{end}") for end in ("low", "high"))
        if low is None:
            assert finding == "not shown"
            continue
        assert (finding == "not shown") == (low <= 0 <= high), (name, finding, low, high)
        assert finding != "tracks" or rows[name]["p"] < level
    check_sides(
        answer,
        above="(?<!significantly) tracks quality",
        below="negatively correlated with quality",
        around="significantly tracks? quality",
    )


@pytest.mark.parametrize("queries", [5, 20, 50])
@pytest.mark.parametrize("equal", [0.0, 0.5, 0.8, 0.95])
def test_calibrate_where_most_grades_are_equal(queries, equal):
    for seed in range(12):
        rng = np.random.default_rng((queries, int(100 * equal), seed))
        qrels, run, names = ranked_at(rng.integers(1, 11, queries))
        reciprocal = np.array([1 / int(next(iter(qrels[query]))[1:]) for query in names])
        # Some of the worlds follow the measure, some run against it, some are noise.
        grades = (seed % 3 - 1) * reciprocal + rng.normal(scale=0.2, size=queries)
        grades[rng.random(queries) < equal] = 5.0
        quality = dict(zip(names, grades.tolist(), strict=True))
        measures = ["recip_rank", "success.5", "P.3"][: 1 + seed % 3]
        found = ragkpi.calibrate(qrels, run, quality, measures, resamples=400)
        check_calibration(found)
        same = max(np.unique(grades, return_counts=True)[1])
        if 0 < queries - same <= 3 and queries >= 20:  # (1 - 3/50)^50 = 4.5% of resamples vary not
            assert f"quality hardly varies ({same} of {queries} are equal)" in found.answer


def levels(rng, queries, documents=6):
    return {
        f"q{query}": {f"d{d}": int(level) for d, level in enumerate(rng.integers(0, 3, documents))}
        for query in range(queries)
    }


@pytest.mark.parametrize("queries", [2, 3, 5, 12])
@pytest.mark.parametrize("kept", [0.0, 0.3, 0.9])
def test_agree_of_judges_better_and_worse_than_chance(queries, kept):
    for seed in range(12):
        rng = np.random.default_rng((queries, int(10 * kept), seed))
        people, other = levels(rng, queries), levels(rng, queries)
        judge = {
            query: {
                document: (2 - level if seed % 3 == 2 else level)
                if rng.random() < kept
                else other[query][document]
                for document, level in row.items()
            }
            for query, row in people.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = ragkpi.agree(people, judge, resamples=400).answer
        for low, _ in bounds_after("beyond chance", answer):
            assert low > 0
        for low, high in bounds_after("significantly better than chance", answer):
            assert low <= 0 <= high
        for _, high in bounds_after("less than chance", answer):
            assert high < 0


@pytest.mark.parametrize("queries", [4, 12, 40])
def test_compare_and_correct(queries):
    for seed in range(12):
        rng = np.random.default_rng((queries, seed))
        qrels, first, names = ranked_at(rng.integers(1, 6, queries))
        moved = [{f"d{rank}": float(s) for rank, s in enumerate(rng.random(6), 1)} for _ in names]
        other = dict(zip(names, moved, strict=True))
        runs = {"first": first, "other": other}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = [ragkpi.compare(qrels, runs, measure).answer for measure in ("map", "P.1")]
            if queries > 10:
                some = {query: qrels[query] for query in names[::2] + names[1:9:2]}
                answers.append(ragkpi.correct(some, qrels, runs, "map", of="differences").answer)
        for answer in answers:
            check_sides(
                answer,
                above="better than",
                below="worse than",
                around="not significantly different from",
            )
