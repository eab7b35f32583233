"""Preferences between documents (``-R prefs``, ``qrels_prefs``), and those that a run fulfils.

On one scale, a document is preferred over all documents of lower level. A judgment group may have
several scales, its sub-groups. Levels compare only within a sub-group; documents link the
sub-groups, so the preferences of a group are closed transitively.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import DataError
from ragkpi.files.lines import Tokens, rows_of
from ragkpi.files.query_files import read_preferences
from ragkpi.files.trec import QrelsColumns, read_qrels
from ragkpi.ranking.groups import GroupedQrels, GroupedRun, JudgementGroups
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, Settings, quotient
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import Hits
from ragkpi.wording import named

# All preferences, those with both documents retrieved and those with at least one; then the first
# two with at most as many nonrelevant documents as relevant ones.
Scope = Literal["all", "retrieved", "implied", "limited", "limited_retrieved"]
SCOPES: tuple[Scope, ...] = get_args(Scope)

Count: TypeAlias = tuple[float, float]  # fulfilled and possible preferences


class GroupLines(NamedTuple):
    """The n lines of a judgment group, by number of their documents."""

    number: IntArray  # of the document among those of the query, ascending
    line: IntArray  # the index in file order
    subgroup: IntArray
    level: FloatArray


class ContradictionError(Exception):
    """The lines of a judgment group contradict each other: a text, and the documents it names."""


@dataclass(frozen=True, eq=False)
class GroupPreferences:
    """The preferences of a judgment group among its n items, by number of their documents.

    Items are documents; on a single scale they are lines, so that a document on two lines counts
    twice. The rules for limited nonrelevant items are exactly trec_eval's, including their flaws
    (see the edge cases of prefs_avgjg_Rnonrel).
    """

    number: IntArray  # (n,), of the document of each item, ascending
    top: BoolArray  # (n,), whether it is retrieved
    better: BoolArray  # (n, n), whether the row's item is preferred over the column's
    relevant: BoolArray  # (n,)
    nonrelevant: BoolArray  # (n,)
    lowest: BoolArray | None = None  # (n,), the items of the lowest level of a single scale

    @classmethod
    def of(cls, lines: GroupLines, retrieved: int) -> GroupPreferences:
        """Find the preferences; `ContradictionError` if the lines contradict each other.

        The first `retrieved` documents of the query are retrieved.
        """
        number, level = lines.number, lines.level
        if (lines.subgroup == lines.subgroup[0]).all():
            _refuse_two_levels(lines)
            top, relevant, lowest = number < retrieved, level > 0, level == level.min()
            return cls(number, top, level[:, None] > level, relevant, ~relevant, lowest)
        number, item = np.unique(number, return_inverse=True)
        relevant, nonrelevant = np.zeros((2, len(number)), dtype=bool)
        relevant[item[level > 0]] = nonrelevant[item[level == 0]] = True
        for mixed in np.flatnonzero(relevant & nonrelevant)[:1]:
            text = "document {} has level 0 in one line and a level above 0 in another"
            raise ContradictionError(text, number[mixed])
        scales = []
        for subgroup in np.unique(lines.subgroup):
            items, levels = (of[lines.subgroup == subgroup] for of in (item, level))
            scales.append([items[levels == one].tolist() for one in np.unique(levels)])
        better = _closed(scales, number)
        return cls(number, number < retrieved, better, relevant, nonrelevant)

    def counts(self) -> list[Count]:
        """Count preferences in each of `SCOPES`."""
        everything = np.ones(len(self.number), dtype=bool)
        scopes = self._count(self.better, everything)
        limited = self._limited(scopes[0], everything), self._limited(scopes[1], self.top)
        return [*scopes, *limited]

    def _count(self, better: BoolArray, within: BoolArray) -> list[Count]:
        """Count preferences between some items, in the first three of `SCOPES`."""
        better, number = better[within][:, within], self.number[within]
        first = int(np.count_nonzero(self.top & within))  # retrieved items come first
        inside = better[:first, :first]
        ahead = int(np.count_nonzero(inside & (number[:first, None] < number[:first])))
        both, every = int(np.count_nonzero(inside)), int(np.count_nonzero(better))
        # Fulfilled: only the better one is retrieved.
        alone = int(np.count_nonzero(better[:first, first:]))
        missed = int(np.count_nonzero(better[first:, :first]))
        return [(ahead + alone, every), (ahead, both), (ahead + alone, both + alone + missed)]

    def _limited(self, count: Count, scope: BoolArray) -> Count:
        """Count again within a scope, with at most as many nonrelevant items as relevant ones."""
        num_rel = int(np.count_nonzero(self.relevant))  # also below the scope
        inside = int(np.count_nonzero(self.relevant & scope))
        surplus = inside - int(np.count_nonzero(self.nonrelevant & scope))
        if surplus >= 0:
            # Unjudged documents fill up the nonrelevant ones; every relevant one is preferred.
            retrieved = int(np.count_nonzero(self.relevant & self.top))
            return count[0] + surplus * retrieved, count[1] + surplus * num_rel
        if self.lowest is None:
            kept = self.nonrelevant & (np.cumsum(self.nonrelevant) <= num_rel)
            return self._count(self.better, scope & (kept | ~self.nonrelevant))[0]
        # The lowest level is cut to its first lines, which are compared with all lines, also with
        # each other.
        lowest = self.lowest & scope
        kept = lowest & (np.cumsum(lowest) <= inside)
        return self._count((self.better & ~self.lowest) | kept, scope)[0]

    def block(self, first: int, last: int, documents: int) -> tuple[IntArray, IntArray]:
        """Count the preferences for documents ``first:last`` of a query over each, and against.

        Returns two arrays, (last - first, documents).
        """
        lines = np.bincount(self.number, minlength=documents)
        item = np.zeros(documents, dtype=np.int64)
        item[self.number] = np.arange(len(self.number))
        rows, weight = item[first:last], np.outer(lines[first:last], lines)
        over, under = self.better[np.ix_(rows, item)], self.better[np.ix_(item, rows)].T
        return over * weight, under * weight


def _refuse_two_levels(lines: GroupLines) -> None:
    last = np.searchsorted(lines.number, lines.number, side="right") - 1
    differs = np.flatnonzero(lines.level != lines.level[last])
    if len(differs):
        first = differs[np.argmin(lines.line[differs])]
        text = "document {} has two different levels; expected one"
        raise ContradictionError(text, lines.number[first])


def _closed(scales: Sequence[Sequence[list[int]]], number: IntArray) -> BoolArray:
    """Close preferences transitively; refuse documents that are preferred over each other.

    Scales have the items of each level, ascending. A set of items is an integer with a bit for
    each, which makes unions fast.
    """
    below, before = [0] * len(number), [-1]
    while below != before:
        before = below.copy()
        for scale in scales:
            lower = 0
            for items in scale:
                for item in items:
                    below[item] |= lower
                for item in items:
                    lower |= below[item] | 1 << item
    length = len(number) + 7 >> 3
    octets = b"".join(items.to_bytes(length, "little") for items in below)
    bits = np.frombuffer(octets, np.uint8).reshape(len(number), length)
    closed = np.unpackbits(bits, axis=1, count=len(number), bitorder="little").view(np.bool_)
    np.fill_diagonal(closed, False)  # of an item with two levels on a scale
    for one, other in np.argwhere(closed & closed.T)[:1]:
        raise ContradictionError(
            "documents {} and {} are each preferred over the other, if sub-groups are "
            "taken together",
            number[one],
            number[other],
        )
    return closed


_CELLS_AT_ONCE = 1 << 20  # pairs of a query's documents


def pair_counts(groups: Sequence[GroupPreferences], documents: int, retrieved: int) -> list[Count]:
    """Count the pairs of documents of a query for which any judgment group has a preference.

    The first `retrieved` of its `documents` are retrieved. For each of the first three `SCOPES`,
    return the share of preferences that the ranking fulfils, summed over pairs, and the number of
    pairs. Shares are added row by row from the left, like trec_eval's.
    """
    every = implied = both = 0
    share = inside = 0.0
    step = max(1, _CELLS_AT_ONCE // documents)
    for first in range(0, documents, step):
        last = min(first + step, documents)
        blocks = [group.block(first, last, documents) for group in groups]
        over, under = (np.sum(counts, axis=0) for counts in zip(*blocks, strict=True))
        compared = over + under > 0
        compared &= np.arange(documents) > np.arange(first, last)[:, None]
        every += int(np.count_nonzero(compared))
        compared[max(0, retrieved - first) :] = False
        implied += int(np.count_nonzero(compared))
        share = _sum(share, over[compared] / (over + under)[compared])
        compared[:, retrieved:] = False
        both += int(np.count_nonzero(compared))
        inside = _sum(inside, over[compared] / (over + under)[compared])
    return [(share, every), (inside, both), (share, implied)]


def _sum(total: float, terms: FloatArray) -> float:
    """Add from left to right, unlike numpy's pairwise sum."""
    return float(np.add.accumulate(np.append(total, terms))[-1])


