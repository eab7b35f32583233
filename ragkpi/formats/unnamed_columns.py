"""Runs of words between white space, without names: MS MARCO, ColBERT and Tevatron write them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ragkpi.formats.lines import LineShape, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.shape import Shape
from ragkpi.formats.trec_runs import ColumnOrder, RunColumns, stream_lines
from ragkpi.records import NamedTuple


class _Columns(NamedTuple):
    """A run of words between white space, without names."""

    line: LineShape
    score: int | None
    rank: int | None


_MSMARCO = _Columns(LineShape(("query", "document", "rank"), "refused", "first_column"), None, 2)
_COLBERT = _Columns(
    LineShape(("query", "document", "rank", "score"), "refused", "first_column"), 3, 2
)
_TEVATRON = _Columns(LineShape(("query", "document", "score"), "refused", "first_column"), 2, None)


def _stream_words(source: Source, shape: Shape | None, columns: _Columns) -> Iterator[RunColumns]:
    layout = ColumnOrder(partial(scan, shape=columns.line), 0, 1, columns.score, columns.rank)
    return stream_lines(source, layout)


stream_msmarco = partial(_stream_words, columns=_MSMARCO)
stream_colbert = partial(_stream_words, columns=_COLBERT)
stream_tevatron = partial(_stream_words, columns=_TEVATRON)
