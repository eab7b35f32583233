"""`ragkpi diagnose`: whether it is the retriever or the reranker."""

from ragkpi.cli.evaluation_options import By, EvaluationOptions, of_qrels
from ragkpi.cli.option_groups import Annotated, argument, option, takes
from ragkpi.cli.output_options import Output, output_and_plot
from ragkpi.errors import UsageError

# It is about one run, and about grades, whatever counts as relevant; chance has no part in it.
_asked = of_qrels.without(
    measure=[],
    measure_names="trec",
    common=False,
    level=1,
    corpus_size=None,
    corpus_sizes=None,
    draws="nominal",
)


@takes(options=_asked, output=output_and_plot)
def command(
    options: EvaluationOptions,
    output: Output,
    files: Annotated[
        list[str] | None,
        argument(metavar="QRELS RUN", help="Qrels and a run."),
    ] = None,
    cutoff: Annotated[
        int, option("-k", "--cutoff", metavar="K", min=1, help="Documents shown.")
    ] = 10,
    proc: Annotated[
        float,
        option("--good-proc", metavar="SHARE", min=0, help="PROC from which a pool is good."),
    ] = 0.8,
    pct_proc: Annotated[
        float,
        option(
            "--good-pct-proc",
            metavar="SHARE",
            min=0,
            help="%PROC from which a selection is good. Published systems reach 0.83 to 0.89.",
        ),
    ] = 0.8,
    worst: Annotated[
        int, option("--worst", metavar="N", min=0, help="Show the N worst queries.")
    ] = 10,
    per_query: Annotated[bool, option("-q", "--per-query", help="Show all queries.")] = False,
    missed: Annotated[
        int,
        option("--missed", metavar="N", min=0, help="Name N missed documents of each query."),
    ] = 3,
    by: By = None,
) -> None:
    """Answer "is it the retriever or the reranker?", for a run that was selected from --pool.

    PROC is the best that K documents of the pool could give, %PROC the share of it that the run
    realised. A query is the retriever's fault where PROC is low, the reranker's where %PROC is,
    or both's. What is lost is decomposed: ideal gain = missed by the pool + missed by the
    selection + realised. Unjudged passages count as worthless; the answer says what it would be
    if all that are shown were of the top grade. Missed documents come with grade, judged level and
    rank in the pool.
    """
    from ragkpi.library.diagnose import diagnose

    if files is None or len(files) != 2:
        raise UsageError(f"{len(files or [])} files; expected two: ragkpi diagnose QRELS RUN")
    if options.how.get("pool") is None:
        raise UsageError("no pool is given; expected --pool RUN, which QRELS RUN was selected from")
    result = diagnose(
        *files,
        cutoff=cutoff,
        good_proc=proc,
        good_pct_proc=pct_proc,
        worst=None if per_query else worst,
        missed=missed,
        by=by,
        **options.how,
    )
    output.write(result.report, result.charts)
