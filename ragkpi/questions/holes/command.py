"""The command `ragkpi holes`: how much unjudged documents can change values."""

from typing import Literal

import ragkpi
from ragkpi.cli.evaluation_options import BY, Arguments, without_pool
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import Output, naming, output_and_plot
from ragkpi.cli.runs import by_path
from ragkpi.cli.terminal import expect_files
from ragkpi.reports.output_files import replacing

_evaluating = without_pool.without("judged_only")


@command
def holes(
    evaluating: Arguments = _evaluating,
    output: Output = output_and_plot,
    naming: Arguments = naming,
    files: list[str] = argument("QRELS RUN...", "Qrels and runs."),
    within: Literal["retrieved", "cutoff"] = option(
        "--within retrieved|cutoff",
        "Whether holes are all unjudged documents that were retrieved (-M limits them), or "
        "for each measure only those down to its cutoff.",
        "retrieved",
        use="common",
    ),
    per_query: bool = option(
        "-q, --per-query, --query_eval_wanted", "Also show a row per query.", use="common"
    ),
    first: int = option("--first N", "Name N documents to judge first.", 5, min=0, use="common"),
    assess: str | None = option(
        "--assess FILE",
        "Write all documents worth judging, best ranks first (for RA-nWG alone those that "
        "settle most): tab-separated query, document, share of the uncertainty, runs, best "
        "rank.",
        use="common",
    ),
    assess_qrels: str | None = option(
        "--assess-qrels FILE",
        "The same as qrels lines of level -1 (unjudged), for assessors to fill in.",
    ),
    by: str | None = BY,
) -> None:
    """Answer "how much can unjudged documents change these values?".

    A hole is an unjudged document that one of the runs retrieves. Every value comes with the
    least and the greatest that it would be if all holes were judged, over every way to give them
    levels of the qrels (or of the grade map). The bounds are exact unless it is said that they are
    wider; measures that cannot be bounded are left out, with the reason. Documents that no run
    retrieves stay unjudged: relevant ones among them would lower recall, and whatever divides by R
    or by an ideal. Without -m: P, recall and ndcg_cut at 10.
    """
    qrels, *paths = expect_files(2, files, "qrels and runs: ragkpi holes QRELS RUN")
    result = ragkpi.holes(
        qrels,
        by_path(paths),
        within=within,
        per_query=per_query,
        first=first,
        by=by,
        **evaluating | naming,
    )
    if assess is not None:
        with replacing(assess, "--assess") as file:
            file.writelines(result.assessment_lines())
    if assess_qrels is not None:
        with replacing(assess_qrels, "--assess-qrels") as file:
            file.writelines(result.open_qrels_lines())
    output.write(result.report, result.charts)
