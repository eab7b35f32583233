"""The public function `holes`: bounds of values, and the documents to judge first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, get_args

from ragkpi.charts.chart import Chart, noted
from ragkpi.errors import UsageError
from ragkpi.evaluation import Evaluation, Evaluator
from ragkpi.interface import option
from ragkpi.library.arguments import Evaluating, in_one_order, named_runs, one_of, session, whole
from ragkpi.library.given import QuerySlice, labels_of, queries_of, with_slices
from ragkpi.library.result import Result
from ragkpi.library.session import all_good
from ragkpi.questions.holes.answer import holes_answer, holes_charts
from ragkpi.questions.holes.assessment import (
    Candidate,
    assessment_lines,
    candidates,
    open_qrels_lines,
    removed_together,
)
from ragkpi.questions.holes.study import HoleBounds, Within, depth_needed, find_bounds
from ragkpi.ranking.reading import Hits
from ragkpi.reports.layout import Answer

BOUNDED = ("P.10", "recall.10", "ndcg_cut.10")
_EVERYTHING = 1 << 62


@dataclass(frozen=True, eq=False, repr=False)
class HolesResult(Result):
    """The bounds of values over unjudged documents.

    Attributes
    ----------
    to_judge
        All documents worth judging, in order, as ``--assess`` writes them.
    """

    to_judge: Sequence[Candidate] = ()

    def assessment_lines(self) -> Iterator[bytes]:
        """Yield the lines of ``--assess``: a header, and a line per document to judge."""
        return assessment_lines(self.to_judge)

    def open_qrels_lines(self) -> Iterator[bytes]:
        """Yield the lines of ``--assess-qrels``: qrels of level -1, for assessors to edit."""
        return open_qrels_lines(self.to_judge)


def holes(
    qrels: Any,
    runs: Any,
    measures: str | Sequence[str] = (),
    *,
    within: Literal["retrieved", "cutoff"] = "retrieved",
    per_query: bool = False,
    first: int = 5,
    by: Any = None,
    **how: Unpack[Evaluating],
) -> HolesResult:
    """Answer "how much can unjudged documents change these values?", as ``ragkpi holes``.

    Parameters
    ----------
    qrels, runs, measures, how
        As `evaluate` takes them.
    within
        Whether holes are all retrieved unjudged documents, or those down to the cutoff.
    per_query
        Whether each query has rows.
    first
        The number of documents to judge first that the answer names.
    by
        Labels of queries, as `evaluate` takes them: the same answer for each slice.
    """
    asked = session(measures, in_one_order(how))
    reach = one_of("within", within, get_args(Within))
    named_first = whole("first", first, 0)
    named = named_runs(runs)
    labels = labels_of(by)
    metrics = asked.metrics(BOUNDED)
    if any(metric.relevance_level is not None for metric in metrics):
        raise UsageError(
            f"bounds are by one level of relevance; expected {option('relevance_level')} in "
            f"place of rel="
        )
    evaluator = asked.evaluator(qrels, metrics)
    depth = depth_needed(metrics, reach) or _EVERYTHING
    read = evaluator.read(named.values(), evaluator.needs(metrics, depth))
    outcomes = asked.checked(evaluator, named, evaluator.score(read, metrics))
    results = all_good(named, outcomes)
    hits = [run for run in read if isinstance(run, Hits)]
    names = asked.called(list(named), [result.scores for result in results])
    shown: Literal["hidden", "shown"] = "shown" if per_query else "hidden"

    def bounded(
        evaluator: Evaluator, hits: Sequence[Hits], results: Sequence[Evaluation]
    ) -> tuple[Answer, HoleBounds, Sequence[Candidate]]:
        found = find_bounds(evaluator.relevance.judgements, hits, results, asked.settings, reach)
        listed = candidates(found)
        together = removed_together(found, listed[:named_first])
        return holes_answer(found, names, listed, named_first, shown, together), found, listed

    def of_slice(part: QuerySlice) -> Answer:
        narrowed, view = evaluator.over(part.queries)
        some = list(map(view, hits))
        return bounded(narrowed, some, all_good(names, narrowed.score(some, metrics)))[0]

    answer, found, listed = bounded(evaluator, hits, results)
    queries = queries_of([result.scores for result in results])

    def charts() -> list[Chart]:
        notes = asked.small_print(qrels, metrics, results[0].plain)
        return noted(holes_charts(found, names), notes)

    return HolesResult(
        with_slices(answer, labels, queries, of_slice),
        charts,
        tuple(asked.notes.told),
        asked.signed(metrics, qrels=qrels, by=by),
        listed,
    )
