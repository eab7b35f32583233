"""`CheckedRun`: all of a run that can be read, and what cannot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ragkpi.errors import InputError
from ragkpi.formats.blocks import BLOCK_SIZE, Block, BlockReader
from ragkpi.formats.decimals import parse_decimals
from ragkpi.formats.file_formats import Reading, run_format
from ragkpi.formats.identity import group_starts, tail_keys
from ragkpi.formats.integers import parse_integers
from ragkpi.formats.line_scanner import Lines, scan
from ragkpi.formats.opening import Source
from ragkpi.formats.tokens import BoolArray, FloatArray, IntArray, Tokens
from ragkpi.formats.trec_runs import LINE, no_results
from ragkpi.ranking.duplicates import find_duplicate
from ragkpi.ranking.order import sort_rows
from ragkpi.ranking.scattered import number_ids, regroup_run
from ragkpi.wording import shown

Kind = Literal["columns", "number", "nul_byte", "extra_columns"]

_MOST_KEPT = 100


class Problem(NamedTuple):
    """A line that cannot be read, or only in part."""

    line: int
    text: str


class Problems:
    """How many lines have a problem of each kind, and the first of them."""

    def __init__(self) -> None:
        self.count: Counter[Kind] = Counter()
        self.first: dict[Kind, list[Problem]] = {}

    def add(self, kind: Kind, line: int, text: str) -> None:
        """Note a line."""
        self.count[kind] += 1
        if self.count[kind] <= _MOST_KEPT:
            self.first.setdefault(kind, []).append(Problem(line, text))


@dataclass(frozen=True)
class CheckedRun:
    """The n readable lines of a run, in the order of the file.

    Attributes
    ----------
    file
        What messages call it.
    queries : list of bytes, length Q
        Ids as they first appear.
    query : (n,)
        The number of each line's query.
    document, score, line : length n
        As in `RunColumns`.
    rank, run_id : Tokens of length n, or None
        Columns that only TREC runs have.
    last_run_id
        The run id of the last line.
    places
        How many stretches of neighbouring lines the queries take up; Q if none is scattered.
    problems
        Lines that could not be read.
    """

    file: str
    queries: list[bytes]
    query: IntArray
    document: Tokens
    score: FloatArray
    line: IntArray
    rank: Tokens | None
    run_id: Tokens | None
    last_run_id: bytes
    places: int
    problems: Problems

    def __len__(self) -> int:
        return len(self.line)

    @cached_property
    def order(self) -> IntArray:
        """Rows by query, score descending and id descending: trec_eval's ranking, (n,)."""
        return sort_rows(self.query, self.score, self.document)

    @cached_property
    def starts(self) -> IntArray:
        """Where each query begins in `order`, and the length at the end, (Q+1,)."""
        return np.searchsorted(self.query[self.order], np.arange(len(self.queries) + 1))

    @cached_property
    def first_row(self) -> IntArray:
        """The first row of each query in the file, (Q,)."""
        return np.unique(self.query, return_index=True)[1]

    @cached_property
    def ranks(self) -> IntArray:
        """The 1-based rank of each place of `order`, (n,)."""
        sizes = np.diff(self.starts)
        ranks: IntArray = np.arange(len(self)) - np.repeat(self.starts[:-1], sizes) + 1
        return ranks

    @cached_property
    def tied_with_above(self) -> BoolArray:
        """Whether the place of `order` above each one has its query and score, (n,)."""
        query, score = self.query[self.order], self.score[self.order]
        tied = np.zeros(len(self), dtype=bool)
        tied[1:] = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        return tied

    @cached_property
    def repeated(self) -> tuple[IntArray, IntArray]:
        """Rows whose query had their document before, and the row where that was first."""
        ranked = self.document.take(self.order)
        if find_duplicate(self.starts, ranked, tail_keys(ranked)) is None:  # as in nearly all runs
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        number, _ = number_ids(self.document)
        order = np.lexsort((self.line, number, self.query))
        again = np.zeros(len(self), dtype=bool)
        again[1:] = (np.diff(self.query[order]) == 0) & (np.diff(number[order]) == 0)
        first = np.maximum.accumulate(np.where(again, 0, np.arange(len(self))))
        return order[again], order[first[again]]

    @cached_property
    def rank_numbers(self) -> tuple[IntArray, BoolArray] | None:
        """What the rank column says, and where that is a whole number; None without one."""
        return None if self.rank is None else parse_integers(self.rank)

    @cached_property
    def different_run_ids(self) -> tuple[IntArray, IntArray] | None:
        """The run id of each row by number, and a row that has each; None without a column."""
        return None if self.run_id is None else number_ids(self.run_id)


