"""Random weights of queries for resamples and swaps, and sums under weights.

All random numbers of ragkpi start here, from a seed, in one thread and in one order, so the same
command gives the same digits whatever the number of cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ragkpi.measures.aggregates import FloatArray
from ragkpi.progress import steps

if TYPE_CHECKING:
    import numpy.typing as npt

# Weights per sample. Half a megabyte stays in the cache, which is worth a factor of two.
BLOCK = 1 << 16


def drawn(queries: int, resamples: int, seed: int, fewest: int = 1) -> Iterator[FloatArray]:
    """Draw `queries` out of `queries` with replacement, `resamples` times.

    Parameters
    ----------
    queries, resamples, seed
        The indices are the rows of ``default_rng(seed).integers(0, queries, size=(resamples,
        queries))``, whatever the size of the blocks.
    fewest
        The least number of rows of a block, for callers with a cost per block.

    Yields
    ------
    (rows, queries) array
        The number of times that each query is drawn; `resamples` rows in all.
    """
    generator = np.random.default_rng(seed)
    for rows in _rows(resamples, queries, "resamples", fewest):
        yield times_drawn(generator.integers(0, queries, size=(rows, queries)))


def times_drawn(indices: npt.NDArray[np.int64]) -> FloatArray:
    """Count each of 0..n-1 in every row of an index matrix, (rows, n) to (rows, n)."""
    rows, n = indices.shape
    cells = (indices + n * np.arange(rows)[:, np.newaxis]).ravel()
    return np.bincount(cells, minlength=rows * n).reshape(rows, n).astype(np.float64)


def swapped(queries: int, trials: int, seed: int) -> Iterator[FloatArray]:
    """Draw the queries that exchange their labels, (rows, queries) of 0 and 1, `trials` times."""
    generator = np.random.default_rng(seed)
    words = -(-queries // 64)
    for rows in _rows(trials, queries, "randomization test"):
        yield _bits(generator.integers(0, 2**64, size=(rows, words), dtype=np.uint64), queries)


def all_swaps(queries: int) -> FloatArray:
    """Return every way to exchange labels, (2^queries, queries) of 0 and 1."""
    return _bits(np.arange(2**queries, dtype=np.uint64)[:, np.newaxis], queries)


def sums(weights: Iterable[FloatArray], statistics: FloatArray) -> FloatArray:
    """Add the rows of `statistics`, (n, T), under every row of the `weights`, to (B, T).

    By einsum and not by a matrix product: BLAS may split the sums by the number of cores.
    """
    columns = np.ascontiguousarray(statistics.T)
    return np.concatenate([np.einsum("bn,tn->bt", sample, columns) for sample in weights])


def totals(statistics: FloatArray) -> FloatArray:
    """Add from the first query to the last, (n, ...) to (...), as `Scores.summary` does."""
    if not len(statistics):
        return np.full(statistics.shape[1:], np.nan)
    return np.asarray(np.add.accumulate(statistics, axis=0)[-1])


def _rows(total: int, queries: int, label: str, fewest: int = 1) -> Iterator[int]:
    most = max(fewest, BLOCK // max(queries, 1))
    for start in steps(range(0, total, most), label, -(-total // most)):
        yield min(most, total - start)


def _bits(words: npt.NDArray[np.uint64], count: int) -> FloatArray:
    """Spread the lowest bits of each row of words, (rows, w), over `count` columns."""
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=count, bitorder="little").astype(np.float64)
