"""`ragkpi log`: the record that `ragkpi eval --log` keeps."""

from __future__ import annotations

from typing import Annotated

import typer

from ragkpi.cli.output_options import Output, output
from ragkpi.cli.shared_options import takes


@takes(output=output)
def command(
    output: Output,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What --log FILE wrote.")],
    where: Annotated[
        list[str],
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="Only evaluations with NAME=TEXT or NAME>=NUMBER (!=, <=, <, >), where NAME is a "
            "value, a key of --meta, run, run_id, time or signature; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort", metavar="NAME", help="The best value first. Default: as they were written."
        ),
    ] = None,
) -> None:
    """Show evaluations that were written down: a row per run, the oldest first.

    The best value of every column is marked where all were computed with the same settings; where
    they were not, a column says what differs.
    """
    output.refuse_trec("a record is no run")
    from ragkpi.studies.evaluate.evaluation_log import read_records
    from ragkpi.studies.evaluate.log_report import History

    history = History(read_records(file)).where(where)
    if sort is not None:
        history = history.sorted_by(sort)
    output.write(history, output.layout())
