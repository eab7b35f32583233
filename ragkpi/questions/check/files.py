"""Tolerant reading of runs for checks: unreadable lines are noted and skipped, and the mended run.

A run is read in parts of whole queries, so that checks run in bounded memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from ragkpi.arrays import BoolArray, FloatArray, IntArray
from ragkpi.files.formats import Reading, run_format
from ragkpi.files.lines import (
    BLOCK_SIZE,
    Block,
    LineColumns,
    Tokens,
    blocks,
    split_lines,
    whole_text,
)
from ragkpi.files.opening import Source
from ragkpi.files.trec import RUN_LINE as LINE
from ragkpi.files.trec import RunColumns, no_results, ranked, whole_queries
from ragkpi.files.writing import Rankings
from ragkpi.ranking.judgements import Judgements
from ragkpi.ranking.reading import ScatteredQueryError
from ragkpi.wording import counted, named, shown

ProblemKind = Literal["columns", "number", "nul_byte", "extra_columns"]

MOST_EXAMPLES = 3


class Example(NamedTuple):
    """A line number of the run (None for the whole file), and the problem on that line."""

    line: int | None
    text: str


class Problems:
    """The number of lines with each kind of problem, and the first examples."""

    def __init__(self) -> None:
        self.count: Counter[ProblemKind] = Counter()
        self.first: dict[ProblemKind, list[Example]] = {}

    def add(self, kind: ProblemKind, line: int, text: str) -> None:
        self.count[kind] += 1
        if self.count[kind] <= MOST_EXAMPLES:
            self.first.setdefault(kind, []).append(Example(line, text))


def scan_tolerantly(block: Block, problems: Problems) -> LineColumns:
    """Split lines with all columns; note the other lines, and text after the run id."""
    lines, wrong = split_lines(
        block, len(LINE.columns), extra=LINE.extra, comments=LINE.comments, wrong="all"
    )
    for line in wrong:
        if b"\0" in line.text:
            problems.add("nul_byte", line.number, f"a NUL byte ({shown(line.text)})")
        else:
            count = len(line.text.split())
            problems.add("columns", line.number, f"{count} columns ({shown(line.text)})")
    end = lines.end[:, -1]
    rows = np.flatnonzero(end < lines.stop)
    rests = Tokens(lines.text, end[rows], lines.stop[rows])
    for number, rest in zip(lines.line[rows].tolist(), rests, strict=True):
        if rest.strip():
            count = len(LINE.columns) + len(rest.split())
            text = f"{count} columns, the last of them {shown(rest.strip())}"
            problems.add("extra_columns", number, text)
    return lines


@dataclass(frozen=True)
class CheckedRun:
    """The n readable lines of a run, or of some of its queries, in the order of the file."""

    file: str
    queries: list[bytes]  # length Q: ids, in order of appearance
    query: IntArray  # (n,): index of each line's query
    document: Tokens  # length n, as in `RunColumns`
    score: FloatArray
    line: IntArray
    rank: Tokens | None  # only in TREC runs
    run_id: Tokens | None  # only in TREC runs
    last_run_id: bytes
    stretches: int  # number of blocks of neighbouring lines of a query; Q if none is scattered
    problems: Problems  # the unreadable lines of all parts so far

    def __len__(self) -> int:
        return len(self.line)

    def name_of_query(self, row: int) -> str:
        return named(self.queries[self.query[row]])

    @cached_property
    def order(self) -> IntArray:
        """Rows by query, score descending and id descending: trec_eval's ranking, (n,)."""
        if self._is_by_query and not self._is_tied_or_rising(self.score):
            return np.arange(len(self))
        order: IntArray = np.lexsort((-self.score, self.query))
        query, score = self.query[order], self.score[order]
        ties = np.flatnonzero((query[1:] != query[:-1]) | (score[1:] != score[:-1])) + 1
        bounds = np.concatenate([[0], ties, [len(order)]])
        for tie in np.flatnonzero(np.diff(bounds) > 1).tolist():
            rows = order[bounds[tie] : bounds[tie + 1]]
            ids = self.document.take(rows).tolist()
            by_id = sorted(range(len(ids)), key=ids.__getitem__, reverse=True)
            order[bounds[tie] : bounds[tie + 1]] = rows[by_id]
        return order

    @cached_property
    def ranked(self) -> Tokens:
        return self.document.take(self.order)

    @cached_property
    def order_by_rank(self) -> IntArray:
        """Rows by query, rank column (if it holds numbers) and line, (n,)."""
        return self.ordered(self.line if self.rank_numbers is None else self.rank_numbers[0])

    def ordered(self, key: IntArray) -> IntArray:
        """Return rows by query, a key and line, (n,)."""
        if self._is_by_query and not self._is_tied_or_rising(-key):
            return np.arange(len(self))
        return np.lexsort((self.line, key, self.query))

    @cached_property
    def _is_by_query(self) -> bool:
        return bool((self.query[1:] >= self.query[:-1]).all())

    def _is_tied_or_rising(self, value: FloatArray | IntArray) -> bool:
        """Return whether any value equals or exceeds the previous one of its query."""
        return bool(((self.query[1:] == self.query[:-1]) & (value[1:] >= value[:-1])).any())

    @cached_property
    def starts(self) -> IntArray:
        """The start of each query in `order`, and finally its length, (Q+1,)."""
        return np.append(0, np.cumsum(np.bincount(self.query, minlength=len(self.queries))))

    @cached_property
    def first_row(self) -> IntArray:
        """The first row of each query in the file, (Q,); 0 for a query without rows."""
        first = np.zeros(len(self.queries), dtype=np.int64)
        queries, rows = np.unique(self.query, return_index=True)
        first[queries] = rows
        return first

    @cached_property
    def ranks(self) -> IntArray:
        """The 1-based rank of each place of `order`, (n,)."""
        sizes = np.diff(self.starts)
        ranks: IntArray = np.arange(len(self)) - np.repeat(self.starts[:-1], sizes) + 1
        return ranks

    @cached_property
    def tied_with_above(self) -> BoolArray:
        """Whether each row of `order` has the query and score of the previous row, (n,)."""
        query, score = self.query[self.order], self.score[self.order]
        tied = np.zeros(len(self), dtype=bool)
        tied[1:] = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        return tied

    @cached_property
    def repeated(self) -> tuple[IntArray, IntArray]:
        """The rows that repeat a document of their query, and the rows of its first appearance."""
        first = self.document.first_rows(self.query)
        again = np.flatnonzero(first != np.arange(len(self)))
        return again, first[again]

    @cached_property
    def rank_numbers(self) -> tuple[IntArray, BoolArray] | None:
        """The rank column, and whether each entry is a whole number; None without the column."""
        if self.rank is None:
            return None
        rank = self.rank.numbers()
        whole = np.abs(rank) < 2.0**53
        whole &= rank == np.floor(rank, where=whole, out=np.zeros_like(rank))
        return np.where(whole, rank, 0).astype(np.int64), whole

    @cached_property
    def first_of_run_ids(self) -> dict[int, bytes]:
        """The distinct run ids by their first rows; empty without the column."""
        if self.run_id is None:
            return {}
        rows = np.unique(self.run_id.first_rows())
        return dict(zip(rows.tolist(), self.run_id.take(rows).tolist(), strict=True))


