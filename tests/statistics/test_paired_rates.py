import math

import numpy as np
import pytest
from scipy import optimize, stats

from ragkpi.statistics.paired import Procedure, compare
from ragkpi.statistics.significance import tango
from tests.made_scores import MAP, SUCCESS, scores


@pytest.mark.parametrize(
    ("higher", "lower", "n", "level", "published"),
    [
        (6, 16, 161, 0.95, (-0.1240, -0.0054)),  # Cavo et al., by R's contingencytables
        (1, 7, 21, 0.95, (-0.517, -0.026)),  # Bentur et al., by Fagerland, Lydersen, Laake 2014
        (0, 1, 44, 0.90, (-0.096, 0.037)),  # Tango's lenses, 1998
        (0, 0, 12, 0.95, (-0.24249, 0.24249)),  # by hand: z^2 / (n + z^2)
        (0, 12, 12, 0.95, (-1.0, -0.515012)),  # by hand: (z^2 - n) / (z^2 + n)
    ],
)
def test_published_intervals(higher, lower, n, level, published):
    digits = len(str(published[1]).partition(".")[2])
    assert tango(higher, lower, n, level) == pytest.approx(published, abs=0.6 * 10**-digits)


@pytest.mark.parametrize(
    ("higher", "lower", "n", "level"), [(3, 1, 8, 0.95), (5, 9, 40, 0.9), (1, 0, 12, 0.99)]
)
def test_bounds_solve_the_score_equation(higher, lower, n, level):
    """The likeliest outcomes at a difference are searched, instead of solved for as a quadratic."""

    def score(d):
        def unlikelihood(losses):
            cells = np.array([losses + d, losses, 1 - 2 * losses - d])
            counts = np.array([higher, lower, n - higher - lower])
            return -(counts * np.log(np.maximum(cells, 1e-300))).sum()

        room = (max(0.0, -d), (1 - d) / 2)
        losses = optimize.minimize_scalar(
            unlikelihood, bounds=room, method="bounded", options={"xatol": 1e-12}
        ).x
        return (higher - lower - n * d) / math.sqrt(n * (2 * losses + d - d * d))

    z = stats.norm.ppf((1 + level) / 2)
    bounds = tango(higher, lower, n, level)
    assert [score(bound) for bound in bounds] == pytest.approx([z, -z], abs=1e-4)


@pytest.mark.parametrize("n", [3, 12, 30])
def test_differences_of_rates_are_covered(n):
    """True coverage over all outcomes; that of resampling is below 0.3 for runs that seldom differ.

    Newcombe's hybrid score covers 0.90 in the worst of such cases.
    """
    outcomes = [(high, low) for high in range(n + 1) for low in range(n + 1 - high)]
    bounds = {outcome: tango(*outcome, n, 0.95) for outcome in outcomes}
    for difference in (0.0, 0.02, 0.1, 0.3):
        for differing in (0.02, 0.1, 0.3, 0.6, 0.95):
            if differing < difference:
                continue
            cells = (differing + difference) / 2, (differing - difference) / 2, 1 - differing
            covered = sum(
                stats.multinomial.pmf([high, low, n - high - low], n, cells)
                for (high, low), (least, most) in bounds.items()
                if least <= difference <= most
            )
            assert covered >= 0.925


def compared(baseline, other, metric=MAP):
    runs = [scores([(metric, values)]) for values in (baseline, other)]
    return compare(["old", "new"], runs, Procedure()).differences[0].interval


def test_equal_rates_are_not_called_certain():
    assert compared([1.0] * 12, [1.0] * 12, SUCCESS) == pytest.approx((-0.24249, 0.24249), abs=1e-5)
    assert compared([1, 0] * 6, [1, 0] * 6, SUCCESS) == pytest.approx((-0.24249, 0.24249), abs=1e-5)


@pytest.mark.parametrize("ends", [[1.0, 0.0, 1.0, 0.5], [1.0, 0.0, 1.0, 1.0]])
def test_other_values_have_students_interval(ends):
    """Those of a measure that is no rate, too, if they happen to be 0 and 1."""
    old, new = [1.0, 0.0, 1.0, 0.0] * 5, ends * 5
    assert compared(old, new) == pytest.approx(
        tuple(stats.ttest_rel(new, old).confidence_interval(0.95))
    )


def test_what_differs_by_one_amount_has_no_interval():
    assert all(map(math.isnan, compared([0.25, 0.5, 0.75], [0.25, 0.5, 0.75])))
    assert all(map(math.isnan, compared([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])))
