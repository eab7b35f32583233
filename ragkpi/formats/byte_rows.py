"""Lines of text made of columns, thousands at once.

The texts of a column are laid out with the same width, by copying so many bytes from where each
begins. What is copied too much is written over by the next column, which begins where the text
ends; and so are whole lines by the next lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ragkpi.formats.score_texts import LONGEST_SCORE, repr_bytes, score_texts
from ragkpi.formats.token_words import VoidArray, stretches
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.records import NamedTuple

_ROWS_AT_ONCE = 1 << 14
_LARGEST = 1 << 22  # bytes of lines with the same width


class ScoreColumn(NamedTuple):
    """A column of scores, and how those are written that are no plain decimals."""

    score: FloatArray
    write: Callable[[float], bytes] = repr_bytes


# The same text in each row, or a text or a score for each.
Column = bytes | Tokens | ScoreColumn


def row_texts(columns: Sequence[Column], count: int) -> Iterator[bytes]:
    """Yield `count` rows of texts, many at a time."""
    for first in range(0, count, _ROWS_AT_ONCE):
        yield from _joined(columns, slice(first, min(first + _ROWS_AT_ONCE, count)))


def joined_rows(columns: Sequence[Column], count: int) -> bytes:
    """Return `count` rows of texts, one behind the other."""
    return b"".join(row_texts(columns, count))


def _joined(columns: Sequence[Column], rows: slice) -> Iterator[bytes]:
    count = rows.stop - rows.start
    width = sum(_width(column, rows) for column in columns)
    if count > 1 and count * width > _LARGEST:
        middle = rows.start + count // 2  # there is a very long text in one half
        yield from _joined(columns, slice(rows.start, middle))
        yield from _joined(columns, slice(middle, rows.stop))
        return
    lines = np.empty(count * width, dtype=np.uint8)
    begin = np.arange(count) * width
    end = begin.copy()  # of what is written of each line
    for column in columns:
        if _width(column, rows):
            texts, length = _texts(column, rows)
            stretches(lines, texts.itemsize)[end] = texts
            end += length
    lengths = end - begin
    ends = np.cumsum(lengths)
    text = np.empty(ends[-1] + width, dtype=np.uint8)
    if width:
        stretches(text, width)[ends - lengths] = lines.view(f"V{width}")
    yield text[: ends[-1]].tobytes()


def _width(column: Column, rows: slice) -> int:
    if isinstance(column, Tokens):
        return int((column.end[rows] - column.start[rows]).max())
    return len(column) if isinstance(column, bytes) else LONGEST_SCORE


def _texts(column: Column, rows: slice) -> tuple[VoidArray, IntArray | int]:
    """Return stretches of bytes that begin with the texts of some rows, and their lengths."""
    if isinstance(column, bytes):
        return np.frombuffer(column, dtype=f"V{len(column)}"), len(column)
    if isinstance(column, ScoreColumn):
        texts, length = score_texts(column.score[rows], column.write)
        return texts.view(f"V{8 * texts.shape[1]}")[:, 0], length
    width, start = _width(column, rows), column.start[rows]
    buffer = column.buffer
    if len(buffer) < int(start.max()) + width:
        buffer = np.append(buffer, np.zeros(width, dtype=np.uint8))
    return stretches(buffer, width)[start], column.end[rows] - start
