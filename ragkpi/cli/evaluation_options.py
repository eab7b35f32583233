"""Option groups that several commands share: how to read files, and evaluate and compare runs.

Each group returns arguments for the functions of `ragkpi`, by name: what an option is called here
is what the argument is called there (`ragkpi.library.arguments`). Long names with underscores come
from trec_eval.
"""

from typing import Any, Literal

from ragkpi.cli.options import argument_group, option
from ragkpi.cli.runs import run_path
from ragkpi.errors import UsageError
from ragkpi.statistics.decisions import TESTS, CorrectionName, Family
from ragkpi.wording import parse_size

Arguments = dict[str, Any]  # of a function of `ragkpi`, by name


@argument_group("Reading files")
def reading_options(
    qrels_format: str | None = option(
        "--qrels-format FORMAT",
        "File format of QRELS, as 'ragkpi formats' lists them. Default: recognised.",
        complete="format",
    ),
    run_format: str | None = option(
        "--run-format FORMAT",
        "File format of RUN, as 'ragkpi formats' lists them. Default: recognised.",
        complete="format",
    ),
    map_qrels: str | None = option(
        "--map-qrels MAP",
        "Which keys or columns of QRELS hold what: query=qid, list=gold, doc=id, level=grade.",
    ),
    map_run: str | None = option(
        "--map-run MAP",
        "The same for RUN: 'records=$.results, query=id, list=hits.hits, doc=_id, "
        "score=_score'; 'ragkpi formats map' explains it.",
    ),
    scores: Literal["similarity", "distance"] = option(
        "--scores similarity|distance",
        "Whether the greater score is the better one, or the smaller (Chroma, pgvector).",
        "similarity",
    ),
    max_passage: str | None = option(
        "--max-passage SEPARATOR|/REGEX/|@FILE",
        "Fold chunks into documents: the part before '#', the group of /^(.*)_[0-9]+$/, "
        "or lines of chunk and document. The best score and the highest level count.",
    ),
    match: Literal["id", "text"] = option(
        "--match id|text",
        "Whether documents are the same by id, or by the words of their texts where there are no "
        "ids (ragas, DeepEval).",
        "id",
    ),
    query_ids: str | None = option(
        "--queries FILE",
        "Ids and texts of queries, a tab between, CSV or JSON Lines, where files name a query by "
        "its text or by its place.",
    ),
    ignore_identical_ids: bool = option(
        "--ignore-identical-ids", "Leave out documents with the id of their query."
    ),
    exclude: str | None = option(
        "--exclude FILE",
        "Leave out documents before ranking: lines of query and document, or BRIGHT's "
        "examples (excluded_ids).",
    ),
) -> None:
    """How to read qrels and runs."""


MEASURES = option(
    "-m, --measure NAME[.PARAMS]",
    "Measure or nickname, such as map, P.5,10, ndcg_cut.10, bor.100; repeatable, or with "
    "commas: map,ndcg_cut.10.",
    complete="measure",
    use="common",
)
LEVEL = option(
    "-l, --level, --level_for_rel LEVEL",
    "Lowest judged level that is relevant.",
    1,
    min=0,
    use="common",
)
BY = option(
    "--by FILE",
    "Also answer for slices of the queries. FILE has a line per query, its id and one or more "
    "labels, separated by tabs or commas, or JSON Lines; a first line may name them.",
    use="common",
)


@argument_group("Chance")
def chance(
    corpus_size: int | None = option(
        "-N, --corpus-size, --Number_docs_in_coll N",
        "Documents (passages, tools) that could have been retrieved: what chance draws "
        "from, such as 5000, 5k or 113.5M. Default: the variable RAGKPI_CORPUS_SIZE.",
        parse=parse_size,
        use="common",
    ),
    corpus_sizes: str | None = option(
        "--corpus-sizes FILE", "The same for single queries: lines QUERY SIZE."
    ),
    draws: Literal["nominal", "ret"] = option(
        "--draws nominal|ret",
        "Whether chance draws K documents, or as many of them as were retrieved.",
        "nominal",
    ),
) -> None:
    """What chance draws from, and how often."""


@argument_group("First stage")
def first_stage(
    pool: str | None = option(
        "--pool RUN",
        "The first stage that the run was selected from.",
        parse=run_path,
        use="common",
    ),
    pool_depth: int | None = option(
        "--pool-depth DEPTH", "Only this many top documents of the pool.", min=1
    ),
    pool_union: bool = option(
        "--pool-union", "Add the run's top K to the pool.", arguments=('pool_union="union"',)
    ),
) -> None:
    """The pool that runs were selected from."""
    if pool is None and (pool_depth is not None or pool_union):
        lone = "--pool-union" if pool_union else f"--pool-depth {pool_depth}"
        raise UsageError(f"{lone}: no pool is given; expected --pool RUN with it")


@argument_group("Evaluation")
def trec_eval(
    debug: str = option(
        "-D, --Debug_level 0.QID",
        "Evaluate only the query QID.",
        "0",
        use="trec_eval",
        arguments=("only_query",),
    ),
    rel_info: Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"] = option(
        "-R, --rel-info, --Rel_info_format FORMAT",
        "Format of QRELS: qrels, qrels_jg (several assessors), prefs or qrels_prefs "
        "(preferences). Each has its own measures.",
        "qrels",
        use="trec_eval",
    ),
    results_format: Literal["trec_results"] = option(
        "-T, --Results_format FORMAT",
        "Format of RUN: trec_results alone.",
        "trec_results",
        use="trec_eval",
    ),
) -> Arguments:
    """Return the only query, as trec_eval's option names it."""
    level, dot, query = debug.partition(".")
    if level != "0" or (dot and not query):
        raise UsageError(f"-D {debug}: no debug output is offered; give -D 0.QID for one query")
    return {"only_query": query} if dot else {}


