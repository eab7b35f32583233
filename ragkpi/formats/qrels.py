"""TREC qrels: `query iteration document level`, one judgement a line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.integers import parse_integers
from ragkpi.formats.table import Layout, read_table, shown
from ragkpi.formats.tokens import IntArray, Tokens

LAYOUT = Layout(("query", "iteration", "document", "level"), "refused", "first_column")


@dataclass(frozen=True, eq=False)
class QrelsColumns:
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


def read_qrels(path: str) -> QrelsColumns:
    """Read a qrels file; `InputError` with the line for anything that is no judgement."""
    table = read_table(path, LAYOUT)
    query, iteration, document, level_text = table.columns
    level, valid = parse_integers(level_text)
    if not valid.all():
        row = int(np.flatnonzero(~valid)[0])
        raise InputError(
            path,
            int(table.line[row]),
            f"level {shown(level_text[row])}",
            "expected a whole number such as 0, 1, 2 or -1",
        )
    return QrelsColumns(path, query, iteration, document, level, table.line)
