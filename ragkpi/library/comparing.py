"""`compare`: what ``ragkpi compare`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from ragkpi.errors import RagkpiError, UsageError
from ragkpi.library.arguments import (
    Evaluating,
    bootstrap_of,
    named_runs,
    one_of,
    qrels_of,
    session,
    whole,
)
from ragkpi.library.evaluating import Problems
from ragkpi.library.result import Result
from ragkpi.library.session import good_ones, problems_of
from ragkpi.library.voice import speaks_python
from ragkpi.statistics import paired
from ragkpi.statistics.corrections import CorrectionName
from ragkpi.statistics.significance import TestName
from ragkpi.studies.compare.comparison_report import REPORTED, ComparisonReport

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonResult(Result):
    """What came of runs beside a baseline.

    Attributes
    ----------
    problems
        What is wrong with runs that are not in the report; empty unless ``problems="kept"`` was
        asked for.
    """

    problems: Sequence[RagkpiError] = ()


@speaks_python
def compare(
    qrels: Any,
    runs: Any,
    measures: str | Sequence[str] = (),
    *,
    baseline: str | None = None,
    test: TestName = "randomization",
    correction: CorrectionName = "holm",
    family: Literal["metric", "all"] = "metric",
    trials: int = 10_000,
    resamples: int = 5000,
    seed: int = 7,
    confidence: float = 0.95,
    problems: Problems = "raised",
    **how: Unpack[Evaluating],
) -> ComparisonResult:
    """Compare runs with a baseline, query by query, as ``ragkpi compare``.

    Parameters
    ----------
    qrels, measures, how
        As `evaluate` takes them; without measures, those that are reported most.
    runs
        Two or more: a mapping by their names, or a list. All are over all judged queries, or with
        ``missing="common"`` over those that all runs have.
    baseline
        The name of the run that the others are compared with; None is the first.
    test, trials
        Where p-values come from.
    correction, family
        What becomes of many p-values, those by one metric or all of the call.
    resamples, seed, confidence
        Of the intervals of differences.
    problems
        As `evaluate` takes it. Without its baseline, nothing is compared.

    Examples
    --------
    >>> import ragkpi
    >>> runs = ["fixtures/runs/bm25.run", "fixtures/runs/fusion.run"]
    >>> found = ragkpi.compare("fixtures/qrels.txt", runs, "ndcg_cut.10", missing="zero")
    >>> [round(row["p"], 4) for row in found.rows if row["run"] == "fusion"]
    [0.0078]
    """
    asked = session(measures, how)
    procedure = paired.Procedure(
        one_of("test", test, get_args(TestName)),
        one_of("correction", correction, get_args(CorrectionName)),
        one_of("family", family, ("metric", "all")),
        whole("trials", trials, 1),
        bootstrap_of(resamples, seed, confidence),
    )
    one_of("problems", problems, get_args(Problems))
    named = named_runs(runs)
    if len(named) < 2:
        raise UsageError("one run is given; expected a baseline and others")
    if baseline is not None:
        named = {one_of("baseline", baseline, list(named)): named[baseline], **named}
    metrics = asked.metrics(REPORTED if asked.rel_info == "qrels" else None)
    judged = qrels_of(qrels, asked.rel_info, asked.qrels_format)
    outcomes = asked.evaluate_side_by_side(judged, named, metrics)
    asked = asked.side_by_side()
    bad = problems_of(list(named), outcomes)
    scored = {name: one.scores for name, one in good_ones(named, outcomes).items()}
    if problems == "raised" or len(scored) < 2 or next(iter(named)) not in scored:
        asked.voice.refuse(bad)
    shown = asked.called(list(scored), list(scored.values()))
    compared = paired.compare(shown, list(scored.values()), procedure)
    signature = asked.signed(qrels, metrics)
    return ComparisonResult(
        ComparisonReport(compared, [signature] * len(scored)),
        notes=tuple(asked.said),
        signature=signature,
        problems=bad,
    )
