"""A run in one JSON document, ``{"query": {"document": number, …}, …}``, read by its quotes.

Without a backslash every second quote ends a string, and behind a string stands ``: {`` if it is a
query, else ``: `` and a number. What a program writes has the same spaces throughout, which its
beginning tells. The document is read in pieces of whole queries; every byte of a piece that is
neither in a string nor in a number is compared with what the beginning has there. What is unlike it
is left to the decoder, and so is all that follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from ragkpi.formats.decimals import parse_json_numbers
from ragkpi.formats.json_documents import MOST_KEYS
from ragkpi.formats.json_text import text_of
from ragkpi.formats.literals import stand_alone
from ragkpi.formats.tokens import ByteArray, IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns, run_id_of

PIECE_SIZE = 1 << 20
_QUOTE, _BACKSLASH, _NEWLINE, _BRACE = b'"\\\n{'
_HEAD = 1 << 18
_LONGEST_END = 1 << 10

_WHITE, _STRING, _NUMBER = rb"[ \t\n\r]*", rb'"[^"\\]*"', rb"[0-9.eE+-]+"
_COLON, _COMMA = _WHITE + b":" + _WHITE, _WHITE + b"," + _WHITE
_BEGIN = re.compile(b"%b{%b" % (_WHITE, _WHITE))
_QUERY = re.compile(b"%b(%b{%b)%b(%b)%b" % (_STRING, _COLON, _WHITE, _STRING, _COLON, _NUMBER))
_NEXT_DOCUMENT = re.compile(b"%b%b%b(%b)%b" % (_STRING, _COLON, _NUMBER, _COMMA, _STRING))
_NEXT_QUERY = re.compile(b"%b(%b}%b)%b%b{" % (_NUMBER, _WHITE, _COMMA, _STRING, _COLON))
_END = re.compile(b"%b}%b}%b\\Z" % (_WHITE, _WHITE, _WHITE))


class _Literals(NamedTuple):
    """What stands behind a query and behind a document, and before the next of each.

    Those behind begin with the quote of their string, and `query` ends with that of a document;
    those before end with a quote. `end` closes the document. What stands behind a query without
    documents is `empty`, or `empty_end` at the end.
    """

    query: bytes
    document: bytes
    next_document: bytes
    next_query: bytes
    end: bytes
    empty: bytes
    empty_end: bytes

    @classmethod
    def of(cls, head: bytes, tail: bytes) -> _Literals | None:
        """Learn them from the beginning and the end; None if they do not look so."""
        query, next_query, end = _QUERY.search(head), _NEXT_QUERY.search(head), _END.search(tail)
        if query is None or next_query is None or end is None:
            return None
        next_document = _NEXT_DOCUMENT.search(head)
        comma = next_document[1] if next_document else b","
        opened = b'"' + query[1].rstrip()  # up to the brace
        return cls(
            b'"' + query[1] + b'"',
            b'"' + query[2],
            comma + b'"',
            next_query[1] + b'"',
            end[0],
            opened + next_query[1].lstrip() + b'"',
            opened + end[0].lstrip(),
        )


class _Piece(NamedTuple):
    """Some strings of whole queries.

    Attributes
    ----------
    start, stop
        The quote that begins the first query, and that of the next one or the end of the document.
    opened, closed : (m,)
        The quotes before and behind each string; also those of the next query, if there is one.
    queries : (g,)
        Which strings are queries, without the next one.
    is_last
        Whether there is no next query.
    """

    start: int
    stop: int
    opened: IntArray
    closed: IntArray
    queries: IntArray
    is_last: bool


def read_objects(
    file: str,
    buffer: ByteArray,
    start: int,
    end: int,
    fits: Callable[[bytes], bool],
    read: set[str],
) -> Generator[RunColumns, None, int]:
    """Yield the columns of a document, as far as it looks like its beginning.

    Parameters
    ----------
    file
        What messages call it.
    buffer, start, end
        Where it is, with padding around it (`ragkpi.formats.tokens.PADDING`).
    fits
        Says whether a document of the first queries is such a run.
    read
        Takes the queries that are read.

    Returns
    -------
    int
        Where the first query begins that was not read, or `end`.
    """
    opening = _BEGIN.match(buffer[start : start + _HEAD].tobytes())
    if opening is None:
        return start
    begin = start + opening.end()
    head, tail = buffer[begin : begin + _HEAD], buffer[max(begin, end - _LONGEST_END) : end]
    literals = _Literals.of(head.tobytes(), tail.tobytes())
    if literals is None:
        return start
    line = 1 + opening[0].count(b"\n")
    used, size, least = start, PIECE_SIZE, MOST_KEYS
    while used < end:
        piece = _piece_of(buffer, begin, min(begin + size, end), end, literals)
        if piece is None:
            break
        if len(piece.queries) < least and piece.stop < end:
            size *= 2  # of long rankings
            continue
        columns = _columns(file, buffer, piece, literals, line)
        if columns is None:
            break
        queries = list(map(text_of, _names(buffer, piece)))
        if not read.isdisjoint(queries) or len(set(queries)) < len(queries):
            break  # a key twice, which the decoder refuses
        if used == start and not fits(_beginning(buffer, start, piece)):
            break
        read.update(queries)
        yield columns
        line += int(np.count_nonzero(buffer[begin : piece.stop] == _NEWLINE))
        used = begin = piece.stop
        least = 1
    return used


def _names(buffer: ByteArray, piece: _Piece) -> Tokens:
    """Return the queries of a piece."""
    return Tokens(buffer, piece.opened[piece.queries] + 1, piece.closed[piece.queries])


def _beginning(buffer: ByteArray, start: int, piece: _Piece) -> bytes:
    """Return the first query and the names of the others, or all if there is no more."""
    if piece.is_last:
        return buffer[start : piece.stop].tobytes()
    others = piece.queries[1:]
    first = buffer[start : piece.opened[others[0]]].tobytes()
    names = Tokens(buffer, piece.opened[others], piece.closed[others] + 1)
    return first + b": {}, ".join(names) + b": {}}"


def _piece_of(
    buffer: ByteArray, begin: int, limit: int, end: int, literals: _Literals
) -> _Piece | None:
    """Find the strings from a query on, up to the last query before a limit."""
    text = buffer[begin:limit]
    quotes = begin + np.flatnonzero(text == _QUOTE)
    if (text == _BACKSLASH).any() or (limit == end and len(quotes) % 2):
        return None
    if limit < end:  # what stands behind a string is seen whole if another begins there
        quotes = quotes[: (len(quotes) - 1) // 2 * 2]
    opened, closed = quotes[::2], quotes[1::2]
    is_query = buffer.take(closed + literals.query.index(b"{"), mode="clip") == _BRACE
    queries = np.flatnonzero(is_query)
    if limit == end:
        return _Piece(begin, end, opened, closed, queries, True)
    if not len(queries):
        return _Piece(begin, begin, opened, closed, queries, False)
    used = slice(int(queries[-1]) + 1)
    return _Piece(begin, int(opened[queries[-1]]), opened[used], closed[used], queries[:-1], False)


def _columns(
    file: str, buffer: ByteArray, piece: _Piece, literals: _Literals, line: int
) -> RunColumns | None:
    """Return the columns of a piece; None if anything in it is unlike the beginning."""
    start, stop, opened, closed, queries, is_last = piece
    names = _names(buffer, piece)
    is_document = np.ones(len(opened), dtype=bool)
    is_document[queries] = False
    is_document[len(opened) - (not is_last) :] = False
    documents = np.flatnonzero(is_document)
    if not len(documents) or not len(queries) or queries[0]:
        return None
    starts = np.append(queries - np.arange(len(queries)), len(documents))
    listed = np.diff(starts) > 0  # queries that have documents
    last = starts[1:][listed] - 1  # documents of their queries
    closes, closes_empty = int(is_last and listed[-1]), int(is_last and not listed[-1])
    document = Tokens(buffer, opened[documents] + 1, closed[documents])

    # Numbers end before the quote that comes next, or before the end.
    behind = np.append(opened, stop)[documents + 1] + 1
    ends = behind - len(literals.next_document)
    ends[last] = behind[last] - len(literals.next_query)
    if closes:
        ends[-1] = stop - len(literals.end)
    number = Tokens(buffer, document.end + len(literals.document), ends)
    places = [
        (b'"', opened[:1]),
        (literals.query, names.end[listed]),
        (literals.document, document.end),
        (literals.next_document, np.delete(ends, last)),
        (literals.next_query, ends[last[: len(last) - closes]]),
        (literals.end, ends[len(ends) - closes :]),
        (literals.empty, names.end[~listed][: len(names) - len(last) - closes_empty]),
        (literals.empty_end, names.end[len(names) - closes_empty :]),
    ]
    if opened[0] != start or not stand_alone(buffer, start, stop + (not is_last), places):
        return None
    score = parse_json_numbers(number)
    empty = (names.start == names.end).any() or (document.start == document.end).any()
    if empty or np.isnan(score).any():
        return None
    newlines = start + np.flatnonzero(buffer[start:stop] == _NEWLINE)
    passed = np.bincount(np.searchsorted(document.start, newlines), minlength=len(documents) + 1)
    return RunColumns(
        file=file,
        query=names.take(listed),
        starts=np.append(starts[:-1][listed], len(documents)),
        document=document,
        score=score,
        line=line + np.cumsum(passed)[:-1],
        run_id=run_id_of(file),
    )
