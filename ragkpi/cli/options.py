"""Options that several commands share: how qrels and runs are read and what is measured.

Long names with underscores are trec_eval's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ragkpi.errors import UsageError

if TYPE_CHECKING:  # importing it would import numpy before the command line is read
    from ragkpi.ranking.settings import Missing

Measures = Annotated[
    list[str],
    typer.Option(
        "-m",
        "--measure",
        metavar="NAME[.PARAMS]",
        help="Measure or nickname, e.g. map, P.5,10, ndcg_cut.10; repeatable. "
        "Default: official, or what -R serves.",
    ),
]
RelevanceFormat = Annotated[
    str,
    typer.Option(
        "-R",
        "--Rel_info_format",
        metavar="FORMAT",
        help="Format of QRELS: qrels, qrels_jg (several assessors), prefs or qrels_prefs "
        "(preferences). Each has its own measures.",
    ),
]
Complete = Annotated[
    bool,
    typer.Option(
        "-c",
        "--complete_rel_info_wanted",
        help="Average over all judged queries; a query missing from the run scores as empty.",
    ),
]
Strict = Annotated[
    bool, typer.Option("--strict", help="A judged query missing from the run is an error.")
]
Level = Annotated[
    int,
    typer.Option("-l", "--level_for_rel", min=0, help="Lowest judged level that is relevant."),
]
MaxRetrieved = Annotated[
    int | None,
    typer.Option(
        "-M", "--Max_retrieved_per_topic", min=0, help="Only this many top documents per query."
    ),
]
JudgedOnly = Annotated[
    bool,
    typer.Option("-J", "--Judged_docs_only", help="Drop unjudged documents from the rankings."),
]
CorpusSize = Annotated[
    int | None,
    typer.Option(
        "-N",
        "--Number_docs_in_coll",
        min=0,
        envvar="RAGKPI_CORPUS_SIZE",
        help="Documents (passages, tools) that could have been retrieved.",
    ),
]
Debug = Annotated[
    str,
    typer.Option("-D", "--Debug_level", metavar="0.QID", help="Evaluate only the query QID."),
]
ResultsFormat = Annotated[
    str,
    typer.Option(
        "-T", "--Results_format", metavar="FORMAT", help="Format of RUN: trec_results alone."
    ),
]


def refuse_other_results(results_format: str) -> None:
    """Raise `UsageError` for a -T that is not the one there is."""
    if results_format != "trec_results":
        raise UsageError(f"-T {results_format}: no such format; expected trec_results")


def missing_policy(complete: bool, strict: bool) -> Missing:
    """Name what becomes of judged queries that a run lacks."""
    if strict:
        return "error"
    return "zero" if complete else "intersection"


def only_query(debug: str) -> bytes | None:
    """Read ``-D 0.QID``; trec_eval's debug texts (levels above 0) are not offered."""
    level, dot, query = debug.partition(".")
    if level != "0" or (dot and not query):
        raise UsageError(f"-D {debug}: no debug output is offered; give -D 0.QID for one query")
    return query.encode("utf-8", "surrogateescape") if dot else None
