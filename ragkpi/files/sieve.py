"""Fold passages into documents and leave documents out, before ranking."""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import numpy as np

from ragkpi import kernel
from ragkpi.arrays import FloatArray, IntArray
from ragkpi.errors import InputError, RagkpiNote, UsageError
from ragkpi.files.inputs import inputs
from ragkpi.files.json_files import read_qrels
from ragkpi.files.lines import LineShape, Tokens, read_table, table_of
from ragkpi.files.opening import Source
from ragkpi.files.shapes import EXCLUSIONS
from ragkpi.files.trec import QrelsColumns, RunColumns
from ragkpi.interface import spell
from ragkpi.wording import counted, shown

Excluded = Mapping[bytes, frozenset[bytes]]


class Fold(NamedTuple):
    """Turns a passage's id into its document's id."""

    parent: Callable[[bytes], bytes]
    separator: int = -1  # the byte at which `parent` cuts the id, if it does nothing else


_PARENTS = LineShape(("chunk", "document"))
_PAIRS = LineShape(("query", "document"))
_HEAD = 1 << 10
_NOTHING = b"N/A"  # in BRIGHT: no document


class Sieve(NamedTuple):
    """The documents to leave out or to fold; a document's best passage counts."""

    fold: Fold | None = None  # from passages to documents; None keeps all ids
    drop_identical: bool = False  # leave out a document whose id is the query's
    excluded: Excluded = {}  # noqa: RUF012 - never changed
    options: str = ""  # the options, for a signature
    queries: Mapping[bytes, bytes] = {}
    unseen: set[bytes] | None = None  # with texts as ids: judged texts not yet found in a run

    def __bool__(self) -> bool:
        chosen = self.fold is not None or self.drop_identical
        return chosen or bool(self.excluded) or bool(self.queries)

    @property
    def in_kernel(self) -> bool:
        """Whether the kernel can do all the work."""
        return not self.queries and (self.fold is None or self.fold.separator >= 0)

    @property
    def treatment(self) -> dict[str, Any]:
        """Return the kernel's share of the work, as arguments of `kernel.Run`."""
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
        return kernel.Documents(list(self.excluded), starts, Tokens.from_strings(documents).column)

    def folded(self, blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
        """Leave documents out and fold the rest, row by row; note the number left out."""
        identical = excluded = 0
        file = ""
        for block in blocks:
            file = block.file
            names = [self._query(file, name) for name in block.query.tolist()]
            block = block._replace(query=Tokens.from_strings(names)) if self.queries else block
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
            kept = block.kept(np.array(rows, dtype=np.int64))
            if self.fold is not None:
                ids = [self.fold.parent(documents[row]) for row in rows]
                kept = kept._replace(document=Tokens.from_strings(ids))
                if self.unseen:
                    self.unseen.difference_update(ids)
            yield kept
        if self.unseen:
            _note(f"{file}: {counted(len(self.unseen), 'gold text')} in no list of any query")
        self._note_left_out(file, identical, excluded)

    def _query(self, file: str, name: bytes) -> bytes:
        """Return the id of a query that a file names by id, text or position."""
        if not self.queries:
            return name
        query = self.queries.get(name) or self.queries.get(words_of(name))
        if query is None:
            fault = f"query {shown(name)} is not in the file of queries"
            raise InputError(file, None, fault, "expected its id or its text there")
        return query

    def _note_left_out(self, file: str, identical: int, excluded: int) -> None:
        if self.drop_identical:
            _note(f"{file}: {counted(identical, 'document')} with the id of the query left out")
        if self.excluded:
            _note(f"{file}: {counted(excluded, 'excluded document')} left out")

    def say(self, file: str, left_out: tuple[int, int, int, int]) -> None:
        """Note the numbers of documents of a run that the kernel folded and left out."""
        identical, excluded, before, after = left_out
        self._note_folded(file, before, after)
        if self.in_kernel:
            self._note_left_out(file, identical, excluded)

    def best(self, blocks: Iterable[RunColumns]) -> Iterator[RunColumns]:
        """Keep the best passage of each document in `folded` blocks of whole queries; note it."""
        before = after = 0
        file = ""
        for block in blocks:
            file = block.file
            before += len(block.score)
            if self.fold is not None:
                first = block.document.first_rows(block.group())
                block = block.kept(_best_rows(first, block.score))
            after += len(block.score)
            yield block
        self._note_folded(file, before, after)

    def _note_folded(self, file: str, lines: int, documents: int) -> None:
        # Texts are folded by their words, perhaps without repetitions.
        if self.fold is not None and (documents < lines or self.unseen is None):
            _note(f"{file}: {counted(lines, 'line')} folded into {counted(documents, 'document')}")

    def qrels(self, columns: QrelsColumns) -> QrelsColumns:
        """Fold judgements: a document gets the highest level of its passages."""
        if self.queries:
            names = (self._query(columns.file, name) for name in columns.query)
            columns = columns._replace(query=Tokens.from_strings(names))
        if self.fold is None:
            return columns
        document = Tokens.from_strings(map(self.fold.parent, columns.document))
        if self.unseen is not None:
            self.unseen.update(document)
        worth = columns.level if columns.gain is None else columns.gain
        first = document.first_rows(columns.query.first_rows())
        rows = _best_rows(first, worth)
        if len(rows) < len(document):
            count = counted(len(document), "judgement")
            _note(f"{columns.file}: {count} folded into {counted(len(rows), 'document')}")
        return columns._replace(
            query=columns.query.take(rows),
            iteration=columns.iteration.take(rows),
            document=document.take(rows),
            level=columns.level[rows],
            line=columns.line[rows],
            gain=None if columns.gain is None else columns.gain[rows],
        )


def _best_rows(document: IntArray, worth: IntArray | FloatArray) -> IntArray:
    """Return each document's row of maximum worth (the first if equal), ascending."""
    order = np.lexsort((-worth, document))
    rows: IntArray = np.sort(order[np.unique(document[order], return_index=True)[1]])
    return rows


def _note(text: str) -> None:
    warnings.warn(text, RagkpiNote, stacklevel=3)


_QUOTES = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b`\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb"), '"'),
}


def words_of(text: bytes) -> bytes:
    """Return the identity of a text: its words, normalised in Unicode form, case and quotes.

    >>> words_of("The  \u201cKelvin\u201d ".encode())
    b'the "kelvin"'
    """
    form = unicodedata.normalize("NFKC", text.decode("utf-8", "replace").translate(_QUOTES))
    return " ".join(form.casefold().split()).encode()


def parse_fold(text: str) -> Fold:
    """Parse ``--max-passage``; `UsageError` for an empty text or an expression without a group.

    The text is a separator, such as ``#``, after the document's id; or a regular expression between
    slashes, whose first group is the document's id; or ``@FILE``, with lines of chunk and document.
    """
    octets, option = text.encode("utf-8", "surrogateescape"), f"{spell('max_passage')} {text}"
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        try:
            pattern = re.compile(octets[1:-1])
        except re.error as problem:
            expected = "expected a regular expression between slashes"
            raise UsageError(f"{option}: {problem}; {expected}") from None
        if pattern.groups < 1:
            expected = "expected one around the document's id, such as /^(.*)_[0-9]+$/"
            raise UsageError(f"{option}: has no group; {expected}")

        def first_group(chunk: bytes) -> bytes:
            match = pattern.search(chunk)
            return (match[1] or chunk) if match else chunk

        return Fold(first_group)
    if text.startswith("@"):
        parents = _read_parents(text[1:])
        return Fold(lambda chunk: parents.get(chunk, chunk))
    if not text:
        raise UsageError(f"{spell('max_passage')} is empty; expected a separator, /REGEX/ or @FILE")
    separator = octets[0] if len(octets) == 1 else -1
    return Fold(lambda chunk: chunk.split(octets, 1)[0] or chunk, separator)


def _read_parents(path: str) -> dict[bytes, bytes]:
    table = read_table(path, _PARENTS)
    parents: dict[bytes, bytes] = {}
    for row, (chunk, document) in enumerate(zip(table.column(0), table.column(1), strict=True)):
        if parents.setdefault(chunk, document) != document:
            fault = f"chunk {shown(chunk)} of a second document"
            expected = "expected one document for each chunk"
            raise InputError(path, int(table.line[row]), fault, expected)
    return parents


def read_excluded(path: str) -> Excluded:
    """Read the file of ``--exclude``: lines of query and document, or BRIGHT's examples."""
    with Source(path) as source:
        if source.peek(_HEAD).lstrip()[:1] in (b"{", b"["):
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


def sieve_for(
    max_passage: str | None,
    drop_identical: bool,
    exclude: str | None,
    match: Literal["id", "text"] = "id",
    queries: Mapping[bytes, bytes] | None = None,
) -> Sieve | None:
    """Return the sieve that options describe; None without any.

    Errors as in `parse_fold` and `read_excluded`.
    """
    if (max_passage, exclude, queries, match) == (None, None, None, "id") and not drop_identical:
        return None
    if match == "text" and max_passage is not None:
        options = f"{spell('match', 'text')} and {spell('max_passage')}"
        raise UsageError(f"{options}: texts have no chunks; give one of the two")
    fold = None if max_passage is None else parse_fold(max_passage)
    list_ = max_passage[1:] if max_passage and max_passage.startswith("@") else None
    choices = [
        f"max_passage={_digest(list_) if list_ else max_passage}" if max_passage else "",
        "match=text" if match == "text" else "",
        "queries" if queries else "",
        "ignore_identical_ids" if drop_identical else "",
        f"exclude={_digest(exclude)}" if exclude is not None else "",
    ]
    return Sieve(
        Fold(words_of) if match == "text" else fold,
        drop_identical,
        {} if exclude is None else read_excluded(exclude),
        options=quote(",".join(filter(None, choices)), ","),
        queries=queries or {},
        unseen=set() if match == "text" else None,
    )


def _digest(path: str) -> str:
    return f"sha256:{inputs().sha256(path)}"
