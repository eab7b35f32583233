"""Runs of words between white space, without names: MS MARCO, ColBERT and Tevatron write them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ragkpi.formats.blocks import BLOCK_SIZE, BlockReader
from ragkpi.formats.line_scanner import LineShape, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.shape import Shape
from ragkpi.formats.trec_runs import ColumnOrder, RunColumns, held_columns, stream_run
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


def _stream_words(
    source: Source, shape: Shape | None, columns: _Columns, hold: bool = False
) -> Iterator[RunColumns]:
    layout = ColumnOrder(partial(scan, shape=columns.line), 0, 1, columns.score, columns.rank)
    if not hold:
        yield from stream_run(source, layout=layout)
        return
    size = BLOCK_SIZE if source.size is None else source.size + 1
    whole = BlockReader(source, size).read_all()
    if whole is not None:
        yield from held_columns(whole, layout)


stream_msmarco = partial(_stream_words, columns=_MSMARCO)
hold_msmarco = partial(_stream_words, columns=_MSMARCO, hold=True)
stream_colbert = partial(_stream_words, columns=_COLBERT)
hold_colbert = partial(_stream_words, columns=_COLBERT, hold=True)
stream_tevatron = partial(_stream_words, columns=_TEVATRON)
hold_tevatron = partial(_stream_words, columns=_TEVATRON, hold=True)
