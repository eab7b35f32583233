"""`ragkpi eval`: what trec_eval does, and more, with its options."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ragkpi.cli.options import Asked, evaluation, say, takes
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.measures.measure import Value

# -h is an option like the others: it takes the measures of -m into account.
CONTEXT: dict[str, list[str]] = {"help_option_names": []}


@takes(asked=evaluation)
def command(
    context: typer.Context,
    asked: Asked,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="QRELS RUN", help="Files; - is standard input.", show_default=False),
    ] = None,
    per_query: Annotated[
        bool, typer.Option("-q", "--query_eval_wanted", help="Also print a line per query.")
    ] = False,
    no_summary: Annotated[
        bool, typer.Option("-n", "--nosummary", help="Leave out the lines over all queries.")
    ] = False,
    zscores: Annotated[
        str | None,
        typer.Option(
            "-Z",
            "--Zscore",
            metavar="FILE",
            help="Print z-scores, by a file of means and deviations ('ragkpi zscores' writes it).",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("-v", "--version", help="Print the version and stop.")
    ] = False,
    help_: Annotated[
        bool, typer.Option("-h", "--help", help="Explain the options, or the measures of -m.")
    ] = False,
) -> None:
    """Evaluate a run against qrels and print trec_eval's lines: name, query or all, value.

    Options and files may stand in any order; short options may be joined (-qcm map) and long
    ones abbreviated. -h -m NAME explains a measure.
    """
    if version:
        from ragkpi import __version__

        print(f"ragkpi {__version__}")
        return
    if help_ and not asked.requests:
        print(context.get_help())
        return
    values = asked.values()
    if help_:
        _explain(values)
        return
    if files is None or len(files) != 2:
        raise UsageError(f"{len(files or [])} files; expected two: ragkpi eval [options] QRELS RUN")
    result = asked.evaluator(files[0], values).evaluate(files[1])
    say(result)
    scores, prefix = result.scores, b""
    if zscores is not None:
        from ragkpi.formats.zscores import read_zscores
        from ragkpi.statistics.zscores import standardize

        scores, prefix = standardize(scores, read_zscores(zscores)), b"Z"
    from ragkpi.reports.trec import write_trec

    write_trec(
        scores,
        sys.stdout.buffer,
        per_query="shown" if per_query else "hidden",
        summary="hidden" if no_summary else "shown",
        name_prefix=prefix,
    )


def _explain(values: list[Value]) -> None:
    from ragkpi.cli.measures import explanation

    measures = {value.measure.name: value.measure for value in values}
    print("\n\n".join(map(explanation, measures.values())))
