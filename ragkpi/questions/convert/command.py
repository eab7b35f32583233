"""The command `ragkpi convert`: a run or qrels in another format."""

from typing import Annotated, Any

from typer import Argument

from ragkpi.cli.signature import command
from ragkpi.questions.convert.function import convert


# --from names the format of IN, whether it is a run or qrels.
@command(convert, without=("qrels_format", "run_format"))
def shell(
    source: Annotated[str, Argument(metavar="IN", help="Run or qrels; - is standard input.")],
    target: Annotated[str, Argument(metavar="OUT", help="File; - is standard output.")],
    **arguments: Any,
) -> None:
    """Write a file in another format."""
    convert(source, target, **arguments)
