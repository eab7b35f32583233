"""Which document is preferred over which: the pairs that the lines of a judgment group imply.

A judgment group is what one assessor said about one query. Inside a sub-group levels can be
compared; across sub-groups only documents connect, so preferences are closed transitively.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from ragkpi.errors import DataError
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.records import dataclass
from ragkpi.wording import named


@dataclass(frozen=True)
class GroupLines:
    """The lines of one judgment group.

    Attributes
    ----------
    place
        Where it stands, for error messages.
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


class PreferencePairs(Protocol):
    """The preferences of a judgment group over its n documents.

    Attributes
    ----------
    weight : (n, n)
        How often the row is preferred over the column.
    relevant, nonrelevant : (n,)
        How often each document counts as relevant (level above 0) and as nonrelevant.
    """

    @property
    def weight(self) -> IntArray: ...
    @property
    def relevant(self) -> IntArray: ...
    @property
    def nonrelevant(self) -> IntArray: ...

    def limited(self, retrieved: int | None) -> IntArray:
        """Return the weights with only as many nonrelevant documents as there are relevant ones.

        `retrieved` is the number of retrieved documents if only those count, else None. These
        are trec_eval's rules to the letter, including what they do not live up to (see the
        edge cases of prefs_avgjg_Rnonrel).
        """


def preference_pairs(group: GroupLines) -> PreferencePairs:
    """Derive the preferences of a group; `DataError` if its lines contradict each other."""
    if np.all(group.subgroup == group.subgroup[0]):
        return OneSubgroup.of(group)
    return SeveralSubgroups.of(group)


@dataclass(frozen=True)
class OneSubgroup:
    """All lines are on one scale: every pair of lines with different levels is a preference.

    A document on two lines of the same level counts twice.
    """

    level: FloatArray
    lines: IntArray

    @classmethod
    def of(cls, group: GroupLines) -> OneSubgroup:
        level = np.empty(len(group.documents))
        level[group.document] = group.level
        differs = np.flatnonzero(level[group.document] != group.level)
        if len(differs):
            raise group.contradiction(
                "document {} is given two different levels; give it one",
                group.document[differs[0]],
            )
        return cls(level, np.bincount(group.document, minlength=len(level)))

    @cached_property
    def weight(self) -> IntArray:
        preferred = self.level[:, None] > self.level
        return preferred * np.outer(self.lines, self.lines)

    @property
    def relevant(self) -> IntArray:
        return np.where(self.level > 0, self.lines, 0)

    @property
    def nonrelevant(self) -> IntArray:
        return np.where(self.level > 0, 0, self.lines)

    def limited(self, retrieved: int | None) -> IntArray:
        # The lowest level is cut to its first lines, and those stand against every line, even
        # against each other.
        lowest = self.level == self.level.min()
        size = self.relevant[:retrieved].sum()
        kept = np.diff(np.minimum(np.cumsum(np.where(lowest, self.lines, 0)), size), prepend=0)
        return _without(self.weight, lowest) + np.outer(self.lines, kept)


@dataclass(frozen=True)
class SeveralSubgroups:
    """Several scales: the set of preferences of each, closed transitively."""

    preferred: BoolArray
    above_zero: BoolArray
    zero: BoolArray

    @classmethod
    def of(cls, group: GroupLines) -> SeveralSubgroups:
        n = len(group.documents)
        preferred = _transitive_closure(_direct_preferences(group))
        above_zero = np.zeros(n, dtype=np.bool_)
        zero = np.zeros(n, dtype=np.bool_)
        above_zero[group.document[group.level > 0]] = True
        zero[group.document[group.level == 0]] = True
        mixed = np.flatnonzero(above_zero & zero)
        if len(mixed):
            raise group.contradiction(
                "document {} has level 0 in one line and a level above 0 in another", mixed[0]
            )
        opposed = np.argwhere(preferred & preferred.T)
        if len(opposed):
            raise group.contradiction(
                "documents {} and {} are each preferred over the other, if sub-groups are taken "
                "together",
                *opposed[0],
            )
        return cls(preferred, above_zero, zero)

    @cached_property
    def weight(self) -> IntArray:
        return self.preferred.astype(np.int64)

    @property
    def relevant(self) -> IntArray:
        return self.above_zero.astype(np.int64)

    @property
    def nonrelevant(self) -> IntArray:
        return self.zero.astype(np.int64)

    def limited(self, retrieved: int | None) -> IntArray:
        too_many = np.flatnonzero(self.zero[:retrieved])[self.relevant.sum() :]
        if not len(too_many):
            return self.weight
        dropped = self.zero & (np.arange(len(self.zero)) >= too_many[0])
        return _without(self.weight, dropped)


def _without(weight: IntArray, dropped: BoolArray) -> IntArray:
    return np.where(dropped[:, None] | dropped, 0, weight)


def _direct_preferences(group: GroupLines) -> BoolArray:
    """Collect what each sub-group says by itself: row over column, (n, n)."""
    n = len(group.documents)
    preferred = np.zeros((n, n), dtype=np.bool_)
    order = np.argsort(group.subgroup, kind="stable")
    ends = np.flatnonzero(np.diff(group.subgroup[order])) + 1
    for lines in np.split(order, ends):
        level = group.level[lines]
        better, worse = np.nonzero(level[:, None] > level)
        preferred[group.document[lines[better]], group.document[lines[worse]]] = True
    return preferred


def _transitive_closure(preferred: BoolArray) -> BoolArray:
    """Close a relation transitively (Warshall), without the pairs of a document with itself."""
    closed = preferred.copy()
    for middle in range(len(closed)):
        closed[closed[:, middle]] |= closed[middle]
    np.fill_diagonal(closed, False)
    return closed
