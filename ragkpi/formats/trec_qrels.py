"""TREC qrels: `query iteration document level`, one judgement a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.lines import LineShape, table_of
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.interface import option
from ragkpi.records import NamedTuple
from ragkpi.wording import shown

QRELS_LINE = LineShape(
    ("query", "iteration", "document", "level"),
    "refused",
    "first_column",
    {6: " (a run has 6; the qrels come first)"},
)


_EXACT = 2.0**53  # a whole number below it is exactly a double
_INTEGER = re.compile(rb"([+-]?)0*([0-9]{1,19})")
_WHOLE = "expected a whole number such as 0, 1, 2 or -1"

Numbers = Literal["levels", "gains"]
"""Whether judgements have to be whole numbers, or may be any real numbers."""


class QrelsColumns(NamedTuple):
    """Judgements as columns of n rows, in the order of the file.

    `iteration` has no meaning in plain qrels; elsewhere it names the assessor (judgment group).
    `level` is the judged level (negative: in the pool but unjudged), `line` the physical line.
    Where any number is fractional, `gain` holds all numbers, and `level` is 0 for a judged
    document and -1 for an unjudged one.
    """

    file: str
    query: Tokens
    iteration: Tokens
    document: Tokens
    level: IntArray
    line: IntArray
    gain: FloatArray | None = None

    def read_as(self, numbers: Numbers) -> QrelsColumns:
        """Return these qrels; `InputError` for a fractional number if levels are expected."""
        if numbers == "levels" and self.gain is not None:
            row = self.fractional_row
            raise fractional(
                self.file, int(self.line[row]), self.gain[row], f"{option('gains')} reads others"
            )
        return self

    @property
    def fractional_row(self) -> int:
        """The first row with a fractional number."""
        assert self.gain is not None
        return int(np.flatnonzero(self.gain != np.floor(self.gain))[0])

    def judgements(self) -> Iterator[tuple[bytes, bytes, int]]:
        """Yield query, document and level of every row."""
        return zip(self.query, self.document, self.level.tolist(), strict=True)


def fractional(file: str, line: int, level: float, advice: str) -> InputError:
    """Return the error for a fractional level where a whole one is needed."""
    return InputError(file, line, f"level '{float(level)!r}'", f"{_WHOLE}; {advice}")


def read_qrels(path: str) -> QrelsColumns:
    """Read a qrels file; errors as `qrels_of`."""
    with Source(path) as source:
        return qrels_of(source)


def qrels_of(source: Source, numbers: Numbers = "levels") -> QrelsColumns:
    """Read the rest of a source as TREC qrels; `InputError` with the line for anything else."""
    table = table_of(source, QRELS_LINE)
    query, iteration, document, level_text = map(table.column, range(4))
    level, gain = parse_numbers(source.name, level_text, table.line, numbers=numbers)
    return QrelsColumns(source.name, query, iteration, document, level, table.line, gain)


def parse_numbers(
    file: str, text: Tokens, line: IntArray, truth: bool = False, numbers: Numbers = "gains"
) -> tuple[IntArray, FloatArray | None]:
    """Read judged levels, (n,), and gains if any is fractional, as in `QrelsColumns`.

    ``2.0`` is 2. With `truth`, ``true`` and ``false`` in any case are 1 and 0.

    Raises `InputError` with the line for anything but a number, and for a fraction among levels.
    """
    value = text.numbers()
    with np.errstate(invalid="ignore"):
        readable = np.abs(value) < _EXACT
    whole = readable & (value == np.floor(value))
    level = np.where(whole, value, 0).astype(np.int64)
    for row in np.flatnonzero(~(whole if numbers == "levels" else readable)).tolist():
        if readable[row]:
            raise fractional(file, int(line[row]), value[row], "--gains reads others")
        word = text[row].strip()
        if truth and word.lower() in (b"true", b"false"):
            level[row] = value[row] = word.lower() == b"true"
            continue
        integer = _INTEGER.fullmatch(word)
        number = int(b"".join(integer.groups())) if integer else 2**63
        if not -(2**63) <= number < 2**63:
            raise InputError(file, int(line[row]), f"level {shown(text[row])}", _WHOLE)
        level[row] = number
    if (whole | ~readable).all():
        return level, None
    return judged_or_not(value), value


def plain_qrels(
    file: str,
    query: Tokens,
    document: Tokens,
    level: IntArray,
    line: IntArray,
    gain: FloatArray | None,
) -> QrelsColumns:
    """Return qrels of a format without iterations."""
    iteration = Tokens.repeated(b"0", len(line))
    return QrelsColumns(file, query, iteration, document, level, line, gain)


def judged_or_not(gain: FloatArray) -> IntArray:
    """Return levels for gains: 0 for a judged document, -1 for a negative gain."""
    return np.where(gain < 0, -1, 0)
