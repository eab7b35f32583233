"""The ways to run tasks side by side, for tests that try each."""

import sys

import pytest

from ragkpi.ranking.forked import forked
from ragkpi.ranking.workers import threaded

ENGINES = [
    threaded,
    pytest.param(
        forked,
        marks=[
            pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks"),
            pytest.mark.filterwarnings("ignore:This process .* is multi-threaded"),
        ],
    ),
]
