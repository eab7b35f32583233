"""Which document is preferred over which: the pairs that the lines of a judgment group imply.

A judgment group is what one assessor said about one query. Inside a sub-group levels can be
compared; across sub-groups only documents connect, so preferences are closed transitively.
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ragkpi.errors import DataError
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.ranking.preference_counts import Count
from ragkpi.records import dataclass
from ragkpi.wording import named

WeightArray: TypeAlias = "BoolArray | IntArray"


@dataclass(frozen=True)
class GroupLines:
    """The lines of one judgment group.

    Attributes
    ----------
    place
        The file, query and group, for error messages.
    documents : Tokens of length n
        Its documents: the retrieved ones in ranking order, then the others by id.
    number : (n,)
        Their numbers among all documents of the query, in the same order, so ascending.
    document, subgroup, level : (lines,)
        For each line the index of its document, its sub-group 0, 1, … and its level.
    """

    place: str
    documents: Tokens
    number: IntArray
    document: IntArray
    subgroup: IntArray
    level: FloatArray

    def contradiction(self, text: str, *documents: int) -> DataError:
        """Build the error that names the place and the documents put into `text`."""
        names = [named(self.documents[index]) for index in documents]
        return DataError(f"{self.place}: {text.format(*names)}")


@dataclass(frozen=True)
class OneSubgroup:
    """All lines are on one scale: every pair of lines with different levels is a preference.

    A document on two lines of the same level counts twice.

    Attributes
    ----------
    number, level, lines : (n,)
        The documents' numbers among all of the query, their levels and their numbers of lines.
    """

    number: IntArray
    level: FloatArray
    lines: IntArray

    def block(self, first: int, last: int) -> tuple[WeightArray, WeightArray]:
        """Compare documents ``first:last`` with those below, (last - first, n - first) twice.

        How often each is preferred over each of ``first:``, and each of those over it.
        """
        above, below = self.level[first:last, None], self.level[first:]
        over, under = above > below, above < below
        if (self.lines == 1).all():
            return over, under
        weight = np.outer(self.lines[first:last], self.lines[first:])
        return weight * over, weight * under


@dataclass(frozen=True)
class SeveralSubgroups:
    """Several scales: the set of preferences of each, closed transitively.

    Sets of documents are the bits of integers, which are quick to join, to count and to cut.

    Attributes
    ----------
    preferred
        For each document the set of those that it is preferred over.
    above_zero, zero : (n,)
        Whether a level of each document is above 0, and whether one is 0.
    """

    number: IntArray
    preferred: Sequence[int]
    above_zero: BoolArray
    zero: BoolArray

    @classmethod
    def of(cls, group: GroupLines) -> SeveralSubgroups:
        """Close the preferences; `DataError` if the lines contradict each other."""
        n = len(group.documents)
        preferred = _closed(n, _scales(group))
        above_zero = np.zeros(n, dtype=np.bool_)
        zero = np.zeros(n, dtype=np.bool_)
        above_zero[group.document[group.level > 0]] = True
        zero[group.document[group.level == 0]] = True
        mixed = np.flatnonzero(above_zero & zero)
        if len(mixed):
            raise group.contradiction(
                "document {} has level 0 in one line and a level above 0 in another", mixed[0]
            )
        if preferred is None:
            preferred = _closed_with_cycles(n, _scales(group))
            _refuse_opposed(group, preferred)
        return cls(group.number, preferred, above_zero, zero)

    def block(self, first: int, last: int) -> tuple[WeightArray, WeightArray]:
        """Compare documents as `OneSubgroup.block` does."""
        n, some = len(self.number), (1 << (last - first)) - 1
        over = [_bits(documents >> first, n - first) for documents in self.preferred[first:last]]
        under = [
            _bits((documents >> first) & some, last - first) for documents in self.preferred[first:]
        ]
        return np.array(over), np.array(under).T

    def counts(self, retrieved: int) -> list[Count]:
        """Count the preferences as `ragkpi.ranking.preference_counts.one_scale_counts` does."""
        everything = (1 << len(self.preferred)) - 1
        top = (1 << retrieved) - 1
        every, both = (self._count(retrieved, scope, everything) for scope in (everything, top))
        neither = self._count(0, everything & ~top, everything)[1]
        relevant = int(self.above_zero.sum())
        limited = []
        for count, scope, length in (every, everything, None), (both, top, retrieved):
            nonrelevant = int(self.zero[:length].sum())
            surplus = int(self.above_zero[:length].sum()) - nonrelevant
            if surplus < 0:
                kept = everything
                if nonrelevant > relevant:
                    first = int(np.flatnonzero(self.zero)[relevant])
                    kept &= ~_set(np.flatnonzero(self.zero[first:]) + first)
                limited.append(self._count(retrieved, scope, kept))
            else:
                # Nonrelevant documents that were not judged stand in: every relevant one
                # beats them.
                above = int(self.above_zero[:retrieved].sum())
                limited.append((count[0] + surplus * above, count[1] + surplus * relevant))
        return [every, both, (every[0], every[1] - neither), *limited]

    def _count(self, retrieved: int, scope: int, kept: int) -> Count:
        """Count the fulfilled and the possible preferences inside two sets of documents."""
        fulfilled = possible = 0
        within = scope & kept
        for document, over in enumerate(self.preferred):
            if not within >> document & 1:
                continue
            over &= within
            possible += over.bit_count()
            if document < retrieved:
                fulfilled += (over >> document).bit_count()
        return fulfilled, possible


PreferencePairs: TypeAlias = OneSubgroup | SeveralSubgroups


def two_levels(group: GroupLines) -> DataError:
    """Return the error that names a document with two levels in a group with one scale."""
    level = np.empty(len(group.documents))
    level[group.document] = group.level
    differs = np.flatnonzero(level[group.document] != group.level)
    return group.contradiction(
        "document {} is given two different levels; give it one", group.document[differs[0]]
    )


def _set(documents: IntArray) -> int:
    return sum(1 << document for document in documents.tolist())


def _bits(documents: int, n: int) -> BoolArray:
    """Return which of n documents are in a set, (n,)."""
    octets = np.frombuffer(documents.to_bytes(n + 7 >> 3, "little"), dtype=np.uint8)
    return np.unpackbits(octets, count=n, bitorder="little").view(np.bool_)


def _scales(group: GroupLines) -> list[list[list[int]]]:
    """Return for each sub-group its documents by level, the lowest first."""
    scales = []
    order = np.lexsort((group.level, group.subgroup))
    subgroup, level = group.subgroup[order], group.level[order]
    changes = np.flatnonzero(np.diff(subgroup)) + 1
    for lines in np.split(np.arange(len(order)), changes):
        steps = np.flatnonzero(np.diff(level[lines])) + 1
        scales.append([part.tolist() for part in np.split(group.document[order[lines]], steps)])
    return scales


def _closed(n: int, scales: list[list[list[int]]]) -> list[int] | None:
    """Close preferences transitively; None if they run in circles.

    A document is preferred over what is below its level on each of its scales. "Below that level"
    is a node of its own, so that there are about as many edges as lines.
    """
    below: list[list[int]] = [[] for _ in range(n)]
    for scale in scales:
        lower: list[int] = []
        for worse, better in pairwise(scale):
            below.append(worse + lower)
            lower = [len(below) - 1]
            for document in better:
                below[document] += lower
    reached = [0] * len(below)
    try:
        for node in TopologicalSorter(dict(enumerate(below))).static_order():
            for other in below[node]:
                reached[node] |= reached[other]
                if other < n:
                    reached[node] |= 1 << other
    except CycleError:
        return None
    return reached[:n]


def _closed_with_cycles(n: int, scales: list[list[list[int]]]) -> list[int]:
    """Close preferences transitively (Warshall), without those of a document over itself.

    For what `_closed` cannot order: contradictions, and documents with two levels on one scale.
    """
    over = [0] * n
    for scale in scales:
        lower = 0
        for worse, better in pairwise(scale):
            lower |= _set(np.array(worse))
            for document in better:
                over[document] |= lower
    for middle in range(n):
        for document in range(n):
            if over[document] >> middle & 1:
                over[document] |= over[middle]
    return [documents & ~(1 << document) for document, documents in enumerate(over)]


def _refuse_opposed(group: GroupLines, preferred: Sequence[int]) -> None:
    for document, over in enumerate(preferred):
        for other in np.flatnonzero(_bits(over, len(preferred))).tolist():
            if preferred[other] >> document & 1:
                raise group.contradiction(
                    "documents {} and {} are each preferred over the other, if sub-groups are "
                    "taken together",
                    document,
                    other,
                )
