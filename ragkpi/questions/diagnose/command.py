"""`ragkpi diagnose`: whether to blame the retriever or the reranker."""

from __future__ import annotations

import os
from typing import Annotated, Any, Unpack

from typer import Argument, Option

from ragkpi.charts.chart import noted
from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.library.arguments import bootstrap_of, in_one_order, session_of
from ragkpi.library.options import By, Estimating, whole
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Run, run_of, run_path
from ragkpi.library.session import Evaluations, queries_of
from ragkpi.library.slices import with_slices
from ragkpi.measures.registry import find_metrics
from ragkpi.questions.diagnose.answer import (
    Diagnosis,
    diagnosis_answer,
    diagnosis_chart,
)
from ragkpi.questions.diagnose.answer import diagnose as diagnose_run
from ragkpi.reports.layout import Answer
from ragkpi.wording import counted


def diagnose(
    qrels: AnyQrels,
    run: Run,
    *,
    cutoff: Annotated[
        int,
        Option("-k", "--cutoff", metavar="K", min=1, help="Cutoff: documents shown to the reader."),
    ] = 10,
    worst: int | None = None,
    missed: Annotated[
        int, Option(metavar="N", min=0, help="Name N missed documents of each query.")
    ] = 3,
    by: By = None,
    **how: Unpack[Estimating],
) -> Result:
    """Answer "is it the retriever or the reranker?", for a run that was selected from --pool.

    PROC is the maximum that K documents of the pool can reach, %PROC the share of it that the run
    reached. A query is the retriever's fault if PROC is below 0.8, the reranker's if %PROC is below
    0.8, or that of both. The ideal gain is split into gain missed by the pool, gain missed by the
    selection, and gain reached. A stage is blamed only if bootstrap samples of the queries also
    blame it. Unjudged passages count as worthless; a note counts them.

    Parameters
    ----------
    qrels, run, how
        As for `evaluate`; ``pool``, the first stage that the run was selected from, is required.
    worst
        The number of worst queries with a row; None for all.
    by
        Labels of queries, as for `evaluate`: the same answer for each group of queries.

    Examples
    --------
    >>> import ragkpi
    >>> result = ragkpi.diagnose(
    ...     "fixtures/qrels.txt", "fixtures/reranked.run", pool="fixtures/first_stage.run"
    ... )
    >>> result.to_dict()["question"]
    'diagnose'
    """
    session = session_of(qrels, (), in_one_order(how), Estimating, by)
    if session.pool is None:
        raise UsageError("no pool; expected pool=, the run of the first stage")
    most = None if worst is None else whole("worst", worst, 0)
    top = whole("cutoff", cutoff, 1)
    bootstrap = bootstrap_of(how, clusters=session.clusters)
    named = {str(run) if isinstance(run, str | os.PathLike) else "run": run_of(run)}
    documents = whole("missed", missed, 0)
    # These two need all that the answer needs of a judged run.
    metrics = find_metrics([f"pct_proc.{top}", f"pool_miss.{top}"])
    evaluated = session.evaluate(named, metrics)

    def diagnosed(some: Evaluations) -> tuple[Answer, Diagnosis]:
        (run,) = some.values()
        judgements = some.session.judgements
        diagnosis = diagnose_run(run.plain, judgements, top)
        ids = judgements.document
        return diagnosis_answer(diagnosis, ids, most, documents, bootstrap), diagnosis

    answer, diagnosis = diagnosed(evaluated)
    chart = diagnosis_chart(diagnosis)
    return Result(
        with_slices(
            answer,
            session.labels,
            queries_of(evaluated.scores),
            lambda part: diagnosed(evaluated.over(part.queries))[0],
        ),
        lambda: noted([chart], evaluated.small_print()),
        tuple(session.notes),
        session.signed(evaluated.metrics),
    )


# It has one run and uses grades, so -l, chance and queries shared by runs do not matter.
_WITHOUT = ("ties", "gains", "rel_info", "names", "measure_names", "relevance_level", "common")


@command(
    diagnose,
    without=(*_WITHOUT, "corpus_size", "corpus_sizes", "draws"),
    examples=(
        "ragkpi diagnose --pool first_stage.run qrels.txt reranked.run",
        "ragkpi diagnose -k 5 --worst 3 --pool first_stage.run qrels.txt reranked.run",
        "ragkpi diagnose --pool first_stage.run --format json qrels.txt reranked.run",
    ),
)
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN", help="Qrels and a run.")],
    output: PlotOutput,
    worst: Annotated[int, Option(metavar="N", min=0, help="Show the N worst queries.")] = 10,
    per_query: Annotated[bool, Option("-q", "--per-query", help="Show all queries.")] = False,
    **arguments: Any,
) -> None:
    """Write the stage that lost the evidence of each query."""
    if len(files) != 2:
        raise UsageError(f"{counted(len(files), 'file')}; expected two: ragkpi diagnose QRELS RUN")
    if "pool" not in arguments:
        raise UsageError("no pool; expected --pool RUN, the run of the first stage")
    result = diagnose(files[0], run_path(files[1]), worst=None if per_query else worst, **arguments)
    output.write(result.report)
    output.draw(result.charts)
