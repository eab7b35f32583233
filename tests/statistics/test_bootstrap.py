import json
import math
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scipy import stats

from ragkpi.measures.measure import GEOMETRIC_MEAN
from ragkpi.statistics.bootstrap import (
    UNKNOWN,
    Bootstrap,
    drawn,
    few_queries_note,
    intervals,
    mid_p,
    order_statistics,
    query_samples,
    times_drawn,
)
from tests.made_scores import BOR, HARM, MAP, NUM_Q, NUM_RET, RUNID, metric, scores

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "rag_cases.json").read_text())["cases"]
TWELVE = next(case for case in CASES if case["id"] == "boot_12_queries")

# dashboard_exhaust.jsonl of github.com/repantis-ai/bits-over-random (MIT): N = 600, K = 40; a
# letter per query, its place in the alphabet the relevant documents, lower case if one was found.
DASHBOARD = (
    "ehhecFDjggegedgDFhgdgdifBfhgggBgCgffDeFgdfffhhfidgghfjffEjgdhdkefidDffhigfieihgf"
    "fhBhffgdceffdeAiBggDhigAgeffdjgfBFcijFjEffgeehfaggdhdgfhfeFEedgffffggfhfBgegiDff"
    "fffhCdgegedikBdghhhhhfdfifieigejCcfegEheghlgfFfdGhgfjghhhfCEdFefgdfAhffedhEfhfeg"
    "dEfCEEfefcghhgfggFEeeffAeAgfEgfDjgeDfiDfhEEbBfGBggdeffeggchFeCeFchigdEhgkjhhCgdF"
    "hjDecfEfeeeiebjGAhhhfgdFdfEDkciffFcgdgfefgighfDBfdiagdeijcfhefgcfFFEDhefggjfefDg"
    "jfhggfhfhfcegffDggfeigDjFDffehgegEgeEFhgggCchfcFFeeCecddaEhDCDgFffcfhghegDdigfif"
    "CCjffigfihDgchfhdfCggfdhfEdfDedieDiegDhdecfihfeggBhkefigffihdGfdegdfDDiFeBegCfDf"
    "hEdhgfefiFhegdFefelcFFffBjdgCdlgjibheffgfFggjdggeggedgefBggegjgggfdggifDFbgghehf"
    "jdFffiichhfhhhDDfEgfkdefiDffBfhehdgehDgCedhfefgDgfDhfCgiACdcdDdfEDgfDFDeCedjCEGg"
    "hjgedicfggfiggBffejejhFgghfFbghheggihfBgbhefegdfdgedffFggeCfeigghhfehjgFfCFBfeDh"
)


def chance(N, R, K):
    return 1 - math.comb(N - R, K) / math.comb(N, K)


def twelve():
    N, K = TWELVE["inputs"]["N"], TWELVE["inputs"]["K"]
    rows = TWELVE["inputs"]["rows_R_hit"]
    return scores([(BOR, [[hit, chance(N, R, K)] for R, hit in rows])])


def dashboard():
    rows = [[letter.islower(), ord(letter.upper()) - ord("A") + 1] for letter in DASHBOARD]
    return scores([(BOR, [[hit, chance(600, R, 40)] for hit, R in rows])])


def interval_of_indices(made, resamples, seed):
    """Bootstrap as the author does: an index at a time from Python's own generator."""
    (sample,) = query_samples([made], lambda _: True)
    draw = Random(seed).randrange
    indices = [[draw(sample.queries) for _ in range(sample.queries)] for _ in range(resamples)]
    (replicates,) = sample.summaries(sample.resampled([times_drawn(np.array(indices))]))
    return order_statistics(replicates[:, 0], (0.025, 0.975))


def test_oracle_twelve_queries():
    (sample,) = query_samples([twelve()], lambda _: True)
    (replicates,) = sample.summaries(sample.resampled(drawn(12, 5000, 7)))
    found = order_statistics(replicates[:, 0], (0.025, 0.975))
    expected = TWELVE["expected"]["ci_numpy_default_rng_integers"]
    assert found == pytest.approx(expected, rel=1e-12)


