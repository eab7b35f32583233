"""`ragkpi log`: the record that `ragkpi eval --log` keeps."""

from ragkpi.cli.option_groups import Annotated, argument, option, takes
from ragkpi.cli.output_options import Output, output


@takes(output=output)
def command(
    output: Output,
    file: Annotated[str, argument(metavar="FILE", help="What --log FILE wrote.")],
    where: Annotated[
        list[str],
        option(
            "--where",
            metavar="CONDITION",
            help="Only evaluations with NAME=TEXT or NAME>=NUMBER (!=, <=, <, >), where NAME is a "
            "value, a key of --meta, run, run_id, time or signature; repeatable.",
        ),
    ] = [],  # noqa: B006 - typer copies defaults
    sort: Annotated[
        str | None,
        option(
            "--sort", metavar="NAME", help="The best value first. Default: as they were written."
        ),
    ] = None,
) -> None:
    """Show evaluations that were written down: a row per run, the oldest first.

    The best value of every column is marked where all were computed with the same settings; where
    they were not, a column says what differs.
    """
    from ragkpi.library.describing import log

    output.write(log(file, where, sort).report)
