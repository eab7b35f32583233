"""trec_eval's text: one line per value, ``NAME<tab>QUERY<tab>VALUE``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np

from ragkpi.measures.measure import Metric
from ragkpi.measures.scores import MetricScores, Scores
from ragkpi.wording import DECIMALS, SIGNIFICANT, Style

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragkpi.statistics.bootstrap import Interval

Lines = Literal["shown", "hidden"]

NAME_WIDTH = 22
# Queries formatted at a time: enough to be fast, few enough to stream.
BLOCK = 1000

_NOT_FINITE = {"nan": b"NA", "inf": b"inf", "-inf": b"-inf"}
_TEXTS = ("text", "quoted")
# What ends a column or a line. No id of a TREC file holds it, but one of a JSON file may.
_SPACE = rb"[\t-\r ]"


def write_trec(
    scores: Scores,
    out: BinaryIO,
    per_query: Lines,
    summary: Lines,
    name_width: int = NAME_WIDTH,
    digits: int | None = None,
    intervals: Mapping[str, Interval] = MappingProxyType({}),
) -> None:
    """Write the lines of a run; see `trec_lines`."""
    out.writelines(trec_lines(scores, per_query, summary, name_width, digits, intervals))


def trec_lines(
    scores: Scores,
    per_query: Lines,
    summary: Lines,
    name_width: int = NAME_WIDTH,
    digits: int | None = None,
    intervals: Mapping[str, Interval] = MappingProxyType({}),
) -> Iterator[bytes]:
    r"""Format scores as trec_eval prints them.

    Parameters
    ----------
    scores
        What to print, in trec_eval's order.
    per_query, summary
        Which lines: those of each query, and those over all queries, named ``all``.
    name_width
        Of the names of numbers: one more for z-scores, as the Z before their names does not count.
    digits
        How many decimals (of values that have few: significant digits) instead of trec_eval's.
    intervals
        By the names of metrics; the bounds stand in two more columns of the lines over all queries.

    Yields
    ------
    bytes
        Blocks of whole lines. Query ids and texts are the bytes of the input, but white space in
        them is written as ``\x0a``, lest it forge a line. NA (NaN) is ``NA``.
    """
    if per_query == "shown":
        shown = _in_order(scores.printed("query"))
        names = [_padded(column.metric, name_width) for column in shown]
        for start in range(0, len(scores.queries), BLOCK):
            block = slice(start, start + BLOCK)
            cells = [
                _cells(column.metric.measure.style, column.per_query[block], digits)
                for column in shown
            ]
            yield _lines(names, _one_word(scores.queries[block]), cells)
    if summary == "shown":
        shown = _in_order(scores.printed("summary"))
        names = [_padded(column.metric, name_width) for column in shown]
        cells = [_summary_cells(column, intervals.get(column.name), digits) for column in shown]
        yield _lines(names, [b"all"], cells)


def _in_order(columns: Iterable[MetricScores]) -> list[MetricScores]:
    return sorted(columns, key=lambda column: column.metric.printed_place)


def _padded(metric: Metric, width: int) -> bytes:
    return metric.name.encode().ljust(NAME_WIDTH if metric.measure.style in _TEXTS else width)


def _summary_cells(
    column: MetricScores, interval: Interval | None, digits: int | None
) -> tuple[bytes, list[Any]]:
    style = column.metric.measure.style
    if interval is None and style in ("decimal", "integer") and math.isfinite(column.summary):
        return _form(style, digits), [column.summary]  # without what arrays take
    cells = _cells(style, _alone(style, column.summary), digits)
    return cells if interval is None else _with_bounds(cells, style, interval, digits)


def _cells(style: Style, values: npt.NDArray[Any], digits: int | None) -> tuple[bytes, list[Any]]:
    """Return a format and what it is to be applied to, one entry per query."""
    form = _form(style, digits)
    if style in _TEXTS:
        return form, _one_word(values.tolist())
    if style == "significant":
        values = values + 0.0  # takes the sign off a negative zero
    numbers = values.tolist()
    if np.isfinite(values).all():
        return form, numbers
    return b"%b", [form % x if math.isfinite(x) else _NOT_FINITE[str(x)] for x in numbers]


def _one_word(texts: list[bytes]) -> list[bytes]:
    """Escape the white space in texts."""
    joined = b"".join(texts)
    if len(joined.translate(None, b"\t\n\v\f\r ")) == len(joined):
        return texts
    return [re.sub(_SPACE, _spelled, text) for text in texts]


def _spelled(match: re.Match[bytes]) -> bytes:
    return b"\\x%02x" % match[0][0]


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
    cell: tuple[bytes, list[Any]], style: Style, interval: Interval, digits: int | None
) -> tuple[bytes, list[Any]]:
    """Put the bounds of an interval behind the only value of a cell."""
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
