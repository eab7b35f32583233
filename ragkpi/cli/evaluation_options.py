"""Options that several commands share.

Long names with underscores are trec_eval's.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from ragkpi.cli.completion import grade_map_names, measure_names
from ragkpi.cli.messages import tell
from ragkpi.cli.option_groups import option, option_group
from ragkpi.cli.reading_options import (
    Exclude,
    IgnoreIdentical,
    MapQrels,
    MapRun,
    MaxPassage,
    QrelsFormat,
    RunFormat,
    ScoreKind,
    readings,
)
from ragkpi.errors import UsageError
from ragkpi.records import dataclass, replace

if TYPE_CHECKING:  # importing them would import numpy before the command line is read
    from ragkpi.evaluation import Evaluation, Evaluator
    from ragkpi.formats.file_formats import Reading
    from ragkpi.library.session import Session
    from ragkpi.measures.measure import Metric
    from ragkpi.ranking.relevance import Relevance
    from ragkpi.ranking.settings import Missing, Settings


@dataclass(frozen=True)
class EvaluationOptions:
    """What is to be evaluated, and how.

    Attributes
    ----------
    requests
        The texts of ``-m``; empty if there was none.
    settings
        The choices that change numbers.
    rel_info
        The format of the qrels.
    pool
        Path of the first stage, or None.
    qrels_format, run_format
        How files are read; None where all of it is to be recognised.
    empty_rankings
        Whether missing queries count as empty rankings because runs are compared, which is said.
    """

    requests: Sequence[str]
    settings: "Settings"
    rel_info: str
    pool: str | None
    qrels_format: "Reading | None" = None
    run_format: "Reading | None" = None
    empty_rankings: Literal["asked for", "implied"] = "asked for"

    def side_by_side(self) -> "EvaluationOptions":
        """Evaluate over all judged queries, for what stands beside each other must be over them.

        Whoever said what becomes of missing queries is obeyed.
        """
        if self.settings.missing != "intersection" or self.settings.only_query is not None:
            return self
        settings = replace(self.settings, missing="zero")
        return replace(self, settings=settings, empty_rankings="implied")

    def session(self) -> "Session":
        """Begin to answer a question; what must be said comes on stderr."""
        from ragkpi.cli.run_files import terminal
        from ragkpi.library.session import Session

        return Session(
            self.requests,
            self.settings,
            self.rel_info,
            self.pool,
            self.qrels_format,
            self.run_format,
            terminal(),
        )

    def values(self, default: Sequence[str] | None = None) -> "list[Metric]":
        """Resolve the requests, or `default`, or what the relevance format serves."""
        from ragkpi.measures.registry import find_metrics
        from ragkpi.measures.rel_info import default_requests

        return find_metrics(list(self.requests) or default or default_requests(self.rel_info))

    def evaluator(self, qrels: "str | Relevance", metrics: "Sequence[Metric]") -> "Evaluator":
        """Read the qrels, and the pool if there is one.

        Raises
        ------
        UsageError
            If `metrics` cannot be computed from such qrels; nothing is read then.
        """
        from ragkpi.evaluation import Evaluator
        from ragkpi.measures.rel_info import refuse_unserved

        refuse_unserved(metrics, self.rel_info, self.settings)
        return Evaluator(
            qrels,
            self.settings,
            self.rel_info,
            self.pool,
            self.qrels_format,
            self.run_format,
        )


def parse_size(text: str) -> int:
    """Read a number of documents: ``5000``, ``5k``, ``113.5M``, ``1.2G``."""
    from decimal import Decimal, InvalidOperation

    unit = {"k": 1_000, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}.get(text[-1:], 1)
    try:
        size = Decimal(text[:-1] if unit > 1 else text) * unit
    except InvalidOperation:
        size = Decimal(-1)
    if not size.is_finite() or not 0 <= size < 1 << 63 or size != int(size):
        raise UsageError(f"-N {text}: expected a number of documents such as 5000, 5k or 113.5M")
    return int(size)


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
    ),
]


@option_group("Evaluation")
def evaluation(
    measure: Measures = [],  # noqa: B006 - typer copies defaults
    complete: Annotated[
        bool,
        option(
            *("-c", "--complete", "--complete_rel_info_wanted"),
            help="Average over all judged queries; a query missing from the run scores as empty.",
        ),
    ] = False,
    common: Annotated[
        bool,
        option(
            "--common",
            help="Where runs stand beside each other: over the queries that all of them have, "
            "and not over all judged ones.",
        ),
    ] = False,
    strict: Annotated[
        bool,
        option(
            "--strict",
            help="A judged query missing from the run is an error, and so is what makes all values "
            "doubtful: ids of another kind, scores that rise, nothing judged.",
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
    judged_only: Annotated[
        bool,
        option(
            *("-J", "--judged-only", "--Judged_docs_only"),
            help="Drop unjudged documents from the rankings.",
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
        option("-D", "--Debug_level", metavar="0.QID", help="Evaluate only the query QID."),
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
    qrels_format: QrelsFormat = None,
    run_format: RunFormat = None,
    map_qrels: MapQrels = None,
    map_run: MapRun = None,
    scores: ScoreKind = "similarity",
    max_passage: MaxPassage = None,
    ignore_identical_ids: IgnoreIdentical = False,
    exclude: Exclude = None,
) -> EvaluationOptions:
    """Read the options that say what is evaluated, and how."""
    # From here, and not from ten imports deep, where Python asks the system for more stack and
    # gives it back 800 times while numpy is imported: 5 ms.
    import numpy  # noqa: F401

    from ragkpi.ranking.grade_maps import parse_grade_map
    from ragkpi.ranking.settings import Settings

    of_qrels, of_run = readings(
        qrels_format,
        run_format,
        map_qrels,
        map_run,
        scores,
        max_passage,
        ignore_identical_ids,
        exclude,
    )
    if qrels_format not in (None, "trec") and rel_info != "qrels":
        raise UsageError(
            f"--qrels-format {qrels_format}: -R {rel_info} is read from TREC's columns "
            "alone; expected one of the two options"
        )
    if pool is None and (pool_depth is not None or pool_union):
        option = "--pool-union" if pool_union else f"--pool-depth {pool_depth}"
        raise UsageError(f"{option}: no pool is given; expected --pool RUN with it")
    sizes = {}
    if corpus_sizes is not None:
        from ragkpi.formats.query_files import read_corpus_sizes

        sizes = read_corpus_sizes(corpus_sizes)
    settings = Settings(
        relevance_level=level,
        missing=_missing_policy(complete, common, strict),
        unjudged="removed" if judged_only else "kept",
        max_retrieved=max_retrieved,
        ties=ties,
        only_query=_only_query(debug),
        corpus_size=corpus_size,
        corpus_sizes=sizes,
        draws=draws,
        grade_map=parse_grade_map(grade_map),
        pool_depth=pool_depth,
        pool_union="union" if pool_union else "pool",
        doubts="refused" if strict else "said",
    )
    return EvaluationOptions(measure, settings, rel_info, pool, of_qrels, of_run)


# For commands that look at one order of each ranking, for those of them that are about plain qrels,
# whatever file format they are in, and for those of these that no measure of a pool is asked of.
in_one_order = evaluation.without(ties="id")
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


def say(evaluations: "Mapping[str, Evaluation]") -> None:
    """Print what was left out or assumed, and what may mislead, on stderr.

    A line each, which names the runs that it concerns if it does not concern all of them.
    """
    import warnings

    from ragkpi.errors import RagkpiWarning

    for note, about in _concerning(evaluations, lambda one: one.notes):
        tell(f"note: {note}{about}")
    for warning, about in _concerning(evaluations, lambda one: one.warnings):
        warnings.warn(f"{warning}{about}", RagkpiWarning, stacklevel=2)


def _concerning(
    evaluations: "Mapping[str, Evaluation]", texts: "Callable[[Evaluation], Sequence[str]]"
) -> Iterator[tuple[str, str]]:
    runs: dict[str, list[str]] = {}
    for run, evaluation in evaluations.items():
        for text in texts(evaluation):
            runs.setdefault(text, []).append(run)
    for text, named in runs.items():
        yield text, f" ({', '.join(named)})" if len(named) < len(evaluations) else ""
