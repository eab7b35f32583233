"""The command `ragkpi diagnose`: whether to blame the retriever or the reranker."""

from typing import Annotated, Any

from typer import Argument, Option

from ragkpi.cli.output import PlotOutput
from ragkpi.cli.signature import command
from ragkpi.errors import UsageError
from ragkpi.library.runs import run_path
from ragkpi.questions.diagnose.function import diagnose
from ragkpi.wording import counted

# It takes one run and uses grades, so -l, chance and the queries that all runs have do not matter.
_WITHOUT = ("ties", "gains", "rel_info", "names", "measure_names", "relevance_level", "common")
_CHANCE = ("corpus_size", "corpus_sizes", "draws")


@command(diagnose, without=(*_WITHOUT, *_CHANCE))
def shell(
    files: Annotated[list[str], Argument(metavar="QRELS RUN", help="Qrels and a run.")],
    output: PlotOutput,
    worst: Annotated[int, Option(metavar="N", min=0, help="Show the N worst queries.")] = 10,
    per_query: Annotated[bool, Option("-q", "--per-query", help="Show all queries.")] = False,
    **arguments: Any,
) -> None:
    """Write which stage lost the evidence of each query."""
    if len(files) != 2:
        raise UsageError(f"{counted(len(files), 'file')}; expected two: ragkpi diagnose QRELS RUN")
    if "pool" not in arguments:
        raise UsageError("no pool is given; expected --pool RUN, which QRELS RUN was selected from")
    result = diagnose(files[0], run_path(files[1]), worst=None if per_query else worst, **arguments)
    output.write(result.report)
    output.draw(result.charts)
