"""The public function `diagnose`, which also evaluates the best case of unjudged documents."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, Unpack

from ragkpi.charts.chart import noted
from ragkpi.errors import RagkpiError, UsageError
from ragkpi.evaluation import Evaluation, Evaluator
from ragkpi.library.arguments import (
    Estimating,
    bootstrap_of,
    in_one_order,
    run_of,
    session,
    whole,
)
from ragkpi.library.given import QuerySlice, labels_of, with_slices
from ragkpi.library.result import Result
from ragkpi.library.session import all_good
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.diagnose.answer import diagnosis_answer, diagnosis_chart
from ragkpi.questions.diagnose.study import Diagnosis, Thresholds, with_shown_at_their_best
from ragkpi.questions.diagnose.study import diagnose as diagnose_run
from ragkpi.ranking.reading import Hits
from ragkpi.ranking.relevance import Qrels
from ragkpi.reports.layout import Answer


def diagnose(
    qrels: Any,
    run: Any,
    *,
    cutoff: int = 10,
    good_proc: float = 0.8,
    good_pct_proc: float = 0.8,
    worst: int | None = None,
    missed: int = 3,
    by: Any = None,
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
    asked = session((), in_one_order(how), Estimating)
    if asked.pool is None:
        raise UsageError("no pool is given; expected pool=, which the run was selected from")
    most = None if worst is None else whole("worst", worst, 0)
    shown, labels = whole("cutoff", cutoff, 1), labels_of(by)
    thresholds = Thresholds(good_proc, good_pct_proc)
    bootstrap = bootstrap_of(how)
    named = {str(run) if isinstance(run, str | os.PathLike) else "run": run_of(run)}
    metrics = find_metrics([f"pct_proc.{shown}", f"pool_miss.{shown}"])
    evaluator = asked.evaluator(qrels, metrics)
    (read,) = evaluator.read(named.values(), evaluator.needs(metrics, shown))
    (result,) = asked.every(evaluator, named, evaluator.score([read], metrics))
    documents = whole("missed", missed, 0)

    def diagnosed(
        evaluator: Evaluator, read: Hits | RagkpiError, result: Evaluation
    ) -> tuple[Answer, Diagnosis]:
        judgements = evaluator.relevance.judgements
        diagnosis = diagnose_run(result.plain, judgements, shown, thresholds)
        if isinstance(read, Hits) and asked.pool != "-":  # which is read again
            best = with_shown_at_their_best(judgements, read, asked.settings, shown)
            if best is not None:
                generous = asked.evaluator(Qrels(best[0]), metrics)
                (at_best,) = all_good(list(named), generous.score([best[1]], metrics))
                study = diagnose_run(at_best.plain, best[0], shown, thresholds)
                diagnosis = replace(diagnosis, best_case=study.mean_shares)
        ids = judgements.document
        return diagnosis_answer(diagnosis, ids, most, documents, bootstrap), diagnosis

    def of_slice(part: QuerySlice) -> Answer:
        narrowed, view = evaluator.over(part.queries)
        some = view(read) if isinstance(read, Hits) else read
        (of_part,) = all_good(list(named), narrowed.score([some], metrics))
        return diagnosed(narrowed, some, of_part)[0]

    answer, diagnosis = diagnosed(evaluator, read, result)
    chart = diagnosis_chart(diagnosis)
    return Result(
        with_slices(answer, labels, result.scores.queries, of_slice),
        lambda: noted([chart], asked.small_print(qrels, metrics, result.plain)),
        tuple(asked.notes.told),
        asked.signed(metrics, qrels=qrels, by=by),
    )
