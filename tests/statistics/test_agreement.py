"""How well judges agree: against scikit-learn and krippendorff, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ttest_1samp

from ragkpi.statistics.agreement import (
    AGREEMENTS,
    bias_at,
    cohens_kappa,
    coincidences_of_panel,
    confusion,
    kappa_from,
    krippendorffs_alpha,
    p_of_chance,
)

SCALES = ("nominal", "ordinal", "interval")


def made(seed):
    """Levels of two judges; some scales have a gap, some judges a level that the other lacks."""
    random = np.random.default_rng(seed)
    scale = np.array([[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 1, 1], [1, 2, 4, 5]][seed % 4])
    first = random.integers(0, 4, size=60)
    second = np.clip(first + random.integers(-1, 2, size=60), 0, 3)
    return scale[first], scale[second]


def counts(first, second):
    levels = np.unique(np.concatenate([first, second]))
    query = np.zeros(len(first), dtype=np.int64)
    return confusion(query, first, second, 1, levels)[0], levels.astype(float)


def test_kappa_as_scikit_learn_has_it():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    for seed in range(40):
        first, second = made(seed)
        matrix, levels = counts(first, second)
        every = list(range(int(levels.min()), int(levels.max()) + 1))
        for ours, theirs in (("plain", None), ("linear", "linear"), ("quadratic", "quadratic")):
            # With every level of the scale as a label: its distances are those of the places.
            expected = metrics.cohen_kappa_score(first, second, labels=every, weights=theirs)
            assert_allclose(cohens_kappa(matrix, levels, ours), expected, atol=1e-12)
        for level in levels[1:]:
            expected = metrics.cohen_kappa_score(first >= level, second >= level)
            assert_allclose(kappa_from(matrix, levels, level), expected, atol=1e-12)
        assert_allclose(
            AGREEMENTS["agreement"](matrix, levels), metrics.accuracy_score(first, second)
        )


def test_alpha_of_many_judges_with_gaps_as_the_package_krippendorff_has_it():
    krippendorff = pytest.importorskip("krippendorff", reason="krippendorff is not installed")
    for seed in range(30):
        random = np.random.default_rng(seed)
        judges = int(random.integers(2, 6))
        truth = random.integers(0, 4, size=(50, 1))
        given = np.clip(truth + random.integers(-1, 2, size=(50, judges)), 0, 3)
        given[random.random(given.shape) < 0.3] = -1
        levels = np.arange(4)
        query = random.integers(0, 7, size=50)
        total = coincidences_of_panel(query, given, 7, levels).sum(axis=0)
        known = np.where(given < 0, np.nan, given).T
        for scale in SCALES:
            expected = krippendorff.alpha(
                reliability_data=known, value_domain=levels.tolist(), level_of_measurement=scale
            )
            assert_allclose(krippendorffs_alpha(total, levels * 1.0, scale), expected, atol=1e-9)


def test_two_judges_are_a_panel():
    for seed in range(8):
        first, second = made(seed)
        matrix, levels = counts(first, second)
        panel = coincidences_of_panel(
            np.zeros(60, dtype=np.int64), np.stack([first, second], axis=1), 1, levels.astype(int)
        )[0]
        for scale in SCALES:
            ours = AGREEMENTS[f"alpha_{scale}"](matrix, levels)
            assert_allclose(ours, krippendorffs_alpha(panel, levels, scale), atol=1e-12)


def test_by_hand():
    # 10 documents: both say 0 four times and 1 three times, the first 0 and the second 1 twice,
    # the first 1 and the second 0 once. po = 0.7, pe = 0.6 * 0.5 + 0.4 * 0.5 = 0.5.
    matrix = np.array([[4.0, 2.0], [1.0, 3.0]])
    levels = np.array([0.0, 1.0])
    assert AGREEMENTS["agreement"](matrix, levels) == pytest.approx(0.7)
    assert AGREEMENTS["kappa"](matrix, levels) == pytest.approx(0.4)
    assert AGREEMENTS["mean_difference"](matrix, levels) == pytest.approx(0.1)
    assert bias_at(matrix, levels, 0) == pytest.approx(1 / 3)
    assert bias_at(matrix, levels, 1) == pytest.approx(-1 / 4)
    # o_01 = 3 of n = 20 values, 11 of them 0 and 9 of them 1: 1 - 19 * 3 / (11 * 9).
    assert AGREEMENTS["alpha_nominal"](matrix, levels) == pytest.approx(1 - 19 * 3 / 99)


def test_counts_of_queries_add_up():
    random = np.random.default_rng(5)
    first, second = random.integers(0, 3, size=(2, 200))
    query = random.integers(0, 9, size=200)
    levels = np.arange(3)
    each = confusion(query, first, second, 9, levels)
    assert each.shape == (9, 3, 3)
    assert each.sum() == 200
    here = query == 4
    assert each[4, 2, 1] == ((first == 2) & (second == 1) & here).sum()


def test_what_is_undefined_is_no_number():
    alike = np.array([[5.0, 0.0], [0.0, 0.0]])
    nothing = np.zeros((2, 2))
    levels = np.array([0.0, 1.0])
    for matrix in (alike, nothing):
        for name in ("kappa", "kappa_quadratic", "alpha_nominal", "alpha_ordinal"):
            assert np.isnan(AGREEMENTS[name](matrix, levels)), name
    assert AGREEMENTS["agreement"](alike, levels) == 1
    assert np.isnan(AGREEMENTS["agreement"](nothing, levels))
    assert np.isnan(bias_at(alike, levels, 1))


def test_replicates_are_rows():
    random = np.random.default_rng(5)
    matrices = random.integers(0, 9, size=(4, 3, 3)).astype(float)
    levels = np.array([0.0, 1.0, 3.0])
    for statistic in AGREEMENTS.values():
        each = [statistic(matrix, levels) for matrix in matrices]
        assert_allclose(statistic(matrices, levels), each)


def by_query(random, queries, kept=0.0, documents=20):
    """Levels of two judges, (Q * D,) each: the second keeps a share, and draws the others."""
    first, drawn = (
        random.choice(4, size=queries * documents, p=[0.6, 0.2, 0.1, 0.1]) for _ in "ab"
    )
    second = np.where(random.random(len(first)) < kept, first, drawn)
    query = np.repeat(np.arange(queries), documents)
    return query, first, second


def test_p_of_chance_leaves_out_each_query():
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")

    def kappa(first, second):
        return metrics.cohen_kappa_score(first, second, labels=range(4), weights="quadratic")

    random = np.random.default_rng(5)
    for queries, kept in ((2, 0.0), (5, 0.2), (12, 0.1)):
        query, first, second = by_query(random, queries, kept)
        whole = kappa(first, second)
        without = [kappa(first[query != one], second[query != one]) for one in range(queries)]
        pseudo = queries * whole - (queries - 1) * np.array(without)
        matrices = confusion(query, first, second, queries, np.arange(4))
        p = p_of_chance(matrices, np.arange(4.0))
        assert_allclose(p, ttest_1samp(pseudo, 0).pvalue, rtol=1e-9)
    assert np.isnan(p_of_chance(matrices[:1], np.arange(4.0)))


@pytest.mark.parametrize("queries", [2, 3, 5, 12])
def test_judges_of_random_levels_are_rarely_above_chance(queries):
    """At most 5 of 100, with two and a half standard errors; kappa 0.6 is found at 5 queries."""
    random, levels = np.random.default_rng(queries), np.arange(4)
    above = found = 0
    for _ in range(200):
        for kept in (0.0, 0.6):
            matrices = confusion(*by_query(random, queries, kept), queries, levels)
            kappa = cohens_kappa(matrices.sum(axis=0), levels.astype(float), "quadratic")
            shown = kappa > 0 and p_of_chance(matrices, levels.astype(float)) < 0.05
            above, found = above + (shown and not kept), found + (shown and kept > 0)
    assert above <= 200 * 0.05 + 8
    assert queries < 5 or found >= 190
