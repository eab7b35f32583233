"""The reading kernel in plain Python: it turns bytes of runs and qrels into plain arrays.

Start here to learn how ragkpi reads a run. `ragkpi/_kernel.c` does the same 4 to 20 times as fast,
if a compiler was available; tests compare the two hit by hit.

The caller pushes a run into the kernel in blocks. The kernel collects the lines of a query until
another query begins. Then it puts the documents into a dictionary, which finds duplicates, and
looks up the judged documents there. The rank of each is 1 plus the number of documents with a
higher score, or with the same score and a larger id, as in trec_eval. If a query returns after
another query began, the kernel refuses it as "scattered". The caller then reads the run again with
``held=True``, and the kernel judges all queries at the end.

All numbers in results have 64 bits. Offsets are in bytes from 0, rows count from 0, ranks and
lines from 1.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from math import nan
from threading import Lock
from typing import Any

Buffer = Any  # bytes, bytearray, memoryview or an array of numpy
Column = tuple[Buffer, Buffer, Buffer]
"""A column of ids: id i is ``text[start[i]:end[i]]``."""

_LOOKED_AT_ROWS, _LOOKED_AT_QUERIES, _LOOKED_AT_DOCUMENTS = 2000, 20, 10


class RefusedError(ValueError):
    """A refusal, with kind, line, first line, query and text as `args`."""


def _ints(values: Iterable[int]) -> bytearray:
    return bytearray(array("q", values).tobytes())


def _numbers(values: Buffer, kind: str = "q") -> list[Any]:
    numbers = array(kind)
    numbers.frombytes(bytes(memoryview(values)))
    return numbers.tolist()


def _strings(column: Column) -> list[bytes]:
    text, start, end = column
    octets = bytes(memoryview(text))
    size, places = len(octets), list(zip(_numbers(start), _numbers(end), strict=True))
    if not all(0 <= first <= last <= size for first, last in places):
        raise ValueError("places outside of the text")
    return [octets[first:last] for first, last in places]


def _bounds(starts: Buffer, groups: int, rows: int) -> Iterator[tuple[int, int]]:
    bounds = [0, *_numbers(starts), rows]
    if len(bounds) != groups + 3 or bounds != sorted(bounds) or bounds[1] or bounds[-2] != rows:
        raise ValueError("starts do not cut the rows into groups")
    return pairwise(bounds[1:-1])


def _decimal(word: bytes) -> float:
    """Read a decimal number or an infinity; NaN for anything else."""
    try:
        return nan if b"_" in word else float(word)  # float reads 1_000 as 1000
    except ValueError:
        return nan


_Row = tuple[bytes, float, int]  # document, score and line


class Documents:
    """The judged or the excluded documents of queries.

    Query q has the ids from ``starts[q]`` to ``starts[q + 1]``.
    """

    def __init__(self, queries: list[bytes], starts: Buffer, ids: Column) -> None:
        documents = _strings(ids)
        bounds = _bounds(starts, len(queries), len(documents))
        self.number = {query: number for number, query in enumerate(queries)}
        if len(self.number) < len(queries):
            raise ValueError("a query twice")
        self.rows = [{documents[row]: row for row in range(*of_query)} for of_query in bounds]


def _number_of(score: object) -> float:
    """Return a number of a mapping, without running code of a subclass; NaN for anything else."""
    if type(score) is int:
        return float(score)
    return float.__pos__(score) if isinstance(score, float) else nan


class Ids(set[bytes]):
    """The distinct documents of a finished run."""


class Run:
    """Judges a run while it is read."""

    def __init__(
        self,
        judged: Documents,
        *,
        excluded: Documents | None = None,  # the documents to leave out
        fold: int = -1,  # the byte that separates a passage's id from its document's; -1 for none
        drop_identical: bool = False,  # leave out a document whose id is the query's
        keep_best: bool = False,  # of a repeated document, which is otherwise refused
        ascending: bool = False,  # order equal scores by ascending instead of descending ids
        distance: bool = False,  # the smallest score is best
        depth: int = 0,  # the number of top documents to name, of judged queries
        name_all: bool = False,  # or of all queries
        held: bool = False,  # hold all rows until the end, because queries are scattered
        count_documents: bool = False,  # keep the ids of all documents, for `count_ids`
        most_held: int = 1 << 31,  # bytes of ids, of a query, or with `held` of the run
        longest_line: int = 1 << 26,  # bytes
    ) -> None:
        if type(judged) is not Documents or type(excluded) not in (Documents, type(None)):
            raise TypeError("judged and excluded are to be Documents")
        if not (-1 <= fold < 256 and 0 <= most_held <= 1 << 31 and min(depth, longest_line) >= 0):
            raise ValueError(
                "fold is to be a byte or -1, most_held 0 to 2**31, "
                "depth and longest_line no less than 0"
            )
        self._judged, self._excluded, self._fold = judged, excluded, fold
        self._drop_identical, self._keep_best = drop_identical, keep_best
        self._ascending, self._distance = ascending, distance
        self._depth, self._name_all = depth, name_all
        self._held, self._count_documents = held, count_documents
        self._most_held, self._longest_line = most_held, longest_line
        self._size = 0  # of the held ids, in bytes
        self._carry = bytearray()  # of an incomplete line
        self._line = 0
        self._last: list[bytes] = []  # the words of the last line
        self._current: bytes | None = None
        self._rows: list[_Row] = []
        self._of_query: dict[bytes, list[_Row]] = {}  # queries in order of first appearance
        self._busy, self._ended = Lock(), False
        self._rankings, self._hits = array("q"), array("q")
        self._names: list[tuple[bytes, list[tuple[bytes, float]]]] = []
        self._documents = Ids()
        self._left_out = [0, 0, 0, 0]
        self._looked_at = self._sampled = self._rising = self._ordered = 0
        self._several = self._flat = 0
        self._sample: list[tuple[int, bytes]] = []

    def feed(self, block: Buffer) -> None:
        """Read text of ``query Q0 document rank score run_id`` lines, cut at any byte."""
        octets = memoryview(block)
        with self._reading():
            before = len(self._carry)
            self._carry += octets
            end = self._carry.rfind(b"\n", before) + 1
            text = bytes(self._carry[:end])
            del self._carry[:end]
            self._read(text.split(b"\n")[:-1], b"\0" in text)
            if len(self._carry) > self._longest_line:
                raise self._refusal("long line", self._line + 1)

    @contextmanager
    def _call(self) -> Iterator[None]:
        """Guard against concurrent use, by another thread or by code that runs within the call."""
        if not self._busy.acquire(blocking=False):
            raise ValueError("the run is being read")
        try:
            yield
        finally:
            self._busy.release()

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Forbid reading after an error or the end."""
        with self._call():
            if self._ended:
                raise ValueError("the run was refused or is finished")
            self._ended = True  # unless the call succeeds
            yield
            self._ended = False

    def _read(self, lines: list[bytes], nul: bool) -> None:
        if lines and self._line == 0:
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        rows, current, words = self._rows, self._current, self._last
        for number, line in enumerate(lines, start=self._line + 1):
            if nul and b"\0" in line:
                raise self._refusal("NUL", number)
            words = line.split(None, 6)
            if len(words) < 6 or words[0] != current:
                if not words or words[0].startswith(b"#"):
                    words = self._last
                    continue
                if len(words) < 6:
                    raise self._refusal("columns", number, int(current is None), line)
                self._begin(words[0], number)
                rows, current = self._rows, self._current
            score = _decimal(words[4])
            if score != score:
                raise self._refusal("score", number, 0, words[4])
            if len(words) > 6 and (rank := _decimal(words[3])) != rank:
                raise self._refusal("space", number, 0, line)
            rows.append((words[2], score, number))
            self._size += len(words[2])
            self._last = words
        self._line += len(lines)
        self._refuse_too_much(self._line)

    def _refuse_too_much(self, line: int) -> None:
        if self._size > self._most_held:
            raise self._refusal("too much", line)

    def add(
        self, query: Column, starts: Buffer, document: Column, score: Buffer, line: Buffer
    ) -> None:
        """Read rows: the documents of query q begin at ``starts[q]``."""
        ids, scores = _strings(document), _numbers(score, "d")
        lines, names = _numbers(line), _strings(query)
        bounds = _bounds(starts, len(names), len(ids))
        if not len(scores) == len(lines) == len(ids):
            raise ValueError("scores or lines do not fit the documents")
        with self._reading():
            for name, (first, last) in zip(names, bounds, strict=True):
                if name != self._current:
                    self._begin(name, lines[first] if first < last else 0)
                part = slice(first, last)
                rows = list(zip(ids[part], scores[part], lines[part], strict=True))
                for _, value, number in rows:
                    if value != value:
                        raise self._refusal("score", number, 0, b"nan")
                self._rows += rows
                self._size += sum(map(len, ids[part]))
                self._refuse_too_much(lines[last - 1] if first < last else 0)

    def mapping(self, run: object) -> bool:
        """Read {query: {document: score}}; False for types other than str and numbers."""
        with self._reading():
            good = self._read_mapping(run)
        self._ended = not good
        return good

    def _read_mapping(self, run: object) -> bool:
        if type(run) is not dict:
            return False
        try:
            for query, ranking in run.items():
                if type(query) is not str or type(ranking) is not dict:
                    return False
                if ranking:
                    self._begin(query.encode(), 1)
                    values = [_number_of(score) for score in ranking.values()]
                    if not {str}.issuperset(map(type, ranking)) or any(v != v for v in values):
                        return False
                    self._rows += zip(map(str.encode, ranking), values, count(1))
        except (UnicodeEncodeError, OverflowError):
            return False
        return True

    def _begin(self, query: bytes, line: int) -> None:
        """End the current query and begin another."""
        if self._current is not None and not self._held:
            self._end(self._current, self._rows)
            self._size = 0
        self._current = query
        if query in self._of_query and not self._held:
            raise self._refusal("scattered", line)
        self._rows = self._of_query.setdefault(query, []) if self._held else []
        self._of_query.setdefault(query, [])

    def _filtered(self, query: bytes, kept: list[_Row]) -> list[_Row]:
        """Leave out documents, and fold passages into documents."""
        if self._drop_identical:
            before = len(kept)
            kept = [row for row in kept if row[0] != query]
            self._left_out[0] += before - len(kept)
        if self._excluded is not None and query in self._excluded.number:
            before, shut_out = len(kept), self._excluded.rows[self._excluded.number[query]]
            kept = [row for row in kept if row[0] not in shut_out]
            self._left_out[1] += before - len(kept)
        if self._fold >= 0:
            mark = bytes([self._fold])
            kept = [(id_.split(mark, 1)[0] or id_, score, line) for id_, score, line in kept]
        return kept

    def _end(self, query: bytes, rows: list[_Row]) -> None:
        """Judge the documents of a complete query."""
        self._current = query
        if self._distance:
            rows = [(id_, -score, line) for id_, score, line in rows]
        scores = {id_: score for id_, score, _ in rows}
        if self._fold >= 0 or self._drop_identical or self._excluded or len(scores) < len(rows):
            rows = self._filtered(query, rows)
            scores = self._identified(rows)
        self._left_out[2] += len(rows)
        self._left_out[3] += len(scores)
        if self._count_documents:
            self._documents.update(scores)
        number = self._judged.number.get(query, -1)
        self._rankings.extend((number, len(scores)))
        self._look_at(scores, number)
        if number >= 0:
            self._find_hits(scores, self._judged.rows[number])
        if self._depth and (number >= 0 or self._name_all):
            order = sorted(scores.items(), reverse=not self._ascending)
            order.sort(key=lambda row: row[1], reverse=True)
            self._names.append((query, order[: self._depth]))

    def _identified(self, rows: list[_Row]) -> dict[bytes, float]:
        """Return the score of each document; refuse a repeated document, or keep its best score."""
        scores: dict[bytes, float] = {}
        for document, score, line in rows:
            if document in scores and not self._keep_best:
                first = next(row[2] for row in rows if row[0] == document)
                raise self._refusal("again", line, first, document)
            scores[document] = max(score, scores.get(document, score))
        return scores

    def _find_hits(self, scores: dict[bytes, float], judged: dict[bytes, int]) -> None:
        documents = [document for document in judged if document in scores]
        if not documents:
            return
        ascending = sorted(scores.values())
        tied: dict[float, list[bytes]] = {}
        for document in documents:
            score = scores[document]
            below = bisect_left(ascending, score)
            upto = bisect_left(ascending, True, below, key=lambda other: other > score)
            above, equal = len(ascending) - upto, upto - below
            before = 0
            if equal > 1:
                if score not in tied:
                    tied[score] = sorted(id_ for id_, other in scores.items() if other == score)
                place = bisect_left(tied[score], document)
                before = place if self._ascending else equal - 1 - place
            self._hits.extend((judged[document], above + before + 1, above + 1, above + equal))

    def _look_at(self, scores: dict[bytes, float], number: int) -> None:
        """Inspect the first rankings of a run for signs that all values are wrong."""
        before, self._looked_at = self._looked_at, self._looked_at + len(scores)
        if before and self._looked_at > _LOOKED_AT_ROWS:
            return
        values = list(scores.values())
        rises = sum(below > above for above, below in pairwise(values))
        drops = sum(below < above for above, below in pairwise(values))
        self._rising += rises > 1 and not drops
        self._ordered += rises + drops > 1
        self._several += len(values) > 1
        self._flat += len(values) > 1 and not rises + drops
        if number >= 0 and self._sampled < _LOOKED_AT_QUERIES:
            self._sampled += 1
            self._sample += [(number, id_) for id_ in list(scores)[:_LOOKED_AT_DOCUMENTS]]

    def take_names(self) -> dict[str, Any]:
        """Return the first documents of queries since the last call, best first."""
        with self._call():
            names, self._names = self._names, []
        rows = [row for _, order in names for row in order]
        ends, end = array("Q"), 0
        for document, _ in rows:
            end += len(document)
            ends.append(end)
        return {
            "queries": [query for query, _ in names],
            "size": _ints(len(order) for _, order in names),
            "text": bytearray(b"".join(document for document, _ in rows)),
            "ends": bytearray(ends.tobytes()),
            "score": bytearray(array("d", (score for _, score in rows)).tobytes()),
        }

    def run_id(self) -> bytes:
        """Return the run id of the last line."""
        with self._call():
            return self._last[5] if self._last else b""

    def finish(self) -> dict[str, Any]:
        """Judge the last queries, and return the rankings, hits and counts of the run.

        A ranking is the number of its query among the judged queries, or -1, and the number of its
        documents. A hit is the row of a judgement, the rank of its document, and the first and
        the last rank of documents with the same score.
        """
        with self._reading():
            if self._carry:
                line = bytes(self._carry)
                self._carry.clear()
                self._read([line], b"\0" in line)
            if self._held:
                for query, rows in self._of_query.items():
                    self._end(query, rows)
            elif self._current is not None:
                self._end(self._current, self._rows)
        self._current, self._ended = None, True
        return {
            "queries": list(self._of_query),
            "rankings": _ints(self._rankings),
            "hits": _ints(self._hits),
            "documents": self._documents,
            "sample_query": _ints(number for number, _ in self._sample),
            "sample": [document for _, document in self._sample],
            "slopes": (self._rising, self._ordered),
            "flat": (self._flat, self._several),
            "left_out": tuple(self._left_out),
        }

    def _refusal(self, kind: str, line: int, first: int = 0, text: bytes = b"") -> RefusedError:
        return RefusedError(kind, line, first, self._current or b"", text)


