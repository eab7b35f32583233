"""Read runs for their hits, one or several at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ragkpi import kernel
from ragkpi.errors import DataError, InputError, RagkpiError, UsageError
from ragkpi.formats import lines
from ragkpi.formats.file_formats import FileReader, Reading, run_format
from ragkpi.formats.lines import BLOCK_SIZE, WrongLine, wrong_columns
from ragkpi.formats.opening import Source
from ragkpi.formats.score_order import ranked_once
from ragkpi.formats.trec_runs import (
    LINE,
    RunColumns,
    no_results,
    refuse_carriage_returns,
    regrouped,
    whole_queries,
)
from ragkpi.ranking.hits import JUDGED_ONLY, Hits, Wanted, hits_of, run_for
from ragkpi.ranking.judgements import Judgements
from ragkpi.wording import named, shown

if TYPE_CHECKING:
    from ragkpi.ranking.runs_in_memory import RunInMemory


def read_run(
    run: str | RunInMemory,
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    reading: Reading | None = None,
) -> Hits:
    """Judge a run: one in memory, or the file at a path (``-`` for standard input).

    Without `reading`, the first bytes of a file tell its format.

    Raises
    ------
    InputError, DataError
        With the line, for anything that is no run, and for a document that a query has twice; also
        if the run holds no result at all.
    """
    if not isinstance(run, str):
        return run.hits(judgements, wanted, reading)
    with Source(run) as source:
        reader = run_format(source, reading)
        source.keep_copy()
        try:
            hits = _judged(source, reader, judgements, wanted, held=False)
        except ScatteredQueryError:
            source.restart()
            hits = _judged(source, reader, judgements, wanted, held=True)
    if not hits.queries:
        raise no_results(run)
    return hits


def _judged(
    source: Source, reader: FileReader, judgements: Judgements, wanted: Wanted, held: bool
) -> Hits:
    run = run_for(judgements, wanted, held, **reader.treatment)
    with refusals(source.name):
        *_, run_id = b"", *pushed(source, reader, run, held)
        found = run.finish()
    if reader.sieve is not None:
        reader.sieve.say(source.name, found["left_out"])
    return hits_of(run, found, run_id)


def _ranked_once(reader: FileReader, source: Source, held: bool) -> Iterator[RunColumns]:
    """Read a run in columns; `SeparateRankingsError` if a query has a rank twice."""
    parts = reader.stream_run(source)
    if reader.name == "trec":
        return parts
    if held and (all_parts := list(parts)):
        parts = iter([regrouped(RunColumns.joined(all_parts))])
    return map(ranked_once, whole_queries(parts))


def pushed(source: Source, reader: FileReader, run: kernel.Run, held: bool) -> Iterator[bytes]:
    """Push a run into the kernel block by block; yield the run id after each block."""
    if reader.is_fed:
        refuse_carriage_returns(source)
        block = memoryview(bytearray(BLOCK_SIZE))
        while count := source.fill(block):
            run.feed(block[:count])
            yield run.run_id()
        run.feed(b"\n")  # the last line may have none
        yield run.run_id()
        return
    for part in _ranked_once(reader, source, held):
        run.add(part.query.column, part.starts, part.document.column, part.score, part.line)
        yield part.run_id


class ScatteredQueryError(Exception):
    """A query comes back after another one began: the run has to be held."""


@contextmanager
def refusals(file: str) -> Iterator[None]:
    """Turn what the kernel refuses into errors that name the file and the line."""
    try:
        yield
    except kernel.RefusedError as problem:
        raise _worded(file, problem) from None


def _worded(file: str, problem: kernel.RefusedError) -> Exception:
    kind, line, first_line, query, text = problem.args
    if kind == "scattered":
        return ScatteredQueryError()
    if kind == "again":
        return DataError(
            f"{file}:{line}: document {named(text)} of query {named(query)} again, first "
            f"retrieved at line {first_line}; expected each document once per query"
        )
    if kind == "columns":
        return wrong_columns(file, WrongLine(line, text), LINE, first=bool(first_line))
    if kind == "score":
        return InputError(file, line, f"score {shown(text)}", "expected a decimal number")
    if kind == "NUL":
        return InputError(file, line, "a NUL byte", "expected text")
    if kind == "long line":
        found = f"a line of more than {lines.LONGEST_LINE >> 20} MB"
        return InputError(file, line, found, "expected lines of text")
    return lines.too_much(file)


def available_workers() -> int:
    """Return how many runs may be read at a time: ``RAGKPI_WORKERS``, else the usable cores.

    Raises
    ------
    UsageError
        If the variable is not a number from 1.
    """
    wanted = os.environ.get("RAGKPI_WORKERS", "")
    if wanted:
        if not (wanted.isascii() and wanted.isdecimal() and len(wanted) < 5 and int(wanted)):
            raise UsageError(f"RAGKPI_WORKERS={shown(wanted)}: expected a number of cores from 1")
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_runs(
    runs: Sequence[str | RunInMemory],
    judgements: Judgements,
    wanted: Wanted = JUDGED_ONLY,
    reading: Reading | None = None,
    watch: Callable[[int], None] = lambda _: None,
) -> list[Hits | RagkpiError]:
    """Read every run, several files at a time; an unreadable run becomes its error.

    `watch` gets the number of runs that are read.
    """

    def read(run: str | RunInMemory) -> Hits | RagkpiError:
        try:
            return read_run(run, judgements, wanted, reading)
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
    """Read files in threads.

    A pool of threads would wait for each thread when it is interrupted, and a thread may wait for
    a pipe that never ends.
    """
    from queue import Empty, SimpleQueue  # a single run needs no threads
    from threading import Thread

    waiting: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Hits | BaseException]] = SimpleQueue()
    for number in range(len(runs)):
        waiting.put(number)

    def work() -> None:
        while True:
            try:
                number = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((number, read(runs[number])))
            except BaseException as problem:
                done.put((number, problem))

    outcomes: dict[int, Hits | RagkpiError] = {}
    try:
        try:
            for _ in range(workers):
                Thread(target=work, daemon=True).start()
        except RuntimeError:  # the system allows no more threads; this one reads as well
            work()
        while len(outcomes) < len(runs):
            number, outcome = done.get()
            if isinstance(outcome, BaseException) and not isinstance(outcome, RagkpiError):
                raise outcome
            outcomes[number] = outcome
            watch(len(outcomes))
    finally:
        with suppress(Empty):
            while True:
                waiting.get_nowait()  # no thread begins with another run
    return [outcomes[number] for number in range(len(runs))]
