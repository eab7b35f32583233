"""The command `ragkpi depth`: how many passages to retrieve, or tools to show."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.library.runs import by_path
from ragkpi.questions.depth.function import depth

_POOL = ("pool", "pool_depth", "pool_union")


@command(depth, without=(*_POOL, "ties", "gains", "rel_info", "measure_names"))
def shell(
    output: PlotOutput,
    files: Annotated[
        list[str],
        Argument(metavar="[QRELS [RUN...]]", help="Qrels and runs, or qrels alone."),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    **arguments: Any,
) -> None:
    """Write the depths, and the answer."""
    paths = expect_files(0, files, "", arguments.get("log"), arguments.get("quality"))
    qrels, runs = paths[0] if paths else None, by_path(paths[1:]) or None
    result = depth(qrels, runs, **arguments)
    output.write(result.report)
    output.draw(result.charts)