class Tally(NamedTuple):
    """Numbers of fulfilled and of possible preferences, (G,), or pairs, (Q,)."""

    fulfilled: FloatArray
    possible: FloatArray

    @property
    def share(self) -> FloatArray:
        """Return the fulfilled share; 0 if no preference is possible."""
        return quotient(self.fulfilled, self.possible)


@dataclass(frozen=True)
class JudgedPreferences(GroupedRun):
    """The preferences of Q queries and their G judgment groups, fulfilled or not by a run.

    A preference is fulfilled if its better document is retrieved above its worse document, or if
    only the better is retrieved.
    """

    of_groups: Mapping[Scope, Tally]  # (G,): the preferences of each group
    of_pairs: Mapping[Scope, Tally]  # (Q,): `pair_counts`


@dataclass(frozen=True)
class Preferences:
    """Preference judgements of n lines, reusable for many runs."""

    groups: JudgementGroups
    subgroup: IntArray  # (n,), a number for each line of `groups`
    level: FloatArray  # (n,)

    @property
    def judgements(self) -> Judgements:
        return self.groups.judgements

    @classmethod
    def of(cls, columns: QrelsColumns, subgroup: Tokens | None = None) -> Preferences:
        """Group judgements by assessor; by default, each assessor has one sub-group."""
        ids = columns.query, columns.iteration, columns.document
        groups = JudgementGroups.of(columns.file, *ids, ties="ascending")
        level = columns.level.astype(np.float64) if columns.gain is None else columns.gain
        subgroups = np.zeros(len(level), np.int64) if subgroup is None else subgroup.first_rows()
        return cls(groups, subgroups[groups.line], level[groups.line])

    def judge(self, hits: Hits, settings: Settings) -> tuple[JudgedPreferences, Coverage]:
        """Count the preferences that a run fulfils, for the queries that `settings` selects.

        -l and -J have no effect. Raises `DataError`, with query, group and documents, if the lines
        of a judgment group contradict each other.
        """
        judged, coverage = judge(self.judgements, hits, settings)
        place = self.judgements.places_among(judged.queries)
        documents = np.diff(self.judgements.starts)[place >= 0].tolist()
        retrieved = np.diff(judged.starts).tolist()
        of_query = place[self.groups.query]
        chosen = np.flatnonzero(of_query >= 0)
        lines = zip(chosen.tolist(), self._lines(chosen, self._numbers(judged)), strict=True)
        of_groups: list[list[Count]] = []
        of_pairs: list[Any] = []
        for query, numbered in groupby(lines, key=lambda pair: int(of_query[pair[0]])):
            groups = [self._preferences(*pair, retrieved[query]) for pair in numbered]
            of_groups += [group.counts() for group in groups]
            of_pairs.append(pair_counts(groups, documents[query], retrieved[query]))
        tallies = _tallies(of_groups), _tallies(of_pairs)
        ids = judged.queries, judged.run_id
        return JudgedPreferences(*ids, of_query[chosen], *tallies), coverage

    def _numbers(self, judged: Judged) -> IntArray:
        """Number the documents of each query, (J,): retrieved ones by rank, the rest by id."""
        judgements = self.judgements
        rank = np.full(len(judgements.document), np.iinfo(np.int64).max)
        rank[judged.judgement] = judged.rank
        number = np.empty_like(rank)
        order = np.lexsort((rank, judgements.query))
        number[order] = np.arange(len(order)) - judgements.starts[judgements.query]
        return number

    def _lines(self, groups: IntArray, numbers: IntArray) -> Iterator[GroupLines]:
        """Yield the lines of some groups."""
        lines, starts = rows_of(self.groups.starts, groups)
        number = numbers[self.groups.row[lines]]
        group = np.repeat(np.arange(len(groups)), np.diff(starts))
        order = np.lexsort((number, group))
        number, lines = number[order], lines[order]
        for first, last in pairwise(starts.tolist()):
            rows = lines[first:last]
            yield GroupLines(number[first:last], rows, self.subgroup[rows], self.level[rows])

    def _preferences(self, group: int, lines: GroupLines, retrieved: int) -> GroupPreferences:
        try:
            return GroupPreferences.of(lines, retrieved)
        except ContradictionError as problem:
            text, *numbers = problem.args
            places = lines.line[np.searchsorted(lines.number, numbers)]
            names = [named(self.judgements.document[row]) for row in self.groups.row[places]]
            where = f"{self.judgements.file}: {self.groups.name_of(group)}"
            raise DataError(f"{where}: {text.format(*names)}") from None


def _tallies(counts: Sequence[Any]) -> Mapping[Scope, Tally]:
    """Return the tallies of the first s scopes, from (n, s, 2)."""
    by_scope = np.array(counts, dtype=np.float64).transpose(1, 2, 0)
    return {scope: Tally(*count) for scope, count in zip(SCOPES, by_scope, strict=False)}


# By -R.
READERS: Mapping[str, Callable[[str], GroupedQrels | Preferences]] = {
    "qrels_jg": lambda path: GroupedQrels.of(read_qrels(path)),
    "prefs": lambda path: Preferences.of(*read_preferences(path)),
    "qrels_prefs": lambda path: Preferences.of(read_qrels(path)),
}
