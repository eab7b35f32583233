"""trec_eval's text: one line per value, ``NAME<tab>QUERY<tab>VALUE``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from ragkpi.measures.scores import Scores
from ragkpi.wording import DECIMALS, SIGNIFICANT, Style

if TYPE_CHECKING:
    from ragkpi.statistics.bootstrap import Interval

Lines = Literal["shown", "hidden"]

NAME_WIDTH = 22
# Queries formatted at a time: enough to be fast, few enough to stream.
BLOCK = 1000

_NOT_FINITE = {"nan": b"NA", "inf": b"inf", "-inf": b"-inf"}
_TEXTS = ("text", "quoted")


def write_trec(
    scores: Scores,
    out: BinaryIO,
    per_query: Lines,
    summary: Lines,
    name_width: int = NAME_WIDTH,
    digits: int | None = None,
    intervals: Sequence[Interval | None] = (),
) -> None:
    """Write the lines of a run; see `trec_lines`."""
    for lines in trec_lines(scores, per_query, summary, name_width, digits, intervals):
        out.write(lines)


def trec_lines(
    scores: Scores,
    per_query: Lines,
    summary: Lines,
    name_width: int = NAME_WIDTH,
    digits: int | None = None,
    intervals: Sequence[Interval | None] = (),
) -> Iterator[bytes]:
    """Format scores as trec_eval prints them.

    Parameters
    ----------
    scores
        What to print, in this order.
    per_query, summary
        Which lines: those of each query, and those over all queries, named ``all``.
    name_width
        Of the names of numbers: one more for z-scores, as the Z before their names does not count.
    digits
        How many decimals (of values that have few: significant digits) instead of trec_eval's.
    intervals
        One or None per value; the bounds stand in two more columns of the lines over all queries.

    Yields
    ------
    bytes
        Blocks of whole lines. Query ids and texts are the bytes of the input. NA (NaN) is ``NA``.
    """
    styles: list[Style] = [metric.measure.style for metric in scores.metrics]
    names = [
        metric.name.encode().ljust(NAME_WIDTH if style in _TEXTS else name_width)
        for metric, style in zip(scores.metrics, styles, strict=True)
    ]
    if per_query == "shown":
        shown = [i for i, _ in enumerate(styles) if scores.metrics[i].is_printed("query")]
        columns = [scores.per_query(i) for i in shown]
        for start in range(0, len(scores.queries), BLOCK):
            block = slice(start, start + BLOCK)
            cells = [
                _cells(styles[i], column[block], digits)
                for i, column in zip(shown, columns, strict=True)
            ]
            yield _lines([names[i] for i in shown], scores.queries[block], cells)
    if summary == "shown":
        shown = [i for i, _ in enumerate(styles) if scores.metrics[i].is_printed("summary")]
        cells = [_cells(styles[i], _alone(styles[i], scores.summary(i)), digits) for i in shown]
        if intervals:
            cells = [
                _with_bounds(cell, styles[i], intervals[i], digits)
                for i, cell in zip(shown, cells, strict=True)
            ]
        yield _lines([names[i] for i in shown], [b"all"], cells)


def _cells(style: Style, metrics: npt.NDArray[Any], digits: int | None) -> tuple[bytes, list[Any]]:
    """Return a format and what it is to be applied to, one entry per query."""
    form = _form(style, digits)
    if style in _TEXTS:
        return form, metrics.tolist()
    if style == "significant":
        metrics = metrics + 0.0  # takes the sign off a negative zero
    numbers = metrics.tolist()
    if np.isfinite(metrics).all():
        return form, numbers
    return b"%b", [form % x if math.isfinite(x) else _NOT_FINITE[str(x)] for x in numbers]


def _form(style: Style, digits: int | None) -> bytes:
    forms: dict[Style, bytes] = {
        "decimal": b"%%6.%df" % (DECIMALS if digits is None else digits),
        "integer": b"%d",
        "significant": b"%%.%dg" % (SIGNIFICANT if digits is None else max(digits, 1)),
        "text": b"%b",
        "quoted": b"'%b'",
    }
    return forms[style]


def _with_bounds(
    cell: tuple[bytes, list[Any]], style: Style, interval: Interval | None, digits: int | None
) -> tuple[bytes, list[Any]]:
    """Put the bounds of an interval behind the only value of a cell."""
    if interval is None:
        return cell
    bounds = _cells(style, np.array(interval), digits)
    return b"%b", [b"\t".join(form % value for form, values in (cell, bounds) for value in values)]


def _alone(style: Style, value: Any) -> npt.NDArray[Any]:
    return np.array([value], dtype=object if style in _TEXTS else np.float64)


def _lines(
    names: Sequence[bytes], queries: Sequence[bytes], cells: Sequence[tuple[bytes, list[Any]]]
) -> bytes:
    """Write the lines of each query, all values of one query after another."""
    template = b"".join(
        name.replace(b"%", b"%%") + b"\t%b\t" + form + b"\n"
        for name, (form, _) in zip(names, cells, strict=True)
    )
    columns: list[Sequence[Any]] = []
    for _, column in cells:
        columns += [queries, column]
    return b"".join([template % row for row in zip(*columns, strict=True)])
