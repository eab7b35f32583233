"""The questions about runs: `depth`, `diagnose`, `calibrate`, `holes`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ragkpi.errors import UsageError
from ragkpi.evaluation import Run
from ragkpi.formats.given_columns import octets
from ragkpi.library.answers import answer_calibrate, answer_depth, answer_diagnose, answer_holes
from ragkpi.library.arguments import (
    Evaluating,
    bootstrap_of,
    in_one_order,
    named_runs,
    one_of,
    qrels_of,
    run_of,
    session,
    whole,
)
from ragkpi.library.result import Result
from ragkpi.library.voice import speaks_python

if TYPE_CHECKING:
    from typing_extensions import Unpack


@speaks_python
def depth(
    qrels: Any = None,
    runs: Any = None,
    *,
    at: Sequence[int] | None = None,
    at_least: int = 1,
    max_loss: float | None = None,
    plateau: float = 0.02,
    tokens_per_passage: float | None = None,
    relevant: Sequence[int] | None = None,
    ci: bool = False,
    resamples: int = 5000,
    seed: int = 7,
    confidence: float = 0.95,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "how many passages should I retrieve?", as ``ragkpi depth``.

    Parameters
    ----------
    qrels, runs, how
        As `evaluate` takes them; none of the first two with `relevant`.
    at
        Depths; None for 1, 2, 3, 5, 10, … as deep as the runs are.
    at_least
        Relevant documents that make a success.
    max_loss
        Bits of BoR that the answer may lie below the best depth.
    plateau
        Success has plateaued where deeper lists add no more than this.
    tokens_per_passage
        Also show the cost in tokens.
    relevant
        Without runs: how many of `corpus_size` documents are relevant, per query.
    ci, resamples, seed, confidence
        Whether, and how, intervals are computed.

    Examples
    --------
    >>> import ragkpi
    >>> print(ragkpi.depth(relevant=[4], corpus_size=58, at=[5, 10, 20]).rows[0]["bor_max"])
    1.6905...
    """
    from ragkpi.studies.depth.depth_limits import Limits

    asked = session((), in_one_order(how))
    limits = Limits(whole("at_least", at_least, 1), max_loss, plateau)
    depths = None if at is None else sorted({whole("at", depth, 1) for depth in at})
    bootstrap = bootstrap_of(resamples, seed, confidence) if ci else None
    counts = None if relevant is None else [whole("relevant", one, 1) for one in relevant]
    if (counts is None) == (runs is None):
        raise UsageError("expected qrels and runs, or relevant= and corpus_size=")
    judged, named = (
        None if runs is None else qrels_of(qrels, how=asked.qrels_format),
        {} if runs is None else named_runs(runs),
    )
    report, charts = answer_depth(
        asked, judged, named, depths, limits, tokens_per_passage, counts, bootstrap
    )
    return Result(report, charts, tuple(asked.said))


