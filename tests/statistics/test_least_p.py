"""The least p that the record of a test declares, held against the p-values that it gives.

A call says that its queries are too few where claims need less than this p.
"""

import numpy as np
import pytest

from ragkpi.statistics.decisions import TESTS
from ragkpi.statistics.paired import Procedure
from ragkpi.statistics.significance import Reach
from tests.statistics.test_paired import difference

UNITS, TRIALS = 9, 200


@pytest.mark.parametrize("differing", range(1, UNITS + 1))
@pytest.mark.parametrize("test", TESTS)
def test_no_differences_have_a_smaller_p(test, differing):
    if test == "t" and differing == UNITS:
        pytest.skip("equal differences of all queries have p = 0")
    random = np.random.default_rng(differing)
    least = Reach(differing, UNITS, TRIALS, False).least_p(test)
    given = []
    for raised in (np.ones(differing), *random.gamma(2.0, size=(20, differing))):
        after = np.zeros(UNITS)
        after[:differing] = raised
        scores = [0.1] * UNITS, (0.1 + after / 10).tolist()
        given.append(difference(*scores, procedure=Procedure(test=test, trials=TRIALS)).p)
    reached = np.nanmin(given)
    assert reached >= least * (1 - 1e-9)
    if not TESTS[test].is_drawn:
        assert reached == pytest.approx(least)
