"""No query leaves a mean because arithmetic failed: its value is right, or the call is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import ragkpi
from ragkpi.errors import RagkpiError
from ragkpi.measures.registry import find_metrics

OF_LEVELS = (
    "ndcg", "ndcg_cut.10", "ndcg_exp.10", "ndcg_local.10", "dcg", "dcg.10", "G", "Rndcg",
    "ndcg_rel", "binG", "rbp", "err.10", "map", "recip_rank", "P.10", "bpref", "set_F",
)  # fmt: skip


def _exponential(levels: dict[str, int], ranking: list[str], cutoff: int) -> float:
    """Compute the formula with whole numbers; logarithms are rounded to 60 bits."""

    def dcg(documents: list[str]) -> Fraction:
        return sum(
            (2 ** max(levels[one], 0) - 1) / Fraction(math.log2(place + 1))
            for place, one in enumerate(documents[:cutoff], 1)
        ) or Fraction(0)

    best = dcg(sorted(levels, key=lambda one: -levels[one]))
    return float(dcg(ranking) / best)


@pytest.mark.parametrize("highest", [1, 53, 999, 1000])
@pytest.mark.parametrize("lowest", [0, 1, 3])
def test_exponential_gains_of_levels_up_to_1000(highest, lowest):
    levels = {"a": highest, "b": lowest, "c": highest - 1}
    ranking = ["b", "a", "c"]
    run = {"q": {one: -place for place, one in enumerate(ranking)}}
    expected = _exponential(levels, ranking, 10)
    assert ragkpi.evaluate({"q": levels}, run, "ndcg_exp.10").mean["ndcg_exp_10"] == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("name", OF_LEVELS)
@pytest.mark.parametrize("highest", [60, 1023, 1024, 5000, 2**40])
def test_every_query_counts_or_the_call_is_refused(name, highest):
    qrels = {"high": {"a": highest, "b": 3}, "low": {"c": 1}}
    run = {"high": {"b": 2.0, "a": 1.0}, "low": {"c": 1.0}}
    (metric,) = find_metrics([name])
    try:
        result = ragkpi.evaluate(qrels, run, name)
    except RagkpiError as problem:
        refusal = str(problem)
    else:
        refusal = ""
        assert result.per_query.keys() == {"high", "low"}
        assert all(math.isfinite(of[metric.name]) for of in result.per_query.values())
        assert math.isfinite(result.mean[metric.name])
    assert not refusal or "level" in refusal
