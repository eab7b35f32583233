"""Means and deviations of several runs, and the z-scores of a run by them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from ragkpi.files.query_files import read_zscores
from ragkpi.library.arguments import Evaluating, named_runs, session
from ragkpi.library.result import Result
from ragkpi.measures.scores import Scores
from ragkpi.reports.layout import Answer, Cell, Column, Table
from ragkpi.reports.output_files import opened
from ragkpi.statistics.zscores import standardize, zscore_lines


@dataclass(frozen=True, eq=False, repr=False)
class ZScores(Result):
    """Means and deviations over runs, per query and measure.

    Attributes
    ----------
    lines
        ``query measure mean deviation``, the numbers with all their digits, as trec_eval reads
        them.
    """

    lines: Sequence[bytes] = ()

    def save(self, path: str | None) -> None:
        """Write the lines to a file, which is replaced at once or not at all."""
        with opened(path) as file:
            file.writelines(self.lines)


def zscores(
    qrels: Any, runs: Any, measures: str | Sequence[str] = (), **how: Unpack[Evaluating]
) -> ZScores:
    """Compute means and deviations over runs, per query and measure, as ``ragkpi zscores``.

    Parameters
    ----------
    qrels, runs, measures, how
        As `evaluate` takes them. A run counts for the queries that it has, or with
        ``missing="zero"`` for all.

    Returns
    -------
    ZScores
        ``.save(path)`` writes the file that ``evaluate(…, zscores=path)`` reads.

    Examples
    --------
    >>> import ragkpi
    >>> qrels = {"q1": {"d1": 1, "d2": 0}}
    >>> runs = [{"q1": {"d1": 0.5, "d2": 0.9}}, {"q1": {"d1": 1.5}}]
    >>> ragkpi.zscores(qrels, runs, "recip_rank").rows
    [{'query': 'q1', 'measure': 'recip_rank', 'mean': 0.75, 'deviation': 0.3535...}]
    """
    asked = session(measures, how)
    metrics = asked.metrics()
    named = named_runs(runs)
    results = asked.evaluate_every(asked.evaluator(qrels, metrics), named, metrics)
    lines = list(zscore_lines([result.scores for result in results]))
    numbers = Column("mean", "decimal"), Column("deviation", "decimal")
    rows = [
        [Cell(query), Cell(measure), Cell(float(mean)), Cell(float(deviation))]
        for query, measure, mean, deviation in map(bytes.split, lines)
    ]
    table = Table([Column("query"), Column("measure"), *numbers], rows)
    sentence = f"Means and deviations are over {len(named)} runs."
    answer = Answer("zscores", table, [sentence], {})
    return ZScores(answer, None, tuple(asked.notes.told), asked.signed(metrics, qrels=qrels), lines)


def standardized(path: str | os.PathLike[str], scored: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return the z-scores of runs by a file of means and deviations."""
    norms = read_zscores(os.fspath(path))
    return {name: standardize(scores, norms) for name, scores in scored.items()}
