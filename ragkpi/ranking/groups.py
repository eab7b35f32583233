"""Judgment groups (``-R qrels_jg``): judgements of several assessors for the same documents.

A judgment group holds one assessor's judgements for one query. Each group judges the whole ranking
on its own; the values of a query's groups are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError
from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, Settings, quotient
from ragkpi.ranking.judgements import IdOrder, Judgements
from ragkpi.ranking.reading import Hits
from ragkpi.wording import named


@dataclass(frozen=True)
class JudgementGroups:
    """The G judgment groups of a file, one per query and assessor, ordered by both."""

    judgements: Judgements  # each document of a query once, by id; ignore their levels
    query: IntArray  # (G,), numbers in `judgements`
    name: list[bytes]  # of each group
    starts: IntArray  # (G+1,), group g has elements starts[g]:starts[g + 1] of `line` and `row`
    line: IntArray  # (n,), rows of the file's columns, in file order within a group
    row: IntArray  # (n,), rows of the lines' documents in `judgements`

    @classmethod
    def of(
        cls, file: str, query: Tokens, group: Tokens, document: Tokens, ties: IdOrder
    ) -> JudgementGroups:
        """Group the lines of a file."""
        queries, query_number = _numbered(query)
        names, name_number = _numbered(group)
        ids, id_number = _numbered(document)
        pairs, first, row = np.unique(
            query_number * len(ids) + id_number, return_index=True, return_inverse=True
        )
        judgements = Judgements(
            file=file,
            queries=queries,
            starts=np.searchsorted(pairs, np.arange(len(queries) + 1) * len(ids)),
            document=document.take(first),
            level=np.zeros(len(pairs), dtype=np.int64),
            index={id_: number for number, id_ in enumerate(queries)},
            ties=ties,
        )
        key = query_number * len(names) + name_number
        line = np.argsort(key, kind="stable")
        groups, starts = np.unique(key[line], return_index=True)
        return cls(
            judgements=judgements,
            query=groups // len(names),
            name=[names[number] for number in groups % len(names)],
            starts=np.append(starts, len(key)),
            line=line,
            row=row[line],
        )

    def name_of(self, group: int) -> str:
        query = named(self.judgements.queries[self.query[group]])
        return f"query {query}, judgment group {named(self.name[group])}"


def _numbered(column: Tokens) -> tuple[list[bytes], IntArray]:
    """Return the distinct strings in byte order, and the number of each row's string, (n,)."""
    first, number = np.unique(column.first_rows(), return_inverse=True)
    strings = column.take(first).tolist()
    order = sorted(range(len(strings)), key=strings.__getitem__)
    return [strings[place] for place in order], np.argsort(order)[number]


@dataclass(frozen=True)
class GroupedRun:
    """A run of Q queries, evaluated by G judgment groups."""

    queries: list[bytes]  # ids in byte order
    run_id: bytes
    group_query: IntArray  # (G,), the groups of a query in byte order of their names

    def total(self, of_groups: FloatArray) -> FloatArray:
        """Sum a quantity of the judgment groups, (G,), per query, (Q,), in group order."""
        sums = np.bincount(self.group_query, weights=of_groups, minlength=len(self.queries))
        return sums.astype(np.float64, copy=False)

    def mean(self, of_groups: FloatArray) -> FloatArray:
        """Average a quantity of the judgment groups, (G,), per query, (Q,)."""
        groups = np.bincount(self.group_query, minlength=len(self.queries))
        return quotient(self.total(of_groups), groups)


@dataclass(frozen=True)
class JudgedGroups(GroupedRun):
    """A run judged by every judgment group."""

    judged: Judged  # its "queries" are the G groups


@dataclass(frozen=True)
class GroupedQrels:
    """Qrels in which several assessors judge a document, reusable for many runs."""

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
        # Ids have no NUL byte, so joined pairs are as unique as pairs and sort the same way.
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
        """Judge a run for every group of the queries that `settings` selects."""
        chosen, coverage = judge(self.judgements, hits, settings)
        number = self.judgements.places_among(chosen.queries)
        kept = np.flatnonzero(number[self.groups.query] >= 0)
        judged, _ = judge(
            self.of_groups,
            self._hits_of_groups(hits),
            settings,
            queries=[self.of_groups.queries[group] for group in kept],
        )
        group_query = number[self.groups.query[kept]]
        return JudgedGroups(chosen.queries, chosen.run_id, group_query, judged), coverage

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
    key = group * len(groups.judgements.document) + groups.row
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(np.diff(key[order]) == 0)
    if len(again):
        first, second = order[again[0] : again[0] + 2]
        document = named(groups.judgements.document[groups.row[first]])
        where, line = groups.name_of(group[first]), columns.line[groups.line]
        text = f"document {document} of {where} again, first judged at line {line[first]}"
        expected = "expected one judgement of each document per query and judgment group"
        raise InputError(columns.file, int(line[second]), text, expected)
