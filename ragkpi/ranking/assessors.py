"""Judgements by several assessors, and preferences between documents (``-R``), for a run.

A judgment group holds one assessor's judgements for one query. On one scale a document is preferred
over all documents of lower level, so counting fulfilled preferences means counting inversions, as
for Kendall's tau. A group may have several scales, its sub-groups. Levels compare only within a
sub-group; documents link the sub-groups, so preferences are closed transitively.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.errors import DataError, InputError
from ragkpi.files.lines import Tokens, rows_of
from ragkpi.files.query_files import PreferenceColumns, read_preferences, read_qrels_preferences
from ragkpi.files.trec import QrelsColumns, read_qrels
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, Settings, quotient
from ragkpi.ranking.judgements import Judgements, ScoreOrder
from ragkpi.ranking.reading import Hits
from ragkpi.wording import named


@dataclass(frozen=True)
class JudgementGroups:
    """The G judgment groups of a file, each of one assessor and query, ordered by both."""

    judgements: Judgements  # each document of a query once; ignore their levels
    query: IntArray  # (G,), numbers in `judgements`
    name: list[bytes]  # of each group
    starts: IntArray  # (G+1,), group g has elements starts[g]:starts[g + 1] of `line` and `row`
    line: IntArray  # (n,), rows of the file's columns
    row: IntArray  # (n,), rows of the lines' documents in `judgements`

    @classmethod
    def of(
        cls, file: str, query: Tokens, group: Tokens, document: Tokens, ties: ScoreOrder
    ) -> JudgementGroups:
        """Group the lines of a file; within a group they stay in file order."""
        starts = query.changes()
        ids = query.take(starts[:-1]).tolist()
        queries = sorted(set(ids))
        index = {id_: number for number, id_ in enumerate(queries)}
        query_number = np.repeat(np.array([index[id_] for id_ in ids]), np.diff(starts))
        first, name_number = np.unique(group.first_rows(), return_inverse=True)
        names = group.take(first).tolist()
        in_order = sorted(range(len(names)), key=names.__getitem__)
        names = [names[number] for number in in_order]
        name_number = np.argsort(in_order)[name_number]
        first, number = np.unique(document.first_rows(query_number), return_inverse=True)
        keys = list(zip(query_number[first].tolist(), document.take(first), strict=True))
        by_document = sorted(range(len(keys)), key=keys.__getitem__)
        row = np.argsort(by_document)[number]
        judged = first[by_document]
        judgements = Judgements(
            file=file,
            queries=queries,
            starts=np.searchsorted(query_number[judged], np.arange(len(queries) + 1)),
            document=document.take(judged),
            level=np.zeros(len(judged), dtype=np.int64),
            index=index,
            ties=ties,
        )
        cell = query_number * len(names) + name_number
        order = np.argsort(cell, kind="stable")
        groups, starts = np.unique(cell[order], return_index=True)
        return cls(
            judgements=judgements,
            query=groups // len(names),
            name=[names[number] for number in groups % len(names)],
            starts=np.append(starts, len(cell)),
            line=order,
            row=row[order],
        )

    def name_of(self, group: int) -> str:
        query = named(self.judgements.queries[self.query[group]])
        name = named(self.name[group])
        return f"query {query}, judgment group {name}"


@dataclass(frozen=True)
class JudgedGroups:
    """A run of Q queries judged by G judgment groups, each by one assessor for one query."""

    queries: list[bytes]  # ids in byte order
    run_id: bytes
    judged: Judged  # the run as each group sees it: its "queries" are the G groups
    group_query: IntArray  # (G,), the groups of a query in byte order of their names

    def mean(self, of_groups: FloatArray) -> FloatArray:
        """Average a quantity of the judgment groups, (G,), per query, (Q,)."""
        sums = np.bincount(self.group_query, weights=of_groups, minlength=len(self.queries))
        return quotient(sums, np.bincount(self.group_query, minlength=len(self.queries)))


@dataclass(frozen=True)
class GroupedQrels:
    """Qrels in which several assessors judge a document, ready for run after run."""

    groups: JudgementGroups
    of_groups: Judgements  # the lines of `groups`, with judgment groups as queries

    @property
    def judgements(self) -> Judgements:
        return self.groups.judgements

    @classmethod
    def of(cls, columns: QrelsColumns) -> GroupedQrels:
        """Group the lines of a file; `InputError` if a group judges a document twice."""
        groups = JudgementGroups.of(
            columns.file, columns.query, columns.iteration, columns.document, ties="descending"
        )
        _refuse_duplicates(groups, columns)
        # No id holds a NUL byte, so joined pairs are as unique as pairs and sort alike.
        ids = [
            groups.judgements.queries[query] + b"\0" + name
            for query, name in zip(groups.query, groups.name, strict=True)
        ]
        of_groups = Judgements(
            file=columns.file,
            queries=ids,
            starts=groups.starts,
            document=columns.document.take(groups.line),
            level=columns.level[groups.line],
            index={text: number for number, text in enumerate(ids)},
        )
        return cls(groups, of_groups)

    def judge(self, hits: Hits, settings: Settings) -> tuple[JudgedGroups, Coverage]:
        """Judge a run for every group of the queries that `settings` chooses."""
        chosen, coverage = judge(self.judgements, hits, settings)
        number = self.judgements.places_among(chosen.queries)
        kept = np.flatnonzero(number[self.groups.query] >= 0)
        judged, _ = judge(
            self.of_groups,
            self._hits_of_groups(hits),
            settings,
            queries=[self.of_groups.queries[group] for group in kept],
        )
        return (
            JudgedGroups(chosen.queries, chosen.run_id, judged, number[self.groups.query[kept]]),
            coverage,
        )

    def _hits_of_groups(self, hits: Hits) -> Hits:
        """Repeat each retrieved document, at its rank, for every group that judged it."""
        num_ret = np.full(len(self.judgements.queries), -1, dtype=np.int64)
        judged = hits.query >= 0
        num_ret[hits.query[judged]] = hits.num_ret[judged]
        groups = np.flatnonzero(num_ret[self.groups.query] >= 0)
        rank = np.zeros(len(self.judgements.document), dtype=np.int64)
        rank[hits.judgement] = hits.rank
        retrieved = np.flatnonzero(rank[self.groups.row])
        return Hits(
            queries=[self.of_groups.queries[group] for group in groups],
            query=groups,
            num_ret=num_ret[self.groups.query[groups]],
            judgement=retrieved,
            rank=rank[self.groups.row[retrieved]],
            run_id=hits.run_id,
            documents=hits.documents,
        )


def _refuse_duplicates(groups: JudgementGroups, columns: QrelsColumns) -> None:
    group = np.repeat(np.arange(len(groups.name)), np.diff(groups.starts))
    if (np.diff(np.sort(group * len(groups.judgements.document) + groups.row)) > 0).all():
        return
    order = np.lexsort((groups.row, group))
    row, group = groups.row[order], group[order]
    again = np.flatnonzero((row[1:] == row[:-1]) & (group[1:] == group[:-1]))
    first, second = (int(columns.line[groups.line[order[again[0] + i]]]) for i in (0, 1))
    document = named(groups.judgements.document[row[again[0]]])
    where = groups.name_of(group[again[0]])
    found = f"document {document} of {where} again, first judged at line {first}"
    expected = "expected one judgement of each document per query and judgment group"
    raise InputError(columns.file, second, found, expected)


# Fulfilled and possible preferences.
Count = tuple[float, float]

_CELLS_AT_ONCE = 1 << 20  # cells: pairs of a query's documents


@dataclass(frozen=True, eq=False)
class GroupDocuments:
    """The E documents of G groups, each with one level; retrieved documents first, by rank."""

    starts: IntArray  # (G+1,)
    level: FloatArray  # (E,)
    lines: IntArray  # the number of lines that give the level
    retrieved: BoolArray  # whether the run has the document

    @cached_property
    def group(self) -> IntArray:
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @cached_property
    def rank_of_level(self) -> IntArray:
        return np.unique(self.level, return_inverse=True)[1].astype(np.int64, copy=False)

    def total(self, number: IntArray) -> IntArray:
        sums: IntArray = np.append(0, np.cumsum(number))
        return sums[self.starts[1:]] - sums[self.starts[:-1]]

    def upto(self, number: IntArray) -> IntArray:
        """Return running sums of a number within each group, down to each document, (E,)."""
        sums: IntArray = np.append(0, np.cumsum(number))
        return sums[1:] - sums[self.starts[:-1]][self.group]

    @cached_property
    def cell(self) -> IntArray:
        """Number the pair of group and level of each document, (E,)."""
        levels = int(self.rank_of_level.max(initial=0)) + 1
        cell: IntArray = np.unique(self.group * levels + self.rank_of_level, return_inverse=True)[1]
        return cell

    def pairs(self, lines: IntArray) -> IntArray:
        """Count pairs of lines with different levels per group, (G,); documents have `lines`."""
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

        The bits of the levels part the documents, the highest bit first. If two documents share all
        earlier bits, the document with the bit set has the higher level.
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


def one_scale_counts(documents: GroupDocuments) -> IntArray:
    """Count the preferences of groups whose lines are all on one scale, (5, G, 2).

    The last axis is fulfilled and possible. The first is every preference, both documents
    retrieved, at least one retrieved, and the first two again with limited nonrelevant documents.
    These are trec_eval's rules to the letter, including their flaws (see the edge cases of
    prefs_avgjg_Rnonrel).
    """
    total, lines, retrieved = documents.total, documents.lines, documents.retrieved
    above = documents.better_above()
    inside = np.where(retrieved, lines, 0)
    fulfilled, possible = total(lines * above), documents.pairs(lines)
    fulfilled_inside, possible_inside = total(inside * above), documents.pairs(inside)
    neither = documents.pairs(lines - inside)

    relevant = np.where(documents.level > 0, lines, 0)
    least = np.minimum.reduceat(documents.level, documents.starts[:-1])
    lowest = documents.level == least[documents.group]
    above_or_here = documents.upto(np.where(lowest, lines, 0))
    seen = documents.upto(inside) - inside
    limited = []
    for scope, count in (
        (np.ones(len(lines), dtype=np.bool_), (fulfilled, possible)),
        (retrieved, (fulfilled_inside, possible_inside)),
    ):
        size = total(np.where(scope, relevant, 0))
        surplus = 2 * size - total(np.where(scope, lines, 0))
        # The lowest level is cut to its first lines, which are compared with every line, even with
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
    inside_counts = fulfilled_inside, possible_inside
    counts = [(fulfilled, possible), inside_counts, (fulfilled, possible - neither), *limited]
    return np.array(counts).transpose(0, 2, 1)


def pair_counts(groups: Sequence[PreferencePairs], documents: int, retrieved: int) -> list[Count]:
    """Count the pairs of documents of a query for which any judgment group has a preference.

    The first `retrieved` of its `documents` are retrieved. Each count has the share of preferences
    that the ranking fulfils, summed over pairs, and the number of pairs: for all pairs, with both
    documents retrieved, and with at least one. Shares are added row by row from the left, like
    trec_eval's.
    """
    every = either = both = 0
    share = share_inside = 0.0
    step = max(1, _CELLS_AT_ONCE // documents)
    for first in range(0, documents, step):
        # The cells above the diagonal, several rows at a time.
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
    """Add from left to right, unlike numpy's pairwise sum."""
    return float(np.add.accumulate(np.append(total, terms))[-1])


