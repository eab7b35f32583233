"""Preference judgements: which of an assessor's documents is better, `prefs` and `qrels_prefs`."""

from __future__ import annotations

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.lines import LineShape, read_table
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import read_qrels
from ragkpi.records import dataclass
from ragkpi.wording import shown

LINE = LineShape(("query", "group", "subgroup", "document", "level"), "refused", "first_column")


@dataclass(frozen=True)
class PreferenceColumns:
    """Preference judgements as columns of n rows, in the order of the file.

    Documents of the same query, judgment group (an assessor) and sub-group can be compared: the
    one with the higher level is preferred. `line` is the physical line.
    """

    file: str
    query: Tokens
    group: Tokens
    subgroup: Tokens
    document: Tokens
    level: FloatArray
    line: IntArray


def read_preferences(path: str) -> PreferenceColumns:
    """Read `prefs`: query, judgment group, sub-group, document, level (a decimal number).

    Raises `InputError` with the line for anything that is no preference.
    """
    table = read_table(path, LINE)
    query, group, subgroup, document, level_text = map(table.column, range(5))
    level = level_text.numbers()
    wrong = np.flatnonzero(~np.isfinite(level))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            path,
            int(table.line[row]),
            f"level {shown(level_text[row])}",
            "expected a decimal number such as 0, 1 or 2.5",
        )
    return PreferenceColumns(path, query, group, subgroup, document, level, table.line)


def read_qrels_preferences(path: str) -> PreferenceColumns:
    """Read `qrels_prefs`: query, judgment group, document, level (a whole number).

    Each judgment group is one sub-group. Raises `InputError` as `read_qrels` does.
    """
    qrels = read_qrels(path)
    return PreferenceColumns(
        file=qrels.file,
        query=qrels.query,
        group=qrels.iteration,
        subgroup=Tokens.repeated(b"0", len(qrels.line)),
        document=qrels.document,
        level=qrels.level.astype(np.float64),
        line=qrels.line,
    )
