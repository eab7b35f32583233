"""Systems of several seeds, against the formulas in plain Python and scipy's tests."""

import math
from statistics import fmean, variance

import numpy as np
import pytest
from scipy import stats

from ragkpi.library.runs import systems
from ragkpi.measures.measure import GEOMETRIC_MEAN
from ragkpi.statistics.bootstrap import UNKNOWN, Bootstrap, query_samples
from ragkpi.statistics.power import noise_of
from ragkpi.statistics.replicates import (
    System,
    difference_of,
    look_like_seeds,
    p_of_pairs,
    systems_of,
)
from tests.made_scores import BOR, MAP, metric, scores


def drawn(n, *seeds, spread=0.05):
    """Draw systems of so many seeds each, (n, r)."""
    rng = np.random.default_rng([n, *seeds])
    query = rng.normal(0.5, 0.2, size=(n, 1))
    return [
        query + rng.normal(scale=0.1, size=(n, 1)) + rng.normal(scale=spread, size=(1, r))
        + rng.normal(scale=0.08, size=(n, r))
        for r in seeds
    ]  # fmt: skip


def sample_of(drawn_systems, of_metric=MAP, clusters=None):
    """Make a sample of systems, (n, r) or (n, r, S)."""
    seeds = {
        str(number): [scores([(of_metric, run)]) for run in np.moveaxis(np.asarray(system), 1, 0)]
        for number, system in enumerate(drawn_systems)
    }
    (sample,) = query_samples(list(systems(seeds).values()), lambda _: True, clusters)
    return sample


def compared(systems, of_metric=MAP, clusters=None):
    sample = sample_of(systems, of_metric, clusters)
    ((first, second),) = systems_of(sample)
    return difference_of(first, second, sample.freedom)


def p_of_all(systems, clusters=None):
    sample = sample_of(systems, clusters=clusters)
    return p_of_pairs(*systems_of(sample), sample.freedom)


def slowly(first, second, freedom=None, values=None):
    """The formulas, number by number: difference, error, degrees of freedom, queries' variance."""
    n = len(first)
    within, parts, means = 0.0, [], []
    for place, system in enumerate((first, second)):
        r = len(system[0])
        columns = [fmean(system[q][k] for q in range(n)) for k in range(r)]
        of_seeds = values[place] if values else columns
        means.append(fmean(of_seeds))
        if r == 1:
            continue
        rows, mean = [fmean(system[q]) for q in range(n)], fmean(columns)
        squares = [
            (system[q][k] - rows[q] - columns[k] + mean) ** 2 for q in range(n) for k in range(r)
        ]
        within += math.fsum(squares) / ((n - 1) * (r - 1)) / (n * r)
        parts.append((variance(of_seeds) / r, r - 1))
    apart = [fmean(b) - fmean(a) for a, b in zip(first, second, strict=True)]
    queries = max(0.0, variance(apart) / n - within)
    error = math.sqrt(queries + sum(s for s, _ in parts))
    bounds = [(s * f / stats.chi2.ppf(0.2, f), f) for s, f in parts]
    bounds.append((queries, n - 1 if freedom is None else freedom))
    of_both = sum(v for v, _ in bounds) ** 2 / sum(v * v / f for v, f in bounds)
    return means[1] - means[0], error, of_both, queries


def same_as_slowly(found, expected):
    difference, error, freedom, queries = expected
    assert found.difference == pytest.approx(difference, rel=1e-9)
    assert found.error == pytest.approx(error, rel=1e-9)
    assert found.freedom == pytest.approx(freedom, rel=1e-9)
    assert found.queries == pytest.approx(queries, rel=1e-9, abs=1e-15)
    t = stats.t(freedom)
    assert found.p == pytest.approx(2 * t.sf(abs(difference) / error), rel=1e-8)
    reach = t.ppf(0.975) * error
    assert found.interval == pytest.approx((difference - reach, difference + reach), rel=1e-8)


@pytest.mark.parametrize("seeds", [(3, 3), (5, 3), (2, 4), (1, 4), (3, 1), (10, 10)])
@pytest.mark.parametrize("n", [2, 5, 40])
def test_the_formulas_one_number_at_a_time(n, seeds):
    first, second = drawn(n, *seeds)
    same_as_slowly(compared([first, second]), slowly(first.tolist(), second.tolist()))


def test_a_difference_by_hand():
    """Two queries, two seeds: the seed adds 0.2 to both, and nothing to either by itself."""
    first = np.array([[0.1, 0.3], [0.5, 0.7]])
    second = np.array([[0.4], [0.6]])
    found = compared([first, second])
    # means .3 and .7 of .1 + .3 and .5 + .7 halves, .2 and .6; differences .2 and 0, mean .1
    assert found.difference == pytest.approx(0.1)
    # s of (.3, .5) is .02 / 2; the differences' variance is .02, over two queries .01
    assert found.queries == pytest.approx(0.01)
    assert found.seeds == (pytest.approx((0.01, 1)), None)
    assert found.error == pytest.approx(math.sqrt(0.02))
    # χ² of one degree of freedom at 20%: .0642, so the seed's part is .1558
    bound = 0.01 / stats.chi2.ppf(0.2, 1)
    assert found.freedom == pytest.approx((0.01 + bound) ** 2 / (0.01**2 + bound**2))


