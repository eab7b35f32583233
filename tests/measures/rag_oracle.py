"""The worked cases of tests/oracle/rag_cases.json, and how a number is compared with them."""

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

CASES = json.loads((Path(__file__).parents[1] / "oracle" / "rag_cases.json").read_text())["cases"]

# The defaults of section 5 of the specification.
WEIGHING = {"alpha": 1.0, "cap4": 1.0, "cap3": 0.25}
WEIGHING |= {"u5": 1.0, "u4": 0.5, "u3": 0.1, "fallback4": 1.0, "fallback3": 0.2}


def cases(kind, *groups):
    chosen = [case for case in CASES if case["kind"] == kind and case["group"] in groups]
    return [pytest.param(case, id=case["id"]) for case in chosen]


def number(text):
    return math.nan if text == "NA" else float(text) if text == "-inf" else float(Fraction(text))


def agree(found, expected, case):
    """Compare nested lists and dictionaries to the tolerance of the case."""
    if isinstance(expected, dict):
        for key in expected:
            agree(found[key], expected[key], case)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other, case)
    else:
        tolerance = float(case["tol"].split()[0])
        assert found == pytest.approx(number(expected), rel=tolerance, abs=0, nan_ok=True)
