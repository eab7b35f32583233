"""`CheckedFile`: a run read part after part, past the lines that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from ragkpi.formats.file_formats import Reading, run_format
from ragkpi.formats.lines import BLOCK_SIZE, LineColumns, blocks, whole_text
from ragkpi.formats.opening import Source
from ragkpi.formats.score_order import ranked_once
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns, no_results, regrouped, whole_queries
from ragkpi.ranking.reading import ScatteredQueryError
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.studies.check.problems import Problems, note_extra_columns, scan_tolerantly
from ragkpi.wording import shown

T = TypeVar("T")


class CheckedFile:
    """A file that is read for its mistakes, part after part, once or several times.

    Parameters
    ----------
    source
        The opened file.
    reading
        How to read it; None recognises the format.
    block_size
        How many bytes are read at a time.

    Attributes
    ----------
    scattered
        Whether the lines of some query are not neighbours; the whole run is then one part.
    """

    def __init__(
        self, source: Source, reading: Reading | str | None = None, block_size: int = BLOCK_SIZE
    ) -> None:
        self.name = source.name
        self._source = source
        self._reader = run_format(source, reading)
        self._block_size = block_size
        self.scattered = False
        self._read_before = False
        source.keep_copy()

    def through(self, use: Callable[[Iterator[CheckedRun]], T]) -> T:
        """Call a function with the parts, and return its result.

        The function is called again, with the whole run as one part, when a query turns out to be
        scattered. Unreadable lines are skipped in TREC runs alone; other formats raise
        `InputError` for the first one, as do files that cannot be read at all.
        """
        try:
            return use(self._parts())
        except ScatteredQueryError:
            self.scattered = True
            return use(self._parts())

    def _parts(self) -> Iterator[CheckedRun]:
        if self._read_before:
            self._source.restart()
        self._read_before = True
        problems = Problems()
        parts = (
            _lines_of(self._source, problems, None if self.scattered else self._block_size)
            if self._reader.has_lines
            else self._blocks_of(problems)
        )
        seen: set[bytes] = set()
        last = None
        for part in parts:
            before = len(seen)
            seen.update(part.queries)
            again = part.stretches > len(part.queries) or len(seen) < before + len(part.queries)
            if again and not self.scattered:
                raise ScatteredQueryError
            last = part
            yield part
        if last is None:
            if not problems.count:
                raise no_results(self.name)
            yield _empty(self.name, problems)

    def _blocks_of(self, problems: Problems) -> Iterator[CheckedRun]:
        """Yield a run of another format than TREC, or one whose documents are filtered."""
        columns = self._reader.stream_columns(self._source)
        if not self.scattered:
            for part in self._sieved(whole_queries(columns)):
                yield _of_columns(part, problems)
        elif parts := list(columns):
            run = RunColumns.joined(parts)
            (sieved,) = self._sieved(iter([regrouped(run)]))
            yield _of_columns(sieved if self._reader.sieve else run, problems)

    def _sieved(self, parts: Iterator[RunColumns]) -> Iterator[RunColumns]:
        if self._reader.name != "trec":
            parts = map(ranked_once, parts)
        return self._reader.sieve.run(parts) if self._reader.sieve else parts


def _of_columns(run: RunColumns, problems: Problems) -> CheckedRun:
    first, number = _numbered(run.query)
    return CheckedRun(
        file=run.file,
        queries=run.query.take(first).tolist(),
        query=np.repeat(number, np.diff(run.starts)),
        document=run.document,
        score=run.score,
        line=run.line,
        rank=None,
        run_id=None,
        last_run_id=run.run_id,
        stretches=_count_stretches(number),
        problems=problems,
    )


def _numbered(query: Tokens) -> tuple[IntArray, IntArray]:
    """Number queries as they first appear: return the first row of each, and each row's number."""
    first, number = np.unique(query.first_rows(), return_inverse=True)
    return first, number


def _empty(path: str, problems: Problems) -> CheckedRun:
    nothing: IntArray = np.empty(0, dtype=np.int64)
    no_ids = Tokens.from_strings([])
    return CheckedRun(
        path, [], nothing, no_ids, np.empty(0), nothing, no_ids, no_ids, b"", 0, problems
    )


def _lines_of(source: Source, problems: Problems, block_size: int | None) -> Iterator[CheckedRun]:
    """Yield a TREC run in parts of whole queries; without a block size, as one part."""
    if block_size is None:
        whole = whole_text(source)
        if whole is not None and len(lines := scan_tolerantly(whole, problems)):
            note_extra_columns(lines, problems)
            yield from _of_lines(source.name, lines, problems)
        return
    last: LineColumns | None = None  # the last query of a block may continue in the next block
    for block in blocks(source, block_size):
        lines = scan_tolerantly(block, problems)
        note_extra_columns(lines, problems)
        if not len(lines):
            continue
        lines = lines if last is None else last.joined(lines)
        first = int(lines.column(0).changes()[-2])
        last = lines.rows(slice(first, None))
        if first:
            yield from _of_lines(source.name, lines.rows(slice(first)), problems)
    if last is not None:
        yield from _of_lines(source.name, last, problems)


def _of_lines(file: str, lines: LineColumns, problems: Problems) -> Iterator[CheckedRun]:
    """Yield the lines whose score is a number, if there are any; note the others."""
    score_text = lines.column(4)
    score = score_text.numbers()
    wrong = np.isnan(score)
    for row in np.flatnonzero(wrong).tolist():
        problems.add("number", int(lines.line[row]), f"score {shown(score_text[row])}")
    if wrong.all():
        return
    if wrong.any():
        lines, score = lines.rows(np.flatnonzero(~wrong)), score[~wrong]
    first, number = _numbered(lines.column(0))
    run_id = lines.column(5)
    yield CheckedRun(
        file=file,
        queries=lines.column(0).take(first).tolist(),
        query=number,
        document=lines.column(2),
        score=score,
        line=lines.line,
        rank=lines.column(3),
        run_id=run_id,
        last_run_id=run_id[len(lines) - 1],
        stretches=_count_stretches(number),
        problems=problems,
    )


def _count_stretches(number: IntArray) -> int:
    return 1 + int(np.count_nonzero(np.diff(number)))
