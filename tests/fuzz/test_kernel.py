"""A taste of `tests/fuzz/kernel.py`, in every run of the tests."""

import pytest

from tests.fuzz.kernel import compare
from tests.kernel.asking import KERNELS

EACH = 1000


@pytest.mark.skipif(KERNELS["compiled"] is None, reason="the kernel is not compiled")
@pytest.mark.parametrize("first", range(0, 4 * EACH, EACH))
def test_kernel_and_twin_agree(first):
    for number in range(first, first + EACH):
        compare(number)