def test_oracle_twelve_queries_with_python_indices():
    expected = TWELVE["expected"]["ci_python_random_randrange"]
    assert interval_of_indices(twelve(), 5000, 7) == pytest.approx(expected, rel=1e-12)


def test_interval_that_the_author_of_bor_prints():
    assert dashboard().columns[0].summary == pytest.approx(1.2758, abs=5e-5)
    expected = (1.2297, 1.3199)  # README.md of the same repository, --ci with its defaults
    assert interval_of_indices(dashboard(), 2000, 0) == pytest.approx(expected, abs=5e-5)


def test_draws_come_in_blocks_of_the_size_asked_for():
    indices = np.random.default_rng(3).integers(0, 70_000, size=(5, 70_000))
    blocks = list(drawn(70_000, 5, 3, fewest=2))
    assert [len(block) for block in blocks] == [2, 2, 1]
    expected = [np.bincount(row, minlength=70_000) for row in indices]
    assert (np.concatenate(blocks) == expected).all()


def test_block_size_does_not_change_digits(monkeypatch):
    made = scores([(MAP, np.random.default_rng(1).random(50))])
    whole = intervals(made, Bootstrap(resamples=400))
    monkeypatch.setattr("ragkpi.statistics.bootstrap.BLOCK", 64)
    assert intervals(made, Bootstrap(resamples=400)) == whole


def test_a_value_has_the_same_interval_alone_and_among_others():
    random = np.random.default_rng(2)
    columns = [(MAP, random.random(40)), (HARM, random.random(40)), (BOR, random.random((40, 2)))]
    together = intervals(scores(columns), Bootstrap(resamples=500))
    alone = [intervals(scores([column]), Bootstrap(resamples=500)) for column in columns]
    assert [{name: interval} for name, interval in together.items()] == alone


def test_unknown_queries_are_no_part_of_the_sample():
    known = [0.1, 0.9, 0.4, 0.6]
    with_holes = scores([(MAP, [0.1, np.nan, 0.9, 0.4, np.nan, 0.6]), (HARM, [0] * 6)])
    expected = intervals(scores([(MAP, known)]), Bootstrap())
    assert intervals(with_holes, Bootstrap())["map"] == expected["map"]


def test_failed_resamples_give_an_infinite_bound():
    # Of a recall of 0.9 and no rate: its logarithm is -inf in (5/6)^6 = 33% of the resamples.
    low, high = intervals(scores([(BOR, [[0.9, 0.5]] + [[0, 0.5]] * 5)]), Bootstrap())["bor_10"]
    assert low == -np.inf
    assert np.isfinite(high)


def test_undefined_replicates_widen_both_ways():
    replicates = np.array([np.nan, 1.0, 2.0, 3.0])
    assert order_statistics(replicates, (0.0, 1.0)) == (-np.inf, np.inf)
    assert order_statistics(replicates, (0.25, 0.5)) == (1.0, 3.0)


def test_no_interval_where_there_is_no_sample():
    single = scores([(RUNID, [b"x"]), (NUM_Q, [1]), (NUM_RET, [9]), (MAP, [0.3])])
    assert intervals(single, Bootstrap()) == {"num_ret": UNKNOWN, "map": UNKNOWN}


def test_every_aggregate_is_resampled_as_it_is_summed():
    logs = np.log(np.random.default_rng(4).random(30))
    geometric = scores([(metric("gm_map", GEOMETRIC_MEAN), logs), (NUM_RET, logs), (MAP, logs)])
    gm, total, mean = intervals(geometric, Bootstrap(method="percentile")).values()
    assert gm == pytest.approx(np.exp(mean), rel=1e-12)
    assert total == pytest.approx(np.multiply(mean, 30), rel=1e-12)


