"""Options that say how qrels and runs are read.

Long names with underscores are trec_eval's.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

from ragkpi.cli.options import formats_and_shapes, measure_names, option, option_group
from ragkpi.errors import UsageError
from ragkpi.wording import parse_size

if TYPE_CHECKING:
    from ragkpi.library.arguments import HowRead


@option_group("Reading files")
def reading_options(
    qrels_format: str | None = option(
        "--qrels-format FORMAT",
        "File format or shape of QRELS, as 'ragkpi formats' lists them. Default: recognised.",
        complete=formats_and_shapes,
    ),
    run_format: str | None = option(
        "--run-format FORMAT",
        "File format or shape of RUN, as 'ragkpi formats' lists them. Default: recognised.",
        complete=formats_and_shapes,
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
    subset: str | None = option(
        "--subset NAME",
        "Which ranking of RUN is read, where a dump holds several of its queries: en, or "
        "en/test (MTEB's subset and split).",
    ),
    scores: Literal["similarity", "distance"] = option(
        "--scores similarity|distance",
        "Whether the greater score is the better one, or the smaller (Chroma, pgvector).",
        "similarity",
    ),
    max_passage: str | None = option(
        "--max-passage SEPARATOR|/REGEX/|@FILE",
        "Fold chunks into documents: what stands before '#', the group of /^(.*)_[0-9]+$/, "
        "or lines of chunk and document. The best score and the highest level count.",
    ),
    ignore_identical_ids: bool = option(
        "--ignore-identical-ids", "Leave out documents with the id of their query."
    ),
    exclude: str | None = option(
        "--exclude FILE",
        "Leave out documents before ranking: lines of query and document, or BRIGHT's "
        "examples (excluded_ids).",
    ),
) -> "HowRead":
    """Return how the qrels and the run are read; nothing if the formats are all recognised.

    Raises `UsageError` for the name of an unknown format, and for a wrong map or fold.
    """
    named = (qrels_format, run_format, map_qrels, map_run, subset, max_passage, exclude)
    if (*named, scores, ignore_identical_ids) == (*[None] * len(named), "similarity", False):
        return {}
    from ragkpi.files.formats import reading_for, sieve_for

    sieve = sieve_for(max_passage, ignore_identical_ids, exclude)
    return {
        "qrels_format": reading_for("qrels", qrels_format, map_qrels, sieve=sieve),
        "run_format": reading_for("run", run_format, map_run, scores, sieve, subset=subset),
    }


if TYPE_CHECKING:  # importing them would import numpy before the command line is read
    from ragkpi.library.arguments import Evaluating, HowRead
    from ragkpi.library.session import Names, Session
    from ragkpi.ranking.judged import Missing


class EvaluationOptions(NamedTuple):
    """What is evaluated, and how.

    Attributes
    ----------
    requests
        The texts of ``-m``; empty without any.
    how
        All other options, as the functions of `ragkpi` take them by name.
    """

    requests: list[str]
    how: "Evaluating"

    def named(self, names: "Names") -> "Evaluating":
        """Return the options, with what runs are called in the result."""
        return {**self.how, "names": names}

    def session(self) -> "Session":
        """Begin to answer a question."""
        from ragkpi.library.arguments import session

        return session(self.requests, self.how)


MEASURES = option(
    "-m, --measure NAME[.PARAMS]",
    "Measure or nickname, such as map, P.5,10, ndcg_cut.10, bor.100; repeatable, or with "
    "commas: map,ndcg_cut.10.",
    complete=measure_names,
    use="common",
)
LEVEL = option(
    "-l, --level, --level_for_rel LEVEL",
    "Lowest judged level that is relevant.",
    1,
    min=0,
    use="common",
    arguments=("relevance_level",),
)
BY = option(
    "--by FILE",
    "Also answer for slices of the queries. FILE has a line per query, its id and one or more "
    "labels, separated by tabs or commas, or JSON Lines; a first line may name them.",
    use="common",
)


def _grade_maps() -> Iterable[str]:
    from ragkpi.ranking.judged import GRADE_MAPS

    return GRADE_MAPS


@option_group("Chance")
def chance(
    corpus_size: int | None = option(
        "-N, --corpus-size, --Number_docs_in_coll N",
        "Documents (passages, tools) that could have been retrieved: what chance draws "
        "from, such as 5000, 5k or 113.5M.",
        parse=parse_size,
        envvar="RAGKPI_CORPUS_SIZE",
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
) -> "Evaluating":
    """Return what chance draws, and from what."""
    sizes = {}
    if corpus_sizes is not None:
        from ragkpi.files.query_files import read_corpus_sizes

        sizes = read_corpus_sizes(corpus_sizes)
    return {"corpus_size": corpus_size, "corpus_sizes": sizes, "draws": draws}


@option_group("First stage")
def first_stage(
    pool: str | None = option(
        "--pool RUN", "The first stage that the run was selected from.", use="common"
    ),
    pool_depth: int | None = option(
        "--pool-depth DEPTH", "Only this many top documents of the pool.", min=1
    ),
    pool_union: bool = option("--pool-union", "Add the run's top K to the pool."),
) -> "Evaluating":
    """Return the pool that runs were selected from."""
    if pool is None and (pool_depth is not None or pool_union):
        option = "--pool-union" if pool_union else f"--pool-depth {pool_depth}"
        raise UsageError(f"{option}: no pool is given; expected --pool RUN with it")
    union: Literal["union", "pool"] = "union" if pool_union else "pool"
    return {"pool": pool, "pool_depth": pool_depth, "pool_union": union}


@option_group("Evaluation")
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
) -> "Evaluating":
    """Return the only query, and the format of the qrels, by the options of trec_eval."""
    level, dot, query = debug.partition(".")
    if level != "0" or (dot and not query):
        raise UsageError(f"-D {debug}: no debug output is offered; give -D 0.QID for one query")
    only_query = query.encode("utf-8", "surrogateescape") if dot else None
    return {"only_query": only_query, "rel_info": rel_info}


@option_group(
    "Evaluation",
    chance=chance,
    first_stage=first_stage,
    trec_eval=trec_eval,
    reading=reading_options,
)
def evaluation(
    chance: "Evaluating",
    first_stage: "Evaluating",
    trec_eval: "Evaluating",
    reading: "HowRead",
    measure: list[str] = MEASURES,
    measure_names: Literal["trec", "given"] = option(
        "--measure-names trec|given",
        "Call measures as trec_eval prints them, or as -m asks for them: nDCG@10.",
        "trec",
    ),
    complete: bool = option(
        "-c, --complete, --complete_rel_info_wanted",
        "Average over all judged queries; a query missing from the run scores as empty.",
        use="common",
        arguments=('missing="zero"',),
    ),
    common: bool = option(
        "--common",
        "Where runs stand beside each other: over the queries that all of them have, and "
        "not over all judged ones.",
        arguments=('missing="common"',),
    ),
    strict: bool = option(
        "--strict",
        "A judged query missing from the run is an error, and so is what makes all values "
        "doubtful: ids of another kind, scores that rise, nothing judged.",
        arguments=('missing="error"', 'doubts="refused"'),
    ),
    level: int = LEVEL,
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
        complete=_grade_maps,
    ),
) -> EvaluationOptions:
    """Return what is evaluated, and how."""
    # From here, and not from ten imports deep, where Python asks the system for more stack and
    # gives it back 800 times while numpy is imported: 5 ms.
    import numpy  # noqa: F401

    format_ = getattr(reading.get("qrels_format"), "format", None)
    if format_ not in (None, "trec") and trec_eval["rel_info"] != "qrels":
        raise UsageError(
            f"--qrels-format {format_}: -R {trec_eval['rel_info']} is read from TREC's columns "
            "alone; expected one of the two options"
        )
    return EvaluationOptions(
        measure,
        {
            "measure_names": measure_names,
            "missing": _missing_policy(complete, common, strict),
            "doubts": "refused" if strict else "said",
            "relevance_level": level,
            "max_retrieved": max_retrieved,
            "ties": ties,
            "gains": gains,
            "unjudged": "removed" if judged_only else "kept",
            "grade_map": grade_map,
            "names": "file",
            **chance,
            **first_stage,
            **trec_eval,
            **reading,
        },
    )


def _missing_policy(complete: bool, common: bool, strict: bool) -> "Missing":
    """Name what becomes of judged queries that a run lacks."""
    if common:
        if complete or strict:
            raise UsageError(f"--common: expected without {'-c' if complete else '--strict'}")
        return "common"
    if strict:
        return "error"
    return "zero" if complete else "intersection"


# Commands that look at one order of each ranking and at levels, of plain qrels; the second group
# is for those that no measure of a pool is asked of.
of_qrels = evaluation.without("ties", "gains", "rel_info", "results_format")
without_pool = of_qrels.without("first_stage")
