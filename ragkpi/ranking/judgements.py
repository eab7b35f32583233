"""`Judgements`: qrels grouped by query, with a table that finds a judged document by its id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ragkpi.errors import DataError
from ragkpi.formats.groups import group_starts, rows_of, spans
from ragkpi.formats.identity import SPREAD, KeyArray, distinct, equal_tokens, hash_tokens, tail_keys
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns, fractional
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.order import Ties
from ragkpi.records import dataclass, field, replace
from ragkpi.wording import named

_FEWEST_SLOTS = 64
_SAMPLE = 1 << 15
_LONGEST_CHAIN = 64
_ROWS_AT_ONCE = 1 << 16  # their slots fit the cache


def spelling_of(document: str) -> str:
    """Return a document's id without case, white space, leading zeros and what follows a ``#``.

    Ids that do not agree in this are not spelt alike; `ragkpi.ranking.spelling` says which are.
    """
    return "".join(document.partition("#")[0].lower().split()).lstrip("0")


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judged documents of Q queries, J rows ordered by query.

    Attributes
    ----------
    file
        What messages call the qrels.
    queries : list of bytes, length Q
        In byte order.
    starts : (Q+1,)
        The rows of query q are ``starts[q]:starts[q + 1]``.
    document, level : length J
        The judged document and its level; negative: in the pool but unjudged.
    ties
        How documents with equal scores are ranked by their ids.
    gain : (J,) or None
        What each document is worth, where qrels with fractional levels say that alone: `level` is
        0 for all judged documents then.
    first_fraction
        The line of the first fractional level, and that level.
    """

    file: str
    queries: list[bytes]
    starts: IntArray
    document: Tokens
    level: IntArray
    index: dict[bytes, int] = field(repr=False)
    ties: Ties = "descending"
    gain: FloatArray | None = None
    first_fraction: tuple[int, float] = (0, 0.0)

    def refuse_gains(self, who: str) -> None:
        """Raise `InputError` if there are gains and no levels, which somebody needs."""
        if self.gain is not None:
            raise fractional(self.file, *self.first_fraction, who)

    @cached_property
    def query(self) -> IntArray:
        """The query of each row, (J,)."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    @cached_property
    def tails(self) -> KeyArray:
        """`tail_keys` of the documents, (J,)."""
        return tail_keys(self.document)

    @property
    def keys_of(self) -> Callable[[Tokens], KeyArray]:
        """How documents are told apart before their bytes are compared."""
        return self._slots.keys_of

    @cached_property
    def _slots(self) -> _SlotTable:
        """The table that `find` uses.

        The last eight bytes tell most collections' ids apart and cost one look; where they do
        not (URLs that end alike, or ids made for this), a hash of all bytes is worth its price.
        """
        sample = slice(0, _SAMPLE)
        tails = self.tails[sample] ^ self.query[sample].astype(np.uint64) * SPREAD
        if len(distinct(tails)) >= 0.95 * len(tails):
            table = _SlotTable(self, tail_keys, _LONGEST_CHAIN)
            if table.is_complete:
                return table
        return _SlotTable(self, hash_tokens, None)

    @cached_property
    def _texts(self) -> dict[int, dict[str, int]]:
        return {}

    def rows_by_text(self, query: int) -> dict[str, int]:
        """Return the rows of a query by their document's id as a text."""
        known = self._texts.get(query)
        if known is None:
            first, last = int(self.starts[query]), int(self.starts[query + 1])
            ids = self.document.take(slice(first, last))
            known = {id_.decode("utf-8", "surrogateescape"): first + n for n, id_ in enumerate(ids)}
            self._texts[query] = known
        return known

    @cached_property
    def _spellings(self) -> dict[int, frozenset[str]]:
        return {}

    def spellings(self, query: int) -> frozenset[str]:
        """Return the documents of a query as `spelling_of` has them."""
        known = self._spellings.get(query)
        if known is None:
            known = frozenset(map(spelling_of, self.rows_by_text(query)))
            self._spellings[query] = known
        return known

    def places_among(self, queries: Sequence[bytes]) -> IntArray:
        """Return where each query stands among some of them, -1 for those that do not, (Q,)."""
        places = np.full(len(self.queries), -1, dtype=np.int64)
        places[[self.index[query] for query in queries]] = np.arange(len(queries))
        return places

    def of_queries(self, numbers: Sequence[int]) -> Judgements:
        """Return the judgements of some queries, in the order of these numbers."""
        bounds = [(int(self.starts[number]), int(self.starts[number + 1])) for number in numbers]
        rows = np.concatenate([np.arange(first, last) for first, last in bounds])
        queries = [self.queries[number] for number in numbers]
        return replace(
            self,
            queries=queries,
            starts=np.cumsum([0, *(last - first for first, last in bounds)]),
            document=self.document.take(rows),
            level=self.level[rows],
            index={query: number for number, query in enumerate(queries)},
        )

    def prepare(self) -> None:
        """Build the table that `find` uses, if it is not there yet."""
        _ = self._slots

    def find(
        self, query: IntArray, starts: IntArray, document: Tokens, key: KeyArray
    ) -> tuple[IntArray, IntArray]:
        """Return which of n documents are judged for their query, and in which rows here.

        Parameters
        ----------
        query, starts : (G,), (G+1,)
            Documents ``starts[g]:starts[g + 1]`` are asked for query number ``query[g]`` here;
            -1: not judged at all.
        document, key : length n
            The documents and their `keys_of`.
        """
        return self._slots.find(query, starts, document, key)


