"""Preference judgements: an assessor prefers one document to another (`prefs`, `qrels_prefs`)."""

from __future__ import annotations

import numpy as np

from ragkpi.formats.lines import LineShape, read_table, refuse_invalid
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import read_qrels
from ragkpi.records import dataclass

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

    Raises `InputError` with the line for anything but a preference.
    """
    table = read_table(path, LINE)
    query, group, subgroup, document, level_text = map(table.column, range(5))
    level = level_text.numbers()
    expected = "expected a decimal number such as 0, 1 or 2.5"
    refuse_invalid(path, table.line, level_text, np.isfinite(level), "level", expected)
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