WeightArray: TypeAlias = "BoolArray | IntArray"


@dataclass(frozen=True)
class GroupLines:
    """The lines of one judgment group."""

    place: str  # the file, query and group, for messages
    documents: Tokens  # retrieved documents in ranking order, then the rest by id
    number: IntArray  # their numbers among all documents of the query, ascending
    document: IntArray  # the index of each line's document
    subgroup: IntArray  # of each line: 0, 1, …
    level: FloatArray  # of each line

    def contradiction(self, text: str, *documents: int) -> DataError:
        """Return the error whose `text` names the documents, after the place."""
        names = [named(self.documents[index]) for index in documents]
        return DataError(f"{self.place}: {text.format(*names)}")


@dataclass(frozen=True)
class OneSubgroup:
    """All lines are on one scale: every pair of lines with different levels is a preference.

    A document on two lines of the same level counts twice.
    """

    number: IntArray  # among all documents of the query
    level: FloatArray
    lines: IntArray  # the number of lines of each document

    def block(self, first: int, last: int) -> tuple[WeightArray, WeightArray]:
        """Count the preferences between documents ``first:last`` and documents ``first:``.

        Two arrays, (last - first, n - first): preferences for the row's, and the column's document.
        """
        above, below = self.level[first:last, None], self.level[first:]
        over, under = above > below, above < below
        if (self.lines == 1).all():
            return over, under
        weight = np.outer(self.lines[first:last], self.lines[first:])
        return weight * over, weight * under