T = TypeVar("T")


class CheckedFile:
    """A file to read for its mistakes, part by part, once or several times.

    Without a `reading`, the format is recognised. If some query's lines are scattered, the whole
    run is one part.
    """

    def __init__(
        self,
        source: Source,
        reading: Reading | str | None = None,
        block_size: int = BLOCK_SIZE,
        judgements: Judgements | None = None,
    ) -> None:
        self.name = source.name
        self._source = source
        self._reader = run_format(source, reading)
        if judgements is not None:
            self._reader = self._reader._replace(judged=(judgements.file, judgements.origin))
        self._block_size = block_size
        self.scattered = False
        self._read_before = False
        source.keep_copy()

    def through(self, use: Callable[[Iterator[CheckedRun]], T]) -> T:
        """Call a function with the parts, and return its result.

        If a query turns out to be scattered, call the function again with the whole run as one
        part. Only TREC runs allow skipping unreadable lines; other formats raise `InputError` for
        the first one, as do files that are wholly unreadable.
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
        """Yield a run that is not in TREC format, or whose documents are filtered."""
        columns = self._reader.stream_columns(self._source)
        if not self.scattered:
            for part in self._sieved(columns):
                yield _of_columns(part, problems)
        elif parts := list(columns):
            run = RunColumns.joined(parts)
            sieved = RunColumns.joined(list(self._sieved([run])))
            yield _of_columns(sieved if self._reader.sieve else run, problems)

    def _sieved(self, parts: Iterable[RunColumns]) -> Iterator[RunColumns]:
        parts = whole_queries(parts, held=self.scattered)
        if self._reader.name != "trec":
            parts = ranked(parts)
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
    """Number queries by first appearance: return each query's first row, and each row's number."""
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
            yield from _of_lines(source.name, lines, problems)
        return
    last: LineColumns | None = None  # a block's last query, which may continue in the next block
    for block in blocks(source, block_size):
        lines = scan_tolerantly(block, problems)
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
    """Yield the lines with numeric scores, if any; note the others."""
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


class Mender:
    """Mends a run part by part, and counts the changes."""

    def __init__(self, max_hits: int | None = None) -> None:
        self._max_hits = max_hits
        self._unreadable = self._repeated = self._moved = self._cut = 0
        self._run_ids: set[bytes] = set()
        self._numbered = True

    def rankings(self, parts: Iterable[CheckedRun]) -> Iterator[Rankings]:
        """Yield queries by first appearance, with documents by score and id."""
        for run in parts:
            mended = without_repetitions(run)
            self._count(run, mended)
            query = Tokens.from_strings(mended.queries)
            rankings = Rankings(query, mended.starts, mended.ranked, mended.score[mended.order])
            yield rankings if self._max_hits is None else rankings.cut(self._max_hits)

    def _count(self, run: CheckedRun, mended: CheckedRun) -> None:
        self._unreadable = sum(
            run.problems.count[kind] for kind in ("columns", "number", "nul_byte")
        )
        self._repeated += len(run) - len(mended)
        self._moved += int(np.count_nonzero(run.order != np.arange(len(run))))
        if self._max_hits is not None:
            self._cut += int(np.maximum(np.diff(mended.starts) - self._max_hits, 0).sum())
        self._run_ids.update(run.first_of_run_ids.values())
        if mended.rank_numbers is not None:
            numbers, valid = mended.rank_numbers
            self._numbered &= bool(valid.all() and (numbers[mended.order] == mended.ranks).all())

    @property
    def changes(self) -> list[str]:
        repeated = counted(self._repeated, "repeated document")
        changes = {
            f"dropped {counted(self._unreadable, 'line')} that cannot be read": self._unreadable,
            f"dropped {repeated}, keeping the highest score of each": self._repeated,
            "sorted the lines by query, score and document": self._moved,
            f"cut {counted(self._cut, 'document')} below rank {self._max_hits}": self._cut,
            "gave all lines the last run id": len(self._run_ids) > 1,
            "numbered the ranks from 1 by the scores": not self._numbered,
        }
        return [change for change, made in changes.items() if made]


def without_repetitions(run: CheckedRun) -> CheckedRun:
    """Keep only the best-ranked row of every document that a query retrieves several times."""
    if not len(run.repeated[0]):
        return run
    ranked = _select(run, run.order)  # the first row of a document is now its best
    again, _ = replace(ranked, line=np.arange(len(run))).repeated
    kept = np.ones(len(run), dtype=bool)
    kept[run.order[again]] = False
    return _select(run, kept)


def _select(run: CheckedRun, rows: IntArray | BoolArray) -> CheckedRun:
    return replace(
        run,
        query=run.query[rows],
        document=run.document.take(rows),
        score=run.score[rows],
        line=run.line[rows],
        rank=None if run.rank is None else run.rank.take(rows),
        run_id=None if run.run_id is None else run.run_id.take(rows),
    )
