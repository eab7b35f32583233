"""Runs whose queries are interleaved: the whole text is held, and its lines put in order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ragkpi.formats.blocks import BLOCK_SIZE, BlockReader
from ragkpi.formats.grouping import spans
from ragkpi.formats.identity import equal_tokens, hash_tokens
from ragkpi.formats.opening import Source
from ragkpi.formats.run import RunColumns, columns_of
from ragkpi.formats.tokens import IntArray, Tokens

_ROWS_AT_ONCE = 1 << 16


def regroup_run(source: Source) -> Iterator[RunColumns]:
    """Read a run from its start again and yield it with the lines of each query together.

    Costs the memory of the text and about 50 bytes a line, which only scattered runs pay.
    """
    source.restart()
    parts = list(_pieces(source))
    if not parts:
        return
    query = _joined([part.query for part in parts])
    group_sizes = np.concatenate([np.diff(part.starts) for part in parts])
    document = _joined([part.document for part in parts])
    score = np.concatenate([part.score for part in parts])
    line = np.concatenate([part.line for part in parts])
    number, representative = _number(query)
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


def _pieces(source: Source) -> Iterator[RunColumns]:
    """Hold the whole text in one buffer and find its columns a block at a time."""
    whole = BlockReader(source, BLOCK_SIZE if source.size is None else source.size + 1).read_all()
    if whole is None:
        return
    for block in whole.split(BLOCK_SIZE):
        columns = columns_of(block)
        if columns is not None:
            yield columns


def _joined(parts: list[Tokens]) -> Tokens:
    return Tokens(
        parts[0].buffer,
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]),
    )


def _number(query: Tokens) -> tuple[IntArray, IntArray]:
    """Give equal ids equal numbers, (n,); and for each number one row that has it."""
    _, representative, number = np.unique(
        hash_tokens(query), return_index=True, return_inverse=True
    )
    rows = np.arange(len(query))
    if not equal_tokens(query, rows, query, representative[number]).all():
        # Two ids with one hash: practically impossible, yet a hash must not decide.
        ids = np.array(query.tolist(), dtype=object)
        _, representative, number = np.unique(ids, return_index=True, return_inverse=True)
    return number, representative
