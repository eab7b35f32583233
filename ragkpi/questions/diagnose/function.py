"""The public function `diagnose`."""

from __future__ import annotations

import os
from typing import Annotated, Unpack

from typer import Option

from ragkpi.charts.chart import noted
from ragkpi.errors import UsageError
from ragkpi.library.arguments import bootstrap_of, call_of, in_one_order
from ragkpi.library.call import Evaluations
from ragkpi.library.options import MORE, By, Estimating, whole
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Run, run_of
from ragkpi.library.slices import queries_of, with_slices
from ragkpi.questions.diagnose.answer import (
    Diagnosis,
    Thresholds,
    best_case,
    diagnosis_answer,
    diagnosis_chart,
    metrics_of,
)
from ragkpi.questions.diagnose.answer import diagnose as diagnose_run
from ragkpi.reports.layout import Answer


def diagnose(
    qrels: AnyQrels,
    run: Run,
    *,
    cutoff: Annotated[
        int, Option("-k", "--cutoff", metavar="K", min=1, help="Documents shown.")
    ] = 10,
    good_proc: Annotated[
        float,
        Option(
            metavar="SHARE", min=0, help="PROC from which a pool is good.", rich_help_panel=MORE
        ),
    ] = 0.8,
    good_pct_proc: Annotated[
        float,
        Option(
            metavar="SHARE",
            min=0,
            help="%PROC from which a selection is good. Published systems reach 0.83 to 0.89.",
            rich_help_panel=MORE,
        ),
    ] = 0.8,
    worst: int | None = None,
    missed: Annotated[
        int, Option(metavar="N", min=0, help="Name N missed documents of each query.")
    ] = 3,
    by: By = None,
    **how: Unpack[Estimating],
) -> Result:
    """Answer "is it the retriever or the reranker?", for a run that was selected from --pool.

    PROC is the best that K documents of the pool could give, %PROC the share of it that the run
    realised. A query is the retriever's fault where PROC is low, the reranker's where %PROC is,
    or both's. What is lost is decomposed: ideal gain = missed by the pool + missed by the
    selection + realised. A stage is blamed only where resampled queries blame it, too. Unjudged
    passages count as worthless; a note says what it would be if all that are shown were of the top
    grade.

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
