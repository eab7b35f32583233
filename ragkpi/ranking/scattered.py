"""Runs whose queries are interleaved: the whole text is held, and its lines put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.formats.groups import spans
from ragkpi.formats.identity import equal_tokens, hash_tokens
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.ranking.hits import note_queries

if TYPE_CHECKING:
    import numpy.typing as npt

_ROWS_AT_ONCE = 1 << 16
_NO_IDS = Tokens.from_strings([])
_NO_STARTS: IntArray = np.zeros(1, dtype=np.int64)


def regroup_run(pieces: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Yield a run with the lines of each query together, queries as they first appear.

    Parameters
    ----------
    pieces
        All of the run, valid together: about 70 bytes a line besides the text, which only
        scattered runs pay.
    """
    numbers: dict[bytes, int] = {}  # of the queries, as they first appear
    parts: list[RunColumns] = []
    rows = []
    for part in pieces:
        rows.append(_number_rows(part, numbers))
        parts.append(part._replace(query=_NO_IDS, starts=_NO_STARTS))
    if not parts:
        return
    # The smallest type that fits makes the stable sort a radix sort for most runs.
    number = np.concatenate(rows).astype(np.min_scalar_type(len(numbers)))
    rows.clear()
    file, run_id = parts[0].file, parts[-1].run_id
    document = Tokens.joined([part.document for part in parts])
    score = np.concatenate([part.score for part in parts])
    line = np.concatenate([part.line for part in parts])
    by_rank = None
    if any(part.by_rank is not None for part in parts):
        by_rank = np.concatenate(
            [
                np.zeros(len(part.line), dtype=bool) if part.by_rank is None else part.by_rank
                for part in parts
            ]
        )
    parts.clear()
    order = np.argsort(number, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(number)))
    query = Tokens.from_strings(numbers)
    for first, last in spans(starts, _ROWS_AT_ONCE):
        some = order[starts[first] : starts[last]]
        yield RunColumns(
            file=file,
            query=query.take(slice(first, last)),
            starts=starts[first : last + 1] - starts[first],
            document=document.take(some),
            score=score[some],
            line=line[some],
            run_id=run_id,
            by_rank=None if by_rank is None else by_rank[some],
        )


def whole_queries(blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
    """Yield blocks as they are; `ScatteredQueryError` where a query comes again."""
    seen: set[bytes] = set()
    for block in blocks:
        note_queries(block.query.tolist(), seen)
        yield block


def _number_rows(part: RunColumns, numbers: dict[bytes, int]) -> npt.NDArray[np.uint32]:
    """Return the number of each row's query, (n,); new queries are added to `numbers`."""
    number, representative = number_ids(part.query)
    ids = part.query.take(representative)
    known = np.fromiter((numbers.setdefault(id_, len(numbers)) for id_ in ids), dtype=np.uint32)
    return np.repeat(known[number], np.diff(part.starts))


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
    appearance = np.empty(len(by_appearance), dtype=np.int64)
    appearance[by_appearance] = np.arange(len(by_appearance))
    return appearance[number], representative[by_appearance]
