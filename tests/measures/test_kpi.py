"""The KPI variants against sums written as their definitions read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkpi.ranking.judged import Settings
from tests.measures.by_hand import judge, lines

LEVELS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 4), min_size=1)
RANKING = st.lists(st.sampled_from("abcdefghxyz"), unique=True)


def dcg(gains):
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def ratio(numerator, denominator):
    return numerator / denominator if denominator else 0.0


def defined(levels, ranking, K, level, N):
    top = ranking[:K]
    grades = [max(levels.get(doc, 0), 0) for doc in top]
    exponential = sorted((2 ** max(g, 0) - 1 for g in levels.values()), reverse=True)[:K]
    relevant = {doc for doc, grade in levels.items() if grade >= level}
    hits = [rank for rank, doc in enumerate(top, 1) if doc in relevant]
    true_negatives = N - len(top) - (len(relevant) - len(hits))
    return {
        f"ndcg_exp_{K}": ratio(dcg([2**g - 1 for g in grades]), dcg(exponential)),
        f"ndcg_local_{K}": ratio(dcg(grades), dcg(sorted(grades, reverse=True))),
        f"map_min_{K}": ratio(
            sum(found / rank for found, rank in enumerate(hits, 1)), min(len(relevant), K)
        ),
        f"accuracy_{K}": (len(hits) + true_negatives) / N,
    }


@given(
    st.lists(st.tuples(LEVELS, RANKING), min_size=1, max_size=3),
    st.integers(1, 12),
    st.integers(1, 3),
)
def test_as_defined(queries, K, level):
    qrels = {f"q{i}": levels for i, (levels, _) in enumerate(queries)}
    run = {
        f"q{i}": {doc: -rank for rank, doc in enumerate(ranking)}
        for i, (_, ranking) in enumerate(queries)
    }
    judged = judge(qrels, run, Settings(corpus_size=40, relevance_level=level))
    wanted = [defined(*query, K, level, 40) for query in queries]
    found = lines(judged, *wanted[0])
    for i, values in enumerate(wanted):
        for name, value in values.items():
            assert found[name][f"q{i}"] == pytest.approx(value, rel=1e-12)