class _SlotTable:
    """For each query a power of two of slots, holding the first judgement that falls there.

    Lines of a query stand together, so the small table of one query stays in the cache while its
    lines are looked up. A slot only names a candidate; bytes decide.
    """

    def __init__(
        self,
        judgements: Judgements,
        keys_of: Callable[[Tokens], KeyArray],
        longest_chain: int | None,
    ) -> None:
        self._judgements = judgements
        self._length = judgements.document.end - judgements.document.start
        # Ids of up to eight bytes are in the key as a whole.
        self._short = keys_of is tail_keys and self._length.max(initial=0) <= 8
        self.keys_of = keys_of
        known = keys_of is tail_keys
        self._key = judgements.tails if known else keys_of(judgements.document)
        counts = np.diff(judgements.starts)
        bits = np.ceil(np.log2(np.maximum(_FEWEST_SLOTS, 4 * counts))).astype(np.int64)
        size = 1 << bits
        # One more "query" with a single empty slot serves documents of unjudged queries. The
        # first bits of a product are the mixed ones; a shift by all 64 leaves none.
        self._shift = np.append(64 - bits, 64).astype(np.uint64)
        self._base = np.concatenate([[0], np.cumsum(size)])
        # Rows, or -1 for none; 32 bits, so that twice as many slots stay in the cache.
        self._first = np.full(self._base[-1] + 1, -1, dtype=np.int32)
        self._next = np.full(len(self._key), -1, dtype=np.int32)
        # Whether no slot has more rows than `longest_chain`: else looking up takes ages.
        self.is_complete = all(
            self._insert(first, last, longest_chain)
            for first, last in spans(judgements.starts, _ROWS_AT_ONCE)
        )

    def _slot(self, query: IntArray, starts: IntArray, key: KeyArray) -> IntArray:
        sizes = np.diff(starts)
        mixed = key * SPREAD
        mixed >>= np.repeat(self._shift[query], sizes)
        slot = mixed.view(np.int64)
        slot += np.repeat(self._base[query], sizes)
        return slot

    def _insert(self, first: int, last: int, most: int | None) -> bool:
        """Chain the rows of each slot of some queries; say whether it took `most` rounds or less.

        The scatter's last writer of every round goes in front.
        """
        starts = self._judgements.starts[first : last + 1]
        begin, end = int(starts[0]), int(starts[-1])
        slot = self._slot(np.arange(first, last), starts, self._key[begin:end])
        rows = np.arange(begin, end, dtype=np.int32)
        rounds = 0
        while len(rows):
            if rounds == most:
                return False
            rounds += 1
            before = self._first[slot]
            self._first[slot] = rows
            winner = self._first[slot] == rows
            self._next[rows[winner]] = before[winner]
            rows, slot = rows[~winner], slot[~winner]
        return True

    def find(
        self, query: IntArray, starts: IntArray, document: Tokens, key: KeyArray
    ) -> tuple[IntArray, IntArray]:
        candidate = self._first[self._slot(query, starts, key)]
        line = np.flatnonzero(candidate >= 0)
        row = candidate[line]
        lines, rows = [line[:0]], [row[:0]]
        while len(line):
            alike = self._key[row] == key[line]
            lines.append(line[alike])
            rows.append(row[alike])
            row = self._next[row]
            going_on = row >= 0
            line, row = line[going_on], row[going_on]
        line, row = np.concatenate(lines), np.concatenate(rows).astype(np.int64)
        if self._short:
            same = document.end[line] - document.start[line] == self._length[row]
        else:
            same = equal_tokens(document, line, self._judgements.document, row)
        return line[same], row[same]


def group_judgements(columns: QrelsColumns) -> Judgements:
    """Group qrels by query, in byte order; a document judged twice for a query is refused.

    Raises
    ------
    DataError
        Naming both lines, the query and the document.
    """
    starts = group_starts(columns.query)
    group_ids = columns.query.take(starts[:-1]).tolist()
    queries = sorted(set(group_ids))
    index = {query: number for number, query in enumerate(queries)}
    numbers = np.array([index[query] for query in group_ids], dtype=np.int64)
    document, level, line, gain = columns.document, columns.level, columns.line, columns.gain
    sizes = np.bincount(numbers, weights=np.diff(starts), minlength=len(queries))
    bounds = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])
    if (np.diff(numbers) < 0).any():
        order, _ = rows_of(starts, np.argsort(numbers, kind="stable"))
        document, level, line = document.take(order), level[order], line[order]
        gain = None if gain is None else gain[order]
    judgements = Judgements(columns.file, queries, bounds, document, level, index)
    duplicate = find_duplicate(bounds, document, judgements.tails)
    if duplicate is not None:
        first, second = sorted(int(line[row]) for row in duplicate)
        row = duplicate[0]
        document_id = named(document[row])
        query_id = named(queries[judgements.query[row]])
        raise DataError(
            f"{columns.file}:{second}: document {document_id} of query {query_id} again, first "
            f"judged at line {first}; expected one judgement of each document per query"
        )
    if columns.gain is None or gain is None:
        return judgements
    row = columns.fractional_row
    first_fraction = int(columns.line[row]), float(columns.gain[row])
    return replace(judgements, gain=gain, first_fraction=first_fraction)
