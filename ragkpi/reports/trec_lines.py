"""trec_eval's output format: one line per value, ``NAME<tab>QUERY<tab>VALUE``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ragkpi.measures.measure import Metric, MetricScores, Scores
from ragkpi.wording import DECIMALS, SIGNIFICANT, Style

if TYPE_CHECKING:  # few evaluations have intervals
    from ragkpi.statistics.bootstrap import Interval

Lines = Literal["shown", "hidden"]

NAME_WIDTH = 22
# Queries per block: enough to be fast, few enough to stream.
BLOCK = 1000

_NOT_FINITE = {"nan": b"NA", "inf": b"inf", "-inf": b"-inf"}
_TEXTS = ("text", "quoted")
# These end a column or a line. Ids in TREC files never contain them, but ids in JSON can.
_SPACE = rb"[\t-\r ]"


def trec_lines(
    scores: Scores,
    per_query: Lines,
    summary: Lines,
    digits: int | None = None,
    intervals: Mapping[str, Interval] = MappingProxyType({}),
) -> Iterator[bytes]:
    r"""Format scores as trec_eval prints them, in blocks of whole lines.

    Names are padded to `NAME_WIDTH`, one more for z-scores because of their leading Z. Intervals
    add two columns with their bounds to the lines named ``all``, over all queries. Query ids and
    texts keep the bytes of the input, except that whitespace becomes ``\x0a`` and the like, so that
    it cannot forge a line. NA (NaN) is ``NA``.
    """
    if per_query == "shown":
        columns = _in_order(scores.printed("query"))
        names = [_padded(column.metric) for column in columns]
        for start in range(0, len(scores.queries), BLOCK):
            block = slice(start, start + BLOCK)
            cells = [
                _cells(column.metric.measure.style, column.per_query[block], digits)
                for column in columns
            ]
            yield _lines(names, _without_space(scores.queries[block]), cells)
    if summary == "shown":
        columns = _in_order(scores.printed("summary"))
        names = [_padded(column.metric) for column in columns]
        cells = [_summary_cells(column, intervals.get(column.name), digits) for column in columns]
        yield _lines(names, [b"all"], cells)


def _in_order(columns: Iterable[MetricScores]) -> list[MetricScores]:
    return sorted(columns, key=lambda column: column.metric.printed_place)


def _padded(metric: Metric) -> bytes:
    is_zscore = metric.name.startswith("Z") and metric.measure.style not in _TEXTS
    return metric.name.encode().ljust(NAME_WIDTH + is_zscore)


def _summary_cells(
    column: MetricScores, interval: Interval | None, digits: int | None
) -> tuple[bytes, list[Any]]:
    """Return a format, and one value with the bounds of its interval."""
    style = column.metric.measure.style
    kind = object if style in _TEXTS else np.float64
    form, cells = _cells(style, np.array([column.summary, *(interval or ())], dtype=kind), digits)
    return b"%b", [b"\t".join(form % cell for cell in cells)]


def _cells(style: Style, values: npt.NDArray[Any], digits: int | None) -> tuple[bytes, list[Any]]:
    """Return a format, and a value per query to fill it."""
    decimals = DECIMALS if digits is None else digits
    significant = SIGNIFICANT if digits is None else max(digits, 1)
    forms: dict[Style, bytes] = {
        "decimal": b"%%6.%df" % decimals,
        "integer": b"%d",
        "significant": b"%%.%dg" % significant,
        "text": b"%b",
        "quoted": b"'%b'",
    }
    form = forms[style]
    if style in _TEXTS:
        return form, _without_space(values.tolist())
    if style == "significant":
        values = values + 0.0  # turns -0.0 into 0.0
    numbers = values.tolist()
    if np.isfinite(values).all():
        return form, numbers
    return b"%b", [form % x if math.isfinite(x) else _NOT_FINITE[str(x)] for x in numbers]


def _without_space(texts: list[bytes]) -> list[bytes]:
    """Escape the whitespace in texts."""
    if not re.search(_SPACE, b"".join(texts)):
        return texts
    return [re.sub(_SPACE, lambda space: b"\\x%02x" % space[0][0], text) for text in texts]


def _lines(
    names: Sequence[bytes], queries: Sequence[bytes], cells: Sequence[tuple[bytes, list[Any]]]
) -> bytes:
    """Write the lines of each query in turn, with all its values."""
    template = b"".join(
        name.replace(b"%", b"%%") + b"\t%b\t" + form + b"\n"
        for name, (form, _) in zip(names, cells, strict=True)
    )
    columns = [part for _, column in cells for part in (queries, column)]
    return b"".join([template % row for row in zip(*columns, strict=True)])
