"""`ragkpi convert`: a run or qrels in another format."""

from typing import TYPE_CHECKING, Literal

from ragkpi.cli.option_groups import (
    Annotated,
    argument,
    file_formats,
    formats_and_shapes,
    option,
    takes,
)
from ragkpi.cli.reading_options import reading_options
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.cli.reading_options import Readings

# The format of IN is --from, whichever of the two it holds.
_reading = reading_options.without(qrels_format=None, run_format=None)


@takes(reading=_reading)
def command(
    reading: "Readings",
    source: Annotated[
        str | None, argument(metavar="IN", help="Run or qrels; - is standard input.")
    ] = None,
    target: Annotated[
        str | None, argument(metavar="OUT", help="File; - is standard output.")
    ] = None,
    to: Annotated[
        str | None,
        option(
            "--to",
            metavar="FORMAT",
            help="Format of OUT. Default: by its suffix.",
            complete=file_formats,
        ),
    ] = None,
    from_: Annotated[
        str | None,
        option(
            "--from",
            metavar="FORMAT",
            help="Format of IN. Default: recognised.",
            complete=formats_and_shapes,
        ),
    ] = None,
    kind: Annotated[
        Literal["run", "qrels"] | None,
        option(
            "--kind",
            metavar="run|qrels",
            help="What IN holds. Default: recognised; JSON documents and binary tables, which "
            "could be both, are taken for runs.",
        ),
    ] = None,
    list_: Annotated[bool, option("--list", help="Describe all formats, and stop.")] = False,
) -> None:
    """Write a run or qrels in another format; OUT is replaced at once or not at all.

    'ragkpi formats' describes the formats, and the suffixes of OUT that ask for them.

    Documents are written in the order of their ranking: by score, equal scores by id, as trec_eval
    ranks them. Ids keep their bytes, also such that are not UTF-8; scores read back as the same
    numbers. Where a format has no scores (msmarco, references), they become negative ranks.
    """
    if list_:
        from ragkpi.library.describing import describe_formats

        print(describe_formats())
        return
    if source is None or target is None:
        raise UsageError("expected two files: ragkpi convert [options] IN OUT")
    from ragkpi.library.converting import convert

    of_qrels, of_run = reading
    convert(source, target, to=to, from_=from_, kind=kind, qrels_format=of_qrels, run_format=of_run)
