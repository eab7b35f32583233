"""Preferences of many judgment groups counted at once, and shares of pairs, without a matrix.

On one scale a document is preferred over all of lower level, so that counting fulfilled
preferences is counting inversions, as Kendall's tau does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray
from ragkpi.records import dataclass, replace

if TYPE_CHECKING:
    from ragkpi.ranking.preference_pairs import PreferencePairs

# Fulfilled and possible preferences.
Count = tuple[float, float]

_CELLS_AT_ONCE = 1 << 20  # of the pairs of a query's documents


@dataclass(frozen=True, eq=False)
class GroupDocuments:
    """The documents of G judgment groups, each with one level: E of them.

    Attributes
    ----------
    starts : (G+1,)
        Group g has documents ``starts[g]:starts[g + 1]``: the retrieved ones in ranking order, then
        the others by id.
    level, lines : (E,)
        The level, and on how many lines it is given.
    retrieved : (E,)
        Whether the run has the document.
    """

    starts: IntArray
    level: FloatArray
    lines: IntArray
    retrieved: BoolArray

    @cached_property
    def group(self) -> IntArray:
        """The group of each document, (E,)."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def rank_of_level(self) -> IntArray:
        """The rank of each document's level among the levels of the file, from 0, (E,)."""
        rank: IntArray = np.unique(self.level, return_inverse=True)[1]
        return rank

    def total(self, number: IntArray) -> IntArray:
        """Sum a number of the documents per group, (G,)."""
        sums: IntArray = np.append(0, np.cumsum(number))
        return sums[self.starts[1:]] - sums[self.starts[:-1]]

    def upto(self, number: IntArray) -> IntArray:
        """Sum a number of the documents of its group up to each document, (E,)."""
        sums: IntArray = np.append(0, np.cumsum(number))
        return sums[1:] - sums[self.starts[:-1]][self.group]

    @cached_property
    def cell(self) -> IntArray:
        """The group and level of each document as a number, (E,)."""
        levels = int(self.rank_of_level.max(initial=0)) + 1
        cell: IntArray = np.unique(self.group * levels + self.rank_of_level, return_inverse=True)[1]
        return cell

    def pairs(self, lines: IntArray) -> IntArray:
        """Count the pairs of lines with different levels per group, (G,), `lines` a document."""
        of_level = np.bincount(self.cell, weights=lines).astype(np.int64)
        group = np.zeros(len(of_level), dtype=np.int64)
        group[self.cell] = self.group
        bounds = np.searchsorted(group, np.arange(len(self.starts)))  # cells are in their order
        sums: IntArray = np.append(0, np.cumsum(of_level**2))
        squares = sums[bounds[1:]] - sums[bounds[:-1]]
        different: IntArray = (self.total(lines) ** 2 - squares) // 2
        return different

    def better_above(self) -> IntArray:
        """Count the retrieved lines of higher level above each document, (E,).

        The documents are parted by the bits of their levels, the highest first. Where two were
        together until now, the one with the bit set has the higher level.
        """
        counted = np.where(self.retrieved, self.lines, 0)
        above = np.zeros(len(counted), dtype=np.int64)
        rank = self.rank_of_level
        bits = int(rank.max(initial=0)).bit_length()
        order: IntArray = np.arange(len(rank))
        part = self.group.copy()
        for bit in reversed(range(bits)):
            high = (rank[order] >> bit) & 1
            sums = np.append(0, np.cumsum(counted[order] * high))
            first = np.flatnonzero(np.append(True, part[1:] != part[:-1]))
            sizes = np.diff(np.append(first, len(part)))
            seen = sums[1:] - np.repeat(sums[first], sizes)
            low = high == 0
            above[order[low]] += seen[low]
            part = 2 * part + high
            parted = np.argsort(part, kind="stable")
            order, part = order[parted], part[parted]
            part = np.append(0, np.cumsum(part[1:] != part[:-1]))
        return above

    def with_single_lines(self) -> GroupDocuments:
        """Return the same documents with one line each."""
        return replace(self, lines=np.ones_like(self.lines))


