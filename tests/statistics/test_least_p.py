"""The least p that the record of a test declares, held against the p-values that it gives.

A call says that its queries are too few where claims need less than this p.
"""

import numpy as np
import pytest

from ragkpi.statistics.decisions import TESTS
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.significance import least_p
from tests.statistics.test_paired import difference

UNITS, TRIALS = 9, 200


@pytest.mark.parametrize("units", range(2, UNITS + 1))
@pytest.mark.parametrize("test", TESTS)
def test_no_differences_have_a_smaller_p(test, units):
    random = np.random.default_rng(units)
    least = least_p(test, units, TRIALS)
    given = []
    for raised in (np.ones(units), *random.gamma(2.0, size=(20, units))):
        scores = [0.1] * units, (0.1 + raised / 10).tolist()
        given.append(difference(*scores, procedure=Procedure(test=test, trials=TRIALS)).p)
    reached = np.nanmin(given)
    assert reached >= least * (1 - 1e-9)
    if not TESTS[test].is_drawn and test != "t":
        assert reached == pytest.approx(least)
