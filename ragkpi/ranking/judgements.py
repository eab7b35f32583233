"""`Judgements`: qrels grouped by query, in which the kernel looks up documents by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from ragkpi import kernel
from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import DataError
from ragkpi.files.inputs import new_sha256
from ragkpi.files.lines import Tokens, rows_of
from ragkpi.files.trec import LEVELS, Origin, QrelsColumns, fractional, levels_of
from ragkpi.interface import spell
from ragkpi.wording import decoded, named, named_apart, without_form

IdOrder = Literal["descending", "ascending"]
"""The order of ids among documents with equal scores."""


class TiedRanks(NamedTuple):
    """The first and last rank that a document shares with equal scores, (n,) each."""

    first: IntArray
    last: IntArray


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judged documents of Q queries, J rows ordered by query."""

    file: str  # the name of the qrels in messages
    queries: list[bytes]  # in byte order
    starts: IntArray  # (Q+1,), the rows of query q are starts[q]:starts[q + 1]
    document: Tokens
    level: IntArray  # negative: in the pool but unjudged
    index: dict[bytes, int] = field(repr=False)
    ties: IdOrder = "descending"  # the order of ids among documents with equal scores
    gain: FloatArray | None = None  # (J,), in qrels with fractional levels; `level` is then 0
    first_fraction: tuple[int, float] = (0, 0.0)  # the first fractional level, with its line
    origin: Origin = LEVELS

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "documents"}

    @cached_property
    def sha256(self) -> str:
        """A hash of queries, documents and levels, for qrels without a file."""
        digest = new_sha256()
        values = self.level if self.gain is None else self.gain
        ids = b"\n".join(self.queries), b"\n".join(self.document)
        for octets in (*ids, self.starts.tobytes(), values.tobytes()):
            digest.update(b"%d\n%b" % (len(octets), octets))
        return str(digest.hexdigest())

    def refuse_gains(self, who: str) -> None:
        """Raise `InputError` if gains replace the levels, which `who` needs."""
        if self.gain is not None:
            raise fractional(self.file, *self.first_fraction, who)

    @cached_property
    def query(self) -> IntArray:
        """The query of each row, (J,)."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    @cached_property
    def documents(self) -> kernel.Documents:
        return kernel.Documents(self.queries, self.starts.astype(np.int64), self.document.column)

    def places_among(self, queries: Sequence[bytes]) -> IntArray:
        """Return the index of each query in `queries`, or -1, (Q,)."""
        places = np.full(len(self.queries), -1, dtype=np.int64)
        places[[self.index[query] for query in queries]] = np.arange(len(queries))
        return places

    def of_queries(self, numbers: IntArray) -> Judgements:
        rows, starts = rows_of(self.starts, numbers)
        queries = [self.queries[number] for number in numbers.tolist()]
        return replace(
            self,
            queries=queries,
            starts=starts,
            document=self.document.take(rows),
            level=self.level[rows],
            index={query: number for number, query in enumerate(queries)},
            gain=None if self.gain is None else self.gain[rows],
        )

    def _rows_for(self, query: IntArray) -> IntArray:
        """Return the rows of some queries, -1 for none; np.unique would import np.ma."""
        rows, _ = rows_of(self.starts, np.flatnonzero(np.bincount(query[query >= 0])))
        return rows

    def find(
        self, query: IntArray, starts: IntArray, document: Tokens
    ) -> tuple[IntArray, IntArray]:
        """Find judged documents among n documents; return their indices and their rows here.

        Documents ``starts[g]:starts[g + 1]`` belong to query number ``query[g]`` of these
        judgements; -1 is an unjudged query.
        """
        rows = self._rows_for(query)
        group = np.concatenate([self.query[rows], np.repeat(query, np.diff(starts))])
        first = Tokens.joined([self.document.take(rows), document]).first_rows(group)[len(rows) :]
        line = np.flatnonzero(first < len(rows))
        return line, rows[first[line]]

    def meant(self, query: IntArray, document: Tokens) -> IntArray:
        """Return the row of the judged document with a similar spelling for n documents, (n,).

        `query`, (n,), is as in `find`. -1 means that there is none, or that the document is judged.
        """
        rows = self._rows_for(query)[::-1]  # the last one of similar spellings wins
        judged = self.document.take(rows)

        def same(judged: Tokens, retrieved: Tokens) -> IntArray:
            group = np.concatenate([self.query[rows], query])
            first = Tokens.joined([judged, retrieved]).first_rows(group)[len(rows) :]
            return np.append(rows, -1)[np.minimum(first, len(rows))]

        similar = np.full(len(query), -1)
        unjudged = np.flatnonzero(same(judged, document) < 0)
        if len(unjudged):
            query, document = query[unjudged], document.take(unjudged)
            alike = same(_mapped(_head, judged), document)
            for row in (
                same(judged, _mapped(_head, document)),
                same(_mapped(plain, judged), _mapped(plain, document)),
            ):
                alike = np.where(row >= 0, row, alike)
            similar[unjudged] = alike
        return similar


def group_judgements(columns: QrelsColumns) -> Judgements:
    """Group qrels by query, in byte order; `DataError` for a document judged twice for a query."""
    starts = columns.query.changes()
    group_ids = columns.query.take(starts[:-1]).tolist()
    queries = sorted({*group_ids, *columns.empty})
    index = {query: number for number, query in enumerate(queries)}
    numbers = np.array([index[query] for query in group_ids], dtype=np.int64)
    document, level, line, gain = columns.document, columns.level, columns.line, columns.gain
    sizes = np.bincount(numbers, weights=np.diff(starts), minlength=len(queries))
    bounds = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])
    if (np.diff(numbers) < 0).any():
        order, _ = rows_of(starts, np.argsort(numbers, kind="stable"))
        document, level, line = document.take(order), level[order], line[order]
        gain = None if gain is None else gain[order]
    judgements = Judgements(
        columns.file, queries, bounds, document, level, index, origin=columns.origin
    )
    first_row = document.first_rows(judgements.query)
    again = np.flatnonzero(first_row != np.arange(len(first_row)))
    if len(again):
        row = int(again[0])
        first, second = sorted((int(line[first_row[row]]), int(line[row])))
        document_id = named(document[row])
        query_id = named(queries[judgements.query[row]])
        text = (
            f"{columns.file}:{second}: document {document_id} of query {query_id} again, first "
            f"judged at line {first}"
        )
        of_both = np.isin(columns.line, [first, second])
        if len(apart := {*columns.iteration.take(np.flatnonzero(of_both)).tolist()}) > 1:
            several = " and ".join(map(named, sorted(apart)))
            text += f"; the second column, {several}, tells subtopics or judges apart"
        expected = "expected one judgement of each document per query"
        advice = "'ragkpi check QRELS RUN' names all and says how to fold them"
        raise DataError(f"{text}; {expected}; {advice}")
    if columns.gain is None or gain is None:
        return judgements
    row = columns.fractional_row
    first_fraction = int(columns.line[row]), float(columns.gain[row])
    return replace(judgements, gain=gain, first_fraction=first_fraction)


Fold = Literal["max", "mean", "last"]
"""The level of a document that is judged several times for a query."""


def repeated_rows(columns: QrelsColumns) -> tuple[IntArray, IntArray]:
    """Return the rows that judge a document again for its query, and the first rows."""
    first = columns.document.first_rows(columns.query.first_rows())
    repeated = np.flatnonzero(first != np.arange(len(first)))
    return repeated, first[repeated]


def folded(columns: QrelsColumns, fold: Fold) -> QrelsColumns:
    """Return qrels that judge a document once per query; `InputError` if a mean is not a level."""
    first = columns.document.first_rows(columns.query.first_rows())
    number = columns.level.astype(np.float64) if columns.gain is None else columns.gain.copy()
    if fold == "mean":
        number = (np.bincount(first, number) / np.maximum(np.bincount(first), 1))[first]
    else:
        for row in np.flatnonzero(first != np.arange(len(first))).tolist():
            above = number[first[row]] if fold == "max" else -np.inf
            number[first[row]] = max(above, number[row])
    rows = np.flatnonzero(first == np.arange(len(first)))
    level, gain = levels_of(number[rows])
    folded = columns._replace(
        query=columns.query.take(rows),
        iteration=columns.iteration.take(rows),
        document=columns.document.take(rows),
        level=level,
        line=columns.line[rows],
        gain=gain,
    )
    return folded if columns.gain is not None else folded.read_as("levels")


JUDGES_NOTHING = "the qrels judge no document"  # all levels are negative
OF_QUERIES = "only by case, whitespace, leading zeros or Unicode normal form"
OF_DOCUMENTS = "only by case, whitespace, leading zeros, Unicode normal form or the part after #"


def plain(id_: bytes) -> bytes:
    """Return an id in lower case and Unicode normal form, without whitespace and leading zeros."""
    if not id_.isascii():
        id_ = without_form(decoded(id_)).encode("utf-8", "surrogateescape")
    return b"".join(id_.lower().split()).lstrip(b"0")


def _head(id_: bytes) -> bytes:
    """Return an id up to its first ``#``."""
    return id_.split(b"#", 1)[0] or id_


