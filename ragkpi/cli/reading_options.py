"""Options that say how qrels and runs are read."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from ragkpi.cli.option_groups import Annotated, formats_and_shapes, option, option_group

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import Reading

    Readings: TypeAlias = tuple[Reading | None, Reading | None]


@option_group("Reading files")
def reading_options(
    qrels_format: Annotated[
        str | None,
        option(
            "--qrels-format",
            metavar="FORMAT",
            help="File format or shape of QRELS, as 'ragkpi formats' lists them. "
            "Default: recognised.",
            complete=formats_and_shapes,
        ),
    ] = None,
    run_format: Annotated[
        str | None,
        option(
            "--run-format",
            metavar="FORMAT",
            help="File format or shape of RUN, as 'ragkpi formats' lists them. "
            "Default: recognised.",
            complete=formats_and_shapes,
        ),
    ] = None,
    map_qrels: Annotated[
        str | None,
        option(
            "--map-qrels",
            metavar="MAP",
            help="Which keys or columns of QRELS hold what: query=qid, list=gold, doc=id, "
            "level=grade.",
        ),
    ] = None,
    map_run: Annotated[
        str | None,
        option(
            "--map-run",
            metavar="MAP",
            help="The same for RUN: 'records=$.results, query=id, list=hits.hits, doc=_id, "
            "score=_score'; 'ragkpi formats map' explains it.",
        ),
    ] = None,
    subset: Annotated[
        str | None,
        option(
            "--subset",
            metavar="NAME",
            help="Which ranking of RUN is read, where a dump holds several of its queries: "
            "en, or en/test (MTEB's subset and split).",
        ),
    ] = None,
    scores: Annotated[
        Literal["similarity", "distance"],
        option(
            "--scores",
            metavar="similarity|distance",
            help="Whether the greater score is the better one, or the smaller (Chroma, pgvector).",
        ),
    ] = "similarity",
    max_passage: Annotated[
        str | None,
        option(
            "--max-passage",
            metavar="SEPARATOR|/REGEX/|@FILE",
            help="Fold chunks into documents: what stands before '#', the group of "
            "/^(.*)_[0-9]+$/, or lines of chunk and document. The best score and the highest "
            "level count.",
        ),
    ] = None,
    ignore_identical_ids: Annotated[
        bool,
        option("--ignore-identical-ids", help="Leave out documents with the id of their query."),
    ] = False,
    exclude: Annotated[
        str | None,
        option(
            "--exclude",
            metavar="FILE",
            help="Leave out documents before ranking: lines of query and document, or BRIGHT's "
            "examples (excluded_ids).",
        ),
    ] = None,
) -> "Readings":
    """Return how the qrels and the run are read; None where all is recognised.

    Raises `UsageError` for the name of a format that there is not, or a map or fold that is none.
    """
    said = (qrels_format, run_format, map_qrels, map_run, subset, max_passage, exclude)
    if said.count(None) == len(said) and scores == "similarity" and not ignore_identical_ids:
        return None, None
    from ragkpi.formats.file_formats import reading_for
    from ragkpi.formats.sieve import sieve_for

    sieve = sieve_for(max_passage, ignore_identical_ids, exclude)
    return (
        reading_for("qrels", qrels_format, map_qrels, sieve=sieve),
        reading_for("run", run_format, map_run, scores, sieve, subset=subset),
    )
