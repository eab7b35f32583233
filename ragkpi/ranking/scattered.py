"""Runs whose queries are interleaved: the whole text is held, and its lines put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ragkpi.formats.grouping import spans
from ragkpi.formats.identity import equal_tokens, hash_tokens
from ragkpi.formats.run import RunColumns
from ragkpi.formats.tokens import IntArray, Tokens

_ROWS_AT_ONCE = 1 << 16


def regroup_run(pieces: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Yield a run with the lines of each query together, queries as they first appear.

    Parameters
    ----------
    pieces
        All of the run, valid together: about 50 bytes a line besides the text, which only
        scattered runs pay.
    """
    parts = list(pieces)
    if not parts:
        return
    query = Tokens.joined([part.query for part in parts])
    group_sizes = np.concatenate([np.diff(part.starts) for part in parts])
    document = Tokens.joined([part.document for part in parts])
    score = np.concatenate([part.score for part in parts])
    line = np.concatenate([part.line for part in parts])
    number, representative = number_ids(query)
    number = np.repeat(number, group_sizes)
    order = np.argsort(number, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(len(representative) + 1))
    for first, last in spans(bounds, _ROWS_AT_ONCE):
        rows = order[bounds[first] : bounds[last]]
        yield RunColumns(
            file=parts[0].file,
            query=query.take(representative[first:last]),
            starts=bounds[first : last + 1] - bounds[first],
            document=document.take(rows),
            score=score[rows],
            line=line[rows],
            run_id=parts[-1].run_id,
        )


def number_ids(query: Tokens) -> tuple[IntArray, IntArray]:
    """Number ids as they first appear, (n,); and for each number the row where that is."""
    _, representative, number = np.unique(
        hash_tokens(query), return_index=True, return_inverse=True
    )
    rows = np.arange(len(query))
    if not equal_tokens(query, rows, query, representative[number]).all():
        # Two ids with one hash: practically impossible, yet a hash must not decide.
        ids = np.array(query.tolist(), dtype=object)
        _, representative, number = np.unique(ids, return_index=True, return_inverse=True)
    by_appearance = np.argsort(representative)
    place = np.empty(len(by_appearance), dtype=np.int64)
    place[by_appearance] = np.arange(len(by_appearance))
    return place[number], representative[by_appearance]