def test_seeds_that_are_equal_have_the_paired_t_test_of_one():
    first, second = (system[:, [0, 0, 0]] for system in drawn(30, 1, 1))
    t = stats.ttest_rel(second[:, 0], first[:, 0])
    found = compared([first, second])
    assert found.p == pytest.approx(t.pvalue, rel=1e-9)
    assert found.interval == pytest.approx(tuple(t.confidence_interval()), rel=1e-9)
    assert [part.variance for part in found.seeds] == pytest.approx([0, 0], abs=1e-30)


def test_two_single_runs_have_the_paired_t_test():
    first, second = drawn(30, 1, 1)
    t = stats.ttest_rel(second[:, 0], first[:, 0])
    found = compared([first, second])
    assert (found.p, found.freedom) == pytest.approx((t.pvalue, 29), rel=1e-9)
    assert found.interval == pytest.approx(tuple(t.confidence_interval()), rel=1e-9)
    assert (found.evidence, found.seeds) == ("runs", (None, None))


@pytest.mark.parametrize("spread", [0.02, 0.2])
def test_seeds_alone_are_welchs_test_where_queries_do_not_differ(spread):
    """Every query has the same difference: only the seeds' means are left, of unequal spread."""
    rng = np.random.default_rng(3)
    query = rng.normal(size=(40, 1))
    first = query + rng.normal(scale=0.1, size=(1, 4))
    second = query + rng.normal(scale=spread, size=(1, 4)) + 0.1
    welch = stats.ttest_ind(second[0], first[0], equal_var=False)  # of equal r: c has no effect
    found = compared([first, second])
    assert (found.p, found.freedom) == pytest.approx((welch.pvalue, welch.df), rel=1e-6)
    assert found.queries == pytest.approx(0, abs=1e-15)


