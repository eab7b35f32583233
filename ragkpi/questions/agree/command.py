"""The command `ragkpi agree`: whether judges agree, and order runs alike."""

from typing import Annotated, Any

from typer import Argument, Option

from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.library.runs import by_path, refuse_equal_names, run_path
from ragkpi.questions.agree.function import agree
from ragkpi.reports.names import run_names

_WITHOUT = (
    "pool",
    "pool_depth",
    "pool_union",
    "ties",
    "gains",
    "rel_info",
    "only_query",
    "complete",
    "common",
)


@command(agree, without=_WITHOUT)
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="QRELS OTHER [RUN...]",
            help="The reference, such as people; the judgements in question; runs.",
        ),
    ],
    output: PlotOutput,
    judge: Annotated[list[str], Option(metavar="QRELS", help="One more judge; repeatable.")] = [],  # noqa: B006 - typer's way to say that it may be left out
    **arguments: Any,
) -> None:
    """Write how judges agree."""
    expected = "two qrels, then runs: ragkpi agree [options] QRELS OTHER [RUN...]"
    qrels, other, *runs = expect_files(2, files, expected, *judge)
    judges = [run_path(word) for word in (qrels, other, *judge)]
    refuse_equal_names(judges)
    reference, *others = run_names(judges)
    result = agree(
        judges[0],
        dict(zip(others, judges[1:], strict=True)),
        by_path(runs) or None,
        reference=reference,
        **arguments,
    )
    output.write(result.report)
    output.draw(result.charts)
