"""The order of a ranking: score descending, ties by document id, as trec_eval."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ragkpi.formats.identity import sort_descending
from ragkpi.formats.run import RunColumns
from ragkpi.formats.tokens import BoolArray, IntArray

Ties = Literal["descending", "ascending"]


def rank_rows(run: RunColumns, needed: BoolArray, ties: Ties) -> IntArray:
    """Return the 1-based rank of every row of a run within its query, (n,).

    Most runs are sorted already, so only queries with a rising score are sorted, and ids are
    compared only where scores tie around a document that matters.

    Parameters
    ----------
    run
        Whole queries.
    needed : (n,)
        The rows whose rank must be exact among equal scores. The rank of the others is exact but
        for their order among equals.
    ties
        The order of ids among equal scores: ``"descending"`` for qrels, ``"ascending"`` for
        preferences.
    """
    starts, score = run.starts, run.score
    sizes = np.diff(starts)
    place = np.arange(len(score)) - np.repeat(starts[:-1], sizes)
    inside = np.ones(len(score), dtype=bool)  # whether the row above belongs to the same query
    inside[starts[:-1]] = False
    rising = np.zeros(len(score), dtype=bool)
    np.greater(score[1:], score[:-1], out=rising[1:])
    rising &= inside
    tied = np.zeros(len(score), dtype=bool)
    np.equal(score[1:], score[:-1], out=tied[1:])
    tied &= inside
    if rising.any():
        order = _sorted_rows(run, rising)
        place[order] = np.arange(len(score)) - np.repeat(starts[:-1], sizes)
        ordered = score[order]
        np.equal(ordered[1:], ordered[:-1], out=tied[1:])
        tied &= inside
        _order_ties(run, order, tied, needed, ties, place)
    elif tied.any():
        _order_ties(run, np.arange(len(score)), tied, needed, ties, place)
    return place + 1


def _sorted_rows(run: RunColumns, rising: BoolArray) -> IntArray:
    """Return the rows by query and falling score; only queries that are not so are sorted."""
    group = run.group()
    order: IntArray = np.arange(len(rising))
    unsorted = np.zeros(len(run.query), dtype=bool)
    unsorted[group[rising]] = True
    rows = np.flatnonzero(unsorted[group])
    order[rows] = rows[np.lexsort((-run.score[rows], group[rows]))]
    return order


def _order_ties(
    run: RunColumns,
    order: IntArray,
    tied: BoolArray,
    needed: BoolArray,
    ties: Ties,
    place: IntArray,
) -> None:
    """Put tied rows in order of id, in `place`, where a needed row is among them.

    `order` has the rows as ranked so far, `tied` says that a place's score equals the one above.
    """
    run_of_ties = np.cumsum(~tied) - 1
    matters = np.zeros(run_of_ties[-1] + 1, dtype=bool)
    matters[run_of_ties[needed[order]]] = True
    size = np.bincount(run_of_ties)
    places = np.flatnonzero((matters & (size > 1))[run_of_ties])
    if not len(places):
        return
    rows = order[places]
    documents, groups = run.document.take(rows), run_of_ties[places]
    if ties == "descending":
        by_id = sort_descending(documents, groups)
    else:
        by_id = sort_descending(documents, -groups)[::-1]
    place[rows[by_id]] = place[rows]
