"""From blocks of a run to its hits: the retrieved documents that are judged, with their ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import numpy as np

from ragkpi.errors import DataError
from ragkpi.formats.groups import rows_of
from ragkpi.formats.identity import DistinctKeys, KeyArray, hash_tokens
from ragkpi.formats.line_places import large_query
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
_NO_KEYS: KeyArray = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, eq=False)
class TopDocuments:
    """The n documents that G judged queries of a run have down to some rank.

    Attributes
    ----------
    query : (G,)
        The queries' numbers in the judgements, in the order of the file.
    starts : (G+1,)
        Query g has the rows ``starts[g]:starts[g + 1]``, by rank from 1.
    document : Tokens, length n
        Their ids.
    """

    query: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    starts: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    document: Tokens = field(default_factory=lambda: Tokens.from_strings([]))

    @property
    def group(self) -> IntArray:
        """The place of each row's query among the G, (n,)."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    @property
    def rank(self) -> IntArray:
        """The 1-based rank of each row, (n,)."""
        return np.arange(len(self.document)) - self.starts[self.group] + 1

    @classmethod
    def joined(cls, parts: Sequence[TopDocuments]) -> TopDocuments:
        """Put those of the parts of one run together."""
        sizes = np.concatenate([np.diff(part.starts) for part in parts])
        return cls(
            np.concatenate([part.query for part in parts]),
            np.concatenate([[0], np.cumsum(sizes)]),
            Tokens.joined([part.document for part in parts]),
        )


NO_NAMES = TopDocuments()


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
    top: TopDocuments = NO_NAMES
    beginning: Beginning = NOTHING
    tied: TiedRanks | None = None

    def rows_of_top(self, judgements: Judgements) -> IntArray:
        """Return the row of each of the H in `top`; -1 for those below it, (H,)."""
        first, size = np.zeros((2, len(judgements.queries)), dtype=np.int64)
        first[self.top.query], size[self.top.query] = self.top.starts[:-1], np.diff(self.top.starts)
        query = judgements.query[self.judgement]
        return np.where(self.rank <= size[query], first[query] + self.rank - 1, -1)


_NONE = np.empty(0, dtype=np.int64)
NOTHING_RETRIEVED = Hits([], _NONE, _NONE, _NONE, _NONE, b"", np.empty(0, dtype=np.uint64))


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
    documents = DistinctKeys()
    for large, some in groupby(blocks, large_query):
        if large is not None:
            note_queries([large], seen)
            hits = _judge_pieces(some, judgements, wanted, source)
            documents.add(hits.documents)
            parts.append(replace(hits, documents=_NO_KEYS))
            continue
        for block in some:
            ids = block.query.tolist()
            note_queries(ids, seen)
            parts.append(_judge_block(block, ids, judgements, wanted))
            if wanted.documents == "counted":
                documents.add(hash_tokens(block.document))
            if len(parts) == 1:
                parts[0] = replace(parts[0], beginning=beginning(block, parts[0].query))
    return replace(join_hits(parts), documents=documents.ascending())


def _judge_pieces(
    pieces: Iterable[RunColumns], judgements: Judgements, wanted: Wanted, source: Source | None
) -> Hits:
    """Judge a query that comes in pieces; `UndecidedError` where it has to be held."""
    from ragkpi.ranking.scattered_hits import judge_lines  # most runs have no such query

    if source is None:
        raise UndecidedError
    slopes = Slopes()
    hits = judge_lines(map(slopes.note, pieces), judgements, wanted, source)
    if hits is None:
        raise UndecidedError
    return replace(hits, beginning=slopes.of_all(hits.beginning))


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
        documents=_NO_KEYS,
        top=(_top(block, query, judgements.ties, wanted.depth) if wanted.depth else NO_NAMES),
        tied=tied_ranks_of(block, line) if wanted.ties == "kept" else None,
    )


def _top(block: RunColumns, query: IntArray, ties: Ties, depth: int) -> TopDocuments:
    """Name the documents of judged queries down to a rank."""
    judged = np.flatnonzero(query >= 0)
    rows, starts = rows_of(block.starts, judged)
    rank = ranks_of(block, rows, ties)
    size = np.diff(starts)
    named = rank <= depth
    starts = np.concatenate([[0], np.cumsum(np.minimum(size, depth))])
    by_rank = np.empty(starts[-1], dtype=np.int64)
    by_rank[(np.repeat(starts[:-1], size) + rank - 1)[named]] = rows[named]
    names = block.document.take(by_rank).copied()  # the buffer of the block is used again
    return TopDocuments(query[judged], starts, names)


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
    parts = [part for part in parts if part.queries]  # a range may be blank lines alone
    if not parts:
        nothing = np.empty(0, dtype=np.int64)
        return Hits([], nothing, nothing, nothing, nothing, b"", _NO_KEYS)
    documents = DistinctKeys()
    for part in parts:
        documents.add(part.documents)
    return Hits(
        queries=[query for part in parts for query in part.queries],
        query=np.concatenate([part.query for part in parts]),
        num_ret=np.concatenate([part.num_ret for part in parts]),
        judgement=np.concatenate([part.judgement for part in parts]),
        rank=np.concatenate([part.rank for part in parts]),
        run_id=parts[-1].run_id,
        documents=documents.ascending(),
        top=TopDocuments.joined([part.top for part in parts]),
        beginning=parts[0].beginning,
        tied=_join_ties([part.tied for part in parts if part.tied is not None]),
    )


def _join_ties(parts: Sequence[TiedRanks]) -> TiedRanks | None:
    return TiedRanks(*map(np.concatenate, zip(*parts, strict=True))) if parts else None
