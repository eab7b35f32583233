import pytest

from tests.kernel.asking import KERNELS


@pytest.fixture(scope="session", params=KERNELS)
def kernel(request):
    """The compiled kernel, and its twin."""
    if KERNELS[request.param] is None:
        pytest.skip("the kernel is not compiled")
    return KERNELS[request.param]
