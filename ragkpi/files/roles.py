"""Roles: qrels hold judgements, a run holds rankings, whatever the format of the file.

TREC's columns differ between the two. In other formats the name of a key or column often tells.
In ``{query: {document: number}}``, and in BEIR's columns, the numbers are looked at.
"""

from __future__ import annotations

import filecmp
import os

import numpy as np

from ragkpi.errors import InputError
from ragkpi.files.column_names import plain_name
from ragkpi.files.trec import NO_PLACE, Place, QrelsColumns, RunColumns, run_id_of
from ragkpi.interface import option
from ragkpi.wording import named

_LEVELS = (-2, 10)  # of the usual scales
BARE = "$@value"  # {query: {document: number}}


def refuse_scores(qrels: QrelsColumns) -> None:
    """Raise `InputError` if no name says level and the numbers are scores.

    Scores are fractional, or differ for all of more documents than a scale has levels.
    """
    name = qrels.place[1].rpartition(".")[2]
    if qrels.place[0] != BARE and plain_name(name) != "score":
        return
    if qrels.gain is not None:
        row = qrels.fractional_row
        found = f"score {float(qrels.gain[row])!r}, where a level is meant"
    else:
        query = qrels.query.first_rows()
        row = int(np.bincount(query).argmax())
        levels = qrels.level[query == row]
        if not _LEVELS[1] < len(np.unique(levels)) == len(levels):
            return
        found = f"{len(levels)} documents of query {named(qrels.query[row])} with as many scores"
    shape = option("qrels_format", _shape(qrels.place))
    expected = f"expected judgements ({shape} reads numbers as gains)"
    raise InputError(qrels.file, int(qrels.line[row]), found, expected)


def _shape(place: Place) -> str:
    return "object" if place[0] == BARE else "flat"


class RunRole:
    """Looks at the numbers of a run, block by block, for those of judgements.

    These are whole and small, and documents of a query share one, or all are 0 and 1. A rank, a
    run id or other names than BEIR's say that it is a run.
    """

    def __init__(self) -> None:
        self._place = NO_PLACE
        self._levels: set[float] | None = set()
        self._queries, self._shared = 0, False

    def look(self, block: RunColumns) -> None:
        if self._levels is None:
            return
        score, self._place = block.score, block.place
        beir = tuple(map(plain_name, block.place)) == ("corpus_id", "score")
        ranked = block.by_rank is not None or any(map_.startswith("rank=") for map_ in block.others)
        whole = (score >= _LEVELS[0]) & (score <= _LEVELS[1]) & (score == np.floor(score))
        named_run = ranked or block.run_id != run_id_of(block.file)
        if named_run or not (beir or block.place[0] == BARE) or not whole.all():
            self._levels = None
            return
        levels = block.group() * 100 + score
        self._levels.update(score.tolist())
        self._queries += len(block.query)
        self._shared = self._shared or len(np.unique(levels)) < len(levels)

    @property
    def judgements(self) -> str:
        """Say which levels the judgements have; empty for a ranking."""
        levels = sorted(self._levels or ())
        if not self._shared and (self._queries < 2 or not {0, 1}.issuperset(levels)):
            return ""
        return f"judgements of level {', '.join(f'{level:.0f}' for level in levels)}"

    def refuse_judgements(self, file: str, *, guessed: bool) -> None:
        """Raise `InputError` if the numbers so far are those of judgements."""
        if found := self.judgements:
            shape = option("run_format", _shape(self._place))
            expected = f"expected a run ({shape} reads numbers as scores)"
            if guessed:
                expected = f"expected a run, or {option('kind', 'qrels')}"
            raise InputError(file, None, f"holds {found}, not rankings", expected)


def refuse_twice(run: RunColumns, qrels: str, place: Place) -> None:
    """Raise `InputError` if qrels have the bytes of a run, and their numbers in the same place."""
    same = NO_PLACE != run.place == place and os.path.isfile(run.file) and os.path.isfile(qrels)
    if same and filecmp.cmp(run.file, qrels, shallow=False):
        found = f"holds the same as {qrels}, which is given as qrels"
        raise InputError(run.file, None, found, "expected a run")