def one_scale_counts(documents: GroupDocuments) -> IntArray:
    """Count the preferences of groups whose lines are all on one scale.

    Returns
    -------
    (5, G, 2)
        Fulfilled and possible: of every preference, of those with both documents retrieved, of
        those with at least one, and of the first two again with the number of nonrelevant
        documents limited. These are trec_eval's rules to the letter, including what they do not
        live up to (see the edge cases of prefs_avgjg_Rnonrel).
    """
    total, lines, retrieved = documents.total, documents.lines, documents.retrieved
    above = documents.better_above()
    inside = np.where(retrieved, lines, 0)
    fulfilled, possible = total(lines * above), documents.pairs(lines)
    fulfilled_inside, possible_inside = total(inside * above), documents.pairs(inside)
    neither = documents.pairs(lines - inside)

    relevant = np.where(documents.level > 0, lines, 0)
    lowest = (
        documents.level
        == np.minimum.reduceat(documents.level, documents.starts[:-1])[documents.group]
    )
    above_or_here = documents.upto(np.where(lowest, lines, 0))
    seen = documents.upto(inside) - inside
    limited = []
    for scope, count in (
        (np.ones(len(lines), dtype=np.bool_), (fulfilled, possible)),
        (retrieved, (fulfilled_inside, possible_inside)),
    ):
        size = total(np.where(scope, relevant, 0))
        surplus = 2 * size - total(np.where(scope, lines, 0))
        # The lowest level is cut to its first lines; they are compared with every line, even with
        # each other.
        most = size[documents.group]
        kept = np.minimum(above_or_here, most)
        kept -= np.minimum(above_or_here - np.where(lowest, lines, 0), most)
        kept[~scope] = 0
        others = np.where(scope & ~lowest, lines, 0)
        cut = (
            total(others * above + seen * kept),
            documents.pairs(others) + total(np.where(scope, lines, 0)) * total(kept),
        )
        # Nonrelevant documents that were not judged stand in: every relevant one beats them.
        filled = (
            count[0] + surplus * total(np.where(retrieved, relevant, 0)),
            count[1] + surplus * total(relevant),
        )
        limited.append([np.where(surplus < 0, *both) for both in zip(cut, filled, strict=True)])
    counts = [
        (fulfilled, possible),
        (fulfilled_inside, possible_inside),
        (fulfilled, possible - neither),
        *limited,
    ]
    return np.array(counts).transpose(0, 2, 1)


def pair_counts(groups: Sequence[PreferencePairs], documents: int, retrieved: int) -> list[Count]:
    """Count the pairs of documents of a query for which any judgment group has a preference.

    Parameters
    ----------
    groups
        The judgment groups of the query.
    documents
        How many documents the query has.
    retrieved
        How many of these, the first ones, are retrieved.

    Returns
    -------
    list of (fulfilled, possible)
        The sum over pairs of the share of preferences that the ranking fulfils, and the number of
        pairs: of all pairs, of those with both documents retrieved, of those with at least one.
        Shares are added from left to right and row by row, as trec_eval does.
    """
    every = either = both = 0
    share = share_inside = 0.0
    step = max(1, _CELLS_AT_ONCE // documents)
    for first in range(0, documents, step):
        # The cells above the diagonal, some rows at a time.
        last = min(first + step, documents)
        over, all_ = (np.zeros((last - first, documents - first), dtype=np.int32) for _ in range(2))
        for group in groups:
            begin, end = np.searchsorted(group.number, [first, last]).tolist()
            mine, theirs = group.block(begin, end)
            cells: Any = slice(None)
            if len(group.number) < documents:
                cells = np.ix_(group.number[begin:end] - first, group.number[begin:] - first)
            over[cells] += mine
            all_[cells] += mine
            all_[cells] += theirs
        compared = all_ > 0
        compared &= np.arange(first, documents) > np.arange(first, last)[:, None]
        every += int(np.count_nonzero(compared))
        top = max(0, retrieved - first)
        compared, over, all_ = compared[:top], over[:top], all_[:top]
        terms = over[compared] / all_[compared]
        either += len(terms)
        share = _add(share, terms)
        inside = compared[:, :top]
        terms = over[:, :top][inside] / all_[:, :top][inside]
        both += len(terms)
        share_inside = _add(share_inside, terms)
    return [(share, every), (share_inside, both), (share, either)]


def _add(total: float, terms: FloatArray) -> float:
    """Add from left to right; numpy's own sum is pairwise."""
    return float(np.add.accumulate(np.append(total, terms))[-1])