def test_agreement_with_scipy():
    sample = np.random.default_rng(5).gamma(1.5, size=60)
    found = intervals(scores([(MAP, sample)]), Bootstrap(resamples=20_000, method="percentile"))[
        "map"
    ]
    generator = np.random.default_rng(7)
    scipy = stats.bootstrap(
        (sample,), np.mean, n_resamples=20_000, method="percentile", rng=generator
    ).confidence_interval
    # The same resamples, for scipy draws its indices the same way; its quantiles interpolate.
    assert found == pytest.approx(scipy, abs=2e-3)


def test_coverage():
    """Of 95% intervals, 93 to 97% cover the population's value, for means and for ratios."""
    random = np.random.default_rng(2026)
    truth = [2 / 5, np.log2(0.6 / 0.2)]
    covered = np.zeros(2)
    for trial in range(1000):
        hit, chances = random.random(150) < 0.6, random.beta(2, 8, size=150)
        sample = [(MAP, random.beta(2, 3, size=150)), (BOR, np.column_stack([hit, chances]))]
        found = intervals(scores(sample), Bootstrap(resamples=800, seed=trial, method="percentile"))
        covered += [
            low <= true <= high for (low, high), true in zip(found.values(), truth, strict=True)
        ]
    assert (covered >= 930).all()
    assert (covered <= 970).all()


# R. G. Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, has the
# bounds of four examples. By the definition: the observed number counts half on either side.
@pytest.mark.parametrize(
    ("successes", "n", "expected"),
    [
        (81, 263, (0.2544, 0.3658)),
        (15, 148, (0.0601, 0.1581)),
        (0, 20, (0.0, 0.1391)),
        (1, 29, (0.0017, 0.1585)),
        (12, 12, (0.05 ** (1 / 12), 1.0)),
    ],
)
def test_rates_have_the_mid_p_interval(successes, n, expected):
    rate = scores([(MAP, [1.0] * successes + [0.0] * (n - successes))])
    low, high = intervals(rate, Bootstrap())["map"]
    assert (low, high) == pytest.approx(expected, abs=5e-5)
    for bound, side in ((low, 1), (high, -1)):
        if 0 < bound < 1:
            of = stats.binom(n, bound)
            beyond = of.sf(successes) if side == 1 else of.cdf(successes - 1)
            assert beyond + of.pmf(successes) / 2 == pytest.approx(0.025)


def test_bits_follow_from_the_rate():
    """Of 9 in 12; chance succeeds with 0.05 for every query."""
    rows = [[1, 0.05]] * 9 + [[0, 0.05]] * 3
    low, high = mid_p(9, 12, 0.95)
    found = intervals(scores([(BOR, rows)]), Bootstrap())["bor_10"]
    assert found == pytest.approx((math.log2(low / 0.05), math.log2(high / 0.05)))
    assert intervals(scores([(BOR, [[0, 0.5]] * 4)]), Bootstrap())["bor_10"].low == -math.inf


@pytest.mark.parametrize("n", [3, 5, 12, 20, 30, 50, 100])
def test_rates_up_to_99_percent_are_covered(n):
    """True coverage over all outcomes; Wilson's has 88.6% at a rate of 0.99 and n = 12."""
    bounds = [mid_p(k, n, 0.95) for k in range(n + 1)]
    for rate in np.arange(0.01, 0.991, 0.01):
        covered = [low <= rate <= high for low, high in bounds]
        assert stats.binom.pmf(np.arange(n + 1), n, rate)[covered].sum() >= 0.918


def test_a_rate_of_trials_that_are_not_whole_lies_between():
    """An effective number of trials: of a finite population, or of dependent queries."""
    low, high = mid_p(9.5, 12.5, 0.95)
    assert mid_p(9, 12, 0.95).low < low < 9.5 / 12.5 < high < mid_p(10, 13, 0.95).high


def note(*columns, **how):
    bootstrap = Bootstrap(**{"method": "percentile", **how})
    return few_queries_note([scores([column]) for column in columns], bootstrap)


def spread(n):
    return MAP, np.arange(n) / n


