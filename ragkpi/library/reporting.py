"""`report`: one page about runs, from Python as from the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragkpi.evaluation import Run
from ragkpi.formats.given_columns import octets
from ragkpi.library.arguments import (
    Evaluating,
    in_one_order,
    named_runs,
    qrels_of,
    session,
    whole,
)
from ragkpi.library.session import Session
from ragkpi.library.slicing import labels_of
from ragkpi.library.voice import speaks_python
from ragkpi.measures.scores import Scores
from ragkpi.ranking.hits import Hits
from ragkpi.ranking.relevance import Relevance

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ragkpi.formats.texts import Text
    from ragkpi.studies.report.report_options import ReportOptions
    from ragkpi.studies.report.report_page import HtmlReport

_TITLED = 3  # runs that a title names


@speaks_python
def report(
    qrels: Any,
    runs: Any,
    measures: str | Sequence[str] = (),
    *,
    queries: str | os.PathLike[str] | Mapping[Any, str] | None = None,
    corpus: str | os.PathLike[str] | Mapping[Any, str] | None = None,
    by: str | os.PathLike[str] | Mapping[str, Mapping[Any, str]] | None = None,
    title: str | None = None,
    detail_queries: int = 200,
    detail_depth: int = 100,
    **how: Unpack[Evaluating],
) -> HtmlReport:
    """Make one HTML page about runs, as ``ragkpi report``; a notebook shows it inline.

    Parameters
    ----------
    qrels, runs, measures, how
        As `evaluate` takes them. With several runs all judged queries count, and one that a run
        lacks scores as empty.
    queries, corpus
        Texts of queries and documents: a path, or texts by id.
    by
        Labels of queries, for slices: a path, or ``{"language": {"q1": "de", …}, …}``.
    title
        Of the page; None names the runs.
    detail_queries, detail_depth
        Of how many queries documents are shown, and how many of each run.

    Returns
    -------
    HtmlReport
        ``.save("report.html")`` writes the page; ``.data`` is what it shows, valid under
        ``schema.json#/$defs/report``.

    Examples
    --------
    >>> import ragkpi
    >>> runs = ["fixtures/runs/bm25.run", "fixtures/runs/fusion.run"]
    >>> ragkpi.report("fixtures/qrels.txt", runs, "P.10", corpus_size=5000).data["runs"]
    ['bm25', 'fusion']
    """
    from ragkpi.studies.report.report_options import ReportOptions

    named = named_runs(runs)
    asked = page_session(session(measures, in_one_order(how)), len(named))
    options = ReportOptions(
        title=title or "",
        query_texts=_texts(queries),
        document_texts=_texts(corpus),
        labels=labels_of(by) or {},
        detail_queries=whole("detail_queries", detail_queries, 0),
        detail_depth=whole("detail_depth", detail_depth, 1),
    )
    return make_report(asked, qrels_of(qrels), named, options, lambda _: list(named))


def page_session(asked: Session, runs: int) -> Session:
    """Settle what a page is about where nobody says: its measures, and queries that runs lack."""
    from ragkpi.studies.report.report_options import default_measures, over_all_queries
    from ragkpi.studies.report.report_page import refuse_without_packages

    refuse_without_packages()
    requests = list(asked.requests) or default_measures(asked.settings, asked.pool)
    return replace(asked, requests=requests, settings=over_all_queries(asked.settings, runs))


def make_report(
    asked: Session,
    qrels: str | Relevance,
    runs: Mapping[str, Run],
    options: ReportOptions,
    called: Callable[[Sequence[Scores]], list[str]],
) -> HtmlReport:
    """Evaluate runs as `page_session` has it and make their page; `called` names them."""
    from ragkpi.studies.report.report_content import report_document, wanted_of
    from ragkpi.studies.report.report_options import compared_over
    from ragkpi.studies.report.report_page import report_page
    from ragkpi.studies.report.report_runs import metrics_needed

    metrics = asked.metrics()
    evaluator = asked.evaluator(qrels, metrics)
    read = asked.read(evaluator, runs, wanted_of(evaluator, metrics, len(runs)))
    needed = metrics_needed(metrics, asked.pool is not None)
    evaluations = asked.every(list(runs), evaluator.score(read, needed))
    hits = [run for run in read if isinstance(run, Hits)]
    names = called([evaluation.scores for evaluation in evaluations])
    for note in compared_over(asked.settings, names, evaluations):
        asked.note(note)
    more = [*names[:_TITLED], *["…"][: max(0, len(names) - _TITLED)]]
    options = replace(options, title=options.title or ", ".join(more), main=asked.requests[0])
    given = list(runs.values())
    return report_page(
        report_document(evaluator, given, names, hits, evaluations, metrics, options)
    )


def _texts(given: Any) -> str | Mapping[bytes, Text] | None:
    from ragkpi.formats.texts import Text

    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        return str(os.fspath(given))
    return {octets(id_): Text((text, len(text))) for id_, text in given.items()}
