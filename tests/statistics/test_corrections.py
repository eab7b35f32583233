import math

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from ragkpi.statistics.significance import corrected

NAN = math.nan


@pytest.mark.parametrize(
    ("correction", "p", "expected"),
    [
        # Worked by hand from the definitions: Holm 4 * .005, 3 * .01, 2 * .03, 1 * .04 and the
        # running maximum; Benjamini-Hochberg .005 * 4, .01 * 4/2, .03 * 4/3, .04 * 4/4.
        ("holm", [0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ("benjamini-hochberg", [0.01, 0.04, 0.03, 0.005], [0.02, 0.04, 0.04, 0.02]),
        ("none", [0.01, 0.04, 0.03, 0.005], [0.01, 0.04, 0.03, 0.005]),
        ("holm", [0.5, 0.9], [1.0, 1.0]),
        ("holm", [NAN, 0.02, NAN, 0.03], [NAN, 0.04, NAN, 0.04]),
        ("benjamini-hochberg", [NAN, 0.02, 0.03], [NAN, 0.03, 0.03]),
        ("holm", [NAN], [NAN]),
        ("holm", [0.02, 0.02], [0.04, 0.04]),
    ],
)
def test_corrections(correction, p, expected):
    assert corrected(np.array(p), correction) == pytest.approx(expected, nan_ok=True, rel=1e-12)


def test_benjamini_hochberg_as_scipy_has_it():
    p = np.random.default_rng(3).random(200) ** 2
    assert corrected(p, "benjamini-hochberg") == pytest.approx(false_discovery_control(p))


def test_original_example_of_benjamini_and_hochberg():
    """Table 1 of their paper: 15 p-values, of which 4 are rejected at 0.05, and 3 by Holm."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    p += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000]
    assert (corrected(np.array(p), "benjamini-hochberg") <= 0.05).sum() == 4
    assert (corrected(np.array(p), "holm") <= 0.05).sum() == 3
