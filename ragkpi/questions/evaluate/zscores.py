"""`ragkpi zscores`: means and deviations over runs, and values in standard deviations from them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Unpack

import numpy as np
from typer import Argument

from ragkpi.arrays import FloatArray
from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import RagkpiWarning, UsageError
from ragkpi.files.query_files import Norm, Norms
from ragkpi.library.arguments import session_of
from ragkpi.library.options import Evaluating, Measures
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Runs, by_path, named_runs
from ragkpi.measures.measure import GEOMETRIC_MEAN, MEAN, SUM, MetricScores, Scores
from ragkpi.reports.layout import Answer, Cell, Column
from ragkpi.reports.output_files import output_file

# trec_eval's z-score of a value without a mean, or different from a mean with deviation 0.
UNKNOWN = -1000000.0


def standardize(scores: Scores, norms: Norms) -> Scores:
    """Turn every per-query value into a z-score: (value - mean) / deviation.

    The z-score is `UNKNOWN` without a mean, or if the deviation is 0 and the value is not the mean.
    Sums and geometric means keep their summaries; other summaries become means over queries. Texts
    and num_q stay unchanged. All values have the style ``"decimal"``.
    """
    columns = []
    for column in scores.columns:
        metric, aggregate = column.metric, column.metric.measure.aggregate
        if not metric.measure.numeric:
            columns.append(column)
            continue
        statistics = column.statistics
        if aggregate.kind != "count":
            of_metric = norms.get(column.name.encode(), {})
            statistics = _z_scores(column.per_query, scores.queries, of_metric).reshape(-1, 1)
            if aggregate not in (SUM, GEOMETRIC_MEAN):
                # With rises_with_first, z-scores of 0 and 1 would count as failures and successes.
                aggregate = replace(MEAN, prints=aggregate.prints, rises_with_first=False)
        measure = replace(metric.measure, aggregate=aggregate, style="decimal")
        metric = replace(metric, measure=measure, name=f"Z{metric.name}")
        columns.append(MetricScores(metric, statistics, column.divisor))
    return scores.only(columns)


def _z_scores(
    of_queries: FloatArray, queries: Sequence[bytes], norms: Mapping[bytes, Norm]
) -> FloatArray:
    unknown = Norm(math.inf, 0.0)  # a mean that no value equals
    norm = np.array([norms.get(query, unknown) for query in queries]).reshape(-1, 2)
    with np.errstate(invalid="ignore"):  # an infinite value has no distance from `unknown`
        difference = of_queries - norm[:, 0]
    deviation = norm[:, 1]
    z = np.where(difference == 0, 0.0, UNKNOWN)
    np.divide(difference, deviation, out=z, where=deviation > 0)
    return np.where(np.isnan(of_queries), np.nan, z)


def norms_of(runs: Sequence[Scores]) -> Iterator[tuple[bytes, str, float, float]]:
    """Yield query, measure, mean and deviation over runs.

    A run counts for its own queries. The deviation is that of a sample (divisor n - 1), as in
    NIST's make_zscore_file.py. Left out are texts, metrics without a line per query (num_q,
    gm_map), and, with a warning, pairs of query and metric with fewer than two finite values.
    """
    if len(runs) < 2:
        raise UsageError(f"{len(runs)} runs have no deviation; give at least two")
    names = [column.name for column in runs[0].printed("query") if column.metric.measure.numeric]
    queries = sorted({query for run in runs for query in run.queries})
    moments = np.array([_moments(runs, name, queries) for name in names])
    left_out = int(np.isnan(moments[:, 1]).sum())
    if left_out:
        warnings.warn(
            f"{left_out} of {moments[:, 1].size} pairs of query and measure are left out, because "
            "fewer than two runs have a finite value; z-scores for them will be -1000000",
            RagkpiWarning,
            stacklevel=2,
        )
    for query, of_query in zip(queries, moments.transpose(2, 0, 1).tolist(), strict=True):
        for name, (mean, deviation) in zip(names, of_query, strict=True):
            if not math.isnan(deviation):
                yield query, name, mean, deviation


@np.errstate(invalid="ignore", divide="ignore")
def _moments(
    runs: Sequence[Scores], name: str, queries: Sequence[bytes]
) -> tuple[FloatArray, FloatArray]:
    """Return mean and sample deviation over runs by query; NaN for fewer than two finite values."""
    place = {query: column for column, query in enumerate(queries)}
    every = np.ma.array(np.zeros((len(runs), len(queries))), mask=True)
    for row, run in enumerate(runs):
        places = [place[query] for query in run.queries]
        every[row, places] = np.ma.masked_invalid(run[name].per_query)
    low, count = every.min(axis=0), every.count(axis=0)
    # Rounding must not shift the mean of equal values, or their z-scores would not be 0.
    mean = np.where(low == every.max(axis=0), low, every.sum(axis=0) / count)
    squares = ((every - mean) ** 2).sum(axis=0).filled(np.nan)
    return mean, np.where(count >= 2, np.sqrt(squares / (count - 1)), np.nan)


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
        """Write the lines to a file, atomically."""
        with output_file(path) as file:
            file.writelines(self.lines)


def zscores(
    qrels: AnyQrels, runs: Runs, measures: Measures = (), **how: Unpack[Evaluating]
) -> ZScores:
    """Write a line "query measure mean deviation" per query and measure, over several runs.

    'ragkpi eval -Z FILE' (and trec_eval -Z) then shows the deviation of a run from the mean of
    these runs. The deviation is that of a sample (divisor: runs - 1). A run counts for its own
    queries; with -c, a missing query counts as an empty ranking. Measures without a value per query
    (num_q, gm_map, texts) are left out. -Z reads the output unless --format or the suffix of -o
    names another format. Without -m: official, or the default of -R.

    Parameters
    ----------
    qrels, runs, measures, how
        As for `evaluate`, but a run counts for its own queries, as in trec_eval's lines, and for
        all queries with ``missing="zero"``.

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
    session = session_of(qrels, measures, {"missing": "intersection", **how})
    metrics = session.metrics()
    evaluated = session.evaluate(named_runs(runs), metrics)
    norms = list(norms_of(evaluated.scores))
    lines = [b"%b %b %.17g %.17g\n" % (q, name.encode(), m, d) for q, name, m, d in norms]
    numbers = Column("mean", "decimal"), Column("deviation", "decimal")
    rows = [[*map(Cell, norm)] for norm in norms]
    columns = [Column("query"), Column("measure"), *numbers]
    sentence = f"Means and deviations are over {len(evaluated.names)} runs."
    answer = Answer(columns, rows, verdict=[sentence], question="zscores")
    return ZScores(answer, None, tuple(session.notes), session.signed(metrics), lines=lines)


@command(
    zscores,
    examples=(
        "ragkpi zscores qrels.txt runs/bm25.run runs/dense.run",
        "ragkpi zscores -m map -o norms.txt qrels.txt runs/bm25.run runs/dense.run",
        "ragkpi zscores -c qrels.txt runs/bm25.run runs/dense.run runs/fusion.run",
    ),
)
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN RUN...", help="Qrels and runs.")],
    output: Output,
    **arguments: Any,
) -> None:
    """Write means and deviations."""
    qrels, *runs = expect_files(3, files, "qrels and at least two runs")
    result = zscores(qrels, by_path(runs), **arguments)
    if output.choice is None:
        result.save(output.path)
    else:
        output.write(result.report)
