"""The public function `diagnose`."""

from __future__ import annotations

import os
from typing import Unpack

from ragkpi.charts.chart import noted
from ragkpi.errors import UsageError
from ragkpi.library.arguments import (
    AnyQrels,
    Estimating,
    Labels,
    Run,
    bootstrap_of,
    call_of,
    in_one_order,
    run_of,
    whole,
)
from ragkpi.library.call import Evaluations
from ragkpi.library.result import Result
from ragkpi.library.slices import queries_of, with_slices
from ragkpi.questions.diagnose.answer import diagnosis_answer, diagnosis_chart
from ragkpi.questions.diagnose.study import Diagnosis, Thresholds, best_case, metrics_of
from ragkpi.questions.diagnose.study import diagnose as diagnose_run
from ragkpi.reports.layout import Answer


def diagnose(
    qrels: AnyQrels,
    run: Run,
    *,
    cutoff: int = 10,
    good_proc: float = 0.8,
    good_pct_proc: float = 0.8,
    worst: int | None = None,
    missed: int = 3,
    by: Labels | None = None,
    **how: Unpack[Estimating],
) -> Result:
    """Answer "is it the retriever or the reranker?", as ``ragkpi diagnose``.

    Parameters
    ----------
    qrels, run, how
        As `evaluate` takes them; ``pool``, the first stage that the run was selected from, is
        required.
    cutoff
        The number of shown documents.
    good_proc, good_pct_proc
        The least good PROC and %PROC.
    worst
        The number of worst queries with a row; None for all.
    missed
        The number of missed documents to name for each query.
    by
        Labels of queries, as `evaluate` takes them: the same answer for each slice.

    Examples
    --------
    >>> import ragkpi
    >>> found = ragkpi.diagnose(
    ...     "fixtures/qrels.txt", "fixtures/reranked.run", pool="fixtures/first_stage.run"
    ... )
    >>> found.to_dict()["question"]
    'diagnose'
    """
    call = call_of((), in_one_order(how), Estimating, by)
    if call.pool is None:
        raise UsageError("no pool is given; expected pool=, which the run was selected from")
    most = None if worst is None else whole("worst", worst, 0)
    top = whole("cutoff", cutoff, 1)
    thresholds = Thresholds(good_proc, good_pct_proc)
    bootstrap = bootstrap_of(how, clusters=call.clusters)
    named = {str(run) if isinstance(run, str | os.PathLike) else "run": run_of(run)}
    documents = whole("missed", missed, 0)
    evaluated = call.evaluate(qrels, named, metrics_of(top), top)

    def diagnosed(some: Evaluations) -> tuple[Answer, Diagnosis]:
        (result,) = some
        best = best_case(some.evaluator, some.hits[0], top)
        diagnosis = diagnose_run(result.plain, some.judgements, top, thresholds, best)
        ids = some.judgements.document
        return diagnosis_answer(diagnosis, ids, most, documents, bootstrap), diagnosis

    answer, diagnosis = diagnosed(evaluated)
    chart = diagnosis_chart(diagnosis)
    return Result(
        with_slices(
            answer,
            call.labels,
            queries_of(evaluated.scores),
            lambda part: diagnosed(evaluated.over(part.queries))[0],
        ),
        lambda: noted([chart], evaluated.small_print()),
        evaluated.notes,
        evaluated.signed(),
    )
