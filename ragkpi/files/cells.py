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
_SCORED = re.compile(r"(.+):(-?\d*\.\d+)")  # doc-17:0.912
_PLACE = re.compile(r"(.+?)[-_ ]?(0|[1-9]\d*)")


def list_in(cell: str) -> Any:
    """Return the list or object in a cell: JSON, or printed by Python; else what bars separate.

    Ids followed by a colon and a score become an object of numbers.
    """
    with suppress(ValueError, RecursionError):
        if isinstance(of := DECODER.decode(cell), list | dict):
            return of
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        if isinstance(of := DECODER.decode(json.dumps(literal_eval(cell))), list | dict):
            return of
    parts = [part.strip() for part in cell.split("|")] if cell.strip() else []
    scored = [_SCORED.fullmatch(part) for part in parts]
    return {of[1]: of[2] for of in scored if of} if parts and all(scored) else parts


def cell_value(name: str, cell: Any) -> Any:
    """Return the list or object in a cell of a column; the cell if it can be an id, as ``[8]``."""
    if not isinstance(cell, str):
        return cell
    plain = plain_name(name)
    named = plain in _OF_IDS or fields.are_scores(name) or fields.are_levels(name)
    if cell[:1] not in ("{", "[", "("):
        return list_in(cell) if named and "|" in cell else cell
    of = list_in(cell)
    texts = cell[:2] in ("['", '["', "[[")
    return of if of != [cell.strip()] and (isinstance(of, dict) or len(of) > 1 or texts) else cell


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
