"""The page about Python: what it shows is what comes out."""

import doctest
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_outputs_of_the_page(monkeypatch):
    pytest.importorskip("ir_measures")
    pytest.importorskip("polars")
    monkeypatch.chdir(ROOT)
    monkeypatch.setitem(sys.modules, "pytrec_eval", sys.modules.get("pytrec_eval"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed, tried = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert tried > 15
    assert failed == 0
