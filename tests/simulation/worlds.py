"""Made collections: documents with levels, and runs of a known strength, without files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Matrix = np.ndarray
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

DEPTH = 20  # documents that a run retrieves
BASE = 1.0  # the strength of a usual run: nDCG@10 of 0.53
BETTER = 1.34  # the strength at which nDCG@10 is 0.1 higher; the differences have a s.d. of 0.26


def levels(rng: np.random.Generator, queries: int, documents: int = 30, most: int = 1) -> Matrix:
    """Give one to six documents of each query a level from 1 to `most`, the others 0: (Q, D)."""
    relevant = rng.integers(1, 7, size=(queries, 1))
    drawn = rng.integers(1, most + 1, size=(queries, documents))
    return np.where(np.arange(documents) < relevant, drawn, 0)


def ranked(rng: np.random.Generator, level: Matrix, strengths: Sequence[float]) -> dict[str, Run]:
    """Score documents by level as a run's strength allows, plus noise; keep the best: runs by name.

    A query is harder or easier for all runs alike, and so is a document: half of the variance of
    the noise belongs to the document, half to the run.
    """
    easy = rng.normal(scale=0.5, size=(len(level), 1))
    document = rng.normal(scale=np.sqrt(0.5), size=level.shape)
    runs = {}
    for number, strength in enumerate(strengths):
        own = rng.normal(scale=np.sqrt(0.5), size=level.shape)
        score = level * (strength + easy) + document + own
        kept = score >= -np.sort(-score)[:, [DEPTH - 1]]
        runs[f"run{number}"] = {
            query: {
                name: value for (name, value), keep in zip(row.items(), within, strict=True) if keep
            }
            for (query, row), within in zip(by_query(score).items(), kept.tolist(), strict=True)
        }
    return runs


def by_query(matrix: Matrix) -> dict[str, dict[str, int]] | dict[str, dict[str, float]]:
    """Name the rows and columns of numbers by queries and documents: (Q, D)."""
    documents = [f"d{column}" for column in range(matrix.shape[1])]
    return {
        f"q{number:03d}": dict(zip(documents, row, strict=True))
        for number, row in enumerate(matrix.tolist())
    }
