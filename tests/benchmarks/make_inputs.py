"""Write the benchmark's qrels and runs: seeded, outside the repository, once.

    python tests/benchmarks/make_inputs.py S,T,M,L,Ld

Each input becomes DIRECTORY/NAME/qrels.txt and DIRECTORY/NAME/run.txt, where DIRECTORY is
$RAGKPI_BENCH_DIR or a folder in the user's cache.

Lines are laid out as rows of a byte matrix in which byte 0 means "nothing here"; dropping the
zeros of a block of rows gives the file. That writes 7 million lines in seconds, in little memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from inputs import INPUTS, Input

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]

GENERATOR = 1  # counted up when the files of an unchanged `Input` change
QUERIES_PER_BLOCK = 1_000
MOST_DRAWN_AGAIN = 100_000  # of more documents a query would hardly ever have different ones


def directory() -> Path:
    """Where inputs are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("RAGKPI_BENCH_DIR") or Path(cache) / "ragkpi-bench")


def make(name: str) -> Path:
    """Write an input if it is not there already, and return its folder."""
    folder = directory() / name
    made_from = f"{GENERATOR} {INPUTS[name]}\n"
    stamp = folder / "made_from"
    if not (stamp.exists() and stamp.read_text() == made_from):
        folder.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        with open(folder / "qrels.txt", "wb") as qrels, open(folder / "run.txt", "wb") as run:
            for judged_lines, run_lines in _blocks(INPUTS[name]):
                qrels.write(judged_lines)
                run.write(run_lines)
        stamp.write_text(made_from)
    return folder


def _blocks(spec: Input) -> Iterator[tuple[bytes, bytes]]:
    """Yield the qrels and the run in pieces of whole queries."""
    random = np.random.default_rng(spec.seed)
    # Variants must not disturb the rankings that they share, so they draw from elsewhere.
    order = np.random.default_rng([spec.seed, 1])
    # Query ids as in MS MARCO: up to seven digits, in no particular order.
    query_ids = random.choice(1_200_000, size=spec.queries, replace=False) + 1_000
    judged = 1 + np.bincount(
        random.integers(spec.queries, size=spec.judgements - spec.queries), minlength=spec.queries
    )
    for start in range(0, spec.queries, QUERIES_PER_BLOCK):
        block = slice(start, start + QUERIES_PER_BLOCK)
        yield _block(spec, query_ids[block], judged[block], random, order)


def _block(
    spec: Input,
    query_ids: Ints,
    judged: Ints,
    random: np.random.Generator,
    order: np.random.Generator,
) -> tuple[bytes, bytes]:
    queries, most = len(query_ids), int(judged.max())
    documents = _distinct(random, queries, spec.depth + most, spec.ids)
    retrieved, elsewhere = documents[:, : spec.depth], documents[:, spec.depth :]

    # Judged documents are those that win a race in which the top of the ranking is fast.
    slowness = np.arange(spec.depth) + 10.0
    race = random.exponential(size=(queries, spec.depth)) * slowness
    places = np.argsort(race, axis=1)[:, :most]
    places = np.pad(places, [(0, 0), (0, most - places.shape[1])])
    slots = np.arange(most)
    found = (random.random((queries, most)) < spec.retrieved) & (slots < spec.depth)
    pool = np.where(found, np.take_along_axis(retrieved, places, axis=1), elsewhere)
    kept = slots < judged[:, None]
    grades = random.choice(list(spec.grades), p=list(spec.grades.values()), size=int(kept.sum()))
    qrels = _lines(
        _digits(np.repeat(query_ids, judged)),
        _constant(b" 0 "),
        _document(pool[kept], spec.ids),
        _constant(b" "),
        _digits(grades),
        _constant(b"\n"),
    )

    # Gaps of a millionth and up, some of them zero: real runs have ties.
    gaps = random.integers(1, 40_000, size=(queries, spec.depth))
    gaps[random.random(gaps.shape) < 0.01] = 0
    gaps[:, -1] += 2_000_000
    micro = np.cumsum(gaps[:, ::-1], axis=1)[:, ::-1]
    run = _lines(
        _digits(np.repeat(query_ids, spec.depth)),
        _constant(b" Q0 "),
        _document(retrieved.ravel(), spec.ids),
        _constant(b" "),
        _digits(np.tile(np.arange(1, spec.depth + 1), queries)),
        _constant(b" "),
        _score(micro.ravel(), spec.scores),
        _constant(b" Anserini-bm25" + spec.newline),
        rows=_row_order(spec.order, queries, spec.depth, order),
    )
    return qrels, run


