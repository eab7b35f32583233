"""A taste of the fuzzing of small files, in every run of the tests."""

import pytest

from tests.fuzz.small_files import FAMILIES, family_of, run_case


@pytest.mark.parametrize("family", FAMILIES)
def test_small_files(family, tmp_path):
    for number in range(150 * len(FAMILIES)):
        if family_of(number) == family:
            run_case(number, tmp_path)
