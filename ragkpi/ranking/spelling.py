"""Ids that differ in their spelling alone: case, white space, leading zeros, a passage's number."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from ragkpi.formats.identity import hash_tokens
from ragkpi.formats.integers import HIGHEST_BITS
from ragkpi.formats.token_words import FIRST_BYTES, MOST_WORDS, words_from
from ragkpi.formats.tokens import PADDING, SPARSE, IntArray, Tokens
from ragkpi.ranking.judgements import Judgements
from ragkpi.records import replace

_PASSAGE = ord("#")
_ABOVE_SPACE = np.uint64(0x2121212121212121)

OF_QUERIES = "by case, white space or leading zeros alone"
OF_DOCUMENTS = "by case, white space, leading zeros or what follows a # alone"


def plain(id_: bytes) -> bytes:
    """Return an id without capitals, white space and leading zeros."""
    return b"".join(id_.lower().split()).lstrip(b"0")


def plain_ids(ids: Tokens) -> Tokens:
    """Return ids as `plain` does each; these ids themselves where all are plain already."""
    if not len(ids):
        return ids
    near = _by_themselves(ids)
    text, start, end = near.buffer, near.start, near.end
    if _any_white(near):
        return Tokens.from_strings(map(plain, ids))
    capital = (text - np.uint8(ord("A"))) < 26
    zero = (text[start] == ord("0")) & (start < end)
    if not (capital.any() or zero.any()):
        return ids
    text = text | (capital.view(np.uint8) << np.uint8(5))
    while zero.any():
        start = start + zero
        zero = (text[start] == ord("0")) & (start < end)
    return Tokens(text, start, end)


def _any_white(ids: Tokens) -> bool:
    """Say whether any byte of any id is a space or below it."""
    length = ids.end - ids.start
    if length.max() > 8 * MOST_WORDS:
        white = np.flatnonzero(ids.buffer <= ord(" "))
        return bool((np.searchsorted(white, ids.end) > np.searchsorted(white, ids.start)).any())
    for number, word in enumerate(words_from(ids, 0, -(-int(length.max()) // 8))):
        # A byte below 33 borrows from its highest bit; what is behind an id must not.
        word |= ~FIRST_BYTES.take(length - 8 * number, mode="clip")
        if ((word - _ABOVE_SPACE) & ~word & HIGHEST_BITS).any():
            return True
    return False


def heads(ids: Tokens) -> Tokens | None:
    """Return what stands before the first ``#`` of each id; None if no id has one."""
    ids = _by_themselves(ids)
    marks = np.flatnonzero(ids.buffer == _PASSAGE)
    if not len(marks):
        return None
    marks = np.append(marks, len(ids.buffer))
    mark = marks[np.searchsorted(marks, ids.start)]
    cut = (mark > ids.start) & (mark < ids.end)
    return Tokens(ids.buffer, ids.start, np.where(cut, mark, ids.end)) if cut.any() else None


def _by_themselves(ids: Tokens) -> Tokens:
    """Return ids with little around them: what is done to all bytes then costs little more."""
    if not len(ids):
        return ids
    first, last = int(ids.start.min()), int(ids.end.max())
    if last - first > SPARSE * len(ids):
        return ids.copied()
    text = ids.buffer[first - PADDING : last + PADDING]
    return Tokens(text, ids.start - first + PADDING, ids.end - first + PADDING)


def queries_meant(judgements: Judgements, unknown: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the judged query that each of some unjudged ones is spelt like, where there is one."""
    unknown = list(unknown)
    judged = {plain(query): query for query in judgements.queries} if unknown else {}
    return {query: judged[plain(query)] for query in unknown if plain(query) in judged}


class _Respelt:
    """Judgements under other ids, of which each stands once for a query."""

    def __init__(self, judgements: Judgements, document: Tokens) -> None:
        key = hash_tokens(document)
        order = np.lexsort((key, judgements.query))
        again = np.zeros(len(order), dtype=bool)
        again[1:] = (np.diff(key[order]) == 0) & (np.diff(judgements.query[order]) == 0)
        self._rows = np.sort(order[~again])
        self._judgements = replace(
            judgements,
            starts=np.searchsorted(self._rows, judgements.starts),
            document=document.take(self._rows),
            level=judgements.level[self._rows],
        )

    def find(
        self, query: IntArray, starts: IntArray, document: Tokens
    ) -> tuple[IntArray, IntArray]:
        """As `Judgements.find`, with the rows of the judgements that were respelt."""
        key = self._judgements.keys_of(document)
        line, row = self._judgements.find(query, starts, document, key)
        return line, self._rows[row]


class SpeltDocuments:
    """Finds the judged document that an unjudged one of the same query is spelt like."""

    def __init__(self, judgements: Judgements) -> None:
        self._judgements = judgements

    @cached_property
    def _plain_ids(self) -> Tokens:
        return plain_ids(self._judgements.document)

    @cached_property
    def _plain(self) -> _Respelt:
        return _Respelt(self._judgements, self._plain_ids)

    @cached_property
    def _heads(self) -> _Respelt | None:
        document = heads(self._judgements.document)
        return None if document is None else _Respelt(self._judgements, document)

    def find(self, query: IntArray, starts: IntArray, document: Tokens) -> IntArray:
        """Return the row of the judgement that is meant, -1 where none is, (n,).

        Parameters
        ----------
        query, starts, document
            As for `Judgements.find`; for a document that is judged, the row means nothing.
        """
        rows = np.full(len(document), -1, dtype=np.int64)
        if self._heads is not None:
            line, row = self._heads.find(query, starts, document)
            rows[line] = row
        head = heads(document)
        if head is not None:
            line, row = self._judgements.find(query, starts, head, self._judgements.keys_of(head))
            rows[line] = row
        mine = plain_ids(document)
        if mine is not document or self._plain_ids is not self._judgements.document:
            line, row = self._plain.find(query, starts, mine)
            rows[line] = row
        return rows
