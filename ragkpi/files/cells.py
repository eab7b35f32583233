"""Cells of tables that hold several values: lists as text, and numbered columns."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ragkpi.files import column_names as fields
from ragkpi.files.column_names import plain_name
from ragkpi.files.json_text import DECODER

_OF_IDS = (*fields.RETRIEVED, *fields.JUDGED)
_OF_PLACES = (
    *_OF_IDS,
    *fields.DOCUMENT,
    *fields.JUDGED_DOCUMENT,
    *fields.SCORE,
    *fields.DISTANCE,
    *fields.LEVEL,
)
_PLACE = re.compile(r"(.+?)[-_ ]?(0|[1-9]\d*)")


def list_in(text: str) -> Any:
    """Return the list or object in a text: JSON, or printed by Python as pandas does; else None."""
    with suppress(ValueError, RecursionError):
        return DECODER.decode(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return DECODER.decode(json.dumps(literal_eval(text)))
    return None


def cell_value(name: str, cell: Any) -> Any:
    """Return the list or object in a cell, or the ids between its bars; else the cell.

    An id can look like a list of one number, ``[8]``.
    """
    if not isinstance(cell, str):
        return cell
    if cell[:1] in ("{", "[", "("):
        of = list_in(cell)
        one = isinstance(of, list) and len(of) == 1 and cell[:2] not in ("['", '["', "[[")
        return of if isinstance(of, list | dict) and of and not one else cell
    plain = plain_name(name)
    named = plain in _OF_IDS or fields.are_scores(name) or fields.are_levels(name)
    return [part.strip() for part in cell.split("|")] if named and "|" in cell else cell


def lists_of_places(names: Sequence[str]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that gathers numbered columns of a row into lists.

    ``doc_1``, ``doc_2``, ``score_1``, ``score_2`` become the lists ``doc`` and ``score``, without
    empty cells at their ends.
    """
    lists: dict[str, dict[int, str]] = {}
    for name in names:
        match = _PLACE.fullmatch(name)
        if match and plain_name(match[1]) in _OF_PLACES and match[1] not in names:
            lists.setdefault(match[1], {})[int(match[2])] = name
    taken = {name for of in lists.values() for name in of.values()}

    def gathered(row: dict[str, Any]) -> dict[str, Any]:
        rest = {name: cell for name, cell in row.items() if name not in taken}
        for name, of in lists.items():
            cells = [row[of[place]] for place in sorted(of)]
            while cells and cells[-1] in ("", None):
                del cells[-1]
            rest[name] = cells
        return rest

    return gathered
