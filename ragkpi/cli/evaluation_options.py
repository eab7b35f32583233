"""Options that several commands share.

Long names with underscores are trec_eval's.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ragkpi.cli.option_groups import Annotated, grade_map_names, measure_names, option, option_group
from ragkpi.cli.reading_options import reading_options
from ragkpi.errors import UsageError
from ragkpi.records import NamedTuple
from ragkpi.wording import parse_size

if TYPE_CHECKING:  # importing them would import numpy before the command line is read
    from ragkpi.cli.reading_options import Readings
    from ragkpi.library.session import Names, Session
    from ragkpi.library.vocabulary import Evaluating
    from ragkpi.ranking.settings import Missing


class EvaluationOptions(NamedTuple):
    """What is to be evaluated, and how.

    Attributes
    ----------
    requests
        The texts of ``-m``; empty if there was none.
    how
        All else, as the functions of `ragkpi` take it by name.
    """

    requests: Sequence[str]
    how: "Evaluating"

    def named(self, names: "Names") -> "Evaluating":
        """Return how it is evaluated, and what runs are called in the result."""
        return {**self.how, "names": names}

    def session(self) -> "Session":
        """Begin to answer a question."""
        from ragkpi.library.arguments import session

        return session(self.requests, self.how)


Measures = Annotated[
    list[str],
    option(
        *("-m", "--measure"),
        metavar="NAME[.PARAMS]",
        help="Measure or nickname, e.g. map, P.5,10, ndcg_cut.10, bor.100; repeatable, or with "
        "commas: map,ndcg_cut.10.",
        complete=measure_names,
    ),
]
Level = Annotated[
    int,
    option(
        *("-l", "--level", "--level_for_rel"),
        metavar="LEVEL",
        min=0,
        help="Lowest judged level that is relevant.",
        arguments=("relevance_level",),
    ),
]


By = Annotated[
    str | None,
    option(
        "--by",
        metavar="FILE",
        help="Also answer for slices of the queries: a line per query, its id and one or more "
        "labels, separated by tabs or commas, or JSON Lines; a first line may name them.",
    ),
]


@option_group("Evaluation")
def evaluation(
    measure: Measures = [],  # noqa: B006 - typer copies defaults
    measure_names: Annotated[
        Literal["trec", "given"],
        option(
            "--measure-names",
            metavar="trec|given",
            help="Call measures as trec_eval prints them, or as -m asks for them: nDCG@10.",
        ),
    ] = "trec",
    complete: Annotated[
        bool,
        option(
            *("-c", "--complete", "--complete_rel_info_wanted"),
            help="Average over all judged queries; a query missing from the run scores as empty.",
            arguments=('missing="zero"',),
        ),
    ] = False,
    common: Annotated[
        bool,
        option(
            "--common",
            help="Where runs stand beside each other: over the queries that all of them have, "
            "and not over all judged ones.",
            arguments=('missing="common"',),
        ),
    ] = False,
    strict: Annotated[
        bool,
        option(
            "--strict",
            help="A judged query missing from the run is an error, and so is what makes all values "
            "doubtful: ids of another kind, scores that rise, nothing judged.",
            arguments=('missing="error"', 'doubts="refused"'),
        ),
    ] = False,
    level: Level = 1,
    max_retrieved: Annotated[
        int | None,
        option(
            *("-M", "--max-retrieved", "--Max_retrieved_per_topic"),
            metavar="DEPTH",
            min=0,
            help="Only this many top documents per query.",
        ),
    ] = None,
    ties: Annotated[
        Literal["id", "expected"],
        option(
            "--ties",
            metavar="id|expected",
            help="Equal scores: by document id as trec_eval, or the expected value over all "
            "orders of them.",
        ),
    ] = "id",
    gains: Annotated[
        str | None,
        option(
            "--gains",
            metavar="FILE",
            help="What judged documents are worth to the dcg family, G and rbp, instead of their "
            "levels: lines of query, document and a real number, or any format of qrels.",
        ),
    ] = None,
    judged_only: Annotated[
        bool,
        option(
            *("-J", "--judged-only", "--Judged_docs_only"),
            help="Drop unjudged documents from the rankings.",
            arguments=('unjudged="removed"',),
        ),
    ] = False,
    corpus_size: Annotated[
        int | None,
        option(
            *("-N", "--corpus-size", "--Number_docs_in_coll"),
            metavar="N",
            parse=parse_size,
            envvar="RAGKPI_CORPUS_SIZE",
            help="Documents (passages, tools) that could have been retrieved: what chance "
            "draws from, e.g. 5000, 5k or 113.5M.",
        ),
    ] = None,
    corpus_sizes: Annotated[
        str | None,
        option(
            "--corpus-sizes", metavar="FILE", help="The same for single queries: lines QUERY SIZE."
        ),
    ] = None,
    draws: Annotated[
        Literal["nominal", "ret"],
        option(
            "--draws",
            metavar="nominal|ret",
            help="Whether chance draws K documents, or as many of them as were retrieved.",
        ),
    ] = "nominal",
    grade_map: Annotated[
        str,
        option(
            "--grade-map",
            metavar="MAP",
            help="From judged levels to grades 1-5: umbrela, umbrela-strict, rag25, rubric, "
            "binary, or 0=1,1=3,2=4,3=5.",
            complete=grade_map_names,
        ),
    ] = "umbrela",
    pool: Annotated[
        str | None,
        option("--pool", metavar="RUN", help="The first stage that the run was selected from."),
    ] = None,
    pool_depth: Annotated[
        int | None,
        option(
            "--pool-depth", metavar="DEPTH", min=1, help="Only this many top documents of the pool."
        ),
    ] = None,
    pool_union: Annotated[
        bool, option("--pool-union", help="Add the run's top K to the pool.")
    ] = False,
    debug: Annotated[
        str,
        option(
            *("-D", "--Debug_level"),
            metavar="0.QID",
            help="Evaluate only the query QID.",
            arguments=("only_query",),
        ),
    ] = "0",
    rel_info: Annotated[
        Literal["qrels", "qrels_jg", "prefs", "qrels_prefs"],
        option(
            *("-R", "--rel-info", "--Rel_info_format"),
            metavar="FORMAT",
            help="Format of QRELS: qrels, qrels_jg (several assessors), prefs or qrels_prefs "
            "(preferences). Each has its own measures.",
        ),
    ] = "qrels",
    results_format: Annotated[
        Literal["trec_results"],
        option(
            "-T", "--Results_format", metavar="FORMAT", help="Format of RUN: trec_results alone."
        ),
    ] = "trec_results",
    *,
    reading: Annotated["Readings", reading_options],
) -> EvaluationOptions:
    """Read the options that say what is evaluated, and how."""
    # From here, and not from ten imports deep, where Python asks the system for more stack and
    # gives it back 800 times while numpy is imported: 5 ms.
    import numpy  # noqa: F401

    of_qrels, of_run = reading
    format_ = of_qrels.format if of_qrels is not None else None
    if format_ not in (None, "trec") and rel_info != "qrels":
        raise UsageError(
            f"--qrels-format {format_}: -R {rel_info} is read from TREC's columns "
            "alone; expected one of the two options"
        )
    if pool is None and (pool_depth is not None or pool_union):
        option = "--pool-union" if pool_union else f"--pool-depth {pool_depth}"
        raise UsageError(f"{option}: no pool is given; expected --pool RUN with it")
    sizes = {}
    if corpus_sizes is not None:
        from ragkpi.formats.query_files import read_corpus_sizes

        sizes = read_corpus_sizes(corpus_sizes)
    return EvaluationOptions(
        measure,
        {
            "relevance_level": level,
            "missing": _missing_policy(complete, common, strict),
            "unjudged": "removed" if judged_only else "kept",
            "max_retrieved": max_retrieved,
            "ties": ties,
            "gains": gains,
            "only_query": _only_query(debug),
            "corpus_size": corpus_size,
            "corpus_sizes": sizes,
            "draws": draws,
            "grade_map": grade_map,
            "pool": pool,
            "pool_depth": pool_depth,
            "pool_union": "union" if pool_union else "pool",
            "rel_info": rel_info,
            "doubts": "refused" if strict else "said",
            "names": "file",
            "measure_names": measure_names,
            **({} if of_run is None else {"qrels_format": of_qrels, "run_format": of_run}),
        },
    )


# For commands that look at levels and at one order of each ranking, for those of them that are
# about plain qrels, whatever file format they are in, and for those of these that no measure of a
# pool is asked of.
in_one_order = evaluation.without(ties="id", gains=None)
of_qrels = in_one_order.without(rel_info="qrels", results_format="trec_results")
without_pool = of_qrels.without(pool=None, pool_depth=None, pool_union=False)


def _missing_policy(complete: bool, common: bool, strict: bool) -> "Missing":
    """Name what becomes of judged queries that a run lacks."""
    if common:
        if complete or strict:
            raise UsageError(f"--common: expected without {'-c' if complete else '--strict'}")
        return "common"
    if strict:
        return "error"
    return "zero" if complete else "intersection"


def _only_query(debug: str) -> bytes | None:
    """Read ``-D 0.QID``; trec_eval's debug texts (levels above 0) are not offered."""
    level, dot, query = debug.partition(".")
    if level != "0" or (dot and not query):
        raise UsageError(f"-D {debug}: no debug output is offered; give -D 0.QID for one query")
    return query.encode("utf-8", "surrogateescape") if dot else None
