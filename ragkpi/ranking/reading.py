"""Read runs, from files or memory, into `Hits`: the judged documents that the kernel finds."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from threading import local
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ragkpi import kernel
from ragkpi.arrays import IntArray
from ragkpi.errors import DataError, InputError, RagkpiError, UsageError
from ragkpi.files import lines, opening
from ragkpi.files.formats import FileReader, Reading, reader_of
from ragkpi.files.lines import Tokens, WrongLine, wrong_columns
from ragkpi.files.opening import Source
from ragkpi.files.roles import RunRole, falling
from ragkpi.files.trec import (
    DECIMAL,
    RunColumns,
    best_first,
    id_with_space,
    no_results,
    ranked,
    refuse_carriage_returns,
    whole_queries,
)
from ragkpi.files.trec import RUN_LINE as LINE
from ragkpi.interface import spell
from ragkpi.ranking.judgements import Judgements, TiedRanks
from ragkpi.wording import named, shown

if TYPE_CHECKING:
    from ragkpi._kernel import Names, Results
    from ragkpi.files.shapes import Shape


DEEPEST = 2**32 - 1
"""A depth beyond the end of every ranking."""


class RunParts(NamedTuple):
    """The parts of a run to keep besides its hits."""

    documents: Literal["ignored", "counted"] = "ignored"  # "counted": keep all ids
    depth: int = 0  # keep the names of all documents of judged queries down to this rank


JUDGED_ONLY = RunParts()
_NO_INTS: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TopDocuments:
    """The n top documents of G judged queries of a run, down to some rank."""

    query: IntArray
    starts: IntArray
    document: Tokens

    @property
    def group(self) -> IntArray:
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    @property
    def rank(self) -> IntArray:
        return np.arange(len(self.document)) - self.starts[self.group] + 1


NO_NAMES = TopDocuments(_NO_INTS, np.zeros(1, dtype=np.int64), Tokens.from_strings([]))


class Beginning(NamedTuple):
    """The first lines of a run, searched for signs of mistakes."""

    documents: list[tuple[int, bytes]]  # of judged queries: the number of the query, and an id
    rising: int  # the number of rankings with ascending scores
    ordered: int  # the number of rankings with different scores
    flat: int  # the number of rankings with a single score
    several: int  # the number of rankings of two documents or more


NO_BEGINNING = Beginning([], 0, 0, 0, 0)


@dataclass(frozen=True, eq=False)
class Hits:
    """The G queries and H judged documents that a run, or a part of it, retrieved, unordered."""

    queries: list[bytes]  # in the order of the file, judged or not
    query: IntArray  # (G,), their numbers in the judgements; -1: not judged
    num_ret: IntArray  # (G,), the number of retrieved documents
    judgement: IntArray  # (H,), rows of the judgements
    rank: IntArray  # (H,), from 1
    run_id: bytes  # of the last line
    documents: kernel.Ids | None = None  # if counted
    top: TopDocuments = NO_NAMES
    beginning: Beginning = NO_BEGINNING
    tied: TiedRanks | None = None
    format: str = ""  # of the file

    def rows_of_top(self, judgements: Judgements) -> IntArray:
        """Return the row of each hit in `top`, or -1 for a deeper hit, (H,)."""
        first, size = np.zeros((2, len(judgements.queries)), dtype=np.int64)
        first[self.top.query], size[self.top.query] = self.top.starts[:-1], np.diff(self.top.starts)
        query = judgements.query[self.judgement]
        return np.where(self.rank <= size[query], first[query] + self.rank - 1, -1)

    @property
    def is_tied(self) -> bool:
        """Whether a judged document has the score of another document of its query."""
        return self.tied is not None and bool((self.tied.first != self.tied.last).any())

    def among_ties(self, judgements: Judgements, first: FirstOfTies) -> Hits:
        """Put the best levels, or the worst, first among equal scores; the others stay."""
        if self.tied is None:
            return self
        # An unjudged document, which is no hit, gains as little as level 0.
        level = np.maximum(judgements.level[self.judgement], 0)
        query, above = judgements.query[self.judgement], self.tied.first
        order = np.lexsort((-level if first == "best" else level, above, query))
        begins = np.flatnonzero(
            (np.diff(query[order], prepend=-1) != 0) | (np.diff(above[order], prepend=0) != 0)
        )
        size = np.diff(begins, append=len(order))
        place = np.arange(len(order)) - np.repeat(begins, size)
        if first == "best":
            places = above[order] + place
        else:
            places = self.tied.last[order] - np.repeat(size, size) + 1 + place
        rank = self.rank.copy()
        rank[order] = places
        return replace(self, rank=rank)


FirstOfTies = Literal["best", "worst"]
"""The levels that come first among equal scores."""
NOTHING_RETRIEVED = Hits([], _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, b"")


def run_for(judgements: Judgements, parts: RunParts, held: bool, **treatment: Any) -> kernel.Run:
    """Return a kernel that judges a run; `treatment` folds or drops documents."""
    return kernel.Run(
        judgements.documents,
        ascending=judgements.ties == "ascending",
        depth=min(parts.depth, DEEPEST),
        count_documents=parts.documents == "counted",
        held=held,
        most_held=opening.MOST_HELD,
        longest_line=lines.LONGEST_LINE,
        **treatment,
    )


def hits_of(
    judgements: Judgements, run: kernel.Run, results: Results, run_id: bytes, format_: str = ""
) -> Hits:
    """Return the hits of a run after the kernel has read it."""
    of_sample = np.frombuffer(results["sample_query"], np.int64).tolist()
    query, num_ret = _columns(results["rankings"], 2)
    judgement, rank, *ties = _columns(results["hits"], 4)
    return Hits(
        results["queries"],
        query,
        num_ret,
        judgement,
        rank,
        run_id,
        documents=results["documents"],
        top=_top(judgements, run.take_names()),
        beginning=Beginning(
            list(zip(of_sample, results["sample"], strict=True)),
            *results["slopes"],
            *results["flat"],
        ),
        tied=TiedRanks(*ties),
        format=format_,
    )


def _columns(rows: bytearray, width: int) -> IntArray:
    return np.ascontiguousarray(np.frombuffer(rows, np.int64).reshape(-1, width).T)


def _top(judgements: Judgements, names: Names) -> TopDocuments:
    if not names["queries"]:
        return NO_NAMES
    bounds = np.append(0, np.frombuffer(names["ends"], np.int64))
    return TopDocuments(
        np.array([judgements.index[query] for query in names["queries"]]),
        np.append(0, np.cumsum(np.frombuffer(names["size"], np.int64))),
        Tokens(np.frombuffer(names["text"], np.uint8), bounds[:-1], bounds[1:]),
    )


def _blocks_of(run: Any, shape: Shape | None = None) -> list[RunColumns]:
    from ragkpi.files.in_memory import run_blocks

    return run_blocks(run, shape)


@dataclass(frozen=True, eq=False)
class RunInMemory:
    """A run passed to a function: a mapping, rows or a data frame."""

    data: Any

    @cached_property
    def blocks(self) -> list[RunColumns]:
        return _blocks_of(self.data)

    def hits(
        self, judgements: Judgements, parts: RunParts = JUDGED_ONLY, reading: Reading | None = None
    ) -> Hits:
        """Judge the run; errors as in `run_blocks`, and for a repeated document."""
        reading = reading or Reading()
        swapped = judgements.gain is not None and judgements.file == "qrels"
        if swapped and (levels := RunRole().of(self.blocks)):
            raise UsageError(
                f"the run given contains {levels} and the qrels given fractions: they "
                "seem to be swapped; expected evaluate(qrels, run)"
            )
        try:
            return self._hits(judgements, parts, reading, held=False)
        except ScatteredQueryError:
            return self._hits(judgements, parts, reading, held=True)

    def _hits(self, judgements: Judgements, parts: RunParts, reading: Reading, held: bool) -> Hits:
        sieve = reading.sieve
        treatment = sieve.treatment if sieve else {}
        by_row = bool(reading.shape or (sieve and not sieve.in_kernel))
        if type(self.data) is dict:  # the kernel skips empty rankings
            by_row = by_row or any(type(of) is dict and not of for of in self.data.values())
        run = run_for(judgements, parts, held, distance=reading.scores == "distance", **treatment)
        with refusals("run"):
            if by_row or not run.mapping(self.data):
                # Other types than a plain mapping are read row by row, and refused there.
                run = run_for(judgements, parts, held, **treatment)
                shape = reading.shape
                columns = self.blocks if shape is None else _blocks_of(self.data, shape)
                blocks = best_first(iter(columns), reading.scores)
                if shape is None and reading.scores == "similarity":
                    blocks = falling(blocks)
                blocks = ranked(whole_queries(blocks, held=held))
                for part in sieve.folded(blocks) if sieve and not sieve.in_kernel else blocks:
                    run.add(*part.for_kernel)
            results = run.finish()
        if not results["queries"]:
            _blocks_of({})  # raises the error
        if sieve is not None:
            sieve.say("run", results["left_out"])
        return hits_of(judgements, run, results, b"run")


def read_run(
    run: str | Source | RunInMemory,
    judgements: Judgements,
    parts: RunParts = JUDGED_ONLY,
    reading: Reading | None = None,
) -> Hits:
    """Judge a run: in memory, opened, or the file at a path (``-`` for standard input).

    Without `reading`, the first bytes of a file reveal its format. Raises `InputError` or
    `DataError`, with the line, for anything but a run, for a repeated document in a query, and for
    a run without results.
    """
    if isinstance(run, RunInMemory):
        return run.hits(judgements, parts, reading)
    with run if isinstance(run, Source) else Source(run) as source:
        reader = reader_of("run", source, reading)._replace(
            judged=(judgements.file, judgements.origin)
        )
        try:
            hits = _judged(source, reader, judgements, parts, held=False)
        except ScatteredQueryError:
            source.restart()
            hits = _judged(source, reader, judgements, parts, held=True)
    if not hits.queries:
        raise no_results(source.name)
    return hits


def _judged(
    source: Source, reader: FileReader, judgements: Judgements, parts: RunParts, held: bool
) -> Hits:
    run = run_for(judgements, parts, held, **reader.treatment)
    with refusals(source.name):
        *_, run_id = b"", *pushed(source, reader, run, held)
        results = run.finish()
    if reader.sieve is not None:
        reader.sieve.say(source.name, results["left_out"])
    return hits_of(judgements, run, results, run_id, reader.name)


# A block stays in a near cache until the kernel copies it: 11% faster than 1 MB on large runs.
BLOCK_SIZE = 1 << 18


def pushed(source: Source, reader: FileReader, run: kernel.Run, held: bool) -> Iterator[bytes]:
    """Push a run into the kernel block by block; yield the run id after each block."""
    if reader.is_fed:
        refuse_carriage_returns(source)
        block = memoryview(bytearray(BLOCK_SIZE))
        while count := source.fill(block):
            run.feed(block[:count])
            yield run.run_id()
        run.feed(b"\n")  # the last line can lack one
        yield run.run_id()
        return
    for part in reader.stream_run(source, held=held):
        run.add(*part.for_kernel)
        yield part.run_id


class ScatteredQueryError(Exception):
    """A query returns after another query began, so the run must be held."""


@contextmanager
def refusals(file: str) -> Iterator[None]:
    """Turn the kernel's refusals into errors with file and line."""
    try:
        yield
    except kernel.RefusedError as problem:
        raise _worded(file, problem) from None


