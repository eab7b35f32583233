"""`JudgedGroups`: a run judged by several assessors one by one, and how a run becomes it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.tokens import FloatArray, IntArray
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.judge import Coverage, judge
from ragkpi.ranking.judged import Judged, quotient
from ragkpi.ranking.judgement_groups import JudgementGroups
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.settings import Settings


@dataclass(frozen=True)
class JudgedGroups:
    """A run of Q queries judged by G judgment groups, each by one assessor for one query.

    Attributes
    ----------
    queries : list of bytes, length Q
        Query ids in byte order.
    run_id
        The last run id of the file.
    judged
        The run as each judgment group sees it: its "queries" are the G groups.
    group_query : (G,)
        The query of each group; the groups of a query in byte order of their names.
    """

    queries: list[bytes]
    run_id: bytes
    judged: Judged
    group_query: IntArray

    def mean(self, of_groups: FloatArray) -> FloatArray:
        """Average a quantity of the judgment groups, (G,), per query, (Q,)."""
        sums = np.bincount(self.group_query, weights=of_groups, minlength=len(self.queries))
        return quotient(sums, np.bincount(self.group_query, minlength=len(self.queries)))


@dataclass(frozen=True)
class GroupedQrels:
    """Qrels in which a document is judged by several assessors, ready for run after run.

    Attributes
    ----------
    groups
        The lines by query and judgment group.
    of_groups
        The same lines as if every judgment group were a query of its own: row i is line i of
        `groups`.
    """

    groups: JudgementGroups
    of_groups: Judgements

    @property
    def judgements(self) -> Judgements:
        """The judged documents, each once per query: what the hits of a run are found in."""
        return self.groups.judgements

    @classmethod
    def of(cls, columns: QrelsColumns) -> GroupedQrels:
        """Group the lines of a file.

        Raises
        ------
        InputError
            If a group judges a document twice; names both lines, query, group and document.
        """
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
        """Judge a run for every group of the queries that `settings` chooses.

        `hits` is what the run retrieved of `judgements`.
        """
        chosen, coverage = judge(self.judgements, hits, settings)
        number = np.full(len(self.judgements.queries), -1, dtype=np.int64)
        places = [self.judgements.index[query] for query in chosen.queries]
        number[places] = np.arange(len(places))
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
        """Give every group that judged a retrieved document that document at its rank."""
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
    order = np.lexsort((groups.row, group))
    row, group = groups.row[order], group[order]
    again = np.flatnonzero((row[1:] == row[:-1]) & (group[1:] == group[:-1]))
    if not len(again):
        return
    first, second = (int(columns.line[groups.line[order[again[0] + i]]]) for i in (0, 1))
    document = groups.judgements.document[row[again[0]]].decode("utf-8", "replace")
    raise InputError(
        columns.file,
        second,
        f"document {document} of {groups.place(group[again[0]])} again, "
        f"first judged at line {first}",
        "expected one judgement of each document per query and judgment group",
    )