def _mapped(spelling: Callable[[bytes], bytes], ids: Tokens) -> Tokens:
    return Tokens.from_strings(map(spelling, ids))


def queries_meant(judged: Iterable[bytes], unknown: Iterable[bytes]) -> dict[bytes, bytes]:
    """Map unjudged queries to judged queries with similar spelling."""
    unknown = list(unknown)
    by_spelling = {plain(query): query for query in judged} if unknown else {}
    return {query: by_spelling[plain(query)] for query in unknown if plain(query) in by_spelling}


_SEPARATOR = re.compile(rb"[-_.:/#@]")
_LOOKED_AT = 100  # ids


def longer_and_shorter(
    judged: Collection[bytes], unknown: Iterable[bytes]
) -> tuple[bytes, bytes] | None:
    """Return an id of the run and a judged id that differ only by a part of one of them.

    The part is before or behind a separator: ``2024-1.1`` and ``2024-1``, ``en/q1`` and ``q1``.
    """
    ids = set(judged)
    shortened: dict[bytes, bytes] = {}
    for one in list(judged)[:_LOOKED_AT]:
        shortened |= dict.fromkeys(_parts(one), one)
    for one in list(unknown)[:_LOOKED_AT]:
        for part in _parts(one):
            if part in ids:
                return one, part
        if one in shortened:
            return one, shortened[one]
    return None


def _parts(id_: bytes) -> Iterator[bytes]:
    for match in _SEPARATOR.finditer(id_):
        yield from (id_[: match.start()], id_[match.end() :])


def other_queries(judged: Sequence[bytes], unknown: Sequence[bytes]) -> str:
    """Say how the queries of a run differ from all judged queries, and what to do."""
    if pair := longer_and_shorter(judged, unknown):
        mine, theirs = map(named, pair)
        return f"ids differ by a part, {mine} in the run, {theirs} in the qrels: rename one of them"
    if similar := queries_meant(judged, unknown):
        mine, theirs = named_apart(*next(iter(similar.items())))
        return f"ids differ {OF_QUERIES}, {mine} in the run, {theirs} in the qrels: rename them"
    return (
        f"for texts or places of queries, give {spell('queries', 'FILE')} with an id, a tab and a "
        "text on each line"
    )
