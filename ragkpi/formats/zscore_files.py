"""Means and deviations to compute z-scores from: `query measure mean deviation` a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.line_scanner import LineShape, read_table
from ragkpi.wording import shown

LINE = LineShape(("query", "measure", "mean", "deviation"), "refused", "first_column")


class Norm(NamedTuple):
    """How one measure is distributed for one query: its mean and its standard deviation."""

    mean: float
    deviation: float


# By printed name of the value, then by query.
Norms = Mapping[bytes, Mapping[bytes, Norm]]


def read_zscores(path: str) -> Norms:
    """Read a file of means and deviations.

    Raises `InputError` with the line if a number is not a finite decimal, a deviation is negative,
    or a query and measure come twice.
    """
    table = read_table(path, LINE)
    query, measure, *number_texts = table.columns
    numbers = []
    for name, text in zip(("mean", "deviation"), number_texts, strict=True):
        number = parse_decimals(text)
        valid = np.isfinite(number) if name == "mean" else np.isfinite(number) & (number >= 0)
        if not valid.all():
            row = int(np.flatnonzero(~valid)[0])
            expected = "a decimal number" if name == "mean" else "a decimal number from 0"
            raise InputError(
                path, int(table.line[row]), f"{name} {shown(text[row])}", f"expected {expected}"
            )
        numbers.append(number.tolist())
    norms: dict[bytes, dict[bytes, Norm]] = {}
    for line, query_id, name, *norm in zip(
        table.line.tolist(), query.tolist(), measure.tolist(), *numbers, strict=True
    ):
        of_queries = norms.setdefault(name, {})
        if query_id in of_queries:
            raise InputError(
                path,
                line,
                f"{name.decode()} of query {query_id.decode()} again",
                "expected each measure once per query",
            )
        of_queries[query_id] = Norm(*norm)
    return norms
