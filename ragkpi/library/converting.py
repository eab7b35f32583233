"""Files in other formats."""

from __future__ import annotations

import os

from ragkpi.conversion import Conversion
from ragkpi.errors import UsageError
from ragkpi.formats.file_formats import (
    FileFormat,
    Kind,
    Reading,
    find_format,
    find_written_format,
    written_formats,
)
from ragkpi.formats.opening import Source
from ragkpi.reports.output_files import replacing


def convert_file(
    source: str,
    target: str,
    to: str | None,
    from_: str | None,
    kind: Kind | None,
    reading: tuple[Reading | None, Reading | None] = (None, None),
) -> None:
    """Write a run or qrels in another format; the target is replaced at once or not at all.

    Parameters
    ----------
    source, target
        Paths; ``-`` is standard input and output.
    to, from_
        Names of formats; None goes by the suffix of the target, or recognises the source's.
    kind
        What the source holds; None recognises it.
    reading
        How it is to be read if it holds qrels, and if it holds a run.
    """
    with Source(source) as opened:
        mapped = [of for of in reading if of is not None and of.shape is not None]
        if len(mapped) == 1 and kind is None:
            kind = "qrels" if reading[0] in mapped else "run"
        conversion = Conversion(opened, kind, None)
        of_qrels, of_run = reading
        given = (of_run if conversion.kind == "run" else of_qrels) or Reading()
        if from_ is not None:
            find_format(conversion.kind, from_, "--from")
            given = given._replace(format=from_)
        conversion = Conversion(opened, conversion.kind, given)
        format_ = _target_format(conversion.kind, target, to)
        with replacing(target, "OUT", revocable=True) as file:
            conversion.write(format_, file)


def _target_format(kind: Kind, target: str, to: str | None) -> FileFormat:
    if to is not None:
        return find_written_format(kind, to, "--to")
    suffix = os.path.splitext(target)[1].lower()
    for format_ in written_formats(kind).values():
        if suffix in format_.suffixes:
            return format_
    known = ", ".join(written_formats(kind))
    raise UsageError(f"OUT {target}: its suffix names no format of {kind}; expected --to {known}")
