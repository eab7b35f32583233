"""`CheckedFile`: a run read part after part, past all that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from ragkpi.formats.blocks import BLOCK_SIZE, BlockReader
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.file_formats import Reading, run_format
from ragkpi.formats.groups import group_starts
from ragkpi.formats.line_scanner import Lines
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import IntArray, Tokens
from ragkpi.formats.trec_runs import RunColumns, no_results, scan_whole_queries
from ragkpi.ranking.hits import ScatteredQueryError
from ragkpi.ranking.scattered import number_ids, regroup_run, whole_queries
from ragkpi.studies.check.checked_run import CheckedRun
from ragkpi.studies.check.problems import Problems, note_extra_columns, scan_tolerantly
from ragkpi.wording import shown

T = TypeVar("T")


class CheckedFile:
    """A run that is read for its mistakes, part after part; again, if it comes to that.

    Parameters
    ----------
    source
        The opened file.
    reading
        How it is to be read; None recognises it.
    block_size
        Bytes that are looked at at a time.

    Attributes
    ----------
    scattered
        Whether the lines of a query need not stand together: then all of the run is one part.
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
        """Return what a function makes of the parts.

        Only TREC runs have lines that one can pass over: any other format raises `InputError` for
        the first one, as do files that cannot be read at all. Where the lines of a query do not
        stand together, all of the run is one part.
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
            if self._reader.splittable
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
        """Yield a run of another format than TREC."""
        if not self.scattered:
            for block in self._reader.sieved(whole_queries(self._reader.stream_run(self._source))):
                yield _of_columns([block], problems)
            return
        blocks = list(self._reader.hold_run(self._source))
        if self._reader.sieve or any(block.by_rank is not None for block in blocks):
            regrouped = list(self._reader.sieved(regroup_run(blocks)))
            blocks = regrouped if self._reader.sieve else blocks
        if blocks:
            yield _of_columns(blocks, problems)


def _of_columns(blocks: Sequence[RunColumns], problems: Problems) -> CheckedRun:
    sizes = np.concatenate([np.diff(block.starts) for block in blocks])
    query = Tokens.joined([block.query for block in blocks])
    number, representative = number_ids(query)
    return CheckedRun(
        file=blocks[0].file,
        queries=query.take(representative).tolist(),
        query=np.repeat(number, sizes),
        document=Tokens.joined([block.document for block in blocks]),
        score=np.concatenate([block.score for block in blocks]),
        line=np.concatenate([block.line for block in blocks]),
        rank=None,
        run_id=None,
        last_run_id=blocks[-1].run_id,
        stretches=_count_stretches(number),
        problems=problems,
    )


def _empty(path: str, problems: Problems) -> CheckedRun:
    nothing: IntArray = np.empty(0, dtype=np.int64)
    no_ids = Tokens.from_strings([])
    return CheckedRun(
        path, [], nothing, no_ids, np.empty(0), nothing, no_ids, no_ids, b"", 0, problems
    )


def _lines_of(source: Source, problems: Problems, block_size: int | None) -> Iterator[CheckedRun]:
    """Yield a TREC run block by block; without a size of blocks, as one part."""
    scan_lines = partial(scan_tolerantly, problems=problems)
    if block_size is not None:
        reader = BlockReader(source, block_size)
        for block, table, _, used in scan_whole_queries(reader, reader.read(), scan_lines, 0):
            lines = table.first(used)
            note_extra_columns(block, lines, problems)
            part = _of_lines(source.name, [lines], problems)
            if part is not None:
                yield part
        return
    whole = BlockReader(source, BLOCK_SIZE if source.size is None else source.size + 1).read_all()
    tables = []
    for block in whole.split(BLOCK_SIZE) if whole is not None else ():
        table = scan_lines(block)
        if len(table):
            note_extra_columns(block, table, problems)
            tables.append(table)
    part = _of_lines(source.name, tables, problems) if tables else None
    if part is not None:
        yield part


def _of_lines(file: str, tables: Sequence[Lines], problems: Problems) -> CheckedRun | None:
    """Return the lines whose score is a number; the others are noted."""
    query, document, rank, score_text, run_id = (
        Tokens.joined([table.column(column) for table in tables]) for column in (0, 2, 3, 4, 5)
    )
    line = np.concatenate([table.line for table in tables])
    score = parse_decimals(score_text)
    wrong = np.isnan(score)
    if wrong.any():
        for row in np.flatnonzero(wrong).tolist():
            problems.add("number", int(line[row]), f"score {shown(score_text[row])}")
        kept = np.flatnonzero(~wrong)
        if not len(kept):
            return None
        query, document, rank, run_id = (
            column.take(kept) for column in (query, document, rank, run_id)
        )
        line, score = line[kept], score[kept]
    starts = group_starts(query)
    ids = query.take(starts[:-1])
    number, representative = number_ids(ids)
    return CheckedRun(
        file=file,
        queries=ids.take(representative).tolist(),
        query=np.repeat(number, np.diff(starts)),
        document=document,
        score=score,
        line=line,
        rank=rank,
        run_id=run_id,
        last_run_id=run_id[len(line) - 1],
        stretches=_count_stretches(number),
        problems=problems,
    )


def _count_stretches(number: IntArray) -> int:
    return 1 + int(np.count_nonzero(np.diff(number)))