def _worded(file: str, problem: kernel.RefusedError) -> Exception:
    kind, line, first_line, query, text = problem.args
    if kind == "scattered":
        return ScatteredQueryError()
    if kind == "again":
        expected = "expected each document once per query"
        if line == first_line:  # of one list, whose ids can be those of the passages' documents
            expected += f", or {spell('max_passage', '#')} to keep the best of each"
        return DataError(
            f"{file}:{line}: document {named(text)} of query {named(query)} again, first "
            f"retrieved at line {first_line}; {expected}"
        )
    if kind == "columns":
        return wrong_columns(file, WrongLine(line, text), LINE, first=bool(first_line))
    if kind == "space":
        return id_with_space(file, line, text)
    if kind == "score":
        return InputError(file, line, f"score {shown(text)}", DECIMAL)
    if kind == "NUL":
        return InputError(file, line, "a NUL byte", "expected text")
    if kind == "long line":
        text = f"a line of more than {lines.LONGEST_LINE >> 20} MB"
        return InputError(file, line, text, "expected lines of text")
    return lines.too_much(file)


def available_workers() -> int:
    """Return the number of runs read at once: ``RAGKPI_WORKERS``, else the usable cores."""
    cores = os.environ.get("RAGKPI_WORKERS", "")
    if cores:
        if not (cores.isascii() and cores.isdecimal() and len(cores) < 5 and int(cores)):
            raise UsageError(f"RAGKPI_WORKERS={shown(cores)}: expected a number of cores from 1")
        return int(cores)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_runs(
    runs: Sequence[str | Source | RunInMemory],
    judgements: Judgements,
    parts: RunParts = JUDGED_ONLY,
    reading: Reading | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> list[Hits | RagkpiError]:
    """Read every run, several files at a time, and report progress to `watch`.

    An unreadable run becomes an error in the list.
    """

    def read(run: str | Source | RunInMemory) -> Hits | RagkpiError:
        try:
            return read_run(run, judgements, parts, reading)
        except RagkpiError as problem:
            return problem

    workers = min(available_workers(), len(runs))
    files = [run for run in runs if isinstance(run, str) and run != "-"]
    if workers < 2 or len(files) < len(runs) or kernel.READER == "plain":
        outcomes = []
        for run in runs:
            outcomes.append(read(run))
            watch(len(outcomes))
        return outcomes
    return _read_in_threads(files, read, workers, watch)


def _read_in_threads(
    runs: Sequence[str],
    read: Callable[[str], Hits | RagkpiError],
    workers: int,
    watch: Callable[[int], None],
) -> list[Hits | RagkpiError]:
    """Read files in threads; warnings wait for all runs and come in the order of the runs."""
    current, show = local(), warnings.showwarning
    held: list[list[tuple[Any, ...]]] = [[] for _ in runs]

    def hold(*warning: Any) -> None:
        number = getattr(current, "number", None)
        if number is None:
            show(*warning)
        else:
            held[number].append(warning)

    def work(number: int) -> Hits | RagkpiError:
        current.number = number
        return read(runs[number])

    pool = ThreadPoolExecutor(workers)
    warnings.showwarning = hold  # type: ignore[assignment]
    try:
        waiting = [pool.submit(work, number) for number in range(len(runs))]
        for count, _ in enumerate(as_completed(waiting), start=1):
            watch(count)
        return [one.result() for one in waiting]
    except RuntimeError:  # the system allows no more threads
        return list(map(read, runs))
    finally:
        # An interrupted command does not wait for a thread, which can wait for a pipe.
        pool.shutdown(wait=False, cancel_futures=True)
        warnings.showwarning = show
        for warning in chain(*held):
            show(*warning)