def test_few_queries_are_said_with_their_own_number():
    for n in (2, 12, 49):
        expected = f"With so few queries ({n}) resampled intervals are too narrow."
        assert note(spread(n)) == expected
    assert "(12 to 20)" in note(spread(12), spread(20))
    assert "(12) " in note(spread(12), spread(400))
    assert note(spread(50)) == ""


def test_more_queries_are_few_for_what_resampling_covers_less():
    assert "(50)" in note((metric("gm_map", GEOMETRIC_MEAN), -np.arange(50.0)))
    assert note((metric("gm_map", GEOMETRIC_MEAN), -np.arange(200.0))) == ""


def test_rates_are_not_resampled():
    assert note((MAP, [1.0] * 12), method="score") == ""
    assert note((BOR, [[1.0, 0.5]] * 12), method="score") == ""


def test_a_mean_between_0_and_1_has_its_score_interval():
    """By the formula: the spread takes the place of a rate's, and t that of the normal's."""
    values = np.array([0.0, 0.1, 0.15, 0.3, 0.3, 0.45, 0.5, 0.6, 0.75, 0.8, 1.0, 1.0])
    n, mean = 12, values.mean()
    dispersion = values.var(ddof=1) / (mean * (1 - mean))
    number, k = n / dispersion, stats.t.ppf(0.975, n - 1)
    middle = mean + k * k / (2 * number)
    reach = k * np.sqrt(mean * (1 - mean) / number + k * k / (4 * number**2))
    expected = [(middle + side * reach) / (1 + k * k / number) for side in (-1, 1)]
    found = intervals(scores([(MAP, values)]), Bootstrap())["map"]
    assert found == pytest.approx(expected, rel=1e-12)
    # Clusters of equal values are fewer observations; a value beyond 0 and 1 is no such mean.
    clusters = {b"q%03d" % row: str(row // 2) for row in range(n)}
    clustered = intervals(scores([(MAP, values)]), Bootstrap(clusters=clusters))["map"]
    assert clustered.high - clustered.low > 1.2 * (found.high - found.low)
    assert "(12)" in note((MAP, values * 2), method="score")


def test_a_geometric_mean_has_students_interval_of_its_logarithms():
    logs = np.log([0.1, 0.5, 0.02, 0.4, 0.9, 0.00001])
    found = intervals(scores([(metric("gm_map", GEOMETRIC_MEAN), logs)]), Bootstrap())["gm_map"]
    assert found == pytest.approx(np.exp(stats.ttest_1samp(logs, 0).confidence_interval(0.95)))


@pytest.mark.parametrize("n", [12, 50])
def test_the_score_interval_covers_skewed_means(n):
    """beta(0.5, 4), of which the percentile interval covers 87% at 12; 2.2 points are 3 errors."""
    random = np.random.default_rng(n)
    bounds = [
        intervals(scores([(MAP, random.beta(0.5, 4, n))]), Bootstrap())["map"] for _ in range(1000)
    ]
    covered = np.mean([low <= 1 / 9 <= high for low, high in bounds])
    assert 0.92 - 0.022 <= covered <= 0.97 + 0.022


PERCENTILE = Bootstrap(resamples=500, method="percentile")


@pytest.mark.parametrize(("n", "covered"), [(3, 0.74), (12, 0.91), (30, 0.94)])
def test_what_is_said_to_be_covered_is(n, covered):
    """Of 1,200 samples, with a standard error of 0.7 to 1.3 points."""
    random = np.random.default_rng(n)
    bounds = [
        intervals(scores([(MAP, random.beta(2, 3, n))]), PERCENTILE)["map"] for _ in range(1200)
    ]
    assert np.mean([low <= 0.4 <= high for low, high in bounds]) == pytest.approx(covered, abs=0.03)


def test_few_clusters_are_few_however_many_queries_they_have():
    made = scores([spread(400)])
    clusters = {query: str(row // 50) for row, query in enumerate(made.queries)}
    bootstrap = Bootstrap(method="percentile", clusters=clusters)
    said = "With so few clusters (8) resampled intervals are too narrow."
    assert few_queries_note([made], bootstrap) == said
