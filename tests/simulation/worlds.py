"""Made collections: documents with levels, and runs of a known strength, without files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Matrix = np.ndarray
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

BASE = 1.0  # the strength of a usual run: nDCG@10 of 0.53
BETTER = 1.32  # the strength at which nDCG@10 is 0.1 higher, with a s.d. of differences of 0.25


def levels(rng: np.random.Generator, queries: int, documents: int = 30, most: int = 1) -> Matrix:
    """Give one to six documents of each query a level from 1 to `most`, the others 0: (Q, D)."""
    relevant = rng.integers(1, 7, size=(queries, 1))
    drawn = rng.integers(1, most + 1, size=(queries, documents))
    return np.where(np.arange(documents) < relevant, drawn, 0)


def ranked(rng: np.random.Generator, level: Matrix, strengths: Sequence[float]) -> dict[str, Run]:
    """Score documents by level, as well as a run's strength allows, plus noise: runs by name.

    A query is harder or easier for all runs alike, and so is a document: half of the variance of
    the noise belongs to the document, half to the run.
    """
    easy = rng.normal(scale=0.5, size=(len(level), 1))
    document = rng.normal(scale=np.sqrt(0.5), size=level.shape)
    runs = {}
    for number, strength in enumerate(strengths):
        own = rng.normal(scale=np.sqrt(0.5), size=level.shape)
        runs[f"run{number}"] = by_query(level * (strength + easy) + document + own)
    return runs


def by_query(matrix: Matrix) -> dict[str, dict[str, int]] | dict[str, dict[str, float]]:
    """Name the rows and columns of numbers by queries and documents: (Q, D)."""
    documents = [f"d{column}" for column in range(matrix.shape[1])]
    return {
        f"q{number:03d}": dict(zip(documents, row, strict=True))
        for number, row in enumerate(matrix.tolist())
    }