def _distinct(random: np.random.Generator, queries: int, count: int, ids: str) -> Ints:
    """Draw `count` different document numbers for each query, (queries, count)."""
    collection = {"numeric": 8_841_823, "long": 113_520_750}[ids]
    if count > MOST_DRAWN_AGAIN:
        return np.stack([random.permutation(collection)[:count] for _ in range(queries)])
    documents = random.integers(collection, size=(queries, count))
    while True:
        ordered = np.sort(documents, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not again.any():
            return documents
        documents[again] = random.integers(collection, size=(int(again.sum()), count))


def _row_order(order: str, queries: int, depth: int, random: np.random.Generator) -> Ints | None:
    if order == "shuffled":
        return random.permutation(queries * depth)
    if order == "unsorted":
        within = np.argsort(random.random((queries, depth)), axis=1)
        return (within + np.arange(queries)[:, None] * depth).ravel()
    return None


def _lines(*columns: Bytes, rows: Ints | None = None) -> bytes:
    """Join columns of text, (n, width) each or (1, width) for all rows, into lines."""
    count = max(len(column) for column in columns)
    matrix = np.hstack(
        [np.broadcast_to(column, (count, column.shape[1])) for column in columns], dtype=np.uint8
    )
    if rows is not None:
        matrix = matrix[rows]
    return matrix[matrix != 0].tobytes()


def _constant(text: bytes) -> Bytes:
    return np.frombuffer(text, dtype=np.uint8)[None]


def _digits(numbers: Ints, at_least: int = 1) -> Bytes:
    """Write nonnegative integers in decimal, right-aligned, (n, width)."""
    width = max(at_least, len(str(int(numbers.max()))))
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    text = np.zeros((len(numbers), width), dtype=np.uint8)
    for column, power in enumerate(powers):
        shown = slice(None) if column >= width - at_least else numbers >= power
        text[shown, column] = numbers[shown] // power % 10 + ord("0")
    return text


def _document(numbers: Ints, ids: str) -> Bytes:
    """Write document ids: the number itself, or a segment of MS MARCO v2.1 (one to one)."""
    if ids == "numeric":
        return _digits(numbers)
    document, segment = np.divmod(numbers, 8)
    offset = document // 60 * 9_173 + 1_000
    return np.hstack(
        [
            np.broadcast_to(_constant(b"msmarco_v2.1_doc_"), (len(numbers), 17)),
            _digits(document % 60, at_least=2),
            np.full((len(numbers), 1), ord("_"), dtype=np.uint8),
            _digits(offset),
            np.full((len(numbers), 1), ord("#"), dtype=np.uint8),
            _digits(segment),
            np.full((len(numbers), 1), ord("_"), dtype=np.uint8),
            _digits(offset * 13 // 8 + segment * 1_217),
        ]
    )


def _score(micro: Ints, style: str) -> Bytes:
    if style == "tied":
        return _constant(b"1.5")
    if style == "exponent":
        text = np.array([f"{score:.6e}" for score in (micro / 1e6).tolist()], dtype=bytes)
        return text.view(np.uint8).reshape(len(text), -1)
    if style == "repr":
        # A third is never short in binary, so nearly every score has 16 or 17 digits.
        text = np.array([repr(score) for score in (micro / 3e6).tolist()], dtype=bytes)
        return text.view(np.uint8).reshape(len(text), -1)
    whole, fraction = np.divmod(micro, 1_000_000)
    point = np.full((len(micro), 1), ord("."), dtype=np.uint8)
    return np.hstack([_digits(whole), point, _digits(fraction, at_least=6)])


if __name__ == "__main__":
    for wanted in sys.argv[1].split(",") if len(sys.argv) > 1 else INPUTS:
        print(make(wanted))
