"""The command `ragkpi correct`: what people would say, from few of their judgements."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.output import Output
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import expect_files
from ragkpi.library.runs import by_path
from ragkpi.questions.correct.function import correct


@command(correct)
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="PEOPLE QRELS RUN...",
            help="People's judgements of some queries, a model's of all, and runs.",
        ),
    ],
    output: Output,
    **arguments: Any,
) -> None:
    """Write the corrected values."""
    expected = "people's qrels, a model's, and runs: ragkpi correct PEOPLE QRELS RUN..."
    people, qrels, *runs = expect_files(3, files, expected)
    result = correct(people, qrels, by_path(runs), **arguments)
    output.write(result.report)
