"""The command `ragkpi compare`: runs against a baseline."""

from collections.abc import Mapping
from typing import Annotated, Any

from typer import Argument, Option

from ragkpi.cli.output import PlotOutput, Signed, tell_gates
from ragkpi.cli.signature import command
from ragkpi.cli.terminal import exit_with, expect_files
from ragkpi.errors import UsageError
from ragkpi.files.inputs import inputs
from ragkpi.library.options import MORE
from ragkpi.library.runs import by_path, run_path, with_baseline
from ragkpi.library.stored import is_result
from ragkpi.questions.compare.function import compare


@command(compare, without=("resamples",))  # intervals are Student's
def shell(
    files: Annotated[
        list[str],
        Argument(
            metavar="[QRELS] BASELINE RUN...",
            help="Files; - is standard input. Runs may be results that 'ragkpi eval -q -o "
            "FILE.json' stored, of the same qrels and settings; if all are, QRELS may be left out.",
        ),
    ],
    output: PlotOutput,
    baseline: Annotated[
        str | None,
        Option(
            metavar="RUN",
            help="What the others are compared with: a run by name, or a file. Default: the first "
            "run.",
        ),
    ] = None,
    paper: Annotated[
        bool,
        Option(
            "--paper",
            help="Print the table of a paper, runs and measures, with marks where a run differs "
            "from the baseline: --format latex or markdown.",
        ),
    ] = False,
    per_query: Annotated[
        bool,
        Option(
            "-q",
            "--per-query",
            help="Show the queries won and lost, the largest first, with both values.",
            rich_help_panel=MORE,
        ),
    ] = False,
    against: Annotated[
        list[str],
        Option(
            metavar="RUN",
            parser=run_path,
            help="With --paper: mark what differs from this run instead, by name or file; may be "
            "repeated.",
            rich_help_panel=MORE,
        ),
    ] = [],  # noqa: B006 - typer's way to say that it may be left out
    signature: Signed = "none",
    **arguments: Any,
) -> None:
    """Write the comparison."""
    results = is_result(run_path(files[0]))
    some = "two or more results" if results else "three or more"
    expected = f"{some}: ragkpi compare [options] {'' if results else 'QRELS '}BASELINE RUN..."
    least = 3 - results - (baseline is not None)
    paths = expect_files(least, files, expected, arguments.get("by"), arguments.get("gains"))
    qrels, words = (None, paths) if results else (paths[0], paths[1:])
    runs = by_path(words if baseline is None else with_baseline(words, baseline))
    tables = {"--all-pairs": "pairs" in arguments, "--paper": paper}
    _refuse_together({**tables, "-q": per_query})
    _refuse_together({**tables, "--fail-if": "fail_if" in arguments})
    _refuse_together({"--by": "by" in arguments, "--paper": paper})
    if against and not paper:
        raise UsageError(f"--against {against[0]}: only --paper marks runs; give it with it")
    inputs().hashed = output.is_signed(signature)
    result = compare(
        qrels,
        runs,
        baseline=None if baseline is None else next(iter(runs)),
        problems="kept",
        **arguments,
    )
    if paper:
        output.write(result.paper(against).report, signature=signature)
    else:
        queries = "shown" if per_query else "hidden"
        output.write(result.report, signature=signature, per_query=queries)
    output.draw(result.charts)
    tell_gates(result.verdicts, elsewhere=output.is_read)
    exit_with(result.problems)


def _refuse_together(tables: Mapping[str, bool]) -> None:
    """Raise `UsageError` if the line requests more than one of these tables."""
    names = [name for name, is_requested in tables.items() if is_requested]
    if len(names) > 1:
        raise UsageError(f"{' with '.join(names)}: each is a table of its own; expected one")
