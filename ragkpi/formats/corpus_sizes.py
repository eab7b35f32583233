"""Sizes of the corpus for single queries: `query size`, one a line."""

from __future__ import annotations

import numpy as np

from ragkpi.errors import DataError, InputError
from ragkpi.formats.integers import parse_integers
from ragkpi.formats.line_scanner import LineShape, read_table
from ragkpi.wording import shown

LINE = LineShape(("query", "size"), "refused", "first_column")


def read_corpus_sizes(path: str) -> dict[bytes, int]:
    """Read how many documents could have been retrieved for each query.

    Raises
    ------
    InputError
        With the line, for anything that is no query and size.
    DataError
        If a query has two sizes.
    """
    table = read_table(path, LINE)
    query, size_text = table.columns
    size, valid = parse_integers(size_text)
    bad = np.flatnonzero(~valid | (size < 1))
    if len(bad):
        row = int(bad[0])
        raise InputError(
            path,
            int(table.line[row]),
            f"size {shown(size_text[row])}",
            "expected a whole number from 1",
        )
    sizes: dict[bytes, int] = {}
    for row, (name, number) in enumerate(zip(query, size.tolist(), strict=True)):
        if name in sizes:
            raise DataError(
                f"{path}:{table.line[row]}: query {shown(name)} again; expected one size per query"
            )
        sizes[name] = number
    return sizes
