"""The command `ragkpi diagnose`: whether to blame the retriever or the reranker."""

import ragkpi
from ragkpi.cli.evaluation_options import BY, Arguments, of_qrels, resampling
from ragkpi.cli.options import argument, command, option
from ragkpi.cli.output_options import Output, output_and_plot
from ragkpi.cli.runs import run_path
from ragkpi.errors import UsageError
from ragkpi.wording import counted

# diagnose takes one run and uses grades, so -l and chance have no effect.
diagnose_options = of_qrels.without(
    "measures", "measure_names", "common", "relevance_level", "chance"
)


@command
def diagnose(
    evaluating: Arguments = diagnose_options,
    output: Output = output_and_plot,
    resampling: Arguments = resampling,
    files: list[str] = argument("QRELS RUN", "Qrels and a run."),
    cutoff: int = option("-k, --cutoff K", "Documents shown.", 10, min=1, use="common"),
    proc: float = option("--good-proc SHARE", "PROC from which a pool is good.", 0.8, min=0),
    pct_proc: float = option(
        "--good-pct-proc SHARE",
        "%PROC from which a selection is good. Published systems reach 0.83 to 0.89.",
        0.8,
        min=0,
    ),
    worst: int = option("--worst N", "Show the N worst queries.", 10, min=0, use="common"),
    per_query: bool = option("-q, --per-query", "Show all queries.", use="common"),
    missed: int = option(
        "--missed N", "Name N missed documents of each query.", 3, min=0, use="common"
    ),
    by: str | None = BY,
) -> None:
    """Answer "is it the retriever or the reranker?", for a run that was selected from --pool.

    PROC is the best that K documents of the pool could give, %PROC the share of it that the run
    realised. A query is the retriever's fault where PROC is low, the reranker's where %PROC is,
    or both's. What is lost is decomposed: ideal gain = missed by the pool + missed by the
    selection + realised. A stage is blamed only where resampled queries blame it, too. Unjudged
    passages count as worthless; a note says what it would be if all that are shown were of the top
    grade.
    """
    if len(files) != 2:
        raise UsageError(f"{counted(len(files), 'file')}; expected two: ragkpi diagnose QRELS RUN")
    if "pool" not in evaluating:
        raise UsageError("no pool is given; expected --pool RUN, which QRELS RUN was selected from")
    result = ragkpi.diagnose(
        files[0],
        run_path(files[1]),
        cutoff=cutoff,
        good_proc=proc,
        good_pct_proc=pct_proc,
        worst=None if per_query else worst,
        missed=missed,
        by=by,
        **resampling,
        **evaluating,
    )
    output.write(result.report, result.charts)
