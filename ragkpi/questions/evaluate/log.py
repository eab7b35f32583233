"""`ragkpi log`: the record that `ragkpi eval --log` keeps."""

from ragkpi.cli.options import argument, option, takes
from ragkpi.cli.output_options import Output, output


@takes(output=output)
def command(
    output: Output,
    file: str = argument("FILE", "What --log FILE wrote."),
    where: list[str] = option(
        "--where CONDITION",
        "Only evaluations with NAME=TEXT or NAME>=NUMBER (!=, <=, <, >), where NAME is a "
        "value, a key of --meta, run, run_id, time or signature; repeatable.",
        use="common",
    ),
    sort: str | None = option(
        "--sort NAME", "The best value first. Default: as they were written.", use="common"
    ),
) -> None:
    """Show evaluations that were written down: a row per run, the oldest first.

    The best value of every column is marked where all were computed with the same settings; where
    they were not, a column says what differs.
    """
    from ragkpi.questions.evaluate.record import log

    output.write(log(file, where, sort).report)