def columns(
    text: Buffer,  # whole lines
    first_line: int,
    width: int,  # the number of columns in a line; with `extra`, the minimum
    separator: int,  # the byte between columns, or -1 for whitespace
    extra: bool,
    comments: bool,  # whether a comment's ``#`` can follow whitespace
    tolerant: bool,  # whether to skip wrong lines; else the first one ends reading
) -> tuple[bytearray, bytearray, bytearray, bytearray, bytearray]:
    """Split lines into columns.

    If whitespace separates them, a ``#`` at the beginning of a line always begins a comment. Return
    the offsets of each value, start and end, (n * width,); the number of each line and the offset
    of its end, (n,); and number, start and end of each wrong line, (m, 3).
    """
    octets = bytes(text)
    if width < 1 or not -1 <= separator < 256 or (octets and not octets.endswith(b"\n")):
        raise ValueError("no column, no separator, or no newline at the end")
    starts, ends, lines, stops, wrong = (array("q") for _ in range(5))
    after = 0
    for number, whole in enumerate(octets.split(b"\n")[:-1], start=first_line):
        begin, after = after, after + len(whole) + 1
        line = whole.removesuffix(b"\r")
        stop = begin + len(line)
        cells = _words(line, comments) if separator < 0 else _values(line, separator)
        if not (cells if separator < 0 else line) and b"\0" not in line:
            continue  # blank, or a comment
        if b"\0" in line or len(cells) < width or (len(cells) > width and not extra):
            wrong.extend((number, begin, stop))
            if not tolerant:
                break
            continue
        for first, last in cells[:width]:
            starts.append(begin + first)
            ends.append(begin + last)
        lines.append(number)
        stops.append(stop)
    return _ints(starts), _ints(ends), _ints(lines), _ints(stops), _ints(wrong)


