"""Made values without documents: what n queries have by R runs, (n, R), and what is said of it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ragkpi.statistics.all_pairs import MetricPairs, compare_all
from ragkpi.statistics.bootstrap import Bootstrap
from ragkpi.statistics.paired import Comparison, Procedure, compare
from tests.made_scores import MAP, SUCCESS, scores

Matrix = np.ndarray
Values = Callable[[np.random.Generator], Matrix]

SPREAD = 0.26  # of the differences of queries, as those of nDCG@10 have


def scores_of(values: Matrix) -> list[Any]:
    """Make the scores of every run, of a rate where all values are 0 or 1."""
    metric = SUCCESS if np.isin(values, (0.0, 1.0)).all() else MAP
    return [scores([(metric, column)]) for column in values.T]


def names_of(values: Matrix) -> list[str]:
    return [f"run{number}" for number in range(values.shape[1])]


def procedure(clusters: Matrix | None, choices: Any) -> Procedure:
    """Return the procedure of a comparison; `clusters`, (n,), are numbers of clusters."""
    of_query = None
    if clusters is not None:
        of_query = {b"q%03d" % row: str(cluster) for row, cluster in enumerate(clusters.tolist())}
    return Procedure(bootstrap=Bootstrap(clusters=of_query), **{"trials": 1000, **choices})


def compared(values: Matrix, clusters: Matrix | None = None, **choices: Any) -> Comparison:
    """Compare every run with the first."""
    return compare(names_of(values), scores_of(values), procedure(clusters, choices))


def claims(values: Matrix, clusters: Matrix | None = None, **choices: Any) -> list[str]:
    """Return what is said of each run: "better", "worse" or no claim."""
    return [found.decision for found in compared(values, clusters, **choices).differences]


def any_claim(said: list[str]) -> bool:
    return "better" in said or "worse" in said


def seeded_procedure(values: Matrix, **choices: Any) -> Procedure:
    """Return the procedure of a trial, with a seed of its own.

    With one for all, a thousand signs that happen to be wide or narrow would move a rate by more
    than its standard error.
    """
    how = procedure(None, choices)
    return replace(how, bootstrap=replace(how.bootstrap, seed=zlib.crc32(values.tobytes())))


def all_pairs(values: Matrix, **choices: Any) -> MetricPairs:
    """Compare every run with every other."""
    how = seeded_procedure(values, **choices)
    return compare_all(names_of(values), scores_of(values), how).by_metric[0]


def apart(found: MetricPairs) -> Matrix:
    """Return which pairs are said to differ, (R, R)."""
    return np.nan_to_num(found.p, nan=1.0) < 0.05


def alike(n: int, runs: int) -> Values:
    """Runs whose values differ by their own noise alone, and no more from one than another."""
    return lambda rng: rng.normal(scale=SPREAD / np.sqrt(2), size=(n, runs))


def variants(n: int, runs: int, odd: int, apart: float = 0.02) -> Values:
    """Near-duplicates beside `odd` runs of another kind; the expectations of all are equal."""

    def made(rng: np.random.Generator) -> Matrix:
        own = rng.normal(scale=SPREAD / np.sqrt(2), size=(n, odd + 1))
        return np.concatenate(
            [own[:, 1:], own[:, :1] + rng.normal(scale=apart, size=(n, runs - odd))], axis=1
        )

    return made


def families(n: int, runs: int, apart: float = 0.02) -> Values:
    """Two kinds of runs, equally many, which differ little from their own kind."""

    def made(rng: np.random.Generator) -> Matrix:
        kinds = rng.normal(scale=SPREAD / np.sqrt(2), size=(n, 2))
        near = rng.normal(scale=apart, size=(n, runs))
        return np.repeat(kinds, runs // 2, axis=1) + near

    return made


def shifted(values: Values, run: int, by: float) -> Values:
    """Make one run better."""

    def made(rng: np.random.Generator) -> Matrix:
        of_runs = values(rng)
        of_runs[:, run] += by
        return of_runs

    return made
