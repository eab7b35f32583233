"""Quality of responses, one a line: `query score`, or `query run score` for several runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ragkpi.errors import DataError, InputError
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.line_scanner import Lines, LineShape, read_block, scan
from ragkpi.wording import shown

_ONE_RUN = LineShape(("query", "score"), "refused", "first_column")
_SEVERAL = LineShape(("query", "run", "score"), "refused", "first_column")
_ANY = LineShape(("query", "score"), "ignored", "first_column")

# By run (None where the file names none), then by query.
Quality = Mapping[bytes | None, Mapping[bytes, float]]


def read_quality(path: str) -> Quality:
    """Read how good the response to each query was.

    The first line says whether there is a column for runs.

    Raises
    ------
    InputError
        With the line, for another number of columns or a score that is no finite number.
    DataError
        If a query, or a query and run, comes twice.
    """
    block = read_block(path, _ONE_RUN)
    shape = _SEVERAL if _columns(scan(block, _ANY)) == 3 else _ONE_RUN
    table = scan(block, shape)
    if not len(table):
        raise InputError(path, None, "no scores", "expected lines of query score")
    query, *run, score_text = (table.column(place) for place in range(len(shape.columns)))
    score = parse_decimals(score_text)
    bad = np.flatnonzero(~np.isfinite(score))
    if len(bad):
        row = int(bad[0])
        raise InputError(
            path, int(table.line[row]), f"score {shown(score_text[row])}", "expected a number"
        )
    runs: list[bytes | None] = list(run[0].tolist()) if run else [None] * len(score)
    found: dict[bytes | None, dict[bytes, float]] = {}
    for row, (name, of, number) in enumerate(
        zip(query.tolist(), runs, score.tolist(), strict=True)
    ):
        scores = found.setdefault(of, {})
        if name in scores:
            raise DataError(
                f"{path}:{table.line[row]}: query {shown(name)} again; expected one score per "
                f"query{' and run' if run else ''}"
            )
        scores[name] = number
    return found


def _columns(lines: Lines) -> int:
    """Count the words of the first line."""
    if not len(lines):
        return 0
    text = lines.buffer[lines.origin + lines.begin[0] :]
    return len(bytes(text[: np.flatnonzero(text == ord("\n"))[0]]).split())