@speaks_python
def diagnose(
    qrels: Any,
    run: Any,
    *,
    cutoff: int = 10,
    good_proc: float = 0.8,
    good_pct_proc: float = 0.8,
    worst: int | None = None,
    missed: int = 3,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "is it the retriever or the reranker?", as ``ragkpi diagnose``.

    Parameters
    ----------
    qrels, run, how
        As `evaluate` takes them; ``pool``, the first stage that the run was selected from, must be
        among them.
    cutoff
        Documents shown.
    good_proc, good_pct_proc
        From where on PROC and %PROC are good.
    worst
        How many of the worst queries have a row; None for all.
    missed
        How many missed documents of each query are named.

    Examples
    --------
    >>> import ragkpi
    >>> found = ragkpi.diagnose(
    ...     "fixtures/qrels.txt", "fixtures/reranked.run", pool="fixtures/first_stage.run"
    ... )
    >>> found.to_dict()["question"]
    'diagnose'
    """
    from ragkpi.studies.diagnose.diagnosis_study import Thresholds

    asked = session((), in_one_order(how))
    if asked.pool is None:
        raise UsageError("no pool is given; expected pool=, which the run was selected from")
    most = None if worst is None else whole("worst", worst, 0)
    report, charts = answer_diagnose(
        asked,
        qrels_of(qrels, how=asked.qrels_format),
        _one(run),
        whole("cutoff", cutoff, 1),
        Thresholds(good_proc, good_pct_proc),
        most,
        whole("missed", missed, 0),
    )
    return Result(report, charts, tuple(asked.said))


@speaks_python
def calibrate(
    qrels: Any,
    runs: Any,
    quality: Any,
    measures: str | Sequence[str] = (),
    *,
    alphas: Sequence[float] | None = None,
    folds: int = 5,
    resamples: int = 5000,
    seed: int = 7,
    confidence: float = 0.95,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "which measure tracks the quality of responses here?", as ``ragkpi calibrate``.

    Parameters
    ----------
    qrels, runs, measures, how
        As `evaluate` takes them.
    quality
        A path; ``{query: score}``; or ``{run: {query: score}}`` for several runs.
    alphas
        Which ones to try out, from 0 to 1.
    folds
        Parts of the queries that are held out in turn.
    resamples, seed, confidence
        Of the intervals.
    """
    asked = session(measures, in_one_order(how))
    grid = [step / 20 for step in range(1, 20)] if alphas is None else sorted(set(alphas))
    if not all(isinstance(alpha, int | float) and 0 <= alpha <= 1 for alpha in grid):
        raise UsageError(f"alphas={list(alphas or ())!r}: expected numbers from 0 to 1")
    report, charts = answer_calibrate(
        asked,
        qrels_of(qrels, how=asked.qrels_format),
        named_runs(runs),
        os.fspath(quality) if isinstance(quality, str | os.PathLike) else _quality(quality),
        grid,
        whole("folds", folds, 2),
        bootstrap_of(resamples, seed, confidence),
    )
    return Result(report, charts, tuple(asked.said))


@speaks_python
def holes(
    qrels: Any,
    runs: Any,
    measures: str | Sequence[str] = (),
    *,
    within: Literal["retrieved", "cutoff"] = "retrieved",
    per_query: bool = False,
    first: int = 5,
    **how: Unpack[Evaluating],
) -> Result:
    """Answer "how much can unjudged documents change these values?", as ``ragkpi holes``.

    Parameters
    ----------
    qrels, runs, measures, how
        As `evaluate` takes them.
    within
        Whether holes are all unjudged documents that were retrieved, or those down to the cutoff.
    per_query
        Whether each query has rows.
    first
        How many documents to judge first are named.
    """
    asked = session(measures, in_one_order(how))
    report, charts, _ = answer_holes(
        asked,
        qrels_of(qrels, how=asked.qrels_format),
        named_runs(runs),
        one_of("within", within, ("retrieved", "cutoff")),
        "shown" if per_query else "hidden",
        whole("first", first, 0),
    )
    return Result(report, charts, tuple(asked.said))


def _one(run: Any) -> dict[str, Run]:
    return {str(run) if isinstance(run, str | os.PathLike) else "run": run_of(run)}


def _quality(quality: Any) -> Mapping[bytes | None, Mapping[bytes, float]]:
    """Read ``{query: score}`` or ``{run: {query: score}}``."""
    if not isinstance(quality, Mapping) or not quality:
        raise UsageError(
            f"quality is {type(quality).__name__}; expected a path, {{query: score}} or "
            "{run: {query: score}}"
        )
    nested = all(isinstance(scores, Mapping) for scores in quality.values())
    by_run: Mapping[Any, Any] = quality if nested else {None: quality}
    try:
        return {
            None if run is None else octets(run): {
                octets(query): float(score) for query, score in scores.items()
            }
            for run, scores in by_run.items()
        }
    except (TypeError, ValueError):
        raise UsageError("quality holds what is no number; expected {query: score}") from None
