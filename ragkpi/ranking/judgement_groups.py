"""`JudgementGroups`: lines of several assessors on the same documents, sorted out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.order import Ties


@dataclass(frozen=True)
class JudgementGroups:
    """The judgment groups of a file: what one assessor said about one query.

    Attributes
    ----------
    judgements
        The judged documents of each query once, in byte order; their level is 0 and means nothing.
    query, name : length G
        The query of each judgment group as a number in `judgements`, and its name; ordered by
        both.
    starts : (G+1,)
        Group g is the lines ``starts[g]:starts[g + 1]`` of what follows.
    line : (n,)
        Row of the file's columns.
    row : (n,)
        Row of the line's document in `judgements`.
    """

    judgements: Judgements
    query: IntArray
    name: list[bytes]
    starts: IntArray
    line: IntArray
    row: IntArray

    @classmethod
    def of(
        cls, file: str, query: Tokens, group: Tokens, document: Tokens, ties: Ties
    ) -> JudgementGroups:
        """Group the lines of a file; in a group they keep the order of the file.

        `ties` is how runs are to rank equal scores.
        """
        queries, query_number = numbered(query)
        names, name_number = numbered(group)
        documents, document_number = numbered(document)
        judged, first_line, row = np.unique(
            query_number * len(documents) + document_number, return_index=True, return_inverse=True
        )
        judgements = Judgements(
            file=file,
            queries=queries,
            starts=np.searchsorted(judged, np.arange(len(queries) + 1) * len(documents)),
            document=document.take(first_line),
            level=np.zeros(len(judged), dtype=np.int64),
            index={text: number for number, text in enumerate(queries)},
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

    def place(self, group: int) -> str:
        """Name a judgment group, for messages."""
        query = self.judgements.queries[self.query[group]].decode("utf-8", "replace")
        name = self.name[group].decode("utf-8", "replace")
        return f"query {query}, judgment group {name}"


def numbered(tokens: Tokens) -> tuple[list[bytes], IntArray]:
    """Return the distinct strings in byte order, and for each token the number of its string."""
    texts = tokens.tolist()
    distinct = sorted(set(texts))
    number = {text: place for place, text in enumerate(distinct)}
    return distinct, np.array([number[text] for text in texts], dtype=np.int64)
