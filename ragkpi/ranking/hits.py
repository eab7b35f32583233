"""From blocks of a run to its hits: the retrieved documents that are judged, with their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import numpy as np

from ragkpi.errors import DataError, InputError
from ragkpi.formats.identity import KeyArray, distinct, hash_tokens
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.ranking.doubts import NOTHING, Beginning, Slopes, beginning
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.order import TiedRanks, Ties, ranks_of, tied_ranks_of
from ragkpi.records import NamedTuple, dataclass, field, replace
from ragkpi.wording import named


class ScatteredQueryError(Exception):
    """The lines of a query do not stand together, so its blocks cannot be judged one by one."""


class UndecidedError(Exception):
    """What was kept of lines does not tell their hits, so their text has to be held."""


class Wanted(NamedTuple):
    """What a run is read for, besides its judged documents.

    Attributes
    ----------
    documents
        ``"counted"`` also hashes every retrieved document, to count the distinct ones.
    depth
        The names of all documents of judged queries down to this rank, judged or not.
    ties
        ``"kept"`` also keeps which ranks each judged document shares with equal scores.
    """

    documents: Literal["ignored", "counted"] = "ignored"
    depth: int = 0
    ties: Literal["broken", "kept"] = "broken"


JUDGED_ONLY = Wanted()


@dataclass(frozen=True, eq=False)
class TopDocuments:
    """The n documents that the judged queries of a run have down to some rank.

    Attributes
    ----------
    query, rank, judgement : (n,)
        The query's number in the judgements, the 1-based rank, and the row of the judgement, -1
        for unjudged documents; in no particular order.
    document : Tokens, length n
        Their ids.
    """

    query: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rank: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    judgement: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    document: Tokens = field(default_factory=lambda: Tokens.from_strings([]))


@dataclass(frozen=True, eq=False)
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
    top
        The names down to the depth that was asked for.
    beginning
        A look at the first lines, for doubts.
    tied
        The ranks that each of them shares with equal scores, (H,); None if not asked for.
    """

    queries: list[bytes]
    query: IntArray
    num_ret: IntArray
    judgement: IntArray
    rank: IntArray
    run_id: bytes
    documents: KeyArray
    top: TopDocuments = field(default_factory=TopDocuments)
    beginning: Beginning = NOTHING
    tied: TiedRanks | None = None


def find_hits(
    blocks: Iterable[RunColumns],
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    source: Source | None = None,
) -> Hits:
    """Judge a run block by block.

    Parameters
    ----------
    blocks
        Columns of whole queries, or of pieces of large ones (`line_places.stream_queries`).
    judgements
        Which documents matter.
    wanted
        What else the run is read for.
    source
        Where lines of pieces are read again.

    Raises
    ------
    DataError
        If a query retrieves a document twice; names query, document and both lines.
    ScatteredQueryError
        If a query comes in more than one place.
    UndecidedError
        If a query that comes in pieces has to be held.
    """
    seen: set[bytes] = set()
    parts: list[Hits] = []
    pieces = False
    try:
        for large, some in groupby(blocks, _large_query):
            if large is not None:
                pieces = True
                note_queries([large], seen)
                parts.append(_judge_pieces(some, judgements, wanted, source))
                continue
            for block in some:
                ids = block.query.tolist()
                note_queries(ids, seen)
                parts.append(_judge_block(block, ids, judgements, wanted))
                if len(parts) == 1:
                    parts[0] = replace(parts[0], beginning=beginning(block, parts[0].query))
    except (InputError, DataError):
        if pieces:  # which of several errors comes first depends on what is held
            raise UndecidedError from None
        raise
    return join_hits(parts)


def _judge_pieces(
    pieces: Iterable[RunColumns], judgements: Judgements, wanted: Wanted, source: Source | None
) -> Hits:
    """Judge a query that comes in pieces; `UndecidedError` where it has to be held."""
    from ragkpi.ranking.scattered_hits import judge_lines  # most runs have no such query

    slopes = Slopes()
    hits = judge_lines(map(slopes.note, pieces), judgements, wanted, source)
    if hits is None:
        raise UndecidedError
    return replace(hits, beginning=slopes.of_all(hits.beginning))


def _large_query(block: RunColumns) -> bytes | None:
    """Return the query that a block is a piece of, if it is."""
    return None if block.where is None else block.query[0]


def note_queries(ids: list[bytes], seen: set[bytes]) -> None:
    """Add queries to those seen; `ScatteredQueryError` if one is among them."""
    before = len(seen)
    seen.update(ids)
    if len(seen) != before + len(ids):
        raise ScatteredQueryError


def _judge_block(
    block: RunColumns, ids: list[bytes], judgements: Judgements, wanted: Wanted
) -> Hits:
    query = np.array([judgements.index.get(id_, -1) for id_ in ids], dtype=np.int64)
    key = judgements.keys_of(block.document)
    duplicate = find_duplicate(block.starts, block.document, key)
    if duplicate is not None:
        raise duplicate_error(block, duplicate, ids)
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
            if wanted.documents == "counted"
            else np.empty(0, dtype=np.uint64)
        ),
        top=(
            _top(block, query, line, judgement, judgements.ties, wanted.depth)
            if wanted.depth
            else TopDocuments()
        ),
        tied=tied_ranks_of(block, line) if wanted.ties == "kept" else None,
    )


def _top(
    block: RunColumns,
    query: IntArray,
    judged: IntArray,
    judgement: IntArray,
    ties: Ties,
    depth: int,
) -> TopDocuments:
    """Name the documents of judged queries; those in the lines `judged` have a `judgement`."""
    of_line = np.full(len(block.score), -1, dtype=np.int64)
    of_line[judged] = judgement
    query_of_line = query[block.group()]
    rows = np.flatnonzero(query_of_line >= 0)
    rank = ranks_of(block, rows, ties)
    rows, rank = rows[rank <= depth], rank[rank <= depth]
    names = block.document.take(rows).copied()  # the buffer of the block is used again
    return TopDocuments(query_of_line[rows], rank, of_line[rows], names)


def duplicate_error(block: RunColumns, duplicate: tuple[int, int], ids: list[bytes]) -> DataError:
    """Say which document a query retrieves twice, by the two rows that hold it."""
    query = ids[int(np.searchsorted(block.starts, duplicate[0], side="right")) - 1]
    first, second = sorted(int(block.line[row]) for row in duplicate)
    return DataError(
        f"{block.file}:{second}: document "
        f"{named(block.document[duplicate[0]])} of query "
        f"{named(query)} again, first retrieved at line {first}; "
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
        top=TopDocuments(
            query=np.concatenate([part.top.query for part in parts]),
            rank=np.concatenate([part.top.rank for part in parts]),
            judgement=np.concatenate([part.top.judgement for part in parts]),
            document=Tokens.joined([part.top.document for part in parts]),
        ),
        beginning=parts[0].beginning,
        tied=_join_ties([part.tied for part in parts if part.tied is not None]),
    )


def _join_ties(parts: Sequence[TiedRanks]) -> TiedRanks | None:
    return TiedRanks(*map(np.concatenate, zip(*parts, strict=True))) if parts else None
