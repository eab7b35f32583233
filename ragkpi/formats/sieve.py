"""What happens to documents before they are ranked: chunks become documents, some are left out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ragkpi import kernel
from ragkpi.errors import InputError, RagkpiNote, UsageError
from ragkpi.formats.lines import LineShape, read_table, table_of
from ragkpi.formats.opening import Source
from ragkpi.formats.qrels_shapes import EXCLUSIONS
from ragkpi.formats.tokens import FloatArray, IntArray, Tokens
from ragkpi.formats.trec_qrels import QrelsColumns
from ragkpi.formats.trec_runs import RunColumns
from ragkpi.interface import option
from ragkpi.records import NamedTuple
from ragkpi.wording import counted, shown

Excluded = Mapping[bytes, frozenset[bytes]]


class Fold(NamedTuple):
    """How the id of a passage becomes the id of its document.

    Attributes
    ----------
    parent
        From the one to the other.
    separator
        The byte at which that is only a cut; -1 for anything else.
    """

    parent: Callable[[bytes], bytes]
    separator: int = -1


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

    @property
    def in_kernel(self) -> bool:
        """Whether the kernel does all of it."""
        return self.fold is None or self.fold.separator >= 0

    @property
    def treatment(self) -> dict[str, Any]:
        """What the kernel does, as `kernel.Run` takes it."""
        best = {"keep_best": self.fold is not None}
        if not self.in_kernel or (self.fold is None and not self):
            return best
        return {
            **best,
            "fold": self.fold.separator if self.fold else -1,
            "drop_identical": self.drop_identical,
            "excluded": self._excluded_documents() if self.excluded else None,
        }

    def _excluded_documents(self) -> kernel.Documents:
        documents = [id_ for ids in self.excluded.values() for id_ in ids]
        starts = np.cumsum([0, *map(len, self.excluded.values())])
        return kernel.Documents(list(self.excluded), starts, *Tokens.from_strings(documents).column)

    def folded(self, blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
        """Leave documents out and fold the others, row by row; say how many are left out."""
        identical = excluded = 0
        file = ""
        for block in blocks:
            file = block.file
            names = block.query.tolist()
            queries = [names[group] for group in block.group().tolist()]
            documents = block.document.tolist()
            rows = []
            for row, (query, document) in enumerate(zip(queries, documents, strict=True)):
                if self.drop_identical and document == query:
                    identical += 1
                elif document in self.excluded.get(query, ()):
                    excluded += 1
                else:
                    rows.append(row)
            kept = _with_rows(block, np.array(rows, dtype=np.int64))
            if self.fold is not None:
                ids = [self.fold.parent(documents[row]) for row in rows]
                kept = kept._replace(document=Tokens.from_strings(ids))
            yield kept
        self._say_left_out(file, identical, excluded)

    def _say_left_out(self, file: str, identical: int, excluded: int) -> None:
        if self.drop_identical:
            _say(f"{file}: {counted(identical, 'document')} with the id of the query left out")
        if self.excluded:
            _say(f"{file}: {counted(excluded, 'excluded document')} left out")

    def say(self, file: str, left_out: tuple[int, int, int, int]) -> None:
        """Say what the kernel left out: its counts of a run."""
        identical, excluded, before, after = left_out
        if self.fold is not None:
            _say(f"{file}: {counted(before, 'line')} folded into {counted(after, 'document')}")
        if self.in_kernel:
            self._say_left_out(file, identical, excluded)

    def run(self, blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
        """Treat blocks of whole queries, where the kernel does not; say in the end what is gone."""
        before = after = 0
        file = ""
        for block in self.folded(blocks):
            file = block.file
            before += len(block.score)
            if self.fold is not None:
                block = _best_of_each(block)
            after += len(block.score)
            yield block
        if self.fold is not None:
            _say(f"{file}: {counted(before, 'line')} folded into {counted(after, 'document')}")

    def qrels(self, columns: QrelsColumns) -> QrelsColumns:
        """Fold judgements: of a document's levels the highest counts."""
        if self.fold is None:
            return columns
        document = Tokens.from_strings(map(self.fold.parent, columns.document))
        worth = columns.level if columns.gain is None else columns.gain
        first = document.first_rows(columns.query.first_rows())
        rows = _best_rows(first, worth)
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


def _with_rows(block: RunColumns, rows: IntArray) -> RunColumns:
    """Keep some rows, in ascending order; a query without any stays, as an empty ranking."""
    return block._replace(
        starts=np.searchsorted(rows, block.starts),
        document=block.document.take(rows),
        score=block.score[rows],
        line=block.line[rows],
        rank=None if block.rank is None else block.rank[rows],
    )


def _best_of_each(block: RunColumns) -> RunColumns:
    """Keep the best row of each document of a query."""
    first = block.document.first_rows(block.group())
    return _with_rows(block, _best_rows(first, block.score))


def _best_rows(document: IntArray, worth: IntArray | FloatArray) -> IntArray:
    """Return, ascending, the row of each document that is worth most; the first of equals."""
    order = np.lexsort((-worth, document))
    rows: IntArray = np.sort(order[np.unique(document[order], return_index=True)[1]])
    return rows


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
                f"{option('max_passage')} {text}: {problem}; expected a regular expression "
                f"between slashes"
            ) from None
        if pattern.groups < 1:
            raise UsageError(
                f"{option('max_passage')} {text}: has no group; expected one around the "
                f"document's id, "
                "such as /^(.*)_[0-9]+$/"
            )

        def first_group(chunk: bytes) -> bytes:
            match = pattern.search(chunk)
            return (match[1] or chunk) if match else chunk

        return Fold(first_group)
    if text.startswith("@"):
        parents = _read_parents(text[1:])
        return Fold(lambda chunk: parents.get(chunk, chunk))
    if not text:
        raise UsageError(
            f"{option('max_passage')} is empty; expected a separator, /REGEX/ or @FILE"
        )
    separator = octets[0] if len(octets) == 1 else -1
    return Fold(lambda chunk: chunk.split(octets, 1)[0] or chunk, separator)


def _read_parents(path: str) -> dict[bytes, bytes]:
    table = read_table(path, _PARENTS)
    parents: dict[bytes, bytes] = {}
    for row, (chunk, document) in enumerate(zip(table.column(0), table.column(1), strict=True)):
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
            table = table_of(source, _PAIRS)
            listed = zip(table.column(0), table.column(1), strict=True)
    excluded: dict[bytes, set[bytes]] = {}
    for query, document in listed:
        if document != _NOTHING:
            excluded.setdefault(query, set()).add(document)
    return {query: frozenset(documents) for query, documents in excluded.items()}