@dataclass(frozen=True)
class SeveralSubgroups:
    """Several scales: the set of preferences of each document, closed transitively.

    Sets of documents are bits of integers: union, intersection and count are fast.
    """

    number: IntArray
    preferred: Sequence[int]  # for each document, the set of documents that it beats
    above_zero: BoolArray  # whether a level of the document is above 0
    zero: BoolArray  # whether a level of the document is 0

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
        n, some = len(self.number), (1 << (last - first)) - 1
        over = [_bits(documents >> first, n - first) for documents in self.preferred[first:last]]
        under = [
            _bits((documents >> first) & some, last - first) for documents in self.preferred[first:]
        ]
        return np.array(over), np.array(under).T

    def counts(self, retrieved: int) -> list[Count]:
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
        """Count fulfilled and possible preferences within two sets of documents."""
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


def _two_levels(group: GroupLines) -> DataError:
    level = np.empty(len(group.documents))
    level[group.document] = group.level
    differs = np.flatnonzero(level[group.document] != group.level)
    return group.contradiction(
        "document {} is given two different levels; give it one", group.document[differs[0]]
    )


def _set(documents: IntArray) -> int:
    return sum(1 << document for document in documents.tolist())


def _bits(documents: int, n: int) -> BoolArray:
    """Return whether each of n documents is in a set, (n,)."""
    octets = np.frombuffer(documents.to_bytes(n + 7 >> 3, "little"), dtype=np.uint8)
    return np.unpackbits(octets, count=n, bitorder="little").view(np.bool_)


