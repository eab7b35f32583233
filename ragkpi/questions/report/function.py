"""`report`: one HTML page about runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from ragkpi.files.in_memory import octets
from ragkpi.files.texts import Text
from ragkpi.library.arguments import (
    Evaluating,
    in_one_order,
    named_runs,
    session,
    whole,
)
from ragkpi.library.comparing import procedure_of
from ragkpi.library.slices import labels_of
from ragkpi.questions.report.content import (
    Given,
    ReportOptions,
    default_measures,
    metrics_needed,
    report_document,
    wanted_of,
)
from ragkpi.questions.report.page import HtmlReport, refuse_without_packages, report_page
from ragkpi.ranking.reading import Hits
from ragkpi.statistics.significance import CorrectionName, TestName

_TITLED = 3  # runs that a title names


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
    test: TestName = "randomization",
    correction: CorrectionName = "holm",
    family: Literal["metric", "all"] = "metric",
    trials: int = 10_000,
    resamples: int = 5000,
    seed: int = 7,
    confidence: float = 0.95,
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
    test, correction, family, trials, resamples, seed, confidence
        How runs are compared, as `compare` takes it.

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
    refuse_without_packages()
    named = named_runs(runs)
    asked = session(measures, in_one_order(how))
    requests = list(asked.requests) or default_measures(asked.settings, asked.pool)
    asked = replace(asked.side_by_side() if len(named) > 1 else asked, requests=requests)
    metrics = asked.metrics()
    procedure = procedure_of(test, correction, family, trials, resamples, seed, confidence)
    evaluator = asked.evaluator(qrels, metrics)
    read = evaluator.read(named.values(), wanted_of(evaluator, metrics, len(named)))
    needed = metrics_needed(metrics, asked.pool is not None)
    evaluations = asked.every(named, evaluator.score(read, needed))
    names = list(asked.called(list(named), [evaluation.scores for evaluation in evaluations]))
    compared: list[str] = []
    if len(named) > 1 and asked.settings.missing == "zero":
        compared = asked.notes.tell_what_is_compared(dict(zip(names, evaluations, strict=True)))
    titled = ", ".join([*names[:_TITLED], *["…"][: max(0, len(names) - _TITLED)]])
    options = ReportOptions(
        title=title or titled,
        main=asked.requests[0],
        procedure=procedure,
        query_texts=_texts(queries),
        document_texts=_texts(corpus),
        labels=labels_of(by) or {},
        detail_queries=whole("detail_queries", detail_queries, 0),
        detail_depth=whole("detail_depth", detail_depth, 1),
        signature=asked.signature(metrics, asked.files(qrels=qrels)),
        compared=compared,
    )
    hits = [run for run in read if isinstance(run, Hits)]
    given = list(named.values())
    return report_page(
        report_document(evaluator, given, names, hits, evaluations, metrics, options)
    )


def _texts(given: Any) -> Given:
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        return str(os.fspath(given))
    return {octets(id_): Text((text, len(text))) for id_, text in given.items()}