def test_clusters_of_one_size_are_tested_by_their_means():
    first, second = drawn(40, 3, 5)
    clusters = {b"q%03d" % row: str(row // 4) for row in range(40)}
    means = [system.reshape(10, 4, -1).mean(axis=1).tolist() for system in (first, second)]
    same_as_slowly(compared([first, second], clusters=clusters), slowly(*means))


def test_clusters_of_other_sizes_have_fewer_degrees_of_freedom():
    first, second = drawn(40, 1, 1)
    clusters = {b"q%03d" % row: "large" for row in range(10)}
    found = compared([first, second], clusters=clusters)
    assert found.freedom == pytest.approx(40**2 / (10**2 + 30) - 1)


def pseudo_values(statistics, summary):
    """The jackknife of every seed, (n, r), and the seeds' summaries, query by query left out."""
    n, r = statistics.shape[:2]
    whole = [summary(statistics[:, k]) for k in range(r)]
    units = [
        [n * whole[k] - (n - 1) * summary(np.delete(statistics[:, k], q, axis=0)) for k in range(r)]
        for q in range(n)
    ]
    return units, whole


@pytest.mark.parametrize(
    ("of_metric", "width", "summary"),
    [
        (BOR, 2, lambda rows: math.log2(rows[:, 0].mean() / rows[:, 1].mean())),
        (metric("gm_map", GEOMETRIC_MEAN), 1, lambda rows: math.exp(rows[:, 0].mean())),
    ],
    ids=["ratio of means", "geometric mean"],
)
def test_what_is_no_mean_has_pseudo_values(of_metric, width, summary):
    rng = np.random.default_rng(5)
    systems = [rng.uniform(0.1, 1, size=(12, r, width)) for r in (3, 4)]
    (first, of_first), (second, of_second) = (pseudo_values(s, summary) for s in systems)
    expected = slowly(first, second, values=[of_first, of_second])
    same_as_slowly(compared(systems, of_metric), expected)


@pytest.mark.parametrize(
    ("seeds", "evidence"),
    [
        ((1, 1), "runs"),
        ((1, 2), "two seeds"),
        ((2, 1), "two seeds"),
        ((2, 2), "two seeds"),
        ((5, 2), "two seeds"),
        ((1, 3), "one run"),
        ((3, 1), "one run"),
        ((3, 3), "systems"),
        ((3, 10), "systems"),
    ],
)
def test_what_a_difference_is_about(seeds, evidence):
    found = compared(drawn(10, *seeds))
    assert found.evidence == evidence
    assert [part is None for part in found.seeds] == [number == 1 for number in seeds]


def test_p_and_interval_are_one_procedure():
    first, second = drawn(30, 3, 4)
    for shift in np.linspace(-0.3, 0.3, 61):
        found = compared([first, second + shift])
        low, high = found.interval
        assert (found.p < 0.05) == (not low <= 0 <= high)


def test_where_nothing_varies_nothing_is_tested():
    same = np.full((10, 3), 0.4)
    for second, p in ((same, 1.0), (same + 0.1, math.nan)):
        found = compared([same, second])
        assert found.p == pytest.approx(p, nan_ok=True)
        assert found.error == pytest.approx(math.nan, nan_ok=True)
        assert found.interval == pytest.approx(UNKNOWN, nan_ok=True)


def test_one_query_is_not_enough():
    found = compared([np.array([[0.1, 0.2, 0.4]]), np.array([[0.3, 0.2, 0.6]])])
    assert math.isnan(found.p)
    assert found.difference == pytest.approx(0.4 / 3)


def test_a_seed_without_a_value_is_not_tested():
    """No success at all: the logarithm of the ratio is -inf, and so are its pseudo-values."""
    rng = np.random.default_rng(6)
    first, second = (rng.uniform(0.1, 1, size=(12, 3, 2)) for _ in range(2))
    second[:, 1, 0] = 0
    assert math.isnan(compared([first, second], BOR).p)


def test_two_systems_are_a_pilot():
    """As many queries as the pilot has give its own variance again, less that it is a bound."""
    first, second = drawn(40, 3, 5)
    ((one, other),) = systems_of(sample_of([first, second]))
    noise = noise_of(one, other, 40, Bootstrap())
    apart = second.mean(axis=1) - first.mean(axis=1)
    assert noise.deviation >= apart.std(ddof=1) * math.sqrt(39 / stats.chi2.ppf(0.2, 39)) - 1e-12
    found = compared([first, second])
    of_seeds = sum(part.variance for part in noise.seeds)
    assert apart.var(ddof=1) / 40 + of_seeds == pytest.approx(found.error**2, rel=1e-9)
    assert [part.freedom for part in noise.seeds] == [2, 4]


def test_all_pairs_are_corrected_together():
    systems = drawn(50, 3, 4, 1, 5)
    systems[3] += 0.15
    p = p_of_all(systems)
    pairs = [(0, 1), (0, 3), (1, 3)]  # of the run alone, the seeds are not known
    alone = [compared([systems[one], systems[other]]).p for one, other in pairs]
    least = 0.0
    for rank, place in enumerate(np.argsort(alone)):
        least = max(least, min(1.0, alone[place] * (len(pairs) - rank)))
        one, other = pairs[place]
        assert p[one, other] == p[other, one] == pytest.approx(least, rel=1e-9)
    assert np.isnan(p.diagonal()).all()
    assert np.isnan(p[2]).all()


def test_pairs_know_of_clusters():
    systems = drawn(40, 3, 3)
    clusters = {b"q%03d" % row: "large" for row in range(10)}
    p = p_of_all(systems, clusters)
    assert p[0, 1] == pytest.approx(compared(systems, clusters=clusters).p, rel=1e-9)


def test_pairs_of_two_seeds_are_not_tested_and_cost_the_others_nothing():
    systems = drawn(50, 3, 2, 3)
    p = p_of_all(systems)
    assert np.isnan(p[1]).all()
    assert p[0, 2] == pytest.approx(compared([systems[0], systems[2]]).p, rel=1e-9)


def test_a_system_from_arrays():
    (values,) = drawn(20, 3)
    system = System(values, values.mean(axis=0))
    assert system.part == pytest.approx((values.mean(axis=0).var(ddof=1) / 3, 2))
    two_ways = values - values.mean(1, keepdims=True) - values.mean(0) + values.mean()
    assert system.noise == pytest.approx((two_ways**2).sum() / (19 * 2) / 60)


@pytest.mark.parametrize(
    ("names", "systems"),
    [
        (["dense-s1.run", "dense-s2.run", "dense-s3.run"], [3]),
        (["dense_seed42.run", "dense_seed43.run", "bm25.run"], [2]),
        (["seed=1/mono.run", "seed=2/mono.run", "seed=1/ance.run", "seed=2/ance.run"], [2, 2]),
        (["ance.fold1.gz", "ance.fold2.gz"], [2]),
        (["s1.run", "s2.run", "s3.run"], [3]),
        (["Rep 1", "Rep 2"], [2]),
        (["t5 random_seed 1", "t5 random_seed 2"], [2]),
        (["dense-s1.run", "sparse-s2.run"], []),
        (["bm25-k10.run", "bm25-k20.run"], []),
        (["v1.run", "v2.run"], []),
        (["run1", "run2"], []),
        (["monot5-3b", "monot5-11b"], []),
        (["models1.run", "models2.run"], []),
        (["bm25.run", "dense.run", "fusion.run"], []),
    ],
)  # fmt: skip
def test_names_of_seeds(names, systems):
    assert [len(runs) for runs in look_like_seeds(names).values()] == systems
