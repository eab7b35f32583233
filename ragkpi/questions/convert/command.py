"""`ragkpi convert`: a run or qrels in another format."""

from typing import Literal

import ragkpi
from ragkpi.cli.evaluation_options import Arguments, reading_options
from ragkpi.cli.options import argument, command, option
from ragkpi.errors import UsageError

# --from names the format of IN, whether it is a run or qrels.
_reading = reading_options.without("qrels_format", "run_format")


@command
def convert(
    reading: Arguments = _reading,
    source: str | None = argument("IN", "Run or qrels; - is standard input."),
    target: str | None = argument("OUT", "File; - is standard output."),
    to: str | None = option(
        "--to FORMAT", "Format of OUT. Default: by its suffix.", complete="format", use="common"
    ),
    from_: str | None = option(
        "--from FORMAT",
        "Format of IN. Default: recognised.",
        complete="format",
        use="common",
    ),
    kind: Literal["run", "qrels"] | None = option(
        "--kind run|qrels",
        "What IN holds. Default: recognised; JSON documents and binary tables, which could "
        "be both, are taken for runs.",
        use="common",
    ),
    list_: bool = option("--list", "Describe all formats, and stop.", use="common"),
) -> None:
    """Write a run or qrels in another format; OUT is replaced at once or not at all.

    'ragkpi formats' describes the formats, and the suffixes of OUT that ask for them.

    Documents are written in the order of their ranking: by score, equal scores by id, as trec_eval
    ranks them. Ids keep their bytes, also such that are not UTF-8; scores read back as the same
    numbers. Where a format has no scores (msmarco, references), they become negative ranks.
    """
    if list_:
        print(ragkpi.describe_formats())
        return
    if source is None or target is None:
        raise UsageError("expected two files: ragkpi convert [options] IN OUT")
    ragkpi.convert(source, target, to=to, from_=from_, kind=kind, **reading)
