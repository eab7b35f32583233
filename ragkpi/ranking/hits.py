"""Hits: the judged documents that a run retrieved, as the kernel finds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ragkpi import kernel
from ragkpi.formats import lines, opening
from ragkpi.formats.tokens import HashArray, IntArray, Tokens
from ragkpi.ranking.judgements import Judgements, TiedRanks
from ragkpi.records import NamedTuple, dataclass, field

if TYPE_CHECKING:
    from ragkpi._kernel import Found, Names

DEEPEST = 2**32 - 1
"""A depth below every ranking."""


class Wanted(NamedTuple):
    """What to keep of a run besides its hits.

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
_NO_INTS: IntArray = np.empty(0, dtype=np.int64)
_NO_HASHES: HashArray = np.empty(0, dtype=np.uint64)


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

    query: IntArray = field(default_factory=lambda: _NO_INTS)
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


NO_NAMES = TopDocuments()


class Beginning(NamedTuple):
    """The first lines of a run, where signs of mistakes are looked for.

    Attributes
    ----------
    documents
        The number of the query in the judgements, and a document's id; of judged queries.
    rising, ordered
        How many rankings have scores that only rise from line to line, and how many have
        different scores at all.
    """

    documents: list[tuple[int, bytes]]
    rising: int
    ordered: int


NO_BEGINNING = Beginning([], 0, 0)


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
        The names of documents down to the depth that was asked for.
    beginning
        The first lines, for doubts.
    tied
        The ranks that each hit shares with equal scores, (H,); None if not asked for.
    """

    queries: list[bytes]
    query: IntArray
    num_ret: IntArray
    judgement: IntArray
    rank: IntArray
    run_id: bytes
    documents: HashArray = field(default_factory=lambda: _NO_HASHES)
    top: TopDocuments = NO_NAMES
    beginning: Beginning = NO_BEGINNING
    tied: TiedRanks | None = None

    def rows_of_top(self, judgements: Judgements) -> IntArray:
        """Return the row of each hit in `top`; -1 for hits below it, (H,)."""
        first, size = np.zeros((2, len(judgements.queries)), dtype=np.int64)
        first[self.top.query], size[self.top.query] = self.top.starts[:-1], np.diff(self.top.starts)
        query = judgements.query[self.judgement]
        return np.where(self.rank <= size[query], first[query] + self.rank - 1, -1)


NOTHING_RETRIEVED = Hits([], _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, b"")


def run_for(judgements: Judgements, wanted: Wanted, held: bool, **treatment: Any) -> kernel.Run:
    """Return a kernel that judges the run pushed into it; `treatment` changes its documents."""
    return kernel.Run(
        judgements.documents,
        ascending=judgements.ties == "ascending",
        keep_ties=wanted.ties == "kept",
        depth=min(wanted.depth, DEEPEST),
        count_documents=wanted.documents == "counted",
        held=held,
        most_held=opening.MOST_HELD,
        longest_line=lines.LONGEST_LINE,
        **treatment,
    )


def hits_of(run: kernel.Run, found: Found, run_id: bytes) -> Hits:
    """Return the hits of a run that the kernel has finished."""
    of_sample = np.frombuffer(found["sample_query"], np.int64).tolist()
    ties = (np.frombuffer(found[end], np.int64) for end in ("tied_first", "tied_last"))
    hashes = found["documents"]
    return Hits(
        queries=found["queries"],
        query=np.frombuffer(found["query"], np.int64),
        num_ret=np.frombuffer(found["num_ret"], np.int64),
        judgement=np.frombuffer(found["judgement"], np.int64),
        rank=np.frombuffer(found["rank"], np.int64),
        run_id=run_id,
        documents=np.sort(np.frombuffer(hashes, np.uint64)) if hashes else _NO_HASHES,
        top=_top(run.take_names()),
        beginning=Beginning(list(zip(of_sample, found["sample"], strict=True)), *found["slopes"]),
        tied=TiedRanks(*ties) if found["tied_first"] else None,
    )


def _top(names: Names) -> TopDocuments:
    if not names["query"]:
        return NO_NAMES
    ends = np.frombuffer(names["ends"], np.int64)
    return TopDocuments(
        np.frombuffer(names["query"], np.int64),
        np.append(0, np.cumsum(np.frombuffer(names["size"], np.int64))),
        Tokens(np.frombuffer(names["text"], np.uint8), np.append(0, ends)[:-1], ends),
    )


def join_hits(parts: Sequence[Hits]) -> Hits:
    """Join the hits of the parts of a run, in the order of the file."""
    if not parts:
        return NOTHING_RETRIEVED
    return Hits(
        queries=[query for part in parts for query in part.queries],
        query=np.concatenate([part.query for part in parts]),
        num_ret=np.concatenate([part.num_ret for part in parts]),
        judgement=np.concatenate([part.judgement for part in parts]),
        rank=np.concatenate([part.rank for part in parts]),
        run_id=parts[-1].run_id,
    )
