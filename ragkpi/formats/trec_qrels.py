"""TREC qrels: `query iteration document level`, one judgement a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.integers import parse_integers
from ragkpi.formats.line_scanner import LineShape, table_of
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.formats.trec_runs import first_word, one_word
from ragkpi.wording import shown

LINE = LineShape(
    ("query", "iteration", "document", "level"),
    "refused",
    "first_column",
    {6: " (a run has 6; the qrels come first)"},
)


class QrelsColumns(NamedTuple):
    """Judgements as columns of n rows, in the order of the file.

    `iteration` means nothing in plain qrels; elsewhere it names the assessor (judgment group).
    `level` is the judged level (negative: in the pool but unjudged), `line` the physical line.
    """

    file: str
    query: Tokens
    iteration: Tokens
    document: Tokens
    level: IntArray
    line: IntArray

    def judgements(self) -> Iterator[tuple[bytes, bytes, int]]:
        """Yield query, document and level of every row."""
        return zip(self.query, self.document, self.level.tolist(), strict=True)


def read_qrels(path: str) -> QrelsColumns:
    """Read a qrels file; `InputError` with the line for anything that is no judgement."""
    with Source(path) as source:
        return qrels_of(source)


def qrels_of(source: Source) -> QrelsColumns:
    """Read all that is left of a source, as `read_qrels` does."""
    table = table_of(source, LINE)
    query, iteration, document, level_text = table.columns
    level = parse_levels(source.name, level_text, table.line)
    return QrelsColumns(source.name, query, iteration, document, level, table.line)


def parse_levels(file: str, text: Tokens, line: IntArray, truth: bool = False) -> IntArray:
    """Read judged levels, (n,); ``2.0`` is 2.

    With `truth`, ``true`` and ``false`` in any case are 1 and 0.

    Raises `InputError` with the line for one that is no whole number.
    """
    level, valid = parse_integers(text)
    for row in np.flatnonzero(~valid).tolist():
        word = text[row]
        if truth and word.lower() in (b"true", b"false"):
            level[row] = word.lower() == b"true"
            continue
        number = float(parse_decimals(text.take(slice(row, row + 1)))[0])
        if not (abs(number) < 2.0**53 and number.is_integer()):
            raise InputError(
                file,
                int(line[row]),
                f"level {shown(word)}",
                "expected a whole number such as 0, 1, 2 or -1",
            )
        level[row] = int(number)
    return level


def write_qrels(qrels: QrelsColumns, file: BinaryIO) -> None:
    """Write `query iteration document level`."""
    columns = (qrels.query, qrels.iteration, qrels.document, qrels.level.tolist())
    for query, iteration, document, level in zip(*columns, strict=True):
        file.write(b"%b %b %b %d\n" % (first_word(query), iteration, one_word(document), level))
