import math

import numpy as np
import pytest

from ragkpi.measures.measure import log, log2

RANKS = np.arange(1, 30_000)


@pytest.mark.parametrize(
    "numbers", [RANKS, RANKS[::-7], RANKS[-3:], RANKS / 7, np.array([], dtype=np.int64)]
)
def test_logarithms_are_those_of_the_c_library(numbers):
    assert log2(numbers).tolist() == [math.log2(number) for number in numbers.tolist()]
    assert log(numbers).tolist() == [math.log(number) for number in numbers.tolist()]
