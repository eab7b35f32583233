"""Roles: qrels contain judgements, a run contains rankings, in any file format.

TREC's columns differ between the two. In other formats the name of a key or column often decides.
In ``{query: {document: number}}``, and in BEIR's columns, the numbers decide.
"""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable, Iterator

import numpy as np

from ragkpi.errors import InputError, MapChoice, UnsettledError
from ragkpi.files.column_names import ORDER, is_score, meaning, plain_name
from ragkpi.files.opening import Kind
from ragkpi.files.trec import Origin, QrelsColumns, RunColumns, part_of, path_of, run_id_of
from ragkpi.interface import spell
from ragkpi.wording import named

_SHORTEST_LIST, _LEAST_LISTS = 3, 3
_LEVELS = (-2, 10)  # of the usual scales
BARE = "$@value"  # the path to documents in {query: {document: number}}


def unsettled(kind: Kind, file: str, fault: str, maps: list[MapChoice]) -> UnsettledError:
    """Return the error for a file that several maps could read."""
    argument = f"map_{kind}"
    choices = (
        spell(argument, of.map)
        + (f" with {spell('max_passage', of.fold)}" if of.fold else "")
        + (f" ({of.choice})" if of.choice else "")
        for of in maps
    )
    return UnsettledError(file, fault, f"expected {' or '.join(choices)}", argument, maps)


def refuse_scores(qrels: QrelsColumns) -> None:
    """Raise `InputError` if no name means level and the numbers are scores.

    Scores are fractional, or all different for more documents than a scale has levels.
    """
    name = path_of(qrels.origin.map).rpartition(".")[2]
    if qrels.origin.documents != BARE and plain_name(name) != "score":
        return
    if qrels.gain is not None:
        row = qrels.fractional_row
        fault = f"score {float(qrels.gain[row])!r} instead of a level"
    else:
        query = qrels.query.first_rows()
        row = int(np.bincount(query).argmax())
        levels = qrels.level[query == row]
        if not _LEVELS[1] < len(np.unique(levels)) == len(levels):
            return
        fault = (
            f"{len(levels)} documents of query {named(qrels.query[row])} with {len(levels)} scores"
        )
    map_ = spell("map_qrels", qrels.origin.map)
    expected = f"expected judgements ({map_} reads numbers as gains)"
    raise InputError(qrels.file, int(qrels.line[row]), fault, expected)


class RunRole:
    """Examines the numbers of a run, block by block, to detect judgements.

    Levels are small whole numbers that documents of a query share, or all 0 and 1. A file with a
    rank, a run id or other names than BEIR's is a run.
    """

    def __init__(self) -> None:
        self._levels: set[float] = set()
        self._queries, self._shared, self._ranking = 0, False, False

    def of(self, blocks: Iterable[RunColumns]) -> str:
        """Return the levels if the numbers are judgements; empty for a ranking."""
        return [self.levels_with(block) for block in blocks][-1]

    def levels_with(self, block: RunColumns) -> str:
        """Return the levels so far, with another block; empty for a ranking."""
        documents, map_ = block.origin.documents, block.origin.map
        beir = plain_name(documents) == "corpus_id" and plain_name(path_of(map_)) == "score"
        ranked = block.by_rank.any() or "rank" in map(part_of, block.others)
        if ranked or block.run_id != run_id_of(block.file) or not (beir or documents == BARE):
            self._ranking = True
        if self._ranking or not np.isin(block.score, range(_LEVELS[0], _LEVELS[1] + 1)).all():
            self._ranking = True
            return ""
        of_query = block.group() * 100 + block.score
        self._shared |= len(np.unique(of_query)) < len(of_query)
        self._levels.update(block.score.tolist())
        self._queries += len(block.query)
        if not self._shared and (self._queries < 2 or not self._levels <= {0, 1}):
            return ""
        return f"judgements of level {', '.join(f'{level:.0f}' for level in sorted(self._levels))}"


def falling(blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Yield blocks; at the end `UnsettledError` if the last document of every list is the best.

    This happens to distances named like scores, and to similarities named like distances, as in
    Milvus. A few short lists can be ascending by chance.
    """
    rises, lists, path, file, part = True, 0, "", "", ""
    for block in blocks:
        yield block
        path, file, part = path_of(block.origin.map), block.file, part_of(block.origin.map)
        named = part in ("score", "scores") and is_score(path)
        if rises := rises and (named or path == "@value"):
            above, below, group = block.score[:-1], block.score[1:], block.group()
            inside = group[1:] == group[:-1]  # both are of one query; infinite scores compare
            rises = not (inside & (below < above)).any()
            rising = np.bincount(group[1:][inside & (below > above)], minlength=len(block.query))
            lists += int(((rising > 0) & (np.diff(block.starts) >= _SHORTEST_LIST)).sum())
    if not rises or lists < _LEAST_LISTS:
        return
    what = "its numbers are" if path == "@value" else f"{path} is"
    falls = meaning(path) == "distance"
    order, other = ("descending", "similarity") if falls else ("ascending", "distance")
    choices = [
        MapChoice(f"{'similarity' if falls else 'score'}={path}", "large is better"),
        MapChoice(f"distance={path}", "small is better"),
    ][:: 1 if falls else -1]
    if part == "scores":
        choices = [MapChoice(ORDER, "by the list"), MapChoice(f"scores={path}", "by their numbers")]
    raise unsettled("run", file, f"{what} {order} in every list, like a {other}", choices)


def refuse_twice(run: RunColumns, qrels: str, origin: Origin) -> None:
    """Raise `InputError` if qrels and run have the same bytes and take the same numbers."""
    same = "" != run.origin.documents == origin.documents
    same = same and path_of(run.origin.map) == path_of(origin.map)
    same = same and os.path.isfile(run.file) and os.path.isfile(qrels)
    if same and filecmp.cmp(run.file, qrels, shallow=False):
        fault = f"has the same content as {qrels}, which is given as qrels"
        raise InputError(run.file, None, fault, "expected a run")