def _scales(group: GroupLines) -> list[list[list[int]]]:
    """Return the documents of each sub-group by level, the lowest level first."""
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

    On each of its scales, a document is preferred over all documents below its level. "Below that
    level" is a separate node of the graph, which keeps the number of edges near that of lines.
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
    """Close preferences transitively (Warshall); no document is preferred over itself.

    `_closed` cannot order contradictions, nor documents with two levels on one scale.
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


@dataclass(frozen=True)
class Tally:
    """Preferences, (G,), or pairs, (Q,): how many a ranking fulfils out of how many possible."""

    fulfilled: FloatArray
    possible: FloatArray

    @property
    def share(self) -> FloatArray:
        """Return the fulfilled share; 0 if no preference is possible."""
        return quotient(self.fulfilled, self.possible)


@dataclass(frozen=True)
class JudgedPreferences:
    """How a run orders the documents of Q queries and their G judgment groups.

    A preference is fulfilled if its better document is retrieved above its worse document, or if
    only the better is retrieved. ScoreOrder, `-M` and missing queries have been resolved.

    Attributes
    ----------
    queries : list of bytes, length Q
        Query ids in byte order.
    group_query : (G,)
        The query of each judgment group; the groups of a query in byte order of their names.
    every, retrieved, implied : Tally of (G,)
        Preferences of each group: all, with both documents retrieved, and with at least one
        retrieved.
    limited, limited_retrieved : Tally of (G,)
        As `every` and `retrieved`, but with only as many nonrelevant documents as relevant
        documents.
    pairs, pairs_retrieved, pairs_implied : Tally of (Q,)
        Pairs of documents with a preference in any group: the share of these preferences that
        the ranking fulfils, summed, and the number of pairs; scopes as above.
    """

    queries: list[bytes]
    run_id: bytes
    group_query: IntArray
    every: Tally
    retrieved: Tally
    implied: Tally
    limited: Tally
    limited_retrieved: Tally
    pairs: Tally
    pairs_retrieved: Tally
    pairs_implied: Tally

    def per_query(self, of_groups: FloatArray) -> FloatArray:
        """Sum a quantity of the judgment groups, (G,), per query, (Q,), in order of the groups."""
        sums = np.bincount(self.group_query, weights=of_groups, minlength=len(self.queries))
        return sums.astype(np.float64, copy=False)

    def group_mean(self, of_groups: FloatArray) -> FloatArray:
        """Average a quantity of the judgment groups, (G,), per query, (Q,)."""
        groups = np.bincount(self.group_query, minlength=len(self.queries))
        return quotient(self.per_query(of_groups), groups)


@dataclass(frozen=True)
class Preferences:
    """Preference judgements of n lines, ready for run after run."""

    groups: JudgementGroups
    subgroup: IntArray  # (n,), a number for each line of `groups`
    level: FloatArray  # (n,)

    @property
    def judgements(self) -> Judgements:
        return self.groups.judgements

    @classmethod
    def of(cls, columns: PreferenceColumns) -> Preferences:
        ids = columns.query, columns.group, columns.document
        groups = JudgementGroups.of(columns.file, *ids, ties="ascending")
        subgroup = columns.subgroup.first_rows()
        return cls(groups, subgroup[groups.line], columns.level[groups.line])

    def judge(self, hits: Hits, settings: Settings) -> tuple[JudgedPreferences, Coverage]:
        """Count the preferences that a run fulfils, for the queries that `settings` chooses.

        -l and -J have no effect. Raises `DataError`, with query, group and documents, if the lines
        of a judgment group contradict each other.
        """
        judged, coverage = judge(self.judgements, hits, settings)
        return _Counting(self, judged).preferences(), coverage


class _Counting:
    """The judgment groups of the chosen queries, beside one run.

    Documents are numbered within their query: retrieved documents first, in ranking order, then the
    rest by id. A preference is fulfilled if its better document is retrieved and has the smaller
    number.
    """

    def __init__(self, relevance: Preferences, judged: Judged) -> None:
        self._relevance, self._judged = relevance, judged
        groups, judgements = relevance.groups, relevance.judgements
        number = judgements.places_among(judged.queries)
        self._groups = np.flatnonzero(number[groups.query] >= 0)
        self._query = number[groups.query[self._groups]]
        self._retrieved = np.zeros(len(judgements.queries), dtype=np.int64)
        self._retrieved[number >= 0] = np.diff(judged.starts)[number[number >= 0]]
        self._number = self._number_documents()

    def _number_documents(self) -> IntArray:
        """Number the rows of the judgements within their queries, (J,)."""
        judgements, judged = self._relevance.judgements, self._judged
        number = np.full(len(judgements.document), -1, dtype=np.int64)
        number[judged.judgement] = np.arange(len(judged.rank)) - judged.starts[judged.query]
        rest = np.flatnonzero(number < 0)
        before = np.append(0, np.cumsum(number < 0))[judgements.starts[:-1]]
        query = judgements.query[rest]
        number[rest] = np.arange(len(rest)) - before[query] + self._retrieved[query]
        return number

    def preferences(self) -> JudgedPreferences:
        documents, number, doubtful = self._documents()
        counts = one_scale_counts(documents)
        pairs = counts[:3].copy()  # of documents, each counted once
        if documents.lines.max() > 1:
            pairs = one_scale_counts(replace(documents, lines=np.ones_like(documents.lines)))[:3]
        several: dict[int, SeveralSubgroups] = {}
        for group in doubtful.tolist():
            lines = self._lines(group)
            if np.all(lines.subgroup == lines.subgroup[0]):
                raise _two_levels(lines)
            several[group] = SeveralSubgroups.of(lines)
            retrieved = documents.retrieved[slice(*documents.starts[group : group + 2])]
            counts[:, group] = several[group].counts(int(retrieved.sum()))
            pairs[:, group] = counts[:3, group]

        def of_group(group: int) -> PreferencePairs:
            part = slice(*documents.starts[group : group + 2])
            return several.get(group) or OneSubgroup(
                number[part], documents.level[part], documents.lines[part]
            )

        judged = self._judged
        return JudgedPreferences(
            judged.queries,
            judged.run_id,
            self._query,
            *(Tally(*of_groups.T.astype(np.float64)) for of_groups in counts),
            *(
                Tally(*of_queries.T)
                for of_queries in self._pairs(pairs, np.diff(documents.starts), of_group)
            ),
        )

    def _documents(self) -> tuple[GroupDocuments, IntArray, IntArray]:
        """Return documents, their numbers, and the groups with several scales or levels."""
        groups, relevance = self._relevance.groups, self._relevance
        rows, bounds = rows_of(groups.starts, self._groups)
        group = np.repeat(np.arange(len(self._groups)), np.diff(bounds))
        number = self._number[groups.row[rows]]
        key = group * (int(number.max()) + 1) + number
        order = np.argsort(key, kind="stable")
        key, rows = key[order], rows[order]
        last = np.flatnonzero(np.append(key[1:] != key[:-1], True))
        lines = np.diff(last, prepend=-1)
        group, number = group[order[last]], number[order[last]]
        level = relevance.level[rows]
        documents = GroupDocuments(
            starts=np.searchsorted(group, np.arange(len(self._groups) + 1)),
            level=level[last],
            lines=lines,
            retrieved=number < self._retrieved[groups.query[self._groups]][group],
        )
        differs = level != np.repeat(level[last], lines)
        subgroup = relevance.subgroup[rows]
        differs |= subgroup != np.repeat(subgroup[bounds[:-1]], np.diff(bounds))
        doubtful = np.zeros(len(self._groups), dtype=np.bool_)
        doubtful[np.repeat(group, lines)[differs]] = True
        return documents, number, np.flatnonzero(doubtful)

    def _pairs(
        self, of_groups: IntArray, sizes: IntArray, of_group: Callable[[int], PreferencePairs]
    ) -> FloatArray:
        """Return fulfilled and possible pairs of each query in each scope, (3, Q, 2)."""
        queries, judgements = self._judged.queries, self._relevance.judgements
        number = np.array([judgements.index[query] for query in queries])
        documents = np.diff(judgements.starts)[number]
        of_queries = np.zeros((3, len(queries), 2))
        for scope, kind in np.ndindex(3, 2):
            weights = of_groups[scope, :, kind]
            of_queries[scope, :, kind] = np.bincount(self._query, weights=weights)
        # If groups share documents, two groups may prefer opposite documents of a pair.
        in_groups = np.bincount(self._query, weights=sizes)
        for query in np.flatnonzero(in_groups > documents).tolist():
            groups = range(*np.searchsorted(self._query, [query, query + 1]).tolist())
            retrieved = int(self._retrieved[number[query]])
            groups_of_query = [of_group(group) for group in groups]
            of_queries[:, query] = pair_counts(groups_of_query, int(documents[query]), retrieved)
        return of_queries

    def _lines(self, group: int) -> GroupLines:
        """Return the lines of a group, with documents in order of their numbers."""
        relevance, judgements = self._relevance, self._relevance.judgements
        groups, group = relevance.groups, int(self._groups[group])
        lines = slice(*groups.starts[group : group + 2])
        number = self._number[groups.row[lines]]
        _, first, document = np.unique(number, return_index=True, return_inverse=True)
        rows = groups.row[lines][first]
        return GroupLines(
            place=f"{judgements.file}: {groups.name_of(group)}",
            documents=judgements.document.take(rows),
            number=self._number[rows],
            document=document,
            subgroup=relevance.subgroup[lines],
            level=relevance.level[lines],
        )


# By -R.
READERS: Mapping[str, Callable[[str], GroupedQrels | Preferences]] = {
    "qrels_jg": lambda path: GroupedQrels.of(read_qrels(path)),
    "prefs": lambda path: Preferences.of(read_preferences(path)),
    "qrels_prefs": lambda path: Preferences.of(read_qrels_preferences(path)),
}
