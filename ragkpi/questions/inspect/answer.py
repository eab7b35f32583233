"""The answer of `inspect`: the contents of files as ragkpi reads them, and their shared ids."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from ragkpi.errors import InputError, RagkpiError, RagkpiNote, UnreadableError, UnsettledError
from ragkpi.files.column_names import ORDER, meaning
from ragkpi.files.formats import HEAD_LENGTH, FileReader, Reading, reader_of, recognise_kind
from ragkpi.files.opening import Kind, Source
from ragkpi.files.sieve import parse_fold
from ragkpi.files.trec import part_of, path_of
from ragkpi.interface import spell
from ragkpi.library.examiner import Examination, examine
from ragkpi.ranking.judgements import plain
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.wording import counted, named

_RECORDS = 2  # shown per file
_IDS = 1 << 20  # documents that are compared with another file

Ids = Mapping[bytes, "set[bytes]"]
"""Documents by query."""


@dataclass(frozen=True)
class FileContents:
    """The contents of a file.

    Attributes
    ----------
    file, kind, format
        Its name; whether it is read as a run or as qrels (a file that can be both has contents for
        each), None if it cannot be read; its format.
    queries, documents
        The number of queries; the minimum and maximum number of documents per query.
    numbers
        The order of the documents of a run, or the number of documents at each level.
    records
        The first records: query, document and number.
    notes
        How it was recognised, and warnings from reading it; the error if it cannot be read.
    """

    file: str
    kind: Kind | None = None
    format: str = ""
    queries: int = 0
    documents: tuple[int, int] = (0, 0)
    numbers: str = ""
    records: Sequence[str] = ()
    notes: Sequence[str] = ()
    ids: Ids = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Shared:
    """The ids that a run shares with qrels, and the option that makes more of them match."""

    qrels: str
    run: str
    queries: int
    documents: int  # retrieved and judged for these queries
    retrieved: int
    advice: str = ""


def contents_of(file: str, readings: Mapping[Kind, Reading | None]) -> list[FileContents]:
    """Read a file in each possible role; if there is none, keep the errors."""
    contents: list[FileContents] = []
    problems: list[RagkpiError] = []
    try:
        with Source(file) as source:
            first = recognise_kind(source.peek(HEAD_LENGTH))
        for kind in sorted(readings, key=lambda kind: kind != first):
            with warnings.catch_warnings(record=True) as caught, Source(file) as source:
                warnings.simplefilter("always")
                try:
                    reader = reader_of(kind, source, readings[kind])
                    one = (_qrels if kind == "qrels" else _run)(source, reader)
                except InputError as problem:
                    if isinstance(problem, UnreadableError):
                        raise
                    problems.append(problem)
                    continue
            texts = (str(warning.message).removeprefix(f"{file}: ") for warning in caught)
            contents.append(replace(one, notes=list(dict.fromkeys(texts))))
    except UnreadableError:
        raise
    except RagkpiError as problem:
        problems.append(problem)
    # If no role is certain, show the maps for both.
    guesses = [problem for problem in problems if isinstance(problem, UnsettledError)]
    notes = [str(problem).removeprefix(f"{file}: ") for problem in guesses or problems[:1]]
    return contents or [FileContents(file, notes=notes)]


def _run(source: Source, reader: FileReader) -> FileContents:
    run = examine(source, reader, Examination(), "refused")
    map_, sizes = run.origin.map, np.diff(run.starts)
    falls, path = _falls(map_), "the numbers" if path_of(map_) == "@value" else path_of(map_)
    direction = f"{path}, {'small' if falls else 'large'} first"
    rows = np.lexsort((-run.score, run.query))
    # Only the first queries of a very long run are compared with another file.
    compared = int(np.searchsorted(run.starts, _IDS, side="right")) - 1
    documents = run.document.take(rows[: run.starts[compared]]).tolist()
    ids = {
        query: set(documents[start:end])
        for query, (start, end) in zip(run.queries, pairwise(run.starts.tolist()), strict=True)
    }
    records = [
        f"{run.name_of_query(row)} {named(run.document[row])} "
        f"{abs(run.score[row]) if falls else run.score[row]:.6g}"
        for row in rows[:_RECORDS].tolist()
    ]
    return FileContents(
        run.file,
        "run",
        reader.name,
        len(sizes),
        (int(sizes.min()), int(sizes.max())),
        "the order of the list" if map_ == ORDER else direction,
        records,
        ids=ids,
    )


def _falls(map_: str) -> bool:
    """Return whether smaller numbers are better, so that their negatives are the scores."""
    part = part_of(map_)
    by_name = meaning(path_of(map_)) == "distance" and part != "similarity"
    return part in ("rank", "distance") or by_name


def _qrels(source: Source, reader: FileReader) -> FileContents:
    qrels = reader.read_qrels(source)
    queries, documents = qrels.query.tolist(), qrels.document.tolist()
    ids: dict[bytes, set[bytes]] = {query: set() for query in (*queries, *qrels.empty)}
    for query, document in zip(queries, documents, strict=True):
        ids[query].add(document)
    if not ids:
        raise InputError(source.name, None, "contains no judgements", "expected at least one")
    numbers = (qrels.level if qrels.gain is None else qrels.gain).tolist()
    levels = sorted(Counter(numbers).items())
    text = ", ".join(f"level {level}: {count:,}" for level, count in levels[:6])
    text = text if qrels.gain is None else f"gains from {levels[0][0]:g} to {levels[-1][0]:g}"
    records = [
        f"{named(query)} {named(document)} {number}"
        for query, document, number in zip(queries, documents, numbers[:_RECORDS], strict=False)
    ]
    sizes = [len(of) for of in ids.values()]
    bounds = min(sizes), max(sizes)
    return FileContents(source.name, "qrels", reader.name, len(ids), bounds, text, records, ids=ids)


# The value of --max-passage that makes the ids of a run match the qrels, by the difference.
_MENDS = {
    "passages: the number follows #": "#",
    "ids have more behind /": "/",
    "ids with a prefix up to ::, as in Vespa": "/^.*::(.*)$/",
    "chunks: a number at the end": "/^(.*)[-_:.][0-9]+$/",
}


def shared(qrels: FileContents, run: FileContents) -> Shared:
    """Count the ids of a run that are also in qrels, as they are and under other spellings."""
    queries = run.ids.keys() & qrels.ids.keys()

    def judged(fold: Callable[[bytes], bytes]) -> int:
        ids = qrels.ids, run.ids
        return sum(len(set.intersection(*({*map(fold, of[q])} for of in ids))) for q in queries)

    as_they_are = most = judged(bytes)
    advice = ""
    if meant := {*map(plain, qrels.ids)} & {*map(plain, run.ids)} if not queries else ():
        differ = counted(len(meant), "query id differs", "query ids differ")
        advice = f"{differ} only by case, whitespace or leading zeros"
    for what, value in _MENDS.items():
        if (count := judged(parse_fold(value).parent)) > most:
            most = count
            advice = f"{what}: {spell('max_passage', value)} judges {count:,}"
    if judged(plain) > most:
        advice = "document ids differ only by case, whitespace or leading zeros"
    retrieved = sum(len(run.ids[query]) for query in queries)
    return Shared(qrels.file, run.file, len(queries), as_they_are, retrieved, advice)


def inspect_answer(files: Sequence[FileContents], pairs: Sequence[Shared]) -> Answer:
    """Put the contents of files, and their shared ids, into rows and words."""
    columns = [
        *map(Column, ("file", "holds")),
        Column("queries", "integer"),
        Column("documents"),
        Column("numbers", role="prose"),
        Column("format"),
        Column("first records", role="prose"),
    ]
    rows = []
    for file in files:
        fewest, most = file.documents
        per_query = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
        counts = [file.queries, per_query] if file.kind else [None, None]
        heads = [file.file, file.kind or "not read", *counts, file.numbers, file.format]
        rows.append([*map(Cell, (*heads, "; ".join(file.records)))])
    notes: list[str] = []
    for file in files:
        for note in file.notes:
            text = note if note.startswith(f"{file.file}:") else f"{file.file}: {note}"
            if file.kind is None:  # the error, also if the table goes into a pipe
                warnings.warn(text, RagkpiNote, stacklevel=3)
            else:
                notes.append(text)
    verdict = [
        f"{pair.run} and {pair.qrels} share {counted(pair.queries, 'query', 'queries')}; "
        f"{pair.documents:,} of the first {counted(pair.retrieved, 'document')} are judged."
        if pair.queries
        else f"{pair.run} and {pair.qrels} share no query."
        for pair in pairs
    ]
    notes += [f"{pair.run}: {pair.advice}" for pair in pairs if pair.advice]
    kinds = [file.kind for file in files]
    of_kinds = [counted(kinds.count("run"), "run"), f"{kinds.count('qrels')} qrels"]
    many = f"{', '.join(of_kinds)}, {kinds.count(None)} not read."
    findings = {
        "files": [{k: v for k, v in vars(file).items() if k != "ids"} for file in files],
        "shared": list(pairs),
    }
    return Answer(
        columns, rows, notes, verdict=verdict or [many], question="inspect", findings=findings
    )
