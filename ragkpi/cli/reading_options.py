"""Options that say how qrels and runs are read."""

from typing import TYPE_CHECKING, Literal

from ragkpi.cli.option_groups import formats_and_shapes, option, option_group

if TYPE_CHECKING:
    from ragkpi.library.vocabulary import HowRead


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
    from ragkpi.formats.file_formats import reading_for
    from ragkpi.formats.sieve import sieve_for

    sieve = sieve_for(max_passage, ignore_identical_ids, exclude)
    return {
        "qrels_format": reading_for("qrels", qrels_format, map_qrels, sieve=sieve),
        "run_format": reading_for("run", run_format, map_run, scores, sieve, subset=subset),
    }
