"""What happens to documents before they are ranked: chunks become documents, some are left out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from ragkpi.errors import InputError, RagkpiNote, UsageError
from ragkpi.formats.identity import equal_tokens, hash_tokens
from ragkpi.formats.line_scanner import LineShape, read_table, table_of
from ragkpi.formats.opening import Source
from ragkpi.formats.qrels_shapes import EXCLUSIONS
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.records import NamedTuple
from ragkpi.wording import counted, shown

Fold = Callable[[Tokens], Tokens]
Excluded = Mapping[bytes, frozenset[bytes]]

_PARENTS = LineShape(("chunk", "document"), "refused", "first_column")
_PAIRS = LineShape(("query", "document"), "refused", "first_column")
_HEAD = 1 << 10
_NOTHING = b"N/A"  # what BRIGHT writes for no document


class Sieve(NamedTuple):
    """What is done with documents.

    Attributes
    ----------
    fold
        From the ids of chunks to those of documents; a document's score is the best and its level
        the highest of its chunks. None leaves ids as they are.
    drop_identical
        Whether a document is left out for the query of the same id.
    excluded
        By query, documents that are left out.
    """

    fold: Fold | None = None
    drop_identical: bool = False
    excluded: Excluded = {}  # noqa: RUF012 - never changed

    def __bool__(self) -> bool:
        return self.fold is not None or self.drop_identical or bool(self.excluded)

    def run(self, blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
        """Treat blocks of whole queries, and say in the end how many lines are gone."""
        before = after = identical = excluded = 0
        file = ""
        for block in blocks:
            file = block.file
            if self.drop_identical or self.excluded:
                kept = ~self._identical(block)
                identical += int(np.count_nonzero(~kept))
                listed = self._listed(block)
                excluded += int(np.count_nonzero(listed & kept))
                block = _with_rows(block, np.flatnonzero(kept & ~listed))
            if self.fold is not None:
                before += len(block.score)
                block = block._replace(document=self.fold(block.document))
                best = _first_of_each((block.group(),), block.document, -block.score)
                block = _with_rows(block, best)
                after += len(block.score)
            yield block
        if self.fold is not None:
            _say(f"{file}: {counted(before, 'line')} folded into {counted(after, 'document')}")
        if self.drop_identical:
            _say(f"{file}: {counted(identical, 'document')} with the id of the query left out")
        if self.excluded:
            _say(f"{file}: {counted(excluded, 'excluded document')} left out")

    def qrels(self, columns: QrelsColumns) -> QrelsColumns:
        """Fold judgements: of a document's levels the highest counts."""
        if self.fold is None:
            return columns
        document = self.fold(columns.document)
        query = hash_tokens(columns.query).view(np.int64)
        worth = columns.level.astype(np.float64) if columns.gain is None else columns.gain
        rows = _first_of_each((query,), document, -worth)
        if len(rows) < len(document):
            count = counted(len(document), "judgement")
            _say(f"{columns.file}: {count} folded into {counted(len(rows), 'document')}")
        return columns._replace(
            query=columns.query.take(rows),
            iteration=columns.iteration.take(rows),
            document=document.take(rows),
            level=columns.level[rows],
            line=columns.line[rows],
            gain=None if columns.gain is None else columns.gain[rows],
        )

    def _identical(self, block: RunColumns) -> BoolArray:
        if not self.drop_identical:
            return np.zeros(len(block.score), dtype=bool)
        rows = np.arange(len(block.score))
        return equal_tokens(block.query, block.group(), block.document, rows)

    def _listed(self, block: RunColumns) -> BoolArray:
        listed = np.zeros(len(block.score), dtype=bool)
        if self.excluded:
            for group, query in enumerate(block.query):
                documents = self.excluded.get(query)
                if documents:
                    rows = slice(int(block.starts[group]), int(block.starts[group + 1]))
                    names = block.document.take(rows)
                    listed[rows] = [document in documents for document in names]
        return listed


def _with_rows(block: RunColumns, rows: IntArray) -> RunColumns:
    """Keep some rows, in ascending order; a query without any stays, as an empty ranking."""
    return block._replace(
        starts=np.searchsorted(rows, block.starts),
        document=block.document.take(rows),
        score=block.score[rows],
        line=block.line[rows],
    )