_WORD = re.compile(rb"[^ \t\v\f\r\n]+")
_VALUE = re.compile(rb'"([^"]*)"(?=,|$)|([^,"]*)(?=,|$)')


def _words(line: bytes, comments: bool) -> list[tuple[int, int]]:
    """Return the spans of words; [] for a comment."""
    if (line.lstrip() if comments else line).startswith(b"#"):
        return []
    return [match.span() for match in _WORD.finditer(line)]


def _values(line: bytes, separator: int) -> list[tuple[int, int]]:
    """Return the spans of values; [] for CSV with quotes inside a value."""
    if b"\r" in line:
        return []
    if separator != ord(",") or b'"' not in line:
        ends = [place for place, byte in enumerate(line) if byte == separator] + [len(line)]
        return list(zip([0, *(end + 1 for end in ends[:-1])], ends, strict=True))
    cells, place = [], 0
    while match := _VALUE.match(line, place):
        cells.append(match.span(1) if match[1] is not None else match.span(2))
        place = match.end() + 1
        if match.end() == len(line):
            return cells
    return []


def numbers(texts: Column) -> bytearray:
    """Read decimals, perhaps with spaces around them; NaN for anything else."""
    words = (word.strip(b" ") for word in _strings(texts))
    read = (_decimal(word) if word == word.strip() else nan for word in words)
    return bytearray(array("d", read).tobytes())


def first_rows(ids: Column, group: Buffer) -> bytearray:
    """Return for each row the first row of its group with the same id."""
    first: dict[tuple[int, bytes], int] = {}
    keys = zip(_numbers(group), _strings(ids), strict=True)
    return _ints(first.setdefault(key, row) for row, key in enumerate(keys))


def count_ids(sets: tuple[Ids, ...], ids: Column) -> int:
    """Count the distinct ids in sets of finished runs and in a column."""
    if any(type(set_) is not Ids for set_ in sets):
        raise TypeError("sets of other types")
    return len(Ids().union(_strings(ids), *sets))