def read_checked_run(source: Source, format_name: Reading | str | None = None) -> CheckedRun:
    """Read a run and pass over what cannot be read.

    Only TREC runs have lines that one can pass over: any other format raises `InputError` for
    the first one, as do files that cannot be read at all.
    """
    format_ = run_format(source, format_name)
    if format_.splittable:
        return _read_trec(source)
    parts = list(format_.hold_run(source))
    if format_.sieve:
        parts = list(format_.sieved(regroup_run(parts)))
    if not parts:
        return _empty(source.name, Problems())
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    query = Tokens.joined([part.query for part in parts])
    number, representative = number_ids(query)
    return CheckedRun(
        file=source.name,
        queries=query.take(representative).tolist(),
        query=np.repeat(number, sizes),
        document=Tokens.joined([part.document for part in parts]),
        score=np.concatenate([part.score for part in parts]),
        line=np.concatenate([part.line for part in parts]),
        rank=None,
        run_id=None,
        last_run_id=parts[-1].run_id,
        places=_count_places(number),
        problems=Problems(),
    )


def _empty(path: str, problems: Problems) -> CheckedRun:
    if not problems.count:
        raise no_results(path)
    nothing: IntArray = np.empty(0, dtype=np.int64)
    no_ids = Tokens.from_strings([])
    return CheckedRun(
        path, [], nothing, no_ids, np.empty(0), nothing, no_ids, no_ids, b"", 0, problems
    )


def _read_trec(source: Source) -> CheckedRun:
    size = BLOCK_SIZE if source.size is None else source.size + 1
    whole = BlockReader(source, size).read_all()
    problems = Problems()
    tables = []
    for block in whole.split(BLOCK_SIZE) if whole is not None else ():
        table = _scan_tolerantly(block, problems)
        if len(table):
            _note_extra_columns(block, table, problems)
            tables.append(table)
    if not tables:
        return _empty(source.name, problems)
    query, _, document, rank, score_text, run_id = (
        Tokens.joined([table.column(column) for table in tables]) for column in range(6)
    )
    line = np.concatenate([table.line for table in tables])
    score = parse_decimals(score_text)
    for row in np.flatnonzero(np.isnan(score)).tolist():
        problems.add("number", int(line[row]), f"score {shown(score_text[row])}")
    kept = np.flatnonzero(~np.isnan(score))
    if not len(kept):
        return _empty(source.name, problems)
    query, document, rank, run_id = (
        column.take(kept) for column in (query, document, rank, run_id)
    )
    starts = group_starts(query)
    ids = query.take(starts[:-1])
    number, representative = number_ids(ids)
    return CheckedRun(
        file=source.name,
        queries=ids.take(representative).tolist(),
        query=np.repeat(number, np.diff(starts)),
        document=document,
        score=score[kept],
        line=line[kept],
        rank=rank,
        run_id=run_id,
        last_run_id=run_id[len(kept) - 1],
        places=_count_places(number),
        problems=problems,
    )


def _count_places(number: IntArray) -> int:
    return 1 + int(np.count_nonzero(np.diff(number)))


def _scan_tolerantly(block: Block, problems: Problems) -> Lines:
    """Find the columns of all lines that have them; the others are noted, and blanked."""
    try:
        return scan(block, LINE)
    except InputError:
        start = block.start
        for number, line in enumerate(_lines(block), start=block.first_line):
            if not _readable(number, line, problems):
                block.buffer[start : start + len(line)] = ord(" ")
            start += len(line) + 1
    return scan(block, LINE)


def _lines(block: Block) -> list[bytes]:
    return block.buffer[block.start : block.end].tobytes().split(b"\n")[:-1]


def _readable(number: int, line: bytes, problems: Problems) -> bool:
    """Say whether a line is a result, a comment or blank; note it if it is none of them."""
    if b"\0" in line:
        problems.add("nul_byte", number, f"a NUL byte ({shown(line)})")
        return False
    words = line.split()
    if not words or words[0].startswith(b"#") or len(words) >= len(LINE.columns):
        return True
    problems.add("columns", number, f"{len(words)} columns ({shown(line)})")
    return False


def _note_extra_columns(block: Block, table: Lines, problems: Problems) -> None:
    """Note the lines on which anything follows the run id."""
    end = table.column(len(LINE.columns) - 1).end
    following = block.buffer[end]
    rows = np.flatnonzero((following != ord("\n")) & (following != ord("\r")))
    newlines = block.start + np.flatnonzero(block.buffer[block.start : block.end] == ord("\n"))
    rests = Tokens(block.buffer, end[rows], newlines[np.searchsorted(newlines, end[rows])])
    for line, rest in zip(table.line[rows].tolist(), rests, strict=True):
        if rest.strip():
            count = len(LINE.columns) + len(rest.split())
            text = f"{count} columns, the last of them {shown(rest.strip())}"
            problems.add("extra_columns", line, text)
