"""The order of a ranking: score descending, ties by document id, as trec_eval."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragkpi.formats.groups import within_groups
from ragkpi.formats.identity import sort_ascending, sort_descending
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.records import NamedTuple

Ties = Literal["descending", "ascending"]


class TiedRanks(NamedTuple):
    """The first and the last of the ranks that a document shares with its equals, (n,) each.

    Both are its own rank where no other document of the query has its score.
    """

    first: IntArray
    last: IntArray


def ranks_of(run: RunColumns, rows: IntArray, ties: Ties) -> IntArray:
    """Return the 1-based ranks of some rows of a run within their queries.

    Most runs are sorted already, so only queries with a rising score are sorted, and ids are
    compared only where scores tie around a document that matters.

    Parameters
    ----------
    run
        Whole queries.
    rows : (m,)
        The rows that matter, in any order.
    ties
        The order of ids among equal scores: ``"descending"`` for qrels, ``"ascending"`` for
        preferences.
    """
    order, score, position = _by_score(run)
    first = _first_of_ties(score, run.starts)
    tied = ~(first[:-1] & first[1:])[position[rows]]
    if tied.any():
        _order_ties(run, order, position, rows[tied], np.flatnonzero(first), ties)
    query = np.searchsorted(run.starts, rows, side="right") - 1
    ranks: IntArray = position[rows] - run.starts[query] + 1
    return ranks


def tied_ranks_of(run: RunColumns, rows: IntArray) -> TiedRanks:
    """Return the ranks at which some rows of a run, (m,), may stand if ties fall at random."""
    _, score, position = _by_score(run)
    bounds = np.flatnonzero(_first_of_ties(score, run.starts))
    group = np.searchsorted(bounds, position[rows], side="right") - 1
    above = run.starts[np.searchsorted(run.starts, rows, side="right") - 1]
    return TiedRanks(bounds[group] - above + 1, bounds[group + 1] - above)


def _by_score(run: RunColumns) -> tuple[IntArray | None, FloatArray, IntArray]:
    """Return the rows by query and falling score, their scores, and where each row stands then.

    The order is None if they stand so already.
    """
    rising = within_groups(run.starts, run.score[1:] > run.score[:-1])
    order: IntArray = np.arange(len(run.score))
    if not rising.any():
        return None, run.score, order
    group = run.group()
    unsorted = np.zeros(len(run.query), dtype=bool)
    unsorted[group[1:][rising]] = True
    rows = np.flatnonzero(unsorted[group])
    by_score = rows[np.argsort(-run.score[rows])]
    # Sixteen bits are sorted by counting.
    group = group.astype(np.uint16 if len(run.query) < 1 << 16 else np.int64)
    order[rows] = by_score[np.argsort(group[by_score], kind="stable")]
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return order, run.score[order], position


def _first_of_ties(score: FloatArray, starts: IntArray) -> BoolArray:
    """Say which places of a ranking score differently from the one above; so does the end."""
    first = np.ones(len(score) + 1, dtype=bool)
    np.logical_not(within_groups(starts, score[1:] == score[:-1]), out=first[1:-1])
    return first


def _order_ties(
    run: RunColumns,
    order: IntArray | None,
    position: IntArray,
    rows: IntArray,
    bounds: IntArray,
    ties: Ties,
) -> None:
    """Put rows with the scores of the given ones in order of id, in `position`.

    Positions ``bounds[i]:bounds[i + 1]`` have one score each.
    """
    matters = np.zeros(len(bounds), dtype=bool)
    matters[np.searchsorted(bounds, position[rows], side="right") - 1] = True
    chosen = np.flatnonzero(matters)
    sizes = bounds[chosen + 1] - bounds[chosen]
    group = np.repeat(np.arange(len(chosen)), sizes)
    places = np.arange(len(group)) + (bounds[chosen] - np.cumsum(sizes) + sizes)[group]
    tied = places if order is None else order[places]
    documents = run.document.take(tied)
    by_id = (sort_descending if ties == "descending" else sort_ascending)(documents, group)
    position[tied[by_id]] = places


def sort_rows(query: IntArray, score: FloatArray, document: Tokens) -> IntArray:
    """Return rows in any order by query, score descending and id descending, (n,)."""
    same, falls = query[1:] == query[:-1], score[1:] <= score[:-1]
    as_it_stands = bool((np.where(same, falls, query[1:] > query[:-1])).all())
    order: IntArray = np.arange(len(query)) if as_it_stands else np.lexsort((-score, query))
    tied = np.zeros(len(order), dtype=bool)
    ordered = score[order]
    tied[1:] = (np.diff(query[order]) == 0) & (ordered[1:] == ordered[:-1])
    run_of_ties = np.cumsum(~tied) - 1
    if tied.any():
        places = np.flatnonzero((np.bincount(run_of_ties) > 1)[run_of_ties])
        rows = order[places]
        order[places] = rows[sort_descending(document.take(rows), run_of_ties[places])]
    return order
