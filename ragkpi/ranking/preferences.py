"""Preferences between documents (``-R prefs``, ``qrels_prefs``), and those that a run fulfils.

On one scale, a document is preferred over all documents of lower level. A judgment group may have
several scales, its sub-groups. Levels compare only within a sub-group; documents link the
sub-groups, so the preferences of a group are closed transitively.

A set of documents is an integer with a bit for each: union, intersection and size take one fast
operation. Retrieved documents are the lowest bits, in ranking order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import DataError
from ragkpi.files.lines import ByteArray, Tokens, rows_of
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
WeightArray: TypeAlias = "BoolArray | IntArray"


class Contrast(NamedTuple):
    """Two sets: each document of the first is preferred over each document of the second."""

    better: int
    worse: int


class GroupLines(NamedTuple):
    """The n lines of a judgment group, by number of their documents."""

    number: list[int]  # of the document among those of the query
    line: list[int]  # the index in file order
    subgroup: list[int]
    level: list[float]


class ContradictionError(Exception):
    """The lines of a judgment group contradict each other: a text, and the documents it names."""


@dataclass(frozen=True)
class GroupPreferences:
    """The preferences of a judgment group among its items, by number of their documents.

    Items are documents; on a single scale they are lines, so that a document on two lines counts
    twice. The rules for limited nonrelevant items are exactly trec_eval's, including their flaws
    (see the edge cases of prefs_avgjg_Rnonrel).
    """

    number: list[int]  # of the document of each item, among those of the query
    retrieved: int  # the number of retrieved items, which come first
    contrasts: list[Contrast]  # no item is better in two of them
    relevant: int
    nonrelevant: int
    lowest: int | None = None  # the items of the lowest level of a single scale

    @classmethod
    def of(cls, lines: GroupLines, retrieved: int) -> GroupPreferences:
        """Find the preferences; `ContradictionError` if the lines contradict each other.

        The first `retrieved` documents of the query are retrieved.
        """
        single = len(set(lines.subgroup)) == 1
        return (cls._of_one_scale if single else cls._of_scales)(lines, retrieved)

    @classmethod
    def _of_one_scale(cls, lines: GroupLines, retrieved: int) -> GroupPreferences:
        _refuse_two_levels(lines)
        of_level: dict[float, int] = defaultdict(int)
        for item, level in enumerate(lines.level):
            of_level[level] |= 1 << item
        contrasts, below = [], 0
        for _, items in sorted(of_level.items()):
            contrasts.append(Contrast(items, below))
            below |= items
        relevant = sum(items for level, items in of_level.items() if level > 0)
        inside = bisect_left(lines.number, retrieved)
        lowest = contrasts[0].better
        return cls(lines.number, inside, contrasts, relevant, below ^ relevant, lowest)

    @classmethod
    def _of_scales(cls, lines: GroupLines, retrieved: int) -> GroupPreferences:
        number = list(dict.fromkeys(lines.number))
        item_of = {document: item for item, document in enumerate(number)}
        relevant = nonrelevant = 0
        scales: dict[int, dict[float, list[int]]] = defaultdict(lambda: defaultdict(list))
        for document, _, subgroup, level in zip(*lines, strict=True):
            item = item_of[document]
            scales[subgroup][level].append(item)
            relevant |= (level > 0) << item
            nonrelevant |= (level == 0) << item
        if mixed := relevant & nonrelevant:
            text = "document {} has level 0 in one line and a level above 0 in another"
            raise ContradictionError(text, number[_items(mixed)[0]])
        closed = _closed(
            len(number), [[items for _, items in sorted(s.items())] for s in scales.values()]
        )
        _refuse_opposed(number, closed)
        contrasts = [Contrast(1 << item, below) for item, below in enumerate(closed)]
        return cls(number, bisect_left(number, retrieved), contrasts, relevant, nonrelevant)

    @property
    def top(self) -> int:
        return (1 << self.retrieved) - 1

    def counts(self) -> list[Count]:
        """Count preferences in each of `SCOPES`."""
        scopes = self.count(self.contrasts)
        return [*scopes, self._limited(scopes[0], -1), self._limited(scopes[1], self.top)]

    def count(self, contrasts: Iterable[Contrast], within: int = -1) -> list[Count]:
        """Count preferences between the items of a set, in the first three of `SCOPES`."""
        both = ahead = alone = missed = neither = 0
        for better, worse in contrasts:
            better, worse = better & within, worse & within
            over, under = better & self.top, worse & self.top
            num_over, num_under = over.bit_count(), under.bit_count()
            rest_over, rest_under = better.bit_count() - num_over, worse.bit_count() - num_under
            both += num_over * num_under
            alone += num_over * rest_under  # fulfilled: only the better one is retrieved
            missed += rest_over * num_under
            neither += rest_over * rest_under
            while over and under:
                last = over.bit_length()
                ahead += (under >> last).bit_count()
                over ^= 1 << last - 1
        implied = both + alone + missed
        return [(ahead + alone, implied + neither), (ahead, both), (ahead + alone, implied)]

    def _limited(self, count: Count, scope: int) -> Count:
        """Count again within a scope, with at most as many nonrelevant items as relevant ones."""
        relevant, nonrelevant = self.relevant & scope, self.nonrelevant & scope
        surplus = relevant.bit_count() - nonrelevant.bit_count()
        if surplus >= 0:
            # Unjudged documents fill up the nonrelevant ones; every relevant one is preferred.
            retrieved = (self.relevant & self.top).bit_count()
            return count[0] + surplus * retrieved, count[1] + surplus * self.relevant.bit_count()
        if self.lowest is None:
            kept = _first(self.nonrelevant, self.relevant.bit_count())
            return self.count(self.contrasts, scope & (kept | ~self.nonrelevant))[0]
        # The lowest level is cut to its first lines, which are compared with all lines, also with
        # each other.
        kept = _first(self.lowest & scope, relevant.bit_count())
        contrasts = [Contrast(better, worse & ~self.lowest) for better, worse in self.contrasts]
        contrasts.append(Contrast(self.relevant | self.nonrelevant, kept))
        fulfilled, possible = self.count(contrasts, scope)[0]
        # No line is above another line of its document.
        where = ((item, self.number[item]) for item in _items(kept & self.top))
        return fulfilled - sum(item - bisect_left(self.number, n) for item, n in where), possible

    def block(self, first: int, last: int, documents: int) -> tuple[WeightArray, WeightArray]:
        """Count the preferences for documents ``first:last`` of a query over documents ``first:``.

        Returns (last - first, documents - first) for the row's and for the column's document.
        """
        item = np.full(documents, len(self.number), dtype=np.int64)
        item[self.number] = np.arange(len(self.number))
        rows, columns, (contrast, worse) = item[first:last], item[first:], self._table
        over = _unpacked(worse[contrast[rows]]).take(columns, axis=1)
        of_rows = worse[:, rows >> 3] >> (rows & 7).astype(np.uint8) & 1
        under = of_rows.view(np.bool_).T.take(contrast[columns], axis=1)
        if len(set(self.number)) == len(self.number):
            return over, under
        lines = np.bincount(self.number, minlength=documents)
        weight = np.outer(lines[first:last], lines[first:])
        return weight * over, weight * under

    @cached_property
    def _table(self) -> tuple[IntArray, ByteArray]:
        """The contrast in which each item is better, and the other set of each contrast.

        One extra item represents the documents that the group did not judge.
        """
        n = len(self.number)
        contrast = np.full(n + 1, len(self.contrasts))
        for number, (better, _) in enumerate(self.contrasts):
            contrast[_items(better)] = number
        return contrast, _packed([*(worse for _, worse in self.contrasts), 0], n + 1)


def _items(items: int) -> list[int]:
    """Return the elements of a set, ascending."""
    return np.flatnonzero(_unpacked(_packed([items], items.bit_length() + 1))).tolist()


def _first(items: int, count: int) -> int:
    """Return the first elements of a set."""
    size = range(items.bit_length())
    end = bisect_left(size, count, key=lambda end: (items & (1 << end) - 1).bit_count())
    return items & (1 << end) - 1


def _packed(sets: Sequence[int], n: int) -> ByteArray:
    """Return sets of n items as bits, a row for each set."""
    length = n + 7 >> 3
    octets = b"".join(items.to_bytes(length, "little") for items in sets)
    return np.frombuffer(octets, dtype=np.uint8).reshape(len(sets), length)


def _unpacked(packed: ByteArray) -> BoolArray:
    return np.unpackbits(packed, axis=1, bitorder="little").view(np.bool_)


def _refuse_two_levels(lines: GroupLines) -> None:
    level_of = dict(zip(lines.number, lines.level, strict=True))  # on the last line
    if len(level_of) < len(lines.number):
        rows = zip(lines.line, lines.number, lines.level, strict=True)
        differ = [(line, document) for line, document, level in rows if level != level_of[document]]
        if differ:
            text = "document {} has two different levels; expected one"
            raise ContradictionError(text, min(differ)[1])


def _refuse_opposed(number: Sequence[int], closed: list[int]) -> None:
    """Refuse documents that are preferred over each other; remove preferences over themselves."""
    circular = [item for item, below in enumerate(closed) if below >> item & 1]
    for item in circular:
        for other in circular:
            if other != item and closed[item] >> other & 1 and closed[other] >> item & 1:
                raise ContradictionError(
                    "documents {} and {} are each preferred over the other, if sub-groups are "
                    "taken together",
                    number[item],
                    number[other],
                )
        closed[item] ^= 1 << item


def _closed(n: int, scales: list[list[list[int]]]) -> list[int]:
    """Close preferences among n items transitively, from the items of each level of each scale.

    Levels ascend. "Below that level" is a separate node of the graph, which keeps the number of
    edges near that of lines.
    """
    below: list[list[int]] = [[] for _ in range(n)]
    for scale in scales:
        lower: list[int] = []
        for worse, better in pairwise(scale):
            below.append(worse + lower)
            lower = [len(below) - 1]
            for item in better:
                below[item] += lower
    order = list(range(len(below)))
    with suppress(CycleError):  # from a contradiction, or an item with two levels on a scale
        order = list(TopologicalSorter(dict(enumerate(below))).static_order())
    reached, before = [0] * len(below), None
    while reached != before:  # with an order, one pass finds all and a second one confirms it
        before = reached.copy()
        for node in order:
            for other in below[node]:
                reached[node] |= reached[other] | (other < n) << other
    return reached[:n]


_CELLS_AT_ONCE = 1 << 20  # cells: pairs of a query's documents


def pair_counts(groups: Sequence[GroupPreferences], documents: int, retrieved: int) -> list[Count]:
    """Count the pairs of documents of a query for which any judgment group has a preference.

    The first `retrieved` of its `documents` are retrieved. For each of the first three `SCOPES`,
    return the share of preferences that the ranking fulfils, summed over pairs, and the number of
    pairs. Shares are added row by row from the left, like trec_eval's.
    """
    every = implied = both = 0
    share = share_inside = 0.0
    step = max(1, _CELLS_AT_ONCE // documents)
    for first in range(0, documents, step):
        # The cells above the diagonal, several rows at a time.
        last = min(first + step, documents)
        over, all_ = (np.zeros((last - first, documents - first), dtype=np.int32) for _ in range(2))
        for group in groups:
            mine, theirs = group.block(first, last, documents)
            over += mine
            all_ += mine
            all_ += theirs
        compared = all_ > 0
        compared &= np.arange(first, documents) > np.arange(first, last)[:, None]
        every += int(np.count_nonzero(compared))
        top = max(0, retrieved - first)
        compared, over, all_ = compared[:top], over[:top], all_[:top]
        terms = over[compared] / all_[compared]
        implied += len(terms)
        share = _add(share, terms)
        inside = compared[:, :top]
        terms = over[:, :top][inside] / all_[:, :top][inside]
        both += len(terms)
        share_inside = _add(share_inside, terms)
    return [(share, every), (share_inside, both), (share, implied)]


def _add(total: float, terms: FloatArray) -> float:
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
            counts = [group.counts() for group in groups]
            of_groups += counts
            # Two groups (or lines) that share documents can prefer opposite documents of a pair.
            shared = sum(len(group.number) for group in groups) > documents[query]
            of_pairs.append(
                pair_counts(groups, documents[query], retrieved[query])
                if shared
                else np.sum([count[:3] for count in counts], axis=0)
            )
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
        lines = lines[order]
        columns = number[order], lines, self.subgroup[lines], self.level[lines]
        of_lines = [column.tolist() for column in columns]
        for first, last in pairwise(starts.tolist()):
            yield GroupLines(*(column[first:last] for column in of_lines))

    def _preferences(self, group: int, lines: GroupLines, retrieved: int) -> GroupPreferences:
        try:
            return GroupPreferences.of(lines, retrieved)
        except ContradictionError as problem:
            text, *numbers = problem.args
            rows = [self.groups.row[lines.line[lines.number.index(number)]] for number in numbers]
            names = [named(self.judgements.document[row]) for row in rows]
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
