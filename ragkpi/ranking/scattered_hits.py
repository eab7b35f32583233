"""The hits of lines that are not held, of interleaved or large queries: 20 bytes a line.

Of each line two numbers are kept, its query with its score and a hash of its query with its
document, and the byte where it begins. Sorted, the first give the ranks and the second whether any
document is there twice. What they leave open is read again, and decided by all bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ragkpi.formats.identity import SPREAD, DistinctKeys, KeyArray, distinct, hash_tokens
from ragkpi.formats.line_places import KeptLines, lines_at, stream_lines
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.ranking.doubts import NOTHING, Beginning, beginning
from ragkpi.ranking.hits import Hits, Wanted
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.order import TiedRanks, ranks_of, tied_ranks_of
from ragkpi.ranking.scattered import number_ids, regroup_run

if TYPE_CHECKING:
    import numpy.typing as npt

# A query's number in the first bits of a key, and in the rest the first bits of its score.
_QUERY_BITS = 20
_SCORE_BITS = 64 - _QUERY_BITS
_SIGN = np.uint64(1 << 63)
_LINES_AT_ONCE = 1 << 15
# Each line is a group of its own here, with more temporary arrays: a smaller block fits the cache.
_BLOCK_SIZE = 1 << 19
_MARKED_BITS = 16
_GROWTH = 16

Number = TypeVar("Number", bound=np.generic)


def find_scattered_hits(source: Source, judgements: Judgements, wanted: Wanted) -> Hits | None:
    """Judge a plain TREC run whose lines stand in any order, from its beginning.

    Parameters and result are those of `judge_lines`.
    """
    return judge_lines(stream_lines(source, block_size=_BLOCK_SIZE), judgements, wanted, source)


def judge_lines(
    blocks: Iterable[RunColumns],
    judgements: Judgements,
    wanted: Wanted,
    source: Source,
) -> Hits | None:
    """Judge lines that stand in any order.

    Parameters
    ----------
    blocks
        All lines of some queries, with the bytes where they begin.
    judgements, wanted
        As for `find_hits`.
    source
        What the lines are read from, and again if it is a plain file. Of others their documents
        and scores are kept.

    Returns
    -------
    Hits or None
        None where the whole text has to be held: a document seems to be there twice, or the names
        of documents are wanted.
    """
    if wanted.depth:
        return None
    lines = _Lines(judgements, wanted, source)
    for columns in blocks:
        lines.add(columns)
    if len(lines.queries) >= 1 << _QUERY_BITS or lines.have_duplicates():
        return None
    return lines.hits()


class _Lines:
    """What is kept of the n lines of a run."""

    def __init__(self, judgements: Judgements, wanted: Wanted, source: Source) -> None:
        self._judgements, self._wanted, self._source = judgements, wanted, source
        self._kept = KeptLines() if source.size is None else None
        self.queries: dict[bytes, int] = {}  # their numbers, as they first appear
        self._table = _numbers_of([])  # which finds most of them
        self._judged = np.empty(0, dtype=np.int64)  # by number, the query in the judgements
        self._count = 0
        self._key = np.empty(0, dtype=np.uint64)
        self._pair = np.empty(0, dtype=np.uint64)
        self._where = np.empty(0, dtype=np.uint32)  # behind the first line of the block
        self._blocks: list[tuple[int, int]] = []  # the first line of each and where it begins
        self._hits: list[tuple[IntArray, IntArray, KeyArray]] = []  # line, judgement, key
        self._documents = DistinctKeys()
        self._beginning: Beginning = NOTHING
        self._run_id = b""

    def add(self, columns: RunColumns) -> None:
        """Take the lines of a block."""
        where = cast(IntArray, columns.where)
        if not self._count:
            first = columns if len(columns.query) == 1 else next(regroup_run([columns]))
            judged = [self._judgements.index.get(query, -1) for query in first.query]
            self._beginning = beginning(first, np.array(judged, dtype=np.int64))
        rows = slice(self._count, self._count + len(where))
        if rows.stop > len(self._key):
            self._make_room(rows.stop, int(where[-1]) + 1)
        number = self._number(columns.query)
        of_line = np.repeat(number.astype(np.uint64), np.diff(columns.starts))
        hashes = hash_tokens(columns.document)
        self._pair[rows] = hashes ^ (of_line + np.uint64(1)) * SPREAD
        of_line <<= np.uint64(_SCORE_BITS)
        of_line |= _falling(columns.score)
        self._key[rows] = of_line
        self._where[rows] = where - where[0]
        self._blocks.append((self._count, int(where[0])))
        line, judgement = self._judgements.find(
            self._judged[number],
            columns.starts,
            columns.document,
            self._judgements.keys_of(columns.document),
        )
        self._hits.append((line + self._count, judgement, of_line[line]))
        if self._wanted.documents == "counted":
            self._documents.add(hashes)
        self._count = rows.stop
        self._run_id = columns.run_id
        if self._kept is not None:
            self._kept.keep(columns)

    def _make_room(self, count: int, read: int) -> None:
        """Make room for what follows `count` lines: the file, where lines are like those read.

        Not for all of a long one at once, because a query may end soon.
        """
        most = _GROWTH * count
        if self._source.size is not None:
            first = self._blocks[0][1] if self._blocks else 0
            like = int(1.1 * (self._source.size - first) * count / (read - first))
            most = max(count, min(most, like))
        self._key, self._pair = _longer(self._key, most), _longer(self._pair, most)
        self._where = _longer(self._where, most)

    def _number(self, query: Tokens) -> IntArray:
        """Return the number of each query, (G,), as they first appear; new ones are added."""
        number = self._found(query)
        rest = np.flatnonzero(number < 0)
        if len(rest):
            among_rest, representative = number_ids(query.take(rest))
            ids = query.take(rest[representative]).tolist()
            every = self.queries
            numbers = [every.setdefault(id_, len(every)) for id_ in ids]
            number[rest] = np.array(numbers)[among_rest]
            new = [
                id_ for id_, of_id in zip(ids, numbers, strict=True) if of_id >= len(self._judged)
            ]
            judged = [self._judgements.index.get(id_, -1) for id_ in new]
            self._judged = np.append(self._judged, np.array(judged, dtype=np.int64))
        return number

    def _found(self, query: Tokens) -> IntArray:
        """Return the numbers that are found at once, -1 for other queries, (G,)."""
        number = np.full(len(query), -1, dtype=np.int64)
        if len(query) == 1:  # a large query
            number[0] = self.queries.get(query[0], -1)
            return number
        if len(self.queries) > 2 * len(self._table.level):  # new ones are found one by one
            self._table = _numbers_of(self.queries)
        starts = np.array([0, len(query)])
        key = self._table.keys_of(query)
        row, known = self._table.find(np.zeros(1, dtype=np.int64), starts, query, key)
        number[row] = known
        return number

    def have_duplicates(self) -> bool:
        """Say whether two lines may have the same query and document."""
        pairs = self._pair[: self._count]
        pairs.sort()
        return bool((pairs[1:] == pairs[:-1]).any())

    def hits(self) -> Hits:
        """Rank the judged lines."""
        ordered = self._pair[: self._count]  # which have told what they had to tell
        ordered[:] = self._key[: self._count]
        ordered.sort()
        line, judgement, key = map(np.concatenate, zip(*self._hits, strict=True))
        numbers = np.arange(len(self.queries) + 1, dtype=np.uint64) << np.uint64(_SCORE_BITS)
        starts = np.searchsorted(ordered, numbers)
        query = (key >> np.uint64(_SCORE_BITS)).astype(np.int64)
        first = np.searchsorted(ordered, key) - starts[query] + 1
        last = np.searchsorted(ordered, key, side="right") - starts[query]
        rank, tied = first.copy(), TiedRanks(first, last)
        shared = np.flatnonzero(last > first)
        if len(shared):
            keys = distinct(key[shared])
            sizes = np.searchsorted(ordered, keys, side="right") - np.searchsorted(ordered, keys)
            equals = self._with_keys(keys)
            if self._kept is None:
                again = lines_at(self._source, self._places(equals))
            else:
                again = self._kept.at(equals)
            columns = RunColumns(
                self._source.name,
                Tokens.from_strings([b""] * len(keys)),  # groups of lines that look tied
                np.append(0, np.cumsum(sizes)),
                again.document,
                again.score,
                equals,
                self._run_id,
            )
            by_line = np.argsort(equals)
            rows = by_line[np.searchsorted(equals[by_line], line[shared])]
            rank[shared] += ranks_of(columns, rows, self._judgements.ties) - 1
            if self._wanted.ties == "kept":
                among = tied_ranks_of(columns, rows)
                tied.last[shared] = first[shared] + among.last - 1
                tied.first[shared] += among.first - 1
        return Hits(
            queries=list(self.queries),
            query=self._judged,
            num_ret=np.diff(starts),
            judgement=judgement,
            rank=rank,
            run_id=self._run_id,
            documents=self._documents.ascending(),
            beginning=self._beginning,
            tied=tied if self._wanted.ties == "kept" else None,
        )

    def _with_keys(self, keys: KeyArray) -> IntArray:
        """Return the lines that have one of some keys, by key."""
        marked = np.zeros(1 << _MARKED_BITS, dtype=np.bool_)
        marked[_mark(keys)] = True
        lines = np.concatenate(
            [
                first + np.flatnonzero(marked[_mark(self._key[first : first + _LINES_AT_ONCE])])
                for first in range(0, self._count, _LINES_AT_ONCE)
            ]
        )
        lines = lines[lines < self._count]
        which = np.searchsorted(keys, self._key[lines])
        same = keys[np.minimum(which, len(keys) - 1)] == self._key[lines]
        lines, which = lines[same], which[same]
        by_key: IntArray = lines[np.argsort(which, kind="stable")]
        return by_key

    def _places(self, lines: IntArray) -> IntArray:
        """Return the bytes where some lines begin."""
        first_line, begin = np.array(self._blocks).T
        block = np.searchsorted(first_line, lines, side="right") - 1
        places: IntArray = begin[block] + self._where[lines]
        return places


def _mark(keys: KeyArray) -> KeyArray:
    marks: KeyArray = keys * SPREAD >> np.uint64(64 - _MARKED_BITS)
    return marks


def _longer(array: npt.NDArray[Number], length: int) -> npt.NDArray[Number]:
    """Return an array with room for more; memory that is not written to costs nothing."""
    longer = np.empty(length, dtype=array.dtype)
    longer[: len(array)] = array
    return longer


def _numbers_of(queries: Collection[bytes]) -> Judgements:
    """Make queries look like the judged documents of one query: those are found fast."""
    count = len(queries)
    return Judgements(
        file="",
        queries=[b""],
        starts=np.array([0, count]),
        document=Tokens.from_strings(queries),
        level=np.zeros(count, dtype=np.int64),
        index={b"": 0},
    )


def _falling(score: FloatArray) -> KeyArray:
    """Return the first bits of scores as numbers that rise as scores fall; 0 and -0 are equal."""
    bits = (score + 0.0).view(np.uint64)
    rising = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    key: KeyArray = ~rising >> np.uint64(_QUERY_BITS)
    return key
