"""From blocks of a run to its hits: the retrieved documents that are judged, with their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ragkpi.errors import DataError
from ragkpi.formats.identity import KeyArray, distinct, hash_tokens
from ragkpi.formats.run import RunColumns
from ragkpi.formats.tokens import IntArray
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.order import ranks_of

CountDocuments = Literal["no", "yes"]


class ScatteredQueryError(Exception):
    """The lines of a query do not stand together, so its blocks cannot be judged one by one."""


@dataclass(frozen=True)
class Hits:
    """What a run, or a part of one, retrieved.

    Attributes
    ----------
    queries : list of bytes, length G
        The queries of the run in the order of the file, judged or not.
    query, num_ret : (G,)
        Their numbers in the judgements (-1: not judged) and how many documents they retrieved.
    judgement, rank : (H,)
        For each retrieved and judged document its row in the judgements and its 1-based rank;
        in no particular order.
    run_id
        The run id of the last line.
    documents : (n,) uint64
        Hashes of the retrieved documents, if they were asked for; empty otherwise.
    """

    queries: list[bytes]
    query: IntArray
    num_ret: IntArray
    judgement: IntArray
    rank: IntArray
    run_id: bytes
    documents: KeyArray


def find_hits(
    blocks: Iterable[RunColumns], judgements: Judgements, count_documents: CountDocuments = "no"
) -> Hits:
    """Judge a run block by block.

    Parameters
    ----------
    blocks
        Columns of whole queries.
    judgements
        Which documents matter.
    count_documents
        ``"yes"`` also hashes every retrieved document, to count the distinct ones.

    Raises
    ------
    DataError
        If a query retrieves a document twice; names query, document and both lines.
    ScatteredQueryError
        If a query comes in more than one place.
    """
    seen: set[bytes] = set()
    parts = []
    for block in blocks:
        ids = block.query.tolist()
        before = len(seen)
        seen.update(ids)
        if len(seen) != before + len(ids):
            raise ScatteredQueryError
        parts.append(_judge_block(block, ids, judgements, count_documents))
    return join_hits(parts)


def _judge_block(
    block: RunColumns, ids: list[bytes], judgements: Judgements, count_documents: CountDocuments
) -> Hits:
    query = np.array([judgements.index.get(id_, -1) for id_ in ids], dtype=np.int64)
    key = judgements.keys_of(block.document)
    duplicate = find_duplicate(block.starts, block.document, key)
    if duplicate is not None:
        raise _duplicate_error(block, duplicate, ids)
    line, judgement = judgements.find(query, block.starts, block.document, key)
    return Hits(
        queries=ids,
        query=query,
        num_ret=np.diff(block.starts),
        judgement=judgement,
        rank=ranks_of(block, line, judgements.ties),
        run_id=block.run_id,
        documents=(
            distinct(hash_tokens(block.document))
            if count_documents == "yes"
            else np.empty(0, dtype=np.uint64)
        ),
    )


def _duplicate_error(block: RunColumns, duplicate: tuple[int, int], ids: list[bytes]) -> DataError:
    query = ids[int(np.searchsorted(block.starts, duplicate[0], side="right")) - 1]
    first, second = sorted(int(block.line[row]) for row in duplicate)
    return DataError(
        f"{block.file}:{second}: document "
        f"{block.document[duplicate[0]].decode('utf-8', 'replace')} of query "
        f"{query.decode('utf-8', 'replace')} again, first retrieved at line {first}; "
        "expected each document once per query"
    )


def join_hits(parts: Sequence[Hits]) -> Hits:
    """Put the hits of the parts of one run together, in the order of the file."""
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return Hits([], nothing, nothing, nothing, nothing, b"", np.empty(0, dtype=np.uint64))
    return Hits(
        queries=[query for part in parts for query in part.queries],
        query=np.concatenate([part.query for part in parts]),
        num_ret=np.concatenate([part.num_ret for part in parts]),
        judgement=np.concatenate([part.judgement for part in parts]),
        rank=np.concatenate([part.rank for part in parts]),
        run_id=parts[-1].run_id,
        documents=distinct(np.concatenate([part.documents for part in parts])),
    )
