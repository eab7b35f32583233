"""Lines of text made of columns, thousands at once.

Each line is a row of a matrix of bytes in which every column has the width of its longest text.
Where a text ends before that are zeros, and in the end all zeros are taken out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ragkpi.formats.score_texts import repr_bytes, score_matrix
from ragkpi.formats.token_words import words_from
from ragkpi.formats.tokens import ByteArray, FloatArray, Tokens
from ragkpi.records import NamedTuple

_ROWS_AT_ONCE = 1 << 14
_LARGEST = 1 << 22  # bytes of a matrix
_WORDS = 3  # that `words_from` reads at once


class ScoreColumn(NamedTuple):
    """A column of scores, and how those are written that are no plain decimals."""

    score: FloatArray
    write: Callable[[float], bytes] = repr_bytes


# The same text in each row, or a text or a score for each.
Column = bytes | Tokens | ScoreColumn


def joined_rows(columns: Sequence[Column], count: int) -> bytes:
    """Return `count` rows of texts, one behind the other; no text may have a zero byte."""
    pieces: list[bytes] = []
    for first in range(0, count, _ROWS_AT_ONCE):
        pieces += _joined(columns, slice(first, min(first + _ROWS_AT_ONCE, count)))
    return b"".join(pieces)


def _joined(columns: Sequence[Column], rows: slice) -> Iterator[bytes]:
    size = rows.stop - rows.start
    if size > 1 and size * sum(_width(column, rows) for column in columns) > _LARGEST:
        middle = rows.start + size // 2  # there is a very long text in one half
        yield from _joined(columns, slice(rows.start, middle))
        yield from _joined(columns, slice(middle, rows.stop))
        return
    matrix = np.concatenate([_matrix(column, rows) for column in columns], axis=1).ravel()
    yield np.compress(matrix != 0, matrix).tobytes()


def _width(column: Column, rows: slice) -> int:
    if isinstance(column, Tokens):
        return int((column.end[rows] - column.start[rows]).max())
    return len(column) if isinstance(column, bytes) else 0


def _matrix(column: Column, rows: slice) -> ByteArray:
    """Return the texts of some rows, (n, w)."""
    if isinstance(column, bytes):
        text = np.frombuffer(column, dtype=np.uint8)
        return np.broadcast_to(text, (rows.stop - rows.start, len(text)))
    if isinstance(column, ScoreColumn):
        return score_matrix(column.score[rows], column.write)
    tokens = column.take(rows)
    count = -(-_width(column, rows) // 8)
    words = np.empty((len(tokens), count), dtype="<u8")
    for first in range(0, count, _WORDS):
        read = words_from(tokens, 8 * first, min(_WORDS, count - first))
        for number, word in enumerate(read, start=first):
            words[:, number] = word
    return words.view(np.uint8)
