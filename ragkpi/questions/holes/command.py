"""`ragkpi holes`: how much unjudged documents can change values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Unpack

from typer import Argument, Option

from ragkpi.bounds.bounds import HoleBounds, find_bounds
from ragkpi.bounds.unjudged import DEEPEST
from ragkpi.charts.chart import noted
from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.errors import UsageError
from ragkpi.interface import spell
from ragkpi.library.arguments import in_one_order, session_of
from ragkpi.library.options import By, Evaluating, Measures, PerQuery, whole
from ragkpi.library.result import Result
from ragkpi.library.runs import AnyQrels, Runs, by_path, named_runs
from ragkpi.library.session import Evaluations, queries_of
from ragkpi.library.slices import with_slices
from ragkpi.questions.holes.answer import Candidate, candidates, holes_answer, holes_charts
from ragkpi.reports.layout import Answer
from ragkpi.reports.output_files import replacing

BOUNDED = ("P.10", "recall.10", "ndcg_cut.10")


@dataclass(frozen=True, eq=False, repr=False)
class HolesResult(Result):
    """The bounds of values over unjudged documents.

    Attributes
    ----------
    to_judge
        The documents to judge, in order, as ``--assess`` writes them.
    """

    to_judge: Sequence[Candidate] = ()


def holes(
    qrels: AnyQrels,
    runs: Runs,
    measures: Measures = (),
    *,
    per_query: PerQuery = False,
    first: Annotated[int, Option(metavar="N", min=0, help="List N documents to judge first.")] = 5,
    by: By = None,
    **how: Unpack[Evaluating],
) -> HolesResult:
    """Answer "how much can unjudged documents change these values?".

    A hole is an unjudged document that one of the runs retrieves. Every value comes with its
    minimum and maximum over all assignments of levels of the qrels (or of the grade map) to the
    holes. The bounds are exact unless a note says that they are wider; measures without bounds are
    left out, with the reason. Documents that no run retrieves stay unjudged: relevant ones would
    lower recall and every measure that is divided by R or by an ideal. Without -m: P, recall and
    ndcg_cut at 10.

    Parameters
    ----------
    qrels, runs, measures, how
        As for `evaluate`.
    by
        Labels of queries, as for `evaluate`: the same answer for each group of queries.
    """
    session = session_of(qrels, measures, in_one_order(how), by=by)
    named_first = whole("first", first, 0)
    metrics = session.metrics(BOUNDED)
    if any(metric.relevance_level is not None for metric in metrics):
        raise UsageError(
            f"bounds use one level of relevance; expected {spell('relevance_level')} in "
            f"place of rel="
        )
    evaluated = session.evaluate(named_runs(runs), metrics, DEEPEST)
    queries: Literal["hidden", "shown"] = "shown" if per_query else "hidden"

    def bounded(some: Evaluations) -> tuple[Answer, HoleBounds, Sequence[Candidate]]:
        judgements = some.session.judgements
        bounds = find_bounds(judgements, list(some.values()), session.settings)
        to_judge = candidates(bounds)
        answer = holes_answer(bounds, some.names, to_judge, named_first, queries)
        return answer, bounds, to_judge

    answer, bounds, to_judge = bounded(evaluated)
    return HolesResult(
        with_slices(
            answer,
            session.labels,
            queries_of(evaluated.scores),
            lambda part: bounded(evaluated.over(part.queries))[0],
        ),
        lambda: noted(holes_charts(bounds, evaluated.names), evaluated.small_print()),
        tuple(session.notes),
        session.signed(metrics),
        to_judge=to_judge,
    )


@command(
    holes,
    without=("pool", "pool_depth", "pool_union", "ties", "gains", "rel_info", "unjudged"),
    examples=(
        "ragkpi holes qrels.txt runs/bm25.run runs/fusion.run",
        "ragkpi holes -m ndcg_cut.20 --first 10 qrels.txt runs/bm25.run",
        "ragkpi holes --assess todo.tsv qrels.txt runs/bm25.run",
    ),
)
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN...", help="Qrels and runs.")],
    output: PlotOutput,
    assess: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write all documents worth judging, best rank first: tab-separated query, "
            "document, share of the uncertainty, best rank.",
        ),
    ] = None,
    **arguments: Any,
) -> None:
    """Write the bounds, and the documents to judge."""
    qrels, *runs = expect_files(2, files, "qrels and runs: ragkpi holes QRELS RUN")
    result = holes(qrels, by_path(runs), **arguments)
    if assess is not None:
        with replacing(assess, "--assess") as file:
            file.write(b"query\tdocument\tshare\tbest_rank\n")
            for one in result.to_judge:
                file.write(b"%b\t%b\t%.6g\t%d\n" % (one.query, one.document, one.share, one.rank))
    output.write(result.report)
    output.draw(result.charts)