def _first_of_each(groups: tuple[IntArray, ...], document: Tokens, value: FloatArray) -> IntArray:
    """Return, ascending, the row with the least value of each document in its group."""
    key = hash_tokens(document)
    order = np.lexsort((value, key, *groups))
    same = np.ones(max(len(order) - 1, 0), dtype=bool)
    for column in (key, *groups):
        same &= column[order[1:]] == column[order[:-1]]
    pairs = np.flatnonzero(same)
    # Two ids with the same hash, which one file in many millions has, stay two documents.
    same[pairs] = equal_tokens(document, order[pairs + 1], document, order[pairs])
    first = np.ones(len(order), dtype=bool)
    first[1:] = ~same
    return np.sort(order[first])


def _say(text: str) -> None:
    warnings.warn(text, RagkpiNote, stacklevel=3)


def sieve_for(max_passage: str | None, drop_identical: bool, exclude: str | None) -> Sieve | None:
    """Return what is asked for in words; None if nothing is.

    Errors as `parse_fold` and `read_excluded` have them.
    """
    if max_passage is None and exclude is None and not drop_identical:
        return None
    return Sieve(
        None if max_passage is None else parse_fold(max_passage),
        drop_identical,
        {} if exclude is None else read_excluded(exclude),
    )


def parse_fold(text: str) -> Fold:
    """Read what ``--max-passage`` says: a separator, ``/REGEX/`` or a file.

    Parameters
    ----------
    text
        A separator, such as ``#``: the document's id is what stands before the first. Or a regular
        expression between slashes, whose first group is the document's id. Or ``@FILE`` with lines
        of chunk and document.

    Raises
    ------
    UsageError
        For an empty text, or an expression that is none or has no group.
    """
    octets = text.encode("utf-8", "surrogateescape")
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            pattern = re.compile(octets[1:-1])
        except re.error as problem:
            raise UsageError(
                f"--max-passage {text}: {problem}; expected a regular expression between slashes"
            ) from None
        if pattern.groups < 1:
            raise UsageError(
                f"--max-passage {text}: has no group; expected one around the document's id, "
                "such as /^(.*)_[0-9]+$/"
            )

        def first_group(chunk: bytes) -> bytes:
            match = pattern.search(chunk)
            return (match[1] or chunk) if match else chunk

        return _one_by_one(first_group)
    if text.startswith("@"):
        parents = _read_parents(text[1:])
        return _one_by_one(lambda chunk: parents.get(chunk, chunk))
    if not text:
        raise UsageError("--max-passage is empty; expected a separator, /REGEX/ or @FILE")
    if len(octets) == 1:
        return lambda tokens: _before(tokens, octets[0])
    return _one_by_one(lambda chunk: chunk.split(octets, 1)[0] or chunk)


def _before(tokens: Tokens, separator: int) -> Tokens:
    """Return what stands before the first separator, where that is anything."""
    places = np.append(np.flatnonzero(tokens.buffer == separator), len(tokens.buffer))
    place = places[np.searchsorted(places, tokens.start)]
    end = np.where((place > tokens.start) & (place < tokens.end), place, tokens.end)
    return Tokens(tokens.buffer, tokens.start, end)


def _one_by_one(parent: Callable[[bytes], bytes]) -> Fold:
    return lambda tokens: Tokens.from_strings([parent(chunk) for chunk in tokens])


def _read_parents(path: str) -> dict[bytes, bytes]:
    table = read_table(path, _PARENTS)
    parents: dict[bytes, bytes] = {}
    for row, (chunk, document) in enumerate(zip(*table.columns, strict=True)):
        if parents.setdefault(chunk, document) != document:
            raise InputError(
                path,
                int(table.line[row]),
                f"chunk {shown(chunk)} of a second document",
                "expected one document for each chunk",
            )
    return parents


def read_excluded(path: str) -> Excluded:
    """Read what ``--exclude`` names: lines of query and document, or BRIGHT's examples.

    Raises `InputError` with the line for anything else.
    """
    with Source(path) as source:
        if source.peek(_HEAD).lstrip()[:1] in (b"{", b"["):
            from ragkpi.formats.json_files import read_qrels

            judged = read_qrels(source, EXCLUSIONS)
            listed = zip(judged.query, judged.document, strict=True)
        else:
            listed = zip(*table_of(source, _PAIRS).columns, strict=True)
    excluded: dict[bytes, set[bytes]] = {}
    for query, document in listed:
        if document != _NOTHING:
            excluded.setdefault(query, set()).add(document)
    return {query: frozenset(documents) for query, documents in excluded.items()}
