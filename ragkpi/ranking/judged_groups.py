"""Judgment groups: several assessors judge the same documents, and a run is judged by each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError
from ragkpi.files.lines import Tokens
from ragkpi.files.trec import QrelsColumns
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, Settings, quotient
from ragkpi.ranking.judgements import Judgements, Ties
from ragkpi.ranking.reading import Hits
from ragkpi.wording import named


@dataclass(frozen=True)
class JudgementGroups:
    """The G judgment groups of a file, each of one assessor and query, ordered by both."""

    judgements: Judgements  # each document of a query once; their level means nothing
    query: IntArray  # (G,), numbers in `judgements`
    name: list[bytes]  # of each group
    starts: IntArray  # (G+1,), group g is the lines starts[g]:starts[g + 1] of what follows
    line: IntArray  # (n,), rows of the file's columns
    row: IntArray  # (n,), rows of the lines' documents in `judgements`

    @classmethod
    def of(
        cls, file: str, query: Tokens, group: Tokens, document: Tokens, ties: Ties
    ) -> JudgementGroups:
        """Group the lines of a file; in a group they keep the order of the file."""
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
    """Qrels in which a document is judged by several assessors, ready for run after run."""

    groups: JudgementGroups
    of_groups: Judgements  # the lines of `groups` as if every judgment group were a query

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
        # No id holds a NUL byte, so this is as unique, and in the same order, as the pair is.
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
