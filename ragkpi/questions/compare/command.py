"""The command `ragkpi compare`: runs against a baseline."""

from collections.abc import Mapping
from typing import Literal

import ragkpi
from ragkpi.cli.evaluation_options import (
    BY,
    Arguments,
    comparing,
    evaluation,
)
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import (
    Output,
    Signed,
    naming,
    output_and_plot,
    signature,
    tell_gates,
)
from ragkpi.cli.runs import by_path, run_path, with_baseline
from ragkpi.cli.terminal import exit_with, expect_files
from ragkpi.errors import UsageError
from ragkpi.files.inputs import inputs

testing = comparing.without("resamples")  # intervals are Student's


@command
def compare(
    evaluating: Arguments = evaluation,
    procedure: Arguments = testing,
    output: Output = output_and_plot,
    naming: Arguments = naming,
    signature: Signed = signature,
    files: list[str] = argument(
        "[QRELS] BASELINE RUN...",
        "Files; - is standard input. Runs may be results that 'ragkpi eval -q -o FILE.json' "
        "stored, of the same qrels and settings; if all are, QRELS may be left out.",
    ),
    baseline: str | None = option(
        "--baseline RUN",
        "What the others are compared with: a run by name, or a file. Default: the first run.",
        use="common",
    ),
    per_query: bool = option(
        "-q, --per-query",
        "Show the queries won and lost, the largest first, with both values.",
    ),
    all_pairs: bool = option(
        "--all-pairs",
        "Compare each run with each: p of every pair, and letters that runs share which are "
        "not shown to differ. The test is step-down then, of all pairs at once.",
        use="common",
    ),
    paper: bool = option(
        "--paper",
        "Print the table of a paper, runs and measures, with marks where a run differs from "
        "the baseline: --format latex or markdown.",
        use="common",
    ),
    against: list[str] = option(
        "--against RUN",
        "With --paper: mark what differs from this run instead, by name or file; may be repeated.",
        parse=run_path,
    ),
    by: str | None = BY,
    fail_if: Literal["worse", "noninferior"] | None = option(
        "--fail-if worse|noninferior",
        "Exit with status 3 if any value of a run is shown to be worse than the baseline's, or "
        "unless every value is shown to be no worse; as --fail-under-baseline of eval decides.",
    ),
    margin: str | None = option(
        "--margin AMOUNT", "How much worse --fail-if allows, e.g. 0.01 or 2%."
    ),
) -> None:
    """Compare runs with a baseline, query by query.

    The first measure decides: a sentence says which runs are better by it. Then a row per value and
    run: its mean, the difference from the baseline with an interval, on how many queries the run is
    better, equal and worse, the effect size, and how likely such a difference is by chance.
    Everything is over all judged queries, as with -c, or with --common over those that all
    runs have. Without -m: map, ndcg_cut.10, recip_rank and recall.100, or what -R serves.
    With --by the same for each slice of the queries, all claims corrected together.
    --plot draws the differences with their intervals, and those of the queries.
    """
    from ragkpi.library.stored import is_result  # with numpy, which help does not need

    results = bool(files) and is_result(run_path(files[0]))
    some = "two or more results" if results else "three or more"
    expected = f"{some}: ragkpi compare [options] {'' if results else 'QRELS '}BASELINE RUN..."
    least = 3 - results - (baseline is not None)
    paths = expect_files(least, files, expected, by, evaluating.get("gains"))
    qrels, words = (None, paths) if results else (paths[0], paths[1:])
    runs = by_path(words if baseline is None else with_baseline(words, baseline))
    _refuse_together({"--all-pairs": all_pairs, "--paper": paper, "-q": per_query})
    gated = fail_if is not None
    _refuse_together({"--all-pairs": all_pairs, "--paper": paper, "--fail-if": gated})
    _refuse_together({"--by": by is not None, "--paper": paper})
    if against and not paper:
        raise UsageError(f"--against {against[0]}: only --paper marks runs; give it with it")
    arguments = evaluating | naming
    inputs().hashed = output.is_signed(signature)
    result = ragkpi.compare(
        qrels,
        runs,
        baseline=None if baseline is None else next(iter(runs)),
        pairs="all" if all_pairs else "baseline",
        **procedure,
        by=by,
        fail_if=fail_if,
        margin=margin,
        problems="kept",
        **arguments,
    )
    if paper:
        output.write(result.paper(against or ()).report, result.charts, signature=signature)
    else:
        queries = "shown" if per_query else "hidden"
        output.write(result.report, result.charts, signature=signature, per_query=queries)
    tell_gates(result.verdicts, elsewhere=output.is_read)
    exit_with(result.problems)


def _refuse_together(tables: Mapping[str, bool]) -> None:
    """Raise `UsageError` if the line requests more than one of these tables."""
    names = [name for name, is_requested in tables.items() if is_requested]
    if len(names) > 1:
        raise UsageError(f"{' with '.join(names)}: each is a table of its own; expected one")
