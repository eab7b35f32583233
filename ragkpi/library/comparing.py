"""What the questions share that compare runs: the procedure, and the queries of all runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, get_args

from ragkpi.errors import RagkpiError
from ragkpi.evaluation import Evaluation
from ragkpi.library.arguments import bootstrap_of, one_of, whole
from ragkpi.library.session import Session, good_ones
from ragkpi.statistics.paired import Procedure, aligned
from ragkpi.statistics.significance import CorrectionName, TestName


def procedure_of(
    test: TestName,
    correction: CorrectionName,
    family: Literal["metric", "all"],
    trials: int,
    resamples: int,
    seed: int,
    confidence: float,
) -> Procedure:
    """Return how runs are compared; wrong arguments are refused."""
    return Procedure(
        one_of("test", test, get_args(TestName)),
        one_of("correction", correction, get_args(CorrectionName)),
        one_of("family", family, ("metric", "all")),
        whole("trials", trials, 1),
        bootstrap_of(resamples, seed, confidence),
    )


def over_common_queries(
    asked: Session, names: Iterable[str], outcomes: Sequence[Evaluation | RagkpiError]
) -> Sequence[Evaluation | RagkpiError]:
    """Restrict scores to the queries of all runs where ``missing="common"`` asks for it."""
    good = good_ones(names, outcomes)
    if asked.settings.missing != "common" or not good:
        return outcomes
    first = next(iter(good.values()))
    shared = aligned(list(good), [evaluation.scores for evaluation in good.values()])
    if shared[0].queries == first.scores.queries and first.coverage.missing:
        asked.notes.note(
            f"compared over {len(shared[0].queries)} queries; "
            f"{len(first.coverage.missing)} judged are missing"
        )
    scores = iter(shared)
    return [
        outcome if isinstance(outcome, RagkpiError) else replace(outcome, scores=next(scores))
        for outcome in outcomes
    ]