@argument_group("Evaluation")
def evaluation(
    chance: Arguments = chance,
    first_stage: Arguments = first_stage,
    trec_eval: Arguments = trec_eval,
    reading: Arguments = reading_options,
    measures: list[str] = MEASURES,
    measure_names: Literal["trec", "given"] = option(
        "--measure-names trec|given",
        "Call measures as trec_eval prints them, or as -m asks for them: nDCG@10.",
        "trec",
    ),
    complete: bool = option(
        "-c, --complete, --complete_rel_info_wanted",
        "Count a judged query missing from the run as 0 in the lines of a TREC run, too.",
        use="common",
        arguments=('missing="zero"',),
    ),
    common: bool = option(
        "--common",
        "Only the queries that all runs have, not all judged ones.",
        arguments=('missing="common"',),
    ),
    strict: bool = option(
        "--strict",
        "A judged query missing from the run is an error, and so is what makes all values "
        "doubtful: ids of another kind, scores that rise, nothing judged.",
        arguments=('missing="error"', 'doubts="refused"'),
    ),
    relevance_level: int = LEVEL,
    max_retrieved: int | None = option(
        "-M, --max-retrieved, --Max_retrieved_per_topic DEPTH",
        "Only this many top documents per query.",
        min=0,
    ),
    ties: Literal["id", "expected"] = option(
        "--ties id|expected",
        "Equal scores: by document id as trec_eval, or the expected value over all orders of them.",
        "id",
    ),
    gains: str | None = option(
        "--gains FILE",
        "What judged documents are worth to the dcg family, G and rbp, instead of their "
        "levels: lines of query, document and a real number, or any format of qrels.",
    ),
    judged_only: bool = option(
        "-J, --judged-only, --Judged_docs_only",
        "Drop unjudged documents from the rankings.",
        arguments=('unjudged="removed"',),
    ),
    grade_map: str = option(
        "--grade-map MAP",
        "From judged levels to grades 1-5: umbrela, umbrela-strict, rag25, rubric, binary, "
        "or 0=1,1=3,2=4,3=5.",
        "umbrela",
        complete="grade map",
    ),
) -> Arguments:
    """How to evaluate runs; without ``-m`` the function chooses the measures."""
    format_ = reading.get("qrels_format", "trec")
    if format_ != "trec" and "rel_info" in trec_eval:
        raise UsageError(
            f"--qrels-format {format_}: -R {trec_eval['rel_info']} is read from TREC's columns "
            "alone; expected one of the two options"
        )
    if common and (complete or strict):
        raise UsageError(f"--common: expected without {'-c' if complete else '--strict'}")
    return {"names": "file"}


# For commands that need one order of each ranking and levels from plain qrels; the second group
# is for commands that offer no measure of a pool.
of_qrels = evaluation.without("ties", "gains", "rel_info", "results_format")
without_pool = of_qrels.without("first_stage")


@argument_group("Intervals")
def resampling(
    resamples: int | None = option(
        "--resamples N",
        "How often queries are drawn again for an interval. Default: 5000.",
        min=1,
        max=1_000_000,
    ),
    seed: int | None = option(
        "--seed N", "Of the random numbers; the same seed, the same digits. Default: 7.", min=0
    ),
    confidence: float | None = option(
        "--confidence SHARE", "Probability that an interval covers the value. Default: 0.95."
    ),
    cluster: str | None = option(
        "--cluster FILE",
        "Which queries depend on each other, such as turns of a conversation: lines of a query and "
        "its cluster as for --by, or the name of a column of --by's FILE. Tests and intervals take "
        "whole clusters.",
    ),
) -> None:
    """How to resample queries."""
    if confidence is not None and not 0 < confidence < 1:
        raise UsageError(f"--confidence {confidence:g}: expected a share such as 0.95")


@argument_group("Intervals")
def intervals(
    resampling: Arguments = resampling,
    ci: bool = option("--ci", "Add confidence intervals over queries.", use="common"),
    ci_method: Literal["score", "percentile"] | None = option(
        "--ci-method score|percentile",
        "score: the score interval of a mean from 0 to 1, Wilson's of a rate, Student's of the "
        "logarithms of a geometric mean; the rest is resampled. percentile resamples all. "
        "Default: score.",
    ),
) -> None:
    """Confidence intervals, and how to compute them."""


@argument_group("Comparison")
def comparing(
    resampling: Arguments = resampling,
    test: str = option(
        "--test TEST",
        f"Where p-values come from. {'; '.join(f'{n} ({t.help})' for n, t in TESTS.items())}.",
        "t",
        choices=tuple(TESTS),
        use="common",
    ),
    correction: CorrectionName = option(
        "--correction NAME",
        "What becomes of many p-values in one call: holm, benjamini-hochberg or none.",
        "holm",
    ),
    family: Family = option(
        "--family first|all",
        "Which measures decide: the first of -m, with p corrected for all runs, while the others "
        "are described; or all, with p corrected for runs and measures.",
        "first",
    ),
    trials: int = option(
        "--trials N", "Random swaps behind a p-value.", 10_000, min=1, max=10_000_000
    ),
) -> None:
    """How to compare runs."""
