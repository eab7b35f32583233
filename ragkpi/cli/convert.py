"""`ragkpi convert`: a run or qrels in another format."""

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from ragkpi.cli.option_groups import argument, option
from ragkpi.errors import UsageError

if TYPE_CHECKING:
    from ragkpi.formats.file_formats import FileFormat, Kind


def command(
    source: Annotated[
        str | None, argument(metavar="IN", help="Run or qrels; - is standard input.")
    ] = None,
    target: Annotated[
        str | None, argument(metavar="OUT", help="File; - is standard output.")
    ] = None,
    to: Annotated[
        str | None,
        option("--to", metavar="FORMAT", help="Format of OUT. Default: by its suffix."),
    ] = None,
    from_: Annotated[
        str | None,
        option("--from", metavar="FORMAT", help="Format of IN. Default: recognised."),
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

    'ragkpi convert --list' describes the formats, and the suffixes of OUT that ask for them.

    Documents are written in the order of their ranking: by score, equal scores by id, as trec_eval
    ranks them. Ids keep their bytes, also such that are not UTF-8; scores read back as the same
    numbers. Where a format has no scores (msmarco, references), they become negative ranks.
    """
    if list_:
        print("\n".join(_described()))
        return
    if source is None or target is None:
        raise UsageError("expected two files: ragkpi convert [options] IN OUT")
    from ragkpi.conversion import Conversion
    from ragkpi.formats.file_formats import find_format
    from ragkpi.formats.opening import Source
    from ragkpi.reports.output_files import replacing

    with Source(source) as opened:
        conversion = Conversion(opened, kind, None)
        if from_ is not None:
            find_format(conversion.kind, from_, "--from")
            conversion = Conversion(opened, conversion.kind, from_)
        format_ = _target_format(conversion.kind, target, to)
        if target == "-":
            conversion.write(format_, sys.stdout.buffer)
            return
        with replacing(target, "OUT") as file:
            conversion.write(format_, file)


def _target_format(kind: "Kind", target: str, to: str | None) -> "FileFormat":
    from ragkpi.formats.file_formats import FILE_FORMATS, find_written_format

    if to is not None:
        return find_written_format(kind, to, "--to")
    suffix = os.path.splitext(target)[1].lower()
    for format_ in FILE_FORMATS[kind].values():
        if suffix in format_.suffixes:
            return format_
    known = ", ".join(FILE_FORMATS[kind])
    raise UsageError(f"OUT {target}: its suffix names no format of {kind}; expected --to {known}")


def _described() -> Iterator[str]:
    from ragkpi.formats.file_formats import FILE_FORMATS

    for kind, formats in FILE_FORMATS.items():
        yield f"Formats of {kind if kind == 'qrels' else 'runs'}"
        for name, format_ in formats.items():
            suffixes = f" ({' '.join(format_.suffixes)})" if format_.suffixes else ""
            yield f"  {name:8} {format_.description}{suffixes}"
